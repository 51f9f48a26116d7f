#pragma once

#include <cstdint>
#include <string>

#include "compiler/driver/compilation.h"
#include "nlohmann/json.hpp"
#include "tools/api/explain/paint.h"

namespace nnefc::api {

// Return an overview of an expanded model: inputs, outputs, variables and operations, with the first `layers`
// operations, or all if negative.
std::string OverviewText(const driver::Compilation& compilation, int64_t layers, const Painter& paint);
nlohmann::ordered_json OverviewJson(const driver::Compilation& compilation, int64_t layers);

// Returns the language of a model: "ratified NNEF 1.0", "OpenVINO IR".
std::string LanguageOf(const driver::Compilation& compilation);
// Returns the extents of a shape, null if unknown; null for an unknown rank.
nlohmann::ordered_json ShapeToJson(const ir::PartialShape& shape);

}  // namespace nnefc::api

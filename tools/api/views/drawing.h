#pragma once

#include <optional>
#include <string>

#include "compiler/driver/compilation.h"
#include "compiler/support/error_or.h"
#include "nlohmann/json.hpp"
#include "tools/api/facts/costs.h"
#include "tools/api/model.h"

namespace nnefc::api {

// Returns the description of a model for a drawing with these options: of the graph of the document, or with
// `costs` of the lowered one, which `is_of_lowered_graph` requires. Returns an error for weights of a model
// without data, for a profile that cannot be read or is that of another model, and for a form that shows
// neither. Emits errors to the context of the compilation if data cannot be read.
ErrorOr<nlohmann::ordered_json> DescribeForDrawing(DrawingForm form, driver::Compilation& compilation,
                                                   const DrawingOptions& options,
                                                   const std::optional<ModelCosts>& costs);

// Returns a drawing of a graph that DescribeModel or DescribeLowered describes. Only pictures (SVG) can fail,
// see SvgText.
ErrorOr<std::string> DrawingText(DrawingForm form, const nlohmann::ordered_json& description);

}  // namespace nnefc::api

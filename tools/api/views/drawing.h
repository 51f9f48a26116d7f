#pragma once

#include <string>

#include "compiler/support/error_or.h"
#include "nlohmann/json.hpp"
#include "tools/api/model.h"

namespace nnefc::api {

// Returns a drawing of a graph that DescribeModel or DescribeLowered describes. Only pictures (SVG) can fail,
// see SvgText.
ErrorOr<std::string> DrawingText(DrawingForm form, const nlohmann::ordered_json& description);

}  // namespace nnefc::api

#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "tools/api/model.h"

namespace nnefc::api {

// Returns a drawing of a graph that DescribeModel or DescribeLowered describes.
std::string DrawingText(DrawingForm form, const nlohmann::ordered_json& description);

}  // namespace nnefc::api

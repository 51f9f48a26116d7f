#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace nnefc::api {

// Returns a page of HTML that draws a graph that DescribeModel or DescribeLowered describes. The page needs a
// browser with JavaScript, and neither a network nor other files. Names from the document are text in it,
// never elements.
std::string GraphPage(const nlohmann::ordered_json& description);

}  // namespace nnefc::api

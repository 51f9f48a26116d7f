#pragma once

#include <string_view>

namespace nnefc::api {

// The files of the folder `page`: the parts of a drawing.
std::string_view PageTemplate();
std::string_view PageStyle();
std::string_view PageLayoutLibrary();
std::string_view PageScript();

}  // namespace nnefc::api

#pragma once

#include <string_view>

namespace nnefc::api {

// The texts of the folder `page`, from which a drawing is made.
std::string_view PageTemplate();
std::string_view PageStyle();
std::string_view PageLayoutLibrary();
std::string_view PageScript();

}  // namespace nnefc::api

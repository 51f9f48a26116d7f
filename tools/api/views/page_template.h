#pragma once

#include <map>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace nnefc::api {

// Returns an embedded file of the folder `page`.
std::string_view PageFile(std::string_view name);

// Returns a file of the folder `page` after replacing each `@NAME@` by the item of `values` with that name,
// or else by the file with that name. Items and files may have `@` in them.
std::string FillPage(std::string_view file, const std::map<std::string_view, std::string>& values);

// Returns text with the characters escaped that have a meaning in HTML. Control characters and bytes that are
// not UTF-8 become U+FFFD.
std::string EscapedHtml(std::string_view text);

// Returns JSON for a script element. No text in it can end the element.
std::string JsonForScript(const nlohmann::ordered_json& json);

}  // namespace nnefc::api

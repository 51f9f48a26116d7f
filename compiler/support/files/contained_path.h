#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nnefc {

// Validation of paths from documents and archives: none may leave the model.

// Returns the path without `.`, empty parts and repeated slashes. Returns nothing if the path is absolute,
// contains a NUL or has a part `..`.
std::optional<std::string> ContainedPath(std::string_view path);

// Returns the path, relative to the model's folder and without a suffix, of the file that belongs to the
// label of a variable, a resource or a sub-model. Leading and trailing slashes are ignored, and `..` removes
// the part before it. Returns nothing for a label that names no file inside the model: an empty one, one with
// a NUL, and one that leaves the folder. The latter is checked with `\` as the separator, too, because the
// model may be unpacked on another system.
std::optional<std::string> LabelPath(std::string_view label);

}  // namespace nnefc

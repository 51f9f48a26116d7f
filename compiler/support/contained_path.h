#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nnefc {

// Paths from documents and archives, which must not lead out of a model.

// The path without `.`, empty parts and repeated slashes; nothing if it is absolute,
// contains a NUL or a part `..`.
std::optional<std::string> ContainedPath(std::string_view path);

// The path inside of a model's folder of the file that the label of a variable, a resource or
// a sub-model names, without its suffix. Slashes at its ends do not count, and `..` removes the
// part before it. Nothing for a label that names no file inside: an empty one, one with a NUL, and
// one that leads out, also where `\` separates folders, as another system may unpack the model.
std::optional<std::string> LabelPath(std::string_view label);

}  // namespace nnefc

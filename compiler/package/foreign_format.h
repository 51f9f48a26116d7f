#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nnefc::package {

// The suffix of documents of NNEF 2.0 (SkriptND).
inline constexpr std::string_view kSkriptNdSuffix = ".sknd";

// Returns the format of a file that is not an NNEF model: "an ONNX model; convert it with ..". Detects it by
// the first bytes, or if these are ambiguous by the suffix. Returns nothing for a possible document or
// archive.
std::optional<std::string> ForeignFormat(const std::string& path, std::span<const std::byte> bytes);

}  // namespace nnefc::package

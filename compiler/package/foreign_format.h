#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace nnefc {

// What a file is that is no model of ours: "an ONNX model; convert it with ..".
// Known by its first bytes, or where those say little by the end of its name;
// nothing for what may be a document or an archive.
std::optional<std::string> ForeignFormat(const std::string& path, std::span<const std::byte> bytes);

}  // namespace nnefc

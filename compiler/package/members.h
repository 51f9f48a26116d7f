#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nnefc::package {

// Classification of a model's files by name (R 5.1, and tract's additions). Resource forks of macOS
// (`._x.dat`) have no role.

inline constexpr std::string_view kGraphFile = "graph.nnef";
inline constexpr std::string_view kQuantizationFile = "graph.quant";
inline constexpr std::string_view kTensorSuffix = ".dat";
inline constexpr std::string_view kResourceSuffix = ".json";
inline constexpr std::string_view kInnerSuffixes[] = {".nnef.tgz", ".nnef.tar", ".nnef.tar.gz"};
// The maximum size of a resource, in bytes.
inline constexpr uint64_t kLongestResource = uint64_t{16} << 20;

std::string_view BaseName(std::string_view path);
// Returns the label of a tensor file; nothing for others, also a file with a suffix alone.
std::optional<std::string> LabelOf(std::string_view member);
// Returns true for a file with the tensors of several labels.
bool HoldsTensors(std::string_view member);
// Returns true for a file of one or several tensors.
bool IsData(std::string_view member);
bool IsResource(std::string_view member);
// Returns the path, without its suffix, of an archive that is a sub-model; nothing for other files.
std::optional<std::string> InnerPath(std::string_view member);
// Returns true for the document of a sub-model, or an archive that is one.
bool IsInner(std::string_view member);

}  // namespace nnefc::package

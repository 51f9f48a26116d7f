#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nnefc {

// What the files of a model are by their names (R 5.1, and those that tract adds).
// Resource forks that macOS puts beside files (`._x.dat`) are none of them.

inline constexpr std::string_view kGraphFile = "graph.nnef";
inline constexpr std::string_view kQuantizationFile = "graph.quant";
inline constexpr std::string_view kTensorSuffix = ".dat";
inline constexpr std::string_view kResourceSuffix = ".json";
inline constexpr std::string_view kInnerSuffixes[] = {".nnef.tgz", ".nnef.tar", ".nnef.tar.gz"};
// Bytes that a resource may have.
inline constexpr uint64_t kLongestResource = uint64_t{16} << 20;

std::string_view BaseName(std::string_view path);
// The label of a tensor file.
std::optional<std::string> LabelOf(std::string_view member);
// True for a file of the tensors of many labels.
bool HoldsTensors(std::string_view member);
// True for a file of one tensor or of many.
bool IsData(std::string_view member);
bool IsResource(std::string_view member);
// The path of an archive that is a model inside, without its suffix; nothing if it
// is no such file.
std::optional<std::string> InnerPath(std::string_view member);
// True for the document of a model inside, or an archive that is one.
bool IsInner(std::string_view member);

}  // namespace nnefc

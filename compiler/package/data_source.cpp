// The bytes of binary files, with names and byte offsets for messages.

#include "compiler/package/data_source.h"

#include <algorithm>
#include <limits>

#include "compiler/support/files/file.h"

namespace nnefc::package {

ErrorOr<DataSource> OpenData(const std::string& path, Context& context, FileKind kind) {
  auto mapped = MappedFile::Open(path);
  if (!mapped) return mapped.error();
  size_t size = (*mapped)->size();
  return DataSource{context.sources.AddOpaque(path, kind), Buffer::Map(*mapped, 0, size)};
}

SourceRange ByteRange(FileId file, uint64_t offset, uint64_t size) {
  constexpr uint64_t kLast = std::numeric_limits<uint32_t>::max();
  uint64_t begin = std::min(offset, kLast);
  uint64_t end = begin + std::min(size, kLast - begin);
  return {file, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

std::string ShownText(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string shown(text.substr(0, kLongest));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '.');
  return text.size() > kLongest ? shown + ".." : shown;
}

}  // namespace nnefc::package

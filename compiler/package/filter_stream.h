#pragma once

#include <string>

#include "compiler/package/packed_bytes.h"
#include "compiler/package/unpacked_stream.h"

struct archive;

namespace nnefc {

struct ArchiveFunctions;

// Lets libarchive read the compressions that it implements itself: bzip2,
// compress, lz4, lzma, xz, zstd. Others run programs.
void SupportFilters(const ArchiveFunctions& functions, archive* handle);
// True if an archive that was opened is compressed more than once, which is how
// bombs are built.
bool IsLayered(const ArchiveFunctions& functions, archive* handle);

// Unpacks a file of one of these compressions up to its end.
class FilterStream : public UnpackedStream {
 public:
  explicit FilterStream(PackedBytes packed);
  ~FilterStream() override;
  FilterStream(const FilterStream&) = delete;
  FilterStream& operator=(const FilterStream&) = delete;

  std::optional<std::span<const std::byte>> Next() override;

 private:
  static ssize_t ReadPacked(archive* handle, void* stream, const void** block);
  [[nodiscard]] bool Open();

  PackedBytes packed_;
  const ArchiveFunctions* functions_ = nullptr;
  archive* archive_ = nullptr;  // once it is opened
  bool opened_ = false;
  std::string reason_;
};

}  // namespace nnefc

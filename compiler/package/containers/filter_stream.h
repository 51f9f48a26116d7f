#pragma once

#include <string>

#include "compiler/package/containers/unpacked_stream.h"
#include "compiler/package/tensors/packed_bytes.h"

struct archive;

namespace nnefc::package {

struct ArchiveFunctions;

// Enables the compressions that libarchive implements itself: bzip2, compress, lz4, lzma, xz, zstd. Others
// would run external programs.
void SupportFilters(const ArchiveFunctions& functions, archive* handle);
// Returns true if an open archive is compressed more than once, as decompression bombs are.
bool IsLayered(const ArchiveFunctions& functions, archive* handle);

// A decompressor of a file with one of these compressions, up to its end.
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
  archive* archive_ = nullptr;  // null until opened
  bool opened_ = false;
  std::string reason_;
};

}  // namespace nnefc::package

#pragma once

#include <string>

#include "compiler/package/packed_bytes.h"
#include "compiler/package/unpacked_stream.h"

struct archive;

namespace nnefc {

// Lets libarchive read the compressions that it implements itself: bzip2,
// compress, lz4, lzma, xz, zstd. Others run programs.
void SupportFilters(archive* handle);
// True if an archive that was opened is compressed more than once, which is how
// bombs are built.
bool IsLayered(archive* handle);

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
  bool Open();

  PackedBytes packed_;
  archive* archive_;
  bool opened_ = false;
  std::string reason_;
};

}  // namespace nnefc

#pragma once

#include <zlib.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/package/packed_bytes.h"

namespace nnefc {

// Unpacks a gzip file block by block and verifies the checksum
// and length at the end of each of its members, which libarchive's own filter
// does not.
class GzipStream {
 public:
  explicit GzipStream(PackedBytes packed);
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  // The next bytes, valid until the next call; empty at the end; nothing if
  // the file is damaged, which error() describes.
  std::optional<std::span<const std::byte>> Next();
  std::string_view error() const { return error_; }

 private:
  PackedBytes packed_;
  std::vector<std::byte> block_;
  z_stream stream_{};
  bool at_end_ = false;
  std::string_view error_;
};

}  // namespace nnefc

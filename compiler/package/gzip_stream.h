#pragma once

#include <zlib.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace nnefc {

// True if the bytes start as a gzip file does.
bool IsGzip(std::span<const std::byte> bytes);

// Unpacks a gzip file held in memory, block by block, and verifies the checksum
// and length at the end of each of its members, which libarchive's own filter
// does not.
class GzipStream {
 public:
  explicit GzipStream(std::span<const std::byte> packed);
  ~GzipStream();
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  // The next bytes, valid until the next call; empty at the end; nothing if
  // the file is damaged, which error() describes.
  std::optional<std::span<const std::byte>> Next();
  std::string_view error() const { return error_; }

 private:
  std::span<const std::byte> rest_;  // not yet given to zlib
  std::vector<std::byte> block_;
  z_stream stream_{};
  bool at_end_ = false;
  std::string_view error_;
};

}  // namespace nnefc

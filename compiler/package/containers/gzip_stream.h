#pragma once

#include <zlib.h>

#include <vector>

#include "compiler/package/containers/unpacked_stream.h"
#include "compiler/package/tensors/packed_bytes.h"

namespace nnefc::package {

// A block-wise decompressor of gzip files. It verifies checksum and length at the end of each member, unlike
// libarchive's own filter.
class GzipStream : public UnpackedStream {
 public:
  explicit GzipStream(PackedBytes packed);
  ~GzipStream() override;
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  std::optional<std::span<const std::byte>> Next() override;

 private:
  PackedBytes packed_;
  std::vector<std::byte> block_;
  z_stream stream_{};
  bool at_end_ = false;
};

}  // namespace nnefc::package

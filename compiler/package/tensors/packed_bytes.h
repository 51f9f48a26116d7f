#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::package {

// A block-wise reader of the bytes of a compressed file. It releases the pages of a mapped file after each
// block, so that only one block is in memory.
class PackedBytes {
 public:
  explicit PackedBytes(std::shared_ptr<const Buffer> bytes) : bytes_(std::move(bytes)) {}

  // Returns the next block, empty at the end. Blocks stay valid.
  std::span<const std::byte> Next();
  // Returns the bytes after the last block.
  std::span<const std::byte> rest() const { return {bytes_->data() + at_, bytes_->size() - at_}; }

 private:
  std::shared_ptr<const Buffer> bytes_;
  size_t at_ = 0;    // offset of the next block
  size_t kept_ = 0;  // offset of the first byte not released
};

// Returns true if the bytes start like a gzip file.
bool IsGzip(std::span<const std::byte> bytes);
// Returns true if the bytes start like a file with a supported compression.
bool IsCompressed(std::span<const std::byte> bytes);

}  // namespace nnefc::package

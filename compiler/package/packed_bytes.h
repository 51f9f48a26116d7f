#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {

// Hands out the bytes of a packed file block by block. The pages of a mapped
// file are let go of behind the block, so that not all of it fills memory.
class PackedBytes {
 public:
  explicit PackedBytes(std::shared_ptr<const Buffer> bytes) : bytes_(std::move(bytes)) {}

  // The next block, which stays valid; empty at the end.
  std::span<const std::byte> Next();
  // What follows the last block.
  std::span<const std::byte> rest() const { return {bytes_->data() + at_, bytes_->size() - at_}; }

 private:
  std::shared_ptr<const Buffer> bytes_;
  size_t at_ = 0;    // of the next block
  size_t kept_ = 0;  // of the first byte that was not let go of
};

// True if the bytes start as a gzip file does.
bool IsGzip(std::span<const std::byte> bytes);
// True if they start as a file of a compression that archives come in does.
bool IsCompressed(std::span<const std::byte> bytes);

}  // namespace nnefc

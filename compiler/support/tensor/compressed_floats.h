#pragma once

#include <cstdint>
#include <memory>

namespace nnefc {

class Buffer;

// f32 values stored in fewer bits and decompressed on use. Decompression is exact: each stored item
// represents one f32.
class CompressedFloats {
 public:
  // The stored form of an item.
  enum class Form : uint8_t {
    kHalf,    // f16
    kBfloat,  // bf16
    // Blocks of 32 items: an f16 scale and 16 bytes with two 4-bit values each. An item is (value - 8) *
    // scale.
    kBlocksOfHalves,  // a byte contains items i and i + 16
    kBlocksOfPairs,   // a byte contains items 2 * i and 2 * i + 1
  };
  static constexpr int64_t kBlockItems = 32;
  static constexpr int64_t kBlockBytes = 18;
  // The minimum count of floats worth compressed storage; smaller tensors are decompressed immediately.
  static constexpr int64_t kWorthwhile = 4096;

  // Requires that `data` has ByteSize(form, count) bytes and that `count` is a multiple of the block size.
  CompressedFloats(Form form, std::shared_ptr<const Buffer> data, int64_t count);

  Form form() const { return form_; }
  const std::shared_ptr<const Buffer>& data() const { return data_; }
  int64_t count() const { return count_; }
  // Returns the granularity of Unpack: `first` is a multiple of it.
  int64_t step() const { return IsBlocked(form_) ? kBlockItems : 1; }
  // Writes floats [first, first + count).
  void Unpack(int64_t first, int64_t count, float* out) const { Unpack(form_, Bytes(), first, count, out); }
  // The same for bytes `data` in that form, without an object.
  static void Unpack(Form form, const std::byte* data, int64_t first, int64_t count, float* out);
  // Returns the bytes of `count` items.
  static int64_t ByteSize(Form form, int64_t count);

 private:
  static bool IsBlocked(Form form) { return form >= Form::kBlocksOfHalves; }
  const std::byte* Bytes() const;

  Form form_;
  std::shared_ptr<const Buffer> data_;
  int64_t count_;
};

}  // namespace nnefc

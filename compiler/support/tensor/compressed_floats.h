#pragma once

#include <cstdint>
#include <memory>

namespace nnefc {

class Buffer;

// Floats of 32 bits that lie in fewer and are unpacked where they are used. Each
// stands for one float of f32 exactly.
class CompressedFloats {
 public:
  enum class Form : uint8_t {
    kHalf,    // f16
    kBfloat,  // bf16
    // Blocks of 32 items: a scale (f16) and 16 bytes of two codes of four bits; an item is
    // its code less 8, times the scale.
    kBlocksOfHalves,  // a byte holds items i and i + 16
    kBlocksOfPairs,   // items 2 * i and 2 * i + 1
  };
  static constexpr int64_t kBlockItems = 32;
  static constexpr int64_t kBlockBytes = 18;
  // Floats of so few are as well unpacked at once.
  static constexpr int64_t kWorthwhile = 4096;

  // `data` holds ByteSize(form, count) bytes; `count` is a number of whole blocks.
  CompressedFloats(Form form, std::shared_ptr<const Buffer> data, int64_t count);

  Form form() const { return form_; }
  const std::shared_ptr<const Buffer>& data() const { return data_; }
  int64_t count() const { return count_; }
  // So many floats can be unpacked apart from others: `first` below is a multiple of it.
  int64_t step() const { return IsBlocked(form_) ? kBlockItems : 1; }
  // Writes floats [first, first + count).
  void Unpack(int64_t first, int64_t count, float* out) const { Unpack(form_, Bytes(), first, count, out); }
  // The same of `data` in that form.
  static void Unpack(Form form, const std::byte* data, int64_t first, int64_t count, float* out);
  static int64_t ByteSize(Form form, int64_t count);

 private:
  static bool IsBlocked(Form form) { return form >= Form::kBlocksOfHalves; }
  const std::byte* Bytes() const;

  Form form_;
  std::shared_ptr<const Buffer> data_;
  int64_t count_;
};

}  // namespace nnefc

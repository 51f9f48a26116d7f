// Blocked formats as layouts of values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/fast/memory/blocked_format.h"
#include "runtime/kernels/kernel.h"
#include "runtime/tensor/layout.h"

namespace nnefc::runtime::fast::memory {

// Quantization parameters of 8-bit values: scale * (value - zero).
struct ValueQuantization {
  float scale = 1;
  int zero = 0;

  // Returns the real value of a quantized one.
  float NumberOf(int code) const { return scale * static_cast<float>(code - zero); }
  bool operator==(const ValueQuantization&) const = default;
};
// Quantization parameters of a filter by output channel: scales[channel] * value.
struct FilterScales {
  std::vector<float> scales;
  int mask = 1;  // bit i: the scales differ along axis i of the filter

  bool operator==(const FilterScales&) const = default;
};

// The layout of an f32 value: the format of its memory, with its quantization.
class BlockedLayout final : public tensor::OpaqueLayout {
 public:
  // Additional properties of a layout for f32 values.
  struct Form {
    AxisOrder order = {};       // original axis order of a constant before packing
    int64_t merged_groups = 1;  // groups of a constant filter merged into one group of the format
    std::optional<ValueQuantization> codes = std::nullopt;    // set if the memory has quantized values
    std::optional<FilterScales> filter_codes = std::nullopt;  // set for a quantized filter

    bool operator==(const Form&) const = default;
  };
  explicit BlockedLayout(BlockedFormat format) : format_(std::move(format)) {}
  BlockedLayout(BlockedFormat format, Form form) : format_(std::move(format)), form_(std::move(form)) {}

  const BlockedFormat& format() const { return format_; }
  const Form& form() const { return form_; }
  size_t byte_size() const override { return format_.byte_size(); }
  bool Equals(const tensor::OpaqueLayout& other) const override;
  std::string ToString() const override;
  std::string Key() const override;

 private:
  BlockedFormat format_;
  Form form_;
};

// Returns true for tensors that the kernels of this backend support: f32, not empty, at most 12 axes, dense.
bool IsDenseF32(const kernels::ValueInfo& value);
// Returns true if all inputs and outputs are such tensors.
bool AreDenseF32(const kernels::KernelRequest& request);

// Returns the current format of the value; for quantized values that of f32 in the same order.
BlockedFormat FormatOf(const kernels::ValueInfo& value);
BlockedFormat FormatOf(const tensor::Layout& layout, llvm::ArrayRef<int64_t> shape);
// Returns the same element order for f32.
BlockedFormat FormatInF32(const kernels::ValueInfo& value);
// Returns the format of the memory itself, with the 8-bit type for quantized layouts.
BlockedFormat MemoryFormatOf(const tensor::Layout& layout, llvm::ArrayRef<int64_t> shape);
// Returns the properties of a layout; the default ones for row-major.
const BlockedLayout::Form& FormOf(const tensor::Layout& layout);
// Returns true for f32 images in nChw16c layout.
bool IsChannelBlocked(const kernels::ValueInfo& value);
// Returns whether a value is images of rank 3 to 5 in nChw16c or in NHWC, f32 or quantized.
bool IsImageMemory(const kernels::ValueInfo& value);
// Returns the quantization parameters of the value, or null if it is not quantized.
const ValueQuantization* QuantizationOf(const kernels::ValueInfo& value);
// Returns the layout of 8-bit values with the parameters `codes`, in the element order of `format`.
tensor::Layout QuantizedLayout(const BlockedFormat& format, const ValueQuantization& codes);
// Returns null if the format is row-major f32 or equivalent (such as nChw16c images with one pixel).
tensor::Layout LayoutOf(const BlockedFormat& format);

// Returns the operand type of matrix multiplications, by the precision of the request: bf16 or f32.
StorageType MatmulType(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast::memory

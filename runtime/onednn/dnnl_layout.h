#pragma once

#include <optional>
#include <vector>

#include "runtime/kernels/kernel.h"
#include "runtime/onednn/onednn.h"
#include "runtime/tensor/layout.h"

namespace nnefc::runtime {

// Quantization parameters of 8-bit values: scale * (value - zero).
struct DnnQuantization {
  float scale = 1;
  int zero = 0;

  float NumberOf(int code) const { return scale * static_cast<float>(code - zero); }
  bool operator==(const DnnQuantization&) const = default;
};
// Quantization parameters of a filter by output channel: scales[channel] * value.
struct DnnFilterQuantization {
  std::vector<float> scales;
  int mask = 1;  // axes of the scales

  bool operator==(const DnnFilterQuantization&) const = default;
};

// The order of axes in dense memory, outermost first; empty for row-major.
using AxisOrder = llvm::SmallVector<size_t, 6>;
// Returns row-major order with two axes swapped.
AxisOrder SwappedOrder(size_t rank, size_t first, size_t second);

// oneDNN's memory descriptor, opaque to the rest of the engine.
class DnnLayout final : public OpaqueLayout {
 public:
  // Additional properties of a layout for f32 values.
  struct Form {
    AxisOrder order = {};       // original axis order of a constant before packing
    int64_t merged_groups = 1;  // groups of a constant filter merged into one group of the descriptor
    std::optional<DnnQuantization> codes = std::nullopt;
    std::optional<DnnFilterQuantization> filter_codes = std::nullopt;

    bool operator==(const Form&) const = default;
  };
  explicit DnnLayout(dnnl::memory::desc desc) : desc_(std::move(desc)) {}
  DnnLayout(dnnl::memory::desc desc, Form form) : desc_(std::move(desc)), form_(std::move(form)) {}

  const dnnl::memory::desc& desc() const { return desc_; }
  const Form& form() const { return form_; }
  size_t byte_size() const override { return desc_.get_size(); }
  bool Equals(const OpaqueLayout& other) const override;
  std::string ToString() const override;
  std::string Key() const override;

 private:
  dnnl::memory::desc desc_;
  Form form_;
};

// Returns the CPU engine of the process.
const dnnl::engine& DnnEngine();

// Returns true if oneDNN generates AVX-512 code.
bool HasAvx512();

// Returns true if oneDNN uses AMX for bf16 and int8.
bool HasAmx();

// Returns true if the processor has VNNI, which accumulates int8 products in i32. Other processors add pairs
// in i16, which may saturate.
bool HasVnni();

using DnnType = dnnl::memory::data_type;

// Returns the extents in oneDNN's convention, with scalars as rank 1.
dnnl::memory::dims DnnDims(llvm::ArrayRef<int64_t> shape);
// Returns true for tensors that oneDNN can represent and our kernels support: f32, not empty, at most 12
// axes, dense.
bool DnnAccepts(const ValueInfo& value);
bool DnnAcceptsAll(const KernelRequest& request);

// Returns the row-major descriptor.
dnnl::memory::desc PlainDesc(llvm::ArrayRef<int64_t> shape, DnnType type = DnnType::f32);
// Returns a dense descriptor with any axis order.
dnnl::memory::desc OrderedDesc(llvm::ArrayRef<int64_t> extents, const AxisOrder& order);
// Returns the descriptor of `count` consecutive matrices.
dnnl::memory::desc StackedDesc(const dnnl::memory::desc& matrix, int64_t count);
// Returns a descriptor that lets oneDNN choose the layout.
dnnl::memory::desc AnyDesc(llvm::ArrayRef<int64_t> shape, DnnType type = DnnType::f32);
// The block size and descriptor of nChw16c images with ranks 3 to 5.
inline constexpr int64_t kChannelBlock = 16;
dnnl::memory::desc ChannelBlockedDesc(llvm::ArrayRef<int64_t> shape);
// Makes an axis innermost in blocks, padded to a multiple of the block size. The caller sets the other
// strides.
dnnl_blocking_desc_t& PutInBlocks(dnnl::memory::desc& desc, size_t axis, int64_t block);
// Likewise for the first axis of a filter; the other axes keep their order between the blocks and their
// elements.
dnnl_blocking_desc_t& PutOutputsInBlocks(dnnl::memory::desc& desc, int64_t block);
// Returns the descriptor of NHWC images with ranks 3 to 5.
dnnl::memory::desc ChannelsLastDesc(llvm::ArrayRef<int64_t> shape, DnnType type);
// Returns the descriptor of a scalar with the given rank.
dnnl::memory::desc NumberDesc(size_t rank);
// Returns the current layout of the value; for quantized values that of f32 in the same order.
dnnl::memory::desc DescOf(const ValueInfo& value);
dnnl::memory::desc DescOf(const Layout& layout, llvm::ArrayRef<int64_t> shape);
// Returns the same element order for f32.
dnnl::memory::desc DescInF32(const ValueInfo& value);
// Returns true for f32 images in nChw16c layout.
bool IsChannelBlocked(const ValueInfo& value);
// Returns the quantization parameters of the value, or null if it is not quantized.
const DnnQuantization* QuantizationOf(const ValueInfo& value);
// Returns the descriptor with 8-bit elements.
dnnl::memory::desc QuantizedDesc(const dnnl::memory::desc& desc);
Layout QuantizedLayout(const dnnl::memory::desc& desc, const DnnQuantization& codes);
// Returns the element type of the descriptor; f32 values may be stored as bf16.
DnnType TypeOf(const dnnl::memory::desc& desc);
// Returns null if the descriptor is row-major f32 or equivalent (such as nChw16c images with one pixel).
Layout LayoutOf(const dnnl::memory::desc& desc);
// Returns true if the layout has padding, such as a partial channel block.
bool IsPadded(const dnnl::memory::desc& desc);
// Returns the tag of a blocked layout [N, C/b, spatial.., b], or nothing for other layouts and ranks.
std::optional<dnnl::memory::format_tag> ChannelBlockedTag(const dnnl::memory::desc& desc);
bool IsChannelsLast(const dnnl::memory::desc& desc);

}  // namespace nnefc::runtime

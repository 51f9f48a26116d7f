#pragma once

#include <optional>
#include <vector>

#include "runtime/fast/onednn.h"
#include "runtime/kernels/kernel.h"
#include "runtime/tensor/layout.h"

namespace nnefc::runtime {

// What codes of 8 bits stand for: scale * (code - zero).
struct DnnCodes {
  float scale = 1;
  int zero = 0;

  float NumberOf(int code) const { return scale * static_cast<float>(code - zero); }
  bool operator==(const DnnCodes&) const = default;
};
// The same of a filter, by output channel: scales[channel] * code.
struct DnnFilterCodes {
  std::vector<float> scales;
  int mask = 1;  // the axes of which the scales are

  bool operator==(const DnnFilterCodes&) const = default;
};

// The axes of a description by how they lie in a dense memory, the outermost first; empty: row-major.
using AxisOrder = llvm::SmallVector<size_t, 6>;
// Row-major but for two axes that have each other's places.
AxisOrder SwappedOrder(size_t rank, size_t first, size_t second);

// oneDNN's description of memory, opaque to the rest of the engine.
class DnnLayout final : public OpaqueLayout {
 public:
  // What else there is to know of a layout of values of f32.
  struct Form {
    AxisOrder order = {};       // of constants: in which they lie before they are laid out
    int64_t merged_groups = 1;  // of a constant filter, so many of which are one of the description
    std::optional<DnnCodes> codes = std::nullopt;
    std::optional<DnnFilterCodes> filter_codes = std::nullopt;

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

// The CPU engine of the process.
const dnnl::engine& DnnEngine();

// True if oneDNN generates code of 16 lanes.
bool HasAvx512();

// True if oneDNN multiplies tiles of bf16 and of 8 bits.
bool HasAmx();

// True if the processor adds products of 8 bits in 32: others add two in 16 first, which
// may not hold them.
bool HasVnni();

using DnnType = dnnl::memory::data_type;

// The extents as oneDNN counts them: a tensor of rank 0 is one of rank 1.
dnnl::memory::dims DnnDims(llvm::ArrayRef<int64_t> shape);
// True if oneDNN's memory can hold such a tensor and our kernels use it: f32,
// not empty, at most 12 axes, without strides of its own.
bool DnnAccepts(const ValueInfo& value);
bool DnnAcceptsAll(const KernelRequest& request);

// The row-major description.
dnnl::memory::desc PlainDesc(llvm::ArrayRef<int64_t> shape, DnnType type = DnnType::f32);
// Dense, in any order of axes.
dnnl::memory::desc OrderedDesc(llvm::ArrayRef<int64_t> extents, const AxisOrder& order);
// `count` matrices of that order of elements, one behind the other.
dnnl::memory::desc StackedDesc(const dnnl::memory::desc& matrix, int64_t count);
// The description by which oneDNN chooses.
dnnl::memory::desc AnyDesc(llvm::ArrayRef<int64_t> shape, DnnType type = DnnType::f32);
// Images with their channels in blocks of 16, of ranks 3 to 5.
inline constexpr int64_t kChannelBlock = 16;
dnnl::memory::desc ChannelBlockedDesc(llvm::ArrayRef<int64_t> shape);
// An axis in blocks that lie innermost, padded to whole ones; strides between are for who asks to set.
dnnl_blocking_desc_t& PutInBlocks(dnnl::memory::desc& desc, size_t axis, int64_t block);
// The first axis of a filter likewise; the others lie in their order between blocks and what these have.
dnnl_blocking_desc_t& PutOutputsInBlocks(dnnl::memory::desc& desc, int64_t block);
// Images with their channels behind the pixels, of ranks 3 to 5.
dnnl::memory::desc ChannelsLastDesc(llvm::ArrayRef<int64_t> shape, DnnType type);
// One element, of as many axes as what it is combined with.
dnnl::memory::desc NumberDesc(size_t rank);
// How the value lies now; of codes, the same order of elements of f32.
dnnl::memory::desc DescOf(const ValueInfo& value);
dnnl::memory::desc DescOf(const Layout& layout, llvm::ArrayRef<int64_t> shape);
// The same order of elements of f32.
dnnl::memory::desc DescInF32(const ValueInfo& value);
// Images of f32 with their channels in blocks of 16.
bool LiesInBlocks(const ValueInfo& value);
// What the codes stand for in which the value lies; null if it lies in none.
const DnnCodes* CodesOf(const ValueInfo& value);
// Elements of a description as codes.
dnnl::memory::desc DescOfCodes(const dnnl::memory::desc& desc);
Layout LayoutOfCodes(const dnnl::memory::desc& desc, const DnnCodes& codes);
// Of the elements as they lie: a value of f32 may lie in bf16.
DnnType TypeOf(const dnnl::memory::desc& desc);
// Null if the description is row-major of f32, or the same bytes in the same order
// (blocked channels of images of one pixel, say).
Layout LayoutOf(const dnnl::memory::desc& desc);
// True if its memory holds more than the elements: channels that fill no whole
// number of blocks.
bool IsPadded(const dnnl::memory::desc& desc);
// Blocked channels: [N, C/b, spatial.., b]; nothing if there is no such format
// of the rank or the layout is another.
std::optional<dnnl::memory::format_tag> ChannelBlockedTag(const dnnl::memory::desc& desc);
bool IsChannelsLast(const dnnl::memory::desc& desc);

}  // namespace nnefc::runtime

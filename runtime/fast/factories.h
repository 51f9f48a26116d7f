#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/fast/memory/blocked_format.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::fast {

// The tables of this backend, to which other libraries append implementations before they are registered.
class FastTables {
 public:
  // Adds the tables of an operation, which must outlive the registry.
  void Add(std::initializer_list<std::string_view> sets, std::string_view name,
           llvm::ArrayRef<kernels::ImplementationTable> tables);
  // Implementations for a table of an operation, by its type.
  struct Rows {
    std::string_view type;
    llvm::ArrayRef<kernels::Implementation> rows;
  };
  // Appends implementations to the tables of an operation. Those of the tables come first if their costs are
  // equal.
  void Append(std::initializer_list<std::string_view> sets, std::string_view name,
              llvm::ArrayRef<Rows> appended);
  void RegisterIn(kernels::KernelRegistry& registry) const;

 private:
  struct Operation {
    std::string set, name;
    std::vector<kernels::ImplementationTable> tables;
    std::vector<std::vector<kernels::Implementation>> rows;  // per table
  };
  Operation& Find(std::string_view set, std::string_view name);

  std::vector<std::shared_ptr<Operation>> operations_;
};

// One function per file of kernels in this folder.
void AddFastConvolution(FastTables& tables);
void AddFastDeconvolution(FastTables& tables);
void AddFastPooling(FastTables& tables);
void AddFastMatMul(FastTables& tables);
void AddFastElementwise(FastTables& tables);
void AddFastNormalization(FastTables& tables);
namespace memory {
void AddFastConcat(FastTables& tables);
void AddFastSplit(FastTables& tables);
}  // namespace memory
namespace int8 {
void AddFastQuantization(FastTables& tables);
}  // namespace int8
namespace rnn {
void AddFastRecurrent(FastTables& tables);
}  // namespace rnn
namespace attention {
void AddFastAttention(FastTables& tables);
}  // namespace attention
namespace gemm {
void RegisterCompressedKernels(kernels::KernelRegistry& registry);
}  // namespace gemm
namespace pointwise {
void RegisterRowReductions(kernels::KernelRegistry& registry);
void RegisterRowNormalizations(kernels::KernelRegistry& registry);
void RegisterRowSoftmax(kernels::KernelRegistry& registry);
void RegisterUnaryKernels(kernels::KernelRegistry& registry);
}  // namespace pointwise
namespace memory {
void AddImageTransposes(FastTables& tables);
}  // namespace memory
namespace pointwise {
void AddImageResampling(FastTables& tables);
}  // namespace pointwise

// Returns the table of an operation with a single implementation.
template <kernels::KernelOrReason (*kMake)(const kernels::KernelRequest&)>
llvm::ArrayRef<kernels::ImplementationTable> TableOf(std::string_view id, std::string_view type = "f32") {
  static const kernels::Implementation kRows[] = {
      {id, kernels::AlwaysApplies, kernels::FixedCost<100>, kMake}};
  static const kernels::ImplementationTable kTables[] = {{type, kernels::AlwaysApplies, kRows}};
  return kTables;
}

namespace pointwise {

// pointwise/row_reductions.cpp, row_normalization.cpp: kernels of rows.
kernels::KernelOrReason MakeRowMean(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeRowMaximum(const kernels::KernelRequest& request);
kernels::KernelOrReason MakeRowBatchNorm(const kernels::KernelRequest& request);

// pointwise/unary.cpp: f32 Tanh and Sigmoid.
kernels::KernelOrReason MakeVectorizedGate(const kernels::KernelRequest& request);
// PReLU with a single slope.
kernels::KernelOrReason MakeVectorizedPRelu(const kernels::KernelRequest& request);
// Unary functions that are also available as GEMM post-ops.
kernels::KernelOrReason MakeEpilogueFunction(const kernels::KernelRequest& request);

}  // namespace pointwise

// pointwise/per_channel_binary.cpp: nChw16c images with per-channel operands.
enum class PerChannelOperand : uint8_t { kNone, kSharedByBatch, kPerImage };
namespace pointwise {
PerChannelOperand ClassifyPerChannelOperand(const ir::Node& node, llvm::ArrayRef<int64_t> numbers,
                                            llvm::ArrayRef<int64_t> images);
kernels::KernelOrReason MakePerChannelBinary(const kernels::KernelRequest& request);
}  // namespace pointwise

namespace memory {
// memory/channel_gather.cpp: concatenation of images along channels, and a Gather of channels.
kernels::KernelOrReason MakeChannelGather(const kernels::KernelRequest& request);
// Concatenation of mostly nChw16c images, some with partial blocks.
kernels::KernelOrReason MakeChannelConcat(const kernels::KernelRequest& request);
}  // namespace memory

// convolution.cpp: a per-channel scale followed by a 1x1 convolution.
kernels::KernelOrReason MakeScaledPointwiseConvolution(const kernels::KernelRequest& request);
// A depthwise convolution of quantized values minus zero points by channel.
kernels::KernelOrReason MakeZeroPointConvolution(const kernels::KernelRequest& request);

namespace memory {
// memory/transpose.cpp: f32 reorders between nChw16c and NHWC; null for others. Partitions pixels among
// threads, so that no two of them write to the same cache line.
std::shared_ptr<const kernels::Kernel> MakeChannelsLastReorder(const BlockedFormat& from,
                                                               const BlockedFormat& to);
}  // namespace memory

namespace int8 {

// int8/quantization.cpp: the sum of two quantized tensors.
kernels::KernelOrReason MakeQuantizedSum(const kernels::KernelRequest& request);
// The product of quantized images and f32 scales of their channels.
kernels::KernelOrReason MakeQuantizedScale(const kernels::KernelRequest& request);
// int8/images/scaled_images.cpp: the quantized product of f32 images and constants of their channels.
kernels::KernelOrReason MakeScaledImages(const kernels::KernelRequest& request);

// Returns the layout of quantized values after a reshape from the shape `from` to `to`; nothing if they are
// not row-major, or if `to` has more than 12 axes.
std::optional<tensor::Layout> ReshapeQuantized(const tensor::Layout& layout, llvm::ArrayRef<int64_t> from,
                                               llvm::ArrayRef<int64_t> to);
// int8/images/int8_padding.cpp: adds channels to quantized images.
void AddChannelPadding(FastTables& tables);
// int8/images/int8_concat.cpp: joins channels, which linear functions and a quantization follow.
void AddLinearConcat(FastTables& tables);
// int8/images/int8_resampling.cpp: copies pixels of quantized images.
void AddNearestPixels(FastTables& tables);
// int8/lookup_tables.cpp: a Convert and a Gather as one step.
kernels::KernelOrReason MakeLookupTable(const kernels::KernelRequest& request);

}  // namespace int8
// Finds chains that run as one step with a convolution or matmul.
std::vector<kernels::FusionGroup> FindFusions(const ir::Graph& graph);
namespace memory {
// Returns null if this backend has no such reorder.
std::shared_ptr<const kernels::Kernel> MakeFastReorder(ElementType type, llvm::ArrayRef<int64_t> shape,
                                                       const tensor::Layout& from, const tensor::Layout& to);
std::optional<tensor::Layout> JoinBlockedLayouts(llvm::ArrayRef<kernels::ValueInfo> parts,
                                                 const kernels::ValueInfo& whole, int64_t axis);
std::optional<kernels::LayoutPart> PartOfBlockedLayout(const kernels::ValueInfo& whole,
                                                       const tensor::ElementsView& part);
// See kernels::TransposedLayout: that of NHWC tensors as images.
std::optional<tensor::Layout> TransposeToChannelsLast(llvm::ArrayRef<int64_t> shape,
                                                      llvm::ArrayRef<int64_t> order);
}  // namespace memory

}  // namespace nnefc::runtime::fast

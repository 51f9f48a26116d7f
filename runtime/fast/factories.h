#pragma once

#include <vector>

#include "runtime/kernels/registry.h"
#include "runtime/onednn/onednn.h"

namespace nnefc::runtime {

// One function per file of kernels in this folder.
void RegisterDnnConvolution(KernelRegistry& registry);
void RegisterDnnDeconvolution(KernelRegistry& registry);
void RegisterDnnPooling(KernelRegistry& registry);
void RegisterDnnMatMul(KernelRegistry& registry);
void RegisterDnnElementwise(KernelRegistry& registry);
void RegisterDnnNormalization(KernelRegistry& registry);
void RegisterDnnConcat(KernelRegistry& registry);
void RegisterDnnQuantization(KernelRegistry& registry);
void RegisterDnnRecurrent(KernelRegistry& registry);
void RegisterDnnAttention(KernelRegistry& registry);
void RegisterCompressedKernels(KernelRegistry& registry);
void RegisterRowKernels(KernelRegistry& registry);
void RegisterUnaryKernels(KernelRegistry& registry);
void RegisterImageTransposes(KernelRegistry& registry);
void RegisterImageResampling(KernelRegistry& registry);

// Returns the table of an operation with a single implementation.
template <KernelOrReason (*kMake)(const KernelRequest&)>
llvm::ArrayRef<ImplementationTable> TableOf(std::string_view id, std::string_view type = "f32") {
  static const Implementation kRows[] = {{id, AlwaysApplies, FixedCost<100>, kMake}};
  static const ImplementationTable kTables[] = {{type, AlwaysApplies, kRows}};
  return kTables;
}

// pointwise/row_reductions.cpp: operations without a fast oneDNN primitive.
KernelOrReason MakeRowMean(const KernelRequest& request);
KernelOrReason MakeRowMaximum(const KernelRequest& request);
KernelOrReason MakeVectorizedSoftmax(const KernelRequest& request);
KernelOrReason MakeRowBatchNorm(const KernelRequest& request);

// pointwise/unary.cpp: f32 Tanh and Sigmoid faster than oneDNN's.
KernelOrReason MakeVectorizedGate(const KernelRequest& request);
// PReLU with a single slope.
KernelOrReason MakeVectorizedPRelu(const KernelRequest& request);
// Unary functions that are also available as GEMM post-ops.
KernelOrReason MakeEpilogueFunction(const KernelRequest& request);

// pointwise/per_channel_binary.cpp: nChw16c images with per-channel operands.
enum class PerChannelOperand : uint8_t { kNone, kSharedByBatch, kPerImage };
PerChannelOperand ClassifyPerChannelOperand(const ir::Node& node, llvm::ArrayRef<int64_t> numbers,
                                            llvm::ArrayRef<int64_t> images);
KernelOrReason MakePerChannelBinary(const KernelRequest& request);

// memory/channel_gather.cpp: concatenation of images along channels, and a Gather of channels.
KernelOrReason MakeChannelGather(const KernelRequest& request);
// Concatenation of mostly nChw16c images, some with partial blocks.
KernelOrReason MakeChannelConcat(const KernelRequest& request);

// convolution.cpp: a per-channel scale followed by a 1x1 convolution.
KernelOrReason MakeScaledPointwiseConvolution(const KernelRequest& request);

// memory/transpose.cpp: f32 reorders between nChw16c and NHWC; null for others. Partitions pixels among
// threads, unlike oneDNN's reorder, whose threads write to the same cache lines.
std::shared_ptr<const Kernel> MakeChannelsLastReorder(const dnnl::memory::desc& from,
                                                      const dnnl::memory::desc& to);

// int8/quantization.cpp: the sum of two quantized tensors.
KernelOrReason MakeQuantizedSum(const KernelRequest& request);

// Finds the quantized results that are stored as u8, and the constant filters with int8 scales. Returns
// nothing quantized if the processor has no vector kernels. `numbers` caches the scales of large filters.
QuantizedNodes FindQuantizedNodes(const ir::Graph& graph, ConstantNumbers& numbers);
// Returns whether the quantized values of a quantization or of a node after it are stored row-major rather
// than NHWC.
bool AreRowMajor(const ir::Graph& graph, const ir::Node& quantize);
// Returns whether a Concat joins NHWC images of rank 3 to 5 along the channels.
bool JoinsImages(const ir::Graph& graph, const ir::Node& concat);
// Returns the layout of quantized values after a reshape from the shape `from` to `to`; nothing if they are
// not row-major, or if `to` has more than 12 axes.
std::optional<Layout> ReshapeQuantized(const Layout& layout, llvm::ArrayRef<int64_t> from,
                                       llvm::ArrayRef<int64_t> to);
// Replaces functions of 8-bit values by table lookups, represented as a Convert and a Gather that run as one
// step.
void InsertLookupTables(ir::Graph& graph, Precision precision, NodeEvaluator evaluate);
KernelOrReason MakeLookupTable(const KernelRequest& request);
// Returns whether a Convert belongs to such a step.
bool IsInLookupTable(const ir::Graph& graph, const ir::Node& convert);
// Returns the source node of a chain of views.
const ir::Node& SkipViews(const ir::Graph& graph, const ir::Node& node);
// matmul.cpp: conditions for flattening all rows of the left operand to one axis.
bool IsConstantMatrix(const ir::Graph& graph, ir::OutputPort port);
// Converts vectors to matrices with one row or column. For a constant matrix times a vector, the vector
// becomes the left operand.
void ConvertVectorsToMatrices(ir::Graph& graph);
// Transposes column-major left operands of matmuls with constant matrices in a separate step, so that the
// row-major kernels apply.
void TransposeLeftOperands(ir::Graph& graph);
// register.cpp: adds a node and returns its only output, with its inferred shape.
ir::OutputPort AddInferred(ir::Graph& graph, std::string_view set, std::string_view name,
                           const ir::NodeSpec& spec);
// Fuses channel permutations into convolutions.
void FuseChannelPermutations(ir::Graph& graph, Precision precision);
// Finds chains that run as one step with a convolution or matmul.
std::vector<FusionGroup> FindFusions(const ir::Graph& graph, const llvm::DenseSet<ir::NodeId>& codes);
std::shared_ptr<const Kernel> MakeDnnReorder(ElementType type, llvm::ArrayRef<int64_t> shape,
                                             const Layout& from, const Layout& to);
std::optional<Layout> JoinDnnLayouts(llvm::ArrayRef<ValueInfo> parts, const ValueInfo& whole, int64_t axis);
std::optional<LayoutPart> PartOfDnnLayout(const ValueInfo& whole, const ElementsView& part);

}  // namespace nnefc::runtime

#pragma once

#include <vector>

#include "runtime/fast/onednn.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

// One for each file of this folder that holds kernels.
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

// Of row_kernels.cpp, for what oneDNN has no fast primitive for.
std::optional<PreparedKernel> MakeMeanOfRows(const KernelRequest& request);
std::optional<PreparedKernel> MakeMaximumOfRows(const KernelRequest& request);
std::optional<PreparedKernel> MakeSoftmaxInVectors(const KernelRequest& request);
std::optional<PreparedKernel> MakeBatchNormOfRows(const KernelRequest& request);

// Of unary_kernels.cpp: Tanh and Sigmoid of f32, where oneDNN's take longer.
std::optional<PreparedKernel> MakeGateInVectors(const KernelRequest& request);
// PReLU of one slope.
std::optional<PreparedKernel> MakeSlopeInVectors(const KernelRequest& request);
// Functions of one element, as tiles of products have them, likewise.
std::optional<PreparedKernel> MakeFunctionInTiles(const KernelRequest& request);

// Of channels.cpp: images with channels in blocks and a number for each channel.
enum class ChannelNumbers : uint8_t { kNone, kOfTheBatch, kOfEachImage };
ChannelNumbers ClassifyChannelNumbers(const ir::Node& node, llvm::ArrayRef<int64_t> numbers,
                                      llvm::ArrayRef<int64_t> images);
std::optional<PreparedKernel> MakeOfBlockedChannels(const KernelRequest& request);

// Of channel_gather.cpp: a concatenation of images along their channels, and a Gather of some of them.
std::optional<PreparedKernel> MakeChannelGather(const KernelRequest& request);
// Images of which most lie in blocks of channels, some of which are not full.
std::optional<PreparedKernel> MakeChannelConcat(const KernelRequest& request);

// Of convolution.cpp: images times a number for each channel, then a convolution of single pixels.
std::optional<PreparedKernel> MakeScaledPixelProduct(const KernelRequest& request);

// Of transpose.cpp: of f32 between channels in blocks and channels behind the pixels; null for others.
// Threads divide the pixels, which oneDNN's reorder does not: its threads write to the same lines of memory.
std::shared_ptr<const Kernel> MakeReorderOfBlocks(const dnnl::memory::desc& from,
                                                  const dnnl::memory::desc& to);

// Of quantization.cpp: the sum of two tensors in codes.
std::optional<PreparedKernel> MakeSumOfCodes(const KernelRequest& request);

// Which results of FakeQuantize nodes lie in codes of 8 bits, and which filters.
CodedNodes FindCodes(const ir::Graph& graph, ConstantNumbers& numbers);
// Whether codes that a quantization of f32 makes lie in rows, not with channels behind pixels.
bool LieInRows(const ir::Graph& graph, const ir::Node& quantize);
// Whether a Concat joins images by channels, whose codes lie behind pixels.
bool JoinsImages(const ir::Graph& graph, const ir::Node& concat);
// Of codes in rows.
std::optional<Layout> ReshapeCodes(const Layout& layout, llvm::ArrayRef<int64_t> from,
                                   llvm::ArrayRef<int64_t> to);
// Looks up what is computed of codes of 8 bits alone, by a Convert and a Gather that run as one step.
void PutCodeTables(ir::Graph& graph, Precision precision, NodeEvaluator evaluate);
std::optional<PreparedKernel> MakeCodeTable(const KernelRequest& request);
// Whether a Convert is that of such a step.
bool IsOfCodeTable(const ir::Graph& graph, const ir::Node& convert);
// What views show.
const ir::Node& SeenNode(const ir::Graph& graph, const ir::Node& node);
// Of matmul.cpp: what products see all rows of the left factor with as one axis.
bool IsConstantMatrix(const ir::Graph& graph, ir::OutputPort port);
// Vectors become matrices of a row or a column. Of a constant matrix and a vector, the vector becomes the
// left factor.
void SeeVectorsAsMatrices(ir::Graph& graph);
// Rows that lie as columns, of a product with a constant matrix, are transposed in a step of
// their own, so that it has the kernels of rows.
void TransposeLeftFactors(ir::Graph& graph);
// Of register.cpp: the only output of a new node, with its shape.
ir::OutputPort AddInferred(ir::Graph& graph, std::string_view set, std::string_view name,
                           const ir::NodeSpec& spec);
// Lets convolutions take channels that were moved from where they were computed.
void GatherMovedChannels(ir::Graph& graph, Precision precision);
// Finds chains that convolutions and matrix products run as one step.
std::vector<FusionGroup> FindFusions(const ir::Graph& graph, const llvm::DenseSet<ir::NodeId>& codes);
std::shared_ptr<const Kernel> MakeDnnReorder(ElementType type, llvm::ArrayRef<int64_t> shape,
                                             const Layout& from, const Layout& to);
std::optional<Layout> JoinDnnLayouts(llvm::ArrayRef<ValueInfo> parts, const ValueInfo& whole, int64_t axis);
std::optional<LayoutPart> PartOfDnnLayout(const ValueInfo& whole, const ElementsView& part);

}  // namespace nnefc::runtime

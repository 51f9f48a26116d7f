// Search for chains of operations that one kernel executes.

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "llvm/ADT/DenseSet.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/function_chain.h"
#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/fast/int8/convolution/vnni_costs.h"
#include "runtime/fast/processor.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::fast {

using kernels::FusionGroup;
using kernels::ValueInfo;

namespace {

constexpr size_t kMaxPosts = 8;

// Returns a value's type and shape if known.
std::optional<ValueInfo> InfoOf(const ir::Graph& graph, ir::OutputPort port) {
  const ir::Output& output = graph.output(port);
  const std::optional<Shape> shape = output.shape.extents();
  if (!shape || output.type != ElementType::kF32) return std::nullopt;
  const bool constant = output.value.has_value() && graph.node(port.node).Is(ir::OpRole::kConst);
  return ValueInfo{.type = output.type, .shape = *shape, .constant = constant ? &*output.value : nullptr};
}

// The kinds of post-ops supported by a main operation.
enum class Fusible : uint8_t {
  kNothing,
  kRelu,         // batch normalisation
  kElementwise,  // a binary operation on tensors
  kAnything,     // convolution or matmul: also biases and residuals
};

// Returns the axis of biases: channels of images, columns of matmuls.
int64_t ChannelAxis(const ir::Node& main, const Shape& result) {
  return main.Is(ir::Contraction::kMatMul) ? static_cast<int64_t>(result.size()) - 1 : 1;
}

bool IsConstantMatrix(const ir::Graph& graph, ir::OutputPort port) {
  const ir::PartialShape& shape = graph.output(port).shape;
  return graph.node(port.node).Is(ir::OpRole::kConst) && shape.rank_known() && shape.rank() == 2;
}

Fusible FusibleOf(const ir::Graph& graph, const ir::Node& node, const Shape& result) {
  switch (node.info().contraction) {
    case ir::Contraction::kConvolution:
    case ir::Contraction::kGroupConvolution:
    case ir::Contraction::kConvolutionBackpropData:
    case ir::Contraction::kGroupConvolutionBackpropData:
      return Fusible::kAnything;
    case ir::Contraction::kMatMul: {
      const bool sees_rows =
          result.size() == 2 || IsConstantMatrix(graph, node.input(1)) || ir::ops::QuantizedOperandsOf(node);
      return sees_rows ? Fusible::kAnything : Fusible::kNothing;
    }
    case ir::Contraction::kNone:
      break;
  }
  switch (node.info().function) {
    case ir::ElementFunction::kAdd:
    case ir::ElementFunction::kSubtract:
    case ir::ElementFunction::kMultiply:
      return Fusible::kElementwise;
    default:
      return node.info().is_batch_normalization ? Fusible::kRelu : Fusible::kNothing;
  }
}

// Returns whether the kernels with the least time for a convolution or matmul can apply a FakeQuantize with
// f32 result: those of oneDNN, for few channels and for 8-bit values, cannot.
bool RoundsResults(const ir::Graph& graph, const ir::Node& node, const Shape& result) {
  if (node.info().contraction == ir::Contraction::kNone) return false;
  if (ir::ops::QuantizedFilterOf(node)) {
    const std::optional<Shape> filter = graph.output(node.input(1)).shape.extents();
    if (node.Is(ir::Contraction::kGroupConvolution))
      return filter && int8::IsFasterInOwnGroupEpilogue(*filter);
    if (node.Is(ir::Contraction::kMatMul))
      return HasVnni() && int8::IsFasterInOwnEpilogueOf(*Volume(llvm::ArrayRef<int64_t>(result).drop_back()));
    return node.Is(ir::Contraction::kConvolution) && filter && int8::IsFasterInOwnEpilogue(*filter);
  }
  return node.Is(ir::Contraction::kMatMul) || result[1] >= simd::kBlockColumns / 2;
}

// A main node and the post-ops found for it.
struct Chain {
  Fusible fusible;
  Shape result;
  int64_t channel_axis;
  bool is_quantized_sum = false;
  bool rounds = true;             // the kernels with the least time can apply a FakeQuantize with f32 result
  bool is_of_tensors = false;     // a matmul of two quantized tensors
  bool has_full_operand = false;  // a post-op already accepted has an operand of the shape of the result
  gemm::FunctionChain functions = {};  // post-ops already accepted
};

// Returns true if `node` can be fused as an operation on its input `chained`.
bool CanFollow(const ir::Graph& graph, const ir::Node& node, int32_t chained, Chain& chain) {
  llvm::SmallVector<ValueInfo, 2> rest;
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    if (i == chained) continue;
    std::optional<ValueInfo> info = InfoOf(graph, node.input(i));
    if (!info) return false;
    rest.push_back(*info);
  }
  if (chain.fusible == Fusible::kRelu) return node.Is(ir::ElementFunction::kRelu);
  if (chain.functions.Append(node, chained, rest)) return true;
  if (chained == 0 && gemm::FakeQuantizeLimits(node, rest, chain.result, chain.channel_axis))
    return chain.rounds;
  const bool adds = node.Is(ir::ElementFunction::kAdd) || node.Is(ir::ElementFunction::kMultiply);
  const bool has_slopes = node.Is(ir::ElementFunction::kPRelu) && chained == 0;
  if (has_slopes && chain.is_quantized_sum && rest[0].constant != nullptr) {
    const int64_t slopes = rest[0].constant->volume();
    return slopes == 1 || (chain.result.size() > 2 && slopes == chain.result[1]);
  }
  if ((!adds && !has_slopes) || chain.fusible != Fusible::kAnything) return false;
  const gemm::OperandShape operand =
      gemm::ClassifyOperand(node, rest[0].shape, chain.result, chain.channel_axis);
  if (operand == gemm::OperandShape::kPerChannel) return true;
  // The kernel of two tensors reads such operands in whole blocks.
  if (!adds || operand != gemm::OperandShape::kFull ||
      (chain.is_of_tensors && chain.result.back() % simd::kBlockColumns != 0))
    return false;
  chain.has_full_operand = true;
  return true;
}

class Finder {
 public:
  explicit Finder(const ir::Graph& graph) : graph_(graph) {}

  // Convolutions and matmuls come first, to claim additions before elementwise operations do.
  std::vector<FusionGroup> Find() {
    for (ir::NodeId id : graph_.nodes()) AddGatheredChannels(graph_.node(id));
    for (ir::NodeId id : graph_.nodes()) AddLookupTable(graph_.node(id));
    for (ir::NodeId id : graph_.nodes()) AddLinearConcat(graph_.node(id));
    for (const bool first : {true, false}) {
      for (ir::NodeId id : graph_.nodes()) AddGroup(graph_.node(id), first);
    }
    return std::move(groups_);
  }

 private:
  // Fuses a channel concatenation whose only user is a Gather.
  void AddGatheredChannels(const ir::Node& gather) {
    if (!gather.Is(ir::Rearrangement::kGather)) return;
    const ir::Node& concat = graph_.node(gather.input(0).node);
    const std::optional<ValueInfo> whole = InfoOf(graph_, gather.input(0));
    const std::optional<ValueInfo> result = InfoOf(graph_, gather.port());
    if (!concat.Is(ir::Rearrangement::kConcat) || OnlyUser(concat) != &gather || !whole || !result) return;
    const std::optional<TensorValue>& axis = graph_.output(gather.input(2)).value;
    const std::optional<TensorValue>& indices = graph_.output(gather.input(1)).value;
    const auto rank = static_cast<int64_t>(whole->shape.size());
    if (rank < 3 || rank > 5 || kernels::NormalAxis(concat.Int("axis"), rank) != 1) return;
    if (!axis || kernels::NormalAxis(axis->ElementAsInt(0), rank) != 1 || !indices || indices->rank() != 1 ||
        kernels::NormalAxis(gather.Int("batch_dims"), indices->rank()) != 0)
      return;
    claimed_.insert(concat.id());
    claimed_.insert(gather.id());
    groups_.push_back({.main = concat.id(), .posts = {gather.id()}});
  }

  // Includes the following quantization if its result is used as quantized values.
  void AddLookupTable(const ir::Node& convert) {
    if (!ir::ops::IsTableLookup(graph_, convert) ||
        !ir::ops::HasQuantizedResult(ir::ops::SkipViews(graph_, graph_.node(convert.input(0).node))))
      return;
    const ir::Node& gather = *OnlyUser(convert);
    FusionGroup group{.main = convert.id(), .posts = {gather.id()}};
    const ir::Node* last = OnlyUser(gather);
    if (last != nullptr && ir::ops::HasQuantizedResult(*last) && gather.uses(0)[0].index == 0)
      group.posts.push_back(last->id());
    claimed_.insert(group.main);
    claimed_.insert(group.posts.begin(), group.posts.end());
    groups_.push_back(std::move(group));
  }

  // Fuses a concatenation of the channels of quantized images with the functions and the quantization after
  // it.
  void AddLinearConcat(const ir::Node& concat) {
    if (!concat.Is(ir::Rearrangement::kConcat) || claimed_.contains(concat.id())) return;
    const llvm::SmallVector<ir::NodeId, 4> nodes = ir::ops::FunctionsOfConcat(graph_, concat);
    if (nodes.empty() || !ir::ops::HasQuantizedResult(graph_.node(nodes.back())) ||
        !llvm::all_of(concat.inputs(), [&](ir::OutputPort part) { return IsQuantizedImage(part); }))
      return;
    claimed_.insert(concat.id());
    claimed_.insert(nodes.begin(), nodes.end());
    groups_.push_back({.main = concat.id(), .posts = {nodes.begin(), nodes.end()}, .second = 0});
  }

  void AddGroup(const ir::Node& main, bool first) {
    if (main.num_outputs() != 1 || !main.output().shape.known() || main.output().type != ElementType::kF32)
      return;
    const Shape result = main.output().shape.known_extents();
    const Fusible fusible = FusibleOf(graph_, main, result);
    if (fusible == Fusible::kNothing || (fusible == Fusible::kAnything) != first) return;
    if (claimed_.contains(main.id())) return;
    FusionGroup group{.main = main.id()};
    const size_t most = fusible == Fusible::kRelu ? 1 : kMaxPosts;
    ir::OutputPort port = main.port();
    Chain chain{.fusible = fusible,
                .result = result,
                .channel_axis = ChannelAxis(main, result),
                .is_quantized_sum = AddsQuantized(main, result),
                .rounds = RoundsResults(graph_, main, result),
                .is_of_tensors = ir::ops::QuantizedOperandsOf(main).has_value()};
    while (group.posts.size() < most) {
      const llvm::ArrayRef<ir::InputPort> uses = graph_.node(port.node).uses(port.index);
      if (uses.size() != 1 || claimed_.contains(uses[0].node)) break;
      const ir::Node& next = graph_.node(uses[0].node);
      if (next.num_outputs() != 1 || next.output().shape.extents() != result) break;
      if (ir::ops::HasQuantizedResult(next) && uses[0].index == 0 && !main.info().is_batch_normalization) {
        if (chain.is_of_tensors && chain.has_full_operand) break;
        group.posts.push_back(next.id());  // quantization of the result is the last post-op
        if (fusible == Fusible::kAnything && !main.Is(ir::Contraction::kMatMul)) AddQuantizedSum(next, group);
        break;
      }
      if (!CanFollow(graph_, next, uses[0].index, chain)) break;
      group.posts.push_back(next.id());
      // A step without the FakeQuantize, as in bf16, leaves a chain after it.
      if (!group.second && next.info().quantizer == ir::Quantizer::kFakeQuantize)
        group.second = group.posts.size();
      port = next.port();
    }
    if (main.Is(ir::Contraction::kConvolution)) TakeScale(main, group);
    if (main.Is(ir::Contraction::kGroupConvolution)) TakeZeroPoints(main, group);
    if (group.posts.empty()) return;
    claimed_.insert(group.main);
    claimed_.insert(group.posts.begin(), group.posts.end());
    groups_.push_back(std::move(group));
  }

  // Returns whether a node adds two quantized tensors of the same shape.
  bool AddsQuantized(const ir::Node& node, const Shape& result) const {
    return node.Is(ir::ElementFunction::kAdd) && llvm::all_of(node.inputs(), [&](ir::OutputPort port) {
             return IsQuantizedImage(port) && graph_.output(port).shape.extents() == result;
           });
  }

  // Returns whether a value is a quantized result, possibly after MaxPool, Split, a Pad of channels or copies
  // of pixels.
  bool IsQuantizedImage(ir::OutputPort port) const {
    return ir::ops::SourceOfImage(graph_, port, ir::ops::HasQuantizedResult).has_value();
  }

  // Fuses a per-channel multiplication whose only user is a 1x1 convolution (channel attention): the filter
  // can be scaled instead, if it is smaller than the images.
  void TakeScale(const ir::Node& convolution, FusionGroup& group) const {
    const ir::Node& scale = graph_.node(convolution.input(0).node);
    if (!scale.Is(ir::ElementFunction::kMultiply) || claimed_.contains(scale.id()) ||
        OnlyUser(scale) != &convolution)
      return;
    const std::optional<ValueInfo> images = InfoOf(graph_, convolution.input(0));
    const std::optional<ValueInfo> filter = InfoOf(graph_, convolution.input(1));
    if (!images || !filter || filter->constant == nullptr || images->shape.size() < 3) return;
    const llvm::ArrayRef<int64_t> pixels = llvm::ArrayRef<int64_t>(images->shape).drop_front(2);
    const llvm::ArrayRef<int64_t> window = llvm::ArrayRef<int64_t>(filter->shape).drop_front(2);
    if (Volume(window) != 1 || *Volume(pixels) <= filter->shape[0]) return;
    group.posts.insert(group.posts.begin(), convolution.id());
    group.main = scale.id();
    group.second = 0;
  }

  // Fuses the subtraction of zero points from quantized values.
  void TakeZeroPoints(const ir::Node& convolution, FusionGroup& group) const {
    const ir::Node& zeros = graph_.node(convolution.input(0).node);
    if (claimed_.contains(zeros.id()) || !ir::ops::SubtractsZeroPoints(graph_, zeros) ||
        !ir::ops::HasQuantizedResult(graph_.node(zeros.input(0).node)) ||
        !ir::ops::QuantizedFilterOf(convolution))
      return;
    group.posts.insert(group.posts.begin(), convolution.id());
    group.main = zeros.id();
    group.second = 0;
  }

  const ir::Node* OnlyUser(const ir::Node& node) const {
    const llvm::ArrayRef<ir::InputPort> uses = node.uses(0);
    return uses.size() == 1 && node.num_outputs() == 1 ? &graph_.node(uses[0].node) : nullptr;
  }

  // Fuses the quantization of a convolution with the quantized sum of it and another tensor, with or without
  // a relu in between: a convolution can accumulate onto its output.
  void AddQuantizedSum(const ir::Node& codes, FusionGroup& group) {
    const ir::Node* sum = OnlyUser(codes);
    if (sum == nullptr || claimed_.contains(sum->id())) return;
    const std::optional<Shape> shape = codes.output().shape.extents();
    if (!shape || !AddsQuantized(*sum, *shape)) return;
    if (sum->input(0).node == sum->input(1).node) return;
    std::vector<ir::NodeId> posts = {sum->id()};
    const ir::Node* last = OnlyUser(*sum);
    if (last != nullptr && last->Is(ir::ElementFunction::kRelu)) {
      posts.push_back(last->id());
      last = OnlyUser(*last);
    }
    if (last == nullptr || !ir::ops::HasQuantizedResult(*last) || claimed_.contains(last->id())) return;
    if (last->input(0).node != posts.back()) return;
    posts.push_back(last->id());
    group.second = group.posts.size();
    group.posts.insert(group.posts.end(), posts.begin(), posts.end());
  }

  const ir::Graph& graph_;
  std::vector<FusionGroup> groups_;
  llvm::DenseSet<ir::NodeId> claimed_;
};

}  // namespace

std::vector<FusionGroup> FindFusions(const ir::Graph& graph) {
  return Finder(graph).Find();
}

}  // namespace nnefc::runtime::fast

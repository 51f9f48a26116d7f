#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "runtime/onednn/families.h"
#include "runtime/onednn/post_ops.h"

namespace nnefc::runtime {

namespace {

constexpr size_t kMostPosts = 8;

// A value of known type and shape, or nothing.
std::optional<ValueInfo> InfoOf(const ir::Graph& graph, ir::OutputPort port) {
  const ir::Output& output = graph.output(port);
  const std::optional<Shape> shape = output.shape.extents();
  if (!shape || output.type != ElementType::kF32) return std::nullopt;
  const bool constant = output.value.has_value() && graph.node(port.node).Is("opset1", "Const");
  return ValueInfo{.type = output.type, .shape = *shape, .constant = constant ? &*output.value : nullptr};
}

// The axis of the result that biases belong to, or -1 if nothing is fused to
// the node.
int64_t ChannelAxis(const ir::Node& node, const Shape& result) {
  const bool convolution = llvm::StringSwitch<bool>(node.type())
                               .Cases("Convolution", "GroupConvolution", true)
                               .Cases("ConvolutionBackpropData", "GroupConvolutionBackpropData", true)
                               .Default(false);
  if (convolution) return 1;
  return node.type() == "MatMul" && result.size() == 2 ? 1 : -1;
}

// True if `node` can be done on its input `chained` before that is stored.
bool CanFollow(const ir::Graph& graph, const ir::Node& node, int32_t chained, const Shape& result,
               int64_t axis) {
  llvm::SmallVector<ValueInfo, 2> rest;
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    if (i == chained) continue;
    std::optional<ValueInfo> info = InfoOf(graph, node.input(i));
    if (!info) return false;
    rest.push_back(*info);
  }
  const bool commutative = node.type() == "Add" || node.type() == "Multiply";
  if (chained != 0 && !commutative) return false;
  if (MatchEltwise(node, rest)) return true;
  if (!commutative) return false;
  const OperandShape operand = ClassifyOperand(rest[0].shape, result, axis);
  return operand == OperandShape::kPerChannel || operand == OperandShape::kFull;
}

}  // namespace

std::vector<FusionGroup> FindFusions(const ir::Graph& graph) {
  std::vector<FusionGroup> groups;
  llvm::DenseSet<ir::NodeId> claimed;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& main = graph.node(id);
    if (main.num_outputs() != 1 || !main.output().shape.known()) continue;
    const Shape result = main.output().shape.known_extents();
    const int64_t axis = ChannelAxis(main, result);
    if (axis < 0 || main.output().type != ElementType::kF32) continue;
    FusionGroup group{.main = id};
    ir::OutputPort port = main.port();
    while (group.posts.size() < kMostPosts) {
      const llvm::ArrayRef<ir::InputPort> uses = graph.node(port.node).uses(port.index);
      if (uses.size() != 1 || claimed.contains(uses[0].node)) break;
      const ir::Node& next = graph.node(uses[0].node);
      if (next.num_outputs() != 1 || next.output().shape.extents() != result) break;
      if (!CanFollow(graph, next, uses[0].index, result, axis)) break;
      group.posts.push_back(next.id());
      claimed.insert(next.id());
      port = next.port();
    }
    if (!group.posts.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace nnefc::runtime

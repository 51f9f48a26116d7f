// Squeezes of images of convolutions: one-dimensional convolutions that exporters write as two-dimensional.

#include <algorithm>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

bool MakesImages(const ir::Node& node) {
  return node.info().contraction != ir::Contraction::kNone && !node.Is(ir::Contraction::kMatMul);
}

// Returns the axes of extent 1 that a node drops from its input; nothing if it does anything else.
std::optional<std::vector<size_t>> DroppedAxes(const Node& node) {
  const std::optional<Shape> before = node.in_port(0).shape().extents();
  const std::optional<Shape> after = node.out_port(0).shape().extents();
  if (!before || !after || after->empty() || after->size() >= before->size()) return std::nullopt;
  std::vector<size_t> dropped;
  size_t kept = 0;
  for (size_t axis = 0; axis < before->size(); ++axis) {
    if (kept < after->size() && (*before)[axis] == (*after)[kept]) {
      ++kept;
    } else if ((*before)[axis] == 1) {
      dropped.push_back(axis);
    } else {
      return std::nullopt;
    }
  }
  if (kept != after->size()) return std::nullopt;
  return dropped;
}

// Returns true for an element-wise operation on two broadcast tensors.
bool IsBroadcasting(const Node& node) {
  return node.num_in_ports() == 2 && node.ir().info().is_elementwise &&
         node.ir().info().FindAttribute("auto_broadcast") != nullptr;
}

// The squeeze of an image, and the nodes after it.
class Squeeze {
 public:
  Squeeze(Graph& graph, const Node& node, const std::vector<size_t>& dropped)
      : graph_(graph),
        node_(node),
        dropped_(dropped),
        whole_(node.in_port(0).shape().known_extents()),
        squeezed_(node.out_port(0).shape().known_extents()) {}

  // Moves element-wise operations and a transpose before the squeeze.
  void Postpone() {
    while (const std::optional<Port> reader = OnlyDestination(node_.out_port(0))) {
      const Node next = reader->node();
      if (next.num_out_ports() != 1 || next.out_port(0).data().type != ElementType::kF32) return;
      if (next.ir().Is(ir::Rearrangement::kTranspose)) return PostponeTranspose(next);
      if (next.out_port(0).shape().extents() != squeezed_) return;
      const bool is_function =
          next.num_in_ports() == 1 && next.ir().info().function_cost != ir::FunctionCost::kUnknown;
      if (!is_function && !(IsBroadcasting(next) && UnsqueezeConstant(next, 1 - reader->index()))) return;
      MoveBefore(next, *reader);
    }
  }

 private:
  // Returns extents of the squeezed shape with extents of 1 at the dropped axes.
  Shape Unsqueezed(Shape extents) const {
    extents.insert(extents.begin(), squeezed_.size() - extents.size(), 1);
    for (const size_t axis : dropped_) extents.insert(extents.begin() + static_cast<int64_t>(axis), 1);
    return extents;
  }

  // Gives the constant operand of a binary operation the rank of the image; returns false if there is none.
  bool UnsqueezeConstant(const Node& node, int32_t index) {
    const std::optional<TensorValue> value = node.in_port(index).value();
    if (!value || value->shape().size() > squeezed_.size()) return false;
    if (node.ir().String("auto_broadcast") != "numpy") return false;
    const TensorValue operand = value->Reshaped(Unsqueezed(value->shape()));
    node.in_port(index).Connect(graph_.CreateConst(operand, node.name()).out_port(0));
    return true;
  }

  // Lets a node read the image, and the squeeze read the node.
  void MoveBefore(const Node& node, const Port& reader) {
    const std::vector<Port> readers = node.out_port(0).GetDestinations();
    reader.node().in_port(reader.index()).Connect(node_.in_port(0).GetSource());
    node_.in_port(0).Connect(node.out_port(0));
    for (const Port& port : readers) port.node().in_port(port.index()).Connect(node_.out_port(0));
  }

  // Transposes the image. A dropped axis stays before the one that follows it.
  void PostponeTranspose(const Node& transpose) {
    const std::optional<std::vector<int64_t>> order = KnownOrder(transpose);
    const std::optional<Shape> result = transpose.out_port(0).shape().extents();
    if (!order || order->size() != squeezed_.size() || !result) return;
    std::vector<std::vector<int64_t>> groups(1);  // each kept axis with the dropped ones before it
    for (size_t axis = 0; axis < whole_.size(); ++axis) {
      groups.back().push_back(static_cast<int64_t>(axis));
      if (!llvm::is_contained(dropped_, axis)) groups.emplace_back();
    }
    std::vector<int64_t> axes;
    for (const int64_t axis : *order) llvm::append_range(axes, groups[static_cast<size_t>(axis)]);
    llvm::append_range(axes, groups.back());  // dropped axes at the end
    const Graph::Spec named{.name = transpose.name(), .origin = transpose.ir().origin()};
    const auto ints = [&](std::string_view part, llvm::ArrayRef<int64_t> numbers) {
      return MakeInts(graph_, transpose, part, numbers);
    };
    const Node moved =
        graph_.CreateNode("opset1.Transpose", {node_.in_port(0).GetSource(), ints("/order", axes)}, named);
    TakePlace(graph_, transpose,
              graph_.CreateNode("opset1.Reshape", {moved.out_port(0), ints("/shape", *result)}, named));
    graph_.Remove(transpose);
    graph_.Remove(node_);
  }

  Graph& graph_;
  const Node node_;
  const std::vector<size_t> dropped_;
  const Shape whole_, squeezed_;
};

}  // namespace

class PostponeSqueezes : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Element-wise operations and a transpose after the squeeze of a convolution's result run before "
           "it, so that they become part of the convolution or know its layout.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,4,1,5]} : f32[1,4,1,5]
%1 = opset1.Const "w" : f32[2,4,1,1] = dense<f32[2,4,1,1]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0>
%2 = opset1.Convolution "c" (%0, %1) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[1,2,1,5]
%3 = opset1.Const "axis" : i64[1] = dense<i64[1]: 2>
%4 = opset1.Squeeze "s" (%2, %3) : f32[1,2,5]
%5 = opset1.Const "b" : f32[1,2,1] = dense<f32[1,2,1]: 0.5, 1.5>
%6 = opset1.Add "a" (%4, %5) : f32[1,2,5]
opset1.Result "y" (%6)
)";
  }
  Names RunAfter() const override { return {"TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetNodes()) {
      if (!node.exists() || !node.ir().Is(ir::OpRole::kView)) continue;
      const Port source = node.in_port(0).GetSource();
      if (!MakesImages(source.node().ir()) || source.data().type != ElementType::kF32) continue;
      if (!OnlyDestination(source)) continue;
      if (const std::optional<std::vector<size_t>> dropped = DroppedAxes(node))
        Squeeze(graph, node, *dropped).Postpone();
    }
  }
};

void RegisterPostponedSqueezes(TransformationList& list) {
  list.Add<target::PostponeSqueezes>();
}

}  // namespace nnefc::transform::target

// Inputs that adjust another one per channel or column, such as a bias.

#include "compiler/ir/ops/adjusting_inputs.h"

#include <set>
#include <tuple>

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/rules.h"
#include "compiler/ir/wording.h"

namespace nnefc::ir::ops {
namespace {

// Returns the first output of an input, or null if it was omitted.
const Output* InputAt(const Graph& graph, const Node& node, size_t input) {
  const auto ports = node.segment(static_cast<int32_t>(input));
  return ports.empty() ? nullptr : &graph.output(ports.front());
}

// Returns true if an input is a constant or a variable.
bool IsStored(const Graph& graph, const Node& node, size_t input) {
  const Node& producer = graph.node(node.segment(static_cast<int32_t>(input)).front().node);
  return producer.Is(OpRole::kVariable) || producer.Is(OpRole::kConstant);
}

// Returns the axis that the values of an input belong to, or a negative number if there is none.
int64_t IntendedAxis(Adjusts adjusts, int64_t rank) {
  if (adjusts == Adjusts::kChannels) return 1;
  return adjusts == Adjusts::kColumns ? rank - 1 : -1;
}

// Formats a shape with one extent other than 1: [1,16].
std::string ShapeAlong(int64_t axis, int64_t extent) {
  std::string text = "[";
  for (int64_t i = 0; i < axis; ++i) text += "1,";
  return fmt::format("{}{}]", text, extent);
}

// Returns the first axis of the adjusted shape that `input` enlarges.
std::optional<int64_t> EnlargedAxis(const PartialShape& input, const PartialShape& adjusted) {
  if (!input.rank_known() || !adjusted.rank_known()) return std::nullopt;
  for (int64_t axis = 0; axis < input.rank(); ++axis) {
    const bool is_singular = axis >= adjusted.rank() || (adjusted[axis].known() && adjusted[axis].min == 1);
    if (is_singular && input[axis].min > 1) return axis;
  }
  return std::nullopt;
}

class Checker {
 public:
  explicit Checker(Emitter& emitter) : emitter_(emitter) {}

  void Check(const Graph& graph) {
    for (NodeId id : graph.nodes()) {
      const Node& node = graph.node(id);
      for (size_t i = 0; i < node.info().inputs.size(); ++i) {
        if (node.info().inputs[i].adjusts != Adjusts::kNothing) Check(graph, node, i);
      }
      for (const Body& body : node.bodies()) Check(*body.graph);
    }
  }

 private:
  void Check(const Graph& graph, const Node& node, size_t i) {
    const Output* input = InputAt(graph, node, i);
    // A result of unknown rank follows from an error that is already reported.
    if (input == nullptr || !node.output().shape.rank_known()) return;
    const PartialShape adjusted = AdjustedShape(graph, node);
    // Enlarging a scalar or a vector may be intended.
    if (!adjusted.rank_known() || adjusted.rank() < 2) return;
    const std::optional<int64_t> axis = EnlargedAxis(input->shape, adjusted);
    const SourceRange range = node.origin().range;
    if (!axis || !reported_.emplace(range.file.index, range.begin, range.end, i).second) return;
    emitter_
        .Emit(kEnlargesResult, range,
              "`{}` of `{}` has shape {}, which is repeated so that the result has shape {} where {} has {}; "
              "expected {}",
              node.info().inputs[i].name, OperationName(node), ToString(input->shape),
              ToString(node.output().shape), Adjusted(node), ToString(adjusted),
              Expected(node.info().inputs[i].adjusts, adjusted))
        .Notes(StackNotes(node.origin().frame));
  }

  // Returns a message's name for the adjusted tensor.
  static std::string Adjusted(const Node& node) {
    const bool is_product = llvm::any_of(
        node.info().inputs, [](const InputInfo& input) { return input.adjusts == Adjusts::kColumns; });
    return is_product ? "the product" : fmt::format("`{}`", node.info().inputs[0].name);
  }

  static std::string Expected(Adjusts adjusts, const PartialShape& adjusted) {
    const int64_t axis = IntendedAxis(adjusted.rank() < 2 ? Adjusts::kAnyExtent : adjusts, adjusted.rank());
    if (axis < 0 || !adjusted[axis].known()) return "a shape that broadcasts to it";
    return fmt::format("{}, the {} at axis {}, or a number", ShapeAlong(axis, adjusted[axis].min),
                       adjusts == Adjusts::kColumns ? "columns" : "channels", axis);
  }

  Emitter& emitter_;
  std::set<std::tuple<int32_t, uint32_t, uint32_t, size_t>> reported_;
};

}  // namespace

PartialShape AdjustedShape(const Graph& graph, const Node& node) {
  PartialShape shape = graph.output(node.input(0)).shape;
  const auto& inputs = node.info().inputs;
  const bool is_product =
      llvm::any_of(inputs, [](const InputInfo& input) { return input.adjusts == Adjusts::kColumns; });
  if (!is_product) return shape;
  // A' * B' with the transposed filter: (batch.., rows, filters).
  const PartialShape& filter = graph.output(node.input(1)).shape;
  if (!shape.rank_known() || !filter.rank_known() || shape.rank() != filter.rank() || shape.rank() < 2)
    return PartialShape();
  const int64_t last = shape.rank() - 1;
  for (int64_t axis = 0; axis < last - 1; ++axis) {
    if (const std::optional<Dim> dim = BroadcastDim(shape[axis], filter[axis])) shape.set(axis, *dim);
  }
  shape.set(last, filter[last - 1]);
  return shape;
}

std::optional<MisplacedInput> FindMisplaced(const Graph& graph, const Node& node, size_t i) {
  const Output* input = InputAt(graph, node, i);
  const PartialShape adjusted = AdjustedShape(graph, node);
  if (input == nullptr || !adjusted.rank_known() || adjusted.rank() < 2) return std::nullopt;
  const int64_t meant = IntendedAxis(node.info().inputs[i].adjusts, adjusted.rank());
  const std::optional<Shape> extents = input->shape.extents();
  if (meant < 0 || !extents || !adjusted[meant].known() || adjusted[meant].min == 1) return std::nullopt;
  if (extents->size() != 1 && !IsStored(graph, node, i)) return std::nullopt;
  std::optional<int64_t> found;
  for (size_t axis = 0; axis < extents->size(); ++axis) {
    if ((*extents)[axis] == 1) continue;
    if (found) return std::nullopt;  // along several axes
    found = static_cast<int64_t>(axis);
  }
  if (!found || *found == meant || (*extents)[static_cast<size_t>(*found)] != adjusted[meant].min)
    return std::nullopt;
  return MisplacedInput{.found = *found, .meant = meant};
}

void CheckAdjustingInputs(const Graph& graph, Emitter& emitter) {
  Checker(emitter).Check(graph);
}

}  // namespace nnefc::ir::ops

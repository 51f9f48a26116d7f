// The replacement of operations that OpenVINO computes differently, before a graph is written.

#include "compiler/openvino/writing/written_form.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "compiler/ir/algorithms/copy.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/ops/opset/control_flow/recurrent.h"
#include "compiler/ir/ops/opset/control_flow/unrolled_size.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::openvino {

namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

// The range of a slice along its axis, in the convention of Slice. Negative offsets of a loop are one less:
// -1 is the end.
struct Cut {
  int64_t start = 0;
  int64_t stop = kToTheEnd;
};

// Returns nothing if the range is empty for every extent.
std::optional<Cut> CutOf(const ir::InputMapping& mapping) {
  const bool backward = mapping.stride < 0;
  const int64_t first = backward ? mapping.end : mapping.start;
  const int64_t last = backward ? mapping.start : mapping.end;
  if (first == -1) return std::nullopt;
  return Cut{first < 0 ? first + 1 : first, last == -1 ? kToTheEnd : last < 0 ? last + 1 : last};
}

// Returns true if a loop's input is sliced partially. The axes of unknown operations are not checked.
bool IsPartial(const ir::Graph& graph, const ir::Node& node, const ir::InputMapping& mapping) {
  if (!ir::ops::opset::IsLoop(node) || !mapping.axis || mapping.external < 0) return false;
  const std::optional<Cut> cut = CutOf(mapping);
  if (!cut || (cut->start == 0 && cut->stop == kToTheEnd)) return false;
  const ir::PartialShape& shape = graph.output(node.input(mapping.external)).shape;
  const bool is_axis = shape.rank_known() && *mapping.axis >= 0 && *mapping.axis < shape.rank();
  const ir::Dim extent = is_axis ? shape[*mapping.axis] : ir::Dim();
  return !(cut->start == 0 && extent.known() && cut->stop == extent.value());
}

// Returns the part of a constant's values; nothing if they are unknown or fill no whole bytes.
std::optional<TensorValue> PartOf(const ir::Graph& graph, ir::OutputPort whole, int64_t axis,
                                  const Cut& cut) {
  const ir::Node& node = graph.node(whole.node);
  const auto& value = node.output(whole.index).value;
  const int width = value ? BitWidth(value->type()) : 0;
  if (!node.Is(ir::OpRole::kConst) || width == 0 || width % 8 != 0) return std::nullopt;
  const llvm::ArrayRef<int64_t> extents = value->shape();
  const auto at = static_cast<size_t>(axis);
  const int64_t extent = extents[at];
  const auto index = [&](int64_t offset) {
    return std::clamp<int64_t>(offset < 0 ? offset + extent : offset, 0, extent);
  };
  const int64_t start = index(cut.start);
  const int64_t count = std::max<int64_t>(index(cut.stop) - start, 0);
  Shape shape(extents.begin(), extents.end());
  shape[at] = count;
  const std::optional<int64_t> rows = Volume(extents.take_front(at));
  const std::optional<int64_t> inner = Volume(extents.drop_front(at + 1));
  if (!rows || !inner) return std::nullopt;
  const size_t step = static_cast<size_t>(*inner) * static_cast<size_t>(width / 8);
  const std::shared_ptr<Buffer> buffer =
      Buffer::Allocate(static_cast<size_t>(*rows) * static_cast<size_t>(count) * step);
  if (buffer == nullptr) return std::nullopt;
  const size_t size = static_cast<size_t>(count) * step;
  for (int64_t row = 0; row < *rows && size > 0; ++row) {
    const auto first = static_cast<size_t>(row * extent + start) * step;
    std::memcpy(buffer->mutable_data() + static_cast<size_t>(row) * size, value->bytes() + first, size);
  }
  return TensorValue(value->type(), std::move(shape), buffer);
}

bool HasJoinedWeights(const ir::Graph& graph, const ir::Node& node) {
  return node.num_inputs() == 5 && ir::ops::opset::HasJoinedWeights(node, graph.output(node.input(4)).shape);
}

bool NeedsForm(const ir::Graph& graph) {
  return llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
    const ir::Node& node = graph.node(id);
    if (HasJoinedWeights(graph, node)) return true;
    return llvm::any_of(node.bodies(), [&](const ir::Body& body) {
      return NeedsForm(*body.graph) ||
             llvm::any_of(body.inputs, [&](const auto& mapping) { return IsPartial(graph, node, mapping); });
    });
  });
}

class Former {
 public:
  explicit Former(ir::Graph& graph) : graph_(graph) {}

  // The recursion depth is the nesting of bodies.
  void Run() {
    for (ir::NodeId id : graph_.nodes()) {
      for (size_t i = 0; i < graph_.node(id).bodies().size(); ++i) {
        CutInputs(id, i);
        Former(*graph_.body(id, i).graph).Run();
      }
      if (HasJoinedWeights(graph_, graph_.node(id))) SplitWeights(id);
    }
    for (ir::NodeId id : replaced_) {
      if (graph_.node(id).uses().empty()) graph_.Erase(id);
    }
  }

 private:
  void CutInputs(ir::NodeId id, size_t index) {
    const size_t count = graph_.node(id).bodies()[index].inputs.size();
    for (size_t i = 0; i < count; ++i) {
      const ir::InputMapping mapping = graph_.node(id).bodies()[index].inputs[i];
      if (!IsPartial(graph_, graph_.node(id), mapping)) continue;
      const ir::OutputPort whole = graph_.node(id).input(mapping.external);
      const std::string suffix = fmt::format("part{}", mapping.external);
      graph_.SetInput(id, mapping.external, Slice(id, whole, *mapping.axis, *CutOf(mapping), suffix));
      ir::InputMapping& written = graph_.body(id, index).inputs[i];
      written.start = mapping.stride < 0 ? -1 : 0;
      written.end = mapping.stride < 0 ? 0 : -1;
    }
  }

  // Splits the joined matrix: W has the columns of the inputs, R the last columns, those of the state.
  void SplitWeights(ir::NodeId id) {
    const ir::Node& joined = graph_.node(id);
    const int64_t hidden = joined.attribute("hidden_size").AsInt();
    const ir::OutputPort weights = joined.input(3);
    const ir::OutputPort w = Slice(id, weights, 1, {0, -hidden}, "w");
    const ir::OutputPort r = Slice(id, weights, 1, {-hidden, kToTheEnd}, "r");
    const ir::OutputPort inputs[] = {joined.input(0), joined.input(1), joined.input(2), w, r,
                                     joined.input(4)};
    const ir::NodeId cell = ir::CopyNode(graph_, joined, inputs);
    for (int32_t i = 0; i < joined.num_outputs(); ++i) graph_.ReplaceAllUses({id, i}, {cell, i});
    graph_.Erase(id);
  }

  // Adds a Slice, or its result if that is constant: a written graph has no operation on constants that
  // reading and compiling it would fold.
  ir::OutputPort Slice(ir::NodeId user, ir::OutputPort whole, int64_t axis, const Cut& cut,
                       std::string_view suffix) {
    const std::string name = fmt::format("{}/{}", graph_.node(user).name(), suffix);
    const ir::Origin origin = graph_.node(user).origin();
    if (std::optional<TensorValue> part = PartOf(graph_, whole, axis, cut)) {
      if (!llvm::is_contained(replaced_, whole.node)) replaced_.push_back(whole.node);
      return {ir::AddConst(graph_, std::move(*part), name, origin), 0};
    }
    const auto constant = [&](int64_t value, std::string_view what) {
      return ir::OutputPort{
          ir::AddConst(graph_, TensorValue::FromInts({1}, {value}), fmt::format("{}_{}", name, what), origin),
          0};
    };
    const ir::OutputPort inputs[] = {whole, constant(cut.start, "start"), constant(cut.stop, "stop"),
                                     constant(1, "step"), constant(axis, "axes")};
    Emitter emitter;  // inferred with the loop or cell before: no errors
    const ir::InferredNode slice = ir::AddInferred(
        graph_, "opset8", "Slice", {.name = name, .inputs = inputs, .origin = origin}, emitter);
    return {slice.id, 0};
  }

  ir::Graph& graph_;
  std::vector<ir::NodeId> replaced_;  // constants of which parts are written
};

}  // namespace

std::unique_ptr<ir::Graph> WrittenForm(const ir::Graph& graph) {
  if (!NeedsForm(graph)) return nullptr;
  std::unique_ptr<ir::Graph> form = ir::Clone(graph);
  Former(*form).Run();
  return form;
}

}  // namespace nnefc::openvino

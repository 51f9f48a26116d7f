// Shape inference of `if_else`, `tensor_iterator` and `while_loop` (NNEFC_control_flow), and of their bodies.

#include "compiler/ir/ops/control_flow.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/opset/dims.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir::ops {

namespace {

constexpr int32_t kCondition = 0, kInputs = 1;  // if_else
constexpr int32_t kTripCount = 0;               // while_loop

bool IsWhileLoop(const Node& node) {
  return node.type() == "while_loop";
}

// The segments of the inputs that the body of a loop takes. A while_loop has its trip count before them.
struct LoopSegments {
  explicit LoopSegments(const Node& node) : sliced(IsWhileLoop(node) ? kTripCount + 1 : 0) {}
  int32_t sliced;
  int32_t merged = sliced + 1;
  int32_t invariant = sliced + 2;
};

using Parameters = std::optional<std::vector<BodyParameter>>;

int64_t Magnitude(int64_t stride) {
  return stride < 0 ? -stride : stride;
}

int64_t ItemOr(const std::vector<int64_t>& list, size_t index, int64_t fallback) {
  return index < list.size() ? list[index] : fallback;
}

// The lists of a loop whose attributes have the right kinds.
struct LoopLists {
  explicit LoopLists(const Node& node)
      : slice_axes(node.attribute("slice_axes").AsInts()),
        slice_strides(node.attribute("slice_strides").AsInts()),
        slice_starts(node.attribute("slice_starts").AsInts()),
        slice_ends(node.attribute("slice_ends").AsInts()),
        concat_axes(node.attribute("concat_axes").AsInts()),
        concat_strides(node.attribute("concat_strides").AsInts()) {}

  // Returns the slicing of a sliced tensor, with defaults for omitted attributes.
  opset::PartRange SliceRange(size_t index) const {
    const int64_t stride = ItemOr(slice_strides, index, 1);
    return {.start = ItemOr(slice_starts, index, stride < 0 ? -1 : 0),
            .end = ItemOr(slice_ends, index, stride < 0 ? 0 : -1),
            .stride = stride,
            .part_size = Magnitude(stride)};
  }
  opset::PartRange ConcatRange(size_t index) const {
    const int64_t stride = ItemOr(concat_strides, index, 1);
    return {.start = stride < 0 ? -1 : 0,
            .end = stride < 0 ? 0 : -1,
            .stride = stride,
            .part_size = Magnitude(stride)};
  }

  std::vector<int64_t> slice_axes, slice_strides, slice_starts, slice_ends, concat_axes, concat_strides;
};

// Returns the value of a result of a body.
const Output& ResultOf(const Body& body, size_t index) {
  return body.graph->output(body.graph->node(body.graph->results()[index]).input(0));
}
const std::string& ResultName(const Body& body, size_t index) {
  return body.graph->node(body.graph->results()[index]).name();
}

void MapLoop(const Node& node, Body& body) {
  const LoopLists lists(node);
  const LoopSegments segments(node);
  const auto sliced = static_cast<int32_t>(node.segment(segments.sliced).size());
  const auto merged = static_cast<int32_t>(node.segment(segments.merged).size());
  const int32_t first = segments.sliced;  // the inputs before are single tensors
  for (int32_t i = 0; i < node.num_inputs() - first; ++i) {
    InputMapping mapping{.external = first + i, .internal = i, .axis = std::nullopt};
    if (i < sliced) {
      const opset::PartRange range = lists.SliceRange(static_cast<size_t>(i));
      mapping.axis = lists.slice_axes[static_cast<size_t>(i)];
      mapping.start = range.start;
      mapping.end = range.end;
      mapping.stride = range.stride;
      mapping.part_size = range.part_size;
    }
    body.inputs.push_back(mapping);
  }
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    OutputMapping mapping{.external = i, .internal = i, .axis = std::nullopt};
    if (i >= merged) {
      const opset::PartRange range = lists.ConcatRange(static_cast<size_t>(i - merged));
      mapping.axis = lists.concat_axes[static_cast<size_t>(i - merged)];
      mapping.start = range.start;
      mapping.end = range.end;
      mapping.stride = range.stride;
      mapping.part_size = range.part_size;
    }
    body.outputs.push_back(mapping);
  }
  for (int32_t i = 0; i < merged; ++i) body.back_edges.push_back({.result = i, .parameter = sliced + i});
}

void MapIf(const Node& node, Body& body) {
  for (int32_t i = kInputs; i < node.num_inputs(); ++i) {
    body.inputs.push_back({.external = i, .internal = i - kInputs, .axis = std::nullopt});
  }
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    body.outputs.push_back({.external = i, .internal = i, .axis = std::nullopt});
  }
}

// Sets the port map and back edges of a body of the node.
void MapPorts(const Node& node, Body& body) {
  node.type() == "if_else" ? MapIf(node, body) : MapLoop(node, body);
}

template <typename Mapping>
bool SameMap(const std::vector<Mapping>& a, const std::vector<Mapping>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Mapping& x, const Mapping& y) {
    return x.external == y.external && x.internal == y.internal && x.axis == y.axis && x.start == y.start &&
           x.end == y.end && x.stride == y.stride && x.part_size == y.part_size;
  });
}

// True if the port map is the expected one; graphs in text form may have another.
bool HasItsPortMap(const Node& node, const Body& body) {
  Body expected;
  MapPorts(node, expected);
  return SameMap(body.inputs, expected.inputs) && SameMap(body.outputs, expected.outputs) &&
         std::equal(body.back_edges.begin(), body.back_edges.end(), expected.back_edges.begin(),
                    expected.back_edges.end(), [](const BackEdge& a, const BackEdge& b) {
                      return a.result == b.result && a.parameter == b.parameter;
                    });
}

// body.interface: the body has the role, one parameter for each value, one result for each output of the
// node, and the port map that follows from inputs and attributes.
bool CheckInterface(InferContext& context, size_t index, std::string_view role, size_t parameters) {
  const Node& node = context.node();
  const Body& body = node.bodies()[index];
  if (body.role != role || body.graph == nullptr) {
    context.Error(kBodies, "body {} of `{}` is `{}`; expected `{}`", index, node.type(), body.role, role);
    return false;
  }
  const auto outputs = static_cast<size_t>(node.num_outputs());
  if (body.graph->parameters().size() == parameters && body.graph->results().size() == outputs) {
    if (HasItsPortMap(node, body)) return true;
    context.Error(kBodies, "`{}` of `{}` has another port map than inputs and attributes ask for", role,
                  node.type());
    return false;
  }
  context.Error(kBodies, "`{}` of `{}` has {} parameters and {} results; expected {} and {}", role,
                node.type(), body.graph->parameters().size(), body.graph->results().size(), parameters,
                outputs);
  return false;
}

// Sets the types and shapes of the parameters of a body and infers it. A body that was already inferred with
// the same ones is skipped, since its errors are reported.
bool InferWith(InferContext& context, size_t index, const std::vector<BodyParameter>& fed) {
  const Body& body = context.node().bodies()[index];
  bool is_current = true;
  for (size_t i = 0; i < body.graph->results().size(); ++i) {
    is_current &= ResultOf(body, i).type != ElementType::kDynamic;
  }
  for (size_t i = 0; i < fed.size(); ++i) {
    const Node& parameter = body.graph->node(body.graph->parameters()[i]);
    const Output known = parameter.output();
    if (known.type != ElementType::kDynamic && known.type != fed[i].type) {
      context.Error(kBodies, "the parameter `{}` in `{}` of `{}` is of type {}; it is fed {}",
                    parameter.name(), body.role, context.node().type(), Name(known.type), Name(fed[i].type));
      return false;
    }
    is_current &= known.type == fed[i].type && known.shape == fed[i].shape;
    context.SetBodyParameter(index, static_cast<int32_t>(i), fed[i].type, fed[i].shape);
  }
  return is_current || context.InferBody(index);
}

// ---- if_else ----

// if_else.condition: one element, of any rank.
Parameters IfParameters(InferContext& context) {
  const PartialShape& condition = context.input(kCondition).shape;
  for (int64_t axis = 0; condition.rank_known() && axis < condition.rank(); ++axis) {
    if (condition[axis].Compatible(Dim(1))) continue;
    context.Error(kIfCondition, "{} has shape {}; expected one element", Describe(context, kCondition),
                  ToString(condition));
    return std::nullopt;
  }
  std::vector<BodyParameter> parameters;
  for (const Output* input : context.segment(kInputs)) parameters.push_back({input->type, input->shape});
  return parameters;
}

// if_else.results: equal types. An extent or a rank that differs is unknown until run time.
void InferIfElse(InferContext& context) {
  const Parameters fed = IfParameters(context);
  if (!fed) return;
  const Node& node = context.node();
  constexpr std::string_view kRoles[] = {"then_body", "else_body"};
  if (node.bodies().size() != std::size(kRoles)) {
    context.Error(kBodies, "`if_else` has {} bodies; expected 2", node.bodies().size());
    return;
  }
  for (size_t i = 0; i < std::size(kRoles); ++i) {
    if (!CheckInterface(context, i, kRoles[i], fed->size()) || !InferWith(context, i, *fed)) return;
  }
  for (size_t i = 0; i < static_cast<size_t>(node.num_outputs()); ++i) {
    const Output& a = ResultOf(node.bodies()[0], i);
    const Output& b = ResultOf(node.bodies()[1], i);
    if (a.type != b.type) {
      context.ErrorAt(Describe(context, "else_body"), kIfResults,
                      "output {} of `if_else` is of type {} and shape {} in `{}`, {} and {} in `{}`", i,
                      DataTypeName(a.type), ToString(a.shape), context.attribute("then_body").AsString(),
                      DataTypeName(b.type), ToString(b.shape), context.attribute("else_body").AsString());
      return;
    }
    Produce(context, static_cast<int32_t>(i), a.type, opset::ShapeUnion(a.shape, b.shape));
  }
}

// ---- tensor_iterator and while_loop ----

class LoopInference {
 public:
  explicit LoopInference(InferContext& context) : context_(context), segments_(context.node()) {}

  // Checks the inputs and attributes.
  Parameters Arguments();
  // Infers the body and the outputs.
  void Run();

 private:
  const Node& node() const { return context_.node(); }
  bool CheckLists();
  // tensor_iterator.lists: one item per tensor, or none if there is a default.
  bool CheckList(std::string_view name, size_t length, size_t expected, bool may_be_empty);
  // tensor_iterator.parts: no part is empty.
  bool CheckStrides(std::string_view name, const std::vector<int64_t>& strides);
  bool CheckSlice(size_t index, const Output& input);
  // while_loop.condition, while_loop.trip-count: one element, of rank 0 or 1.
  bool CheckConditions();
  // Determines the number of iterations of a while_loop, if neither condition can end it early.
  bool CountTrips();
  void InferMerged(size_t index, const BodyParameter& parameter);
  void InferConcatenated(size_t index);

  InferContext& context_;
  const LoopSegments segments_;
  std::optional<LoopLists> lists_;     // set once the kinds of attributes were checked
  std::optional<int64_t> iterations_;  // if known
};

bool LoopInference::CheckList(std::string_view name, size_t length, size_t expected, bool may_be_empty) {
  if (length == expected || (length == 0 && may_be_empty)) return true;
  context_.Error(kLoopLists, "{} has {} items; expected {}, one for each tensor that is {}",
                 Describe(context_, name), length, expected,
                 name.starts_with("slice") ? "sliced" : "concatenated");
  return false;
}

bool LoopInference::CheckStrides(std::string_view name, const std::vector<int64_t>& strides) {
  for (size_t i = 0; i < strides.size(); ++i) {
    if (strides[i] != 0 && strides[i] != INT64_MIN) continue;
    context_.Error(kLoopParts, "{} is {}; expected the extent of a part, negative to go backwards",
                   Describe(context_, name, i), strides[i]);
    return false;
  }
  return true;
}

bool LoopInference::CheckLists() {
  const size_t sliced = node().segment(segments_.sliced).size();
  const size_t merged = node().segment(segments_.merged).size();
  const auto outputs = static_cast<size_t>(node().num_outputs());
  if (outputs < merged) {
    context_.Error(kArity, "`{}` has {} outputs; expected one for each of {} merged tensors", node().type(),
                   outputs, merged);
    return false;
  }
  const LoopLists& lists = *lists_;
  return CheckList("slice_axes", lists.slice_axes.size(), sliced, false) &&
         CheckList("slice_strides", lists.slice_strides.size(), sliced, true) &&
         CheckList("slice_starts", lists.slice_starts.size(), sliced, true) &&
         CheckList("slice_ends", lists.slice_ends.size(), sliced, true) &&
         CheckList("concat_axes", lists.concat_axes.size(), outputs - merged, false) &&
         CheckList("concat_strides", lists.concat_strides.size(), outputs - merged, true) &&
         CheckStrides("slice_strides", lists.slice_strides) &&
         CheckStrides("concat_strides", lists.concat_strides);
}

// tensor_iterator.axis: below the rank. tensor_iterator.parts: the axis is cut without remainder, into as
// many parts as the other tensors.
bool LoopInference::CheckSlice(size_t index, const Output& input) {
  const Argument what = Describe(context_, segments_.sliced, index);
  const int64_t axis = lists_->slice_axes[index];
  if (!input.shape.rank_known()) return true;
  if (axis < 0 || axis >= input.shape.rank()) {
    context_.ErrorAt(Describe(context_, "slice_axes").At(index), kLoopAxis,
                     "{} of rank {} is cut along axis {}", what, input.shape.rank(), axis);
    return false;
  }
  if (!input.shape[axis].known()) return true;
  std::string reason;
  const std::optional<int64_t> count =
      opset::CountIterations(lists_->SliceRange(index), input.shape[axis].value(), &reason);
  if (!count) {
    context_.Error(kLoopParts, "{} cannot be cut along axis {}: {}", what, axis, reason);
    return false;
  }
  if (!iterations_) iterations_ = count;
  if (*iterations_ == *count) return true;
  context_.Error(kLoopParts, "{} has {} parts; the tensors before it have {}", what, *count, *iterations_);
  return false;
}

Parameters LoopInference::Arguments() {
  lists_.emplace(node());
  if (!CheckLists() || (IsWhileLoop(node()) && !CheckConditions())) return std::nullopt;
  std::vector<BodyParameter> parameters;
  const llvm::ArrayRef<const Output*> sliced = context_.segment(segments_.sliced);
  for (size_t i = 0; i < sliced.size(); ++i) {
    if (!CheckSlice(i, *sliced[i])) return std::nullopt;
    PartialShape shape = sliced[i]->shape;
    if (shape.rank_known()) {
      shape.set(lists_->slice_axes[i], Dim(lists_->SliceRange(i).part_size));
    }
    parameters.push_back({sliced[i]->type, std::move(shape)});
  }
  if (sliced.empty() && !IsWhileLoop(node())) iterations_ = 1;
  for (int32_t segment : {segments_.merged, segments_.invariant}) {
    for (const Output* input : context_.segment(segment)) parameters.push_back({input->type, input->shape});
  }
  return parameters;
}

bool LoopInference::CheckConditions() {
  const auto is_single = [](const Output& output, ElementType type) {
    const PartialShape& shape = output.shape;
    return output.type == type && shape.rank_known() &&
           (shape.rank() == 0 || (shape.rank() == 1 && shape[0] == Dim(1)));
  };
  if (node().segment(kTripCount).size() != 1) {
    context_.Error(kArity, "`while_loop` has no trip count; expected one, negative for no limit");
    return false;
  }
  const Output& trips = context_.input(kTripCount);
  if (!is_single(trips, ElementType::kI64)) {
    context_.Error(kWhileTripCount, "{} is of type {} and shape {}; expected an integer of shape [] or [1]",
                   Describe(context_, kTripCount), DataTypeName(trips.type), ToString(trips.shape));
    return false;
  }
  const llvm::ArrayRef<const Output*> merged = context_.segment(segments_.merged);
  if (merged.empty()) {
    context_.ErrorAt(Describe(context_, "merged"), kWhileCondition,
                     "`while_loop` has no merged tensors; the first one is its condition");
    return false;
  }
  if (is_single(*merged[0], ElementType::kBoolean)) return true;
  context_.Error(kWhileCondition, "{} is of type {} and shape {}; expected a logical of shape [] or [1]",
                 Describe(context_, segments_.merged, 0), DataTypeName(merged[0]->type),
                 ToString(merged[0]->shape));
  return false;
}

bool LoopInference::CountTrips() {
  const auto is_true = [](const Output& output) {
    return output.value && output.value->volume() == 1 && output.value->ElementAsInt(0) != 0;
  };
  const std::optional<int64_t> parts = std::exchange(iterations_, std::nullopt);
  const std::optional<TensorValue>& trips = context_.input(kTripCount).value;
  const bool goes_on =
      is_true(*context_.segment(segments_.merged)[0]) && is_true(ResultOf(node().bodies()[0], 0));
  if (!goes_on || !trips) return true;
  const int64_t count = trips->ElementAsInt(0);
  iterations_ = count < 0 ? parts : count;
  if (!parts || count <= *parts) return true;
  context_.Error(kLoopParts, "{} is {}; the sliced tensors have {} parts", Describe(context_, kTripCount),
                 count, *parts);
  return false;
}

// tensor_iterator.merged: the next value has the type and shape of the first.
void LoopInference::InferMerged(size_t index, const BodyParameter& parameter) {
  const Body& body = node().bodies()[0];
  const Output& next = ResultOf(body, index);
  if (next.type != parameter.type || next.shape != parameter.shape) {
    context_.Error(
        kLoopMerged, "{} is of type {} and shape {}, but its next value `{}` of type {} and shape {}",
        Describe(context_, segments_.merged, index), DataTypeName(parameter.type), ToString(parameter.shape),
        ResultName(body, index), DataTypeName(next.type), ToString(next.shape));
    return;
  }
  Produce(context_, static_cast<int32_t>(index), next.type, next.shape);
}

// tensor_iterator.concatenated: a part has the extent in `concat_strides` (default 1); scalars form a vector.
void LoopInference::InferConcatenated(size_t index) {
  const Body& body = node().bodies()[0];
  const size_t merged = node().segment(segments_.merged).size();
  const Output& part = ResultOf(body, index);
  const int64_t axis = lists_->concat_axes[index - merged];
  const int64_t size = lists_->ConcatRange(index - merged).part_size;
  const auto place = static_cast<int32_t>(index);
  const std::optional<int64_t> whole = iterations_ ? NarrowExtent(Wide(*iterations_) * size) : std::nullopt;
  if (iterations_ && !whole) {
    context_.Error(kShapeOverflow, "output {} of `{}` has too many elements", index, node().type());
    return;
  }
  const Dim extent = whole ? Dim(*whole) : Dim();
  if (!part.shape.rank_known()) return Produce(context_, place, part.type, PartialShape());
  if (part.shape.rank() == 0 && axis == 0 && size == 1) {
    return Produce(context_, place, part.type, PartialShape({extent}));
  }
  if (axis < 0 || axis >= part.shape.rank() || !part.shape[axis].Compatible(Dim(size))) {
    context_.ErrorAt(Describe(context_, "concat_axes").At(index - merged), kLoopConcatenated,
                     "`{}` of shape {} is concatenated along axis {} in parts of {}{}",
                     ResultName(body, index), ToString(part.shape), axis, size,
                     part.shape.rank() == 0 ? "; a number needs axis 0 and parts of 1" : "");
    return;
  }
  PartialShape shape = part.shape;
  shape.set(axis, extent);
  Produce(context_, place, part.type, std::move(shape));
}

void LoopInference::Run() {
  const Parameters fed = Arguments();
  if (!fed) return;
  if (node().bodies().size() != 1) {
    context_.Error(kBodies, "`{}` has {} bodies; expected 1", node().type(), node().bodies().size());
    return;
  }
  if (!CheckInterface(context_, 0, "body", fed->size()) || !InferWith(context_, 0, *fed)) return;
  if (IsWhileLoop(node()) && !CountTrips()) return;
  const size_t sliced = node().segment(segments_.sliced).size();
  const size_t merged = node().segment(segments_.merged).size();
  for (size_t i = 0; i < static_cast<size_t>(node().num_outputs()); ++i) {
    if (i < merged) {
      InferMerged(i, (*fed)[sliced + i]);
    } else {
      InferConcatenated(i);
    }
  }
}

void InferLoop(InferContext& context) {
  LoopInference(context).Run();
}

}  // namespace

std::optional<std::vector<BodyParameter>> BodyParameters(Graph& graph, NodeId node, Emitter& emitter,
                                                         const ArgumentPlaces* places) {
  llvm::SmallVector<const Output*, 4> inputs;
  for (OutputPort port : graph.node(node).inputs()) inputs.push_back(&graph.output(port));
  InferContext context(&graph, graph.node(node), inputs, graph.InferredOutputs(node), emitter, places);
  if (graph.node(node).Is(kNnefSet, "if_else")) return ops::IfParameters(context);
  NNEFC_CHECK(graph.node(node).Is(kNnefSet, "tensor_iterator") ||
              graph.node(node).Is(kNnefSet, "while_loop"));
  return ops::LoopInference(context).Arguments();
}

Body MakeBody(const Node& node, std::string role, std::unique_ptr<Graph> graph) {
  Body body;
  body.role = std::move(role);
  body.graph = std::move(graph);
  ops::MapPorts(node, body);
  return body;
}

void RegisterControlFlow(OpRegistry& registry) {
  ops::AddRow(registry, {.name = "if_else", .section = "NNEFC_control_flow", .infer = ops::InferIfElse});
  for (const char* name : {"tensor_iterator", "while_loop"})
    ops::AddRow(registry, {.name = name, .section = "NNEFC_control_flow", .infer = ops::InferLoop});
}

}  // namespace nnefc::ir::ops

// Shape inference of OpenVINO's TensorIterator and Loop, and of their bodies.

#include <algorithm>
#include <cstdlib>

#include "compiler/ir/ops/opset/control_flow/control_flow.h"
#include "compiler/ir/ops/opset/control_flow/iterations.h"
#include "compiler/ir/ops/opset/control_flow/port_maps.h"

namespace nnefc::ir::ops::opset {

namespace {

// The maximum nesting depth of loops whose merged inputs change their shape. Each level then infers its body
// up to three times.
constexpr int kHighestReshapingNest = 4;

template <typename Mapping>
PartRange RangeOf(const Mapping& mapping) {
  return {mapping.start, mapping.end, mapping.stride, mapping.part_size};
}

// True if `shape` includes all shapes of `other`.
bool Covers(const PartialShape& shape, const PartialShape& other) {
  if (!shape.rank_known()) return true;
  if (!other.rank_known() || shape.rank() != other.rank()) return false;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (other[i].min < shape[i].min || other[i].max > shape[i].max) return false;
  }
  return true;
}

// Returns `a` with unknown extents where `b` differs.
PartialShape Widened(const PartialShape& a, const PartialShape& b) {
  if (!a.rank_known() || !b.rank_known() || a.rank() != b.rank()) return PartialShape();
  PartialShape shape = a;
  for (int64_t i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i]) shape.set(i, Dim());
  }
  return shape;
}

// The shape function of TensorIterator-1 and of Loop-5.
class LoopInference {
 public:
  LoopInference(OpContext& op, bool is_loop) : op_(op), is_loop_(is_loop) {}

  void Run() {
    if (!CheckStructure() || !CheckIterationType() || !CheckBackEdges() || !CountSlices()) return;
    if (!is_loop_ && !CountConcatenations()) return;
    if (!InferBody()) return;
    if (is_loop_ && !CountTrips()) return;
    for (const OutputMapping& mapping : body().outputs) {
      if (mapping.external >= 0) SetOutput(mapping);
    }
  }

 private:
  const Body& body() const { return op_.node().bodies()[0]; }
  std::string layer() const { return LayerText(op_.node()); }
  std::string ParameterName(int32_t parameter) const {
    const Graph& graph = *body().graph;
    return graph.node(graph.parameters()[static_cast<size_t>(parameter)]).name();
  }

  bool CheckStructure() {
    if (op_.node().bodies().size() != 1 || body().role != "body") {
      op_.Error(kPortMap, "{} has {} bodies; expected `body`", layer(), op_.node().bodies().size());
      return false;
    }
    if (!CheckPortMap(op_, 0, is_loop_)) return false;
    // Inputs 0 and 1 of Loop are not fed to the body.
    std::vector<int> uses(static_cast<size_t>(op_.num_inputs()), 0);
    for (const InputMapping& mapping : body().inputs) {
      if (mapping.external >= 0) ++uses[static_cast<size_t>(mapping.external)];
    }
    for (size_t i = is_loop_ ? 2 : 0; i < uses.size(); ++i) {
      if (uses[i] == 1) continue;
      op_.Error(kPortMap, "input {} of {} feeds {} parameters of the body; expected one", i, layer(),
                uses[i]);
      return false;
    }
    return true;
  }

  // Checks that the iteration number, an input of a Loop's body, is an integer.
  bool CheckIterationType() {
    for (const InputMapping& mapping : body().inputs) {
      if (mapping.external >= 0) continue;
      const ElementType type = BodyParameterType(*body().graph, mapping.internal);
      if (type == ElementType::kI32 || type == ElementType::kI64 || type == ElementType::kDynamic) continue;
      op_.Error(kBodyType,
                "the parameter `{}` in `{}` of {} has the element type {}; it is fed the number of the "
                "iteration, which is i32 or i64",
                ParameterName(mapping.internal), body().role, layer(), Name(type));
      return false;
    }
    return true;
  }

  // Checks that a back edge ends at a parameter whose initial value comes from outside and is not sliced.
  bool CheckBackEdges() {
    std::vector<int> edges(body().graph->parameters().size(), 0);
    for (const BackEdge& edge : body().back_edges) {
      const bool exists = edge.result >= 0 && edge.parameter >= 0 &&
                          static_cast<size_t>(edge.result) < body().graph->results().size() &&
                          static_cast<size_t>(edge.parameter) < edges.size();
      if (!exists) {
        op_.Error(kBackEdge,
                  "a back edge of {} goes from result {} to parameter {}, which the body does not have",
                  layer(), edge.result, edge.parameter);
        return false;
      }
      if (++edges[static_cast<size_t>(edge.parameter)] > 1) {
        op_.Error(kBackEdge, "two back edges of {} end at the parameter `{}`", layer(),
                  ParameterName(edge.parameter));
        return false;
      }
    }
    for (const InputMapping& mapping : body().inputs) {
      if (edges[static_cast<size_t>(mapping.internal)] == 0) continue;
      if (!mapping.axis && mapping.external >= 0) continue;
      op_.Error(kBackEdge, "the parameter `{}` of {} is the end of a back edge and {}",
                ParameterName(mapping.internal), layer(),
                mapping.axis ? "fed slices" : "the number of the iteration");
      return false;
    }
    return true;
  }

  // Checks the slices and derives the number of iterations from them.
  bool CountSlices() {
    for (const InputMapping& mapping : body().inputs) {
      if (!mapping.axis) continue;
      has_slices_ = true;
      const PartialShape& shape = op_.shape(mapping.external);
      const std::string what = fmt::format("input {} of {}", mapping.external, layer());
      if (shape.rank_known() && !CheckAxis(*mapping.axis, shape.rank(), what)) return false;
      const Dim extent = shape.rank_known() ? shape[*mapping.axis] : Dim();
      if (!Count(RangeOf(mapping), extent, what)) return false;
      if (extent.known()) WarnIfAmbiguous(RangeOf(mapping), extent.value(), what);
    }
    return true;
  }

  void WarnIfAmbiguous(const PartRange& range, int64_t extent, std::string_view what) {
    const std::optional<int64_t> inclusive = CountIterationsInclusive(range, extent);
    if (inclusive == iterations_) return;
    op_.Error(
        kIterationsAmbiguous,
        "{} gives {} iterations; OpenVINO's shape inference, which takes `end` {} as inclusive, counts {}",
        what, *iterations_, range.end, inclusive.value_or(0));
  }

  bool CheckAxis(int64_t axis, int64_t rank, std::string_view what) {
    if (axis >= 0 && axis < rank) return true;
    op_.Error(kOpsetAxis, "{} is iterated over axis {}; its rank is {}", what, axis, rank);
    return false;
  }

  // Derives the number of iterations over an axis; all numbers must agree.
  bool Count(const PartRange& range, Dim extent, std::string_view what) {
    std::string reason;
    // Errors that do not depend on the extent are reported for an unknown one too.
    if (!extent.known()) {
      const bool plain = range.stride != 0 && range.part_size == std::abs(std::clamp<int64_t>(
                                                                     range.stride, -INT64_MAX, INT64_MAX));
      if (plain) return true;
      extent = Dim(0);
    }
    const std::optional<int64_t> count = CountIterations(range, extent.value(), &reason);
    if (!count) {
      op_.Error(kIterations, "{} cannot be cut: {}", what, reason);
      return false;
    }
    return Agree(*count, what);
  }

  bool Agree(int64_t count, std::string_view what) {
    if (!iterations_) iterations_ = count;
    if (*iterations_ == count) return true;
    op_.Error(kIterations, "{} gives {} iterations; another port gives {}", what, count, *iterations_);
    return false;
  }

  // Sets the type and shape of each parameter and infers the body. If the result of a merged input has
  // another shape, the body is inferred again with the differing extents unknown, then with the rank unknown.
  bool InferBody() {
    std::vector<PartialShape> shapes(body().graph->parameters().size());
    for (const InputMapping& mapping : body().inputs) {
      shapes[static_cast<size_t>(mapping.internal)] = ParameterShape(mapping);
    }
    for (int pass = 0;; ++pass) {
      for (const InputMapping& mapping : body().inputs) {
        const ElementType element = mapping.external < 0 ? BodyParameterType(*body().graph, mapping.internal)
                                                         : op_.type(mapping.external);
        if (!FeedParameter(op_, 0, mapping.internal, element,
                           shapes[static_cast<size_t>(mapping.internal)])) {
          return false;
        }
      }
      if (!op_.raw().InferBody(0)) return false;
      if (!CheckBackEdgeTypes()) return false;
      if (iterations_ == 1 || !WidenMerged(shapes, pass)) return true;
      if (NestingHeight(op_.node()) > kHighestReshapingNest) {
        op_.Error(kBackEdge,
                  "a merged input of {} changes its shape, and loops are nested in it more than {} deep",
                  layer(), kHighestReshapingNest);
        return false;
      }
    }
  }

  PartialShape ParameterShape(const InputMapping& mapping) const {
    if (mapping.external < 0) {  // the iteration number: [] or [1]
      const Graph& graph = *body().graph;
      return graph.node(graph.parameters()[static_cast<size_t>(mapping.internal)]).output().shape;
    }
    PartialShape shape = op_.shape(mapping.external);
    if (mapping.axis && shape.rank_known()) shape.set(*mapping.axis, Dim(mapping.part_size));
    return shape;
  }

  bool CheckBackEdgeTypes() {
    for (const BackEdge& edge : body().back_edges) {
      const ElementType from = BodyResult(*body().graph, edge.result).type;
      const ElementType to = BodyParameterType(*body().graph, edge.parameter);
      if (from == to || from == ElementType::kDynamic || to == ElementType::kDynamic) continue;
      op_.Error(kBodyType, "the parameter `{}` of {} has the element type {}; its back edge brings {}",
                ParameterName(edge.parameter), layer(), Name(to), Name(from));
      return false;
    }
    return true;
  }

  bool WidenMerged(std::vector<PartialShape>& shapes, int pass) const {
    bool changed = false;
    for (const BackEdge& edge : body().back_edges) {
      PartialShape& shape = shapes[static_cast<size_t>(edge.parameter)];
      const PartialShape& next = BodyResult(*body().graph, edge.result).shape;
      if (Covers(shape, next)) continue;
      shape = pass == 0 ? Widened(shape, next) : PartialShape();
      changed = true;
    }
    return changed;
  }

  // Loop-5: the first input is the number of iterations unless a condition may end the loop earlier. Slices
  // limit it; fewer iterations are possible.
  bool CountTrips() {
    const OutputMapping* next = nullptr;
    for (const OutputMapping& mapping : body().outputs) {
      if (mapping.external < 0) next = &mapping;
    }
    const bool continues = next == nullptr || IsTrue(BodyResult(*body().graph, next->internal));
    if (!continues || !IsTrue(op_.input(1))) {
      iterations_.reset();
      return true;
    }
    const std::optional<std::vector<int64_t>> trips = op_.Integers(0);
    if (!trips || trips->size() != 1) {
      iterations_.reset();
      return true;
    }
    if (trips->front() < 0) return true;
    if (iterations_ && trips->front() > *iterations_) {
      op_.Error(kIterations, "the trip count of `Loop` is {}; its inputs are cut into {} parts",
                trips->front(), *iterations_);
      return false;
    }
    iterations_ = trips->front();
    return true;
  }

  static bool IsTrue(const Output& output) {
    return output.value && output.value->volume() == 1 && output.value->type() == ElementType::kBoolean &&
           output.value->ElementAsInt(0) != 0;
  }

  // Without slices, derives the number of iterations from the concatenated outputs; without those it is 1.
  bool CountConcatenations() {
    if (has_slices_) return true;
    for (const OutputMapping& mapping : body().outputs) {
      if (!mapping.axis || mapping.start < 0 || mapping.end < 0) continue;
      const int64_t extent = std::max(mapping.start, mapping.end);
      const std::string what = fmt::format("output {} of {}", mapping.external, layer());
      if (!Count(RangeOf(mapping), Dim(extent), what)) return false;
    }
    if (!iterations_) iterations_ = 1;
    return true;
  }

  // Returns the shape of the last value. A Loop without iterations returns the initial state.
  PartialShape LastShape(const OutputMapping& mapping) const {
    const PartialShape& last = BodyResult(*body().graph, mapping.internal).shape;
    if (iterations_.value_or(0) > 0) return last;
    for (const BackEdge& edge : body().back_edges) {
      if (edge.result != mapping.internal) continue;
      for (const InputMapping& input : body().inputs) {
        if (input.internal != edge.parameter) continue;
        const PartialShape& first = op_.shape(input.external);
        return iterations_ == 0 ? first : Covers(last, first) ? last : Widened(last, first);
      }
    }
    return last;
  }

  void SetOutput(const OutputMapping& mapping) {
    const Output& result = BodyResult(*body().graph, mapping.internal);
    if (!mapping.axis) return op_.Set(mapping.external, result.type, LastShape(mapping));
    const std::string what = fmt::format("output {} of {}", mapping.external, layer());
    const Dim extent =
        iterations_ ? Dim(SaturatingMultiply(*iterations_, std::max<int64_t>(mapping.part_size, 0))) : Dim();
    if (iterations_ != 0 && !Count(RangeOf(mapping), extent, what)) return;
    if (!result.shape.rank_known()) return op_.Set(mapping.external, result.type, PartialShape());
    if (result.shape.rank() == 0) {
      if (*mapping.axis == 0 && mapping.part_size == 1)
        return op_.Set(mapping.external, result.type, PartialShape({extent}));
      op_.Error(kIterations,
                "{} concatenates scalars along axis {} in parts of {}; expected axis 0 and parts of 1", what,
                *mapping.axis, mapping.part_size);
      return;
    }
    if (!CheckAxis(*mapping.axis, result.shape.rank(), what)) return;
    PartialShape shape = result.shape;
    if (!shape[*mapping.axis].Compatible(Dim(mapping.part_size))) {
      op_.Error(kIterations, "{} concatenates parts of {}; the result of the body has the shape {}, axis {}",
                what, mapping.part_size, ToString(shape), *mapping.axis);
      return;
    }
    shape.set(*mapping.axis, extent);
    op_.Set(mapping.external, result.type, std::move(shape));
  }

  OpContext& op_;
  const bool is_loop_;
  bool has_slices_ = false;
  std::optional<int64_t> iterations_;  // if known at compile time
};

void InferTensorIterator(OpContext& op) {
  LoopInference(op, false).Run();
}
void InferLoop(OpContext& op) {
  LoopInference(op, true).Run();
}

}  // namespace

std::vector<OpInfo> LoopRows() {
  return {
      MakeRow({.set = "opset1",
               .name = "TensorIterator",
               .inputs = {"inputs[]"},
               .infer = Infer<InferTensorIterator>,
               .outputs = {"outputs[]"},
               .role = OpRole::kTensorIterator}),
      MakeRow({.set = "opset5",
               .name = "Loop",
               .inputs = {"trip_count", "execution_condition", "inputs[]"},
               .infer = Infer<InferLoop>,
               .outputs = {"outputs[]"},
               .role = OpRole::kLoop}),
  };
}

}  // namespace nnefc::ir::ops::opset

// Raising of If, TensorIterator and Loop to the operations of NNEFC_control_flow.

#include "compiler/raise/bodies.h"

#include <algorithm>
#include <numeric>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/ops/control_flow.h"
#include "compiler/ir/ops/opset/control_flow/iterations.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

namespace {

RaisedParameter ParameterOf(const ir::Graph& body, int32_t index) {
  const ir::Output& output = body.node(body.parameters()[static_cast<size_t>(index)]).output();
  return {.source = index, .type = output.type, .shape = output.shape};
}

// Appends parameters that the body does not use.
void AddUnused(ir::Graph& body, const ir::Graph& outer, llvm::ArrayRef<OutputPort> fed) {
  for (OutputPort port : fed) {
    const auto has_name = [&](const std::string& name) {
      return llvm::any_of(body.nodes(), [&](ir::NodeId id) {
        return llvm::any_of(body.node(id).outputs(),
                            [&](const ir::Output& output) { return llvm::is_contained(output.names, name); });
      });
    };
    std::string name;
    for (size_t i = body.parameters().size(); name.empty() || has_name(name); ++i)
      name = fmt::format("unused_{}", i);
    const ir::Output& output = outer.output(port);
    const ir::NodeId id = ir::AddParameter(body, name, output.type, output.shape);
    body.SetOutputNames({id, 0}, {name});
  }
}

// Adds a node with bodies and makes its outputs those of the source; `outputs` has the index in the target of
// each.
void AddWithBodies(NodeRaising& n, std::string_view operation, llvm::ArrayRef<OutputPort> inputs,
                   llvm::ArrayRef<int32_t> segments, ir::AttributeMap attributes,
                   std::vector<NamedBody> bodies, llvm::ArrayRef<int32_t> outputs) {
  const auto count = static_cast<int32_t>(bodies.front().second->results().size());
  for (const auto& [role, graph] : bodies) attributes.Set(role, graph->name());
  const ir::NodeId id = n.AddNode({ir::kNnefSet, operation}, inputs, std::move(attributes), count, "results",
                                  segments, std::move(bodies));
  for (int32_t i = 0; i < n.node().num_outputs(); ++i) n.SetOutput(i, {id, outputs[static_cast<size_t>(i)]});
}

// Returns the inputs of an If, each as often as a body takes it; those after the condition at least once.
std::vector<int32_t> InputsOfBodies(const ir::Node& node) {
  std::vector<int32_t> listed;
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    int64_t times = i == 0 ? 0 : 1;
    for (const ir::Body& body : node.bodies()) {
      times = std::max<int64_t>(times, llvm::count_if(body.inputs, [&](const ir::InputMapping& mapping) {
                                  return mapping.external == i;
                                }));
    }
    listed.insert(listed.end(), static_cast<size_t>(times), i);
  }
  if (listed.empty()) listed.push_back(0);  // fragments have parameters
  return listed;
}

// If-8. Both bodies take all inputs.
void RaiseIf(NodeRaising& n) {
  const ir::Node& node = n.node();
  const std::vector<int32_t> listed = InputsOfBodies(node);
  std::vector<OutputPort> inputs = {n.ExactInput(0)};
  for (int32_t i : listed) inputs.push_back(n.ExactInput(i));
  std::vector<NamedBody> bodies;
  std::vector<OutputPort> captured;
  // A branch that a constant condition never takes is written as the other one: its results may have other
  // shapes.
  const TensorValue* condition = n.Value(0);
  for (const ir::Body& branch : node.bodies()) {
    const ir::Body& body =
        condition == nullptr ? branch : node.bodies()[condition->ElementAsInt(0) != 0 ? 0 : 1];
    std::vector<RaisedParameter> parameters;
    for (OutputPort port : llvm::ArrayRef<OutputPort>(inputs).drop_front())
      parameters.push_back({.type = n.target().output(port).type, .shape = n.target().output(port).shape});
    for (const ir::InputMapping& mapping : body.inputs) {
      size_t place = 0;
      while (place < listed.size() && (listed[place] != mapping.external || parameters[place].source >= 0))
        ++place;
      NNEFC_CHECK(place < listed.size());
      parameters[place].source = mapping.internal;
    }
    for (OutputPort port : captured)
      parameters.push_back({.type = n.target().output(port).type, .shape = n.target().output(port).shape});
    std::vector<RaisedResult> results(static_cast<size_t>(node.num_outputs()));
    for (const ir::OutputMapping& mapping : body.outputs)
      results[static_cast<size_t>(mapping.external)].index = mapping.internal;
    std::optional<RaisedBody> raised = RaiseBody(n, body, parameters, results);
    if (!raised) return;
    for (NamedBody& earlier : bodies) AddUnused(*earlier.second, n.target(), raised->captured);
    llvm::append_range(captured, raised->captured);
    bodies.emplace_back(branch.role, std::move(raised->graph));
  }
  llvm::append_range(inputs, captured);
  std::vector<int32_t> outputs(static_cast<size_t>(node.num_outputs()));
  std::iota(outputs.begin(), outputs.end(), 0);
  const int32_t segments[] = {1, static_cast<int32_t>(inputs.size()) - 1};
  AddWithBodies(n, "if_else", inputs, segments, {}, std::move(bodies), outputs);
}

// The largest number of iterations whose numbers are stored.
constexpr int64_t kMaxNumbers = 1 << 16;

// Raises one loop.
class LoopRaising {
 public:
  explicit LoopRaising(NodeRaising& n) : n_(n), body_(n.node().bodies().front()) {}

  void Raise() {
    ReadInputs();
    const bool is_loop = n_.node().Is(ir::OpRole::kLoop);
    const bool is_while = is_loop && (!GoesOn() || !CountByParts());
    if (is_while) AddConditions();
    if (!is_loop) CountByOutputs();
    ReadOutputs();
    std::vector<RaisedParameter> parameters;
    std::vector<OutputPort> inputs;
    std::vector<int32_t> segments;
    if (is_while) {
      inputs.push_back(TripCount());
      segments.push_back(1);
    }
    for (const auto* list : {&sliced_, &merged_, &invariant_}) {
      segments.push_back(static_cast<int32_t>(list->size()));
      for (const Fed& fed : *list) {
        parameters.push_back(fed.parameter);
        inputs.push_back(fed.port);
      }
    }
    std::vector<RaisedResult> results = next_;
    for (int32_t result : concatenated_) results.push_back({.index = result});
    std::optional<RaisedBody> raised = RaiseBody(n_, body_, parameters, results);
    if (!raised) return;
    llvm::append_range(inputs, raised->captured);
    segments.back() += static_cast<int32_t>(raised->captured.size());
    std::vector<NamedBody> bodies;
    bodies.emplace_back("body", std::move(raised->graph));
    AddWithBodies(n_, is_while ? "while_loop" : "tensor_iterator", inputs, segments,
                  Attributes({{"slice_axes", slice_axes_},
                              {"slice_strides", slice_strides_},
                              {"slice_starts", slice_starts_},
                              {"slice_ends", slice_ends_},
                              {"concat_axes", concat_axes_},
                              {"concat_strides", concat_strides_}}),
                  std::move(bodies), outputs_);
  }

 private:
  struct Fed {
    OutputPort port;
    RaisedParameter parameter;
  };

  static bool IsTrue(const TensorValue* value) {
    return value != nullptr && value->volume() == 1 && value->ElementAsInt(0) != 0;
  }

  // Returns the result of the body that is the next condition of a Loop; -1 if there is none.
  int32_t NextCondition() const {
    for (const ir::OutputMapping& mapping : body_.outputs) {
      if (mapping.external < 0) return mapping.internal;
    }
    return -1;
  }

  // True if no condition ends the Loop.
  bool GoesOn() const {
    if (!IsTrue(n_.Value(1))) return false;
    const int32_t next = NextCondition();
    if (next < 0) return true;
    const ir::Graph& graph = *body_.graph;
    const auto& value = graph.output(graph.node(graph.results()[static_cast<size_t>(next)]).input(0)).value;
    return IsTrue(value ? &*value : nullptr);
  }

  // Makes the condition of the Loop its first state and, if the body takes it, the number of the iteration
  // the last.
  void AddConditions() {
    const auto parameter = [&](size_t state) { return static_cast<int32_t>(sliced_.size() + state); };
    const int32_t next = NextCondition();
    merged_.insert(merged_.begin(),
                   {.port = Condition(),
                    .parameter = {.type = ElementType::kBoolean, .shape = ir::PartialShape({int64_t{1}})}});
    next_.insert(next_.begin(), next < 0 ? RaisedResult{RaisedResult::Kind::kParameter, parameter(0)}
                                         : RaisedResult{RaisedResult::Kind::kCondition, next});
    if (iteration_.source < 0) return;
    next_.push_back({RaisedResult::Kind::kNextNumber, parameter(merged_.size())});
    merged_.push_back({.port = n_.Constant(TensorValue::FromInts({1}, {0}), "first"), .parameter = Number()});
  }

  // Returns the condition before the first iteration, with the shape [1].
  OutputPort Condition() {
    if (const TensorValue* value = n_.Value(1); value != nullptr && value->volume() == 1)
      return n_.Constant(value->Reshaped({1}), "condition");
    const OutputPort port = n_.ExactInput(1);
    const ir::PartialShape& shape = n_.target().output(port).shape;
    if (!shape.rank_known()) n_.Decline("the rank of its condition is unknown");
    return shape.rank() == 1 ? port : n_.Reshape(port, {1}, "condition");
  }

  OutputPort TripCount() {
    const OutputPort trips = n_.Converted(n_.ExactInput(0), ElementType::kI64);
    if (!n_.target().output(trips).shape.rank_known()) n_.Decline("the rank of its trip count is unknown");
    return trips;
  }

  void ReadInputs() {
    for (const ir::InputMapping& mapping : body_.inputs) {
      const RaisedParameter parameter = ParameterOf(*body_.graph, mapping.internal);
      if (mapping.external < 0) {
        iteration_ = parameter;
        continue;
      }
      const Fed fed{.port = n_.ExactInput(mapping.external), .parameter = parameter};
      const auto edge = llvm::find_if(
          body_.back_edges, [&](const ir::BackEdge& each) { return each.parameter == mapping.internal; });
      if (mapping.axis) {
        if (std::abs(mapping.stride) != mapping.part_size)
          n_.Decline("the stride of a sliced input differs from the size of its parts");
        sliced_.push_back(fed);
        parts_of_.push_back(mapping);
        slice_axes_.push_back(*mapping.axis);
        slice_strides_.push_back(mapping.stride);
        slice_starts_.push_back(mapping.start);
        slice_ends_.push_back(mapping.end);
      } else if (edge != body_.back_edges.end()) {
        merged_.push_back(fed);
        next_.push_back({.index = edge->result});
      } else {
        invariant_.push_back(fed);
      }
    }
  }

  // Returns the number of parts of the sliced inputs, if it is known.
  std::optional<int64_t> Parts() const {
    for (const ir::InputMapping& mapping : parts_of_) {
      const ir::PartialShape& shape = n_.source().output(n_.node().input(mapping.external)).shape;
      if (!shape.rank_known() || !shape[*mapping.axis].known()) continue;
      std::string reason;
      return ir::ops::opset::CountIterations({mapping.start, mapping.end, mapping.stride, mapping.part_size},
                                             shape[*mapping.axis].value(), &reason);
    }
    return std::nullopt;
  }

  // Returns true if the number of the iterations of a Loop is known, and that of the parts of its inputs.
  // Without slices, or if the body takes the number of the iteration, the numbers 0, 1 .. are sliced, too.
  bool CountByParts() {
    const std::optional<double> trips = n_.ScalarValue(0);
    const std::optional<int64_t> parts = Parts();
    const bool is_unlimited = trips && *trips < 0;
    if (sliced_.empty()) {
      if (!trips || *trips < 1 || *trips > kMaxNumbers) return false;
      SliceNumbers(static_cast<int64_t>(*trips));
      return true;
    }
    if (!is_unlimited && (!trips || !parts || *trips != static_cast<double>(*parts))) return false;
    if (iteration_.source < 0) return true;
    if (!parts) return false;
    SliceNumbers(*parts);
    return true;
  }

  // The outputs of a TensorIterator without slices have the number of iterations.
  void CountByOutputs() {
    if (!sliced_.empty()) return;
    std::optional<int64_t> count;
    for (const ir::OutputMapping& mapping : body_.outputs) {
      if (!mapping.axis || mapping.part_size < 1) continue;
      const ir::PartialShape& shape = n_.node().output(mapping.external).shape;
      if (!shape.rank_known() || !shape[*mapping.axis].known())
        n_.Decline("the number of its iterations is unknown");
      count = shape[*mapping.axis].value() / mapping.part_size;
    }
    if (count && *count != 1) SliceNumbers(*count);
  }

  // Slices the i64 numbers of the iterations.
  void SliceNumbers(int64_t count) {
    std::vector<int64_t> numbers(static_cast<size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    sliced_.push_back(
        {.port = n_.Constant(TensorValue::FromInts({count}, numbers), "iterations"), .parameter = Number()});
    slice_axes_.push_back(0);
    slice_strides_.push_back(1);
    slice_starts_.push_back(0);
    slice_ends_.push_back(-1);
  }

  // The parameter of the body for the number of the iteration.
  RaisedParameter Number() const {
    return {.source = iteration_.source,
            .type = ElementType::kI64,
            .shape = ir::PartialShape({int64_t{1}}),
            .is_iteration = iteration_.source >= 0};
  }

  // Returns the index of the state whose next value is that result. A result that is no state becomes one.
  int32_t StateOf(int32_t result) {
    const auto found = llvm::find(next_, RaisedResult{.index = result});
    const auto index = static_cast<int32_t>(found - next_.begin());
    if (found != next_.end()) return index;
    const ir::Graph& graph = *body_.graph;
    const ir::Output& output =
        graph.output(graph.node(graph.results()[static_cast<size_t>(result)]).input(0));
    if (!output.shape.known() || output.type != NnefTypeOf(output.type))
      n_.Decline(
          "the last value of a result, which the next iteration does not take, has the type {} and the shape "
          "{}",
          Name(output.type), ir::ToString(output.shape));
    const TensorValue zeros = TensorValue::Filled(output.type, output.shape.known_extents(), 0);
    merged_.push_back(
        {.port = n_.Constant(zeros, "initial"), .parameter = {.type = output.type, .shape = output.shape}});
    next_.push_back({.index = result});
    return index;
  }

  void ReadOutputs() {
    outputs_.resize(static_cast<size_t>(n_.node().num_outputs()), -1);
    for (const ir::OutputMapping& mapping : body_.outputs) {
      if (mapping.external < 0) continue;
      if (!mapping.axis) outputs_[static_cast<size_t>(mapping.external)] = StateOf(mapping.internal);
    }
    for (const ir::OutputMapping& mapping : body_.outputs) {
      if (mapping.external < 0 || !mapping.axis) continue;
      if (std::abs(mapping.stride) != mapping.part_size)
        n_.Decline("the stride of a concatenated output differs from the size of its parts");
      const ir::Output& output = n_.node().output(mapping.external);
      const bool is_forward = mapping.stride > 0;
      const int64_t begin = is_forward ? mapping.start : mapping.end;
      const int64_t end = is_forward ? mapping.end : mapping.start;
      const bool is_known = output.shape.rank_known() && output.shape[*mapping.axis].known();
      if (begin != 0 || (end != -1 && (!is_known || end != output.shape[*mapping.axis].value())))
        n_.Decline("a concatenated output is a part of an axis");
      outputs_[static_cast<size_t>(mapping.external)] =
          static_cast<int32_t>(next_.size() + concatenated_.size());
      concatenated_.push_back(mapping.internal);
      concat_axes_.push_back(*mapping.axis);
      concat_strides_.push_back(mapping.stride);
    }
    if (next_.empty() && concatenated_.empty()) n_.Decline("it has no outputs");
  }

  NodeRaising& n_;
  const ir::Body& body_;
  std::vector<Fed> sliced_, merged_, invariant_;
  std::vector<ir::InputMapping> parts_of_;  // those of the source's slices
  RaisedParameter iteration_;               // `source` is -1 if the body does not take it
  Integers slice_axes_, slice_strides_, slice_starts_, slice_ends_, concat_axes_, concat_strides_;
  std::vector<RaisedResult> next_;     // by state
  std::vector<int32_t> concatenated_;  // results of the source's body
  std::vector<int32_t> outputs_;       // outputs of the target, by output of the source
};

}  // namespace

bool HasFormWithBodies(const ir::Node& node) {
  return node.Is(ir::OpRole::kIf) || node.Is(ir::OpRole::kTensorIterator) || node.Is(ir::OpRole::kLoop);
}

void RaiseWithBodies(NodeRaising& n) {
  n.node().Is(ir::OpRole::kIf) ? RaiseIf(n) : LoopRaising(n).Raise();
}

}  // namespace nnefc::raise

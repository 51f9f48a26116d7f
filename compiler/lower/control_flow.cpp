// Lowerings of conditions and loops, with their bodies, to If, TensorIterator and Loop.

#include <vector>

#include "compiler/ir/ops/opset/control_flow/iterations.h"
#include "compiler/lower/bodies.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// Returns the lowered bodies of the node with its port maps; inputs and outputs have the same indices as in
// the source. Returns fewer bodies after an error.
std::vector<ir::Body> LowerBodies(NodeLowering& n) {
  std::vector<ir::Body> bodies;
  for (const ir::Body& body : n.node().bodies()) {
    std::unique_ptr<ir::Graph> graph = LowerBodyOf(n, *body.graph);
    if (graph == nullptr) break;
    bodies.push_back({.role = body.role,
                      .graph = std::move(graph),
                      .inputs = body.inputs,
                      .outputs = body.outputs,
                      .back_edges = body.back_edges});
  }
  return bodies;
}

void AddNodeWithBodies(NodeLowering& n, std::string_view set, std::string_view type,
                       llvm::ArrayRef<OutputPort> inputs, std::vector<ir::Body> bodies) {
  LowerState& state = n.state();
  const ir::NodeId id = ir::AddNode(state.target, set, type,
                                    {.op = {},
                                     .name = n.node().name(),
                                     .inputs = inputs,
                                     .num_outputs = n.node().num_outputs(),
                                     .origin = n.node().origin()});
  // The bodies are already inferred. Repeating that at each level would be quadratic in the nesting depth.
  for (ir::Body& body : bodies) state.target.AddBody(id, std::move(body));
  for (int32_t i = 0; i < n.node().num_outputs(); ++i) {
    state.target.SetOutputType({id, i}, n.node().output(i).type, n.node().output(i).shape);
    n.SetOutput(i, {id, i});
  }
}

// If-8. Its condition has rank 0 or 1.
void LowerIfElse(NodeLowering& n) {
  std::vector<ir::Body> bodies = LowerBodies(n);
  if (bodies.size() != n.node().bodies().size()) return;
  std::vector<OutputPort> inputs;
  inputs.reserve(static_cast<size_t>(n.num_inputs()));
  for (int32_t i = 0; i < n.num_inputs(); ++i) inputs.push_back(n.input(i));
  const ir::PartialShape& condition = n.input_shape(0);
  if (!condition.rank_known() || condition.rank() > 1) inputs[0] = n.WithShape(inputs[0], {}, "condition");
  AddNodeWithBodies(n, "opset8", "If", inputs, std::move(bodies));
}

// Returns the extent of the sliced axis of an input.
ir::Dim ExtentOf(const NodeLowering& n, const ir::InputMapping& mapping) {
  const ir::PartialShape& shape = n.input_shape(mapping.external);
  return shape.rank_known() ? shape[*mapping.axis] : ir::Dim();
}

// Slices the whole axis: OpenVINO's components interpret other starts and ends differently. Elements outside
// of the range are cropped beforehand.
OutputPort Whole(NodeLowering& n, ir::InputMapping& mapping) {
  const OutputPort input = n.input(mapping.external);
  const bool backward = mapping.stride < 0;
  const int64_t start = backward ? -1 : 0;
  const int64_t end = backward ? 0 : -1;
  if (mapping.start == start && mapping.end == end) return input;
  const int64_t axis = *mapping.axis;
  const ir::Dim extent = ExtentOf(n, mapping);
  if (!extent.known()) {
    n.UnknownExtent(fmt::format("`sliced[{}]`", mapping.external), axis);
    return input;
  }
  const ir::ops::opset::PartRange range{mapping.start, mapping.end, mapping.stride, mapping.part_size};
  std::string reason;
  const std::optional<int64_t> parts = ir::ops::opset::CountIterations(range, extent.value(), &reason);
  NNEFC_CHECK(parts.has_value());
  mapping.start = start;
  mapping.end = end;
  const int64_t first = ir::ops::opset::PartOffset(range, extent.value(), backward ? *parts - 1 : 0);
  const int64_t last = first + *parts * mapping.part_size;
  if (first == 0 && last == extent.value()) return input;
  const std::string suffix = fmt::format("sliced{}", mapping.external);
  return n.Add("opset8", "Slice",
               {input, n.ConstInts({first}, suffix + "_start"), n.ConstInts({last}, suffix + "_stop"),
                n.ConstInts({1}, suffix + "_step"), n.ConstInts({axis}, suffix + "_axes")},
               {}, suffix);
}

// Returns the number of parts of the sliced inputs, if it is known.
std::optional<int64_t> KnownParts(const NodeLowering& n, const ir::Body& body) {
  for (const ir::InputMapping& mapping : body.inputs) {
    if (!mapping.axis) continue;
    const ir::Dim extent = ExtentOf(n, mapping);
    if (!extent.known()) continue;
    std::string reason;
    return ir::ops::opset::CountIterations({mapping.start, mapping.end, mapping.stride, mapping.part_size},
                                           extent.value(), &reason);
  }
  return std::nullopt;
}

// Returns the number of iterations; reports an error and returns nothing if extents are unknown.
std::optional<int64_t> Iterations(NodeLowering& n, const ir::Body& body) {
  if (const std::optional<int64_t> parts = KnownParts(n, body)) return parts;
  for (const ir::InputMapping& mapping : body.inputs) {
    if (!mapping.axis) continue;
    n.UnknownExtent(fmt::format("`sliced[{}]`", mapping.external), *mapping.axis);
    return std::nullopt;
  }
  return 1;
}

// Turns a TensorIterator into a Loop-5. Its additional inputs are the trip count and the initial condition,
// and its additional result is the next condition.
void MakeLoop(NodeLowering& n, int64_t iterations, ir::Body& body, std::vector<OutputPort>& inputs) {
  const TensorValue truth = TensorValue::Filled(ElementType::kBoolean, {}, 1);
  inputs.insert(inputs.begin(), {n.ConstInt(iterations, "trip_count"), n.Constant(truth, "condition")});
  for (ir::InputMapping& mapping : body.inputs) mapping.external += 2;
  const std::string name = n.node().name() + "/continue";
  const ir::NodeId next = ir::AddConst(*body.graph, truth, name, n.node().origin());
  body.outputs.push_back(
      {.external = -1, .internal = static_cast<int32_t>(body.graph->results().size()), .axis = std::nullopt});
  ir::AddResult(*body.graph, name, {next, 0}, n.node().origin());
}

// TensorIterator-1 or, inside of another one, Loop-5: OpenVINO rejects nested TensorIterators.
void LowerTensorIterator(NodeLowering& n) {
  std::vector<ir::Body> bodies = LowerBodies(n);
  if (bodies.size() != n.node().bodies().size()) return;
  std::vector<OutputPort> inputs;
  inputs.reserve(static_cast<size_t>(n.num_inputs()));
  for (int32_t i = 0; i < n.num_inputs(); ++i) inputs.push_back(n.input(i));
  std::optional<int64_t> iterations;
  if (n.state().in_loop) {
    iterations = Iterations(n, bodies[0]);
    if (!iterations) return;
  }
  for (ir::InputMapping& mapping : bodies[0].inputs) {
    if (mapping.axis) inputs[static_cast<size_t>(mapping.external)] = Whole(n, mapping);
  }
  // Without slices there is one iteration. OpenVINO derives the count from the offsets of the outputs, so
  // they must not be relative to the end.
  if (n.node().segment(0).empty()) {
    for (ir::OutputMapping& mapping : bodies[0].outputs) {
      if (mapping.axis) (mapping.stride < 0 ? mapping.start : mapping.end) = mapping.part_size;
    }
  }
  if (!iterations) return AddNodeWithBodies(n, "opset1", "TensorIterator", inputs, std::move(bodies));
  MakeLoop(n, *iterations, bodies[0], inputs);
  AddNodeWithBodies(n, "opset5", "Loop", inputs, std::move(bodies));
}

// Loop-5. Its condition is the first state, which is also an output. OpenVINO runs beyond the last part
// without a trip count, so that the number of parts becomes one.
void LowerWhileLoop(NodeLowering& n) {
  std::vector<ir::Body> bodies = LowerBodies(n);
  if (bodies.size() != n.node().bodies().size()) return;
  const auto sliced = static_cast<int32_t>(n.node().segment(1).size());
  std::vector<OutputPort> inputs = {n.input(0), n.input(1 + sliced)};
  const TensorValue* trips = n.Value(inputs[0]);
  const std::optional<int64_t> parts = KnownParts(n, bodies[0]);
  if (trips != nullptr && trips->ElementAsInt(0) < 0 && parts) inputs[0] = n.ConstInt(*parts, "trip_count");
  for (int32_t i = 1; i < n.num_inputs(); ++i) inputs.push_back(n.input(i));
  for (ir::InputMapping& mapping : bodies[0].inputs) {
    OutputPort& input = inputs[static_cast<size_t>(mapping.external) + 1];
    if (mapping.axis) input = Whole(n, mapping);
    ++mapping.external;
  }
  bodies[0].outputs.push_back({.external = -1, .internal = 0, .axis = std::nullopt});
  AddNodeWithBodies(n, "opset5", "Loop", inputs, std::move(bodies));
}

}  // namespace

void RegisterControlFlow(LoweringTable& table) {
  table["if_else"] = {LowerIfElse, /*accepts_any_rank=*/true};
  table["tensor_iterator"] = {LowerTensorIterator, /*accepts_any_rank=*/true};
  table["while_loop"] = {LowerWhileLoop, /*accepts_any_rank=*/true};
}

}  // namespace nnefc::lower

#include <vector>

#include "compiler/ir/ops/opset/iterations.h"
#include "compiler/lower/bodies.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// The bodies of the node, lowered, with its port maps: inputs and outputs of
// the target have the places that they have in the source. Fewer after a
// mistake.
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
  const ir::NodeId id = state.target.AddNode(set, type,
                                             {.op = {},
                                              .name = n.node().name(),
                                              .inputs = inputs,
                                              .num_outputs = n.node().num_outputs(),
                                              .origin = n.node().origin()});
  for (ir::Body& body : bodies) state.target.AddBody(id, std::move(body));
  if (!ir::InferNode(state.target, id, state.context.emitter)) state.failed = true;
  for (int32_t i = 0; i < n.node().num_outputs(); ++i) n.SetOutput(i, {id, i});
}

// If-8. Its condition has rank 0 or 1.
void LowerIfElse(NodeLowering& n) {
  std::vector<ir::Body> bodies = LowerBodies(n);
  if (bodies.size() != n.node().bodies().size()) return;
  std::vector<OutputPort> inputs;
  for (int32_t i = 0; i < n.num_inputs(); ++i) inputs.push_back(n.input(i));
  if (n.input_rank(0) > 1) inputs[0] = n.WithShape(inputs[0], {}, "condition");
  AddNodeWithBodies(n, "opset8", "If", inputs, std::move(bodies));
}

// Makes a slice of the whole axis: OpenVINO's parts disagree on what other
// starts and ends mean. What lies outside is cut off beforehand.
OutputPort Whole(NodeLowering& n, ir::InputMapping& mapping) {
  const OutputPort input = n.input(mapping.external);
  const bool backward = mapping.stride < 0;
  const int64_t start = backward ? -1 : 0;
  const int64_t end = backward ? 0 : -1;
  if (mapping.start == start && mapping.end == end) return input;
  const int64_t axis = *mapping.axis;
  const ir::Dim extent = n.input_shape(mapping.external)[axis];
  if (!extent.known()) {
    n.UnknownExtent(fmt::format("`sliced[{}]`", mapping.external), axis);
    return input;
  }
  const ir::PartRange range{mapping.start, mapping.end, mapping.stride, mapping.part_size};
  std::string reason;
  const std::optional<int64_t> parts = ir::CountIterations(range, extent.value(), &reason);
  NNEFC_CHECK(parts.has_value());
  mapping.start = start;
  mapping.end = end;
  const int64_t first = ir::PartOffset(range, extent.value(), backward ? *parts - 1 : 0);
  const int64_t last = first + *parts * mapping.part_size;
  if (first == 0 && last == extent.value()) return input;
  const std::string suffix = fmt::format("sliced{}", mapping.external);
  return n.Add("opset8", "Slice",
               {input, n.ConstInts({first}, suffix + "_start"), n.ConstInts({last}, suffix + "_stop"),
                n.ConstInts({1}, suffix + "_step"), n.ConstInts({axis}, suffix + "_axes")},
               {}, suffix);
}

void LowerTensorIterator(NodeLowering& n) {
  std::vector<ir::Body> bodies = LowerBodies(n);
  if (bodies.size() != n.node().bodies().size()) return;
  std::vector<OutputPort> inputs;
  for (int32_t i = 0; i < n.num_inputs(); ++i) inputs.push_back(n.input(i));
  for (ir::InputMapping& mapping : bodies[0].inputs) {
    if (mapping.axis) inputs[static_cast<size_t>(mapping.external)] = Whole(n, mapping);
  }
  // Where nothing is sliced there is one iteration, which OpenVINO counts by
  // the places of the outputs: they must not be relative to the end.
  if (n.node().segment(0).empty()) {
    for (ir::OutputMapping& mapping : bodies[0].outputs) {
      if (mapping.axis) (mapping.stride < 0 ? mapping.start : mapping.end) = mapping.part_size;
    }
  }
  AddNodeWithBodies(n, "opset1", "TensorIterator", inputs, std::move(bodies));
}

}  // namespace

void RegisterControlFlow(LoweringTable& table) {
  table["if_else"] = LowerIfElse;
  table["tensor_iterator"] = LowerTensorIterator;
}

}  // namespace nnefc::lower

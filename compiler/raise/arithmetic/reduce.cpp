// Raising of OpenVINO's reductions and TopK to NNEF operations.

#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"

namespace nnefc::raise {

namespace {

// Reduces `x` by a function of scalars or logicals, then removes the axes unless they are kept. `finish`
// computes the result from the sum.
template <typename Finish>
void Reduce(NodeRaising& n, std::string_view operation, OutputPort x, Finish finish) {
  const Integers axes = n.ConstAxes(1, n.input_rank(0));
  if (axes.empty()) return n.SetOutput(finish(x));
  const OutputPort reduced = finish(n.Add(operation, x, Attributes({{"axes", axes}})));
  n.SetOutput(n.node().Bool("keep_dims") ? reduced : n.Squeeze(reduced, axes, "squeezed"));
}

void RaiseReduction(NodeRaising& n) {
  if (n.input_type(0) != ElementType::kBoolean) n.RequireScalars();
  Reduce(n, FindEquivalent(n.node().op()), n.input(0), [](OutputPort port) { return port; });
}

void RaiseReduceL1(NodeRaising& n) {
  n.RequireScalars();
  Reduce(n, "sum_reduce", n.Unary("abs", n.input(0)), [](OutputPort port) { return port; });
}

void RaiseReduceL2(NodeRaising& n) {
  n.RequireScalars();
  Reduce(n, "sum_reduce", n.Unary("sqr", n.input(0)), [&](OutputPort port) { return n.Unary("sqrt", port); });
}

// TopK of one element: the maximum or minimum, and its lowest index.
void RaiseTopK(NodeRaising& n) {
  n.RequireScalars();
  const std::optional<double> count = n.ScalarValue(1);
  if (!count || *count != 1) n.Decline("it selects more than one element");
  int64_t axis = n.node().Int("axis");
  axis += axis < 0 ? n.input_rank(0) : 0;
  const bool is_max = n.node().String("mode") == "max";
  const ir::AttributeMap axes = Attributes({{"axes", Integers{axis}}});
  const OutputPort x = n.input(0);
  if (!n.node().uses(0).empty()) n.SetOutput(0, n.Add(is_max ? "max_reduce" : "min_reduce", x, axes));
  if (!n.node().uses(1).empty()) n.SetOutput(1, n.Add(is_max ? "argmax_reduce" : "argmin_reduce", x, axes));
  n.Finish();
}

}  // namespace

std::vector<RaiseEntry> ReduceEntries() {
  std::vector<RaiseEntry> entries{
      {"ReduceL1", RaiseReduceL1}, {"ReduceL2", RaiseReduceL2}, {"TopK", RaiseTopK}};
  for (std::string_view name :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceLogicalAnd", "ReduceLogicalOr"})
    entries.push_back({name, RaiseReduction});
  return entries;
}

}  // namespace nnefc::raise

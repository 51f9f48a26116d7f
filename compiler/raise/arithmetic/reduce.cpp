// Raising of OpenVINO's reductions and TopK to NNEF operations.

#include "compiler/raise/arithmetic/integer_arithmetic.h"
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
  const std::string_view operation = FindEquivalent(n.node().op());
  if (n.input_type(0) != ElementType::kBoolean)
    operation == "mean_reduce" ? n.RequireScalars() : RequireNumbers(n);
  Reduce(n, operation, n.input(0), [&](OutputPort port) {
    const bool is_choice = operation == "min_reduce" || operation == "max_reduce";
    return is_choice ? port : InRangeOf(n, n.output_type(), port);
  });
}

void RaiseReduceL1(NodeRaising& n) {
  n.RequireScalars();
  Reduce(n, "sum_reduce", n.Unary("abs", n.input(0)), [](OutputPort port) { return port; });
}

void RaiseReduceL2(NodeRaising& n) {
  n.RequireScalars();
  Reduce(n, "sum_reduce", n.Unary("sqr", n.input(0)), [&](OutputPort port) { return n.Unary("sqrt", port); });
}

// tract sorts by value; the order of equal elements is that of their indices.
void RaiseTopKOfTract(NodeRaising& n, int64_t count) {
  const std::string& order = n.node().String("sort");
  if (order == "index") n.Decline("it sorts by index, and tract by value");
  int64_t axis = n.node().Int("axis");
  axis += axis < 0 ? n.input_rank(0) : 0;
  const ir::NodeId top =
      n.AddNode({ir::kNnefSet, "tract_core_topk"}, n.input(0),
                Attributes({{"k", count}, {"axis", axis}, {"largest", n.node().String("mode") == "max"}}), 2);
  n.SetOutput(0, {top, 0});
  n.SetOutput(1, {top, 1});
}

// TopK of one element: the maximum or minimum, and its lowest index.
void RaiseTopK(NodeRaising& n) {
  n.RequireScalars();
  const std::optional<double> count = n.ScalarValue(1);
  if (IsForTract(n) && count && *count > 1) return RaiseTopKOfTract(n, static_cast<int64_t>(*count));
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
  entries.push_back({"ReduceProd", RaiseReduction, /*is_of_tract=*/true});
  return entries;
}

}  // namespace nnefc::raise

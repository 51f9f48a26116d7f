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

// Multiplies the halves of an axis until one element remains.
OutputPort MultiplyHalves(NodeRaising& n, OutputPort x, int64_t axis) {
  const auto section = [&](OutputPort port, int64_t begin, int64_t end) {
    return n.Add("slice", port,
                 Attributes({{"axes", Integers{axis}},
                             {"begin", Integers{begin}},
                             {"end", Integers{end}},
                             {"dtype", "scalar"}}),
                 "section");
  };
  for (int64_t extent = n.Shape(x)[static_cast<size_t>(axis)]; extent > 1; extent = (extent + 1) / 2) {
    const int64_t half = extent / 2;
    const OutputPort first = section(x, 0, half);
    const OutputPort second = section(x, half, 2 * half);
    OutputPort product = n.Binary("mul", first, second, "product");
    if (extent % 2 != 0) {
      product = n.Add("concat", {product, section(x, extent - 1, extent)},
                      Attributes({{"axis", axis}, {"dtype", "scalar"}}), "products");
    }
    x = product;
  }
  return x;
}

// NNEF has no reduction by products; tract has one.
void RaiseReduceProd(NodeRaising& n) {
  if (IsForTract(n)) return RaiseReduction(n);
  n.RequireScalars();
  const Integers axes = n.ConstAxes(1, n.input_rank(0));
  OutputPort x = n.input(0);
  for (int64_t axis : axes) {
    if (n.Shape(x)[static_cast<size_t>(axis)] == 0) n.Decline("it reduces an axis without elements");
    x = MultiplyHalves(n, x, axis);
  }
  n.SetOutput(n.node().Bool("keep_dims") ? x : n.Squeeze(x, axes, "squeezed"));
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
  if (n.is_used(0)) n.SetOutput(0, n.Add(is_max ? "max_reduce" : "min_reduce", x, axes));
  if (n.is_used(1)) n.SetOutput(1, n.Add(is_max ? "argmax_reduce" : "argmin_reduce", x, axes));
  n.Finish();
}

}  // namespace

std::vector<RaiseEntry> ReduceEntries() {
  std::vector<RaiseEntry> entries{{"ReduceL1", RaiseReduceL1},
                                  {"ReduceL2", RaiseReduceL2},
                                  {"ReduceProd", RaiseReduceProd},
                                  {"TopK", RaiseTopK}};
  for (std::string_view name :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceLogicalAnd", "ReduceLogicalOr"})
    entries.push_back({name, RaiseReduction});
  return entries;
}

}  // namespace nnefc::raise

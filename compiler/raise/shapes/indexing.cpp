// Raising of OpenVINO's operations on indexed elements to those of tract's registries.

#include <numeric>

#include "compiler/raise/arithmetic/integer_arithmetic.h"
#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"

namespace nnefc::raise {

namespace {

void RaiseGatherElements(NodeRaising& n) {
  const int64_t axis = AxisFromFront(n.node().Int("axis"), n.input_rank(0));
  n.SetOutput(n.Add("tract_core_gather_elements", {n.input(0), n.input(1)},
                    Attributes({{"axis", axis}, {"dtype", DataTypeName(n.output_type())}})));
}

// GatherND of the first version joins its batch axes.
void RaiseGatherNd(NodeRaising& n) {
  const OutputPort gathered = n.Add(
      "tract_core_gather_nd", {n.input(0), n.input(1)},
      Attributes({{"batch_dims", n.node().Int("batch_dims")}, {"dtype", DataTypeName(n.output_type())}}));
  const nnefc::Shape shape = n.output_shape();
  n.SetOutput(n.Reshape(gathered, shape, "joined"));
}

// Returns tract's name for a reduction that keeps the initial values.
std::string_view Reduction(NodeRaising& n) {
  const std::string reduction =
      n.node().attributes().Find("reduction") == nullptr ? "none" : n.node().String("reduction");
  const ir::Attribute* initial = n.node().attributes().Find("use_init_val");
  if (reduction != "none" && initial != nullptr && !n.node().Bool("use_init_val"))
    n.Decline("its reduction ignores the elements that it replaces");
  constexpr std::pair<std::string_view, std::string_view> kReductions[] = {
      {"none", "none"}, {"sum", "add"}, {"prod", "mul"}, {"min", "min"}, {"max", "max"}};
  for (const auto& [name, of_tract] : kReductions) {
    if (reduction == name) return of_tract;
  }
  n.Decline("tract has no reduction `{}`", reduction);
}

void RaiseScatterElements(NodeRaising& n) {
  n.RequireScalars();
  const Integers axis = n.ConstIntegers(3, "axis");
  n.SetOutput(n.Add(
      "tract_core_scatter_elements", {n.input(0), n.input(1), n.input(2)},
      Attributes({{"axis", AxisFromFront(axis.front(), n.input_rank(0))}, {"reduction", Reduction(n)}})));
}

void RaiseScatterNd(NodeRaising& n) {
  n.RequireScalars();
  n.SetOutput(n.Add("tract_core_scatter_nd", {n.input(0), n.input(1), n.input(2)},
                    Attributes({{"reduction", Reduction(n)}})));
}

void RaiseCumSum(NodeRaising& n) {
  RequireNumbers(n);
  const Integers axis = n.ConstIntegers(1, "axis");
  const OutputPort sum = n.Add("tract_core_cumsum", n.input(0),
                               Attributes({{"axis", AxisFromFront(axis.front(), n.input_rank(0))},
                                           {"exclusive", n.node().Bool("exclusive")},
                                           {"reverse", n.node().Bool("reverse")}}));
  n.SetOutput(InRangeOf(n, n.output_type(), sum));
}

// OneHot: the classes along an axis are compared with the indices.
void RaiseOneHot(NodeRaising& n) {
  const ir::Attribute* mode = n.node().attributes().Find("negative_indices_mode");
  if (mode != nullptr && mode->AsString() != "ignore_negative")
    n.Decline("its negative indices count from the end");
  const int64_t axis = AxisFromFront(n.node().Int("axis"), n.output_rank());
  Integers extents(static_cast<size_t>(n.output_rank()), 1);
  const int64_t depth = n.output_shape()[static_cast<size_t>(axis)];
  extents[static_cast<size_t>(axis)] = depth;
  Integers classes(static_cast<size_t>(depth));
  std::iota(classes.begin(), classes.end(), int64_t{0});
  const OutputPort table =
      n.Constant(TensorValue::FromInts(nnefc::Shape(extents.begin(), extents.end()), classes), "classes");
  const OutputPort index = n.Unsqueeze(n.input(0), {axis}, "index");
  const OutputPort is_class = n.Binary("eq", index, table, "is_class");
  const auto value = [&](int32_t input) {
    const TensorValue* constant = n.Value(input);
    if (constant == nullptr) n.Decline("its values depend on data");
    const nnefc::Shape one(static_cast<size_t>(n.output_rank()), 1);
    return n.ConstantInput(input, constant->Reshaped(one));
  };
  n.SetOutput(n.Add("select", {is_class, value(2), value(3)},
                    Attributes({{"dtype", DataTypeName(n.output_type())}})));
}

}  // namespace

std::vector<RaiseEntry> IndexingEntries() {
  return {{"GatherElements", RaiseGatherElements, /*is_of_tract=*/true},
          {"GatherND", RaiseGatherNd, /*is_of_tract=*/true},
          {"ScatterElementsUpdate", RaiseScatterElements, /*is_of_tract=*/true},
          {"ScatterNDUpdate", RaiseScatterNd, /*is_of_tract=*/true},
          {"CumSum", RaiseCumSum, /*is_of_tract=*/true},
          {"OneHot", RaiseOneHot, /*is_of_tract=*/true}};
}

}  // namespace nnefc::raise

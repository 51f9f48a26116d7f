// Raising of OpenVINO's operations on indexed elements, some only to those of tract's registries.

#include <functional>
#include <numeric>
#include <utility>

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

// Sums windows that end at each element of an axis, or begin there, by a `box` on the rows of a matrix. An
// exclusive sum has no window for the last element of the order, or the first.
void SumWindows(NodeRaising& n, int64_t axis) {
  n.RequireScalars();
  const nnefc::Shape shape = n.input_shape(0);
  const bool is_reverse = n.node().Bool("reverse");
  const bool is_exclusive = n.node().Bool("exclusive");
  const int64_t extent = shape[static_cast<size_t>(axis)];
  const auto middle = shape.begin() + axis;
  const int64_t outer = std::accumulate(shape.begin(), middle, int64_t{1}, std::multiplies<>());
  const int64_t inner = std::accumulate(middle + 1, shape.end(), int64_t{1}, std::multiplies<>());
  if (outer * extent * inner == 0) n.Decline("its result has no elements");
  if (is_exclusive && extent == 1) {
    const nnefc::Shape& result = shape;
    return n.SetOutput(n.Constant(TensorValue::Filled(ElementType::kF32, result, 0), "zero"));
  }
  OutputPort x = n.Reshape(n.input(0), {outer, 1, extent, inner}, "rows");
  const int64_t size = is_exclusive ? extent - 1 : extent;
  if (is_exclusive) {
    const int64_t begin = is_reverse ? 1 : 0;
    x = n.Add("slice", x,
              Attributes({{"axes", Integers{2}},
                          {"begin", Integers{begin}},
                          {"end", Integers{begin + size}},
                          {"dtype", "scalar"}}),
              "summed");
  }
  const int64_t padding = extent - 1;
  ir::AttributeMap attributes =
      Attributes({{"size", Integers{1, 1, size, 1}}, {"border", "constant"}, {"normalize", false}});
  const std::pair<int64_t, int64_t> rows(is_reverse ? 0 : padding, is_reverse ? padding : 0);
  attributes.Set("padding", ir::PairList({{0, 0}, {0, 0}, rows, {0, 0}}));
  n.SetOutput(n.Reshape(n.Add("box", x, std::move(attributes), "sums"), shape));
}

void RaiseCumSum(NodeRaising& n) {
  const int64_t axis = AxisFromFront(n.ConstIntegers(1, "axis").front(), n.input_rank(0));
  if (!IsForTract(n)) return SumWindows(n, axis);
  RequireNumbers(n);
  const OutputPort sum = n.Add("tract_core_cumsum", n.input(0),
                               Attributes({{"axis", axis},
                                           {"exclusive", n.node().Bool("exclusive")},
                                           {"reverse", n.node().Bool("reverse")}}));
  n.SetOutput(InRangeOf(n, n.output_type(), sum));
}

// OneHot: the classes along an axis are compared with the indices, as scalars except in tract.
void RaiseOneHot(NodeRaising& n) {
  const ir::Attribute* mode = n.node().attributes().Find("negative_indices_mode");
  if (mode != nullptr && mode->AsString() != "ignore_negative")
    n.Decline("its negative indices count from the end");
  const int64_t axis = AxisFromFront(n.node().Int("axis"), n.output_rank());
  Integers extents(static_cast<size_t>(n.output_rank()), 1);
  const int64_t depth = n.output_shape()[static_cast<size_t>(axis)];
  extents[static_cast<size_t>(axis)] = depth;
  if (depth == 0) n.Decline("its result has no elements");
  if (depth > 0x1000000) n.Decline("scalars do not represent {} classes", depth);
  Integers classes(static_cast<size_t>(depth));
  std::iota(classes.begin(), classes.end(), int64_t{0});
  OutputPort index = n.Unsqueeze(n.input(0), {axis}, "index");
  OutputPort table;
  if (IsForTract(n)) {
    table =
        n.Constant(TensorValue::FromInts(nnefc::Shape(extents.begin(), extents.end()), classes), "classes");
  } else {
    table = n.Floats(std::vector<double>(classes.begin(), classes.end()), extents, "classes");
    index = n.Cast(index, ElementType::kF32, "number");
  }
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
          {"CumSum", RaiseCumSum},
          {"OneHot", RaiseOneHot}};
}

}  // namespace nnefc::raise

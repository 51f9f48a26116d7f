// Raising of OpenVINO's Reshape, Squeeze, Unsqueeze, Transpose, Tile, Broadcast and Gather to NNEF
// operations.

#include <algorithm>
#include <numeric>

#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

namespace {

// Reshape and similar operations: the extents are known, however they are computed.
void RaiseReshape(NodeRaising& n) {
  n.SetOutput(n.Reshape(n.input(0), n.output_shape()));
}

void RaiseSqueeze(NodeRaising& n) {
  const nnefc::Shape shape = n.input_shape(0);
  Integers axes;
  if (n.has_input(1)) axes = n.ConstAxes(1, n.input_rank(0));
  const bool removes_all = axes.empty();
  Integers singular;
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    if (shape[i] == 1 && (removes_all || llvm::is_contained(axes, axis))) singular.push_back(axis);
  }
  n.SetOutput(n.Squeeze(n.input(0), singular));
}

void RaiseUnsqueeze(NodeRaising& n) {
  n.SetOutput(n.Unsqueeze(n.input(0), n.ConstAxes(1, n.output_rank())));
}

// An empty order reverses the axes.
void RaiseTranspose(NodeRaising& n) {
  Integers order = n.ConstIntegers(1, "order");
  if (order.empty()) {
    order.resize(static_cast<size_t>(n.input_rank(0)));
    std::iota(order.rbegin(), order.rend(), int64_t{0});
  }
  n.SetOutput(n.Transpose(n.input(0), order));
}

void RaiseIdentity(NodeRaising& n) {
  n.SetOutput(n.input(0));
}

// Repeats `x`, extended to the rank of the result by leading axes, along each axis.
void Tile(NodeRaising& n, OutputPort x) {
  const nnefc::Shape from = n.Shape(x);
  const nnefc::Shape to = n.output_shape();
  Integers repeats;
  for (size_t i = 0; i < to.size(); ++i) {
    if (from[i] == 0 || to[i] == 0) n.Decline("its result has no elements");
    repeats.push_back(to[i] / from[i]);
  }
  if (llvm::all_of(repeats, [](int64_t count) { return count == 1; })) return n.SetOutput(x);
  n.SetOutput(n.Add("tile", x, Attributes({{"repeats", repeats}, {"dtype", DataTypeName(n.output_type())}})));
}

void RaiseTile(NodeRaising& n) {
  Tile(n, n.Aligned(0, n.output_rank(), /*may_shrink=*/false));
}

// With explicit axes, the axes of the input are those of the result.
void RaiseBroadcast(NodeRaising& n) {
  if (n.node().String("mode") != "explicit") {
    if (n.node().String("mode") == "pdpd") n.Decline("it broadcasts by the rule `pdpd`");
    return Tile(n, n.Aligned(0, n.output_rank(), /*may_shrink=*/false));
  }
  const Integers mapping = n.ConstIntegers(2, "axes_mapping");
  if (!std::is_sorted(mapping.begin(), mapping.end())) n.Decline("it permutes the axes");
  Integers axes;
  for (int64_t axis = 0; axis < n.output_rank(); ++axis) {
    if (!llvm::is_contained(mapping, axis)) axes.push_back(axis);
  }
  Tile(n, n.Unsqueeze(n.input(0), axes, "aligned"));
}

// Returns the attributes of a `slice` of elements [begin, begin + count) along one axis.
ir::AttributeMap Section(const NodeRaising& n, int64_t axis, int64_t begin, int64_t count) {
  return Attributes({{"axes", Integers{axis}},
                     {"begin", Integers{begin}},
                     {"end", Integers{begin + count}},
                     {"dtype", DataTypeName(n.output_type())}});
}

// Constant indices that are consecutive are a `slice`.
void GatherConstant(NodeRaising& n, int64_t axis, const TensorValue& value) {
  const int64_t extent = n.input_shape(0)[static_cast<size_t>(axis)];
  Integers indices;
  for (int64_t i = 0; i < value.volume(); ++i) {
    const int64_t index = value.ElementAsInt(i);
    indices.push_back(index < 0 ? index + extent : index);
    if (indices.back() < 0 || indices.back() >= extent)
      n.Decline("its index {} is beyond the extent {}", index, extent);
  }
  bool is_range = !indices.empty() && value.rank() <= 1;
  for (size_t i = 1; i < indices.size(); ++i) is_range = is_range && indices[i] == indices[i - 1] + 1;
  const OutputPort x = n.input(0);
  if (is_range) {
    const OutputPort section =
        static_cast<int64_t>(indices.size()) == extent
            ? x
            : n.Add("slice", x, Section(n, axis, indices.front(), static_cast<int64_t>(indices.size())));
    return n.SetOutput(value.rank() == 0 ? n.Squeeze(section, {axis}, "element") : section);
  }
  const OutputPort table = n.Constant(TensorValue::FromInts(value.shape(), indices), "indices");
  n.SetOutput(
      n.Add("gather", {x, table}, Attributes({{"axis", axis}, {"dtype", DataTypeName(n.output_type())}})));
}

OutputPort GatherAlong(NodeRaising& n, int64_t axis) {
  return n.Add("gather", {n.input(0), n.input(1)},
               Attributes({{"axis", axis}, {"dtype", DataTypeName(n.output_type())}}));
}

// NNEF's indices are not negative; those of tract may count from the end. Those that depend on data are not
// checked.
void RaiseGather(NodeRaising& n) {
  const std::optional<double> given = n.ScalarValue(2);
  if (!given) n.Decline("its `axis` depends on data");
  const auto axis = static_cast<int64_t>(*given) + (*given < 0 ? n.input_rank(0) : 0);
  const ir::Attribute* batch = n.node().attributes().Find("batch_dims");
  const int64_t batch_dims = batch == nullptr ? 0 : batch->AsInt();
  if (batch_dims != 0 && batch_dims + n.input_rank(1) != 0) n.Decline("it has batch axes");
  if (const TensorValue* value = n.Value(1)) return GatherConstant(n, axis, *value);
  if (n.state().options.target == Target::kNnefc) n.Decline("its indices may be negative");
  if (IsForTract(n)) return n.SetOutput(GatherAlong(n, axis));
  n.state().context.emitter.Emit(
      kIndexRange, n.node().origin().range,
      "the indices of `{}`, the layer `{}`, depend on data; negative ones, which count "
      "from the end in OpenVINO, are undefined in NNEF",
      n.node().type(), n.node().name());
  n.SetOutput(GatherAlong(n, axis));
}

}  // namespace

std::vector<RaiseEntry> ShapeOpsEntries() {
  return {{"Reshape", RaiseReshape},     {"Squeeze", RaiseSqueeze},   {"Unsqueeze", RaiseUnsqueeze},
          {"Transpose", RaiseTranspose}, {"Identity", RaiseIdentity}, {"Tile", RaiseTile},
          {"Broadcast", RaiseBroadcast}, {"Gather", RaiseGather}};
}

}  // namespace nnefc::raise

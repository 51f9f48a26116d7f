// Lowerings of NNEF's reshape, squeeze, transpose, tile, gather and cast to OpenVINO operations.

#include <algorithm>

#include "compiler/lower/arithmetic/integer_arithmetic.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// Reshapes a constant at compile time; its bytes are shared.
bool ReshapeConstant(NodeLowering& n) {
  if (!n.target().node(n.input(0).node).Is(ir::OpRole::kConst) || !n.output_shape().known()) return false;
  n.SetOutput(n.WithShape(n.input(0), n.output_shape().known_extents()));
  return true;
}

// `reshape(input, shape = [0, -1], axis_start = 1, axis_count = 2)`: extents before the range are copied, and
// those after it too if their index does not change.
void LowerReshape(NodeLowering& n) {
  if (ReshapeConstant(n)) return;
  // An extent of 0 in `target` would be copied from the same index of the input.
  if (n.output_shape().volume() == 0)
    return n.SetOutput(n.WithShape(n.input(0), n.output_shape().known_extents(), "reshape"));
  const PartialShape& input = n.input_shape(0);
  const std::vector<int64_t> shape = n.Ints("shape");
  const int64_t start = n.Int("axis_start");
  const int64_t count = n.Int("axis_count") == -1 ? input.rank() - start : n.Int("axis_count");
  std::vector<int64_t> target(static_cast<size_t>(start), 0);
  target.insert(target.end(), shape.begin(), shape.end());
  for (int64_t axis = start + count; axis < input.rank(); ++axis) {
    if (static_cast<int64_t>(shape.size()) == count) {
      target.push_back(0);
    } else if (input[axis].known()) {
      target.push_back(input[axis].value());
    } else if (std::find(target.begin(), target.end(), -1) == target.end()) {
      target.push_back(-1);
    } else {
      n.UnknownExtent("`input`", axis);
      return;
    }
  }
  if (!target.empty() || input.rank() == 0) return n.SetOutput(n.Reshape(n.input(0), target, "reshape"));
  // OpenVINO's CPU plug-in ends the process for a Reshape to rank 0 after a MatMul.
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < input.rank(); ++axis) axes.push_back(axis);
  n.SetOutput(n.Add("opset1", "Squeeze", {n.input(0), n.ConstInts(axes, "axes")}));
}

template <bool kAdds>
void LowerSqueeze(NodeLowering& n) {
  const std::vector<int64_t> axes = n.Ints("axes");
  if (axes.empty()) {
    n.SetOutput(n.input(0));  // Squeeze without axes would remove all extents of 1
  } else if (!ReshapeConstant(n)) {
    n.SetOutput(n.Add("opset1", kAdds ? "Unsqueeze" : "Squeeze", {n.input(0), n.ConstInts(axes, "axes")}));
  }
}

// `axes` permutes the first dimensions; the others are unchanged.
void LowerTranspose(NodeLowering& n) {
  std::vector<int64_t> order = n.Ints("axes");
  while (static_cast<int64_t>(order.size()) < n.input_rank(0))
    order.push_back(static_cast<int64_t>(order.size()));
  if (std::is_sorted(order.begin(), order.end())) {
    n.SetOutput(n.input(0));
    return;
  }
  n.SetOutput(n.Add("opset1", "Transpose", {n.input(0), n.ConstInts(order, "order")}));
}

void LowerTile(NodeLowering& n) {
  const std::vector<int64_t> repeats = n.Ints("repeats");
  const bool changes = llvm::any_of(repeats, [](int64_t count) { return count != 1; });
  n.SetOutput(changes ? n.Add("opset1", "Tile", {n.input(0), n.ConstInts(repeats, "repeats")}) : n.input(0));
}

void LowerGather(NodeLowering& n) {
  n.SetOutput(n.Add("opset8", "Gather", {n.input(0), n.input(1), n.ConstInt(n.Int("axis"), "axis")},
                    Attributes({{"batch_dims", 0}})));
}

// Casts scalars to integers by rounding down, since Convert truncates toward zero, and to logicals by x != 0.
void LowerCast(NodeLowering& n) {
  if (n.source_input(0).type == n.DataType()) {
    n.SetOutput(n.input(0));
    return;
  }
  if (const std::optional<OutputPort> exact = LowerInIntegers(n)) return n.SetOutput(*exact);
  const bool rounds = IsFloat(n.source_input(0).type) && IsInteger(n.DataType());
  const OutputPort input = rounds ? n.Unary("Floor", n.input(0)) : n.input(0);
  n.SetOutput(n.Add("opset1", "Convert", input, Attributes({{"destination_type", n.DataType()}})));
}

}  // namespace

void RegisterShapeOps(LoweringTable& table) {
  table["reshape"] = LowerReshape;
  table["squeeze"] = LowerSqueeze<false>;
  table["unsqueeze"] = LowerSqueeze<true>;
  table["transpose"] = LowerTranspose;
  table["tile"] = LowerTile;
  table["gather"] = LowerGather;
  table["cast"] = {LowerCast, /*accepts_any_rank=*/true};
}

}  // namespace nnefc::lower

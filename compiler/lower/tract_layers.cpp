// Lowerings of primitives of tract's registries that become several operations: recurrent layers, samples of
// volumes, integers of a width, arguments that a run determines.

#include <array>

#include "compiler/lower/arithmetic/integer_arithmetic.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {
namespace {

OutputPort ExtentAlong(NodeLowering& n, OutputPort x, int64_t axis, std::string_view suffix) {
  const OutputPort shape =
      n.Add("opset3", "ShapeOf", {x}, Attributes({{"output_type", ElementType::kI64}}), "shape");
  return n.Add("opset8", "Gather", {shape, n.ConstInts({axis}, "axis"), n.ConstInt(0, "first")}, {}, suffix);
}

// Returns the number of steps for each batch item.
OutputPort Lengths(NodeLowering& n, OutputPort x) {
  const PartialShape& shape = n.input_shape(0);
  if (shape[0].known() && shape[1].known() && shape[0].value() <= kLargestFilledVolume)
    return n.ConstInts(std::vector<int64_t>(static_cast<size_t>(shape[0].value()), shape[1].value()),
                       "lengths");
  return n.Add("opset3", "Broadcast", {ExtentAlong(n, x, 1, "steps"), ExtentAlong(n, x, 0, "batch")},
               Attributes({{"mode", "numpy"}}), "lengths");
}

// Returns [wz + rz, wr + rr, wh, rh] for biases [wz, wr, wh, rz, rr, rh] of the gates.
OutputPort GateBiases(NodeLowering& n, int64_t hidden) {
  const ir::NodeId parts = n.AddNode(
      "opset1", "VariadicSplit",
      {n.input(3), n.ConstInt(0, "axis"), n.ConstInts({2 * hidden, hidden, 2 * hidden, hidden}, "parts")}, {},
      4);
  const OutputPort gates = n.Binary("Add", {parts, 0}, {parts, 2}, "gates");
  const OutputPort all =
      n.Add("opset1", "Concat", {gates, {parts, 1}, {parts, 3}}, Attributes({{"axis", 0}}));
  return n.Reshape(all, {1, 4 * hidden}, "biases");
}

void LowerGruLayer(NodeLowering& n) {
  const int64_t hidden = n.Int("hidden");
  const auto with_direction = [&](int32_t input, std::string_view suffix) {
    return n.Add("opset1", "Unsqueeze", {n.input(input), n.ConstInts({0}, "axes")}, {}, suffix);
  };
  const ir::NodeId layer =
      n.AddNode("opset5", "GRUSequence",
                {n.input(0), n.input(4), Lengths(n, n.input(0)), with_direction(1, "weights"),
                 with_direction(2, "recurrent_weights"), GateBiases(n, hidden)},
                Attributes({{"hidden_size", hidden},
                            {"direction", n.Bool("backwards") ? "reverse" : "forward"},
                            {"linear_before_reset", true}}),
                2);
  n.SetOutput(0, n.Add("opset1", "Squeeze", {{layer, 0}, n.ConstInts({1}, "direction")}));
  n.SetOutput(1, {layer, 1});
}

// Adds TopK for a number of elements that is known at run time.
// Compares integers as integers, since two of them may have the same f32 value. Their largest are then
// converted to scalars; LowerInIntegers takes them before that.
void AddTopK(NodeLowering& n, OutputPort count) {
  const std::optional<OutputPort> integers = IntegersBefore(n, n.node().input(0));
  const ir::NodeId top = n.AddNode("opset11", "TopK", {integers.value_or(n.input(0)), count},
                                   Attributes({{"axis", n.Int("axis")},
                                               {"mode", n.Bool("largest") ? "max" : "min"},
                                               {"sort", "value"},
                                               {"index_element_type", ElementType::kI64},
                                               {"stable", true}}),
                                   2);
  const OutputPort values{top, 0};
  n.SetOutput(0, integers ? n.Add("opset1", "Convert", values,
                                  Attributes({{"destination_type", ElementType::kF32}}), "values")
                          : values);
  n.SetOutput(1, {top, 1});
}

void LowerTopK(NodeLowering& n) {
  AddTopK(n, n.ConstInt(n.Int("k"), "k"));
}

void LowerTopKBy(NodeLowering& n) {
  AddTopK(n, n.input_rank(1) == 0 ? n.input(1) : n.Reshape(n.input(1), {}, "count"));
}

void LowerExtent(NodeLowering& n) {
  const OutputPort shape =
      n.Add("opset3", "ShapeOf", {n.input(0)}, Attributes({{"output_type", ElementType::kI64}}), "shape");
  n.SetOutput(n.Add("opset8", "Gather", {shape, n.ConstInt(n.Int("axis"), "axis"), n.ConstInt(0, "first")}));
}

void LowerReshapeBy(NodeLowering& n) {
  n.SetOutput(n.Add("opset1", "Reshape", {n.input(0), n.input(1)}, Attributes({{"special_zero", false}})));
}

void LowerTileBy(NodeLowering& n) {
  n.SetOutput(n.Add("opset1", "Tile", {n.input(0), n.input(1)}));
}

void LowerSliceBy(NodeLowering& n) {
  n.SetOutput(n.Add("opset8", "Slice",
                    {n.input(0), n.input(1), n.input(2), n.ConstInts(n.Ints("stride"), "stride"),
                     n.ConstInts(n.Ints("axes"), "axes")}));
}

// Integers of 32 bits are converted; narrower ones are reduced by a mask, since conversions may saturate.
void LowerToWidth(NodeLowering& n) {
  const ElementType type = *ParseElementType(n.String("datum_type"));
  const auto convert = [&](OutputPort x, ElementType to, std::string_view suffix) {
    return n.Add("opset1", "Convert", {x}, Attributes({{"destination_type", to}}), suffix);
  };
  if (BitWidth(type) == 32) {
    const OutputPort narrow = convert(n.input(0), type, "narrow");
    return n.SetOutput(convert(narrow, ElementType::kI64, "wide"));
  }
  const int64_t half = int64_t{1} << (BitWidth(type) - 1);
  const OutputPort mask = n.ConstInt(2 * half - 1, "mask");
  if (!IsSigned(type)) return n.SetOutput(n.Add("opset13", "BitwiseAnd", {n.input(0), mask}));
  const OutputPort offset = n.ConstInt(half, "half");
  const OutputPort reduced =
      n.Add("opset13", "BitwiseAnd", {n.Binary("Add", n.input(0), offset, "raised"), mask});
  n.SetOutput(n.Binary("Subtract", reduced, offset));
}

// Samples a volume [n, c, d, h, w] at points [n, .., .., .., 3] of coordinates (x, y, z), which OpenVINO's
// GridSample does not: gathers the eight elements around each point.
class VolumeSampling {
 public:
  explicit VolumeSampling(NodeLowering& n)
      : n_(n), padding_(n.String("padding_mode")), aligns_corners_(n.Bool("align_corners")) {}

  void Run() {
    for (int64_t axis = 2; axis < 5; ++axis) {
      const ir::Dim dim = n_.input_shape(0)[axis];
      if (!dim.known()) return n_.UnknownExtent("`input` of `tract_core_grid_sample`", axis);
      extents_[static_cast<size_t>(axis - 2)] = dim.value();
    }
    volume_ = n_.Reshape(n_.input(0), {0, 0, -1}, "volume");
    points_ = n_.Reshape(n_.input(1), {0, -1, 3}, "points");
    const bool is_nearest = n_.String("mode") == "nearest";
    for (size_t axis = 0; axis < 3; ++axis) {
      positions_[axis] = Padded(Position(axis, is_nearest), axis);
      if (!is_nearest) floors_[axis] = n_.Unary("Floor", positions_[axis], "floor");
    }
    OutputPort sum;
    for (int corner = 0; corner < (is_nearest ? 1 : 8); ++corner) {
      const OutputPort part = is_nearest ? Element(positions_) : Corner(corner);
      sum = sum.valid() ? Binary("Add", sum, part, "sum") : part;
    }
    n_.SetOutput(
        n_.Add("opset1", "Reshape", {sum, ResultShape()}, Attributes({{"special_zero", false}}), "samples"));
  }

 private:
  OutputPort Number(double value) { return n_.ConstFloat(value, "number"); }
  OutputPort Binary(std::string_view type, OutputPort x, OutputPort y, std::string_view suffix) {
    return n_.Binary(type, x, y, suffix);
  }

  // Returns the extents of the result: computed from those of the operands where they are unknown.
  OutputPort ResultShape() {
    const ir::PartialShape& volume = n_.input_shape(0);
    const ir::PartialShape& points = n_.input_shape(1);
    if (volume.known() && points.known())
      return n_.ConstInts(
          {volume[0].value(), volume[1].value(), points[1].value(), points[2].value(), points[3].value()},
          "shape");
    return n_.Add("opset1", "Concat",
                  {Slice(n_.input(0), 0, 2, "channels"), Slice(n_.input(1), 1, 4, "places")},
                  Attributes({{"axis", 0}}));
  }

  // Returns the extents of the axes [begin, end) of a tensor.
  OutputPort Slice(OutputPort x, int64_t begin, int64_t end, std::string_view suffix) {
    const OutputPort shape =
        n_.Add("opset3", "ShapeOf", {x}, Attributes({{"output_type", ElementType::kI64}}), "shape");
    std::vector<int64_t> axes;
    for (int64_t axis = begin; axis < end; ++axis) axes.push_back(axis);
    return n_.Add("opset8", "Gather", {shape, n_.ConstInts(axes, "axes"), n_.ConstInt(0, "first")}, {},
                  suffix);
  }

  // Returns the coordinates along an axis of the volume, in elements.
  OutputPort Position(size_t axis, bool is_nearest) {
    const OutputPort coordinate =
        n_.Add("opset8", "Gather",
               {points_, n_.ConstInt(static_cast<int64_t>(2 - axis), "axis"), n_.ConstInt(2, "last")}, {},
               "coordinate");
    const auto extent = static_cast<double>(extents_[axis]);
    OutputPort position = Binary("Add", coordinate, Number(1), "moved");
    if (aligns_corners_) {
      position =
          Binary("Multiply", Binary("Divide", position, Number(2), "half"), Number(extent - 1), "position");
    } else {
      position =
          Binary("Subtract", Binary("Multiply", position, Number(extent), "scaled"), Number(1), "centered");
      position = Binary("Divide", position, Number(2), "position");
    }
    if (!is_nearest) return position;
    return n_.Add("opset5", "Round", {position}, Attributes({{"mode", "half_to_even"}}));
  }

  // Moves positions outside of the volume into it, unless these elements are zeros.
  OutputPort Padded(OutputPort position, size_t axis) {
    const auto extent = static_cast<double>(extents_[axis]);
    if (padding_ == "border") return Clamped(position, extent - 1);
    if (padding_ != "reflection") return position;
    const double lowest = aligns_corners_ ? 0 : -0.5, span = aligns_corners_ ? extent - 1 : extent;
    if (span == 0) return Binary("Multiply", position, Number(0), "zero");
    const OutputPort offset = Binary("Subtract", position, Number(lowest), "offset");
    const OutputPort phase = Binary("FloorMod", offset, Number(2 * span), "phase");
    const OutputPort mirrored =
        Binary("Minimum", phase, Binary("Subtract", Number(2 * span), phase, "back"), "mirrored");
    return Binary("Add", mirrored, Number(lowest), "reflected");
  }

  OutputPort Clamped(OutputPort position, double max) {
    return n_.Add("opset1", "Clamp", {position}, Attributes({{"min", 0.0}, {"max", max}}));
  }

  // Returns the elements at integral positions, zeros outside of the volume.
  OutputPort Element(const std::array<OutputPort, 3>& positions) {
    OutputPort index, inside;
    for (size_t axis = 0; axis < 3; ++axis) {
      const double last = static_cast<double>(extents_[axis] - 1);
      const OutputPort clamped =
          Clamped(padding_ == "reflection" ? Padded(positions[axis], axis) : positions[axis], last);
      if (padding_ == "zeros") {
        const OutputPort same = Binary("Equal", clamped, positions[axis], "same");
        inside = inside.valid() ? Binary("LogicalAnd", inside, same, "inside") : same;
      }
      const OutputPort whole =
          n_.Add("opset1", "Convert", {clamped}, Attributes({{"destination_type", ElementType::kI64}}));
      index = index.valid()
                  ? Binary("Add", Binary("Multiply", index, n_.ConstInt(extents_[axis], "extent"), "rows"),
                           whole, "index")
                  : whole;
    }
    const OutputPort elements = n_.Add("opset8", "Gather", {volume_, index, n_.ConstInt(2, "elements")},
                                       Attributes({{"batch_dims", 1}}), "gathered");
    return padding_ == "zeros"
               ? Weighted(elements, n_.Add("opset1", "Convert", {inside},
                                           Attributes({{"destination_type", ElementType::kF32}}), "mask"))
               : elements;
  }

  // Multiplies the elements of each channel by one number per point.
  OutputPort Weighted(OutputPort elements, OutputPort weights) {
    return Binary("Multiply", elements,
                  n_.Add("opset1", "Unsqueeze", {weights, n_.ConstInts({1}, "channel")}, {}, "weights"),
                  "weighted");
  }

  OutputPort Corner(int corner) {
    std::array<OutputPort, 3> positions = floors_;
    OutputPort weight;
    for (size_t axis = 0; axis < 3; ++axis) {
      const OutputPort share = Binary("Subtract", positions_[axis], floors_[axis], "share");
      const bool is_upper = (corner >> axis & 1) != 0;
      if (is_upper) positions[axis] = Binary("Add", floors_[axis], Number(1), "upper");
      const OutputPort factor = is_upper ? share : Binary("Subtract", Number(1), share, "rest");
      weight = weight.valid() ? Binary("Multiply", weight, factor, "weight") : factor;
    }
    return Weighted(Element(positions), weight);
  }

  NodeLowering& n_;
  const std::string padding_;
  const bool aligns_corners_;
  std::array<int64_t, 3> extents_{};
  OutputPort volume_, points_;
  std::array<OutputPort, 3> positions_, floors_;
};

void LowerTractGridSample(NodeLowering& n) {
  if (n.input_rank(0) == 5) return VolumeSampling(n).Run();
  n.SetOutput(n.Add("opset9", "GridSample", {n.input(0), n.input(1)},
                    Attributes({{"mode", n.String("mode")},
                                {"padding_mode", n.String("padding_mode")},
                                {"align_corners", n.Bool("align_corners")}})));
}

}  // namespace

void RegisterTractLayers(LoweringTable& table) {
  table["tract_core_to_width"] = LowerToWidth;
  table["tract_core_topk"] = LowerTopK;
  table["tract_core_topk_by"] = LowerTopKBy;
  table["tract_core_gru_layer"] = LowerGruLayer;
  table["tract_core_extent"] = LowerExtent;
  table["tract_core_reshape_by"] = LowerReshapeBy;
  table["tract_core_tile_by"] = LowerTileBy;
  table["tract_core_slice_by"] = LowerSliceBy;
  table["tract_core_grid_sample"] = LowerTractGridSample;
}

}  // namespace nnefc::lower

// Shape inference and operation counts of OpenVINO's convolutions and their backward operations.

#include "compiler/ir/ops/opset/windows/window.h"

namespace nnefc::ir::ops::opset {

namespace {

// The axis order of a filter: [O, I, k..], [G, O, I, k..] or, for backward operations, [I, O, k..], [G, I, O,
// k..].
struct FilterLayout {
  bool grouped = false;
  bool backward = false;

  int64_t spatial_start() const { return grouped ? 3 : 2; }
  int64_t input_axis() const { return (grouped ? 1 : 0) + (backward ? 0 : 1); }
  int64_t output_axis() const { return (grouped ? 1 : 0) + (backward ? 1 : 0); }
};

// Returns the number of spatial dimensions from the ranks of data and filter, or -1 if both are unknown.
// Emits kOpsetRank and returns nothing if they contradict each other.
std::optional<int64_t> SpatialRank(OpContext& op, FilterLayout layout) {
  const PartialShape& data = op.shape(0);
  const PartialShape& filter = op.shape(1);
  if (data.rank_known() && filter.rank_known()) {
    const int64_t expected = data.rank() - 2 + layout.spatial_start();
    if (filter.rank() != expected) {
      op.Error(kOpsetRank, "{} has rank {}; expected {}", op.InputName(1), filter.rank(), expected);
      return std::nullopt;
    }
  }
  if (data.rank_known()) return data.rank() - 2;
  return filter.rank_known() ? filter.rank() - layout.spatial_start() : -1;
}

// Returns the number of output channels. Emits kOpsetExtent and returns nothing if the input's channels do
// not match the filter.
std::optional<Dim> OutputChannels(OpContext& op, FilterLayout layout) {
  const PartialShape& data = op.shape(0);
  const PartialShape& filter = op.shape(1);
  if (!filter.rank_known()) return Dim();
  const Dim groups = layout.grouped ? filter[0] : Dim(1);
  const Dim expected = MultiplyOrAny(groups, filter[layout.input_axis()]);
  if (data.rank_known() && !data[1].Compatible(expected)) {
    op.Error(kOpsetExtent, "{} has {} channels; the filter of shape {} expects {}", op.InputName(0),
             data[1].known() ? data[1].value() : data[1].max, ToString(filter), expected.min);
    return std::nullopt;
  }
  return MultiplyOrAny(groups, filter[layout.output_axis()]);
}

// Returns the spatial extents of the filter, or nothing if one is unknown.
std::optional<std::vector<int64_t>> Kernel(const PartialShape& filter, FilterLayout layout) {
  if (!filter.rank_known()) return std::nullopt;
  std::vector<int64_t> kernel;
  for (int64_t i = layout.spatial_start(); i < filter.rank(); ++i) {
    if (!filter[i].known()) return std::nullopt;
    kernel.push_back(filter[i].value());
  }
  return kernel;
}

// Properties shared by both directions: all but the spatial extents.
struct Filtering {
  WindowAttributes window;
  std::optional<std::vector<int64_t>> kernel;
  PartialShape shape;  // shape of the output
};

template <typename SetSpatial>
void InferFiltering(OpContext& op, FilterLayout layout, SetSpatial set_spatial) {
  const ElementType type = op.CommonType(0, 2);
  const std::optional<int64_t> spatial = SpatialRank(op, layout);
  if (!spatial) return;
  if (*spatial < 0) return op.Set(type, PartialShape());
  const std::optional<Dim> channels = OutputChannels(op, layout);
  const std::optional<std::vector<int64_t>> kernel = Kernel(op.shape(1), layout);
  const auto window = ReadWindow(op, kernel.value_or(std::vector<int64_t>{}), *spatial);
  if (!channels || !window) return;
  Filtering filtering{*window, kernel, PartialShape::OfRank(*spatial + 2)};
  if (op.shape(0).rank_known()) filtering.shape.set(0, op.shape(0)[0]);
  filtering.shape.set(1, *channels);
  if (set_spatial(filtering)) op.Set(type, filtering.shape);
}

template <bool kGrouped>
void InferConvolution(OpContext& op) {
  InferFiltering(op, {.grouped = kGrouped}, [&](Filtering& filtering) {
    const PartialShape& data = op.shape(0);
    if (!data.rank_known() || !filtering.kernel) return true;
    for (int64_t i = 0; i < data.rank() - 2; ++i) {
      const std::optional<Dim> dim = WindowOutput(op, filtering.window, i, data[i + 2]);
      if (!dim) return false;
      filtering.shape.set(i + 2, *dim);
    }
    return true;
  });
}

// Sets the spatial extents to the value of the third input.
bool ApplyOutputShape(OpContext& op, PartialShape& shape) {
  const std::optional<std::vector<int64_t>> extents = op.Integers(2);
  if (!extents) return true;
  if (static_cast<int64_t>(extents->size()) != shape.rank() - 2) {
    op.Error(kOpsetExtent, "{} has {} items; expected {}", op.InputName(2), extents->size(),
             shape.rank() - 2);
    return false;
  }
  for (size_t i = 0; i < extents->size(); ++i) {
    if ((*extents)[i] < 0) {
      op.Error(kOpsetExtent, "{} has the item {}", op.InputName(2), (*extents)[i]);
      return false;
    }
    shape.set(static_cast<int64_t>(i) + 2, (*extents)[i]);
  }
  return true;
}

// Returns the amount that `output_padding` adds to each spatial extent, or nothing after an error.
std::optional<std::vector<int64_t>> OutputPadding(OpContext& op, size_t spatial) {
  std::vector<int64_t> extra = op.node().Ints("output_padding", spatial);
  if (extra.size() == spatial) return extra;
  op.Error(kOpsetAttributeValue, "`output_padding` of `{}` has {} items; expected {}", op.node().type(),
           extra.size(), spatial);
  return std::nullopt;
}

template <bool kGrouped>
void InferBackpropData(OpContext& op) {
  InferFiltering(op, {.grouped = kGrouped, .backward = true}, [&](Filtering& filtering) {
    const PartialShape& data = op.shape(0);
    const auto spatial = static_cast<size_t>(filtering.shape.rank() - 2);
    const std::optional<std::vector<int64_t>> extra = OutputPadding(op, spatial);
    if (!extra) return false;
    if (op.has_input(2)) return ApplyOutputShape(op, filtering.shape);
    if (!data.rank_known() || !filtering.kernel) return true;
    for (size_t i = 0; i < spatial; ++i) {
      const auto axis = static_cast<int64_t>(i) + 2;
      const std::optional<Dim> dim = WindowReach(data[axis], filtering.window.axes[i], (*extra)[i]);
      if (!dim) {
        op.Error(kOpsetExtent, "the pads of `{}` leave nothing along spatial axis {}", op.node().type(), i);
        return false;
      }
      filtering.shape.set(axis, *dim);
    }
    return true;
  });
}

// Counts multiply-adds: each output element uses all filter elements beyond the leading axes. Filters are [O,
// I, ..] or [G, O, I, ..].
template <size_t kLeading>
double CountForward(const Node&, llvm::ArrayRef<Shape> inputs, llvm::ArrayRef<Shape> outputs) {
  return Elements(outputs[0]) * Elements(llvm::ArrayRef<int64_t>(inputs[1]).drop_front(kLeading));
}

// Counts multiply-adds: each input element uses all filter elements beyond the leading axes. Filters are [I,
// O, ..] or [G, I, O, ..].
template <size_t kLeading>
double CountBackward(const Node&, llvm::ArrayRef<Shape> inputs, llvm::ArrayRef<Shape>) {
  return Elements(inputs[0]) * Elements(llvm::ArrayRef<int64_t>(inputs[1]).drop_front(kLeading));
}

}  // namespace

std::vector<OpInfo> ConvolutionRows() {
  std::vector<AttributeInfo> forward =
      WindowAttributeInfos({OnEachAxis("strides", 1), OnEachAxis("dilations", 1)});
  std::vector<AttributeInfo> backward = forward;
  backward.push_back(OnEachAxis("output_padding", 0));
  const std::vector<AttributeInfo> implied{{"rounding_type", AttributeKind::kString, "floor"}};
  return {
      MakeRow({.set = "opset1",
               .name = "Convolution",
               .inputs = {"data: number 3..5", "filters: number 3..5"},
               .attributes = forward,
               .implied = implied,
               .infer = Infer<InferConvolution<false>>,
               .products = CountForward<1>,
               .contraction = Contraction::kConvolution}),
      MakeRow({.set = "opset1",
               .name = "GroupConvolution",
               .inputs = {"data: number 3..5", "filters: number 4..6"},
               .attributes = forward,
               .implied = implied,
               .infer = Infer<InferConvolution<true>>,
               .products = CountForward<2>,
               .contraction = Contraction::kGroupConvolution}),
      MakeRow({.set = "opset1",
               .name = "ConvolutionBackpropData",
               .inputs = {"data: number 3..5", "filters: number 3..5", "output_shape?: integer 1"},
               .attributes = backward,
               .implied = implied,
               .infer = Infer<InferBackpropData<false>>,
               .products = CountBackward<1>,
               .contraction = Contraction::kConvolutionBackpropData}),
      MakeRow({.set = "opset1",
               .name = "GroupConvolutionBackpropData",
               .inputs = {"data: number 3..5", "filters: number 4..6", "output_shape?: integer 1"},
               .attributes = backward,
               .implied = implied,
               .infer = Infer<InferBackpropData<true>>,
               .products = CountBackward<2>,
               .contraction = Contraction::kGroupConvolutionBackpropData}),
  };
}

}  // namespace nnefc::ir::ops::opset

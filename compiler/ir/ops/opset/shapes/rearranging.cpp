// Shape inference of OpenVINO's operations that reorder elements: space and depth, batches, reversal,
// patches.

#include <algorithm>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// Returns dim / divisor; emits kOpsetExtent and returns nothing if no extent is a multiple.
std::optional<Dim> Divided(OpContext& op, Dim dim, int64_t divisor, int64_t axis) {
  const std::optional<Dim> quotient = DivideExactly(dim, divisor);
  if (!quotient)
    op.Error(kOpsetExtent, "`{}` divides the extent {} of axis {} by {}", op.node().type(), ExtentText(dim),
             axis, divisor);
  return quotient;
}

// Returns block_size to the power of the number of spatial axes, or nothing after an error.
std::optional<int64_t> BlockVolume(OpContext& op) {
  constexpr int64_t kLargestBlock = 1 << 20;
  const int64_t size = op.Int("block_size");
  if (size > kLargestBlock) {
    op.Error(kOpsetAttributeValue, "`block_size` of `{}` is {}; expected at most 2^20", op.node().type(),
             size);
    return std::nullopt;
  }
  int64_t volume = 1;
  for (int64_t i = 2; i < op.shape(0).rank(); ++i) volume = SaturatingMultiply(volume, size);
  return volume;
}

// DepthToSpace-1: channels become blocks of `block_size` along each spatial axis.
void InferDepthToSpace(OpContext& op) {
  if (!op.shape(0).rank_known()) return op.Set(op.type(0), PartialShape());
  const std::optional<int64_t> volume = BlockVolume(op);
  if (!volume) return;
  PartialShape shape = op.shape(0);
  const std::optional<Dim> channels = Divided(op, shape[1], *volume, 1);
  if (!channels) return;
  shape.set(1, *channels);
  for (int64_t i = 2; i < shape.rank(); ++i) shape.set(i, MultiplyOrAny(shape[i], Dim(op.Int("block_size"))));
  op.Set(op.type(0), shape);
}

void InferSpaceToDepth(OpContext& op) {
  if (!op.shape(0).rank_known()) return op.Set(op.type(0), PartialShape());
  const std::optional<int64_t> volume = BlockVolume(op);
  if (!volume) return;
  PartialShape shape = op.shape(0);
  shape.set(1, MultiplyOrAny(shape[1], Dim(*volume)));
  for (int64_t i = 2; i < shape.rank(); ++i) {
    const std::optional<Dim> extent = Divided(op, shape[i], op.Int("block_size"), i);
    if (!extent) return;
    shape.set(i, *extent);
  }
  op.Set(op.type(0), shape);
}

struct Blocks {
  std::vector<int64_t> shape, begin, end;  // one item for each axis
  int64_t volume = 1;
};

// Returns the block shape and the two lists of crops or pads, if all are known.
std::optional<Blocks> ReadBlocks(OpContext& op) {
  for (int32_t i : {2, 3}) {
    if (Merge(op.shape(1), op.shape(i))) continue;
    op.Error(kOpsetExtent, "{} has the shape {}; expected {}", op.InputName(i), ToString(op.shape(i)),
             ToString(op.shape(1)));
    return std::nullopt;
  }
  const auto shape = op.Integers(1);
  const auto begin = op.Integers(2);
  const auto end = op.Integers(3);
  if (!shape || !begin || !end || !op.shape(0).rank_known()) return std::nullopt;
  const auto rank = static_cast<size_t>(op.shape(0).rank());
  if (shape->size() != rank || begin->size() != rank || end->size() != rank) {
    op.Error(kOpsetConstantInput, "`{}` has lists of {}, {} and {} items; expected {}", op.node().type(),
             shape->size(), begin->size(), end->size(), rank);
    return std::nullopt;
  }
  Blocks blocks{*shape, *begin, *end};
  for (size_t i = 0; i < rank; ++i) {
    const bool whole = (*shape)[i] == 1 && (*begin)[i] == 0 && (*end)[i] == 0;
    if ((*shape)[i] >= 1 && (*begin)[i] >= 0 && (*end)[i] >= 0 && (i > 0 || whole)) {
      blocks.volume = SaturatingMultiply(blocks.volume, (*shape)[i]);
      continue;
    }
    op.Error(kOpsetConstantInput, "`{}` has blocks of {} with ({},{}) along axis {}", op.node().type(),
             (*shape)[i], (*begin)[i], (*end)[i], i);
    return std::nullopt;
  }
  return blocks;
}

void SetUnknown(OpContext& op) {
  if (op.failed()) return;
  op.Set(op.type(0), op.shape(0).rank_known() ? PartialShape::OfRank(op.shape(0).rank()) : PartialShape());
}

// BatchToSpace-2: moves blocks from the batch to the other axes and crops them.
void InferBatchToSpace(OpContext& op) {
  op.CommonType(1, 4);
  if (op.failed()) return;
  const std::optional<Blocks> blocks = ReadBlocks(op);
  if (!blocks) return SetUnknown(op);
  PartialShape shape = op.shape(0);
  const std::optional<Dim> batch = Divided(op, shape[0], blocks->volume, 0);
  if (!batch) return;
  shape.set(0, *batch);
  for (int64_t i = 1; i < shape.rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t cut = SaturatingAdd(blocks->begin[at], blocks->end[at]);
    const Dim extent = MultiplyOrAny(shape[i], Dim(blocks->shape[at]));
    if (extent.max != Dim::kUnbounded && cut > extent.max) {
      op.Error(kOpsetExtent, "`BatchToSpace` cuts {} elements off {} along axis {}", cut, extent.max, i);
      return;
    }
    shape.set(i, Shift(extent, -cut));
  }
  op.Set(op.type(0), shape);
}

// SpaceToBatch-2: pads the axes and moves their blocks to the batch.
void InferSpaceToBatch(OpContext& op) {
  const std::optional<Blocks> blocks = ReadBlocks(op);
  if (!blocks) return SetUnknown(op);
  PartialShape shape = op.shape(0);
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const auto at = static_cast<size_t>(i);
    const Dim padded = Shift(shape[i], SaturatingAdd(blocks->begin[at], blocks->end[at]));
    const std::optional<Dim> extent = Divided(op, padded, blocks->shape[at], i);
    if (!extent) return;
    shape.set(i, *extent);
  }
  shape.set(0, MultiplyOrAny(shape[0], Dim(blocks->volume)));
  op.Set(op.type(0), shape);
}

// ShuffleChannels-1: the number of groups divides the axis.
void InferShuffleChannels(OpContext& op) {
  if (op.shape(0).rank_known()) {
    const std::optional<int64_t> axis = op.NormalizeAxis(op.Int("axis"), op.shape(0).rank());
    if (!axis || !Divided(op, op.shape(0)[*axis], op.Int("group"), *axis)) return;
  }
  op.Set(op.type(0), op.shape(0));
}

// ReverseSequence-1: one length for each item of the batch.
void InferReverseSequence(OpContext& op) {
  const PartialShape& data = op.shape(0);
  if (data.rank_known()) {
    const std::optional<int64_t> batch = op.NormalizeAxis(op.Int("batch_axis"), data.rank());
    const std::optional<int64_t> sequence = op.NormalizeAxis(op.Int("seq_axis"), data.rank());
    if (!batch || !sequence) return;
    if (*batch == *sequence) {
      op.Error(kOpsetAxis, "`batch_axis` and `seq_axis` are both axis {}; expected two axes", *batch);
      return;
    }
    if (op.shape(1).rank_known() && !data[*batch].Compatible(op.shape(1)[0])) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected a length for each of {}", op.InputName(1),
               ToString(op.shape(1)), ToString(data));
      return;
    }
  }
  op.Set(op.type(0), data);
}

// Reverse-1: by a list of axes, or by a mask with one item per axis.
void InferReverse(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const std::string mode = op.String("mode");
  const ElementType type = op.type(1);
  if (type != ElementType::kDynamic && (type == ElementType::kBoolean) != (mode == "mask")) {
    op.Error(kOpsetElementType, "{} has the element type {}; expected {} in mode `{}`", op.InputName(1),
             Name(type), mode == "mask" ? "boolean" : "an integer", mode);
    return;
  }
  if (data.rank_known() && mode == "index") {
    const std::optional<std::vector<int64_t>> axes = op.Integers(1);
    if (axes && !op.NormalizeAxes(*axes, data.rank())) return;
  } else if (data.rank_known() && op.shape(1).rank_known() && op.shape(1).rank() == 1 &&
             !op.shape(1)[0].Compatible(Dim(data.rank()))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected an item for each axis of {}", op.InputName(1),
             ToString(op.shape(1)), ToString(data));
    return;
  }
  op.Set(op.type(0), data);
}

// Roll-7: one shift for each axis, or one for all; axes may be repeated.
void InferRoll(OpContext& op) {
  const std::optional<std::vector<int64_t>> axes = op.Integers(2);
  if (axes && op.shape(0).rank_known()) {
    for (int64_t axis : *axes) {
      if (!op.NormalizeAxis(axis, op.shape(0).rank())) return;
    }
  }
  const bool has_list = op.shape(1).rank_known() && op.shape(1).rank() == 1;
  if (has_list && !Merge(op.shape(1), op.shape(2))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected that of the axes, {}", op.InputName(1),
             ToString(op.shape(1)), ToString(op.shape(2)));
    return;
  }
  op.Set(op.type(0), op.shape(0));
}

// ExtractImagePatches-3: [batch, rows * columns * channels, windows..].
void InferExtractImagePatches(OpContext& op) {
  const std::vector<int64_t> sizes = op.Ints("sizes");
  const std::vector<int64_t> strides = op.Ints("strides");
  const std::vector<int64_t> rates = op.Ints("rates");
  for (const std::vector<int64_t>& list : {sizes, strides, rates}) {
    const bool fits = list.size() == 2 && std::all_of(list.begin(), list.end(), [](int64_t item) {
                        return item >= 1 && item <= (int64_t{1} << 30);
                      });
    if (fits) continue;
    op.Error(kOpsetAttributeValue, "`sizes`, `strides` and `rates` of `ExtractImagePatches` need two items");
    return;
  }
  PartialShape shape = op.shape(0).rank_known() ? op.shape(0) : PartialShape::OfRank(4);
  shape.set(1, MultiplyOrAny(shape[1], Dim(SaturatingMultiply(sizes[0], sizes[1]))));
  for (size_t i = 0; i < 2; ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const int64_t reach = SaturatingAdd(SaturatingMultiply(sizes[i] - 1, rates[i]), 1);
    const auto places = [&](int64_t extent) {
      if (op.String("auto_pad") != "valid") return static_cast<int64_t>(CeilDiv(extent, strides[i]));
      return extent < reach ? 0 : (extent - reach) / strides[i] + 1;
    };
    const Dim extent = shape[axis];
    shape.set(axis, Dim(places(extent.min), extent.max == Dim::kUnbounded ? extent.max : places(extent.max)));
  }
  op.Set(op.type(0), shape);
}

// Returns two items that are at least `lowest`; emits kOpsetAttributeValue otherwise.
std::optional<std::vector<int64_t>> PairOf(OpContext& op, std::string_view name, int64_t lowest) {
  const std::vector<int64_t> list = op.node().Ints(name, 2);
  if (list.size() == 2 && std::min(list[0], list[1]) >= lowest &&
      std::max(list[0], list[1]) <= (int64_t{1} << 30))
    return list;
  op.Error(kOpsetAttributeValue, "`{}` of `{}` has {} items; expected two that are at least {}", name,
           op.node().type(), list.size(), lowest);
  return std::nullopt;
}

// Col2Im-15: columns [batch, channels * kernel, windows] become an image [batch, channels, height, width].
void InferCol2Im(OpContext& op) {
  const std::optional<std::vector<int64_t>> size = op.Integers(1);
  const std::optional<std::vector<int64_t>> kernel = op.Integers(2);
  const auto strides = PairOf(op, "strides", 1), dilations = PairOf(op, "dilations", 1);
  const auto begin = PairOf(op, "pads_begin", 0), end = PairOf(op, "pads_end", 0);
  if (!strides || !dilations || !begin || !end) return;
  for (int32_t input : {1, 2}) {
    const std::optional<std::vector<int64_t>>& list = input == 1 ? size : kernel;
    if (!list || (list->size() == 2 && std::min((*list)[0], (*list)[1]) >= 1)) continue;
    op.Error(kOpsetConstantInput, "{} has {} items; expected two positive ones", op.InputName(input),
             list->size());
    return;
  }
  const PartialShape& data = op.shape(0);
  const Dim height = size ? Dim((*size)[0]) : Dim(), width = size ? Dim((*size)[1]) : Dim();
  if (!data.rank_known()) return op.Set(op.type(0), PartialShape());
  const int64_t rank = data.rank();
  Dim channels;
  if (kernel && data[rank - 2].known()) {
    const int64_t product = SaturatingMultiply((*kernel)[0], (*kernel)[1]);
    if (data[rank - 2].value() % product != 0) {
      op.Error(kOpsetExtent,
               "{} has the shape {}; expected a multiple of {}, the elements of the kernel, along axis {}",
               op.InputName(0), ToString(data), product, rank - 2);
      return;
    }
    channels = Dim(data[rank - 2].value() / product);
  }
  if (size && kernel) {
    int64_t windows = 1;
    for (size_t i = 0; i < 2; ++i) {
      const WindowAxis axis{.size = (*kernel)[i],
                            .stride = (*strides)[i],
                            .dilation = (*dilations)[i],
                            .padding = std::pair((*begin)[i], (*end)[i])};
      const std::optional<Dim> places = WindowPlaces(Dim((*size)[i]), axis);
      windows = SaturatingMultiply(windows, places ? places->value() : 0);
    }
    if (!data[rank - 1].Compatible(Dim(windows))) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected {} windows along axis {}", op.InputName(0),
               ToString(data), windows, rank - 1);
      return;
    }
  }
  if (rank == 2) return op.Set(op.type(0), PartialShape{channels, height, width});
  op.Set(op.type(0), PartialShape{data[0], channels, height, width});
}

}  // namespace

std::vector<OpInfo> RearrangingRows() {
  const std::vector<AttributeInfo> blocks{
      {"mode", AttributeKind::kString, std::nullopt, {"blocks_first", "depth_first"}},
      Positive({"block_size", AttributeKind::kInt, 1})};
  return {
      MakeRow({.set = "opset1",
               .name = "DepthToSpace",
               .inputs = {"data: 3.."},
               .attributes = blocks,
               .infer = Infer<InferDepthToSpace>}),
      MakeRow({.set = "opset1",
               .name = "SpaceToDepth",
               .inputs = {"data: 3.."},
               .attributes = blocks,
               .infer = Infer<InferSpaceToDepth>}),
      MakeRow({.set = "opset2",
               .name = "BatchToSpace",
               .inputs = {"data: 2..", "block_shape: integer 1", "crops_begin: integer 1",
                          "crops_end: integer 1"},
               .infer = Infer<InferBatchToSpace>}),
      MakeRow(
          {.set = "opset2",
           .name = "SpaceToBatch",
           .inputs = {"data: 2..", "block_shape: integer 1", "pads_begin: integer 1", "pads_end: integer 1"},
           .infer = Infer<InferSpaceToBatch>}),
      MakeRow({.set = "opset1",
               .name = "ShuffleChannels",
               .inputs = {"data: 1.."},
               .attributes = {{"axis", AttributeKind::kInt, 1}, Positive({"group", AttributeKind::kInt, 1})},
               .infer = Infer<InferShuffleChannels>,
               .rearrangement = Rearrangement::kShuffleChannels}),
      MakeRow({.set = "opset1",
               .name = "ReverseSequence",
               .inputs = {"data: 2..", "seq_lengths: integer 1"},
               .attributes = {{"batch_axis", AttributeKind::kInt, 0}, {"seq_axis", AttributeKind::kInt, 1}},
               .infer = Infer<InferReverseSequence>}),
      MakeRow({.set = "opset1",
               .name = "Reverse",
               .inputs = {"data: 1..", "reversed_axes: bits 1"},
               .attributes = {{"mode", AttributeKind::kString, std::nullopt, {"index", "mask"}}},
               .infer = Infer<InferReverse>}),
      MakeRow({.set = "opset7",
               .name = "Roll",
               .inputs = {"data: 1..", "shift: index 0..1", "axes: index 0..1"},
               .infer = Infer<InferRoll>}),
      MakeRow(
          {.set = "opset3",
           .name = "ExtractImagePatches",
           .inputs = {"image: number 4"},
           .attributes =
               {Positive({"sizes", AttributeKind::kInts}),
                Positive({"strides", AttributeKind::kInts}),
                Positive({"rates", AttributeKind::kInts}),
                {"auto_pad", AttributeKind::kString, std::nullopt, {"valid", "same_upper", "same_lower"}}},
           .infer = Infer<InferExtractImagePatches>}),
      MakeRow({.set = "opset15",
               .name = "Col2Im",
               .inputs = {"data: number 2..3", "output_size: index 1", "kernel_size: index 1"},
               .attributes = {OnEachAxis("strides", 1), OnEachAxis("dilations", 1),
                              OnEachAxis("pads_begin", 0), OnEachAxis("pads_end", 0)},
               .infer = Infer<InferCol2Im>}),
  };
}

}  // namespace nnefc::ir::ops::opset

// Shape inference of NNEF's operations that split, join, slice, pad, tile or gather tensors.

#include <algorithm>

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/opset/dims.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"
#include "compiler/ir/ops/shapes/slice_shape.h"
#include "compiler/ir/wording.h"

namespace nnefc::ir::ops {

namespace {

// ---- split, concat, stack, unstack (R 4.5.3) ----

// Returns the sum of `ratios`; split.ratios: all are positive.
std::optional<int64_t> SumOfRatios(InferContext& context, llvm::ArrayRef<int64_t> ratios) {
  Wide sum = 0;
  for (size_t i = 0; i < ratios.size(); ++i) {
    if (ratios[i] <= 0) {
      context.Error(kSplitRatios, "{} is {}; expected a positive number", Describe(context, "ratios", i),
                    ratios[i]);
      return std::nullopt;
    }
    sum += ratios[i];
  }
  const std::optional<int64_t> narrow = NarrowExtent(sum);
  if (!narrow || ratios.empty()) {
    context.Error(kSplitRatios, "{} {}", Describe(context, "ratios"),
                  ratios.empty() ? "is empty" : "has too large a sum");
    return std::nullopt;
  }
  return narrow;
}

bool CheckResultCount(InferContext& context, size_t expected) {
  if (static_cast<size_t>(context.node().num_outputs()) == expected) return true;
  context.Error(kArity, "`{}` has {} results; expected {}", OperationName(context.node()),
                context.node().num_outputs(), expected);
  return false;
}

// Infers s_i = mu * r_i. mu is the extent divided by the sum of ratios, without remainder.
void InferSplit(InferContext& context) {
  const Output value = context.input(0);
  const Attribute::Integers ratios = context.attribute("ratios").AsInts();
  const std::optional<int64_t> sum = SumOfRatios(context, ratios);
  if (!sum || !CheckResultCount(context, ratios.size())) return;
  const int64_t axis = context.attribute("axis").AsInt();
  if (value.shape.rank_known() && !CheckAxis(context, "axis", axis, value.shape.rank())) return;
  for (size_t i = 0; i < ratios.size(); ++i) {
    PartialShape shape = value.shape;
    if (shape.rank_known()) {
      const std::optional<Dim> unit = opset::DivideExactly(shape[axis], *sum);
      if (!unit) {
        context.Error(kSplitRatios, "the sum {} of {} does not divide the extent {} of axis {}", *sum,
                      Describe(context, "ratios"), opset::ExtentText(shape[axis]), axis);
        return;
      }
      // A known part is at most the extent, since a ratio is at most the sum.
      shape.set(axis, Multiply(*unit, Dim(ratios[i])).value_or(Dim()));
    }
    Produce(context, static_cast<int32_t>(i), value.type, std::move(shape));
  }
}

// concat.empty: at least one value.
bool CheckNotEmpty(InferContext& context) {
  if (context.num_inputs() > 0) return true;
  context.Error(kConcatEmpty, "{} is empty", Describe(context, "values"));
  return false;
}

// concat.rank, concat.extents: equal extents except along the axis.
void InferConcat(InferContext& context) {
  if (!CheckNotEmpty(context)) return;
  PartialShape shape = context.input(0).shape;
  if (!shape.rank_known()) return Produce(context, 0, context.input(0).type, PartialShape());
  const int64_t axis = context.attribute("axis").AsInt();
  if (!CheckAxis(context, "axis", axis, shape.rank())) return;
  for (int32_t i = 1; i < context.num_inputs(); ++i) {
    const PartialShape& next = context.input(i).shape;
    if (!next.rank_known()) return Produce(context, 0, context.input(0).type, PartialShape());
    if (next.rank() != shape.rank()) {
      context.Error(kConcatRank, "{} has rank {}; expected {}", Describe(context, 0, i), next.rank(),
                    shape.rank());
      return;
    }
    for (int64_t k = 0; k < shape.rank(); ++k) {
      const std::optional<Dim> dim = k == axis ? Add(shape[k], next[k]) : Merge(shape[k], next[k]);
      if (dim) {
        shape.set(k, *dim);
        continue;
      }
      if (k == axis) {
        context.Error(kShapeOverflow, "the result of `concat` has too many elements along axis {}", axis);
      } else {
        context.Error(kConcatExtents, "{} has shape {}; expected the extents of {} but for axis {}",
                      Describe(context, 0, i), ToString(next), ToString(shape), axis);
      }
      return;
    }
  }
  Produce(context, 0, context.input(0).type, std::move(shape));
}

// stack.shapes: all shapes are equal; the extent of the new axis is the number of values.
void InferStack(InferContext& context) {
  if (!CheckNotEmpty(context)) return;
  PartialShape shape = context.input(0).shape;
  if (!shape.rank_known()) return Produce(context, 0, context.input(0).type, PartialShape());
  const int64_t axis = context.attribute("axis").AsInt();
  if (!CheckAxis(context, "axis", axis, shape.rank() + 1)) return;
  for (int32_t i = 1; i < context.num_inputs(); ++i) {
    const PartialShape& next = context.input(i).shape;
    if (!next.rank_known()) continue;
    bool equal = next.rank() == shape.rank();
    for (int64_t k = 0; equal && k < shape.rank(); ++k) {
      const std::optional<Dim> dim = Merge(shape[k], next[k]);
      equal = dim.has_value();
      if (dim) shape.set(k, *dim);
    }
    if (equal) continue;
    context.Error(kStackShapes, "{} has shape {}; expected {}", Describe(context, 0, i), ToString(next),
                  ToString(shape));
    return;
  }
  llvm::SmallVector<Dim, 8> dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin() + axis, Dim(context.num_inputs()));
  Produce(context, 0, context.input(0).type, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// unstack.count: one result for every item along the axis.
void InferUnstack(InferContext& context) {
  const Output value = context.input(0);
  PartialShape shape;
  if (value.shape.rank_known()) {
    const int64_t axis = context.attribute("axis").AsInt();
    if (!CheckAxis(context, "axis", axis, value.shape.rank())) return;
    if (!value.shape[axis].Compatible(Dim(context.node().num_outputs()))) {
      context.ErrorAt(
          {kResultsPlace, OperationName(context.node())}, kUnstackCount,
          "the left side has {} items; `unstack` makes {}, since {} has shape {} and `axis` is {}",
          context.node().num_outputs(), value.shape[axis].min, Describe(context, 0), ToString(value.shape),
          axis);
      return;
    }
    llvm::SmallVector<Dim, 8> dims(value.shape.dims().begin(), value.shape.dims().end());
    dims.erase(dims.begin() + axis);
    shape = PartialShape(llvm::ArrayRef<Dim>(dims));
  }
  for (int32_t i = 0; i < context.node().num_outputs(); ++i) Produce(context, i, value.type, shape);
}

// ---- slice (R 4.5.4) ----

// slice.lengths: lists of equal length. slice.stride: strides are not zero.
bool CheckSliceLists(InferContext& context) {
  const size_t count = context.attribute("axes").ListSize();
  for (const char* name : {"begin", "end"}) {
    const size_t length = context.attribute(name).ListSize();
    if (length == count) continue;
    context.Error(kSliceLengths, "{} has {} items; expected {}, as `axes` has", Describe(context, name),
                  length, count);
    return false;
  }
  const Attribute::Integers stride = context.attribute("stride").AsInts();
  if (!stride.empty() && stride.size() != count) {
    context.Error(kSliceLengths, "{} has {} items; expected {} or none", Describe(context, "stride"),
                  stride.size(), count);
    return false;
  }
  const auto zero = std::find(stride.begin(), stride.end(), 0);
  if (zero == stride.end()) return true;
  context.Error(kSliceStride, "{} is 0",
                Describe(context, "stride", static_cast<size_t>(zero - stride.begin())));
  return false;
}

void InferSlice(InferContext& context) {
  const Output& input = context.input(0);
  if (!CheckSliceLists(context)) return;
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  if (!CheckAxes(context, "axes", axes, input.shape.rank())) return;
  const std::vector<SliceAxis> slices = SliceAxesOf(context.node());
  PartialShape output = input.shape;
  for (size_t i = 0; i < slices.size(); ++i) {
    const Dim extent = input.shape[axes[i]];
    const std::optional<Dim> sliced = SlicedExtent(extent, slices[i]);
    if (!sliced) {
      context.ErrorAt(Describe(context, "end").At(i), kSliceRange,
                      "`slice` from {} to {} by {} has no items in order along axis {} of shape {}",
                      slices[i].begin, slices[i].to_end ? "the end" : fmt::format("{}", slices[i].end),
                      slices[i].stride, axes[i], ToString(input.shape));
      return;
    }
    output.set(axes[i], *sliced);
  }
  Produce(context, 0, input.type, std::move(output));
}

// ---- pad, tile, gather (R 4.5.5, R 4.5.6, R 4.5.7) ----

// pad.border-reach: 'reflect' and 'reflect-even' reflect once.
bool CheckPadReach(InferContext& context, int64_t axis, Dim extent, std::pair<int64_t, int64_t> padding) {
  const std::string& border = context.attribute("border").AsString();
  if (!extent.known() || (border != "reflect" && border != "reflect-even")) return true;
  const int64_t reach = border == "reflect" ? extent.min - 1 : extent.min;
  const int64_t longest = std::max(padding.first, padding.second);
  if (longest <= reach) return true;
  context.Error(kPadReach, "{} is ({},{}); border '{}' reaches at most {} elements",
                Describe(context, "padding", static_cast<size_t>(axis)), padding.first, padding.second,
                border, std::max<int64_t>(reach, 0));
  return false;
}

void InferPad(InferContext& context) {
  const Output& input = context.input(0);
  if (!CheckChoice(context, kPadBorder, "border", kBorders)) return;
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const auto padding = context.attribute("padding").AsPairs();
  if (padding.size() != static_cast<size_t>(input.shape.rank())) {
    context.Error(kPadLength, "{} has {} items; expected {}, the rank of `input`",
                  Describe(context, "padding"), padding.size(), input.shape.rank());
    return;
  }
  PartialShape output = input.shape;
  for (int64_t axis = 0; axis < output.rank(); ++axis) {
    const auto [p, q] = padding[static_cast<size_t>(axis)];
    const Dim extent = input.shape[axis];
    if (!CheckPadReach(context, axis, extent, {p, q})) return;
    const Wide total = Wide{p} + q;
    const bool positive = extent.max == Dim::kUnbounded || extent.max + total > 0;
    const std::optional<Dim> padded = MapDim(extent, [&](Wide x) { return std::max<Wide>(x + total, 0); });
    if (!positive || !padded) {
      context.Error(
          positive ? kShapeOverflow : kPadExtent, "{} is ({},{}), which leaves {} of an extent of {}",
          Describe(context, "padding", static_cast<size_t>(axis)), p, q,
          positive ? "too many elements" : "nothing", ToString(PartialShape(llvm::ArrayRef<Dim>(extent))));
      return;
    }
    output.set(axis, *padded);
  }
  Produce(context, 0, input.type, std::move(output));
}

// tile.repeats: a positive item for every axis.
void InferTile(InferContext& context) {
  const Output& input = context.input(0);
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const Attribute::Integers repeats = context.attribute("repeats").AsInts();
  if (repeats.size() != static_cast<size_t>(input.shape.rank())) {
    context.Error(kTileRepeats, "{} has {} items; expected {}, the rank of `input`",
                  Describe(context, "repeats"), repeats.size(), input.shape.rank());
    return;
  }
  PartialShape output = input.shape;
  for (int64_t axis = 0; axis < output.rank(); ++axis) {
    const int64_t count = repeats[static_cast<size_t>(axis)];
    if (count <= 0) {
      context.Error(kTileRepeats, "{} is {}; expected a positive number",
                    Describe(context, "repeats", static_cast<size_t>(axis)), count);
      return;
    }
    const std::optional<Dim> extent = Multiply(input.shape[axis], Dim(count));
    if (!extent) {
      context.Error(kShapeOverflow, "the result of `tile` has too many elements along axis {}", axis);
      return;
    }
    output.set(axis, *extent);
  }
  Produce(context, 0, input.type, std::move(output));
}

// gather.index: known indices are in [0, extent). An axis of open extent is not checked: lenient mode leaves
// negative indices to the run.
bool CheckPlaces(InferContext& context, int64_t axis, Dim extent) {
  const std::optional<TensorValue>& indices = context.input(1).value;
  if (!indices || extent.max == Dim::kUnbounded) return true;
  for (int64_t i = 0; i < indices->volume(); ++i) {
    const int64_t index = indices->ElementAsInt(i);
    if (index < 0 && extent.known()) {
      context.Error(kGatherIndex, "{} holds {} (item {}); places along an axis are counted from 0",
                    Describe(context, 1), index, i);
    } else if (index >= extent.max) {
      context.Error(kGatherIndex, "{} holds {} (item {}); axis {} of `input` has places below {}",
                    Describe(context, 1), index, i, axis, extent.max);
    } else {
      continue;
    }
    return false;
  }
  return true;
}

// Infers a shape in which the extents of `indices` replace the axis.
void InferGather(InferContext& context) {
  const Output& input = context.input(0);
  const PartialShape& indices = context.input(1).shape;
  if (!input.shape.rank_known() || !indices.rank_known())
    return Produce(context, 0, input.type, PartialShape());
  const int64_t axis = context.attribute("axis").AsInt();
  if (!CheckAxis(context, "axis", axis, input.shape.rank())) return;
  if (!CheckPlaces(context, axis, input.shape[axis])) return;
  llvm::SmallVector<Dim, 8> dims(input.shape.dims().begin(), input.shape.dims().end());
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, indices.dims().begin(), indices.dims().end());
  Produce(context, 0, input.type, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

}  // namespace

void RegisterSections(OpRegistry& registry) {
  const auto row = [&](std::string_view name, std::string_view section, const InferFunction& infer,
                       SignRule sign) {
    ops::AddRow(registry, {.name = name, .section = section, .infer = infer, .sign = sign});
  };
  ops::AddRow(registry, {.name = "split",
                         .section = "R 4.5.3",
                         .infer = ops::InferSplit,
                         .sign = SignRule::kNonNegativeIfFirst,
                         .provisional = ProvisionalForm::kAxis,
                         .results = ResultCount::kRatios});
  ops::AddRow(registry, {.name = "concat",
                         .section = "R 4.5.3",
                         .infer = ops::InferConcat,
                         .sign = SignRule::kNonNegativeIfAll,
                         .provisional = ProvisionalForm::kConcat});
  row("stack", "R 4.5.3", ops::InferStack, SignRule::kNonNegativeIfAll);
  ops::AddRow(registry, {.name = "unstack",
                         .section = "R 4.5.3",
                         .infer = ops::InferUnstack,
                         .sign = SignRule::kNonNegativeIfFirst,
                         .results = ResultCount::kExtent});
  row("slice", "R 4.5.4", ops::InferSlice, SignRule::kNonNegativeIfFirst);
  ops::AddRow(
      registry,
      {.name = "pad", .section = "R 4.5.5", .infer = ops::InferPad, .integers = IntegerResult::kWhole});
  row("tile", "R 4.5.6", ops::InferTile, SignRule::kNonNegativeIfFirst);
  row("gather", "R 4.5.7", ops::InferGather, SignRule::kNonNegativeIfFirst);
}

}  // namespace nnefc::ir::ops

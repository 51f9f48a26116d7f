// Shape inference of NNEF's reshape, squeeze, unsqueeze, transpose and cast.

#include <algorithm>

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"
#include "compiler/ir/wording.h"
#include "fmt/format.h"

namespace nnefc::ir::ops {

namespace {

// ---- reshape (R 4.5.1) ----

// The axes [begin, end) of the input that a `reshape` affects.
struct AxisRange {
  int64_t begin = 0;
  int64_t end = 0;
};

// reshape.axis-range: the affected axes exist.
std::optional<AxisRange> AffectedAxes(InferContext& context, int64_t rank) {
  const int64_t start = context.attribute("axis_start").AsInt();
  const int64_t count = context.attribute("axis_count").AsInt();
  if (start < 0 || start > rank) {
    context.Error(kReshapeRange, "{} is {}; expected 0 to {}, the rank of {}",
                  Describe(context, "axis_start"), start, rank, Describe(context, 0));
    return std::nullopt;
  }
  if (count < -1 || (count >= 0 && count > rank - start)) {
    context.Error(kReshapeRange, "{} is {}; expected -1 or 0 to {}, the number of axes from `axis_start` on",
                  Describe(context, "axis_count"), count, rank - start);
    return std::nullopt;
  }
  return AxisRange{start, count == -1 ? rank : start + count};
}

// reshape.items: items are non-negative, except for at most one -1.
bool CheckItems(InferContext& context, llvm::ArrayRef<int64_t> items, AxisRange range) {
  bool deduced = false;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i] < -1) {
      context.Error(kReshapeItems, "{} is {}; expected an extent, 0 or -1", Describe(context, "shape", i),
                    items[i]);
      return false;
    }
    if (items[i] == -1 && deduced) {
      context.Error(kReshapeItems, "{} contains -1 twice", Describe(context, "shape").At(i));
      return false;
    }
    deduced = deduced || items[i] == -1;
    if (items[i] == 0 && static_cast<int64_t>(i) >= range.end - range.begin) {
      context.Error(kReshapeInherit, "{} is 0, but `input` has no extent there to inherit",
                    Describe(context, "shape", i));
      return false;
    }
  }
  return true;
}

// Returns the product of extents, or nothing if one is unknown. Sets `overflow` if it does not fit.
std::optional<int64_t> Product(llvm::ArrayRef<Dim> dims, bool& overflow) {
  std::optional<Dim> product = Dim(1);
  for (Dim dim : dims) {
    if (!dim.known()) return std::nullopt;
    product = Multiply(*product, dim);
    if (!product) {
      overflow = true;
      return std::nullopt;
    }
  }
  return product->min;
}

// The dimensions after resolving 0 and -1. Inherited extents cancel out in the volumes, so they may be
// unknown.
struct Reshaped {
  llvm::SmallVector<Dim, 4> dims;
  llvm::SmallVector<Dim, 4> taken;  // extents of the input that are not inherited
  llvm::SmallVector<Dim, 4> given;  // positive items
  std::optional<size_t> deduced;    // the index of -1
};

Reshaped ReshapedDims(const PartialShape& input, llvm::ArrayRef<int64_t> items, AxisRange range) {
  Reshaped result;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i] > 0) result.given.push_back(Dim(items[i]));
    if (items[i] == -1) result.deduced = i;
    const bool inherited = items[i] == 0;
    result.dims.push_back(inherited ? input[range.begin + static_cast<int64_t>(i)]
                                    : Dim(std::max<int64_t>(items[i], 0)));
  }
  for (int64_t axis = range.begin; axis < range.end; ++axis) {
    const auto i = static_cast<size_t>(axis - range.begin);
    if (i >= items.size() || items[i] != 0) result.taken.push_back(input[axis]);
  }
  return result;
}

// reshape.volume: the volume is preserved. Resolves -1.
bool SettleVolume(InferContext& context, Reshaped& reshaped) {
  bool overflow = false;
  const std::optional<int64_t> taken = Product(reshaped.taken, overflow);
  const std::optional<int64_t> given = Product(reshaped.given, overflow);
  const Attribute::Integers shape = context.attribute("shape").AsInts();
  if (overflow) {
    context.Error(kShapeOverflow, "{} has too many elements", Describe(context, "shape"));
    return false;
  }
  if (!taken || !given) {
    if (reshaped.deduced) reshaped.dims[*reshaped.deduced] = Dim();
    return true;
  }
  const bool fits = reshaped.deduced ? *taken % *given == 0 : *taken == *given;
  if (!fits) {
    context.Error(kReshapeVolume, "{} is [{}], which does not fit {} of shape {}", Describe(context, "shape"),
                  fmt::join(shape, ","), Describe(context, 0), ToString(context.input(0).shape));
    return false;
  }
  if (reshaped.deduced) reshaped.dims[*reshaped.deduced] = Dim(*taken / *given);
  return true;
}

void InferReshape(InferContext& context) {
  const Output& input = context.input(0);
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const std::optional<AxisRange> range = AffectedAxes(context, input.shape.rank());
  if (!range) return;
  const Attribute::Integers items = context.attribute("shape").AsInts();
  if (!CheckItems(context, items, *range)) return;
  Reshaped reshaped = ReshapedDims(input.shape, items, *range);
  if (!SettleVolume(context, reshaped)) return;
  llvm::SmallVector<Dim, 8> dims;
  for (int64_t axis = 0; axis < range->begin; ++axis) dims.push_back(input.shape[axis]);
  dims.append(reshaped.dims.begin(), reshaped.dims.end());
  for (int64_t axis = range->end; axis < input.shape.rank(); ++axis) dims.push_back(input.shape[axis]);
  Produce(context, 0, input.type, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// ---- squeeze, unsqueeze (R 4.5.1), transpose (R 4.5.2) ----

// squeeze.singular: removed extents are 1.
void InferSqueeze(InferContext& context) {
  const Output& input = context.input(0);
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  if (!CheckAxes(context, "axes", axes, input.shape.rank())) return;
  llvm::SmallVector<bool, 8> removed(static_cast<size_t>(input.shape.rank()), false);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i];
    removed[static_cast<size_t>(axis)] = true;
    if (input.shape[axis].Compatible(Dim(1))) continue;
    context.ErrorAt(Describe(context, "axes").At(i), kSqueezeSingular,
                    "{} has shape {}; expected extent 1 along the squeezed axis {}", Describe(context, 0),
                    ToString(input.shape), axis);
    return;
  }
  llvm::SmallVector<Dim, 8> dims;
  for (int64_t axis = 0; axis < input.shape.rank(); ++axis) {
    if (!removed[static_cast<size_t>(axis)]) dims.push_back(input.shape[axis]);
  }
  Produce(context, 0, input.type, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// Infers `unsqueeze`; `axes` are those of the result.
void InferUnsqueeze(InferContext& context) {
  const Output& input = context.input(0);
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  const int64_t rank = input.shape.rank() + static_cast<int64_t>(axes.size());
  if (!CheckAxes(context, "axes", axes, rank)) return;
  llvm::SmallVector<bool, 8> inserted(static_cast<size_t>(rank), false);
  for (int64_t axis : axes) inserted[static_cast<size_t>(axis)] = true;
  PartialShape output = PartialShape::OfRank(rank);
  int64_t source = 0;
  for (int64_t axis = 0; axis < rank; ++axis) {
    output.set(axis, inserted[static_cast<size_t>(axis)] ? Dim(1) : input.shape[source++]);
  }
  Produce(context, 0, input.type, std::move(output));
}

// transpose.axes: a permutation of the first axes; the other axes are unchanged.
void InferTranspose(InferContext& context) {
  const Output& input = context.input(0);
  if (!input.shape.rank_known()) return Produce(context, 0, input.type, PartialShape());
  const Attribute::Integers axes = context.attribute("axes").AsInts();
  const auto count = static_cast<int64_t>(axes.size());
  if (count > input.shape.rank()) {
    context.Error(kTransposeAxes, "{} has {} items; expected at most {}, the rank of `input`",
                  Describe(context, "axes"), count, input.shape.rank());
    return;
  }
  llvm::SmallVector<bool, 8> seen(axes.size(), false);
  PartialShape output = input.shape;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t axis = axes[static_cast<size_t>(i)];
    if (axis < 0 || axis >= count || seen[static_cast<size_t>(axis)]) {
      context.Error(kTransposeAxes, "{} is not a permutation of 0 to {}: `{}[{}]` is {}",
                    Describe(context, "axes"), count - 1, ArgumentName(context.node(), "axes"), i, axis);
      return;
    }
    seen[static_cast<size_t>(axis)] = true;
    output.set(i, input.shape[axis]);
  }
  Produce(context, 0, input.type, std::move(output));
}

// Infers `cast` (R 4.5.8): its type is that of the generic argument.
void InferCast(InferContext& context) {
  const std::optional<ElementType> type = DataTypeAttribute(context);
  if (!type) return;
  if (*type == ElementType::kString || context.input(0).type == ElementType::kString) {
    context.Error(kDataType, "`cast` from {} to {}: expected scalar, integer or logical",
                  DataTypeName(context.input(0).type), DataTypeName(*type));
    return;
  }
  Produce(context, 0, *type, context.input(0).shape);
}

}  // namespace

void RegisterShapeOps(OpRegistry& registry) {
  const auto row = [&](std::string_view name, std::string_view section, const InferFunction& infer,
                       OpRole role, SignRule sign, ProvisionalForm provisional = ProvisionalForm::kSame) {
    ops::AddRow(registry, {.name = name,
                           .section = section,
                           .infer = infer,
                           .role = role,
                           .sign = sign,
                           .provisional = provisional});
  };
  row("reshape", "R 4.5.1", ops::InferReshape, OpRole::kNnefView, SignRule::kNonNegativeIfFirst,
      ProvisionalForm::kReshape);
  row("squeeze", "R 4.5.1", ops::InferSqueeze, OpRole::kNnefView, SignRule::kNonNegativeIfFirst);
  row("unsqueeze", "R 4.5.1", ops::InferUnsqueeze, OpRole::kNnefView, SignRule::kNonNegativeIfFirst);
  row("transpose", "R 4.5.2", ops::InferTranspose, OpRole::kComputation, SignRule::kNonNegativeIfFirst,
      ProvisionalForm::kPerm);
  ops::AddRow(
      registry,
      {.name = "cast", .section = "R 4.5.8", .infer = ops::InferCast, .narrow = NarrowIntegers::kReplaced});
}

}  // namespace nnefc::ir::ops

// Shape inference of OpenVINO's Reshape, Squeeze, Unsqueeze, Transpose and ShapeOf. Known values are
// forwarded.

#include <algorithm>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// Forwards a value that only changes its shape; the bytes are shared. The output of the node may be missing.
void ForwardValue(OpContext& op) {
  if (op.node().num_outputs() == 0) return;
  const std::optional<TensorValue>& value = op.input(0).value;
  const std::optional<Shape> extents = op.node().output().shape.extents();
  if (value && extents && Volume(*extents) == value->volume()) op.SetValue(0, value->Reshaped(*extents));
}

// Returns the product of the dims; unknown extents yield an interval.
Dim Product(llvm::ArrayRef<Dim> dims) {
  Dim product(1);
  for (Dim dim : dims) product = MultiplyOrAny(product, dim);
  return product;
}

// Returns the extent for the `-1` of a Reshape. Copied extents ("0") cancel out, so they may be unknown.
std::optional<Dim> InferredExtent(OpContext& op, const std::vector<int64_t>& target, bool special_zero) {
  const PartialShape& data = op.shape(0);
  if (!data.rank_known()) return Dim();
  llvm::SmallVector<Dim, 4> rest;
  int64_t given = 1;
  for (int64_t i = 0; i < std::max<int64_t>(data.rank(), static_cast<int64_t>(target.size())); ++i) {
    const bool copied =
        special_zero && i < static_cast<int64_t>(target.size()) && target[static_cast<size_t>(i)] == 0;
    if (copied) continue;
    if (i < data.rank()) rest.push_back(data[i]);
    if (i < static_cast<int64_t>(target.size()) && target[static_cast<size_t>(i)] >= 0) {
      given = SaturatingMultiply(given, target[static_cast<size_t>(i)]);
    }
  }
  const Dim volume = Product(rest);
  if (given == 0 && volume.min == 0) return volume.known() ? Dim(0) : Dim();
  const std::optional<Dim> extent = given > 0 ? DivideExactly(volume, given) : std::nullopt;
  if (!extent)
    op.Error(kOpsetExtent, "`Reshape` divides {} elements by {} elements", ExtentText(volume), given);
  return extent;
}

// Reshape-1: -1 is the remaining extent; 0 copies the extent if `special_zero`.
void InferReshape(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const bool special_zero = op.Bool("special_zero");
  const std::optional<std::vector<int64_t>> target = op.Integers(1);
  if (!target) {
    const bool rank_known =
        op.shape(1).rank_known() && op.shape(1)[0].known() && op.shape(1)[0].value() <= 1024;
    return op.Set(op.type(0), rank_known ? PartialShape::OfRank(op.shape(1)[0].value()) : PartialShape());
  }
  PartialShape shape = PartialShape::OfRank(static_cast<int64_t>(target->size()));
  int64_t inferred_axis = -1;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const int64_t item = (*target)[static_cast<size_t>(i)];
    if (item < -1 || (item == -1 && inferred_axis >= 0)) {
      op.Error(kOpsetConstantInput, "{} has {}", op.InputName(1),
               item == -1 ? "a second item -1" : "a negative item");
      return;
    }
    if (item == -1) {
      inferred_axis = i;
    } else if (item == 0 && special_zero) {
      if (data.rank_known() && i >= data.rank()) {
        op.Error(kOpsetConstantInput, "{} copies extent {} of a tensor of rank {}", op.InputName(1), i,
                 data.rank());
        return;
      }
      shape.set(i, data.rank_known() ? data[i] : Dim());
    } else {
      shape.set(i, item);
    }
  }
  if (inferred_axis >= 0) {
    const std::optional<Dim> extent = InferredExtent(op, *target, special_zero);
    if (!extent) return;
    shape.set(inferred_axis, *extent);
  }
  if (data.known() && shape.known() && data.volume() != shape.volume()) {
    op.Error(kOpsetExtent, "{} has the shape {}, which does not fit {}", op.InputName(0), ToString(data),
             ToString(shape));
    return;
  }
  op.Set(op.type(0), shape);
  ForwardValue(op);
}

// Squeeze: removes the given axes, or all axes of extent 1. Squeeze-15 may skip axes of another extent.
void InferSqueeze(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const bool may_skip = op.node().set() == "opset15" && op.Bool("allow_axis_skip");
  const std::optional<std::vector<int64_t>> given =
      op.has_input(1) ? op.Integers(1) : std::optional(std::vector<int64_t>{});
  if (!data.rank_known() || !given) return op.Set(op.type(0), PartialShape());
  const std::optional<std::vector<int64_t>> axes = op.NormalizeAxes(*given, data.rank());
  if (!axes) return;
  if (axes->empty() && std::any_of(data.dims().begin(), data.dims().end(),
                                   [](Dim dim) { return !dim.known() && dim.Compatible(Dim(1)); })) {
    return op.Set(op.type(0), PartialShape());
  }
  llvm::SmallVector<Dim, 4> dims;
  for (int64_t i = 0; i < data.rank(); ++i) {
    const bool named = std::find(axes->begin(), axes->end(), i) != axes->end();
    if (named && may_skip && !data[i].known() && data[i].Compatible(Dim(1))) {
      return op.Set(op.type(0), PartialShape());
    }
    if (named && !may_skip && !data[i].Compatible(Dim(1))) {
      op.Error(kOpsetExtent, "`Squeeze` removes axis {} of {}", i, ToString(data));
      return;
    }
    const bool removed = named ? data[i].Compatible(Dim(1)) : axes->empty() && data[i] == Dim(1);
    if (!removed) dims.push_back(data[i]);
  }
  op.Set(op.type(0), PartialShape(dims));
  ForwardValue(op);
}

// Unsqueeze-1: the axes are those of the output.
void InferUnsqueeze(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const std::optional<std::vector<int64_t>> given = op.Integers(1);
  if (given && given->empty()) {
    op.Error(kOpsetConstantInput, "{} has 0 items; expected at least 1", op.InputName(1));
    return;
  }
  if (!data.rank_known() || !given) return op.Set(op.type(0), PartialShape());
  const int64_t rank = data.rank() + static_cast<int64_t>(given->size());
  const std::optional<std::vector<int64_t>> axes = op.NormalizeAxes(*given, rank);
  if (!axes) return;
  PartialShape shape = PartialShape::OfRank(rank);
  int64_t source = 0;
  for (int64_t i = 0; i < rank; ++i) {
    const bool added = std::find(axes->begin(), axes->end(), i) != axes->end();
    shape.set(i, added ? Dim(1) : data[source]);
    if (!added) ++source;
  }
  op.Set(op.type(0), shape);
  ForwardValue(op);
}

void InferIdentity(OpContext& op) {
  op.Set(op.type(0), op.shape(0));
  ForwardValue(op);
}

// Transpose-1: an empty order reverses the axes.
void InferTranspose(OpContext& op) {
  const PartialShape& data = op.shape(0);
  std::optional<std::vector<int64_t>> order = op.Integers(1);
  const Dim items = op.shape(1).rank_known() ? op.shape(1)[0] : Dim();
  if (data.rank_known() && !items.Compatible(Dim(data.rank())) && !items.Compatible(Dim(0))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected [{}]", op.InputName(1), ToString(op.shape(1)),
             data.rank());
    return;
  }
  if (!data.rank_known() || !order) {
    return op.Set(op.type(0), data.rank_known() ? PartialShape::OfRank(data.rank()) : PartialShape());
  }
  if (order->empty()) {
    for (int64_t i = data.rank(); i > 0; --i) order->push_back(i - 1);
  }
  const std::optional<std::vector<int64_t>> axes = op.NormalizeAxes(*order, data.rank());
  if (!axes) return;
  PartialShape shape = PartialShape::OfRank(data.rank());
  for (int64_t i = 0; i < data.rank(); ++i) shape.set(i, data[(*axes)[static_cast<size_t>(i)]]);
  op.Set(op.type(0), shape);
}

// ShapeOf: the value is known at compile time if all extents are.
template <bool kTyped>
void InferShapeOf(OpContext& op) {
  const ElementType type = kTyped ? op.Type("output_type") : ElementType::kI64;
  if (type != ElementType::kI32 && type != ElementType::kI64) {
    op.Error(kOpsetElementType, "`output_type` of `ShapeOf` is {}; expected i32 or i64", Name(type));
    return;
  }
  const PartialShape& data = op.shape(0);
  const Dim rank = data.rank_known() ? Dim(data.rank()) : Dim();
  op.Set(type, PartialShape(llvm::ArrayRef<Dim>(rank)));
  const std::optional<Shape> extents = data.extents();
  if (!extents) return;
  TensorValue value = TensorValue::FromInts({data.rank()}, *extents);
  op.SetValue(0, type == ElementType::kI64 ? value : value.ConvertedTo(type));
}

}  // namespace

std::vector<OpInfo> ShapeOpsRows() {
  return {
      MakeRow({.set = "opset1",
               .name = "Reshape",
               .inputs = {"data", "shape: integer 1"},
               .attributes = {{"special_zero", AttributeKind::kBool, false}},
               .infer = Infer<InferReshape>,
               .role = OpRole::kView,
               .work = Work::kNone,
               .rearrangement = Rearrangement::kReshape}),
      MakeRow({.set = "opset1",
               .name = "Squeeze",
               .inputs = {"data", "axes?: integer 0..1"},
               .infer = Infer<InferSqueeze>,
               .role = OpRole::kView,
               .work = Work::kNone}),
      MakeRow({.set = "opset15",
               .name = "Squeeze",
               .inputs = {"data", "axes?: integer 0..1"},
               .attributes = {{"allow_axis_skip", AttributeKind::kBool, false}},
               .infer = Infer<InferSqueeze>,
               .role = OpRole::kView,
               .work = Work::kNone}),
      MakeRow({.set = "opset1",
               .name = "Unsqueeze",
               .inputs = {"data", "axes: integer 0..1"},
               .infer = Infer<InferUnsqueeze>,
               .role = OpRole::kView,
               .work = Work::kNone}),
      MakeRow({.set = "opset1",
               .name = "Transpose",
               .inputs = {"data", "order: integer 1"},
               .infer = Infer<InferTranspose>,
               .rearrangement = Rearrangement::kTranspose}),
      MakeRow({.set = "opset16", .name = "Identity", .inputs = {"data"}, .infer = Infer<InferIdentity>}),
      MakeRow({.set = "opset1",
               .name = "ShapeOf",
               .inputs = {"data"},
               .infer = Infer<InferShapeOf<false>>,
               .work = Work::kNone}),
      MakeRow({.set = "opset3",
               .name = "ShapeOf",
               .inputs = {"data"},
               .attributes = {{"output_type", AttributeKind::kType, ElementType::kI64}},
               .infer = Infer<InferShapeOf<true>>,
               .work = Work::kNone}),
  };
}

}  // namespace nnefc::ir::ops::opset

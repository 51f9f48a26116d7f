// Standard operations with tract's semantics, converted to operations with equal results.

#include "compiler/expand/vendor/meanings.h"

#include <algorithm>

#include "compiler/expand/generics.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/ops/windows/resolved_window.h"
#include "compiler/ir/ops/windows/sliding_window_shape.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::vendor {
namespace {

Value* Find(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, std::string_view parameter) {
  const int32_t index = plan.Find(parameter);
  return index < 0 ? nullptr : &arguments[static_cast<size_t>(index)];
}

Value List(llvm::ArrayRef<int64_t> items, Heap& heap) {
  std::vector<Value> values;
  for (int64_t item : items) values.push_back(Value::Integer(item));
  return Value::Array(heap, std::move(values));
}

// Returns the items of a list of integers; nothing if one is unknown.
std::optional<std::vector<int64_t>> Integers(const Value& list) {
  if (list.kind() != ValueKind::kArray) return std::nullopt;
  std::vector<int64_t> integers;
  for (const Value& item : list.items()) {
    if (item.kind() != ValueKind::kInteger) return std::nullopt;
    integers.push_back(item.integer());
  }
  return integers;
}

std::optional<Shape> ExtentsOf(const Value& value, build::GraphBuilder& builder) {
  if (value.kind() != ValueKind::kTensor) return std::nullopt;
  return builder.graph().output(value.port()).shape.extents();
}

// Converts filters of transposed convolutions: tract has the output channels first, [C, c/G, ..] for NNEF's
// [c, C/G, ..].
bool ReadFilter(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                build::GraphBuilder& builder) {
  Value *filter = Find(plan, arguments, "filter"), *count = Find(plan, arguments, "groups");
  if (filter == nullptr || count == nullptr) return true;
  const std::optional<Shape> shape = ExtentsOf(*filter, builder);
  if (!shape || shape->size() < 2 || count->kind() != ValueKind::kInteger) return true;
  const int64_t groups = std::max<int64_t>(count->integer(), 1);
  if ((*shape)[0] % groups != 0) return true;
  Heap& heap = builder.heap();
  const llvm::ArrayRef<int64_t> spatial = llvm::ArrayRef<int64_t>(*shape).drop_front(2);
  Shape split = {groups, (*shape)[0] / groups, (*shape)[1]}, joined = {groups * (*shape)[1], split[1]};
  split.append(spatial.begin(), spatial.end());
  joined.append(spatial.begin(), spatial.end());
  if (groups > 1) *filter = builder.MakeRatified("reshape", {*filter, List(split, heap)}, site);
  if (filter->poison()) return false;
  const Value order = groups > 1 ? List({0, 2, 1}, heap) : List({1, 0}, heap);
  *filter = builder.MakeRatified("transpose", {*filter, order}, site);
  if (groups > 1 && !filter->poison())
    *filter = builder.MakeRatified("reshape", {*filter, List(joined, heap)}, site);
  return !filter->poison();
}

// Reads `output_shape` of transposed convolutions: tract has the extents of the spatial axes alone. `filter`
// has the order of NNEF.
void ReadOutputShape(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments,
                     build::GraphBuilder& builder) {
  Value* list = Find(plan, arguments, "output_shape");
  const Value *filter = Find(plan, arguments, "filter"), *groups = Find(plan, arguments, "groups");
  if (list == nullptr || filter == nullptr || groups == nullptr) return;
  std::optional<std::vector<int64_t>> extents = Integers(*list);
  const std::optional<Shape> input = ExtentsOf(arguments[0], builder), shape = ExtentsOf(*filter, builder);
  if (!extents || extents->empty() || !input || !shape || shape->size() < 2) return;
  if (extents->size() + 2 != input->size()) return;
  const int64_t channels = (*shape)[1] * std::max<int64_t>(groups->integer(), 1);
  extents->insert(extents->begin(), {(*input)[0], channels});
  *list = List(*extents, builder.heap());
}

// Reads a bias of a convolution with the channels along its last axis, [1, 1, C], of three axes or more.
bool ReadBias(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
              build::GraphBuilder& builder) {
  Value* bias = Find(plan, arguments, "bias");
  const std::optional<Shape> shape = bias == nullptr ? std::nullopt : ExtentsOf(*bias, builder);
  if (!shape || shape->size() < 3 || shape->back() == 1) return true;
  const llvm::ArrayRef<int64_t> before = llvm::ArrayRef<int64_t>(*shape).drop_back();
  if (llvm::any_of(before, [](int64_t extent) { return extent != 1; })) return true;
  builder.reporter().Deviate(kLenientVector, plan, "bias", site,
                             fmt::format("`bias` of `{}` has the channels along axis {}; expected axis 1",
                                         plan.called, shape->size() - 1));
  *bias = builder.MakeRatified("reshape", {*bias, List({1, shape->back()}, builder.heap())}, site);
  return !bias->poison();
}

// Returns the axes of the result for axes that are added sequentially in ascending order.
std::vector<int64_t> AddedAxes(std::vector<int64_t> axes) {
  llvm::sort(axes);
  for (size_t i = 1; i < axes.size(); ++i) axes[i] = std::max(axes[i], axes[i - 1] + 1);
  return axes;
}

// Returns the axes of the tensor for axes that are removed sequentially, the last ones first.
std::vector<int64_t> RemovedAxes(std::vector<int64_t> axes, int64_t rank) {
  std::vector<int64_t> remaining, removed;
  for (int64_t axis = 0; axis < rank; ++axis) remaining.push_back(axis);
  llvm::sort(axes, std::greater<>());
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= static_cast<int64_t>(remaining.size())) return axes;
    removed.push_back(remaining[static_cast<size_t>(axis)]);
    remaining.erase(remaining.begin() + axis);
  }
  llvm::sort(removed);
  return removed;
}

void ReadAxes(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
              build::GraphBuilder& builder) {
  Value* list = Find(plan, arguments, "axes");
  const std::optional<std::vector<int64_t>> axes = list == nullptr ? std::nullopt : Integers(*list);
  if (!axes || arguments[0].kind() != ValueKind::kTensor) return;
  const ir::PartialShape& shape = builder.graph().output(arguments[0].port()).shape;
  const bool adds = plan.op == builder.RatifiedPlan("unsqueeze").op;
  std::vector<int64_t> sorted = *axes;
  llvm::sort(sorted);
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end() || (!adds && !shape.rank_known())) return;
  builder.reporter().Deviate(kLenientAxis, plan, "axes", site,
                             fmt::format("`axes` of `{}` lists axis {} twice", plan.called, *twice));
  *list = List(adds ? AddedAxes(*axes) : RemovedAxes(*axes, shape.rank()), builder.heap());
}

// A window along the axes of a plane, and the extents of input and output.
struct PlaneWindow : ir::ops::ResolvedWindow {
  Shape input, output;
};

std::optional<PlaneWindow> ReadPlaneWindow(const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                                           const Value& output, build::GraphBuilder& builder) {
  const auto argument = [&](std::string_view name) {
    return arguments[static_cast<size_t>(plan.Find(name))];
  };
  const std::optional<Shape> input = ExtentsOf(arguments[0], builder), made = ExtentsOf(output, builder);
  std::optional<std::vector<int64_t>> size = Integers(argument("size"));
  std::optional<std::vector<int64_t>> stride = Integers(argument("stride"));
  std::optional<std::vector<int64_t>> dilation = Integers(argument("dilation"));
  const Value padding = argument("padding");
  if (!input || !made || !size || !stride || !dilation || padding.kind() != ValueKind::kArray)
    return std::nullopt;
  const size_t rank = input->size();
  if (stride->empty()) stride->assign(rank, 1);
  if (dilation->empty()) dilation->assign(rank, 1);
  PlaneWindow window;
  window.input = *input;
  window.output = *made;
  for (size_t i = 0; i < rank; ++i) {
    ir::ops::WindowAxis axis{.size = (*size)[i], .stride = (*stride)[i], .dilation = (*dilation)[i]};
    if (padding.length() > 0) {
      const Value& pair = padding.item(static_cast<int64_t>(i));
      axis.padding = {pair.item(0).integer(), pair.item(1).integer()};
    }
    const auto resolved = ir::ops::ResolvedPadding((*input)[i], axis);
    if (!resolved) return std::nullopt;
    window.pad_begin.push_back(resolved->first);
    window.pad_end.push_back(resolved->second);
  }
  window.size = std::move(*size);
  window.stride = std::move(*stride);
  window.dilation = std::move(*dilation);
  return window;
}

// Computes an operation on integers: the operands become scalars, and the result is rounded down (R 4.5.8).
// Such arithmetic is lowered to integers, so it is exact beyond the range of f32.
Value OnIntegers(std::string_view name, const Value& x, const Value& y, const Site& site,
                 build::GraphBuilder& builder) {
  Site numbers = site, made = site, integers = site;
  numbers.generic = semantics::TypeKind::kScalar;
  made.generic = semantics::TypeKind::kError;
  integers.generic = semantics::TypeKind::kInteger;
  const auto scalars = [&](const Value& operand) {
    const bool is_integer = operand.kind() == ValueKind::kTensor &&
                            ElementKind(operand, builder.graph()) == semantics::TypeKind::kInteger;
    return is_integer ? builder.MakeRatified("cast", operand, numbers) : operand;
  };
  if (x.poison() || y.poison()) return {};
  const Value first = scalars(x), second = scalars(y);
  if (first.poison() || second.poison()) return {};
  const Value result = builder.MakeRatified(name, {first, second}, made);
  return result.poison() ? Value() : builder.MakeRatified("cast", result, integers);
}

// Converts positions in a window, numbered row-major, to positions in the plane.
Value PositionsInPlane(const Value& places, const PlaneWindow& window, const Site& site,
                       build::GraphBuilder& builder) {
  Heap& heap = builder.heap();
  Site numbers = site;
  numbers.generic = semantics::TypeKind::kScalar;
  const auto apply = [&](std::string_view name, const Value& x, const Value& y) {
    return OnIntegers(name, x, y, site, builder);
  };
  const auto number = [](int64_t value) { return Value::Scalar(static_cast<double>(value)).AsTensor(); };
  if (window.size.size() < 3) return places;
  // `rest` numbers the position along the axes that remain, and `sum` is the position along the others.
  Value rest = places, sum;
  int64_t step = 1;
  for (size_t i = window.size.size(); i-- > 2;) {
    Shape extents(window.size.size(), 1);
    extents[i] = window.output[i];
    std::vector<Value> starts;
    for (int64_t place = 0; place < window.output[i]; ++place) {
      const int64_t start = (place * window.stride[i] - window.pad_begin[i]) * step;
      starts.push_back(Value::Scalar(static_cast<double>(start)));
    }
    const Value start = builder.MakeRatified(
        "constant", {List(extents, heap), Value::Array(heap, std::move(starts))}, numbers);
    Value position = start, column = rest;
    if (i > 2 && window.size[i] > 1) {
      rest = apply("div", rest, number(window.size[i]));
      column = apply("sub", column, apply("mul", rest, number(window.size[i])));
    }
    if (i == 2 || window.size[i] > 1)
      position = apply("add", apply("mul", column, number(window.dilation[i] * step)), start);
    sum = i + 1 == window.size.size() ? position : apply("add", sum, position);
    step *= window.input[i];
  }
  return sum;
}

}  // namespace

bool ReadVendorArguments(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                         build::GraphBuilder& builder) {
  const ir::WindowKind window = builder.registry().Info(plan.op).window;
  if (window == ir::WindowKind::kMax) {
    Value* border = Find(plan, arguments, "border");
    if (border != nullptr && border->kind() == ValueKind::kString && border->text() == "constant")
      *border = Value::String(builder.heap(), "ignore");
  }
  if (plan.op == builder.RatifiedPlan("pad").op) {
    Value* border = Find(plan, arguments, "border");
    if (border->kind() == ValueKind::kString && border->text() == "replicated")
      *border = Value::String(builder.heap(), "replicate");
  }
  const bool is_convolution = window == ir::WindowKind::kFilter || window == ir::WindowKind::kScatter;
  if (is_convolution && !ReadBias(plan, arguments, site, builder)) return false;
  if (window == ir::WindowKind::kScatter) {
    if (!ReadFilter(plan, arguments, site, builder)) return false;
    ReadOutputShape(plan, arguments, builder);
    return true;
  }
  const bool has_axes =
      plan.op == builder.RatifiedPlan("unsqueeze").op || plan.op == builder.RatifiedPlan("squeeze").op;
  if (has_axes) ReadAxes(plan, arguments, site, builder);
  return true;
}

Value ReadVendorResult(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Value& result,
                       const Site& site, build::GraphBuilder& builder) {
  if (plan.op != builder.RatifiedPlan("max_pool_with_index").op || !result.sequence() || result.length() != 2)
    return result;
  const std::optional<PlaneWindow> window = ReadPlaneWindow(plan, arguments, Value(result.item(0)), builder);
  if (!window) {
    builder.Report(
        Fault::Of(kShapeUnknown, "the indices of `{}` are positions in a plane, whose extents are unknown",
                  plan.called),
        plan, site);
    return {};
  }
  const Value index = PositionsInPlane(Value(result.item(1)), *window, site, builder);
  if (index.poison()) return {};
  return Value::Tuple(builder.heap(), {Value(result.item(0)), index});
}

}  // namespace nnefc::expand::vendor

#include "compiler/expand/vendor/run_time_arguments.h"

#include <limits>

#include "compiler/expand/generics.h"
#include "compiler/expand/vendor/lenient_arguments.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::vendor {

using semantics::TypeKind;

namespace {

using build::SymbolicExtents;

Value ArrayOf(llvm::ArrayRef<Value> items, Heap& heap) {
  return Value::Array(heap, std::vector<Value>(items.begin(), items.end()));
}

// Computes single extents from shapes.
class ExtentMaker {
 public:
  ExtentMaker(const Site& site, build::GraphBuilder& builder) : site_(site), builder_(builder) {
    site_.generic = TypeKind::kInteger;
  }

  // Returns a tensor of rank 0, or a literal; nothing for an extent that follows from no shape.
  std::optional<Value> Make(const Value& extent) {
    if (extent.kind() == ValueKind::kInteger) return Value::Integer(extent.integer()).AsTensor();
    if (!IsSymbolic(extent)) return std::nullopt;
    const SymbolicExtents& extents = builder_.symbols().extents();
    if (const std::optional<int64_t> known = extents.Find(extent)) return Value::Integer(*known).AsTensor();
    if (const auto* unknown = extents.UnknownOf(extent)) return Along(*unknown);
    if (const auto* expression = extents.ExpressionOf(extent)) {
      const SymbolicExtents::Expression copy = *expression;
      const std::optional<Value> left = Make(copy.left), right = Make(copy.right);
      if (!left || !right) return std::nullopt;
      return Compute(copy.op, *left, *right);
    }
    for (const build::SymbolScopes::Source& source : builder_.symbols().sources()) {
      if (const std::optional<Value> solved = Solve(source.extent, Value(), source.along, extent.symbol()))
        return solved;
    }
    return std::nullopt;
  }

 private:
  std::optional<Value> Checked(Value value) {
    return value.poison() ? std::nullopt : std::optional(std::move(value));
  }

  std::optional<Value> Along(const SymbolicExtents::Unknown& extent) {
    return Checked(builder_.MakeRatified("tract_core_extent",
                                         {Value::Tensor(extent.port), Value::Integer(extent.axis)}, site_));
  }

  // Computes in integers: lowering removes the casts.
  std::optional<Value> Compute(ast::BinaryOperator op, const Value& left, const Value& right) {
    const std::string_view name = op == ast::BinaryOperator::kAdd   ? "add"
                                  : op == ast::BinaryOperator::kSub ? "sub"
                                  : op == ast::BinaryOperator::kMul ? "mul"
                                                                    : "div";
    Site scalar = site_, made = site_;
    scalar.generic = TypeKind::kScalar;
    made.generic = TypeKind::kError;
    const auto to_scalar = [&](const Value& value) {
      return value.kind() == ValueKind::kTensor
                 ? builder_.MakeRatified("cast", {value}, scalar)
                 : Value::Scalar(static_cast<double>(value.integer())).AsTensor();
    };
    const Value first = to_scalar(left), second = to_scalar(right);
    if (first.poison() || second.poison()) return std::nullopt;
    const Value result = builder_.MakeRatified(name, {first, second}, made);
    if (result.poison()) return std::nullopt;
    return Checked(builder_.MakeRatified("cast", {result}, site_));
  }

  // Returns the symbol in an extent whose value is `actual`, the extent of an input if it is not given.
  std::optional<Value> Solve(const Value& extent, const Value& actual, const SymbolicExtents::Unknown& along,
                             uint32_t symbol) {
    const auto value = [&] { return actual.poison() ? Along(along) : std::optional(actual); };
    if (extent.symbol() == symbol && IsSymbolic(extent)) return value();
    const auto* expression = builder_.symbols().extents().ExpressionOf(extent);
    if (expression == nullptr) return std::nullopt;
    const SymbolicExtents::Expression copy = *expression;
    const std::optional<int64_t> left = builder_.symbols().Find(copy.left),
                                 right = builder_.symbols().Find(copy.right);
    if (left.has_value() == right.has_value() || copy.op == ast::BinaryOperator::kDiv) return std::nullopt;
    const Value other = Value::Integer(left ? *left : *right).AsTensor();
    const std::optional<Value> sum = value();
    if (!sum) return std::nullopt;
    using Op = ast::BinaryOperator;
    std::optional<Value> operand;
    if (copy.op == Op::kAdd) operand = Compute(Op::kSub, *sum, other);
    if (copy.op == Op::kMul) operand = Compute(Op::kDiv, *sum, other);
    if (copy.op == Op::kSub) operand = left ? Compute(Op::kSub, other, *sum) : Compute(Op::kAdd, *sum, other);
    return operand ? Solve(left ? copy.right : copy.left, *operand, along, symbol) : std::nullopt;
  }

  Site site_;
  build::GraphBuilder& builder_;
};

bool IsOpen(const Value& item) {
  return item.kind() == ValueKind::kTensor || item.kind() == ValueKind::kUnknownExtent;
}

// Returns a list of integers, extents and tensors of one integer as a tensor; nothing for other items.
std::optional<Value> JoinItems(llvm::ArrayRef<Value> items, const Site& site, build::GraphBuilder& builder) {
  ExtentMaker maker(site, builder);
  Site integers = site, generic = site;
  integers.generic = TypeKind::kInteger;
  generic.generic = TypeKind::kError;
  std::vector<Value> parts;
  for (const Value& item : items) {
    if (item.kind() != ValueKind::kTensor) {
      std::optional<Value> part = maker.Make(item);
      if (!part) return std::nullopt;
      parts.push_back(std::move(*part));
      continue;
    }
    const ir::Output& output = builder.graph().output(item.port());
    if (!IsInteger(output.type) || output.shape.volume() != 1) return std::nullopt;
    std::vector<Value> axes;
    for (int64_t axis = 0; axis < output.shape.rank(); ++axis) axes.push_back(Value::Integer(axis));
    Value part =
        axes.empty() ? item : builder.MakeRatified("squeeze", {item, ArrayOf(axes, builder.heap())}, generic);
    if (part.poison()) return std::nullopt;
    parts.push_back(std::move(part));
  }
  // A document that states the stack of known integers is folded in the same way.
  const auto is_known = [](const Value& part) { return part.kind() == ValueKind::kInteger; };
  const Value array = ArrayOf(parts, builder.heap());
  const Value joined = !parts.empty() && llvm::all_of(parts, is_known)
                           ? MakeConstant(array, TypeKind::kInteger, site, builder)
                           : builder.MakeRatified("stack", {array, Value::Integer(0)}, integers);
  return joined.poison() ? std::nullopt : std::optional(joined);
}

// Returns a list, or a vector of integers, as a tensor. A single integer is a list of one.
std::optional<Value> ListAsTensor(const Value& list, const Site& site, build::GraphBuilder& builder) {
  if (list.kind() == ValueKind::kTensor) {
    const ir::Output& output = builder.graph().output(list.port());
    const bool is_vector = IsInteger(output.type) && output.shape.rank_known() && output.shape.rank() == 1;
    return is_vector ? std::optional(list) : std::nullopt;
  }
  return list.kind() == ValueKind::kArray ? JoinItems(list.items(), site, builder) : std::nullopt;
}

bool IsListOpen(const Value& list) {
  return IsOpen(list) || (list.kind() == ValueKind::kArray && llvm::any_of(list.items(), IsOpen));
}

// A reshape with one unknown extent infers it from the volume; nothing for other arguments.
std::optional<Value> ReshapeByRemainder(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments,
                                        const Site& site, build::GraphBuilder& builder) {
  const auto shape = static_cast<size_t>(plan.Find("shape"));
  if (arguments[shape].kind() != ValueKind::kArray) return std::nullopt;
  std::vector<Value> items(arguments[shape].items().begin(), arguments[shape].items().end());
  const auto is_positive = [](const Value& item) {
    return IsOpen(item) || (item.kind() == ValueKind::kInteger && item.integer() > 0);
  };
  if (llvm::count_if(items, IsOpen) != 1 || !llvm::all_of(items, is_positive)) return std::nullopt;
  *llvm::find_if(items, IsOpen) = Value::Integer(-1);
  arguments[shape] = ArrayOf(items, builder.heap());
  return builder.nodes().Make(plan, arguments, site);
}

std::optional<Value> MakeReshape(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                                 build::GraphBuilder& builder) {
  const auto argument = [&](std::string_view name) -> Value& {
    return arguments[static_cast<size_t>(plan.Find(name))];
  };
  const bool is_whole =
      argument("axis_start").kind() == ValueKind::kInteger && argument("axis_start").integer() == 0 &&
      argument("axis_count").kind() == ValueKind::kInteger && argument("axis_count").integer() == -1;
  if (!is_whole || !IsListOpen(argument("shape"))) return std::nullopt;
  if (std::optional<Value> made = ReshapeByRemainder(plan, arguments, site, builder)) return made;
  Value shape = argument("shape");
  if (shape.kind() == ValueKind::kArray) {
    // An extent of 0 is that of the input.
    std::vector<Value> items(shape.items().begin(), shape.items().end());
    for (size_t axis = 0; axis < items.size(); ++axis) {
      if (items[axis].kind() == ValueKind::kInteger && items[axis].integer() == 0)
        items[axis] = builder.symbols().ExtentAlong(arguments[0].port(), static_cast<int64_t>(axis));
    }
    shape = ArrayOf(items, builder.heap());
  }
  const std::optional<Value> extents = ListAsTensor(shape, site, builder);
  if (!extents) return std::nullopt;
  return builder.MakeRatified("tract_core_reshape_by", {arguments[0], *extents}, site);
}

std::optional<Value> MakeTile(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                              build::GraphBuilder& builder) {
  const Value& list = arguments[static_cast<size_t>(plan.Find("repeats"))];
  const ir::PartialShape& shape = builder.graph().output(arguments[0].port()).shape;
  if (!IsListOpen(list) || !shape.rank_known()) return std::nullopt;
  if (list.kind() == ValueKind::kArray && list.length() != shape.rank()) return std::nullopt;
  const std::optional<Value> repeats = ListAsTensor(list, site, builder);
  if (!repeats) return std::nullopt;
  return builder.MakeRatified("tract_core_tile_by", {arguments[0], *repeats}, site);
}

std::optional<Value> MakeSlice(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                               build::GraphBuilder& builder) {
  const auto argument = [&](std::string_view name) -> Value& {
    return arguments[static_cast<size_t>(plan.Find(name))];
  };
  if (!IsListOpen(argument("begin")) && !IsListOpen(argument("end"))) return std::nullopt;
  const Value axes = argument("axes");
  if (axes.kind() != ValueKind::kArray || IsListOpen(axes) || IsListOpen(argument("stride")))
    return std::nullopt;
  std::vector<Value> strides(argument("stride").items().begin(), argument("stride").items().end());
  if (strides.empty()) strides.assign(static_cast<size_t>(axes.length()), Value::Integer(1));
  if (strides.size() != static_cast<size_t>(axes.length())) return std::nullopt;
  Value end = argument("end");
  if (end.kind() == ValueKind::kArray) {
    // The end 0 is that of the axis.
    std::vector<Value> items(end.items().begin(), end.items().end());
    for (Value& item : items) {
      if (item.kind() == ValueKind::kInteger && item.integer() == 0)
        item = Value::Integer(std::numeric_limits<int32_t>::max());
    }
    end = ArrayOf(items, builder.heap());
  }
  const std::optional<Value> first = ListAsTensor(argument("begin"), site, builder);
  const std::optional<Value> last = first ? ListAsTensor(end, site, builder) : std::nullopt;
  if (!last) return std::nullopt;
  return builder.MakeRatified("tract_core_slice_by",
                              {arguments[0], *first, *last, axes, ArrayOf(strides, builder.heap())}, site);
}

}  // namespace

std::optional<Value> ExtentsAsTensor(const Value& extents, const Site& site, build::GraphBuilder& builder) {
  if (!builder.settings().dialect.vendor_meanings || builder.nodes().is_in_body()) return std::nullopt;
  if (IsSymbolic(extents) && extents.kind() == ValueKind::kUnknownExtent)
    return ExtentMaker(site, builder).Make(extents);
  if (extents.kind() != ValueKind::kArray || !llvm::any_of(extents.items(), IsOpen)) return std::nullopt;
  return JoinItems(extents.items(), site, builder);
}

void ReplaceExtents(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                    build::GraphBuilder& builder) {
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    if (!plan.parameters[i].is_tensor || plan.parameters[i].is_array) continue;
    const bool has_extent =
        arguments[i].kind() == ValueKind::kUnknownExtent ||
        (arguments[i].kind() == ValueKind::kArray &&
         llvm::any_of(arguments[i].items(), [](const Value& item) { return IsOpen(item); }));
    if (!has_extent) continue;
    if (std::optional<Value> tensor = ExtentsAsTensor(arguments[i], site, builder))
      arguments[i] = std::move(*tensor);
  }
}

std::optional<Value> MakeWithRunTimeArguments(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments,
                                              const Site& site, build::GraphBuilder& builder) {
  if (builder.nodes().is_in_body() || arguments.empty() || arguments[0].kind() != ValueKind::kTensor)
    return std::nullopt;
  using Maker = std::optional<Value> (*)(const OpPlan&, llvm::MutableArrayRef<Value>, const Site&,
                                         build::GraphBuilder&);
  static const ir::OpTable<Maker> table(ir::StandardOps(), ir::kNnefSet,
                                        {{"reshape", MakeReshape}, {"tile", MakeTile}, {"slice", MakeSlice}});
  const Maker* make = table.Find(plan.op);
  return make == nullptr ? std::nullopt : (*make)(plan, arguments, site, builder);
}

}  // namespace nnefc::expand::vendor

// Conversion of the arguments of one provisional operation to the ratified form.

#include "compiler/expand/provisional/adapter.h"

namespace nnefc::expand::provisional {

int64_t Adapter::Rank(const Value& value) const {
  if (value.kind() != ValueKind::kTensor) return 0;
  const ir::PartialShape& shape = builder_.graph().output(value.port()).shape;
  return shape.rank_known() ? shape.rank() : -1;
}

ir::Dim Adapter::Extent(const Value& value, int64_t axis) const {
  if (value.kind() != ValueKind::kTensor) return ir::Dim(1);
  const ir::PartialShape& shape = builder_.graph().output(value.port()).shape;
  if (!shape.rank_known()) return ir::Dim();
  return axis < shape.rank() ? shape[axis] : ir::Dim(1);
}

std::string Adapter::ShapeText(const Value& value) const {
  if (value.kind() != ValueKind::kTensor) return "[]";
  return ir::ToString(builder_.graph().output(value.port()).shape);
}

bool Adapter::Raise(Value& value, int64_t rank) {
  const int64_t current = Rank(value);
  if (current < 0 || current >= rank) return true;
  if (value.primitive()) {
    std::vector<Value> extents(static_cast<size_t>(rank), Value::Integer(1));
    return Replace(
        "constant", value,
        {Value::Array(builder_.heap(), std::move(extents)), Value::Array(builder_.heap(), {value})});
  }
  if (value.kind() != ValueKind::kTensor) return true;
  std::vector<Value> axes;
  for (int64_t axis = current; axis < rank; ++axis) axes.push_back(Value::Integer(axis));
  return Replace("unsqueeze", value, {value, Value::Array(builder_.heap(), std::move(axes))});
}

bool Adapter::Lower(Value& value, int64_t rank) {
  std::vector<Value> axes;
  for (int64_t axis = rank; axis < Rank(value); ++axis) {
    if (Extent(value, axis) != ir::Dim(1)) return true;
    axes.push_back(Value::Integer(axis));
  }
  return axes.empty() || Replace("squeeze", value, {value, Value::Array(builder_.heap(), std::move(axes))});
}

bool Adapter::Replace(std::string_view operation, Value& value, llvm::ArrayRef<Value> arguments) {
  Site site = site_;
  site.generic = semantics::TypeKind::kError;
  value = builder_.MakeRatified(operation, arguments, site);
  return !value.poison();
}

Value* Adapter::Find(std::string_view parameter) {
  int32_t index = plan_.Find(parameter);
  return index < 0 ? nullptr : &arguments_[static_cast<size_t>(index)];
}

std::optional<std::vector<int64_t>> Adapter::Integers(std::string_view parameter) {
  const Value* value = Find(parameter);
  if (value == nullptr) return std::vector<int64_t>{};
  if (value->kind() != ValueKind::kArray) return std::nullopt;
  std::vector<int64_t> integers;
  for (const Value& item : value->items()) {
    if (item.kind() != ValueKind::kInteger) return std::nullopt;
    integers.push_back(item.integer());
  }
  return integers;
}

void Adapter::Set(std::string_view parameter, const std::vector<int64_t>& integers) {
  std::vector<Value> items;
  items.reserve(integers.size());
  for (int64_t integer : integers) items.push_back(Value::Integer(integer));
  *Find(parameter) = Value::Array(builder_.heap(), std::move(items));
}

}  // namespace nnefc::expand::provisional

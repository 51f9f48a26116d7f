#include "compiler/expand/adapter.h"

#include "compiler/expand/rules.h"

namespace nnefc::expand {

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
  int64_t current = Rank(value);
  if (value.kind() != ValueKind::kTensor || current < 0 || current >= rank) return true;
  std::vector<Value> axes;
  for (int64_t axis = current; axis < rank; ++axis) axes.push_back(Value::Integer(axis));
  return Replace("unsqueeze", value, std::move(axes));
}

bool Adapter::Lower(Value& value, int64_t rank, std::string_view parameter) {
  int64_t current = Rank(value);
  if (value.kind() != ValueKind::kTensor || current <= rank) return true;
  const ir::PartialShape& shape = builder_.graph().output(value.port()).shape;
  std::vector<Value> axes;
  for (int64_t axis = rank; axis < current; ++axis) {
    if (!shape[axis].known() || shape[axis].value() != 1) {
      fault_ = Fault::Of(kMatrixRank,
                         "`{}` of `{}` has shape {}; expected at most {} extents that are not singular",
                         parameter, plan_.called, ir::ToString(shape), rank)
                   .At(parameter);
      return false;
    }
    axes.push_back(Value::Integer(axis));
  }
  return Replace("squeeze", value, std::move(axes));
}

bool Adapter::Replace(std::string_view operation, Value& value, std::vector<Value> axes) {
  Site site = site_;
  site.generic = TypeKind::kError;
  Value arguments[] = {value, Value::Array(builder_.heap(), std::move(axes))};
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
  for (int64_t integer : integers) items.push_back(Value::Integer(integer));
  *Find(parameter) = Value::Array(builder_.heap(), std::move(items));
}

}  // namespace nnefc::expand

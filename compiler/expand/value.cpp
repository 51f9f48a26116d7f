// Compile-time values with shared storage, freed without recursion.

#include "compiler/expand/value.h"

#include <algorithm>

#include "compiler/expand/rules.h"

namespace nnefc::expand {

// Storage shared by slices. Immutable once created.
struct Storage {
  uint32_t references = 1;
  bool all_tensors = false;
  Heap* heap = nullptr;
  int64_t charge = 0;
  std::vector<Value> items;
  std::string text;
};

namespace {

// Cost of an array or string in addition to its items.
constexpr int64_t kStorageCharge = 4;
constexpr int64_t kMaxLength = UINT32_MAX;

}  // namespace

bool Heap::Reserve(int64_t count, Fault& fault) {
  if (count <= kMaxLength && count <= limit_ - live_) return true;
  fault = Fault::Of(kLimitItems, "more than {} array items and string bytes would be alive (`--max-items`)",
                    limit_);
  fault.fatal = true;
  return false;
}

void Release(Storage* storage) {
  Heap* heap = storage->heap;
  heap->garbage_.push_back(storage);
  if (heap->collecting_) return;
  heap->collecting_ = true;
  while (!heap->garbage_.empty()) {
    Storage* next = heap->garbage_.back();
    heap->garbage_.pop_back();
    heap->live_ -= next->charge;
    delete next;
  }
  heap->collecting_ = false;
}

Value Value::Integer(int64_t value) {
  Value result;
  result.kind_ = ValueKind::kInteger;
  result.integer_ = value;
  return result;
}

Value Value::Scalar(double value) {
  Value result;
  result.kind_ = ValueKind::kScalar;
  result.scalar_ = value;
  return result;
}

Value Value::Logical(bool value) {
  Value result;
  result.kind_ = ValueKind::kLogical;
  result.logical_ = value;
  return result;
}

Value Value::KnownExtent(uint32_t symbol, int64_t extent) {
  Value value = Integer(extent);
  value.begin_ = symbol;
  return value;
}

Value Value::UnknownExtent(uint32_t symbol) {
  Value result;
  result.kind_ = ValueKind::kUnknownExtent;
  result.begin_ = symbol;
  return result;
}

Value Value::Tensor(ir::OutputPort port) {
  Value result;
  result.kind_ = ValueKind::kTensor;
  result.port_ = {port.node.index, port.index};
  return result;
}

Value Value::String(Heap& heap, std::string text, bool charged) {
  Value result;
  result.kind_ = ValueKind::kString;
  result.length_ = static_cast<uint32_t>(text.size());
  result.storage_ = nullptr;
  if (text.empty()) return result;
  auto* storage = new Storage;
  storage->heap = &heap;
  storage->charge = charged ? static_cast<int64_t>(text.size()) + kStorageCharge : 0;
  storage->text = std::move(text);
  heap.Charge(storage->charge);
  result.storage_ = storage;
  return result;
}

Value Value::Sequence(ValueKind kind, Heap& heap, std::vector<Value> items, bool charged) {
  Value result;
  result.kind_ = kind;
  result.length_ = static_cast<uint32_t>(items.size());
  result.storage_ = nullptr;
  if (items.empty()) return result;
  auto* storage = new Storage;
  storage->heap = &heap;
  storage->charge = charged ? static_cast<int64_t>(items.size()) + kStorageCharge : 0;
  storage->items = std::move(items);
  size_t tensors = 0;
  for (const Value& item : storage->items) tensors += item.tensor() ? 1 : 0;
  storage->all_tensors = tensors == storage->items.size();
  // Items of an array have a common type (R 3.3.3): in `[x, 0.0]` the literal is a tensor too.
  if (kind == ValueKind::kArray && tensors != 0 && !storage->all_tensors) {
    for (Value& item : storage->items) {
      if (item.primitive()) item = item.AsTensor();
    }
    storage->all_tensors = true;
  }
  heap.Charge(storage->charge);
  result.storage_ = storage;
  return result;
}

Value Value::Array(Heap& heap, std::vector<Value> items, bool charged) {
  return Sequence(ValueKind::kArray, heap, std::move(items), charged);
}

Value Value::Tuple(Heap& heap, std::vector<Value> items, bool charged) {
  return Sequence(ValueKind::kTuple, heap, std::move(items), charged);
}

Value Value::AsTensor() const {
  Value result(*this);
  if (primitive()) result.tensor_typed_ = true;
  return result;
}

std::string_view Value::text() const {
  if (length_ == 0) return {};
  return std::string_view(storage_->text).substr(begin_, length_);
}

llvm::ArrayRef<Value> Value::items() const {
  if (length_ == 0) return {};
  return llvm::ArrayRef<Value>(storage_->items).slice(begin_, length_);
}

Value Value::Slice(int64_t begin, int64_t end) const {
  NNEFC_CHECK(begin >= 0 && end <= length_);
  Value result(*this);
  result.tensor_typed_ = false;
  if (begin >= end) {
    result.Drop();
    result.begin_ = result.length_ = 0;
    result.storage_ = nullptr;
    return result;
  }
  result.begin_ = begin_ + static_cast<uint32_t>(begin);
  result.length_ = static_cast<uint32_t>(end - begin);
  return result;
}

bool Value::all_tensors() const {
  return length_ == 0 || storage_->all_tensors;
}

void Value::Retain() {
  ++storage_->references;
}

void Value::Drop() {
  if (!HasStorage()) return;
  if (--storage_->references == 0) Release(storage_);
}

std::string_view KindText(const Value& value) {
  if (value.tensor()) return "a tensor";
  switch (value.kind()) {
    case ValueKind::kPoison:
      return "an invalid value";
    case ValueKind::kUnknownExtent:
      return "an unspecified extent";
    case ValueKind::kInteger:
      return "a whole number";
    case ValueKind::kScalar:
      return "a scalar";
    case ValueKind::kLogical:
      return "a logical";
    case ValueKind::kString:
      return "a string";
    case ValueKind::kTensor:
      return "a tensor";
    case ValueKind::kArray:
      return "an array";
    case ValueKind::kTuple:
      return "a tuple";
  }
  return "a value";
}

bool Comparable(const Value& a, const Value& b) {
  const auto kind = [](const Value& value) {
    return value.kind() == ValueKind::kUnknownExtent ? ValueKind::kInteger : value.kind();
  };
  std::vector<std::pair<Value, Value>> pending{{a, b}};
  while (!pending.empty()) {
    auto [x, y] = std::move(pending.back());
    pending.pop_back();
    if (kind(x) != kind(y)) return false;
    if (!x.sequence() || x.length() == 0 || y.length() == 0) continue;
    // Items of an array have one type, so the first is enough; tuples are short.
    int64_t count = x.kind() == ValueKind::kTuple ? std::min(x.length(), y.length()) : 1;
    for (int64_t i = 0; i < count; ++i) pending.emplace_back(x.item(i), y.item(i));
  }
  return true;
}

namespace {

// Compares values that are not sequences. Returns nothing for an unknown extent, unless it is the same
// symbol's.
std::optional<bool> EqualLeaves(const Value& x, const Value& y, Heap& heap) {
  if (x.kind() == ValueKind::kUnknownExtent || y.kind() == ValueKind::kUnknownExtent) {
    const bool is_same = x.kind() == y.kind() && IsSymbolic(x) && x.symbol() == y.symbol();
    return is_same ? std::optional(true) : std::nullopt;
  }
  if (x.kind() != y.kind()) return false;
  switch (x.kind()) {
    case ValueKind::kInteger:
      return x.integer() == y.integer();
    case ValueKind::kScalar:
      return x.scalar() == y.scalar();
    case ValueKind::kLogical:
      return x.logical() == y.logical();
    case ValueKind::kString:
      heap.work += x.length() / 16;
      return x.text() == y.text();
    case ValueKind::kTensor:
      return x.port() == y.port();
    default:
      return false;
  }
}

}  // namespace

std::optional<bool> Equal(const Value& a, const Value& b, Heap& heap) {
  struct Pair {
    Value x, y;
    int64_t next = 0;
  };
  // An explicit stack, because arrays may nest deeply.
  std::vector<Pair> pending;
  bool is_known = true;
  // Returns false if the values differ whatever the unknown extents are.
  auto visit = [&](const Value& x, const Value& y) {
    ++heap.work;
    if (!x.sequence() || !y.sequence()) {
      const std::optional<bool> equal = EqualLeaves(x, y, heap);
      is_known = is_known && equal.has_value();
      return equal.value_or(true);
    }
    if (x.kind() != y.kind() || x.length() != y.length()) return false;
    pending.push_back({x, y});
    return true;
  };
  if (!visit(a, b)) return false;
  while (!pending.empty()) {
    Pair& top = pending.back();
    if (top.next == top.x.length()) {
      pending.pop_back();
      continue;
    }
    int64_t index = top.next++;
    Value x = top.x.item(index);
    Value y = top.y.item(index);
    if (!visit(x, y)) return false;
  }
  return is_known ? std::optional(true) : std::nullopt;
}

Fault OpenExtent() {
  return Fault::Of(kShapeUnknown, "this extent is left open by an external; give it with `--input-shape`");
}

Fault WrongValue(const Value& value, std::string_view message) {
  return value.kind() == ValueKind::kUnknownExtent ? OpenExtent() : Fault::Of(kValueType, "{}", message);
}

std::string ScalarText(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";  // not for `inf` and `nan`
  return text;
}

}  // namespace nnefc::expand

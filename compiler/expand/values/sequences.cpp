// Operations on arrays, tuples and strings: concatenation, repetition, subscripts (chapter 3.3.3).

#include "compiler/expand/values/sequences.h"

#include "compiler/expand/rules.h"

namespace nnefc::expand::values {
namespace {

Value MakeArray(std::vector<Value> items, Heap& heap) {
  heap.work += static_cast<int64_t>(items.size());
  return Value::Array(heap, std::move(items));
}

bool IsSequenceOrString(const Value& value) {
  return value.kind() == ValueKind::kArray || value.kind() == ValueKind::kString;
}

std::string_view Noun(const Value& value) {
  return value.kind() == ValueKind::kString ? "string" : "array";
}

}  // namespace

std::optional<Value> Concatenate(const Value& left, const Value& right, Heap& heap, Fault& fault) {
  if (right.length() == 0) return left;
  if (left.length() == 0) return right;
  int64_t length = left.length() + right.length();
  if (!heap.Reserve(length, fault)) return std::nullopt;
  if (left.kind() == ValueKind::kString) {
    heap.work += length / 16;
    std::string text;
    text.reserve(static_cast<size_t>(length));
    text.append(left.text()).append(right.text());
    return Value::String(heap, std::move(text));
  }
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(length));
  items.insert(items.end(), left.items().begin(), left.items().end());
  items.insert(items.end(), right.items().begin(), right.items().end());
  return MakeArray(std::move(items), heap);
}

std::optional<Value> Repeat(const Value& value, int64_t times, Heap& heap, Fault& fault) {
  if (times < 0) {
    fault = Fault::Of(kNegativeRepeat, "an {} cannot be repeated {} times", Noun(value), times);
    if (value.kind() == ValueKind::kString)
      fault.message = fmt::format("a string cannot be repeated {} times", times);
    return std::nullopt;
  }
  if (times == 1 || value.length() == 0) return value;
  int64_t length = 0;
  if (__builtin_mul_overflow(value.length(), times, &length)) length = INT64_MAX;
  if (!heap.Reserve(length, fault)) return std::nullopt;
  if (value.kind() == ValueKind::kString) {
    heap.work += length / 16;
    std::string text;
    text.reserve(static_cast<size_t>(length));
    for (int64_t i = 0; i < times; ++i) text.append(value.text());
    return Value::String(heap, std::move(text));
  }
  std::vector<Value> items;
  items.reserve(static_cast<size_t>(length));
  for (int64_t i = 0; i < times; ++i) items.insert(items.end(), value.items().begin(), value.items().end());
  return MakeArray(std::move(items), heap);
}

std::optional<Value> Subscript(const Value& base, const Value& index, Heap& heap, Fault& fault) {
  if (!IsSequenceOrString(base) || index.kind() != ValueKind::kInteger) {
    fault = WrongValue(IsSequenceOrString(base) ? index : base,
                       fmt::format("{} cannot be subscripted by {}", KindText(base), KindText(index)));
    return std::nullopt;
  }
  if (index.integer() < 0 || index.integer() >= base.length()) {
    fault = Fault::Of(kSubscriptOutOfRange, "index {} is out of range: the {} has {} {}", index.integer(),
                      Noun(base), base.length(), base.kind() == ValueKind::kString ? "characters" : "items")
                .At("index", 0);
    return std::nullopt;
  }
  if (base.kind() == ValueKind::kString) return base.Slice(index.integer(), index.integer() + 1);
  return base.item(index.integer());
}

std::optional<Value> SubscriptRange(const Value& base, const Value* begin, const Value* end, Fault& fault) {
  for (const Value* bound : {begin, end}) {
    if (!IsSequenceOrString(base) || (bound != nullptr && bound->kind() != ValueKind::kInteger)) {
      fault = WrongValue(IsSequenceOrString(base) ? *bound : base,
                         fmt::format("{} cannot be subscripted by a range of {}", KindText(base),
                                     bound != nullptr ? KindText(*bound) : "integers"));
      return std::nullopt;
    }
    if (bound != nullptr && (bound->integer() < 0 || bound->integer() > base.length())) {
      fault = Fault::Of(kSubscriptOutOfRange, "range {} {} is out of range: the {} has {} {}",
                        bound == begin ? "begin" : "end", bound->integer(), Noun(base), base.length(),
                        base.kind() == ValueKind::kString ? "characters" : "items")
                  .At("bound", bound == begin ? 0 : 1);
      return std::nullopt;
    }
  }
  return base.Slice(begin == nullptr ? 0 : begin->integer(), end == nullptr ? base.length() : end->integer());
}

}  // namespace nnefc::expand::values

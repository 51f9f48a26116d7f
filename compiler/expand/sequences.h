#pragma once

#include <optional>

#include "compiler/expand/value.h"

namespace nnefc::expand {

// Arrays and strings (chapter 3.3.3). Both operands are of one kind.
// `[a] + [b]`, `'a' + 'b'`
std::optional<Value> Concatenate(const Value& left, const Value& right, Heap& heap, Fault& fault);
// `[a] * 3`, `'ab' * 2`
std::optional<Value> Repeat(const Value& value, int64_t times, Heap& heap, Fault& fault);
// `a[1]` of an array or string.
std::optional<Value> Subscript(const Value& base, const Value& index, Heap& heap, Fault& fault);
// `a[1:]`; begin and end are null where omitted. Empty if begin >= end, a
// mistake if either lies outside of [0, length].
std::optional<Value> SubscriptRange(const Value& base, const Value* begin, const Value* end, Fault& fault);

}  // namespace nnefc::expand

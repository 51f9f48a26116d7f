#pragma once

#include <optional>

#include "compiler/expand/value.h"

namespace nnefc::expand::values {

// Operations on arrays and strings (chapter 3.3.3). Both operands are of one kind.
// Concatenates: `[a] + [b]`, `'a' + 'b'`
std::optional<Value> Concatenate(const Value& left, const Value& right, Heap& heap, Fault& fault);
// Repeats: `[a] * 3`, `'ab' * 2`
std::optional<Value> Repeat(const Value& value, int64_t times, Heap& heap, Fault& fault);
// Returns `a[1]` of an array or string.
std::optional<Value> Subscript(const Value& base, const Value& index, Heap& heap, Fault& fault);
// Returns `a[1:]`; begin and end are null where omitted. The result is empty if begin >= end; a bound outside
// of [0, length] is an error.
std::optional<Value> SubscriptRange(const Value& base, const Value* begin, const Value* end, Fault& fault);

}  // namespace nnefc::expand::values

#pragma once

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {

// True for elements of less than a byte, which tensors store several to a byte.
inline bool IsPacked(ElementType type) {
  return BitWidth(type) > 0 && BitWidth(type) < 8;
}

// The code of a number in a type that is stored and converted only (IsStorageOnly), in the low bits, as
// TensorValue::ConvertedTo makes it.
uint8_t CodeOf(ElementType type, double value);
// The same of an integer, whose low bits a double would lose beyond 2^53.
uint8_t CodeOf(ElementType type, int64_t value);
// The number that a code of such a type means.
double NumberOf(ElementType type, uint8_t code);

// The code in a packed tensor, and its inverse, which expects zeros there.
uint8_t LoadPacked(const std::byte* bytes, int64_t index, ElementType type);
void StorePacked(std::byte* bytes, int64_t index, ElementType type, uint8_t code);

// Returns the codes of a packed tensor, one to a byte: a tensor of u8 of the same shape. std::bad_alloc if
// memory is short.
TensorValue CodesOf(const TensorValue& value);
// The inverse; `codes` contains one byte for each element.
TensorValue PackCodes(ElementType type, Shape shape, const std::byte* codes);

}  // namespace nnefc

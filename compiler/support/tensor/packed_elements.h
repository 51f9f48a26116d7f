#pragma once

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {

// Returns true for sub-byte elements: several share a byte in tensors.
inline bool IsPacked(ElementType type) {
  return BitWidth(type) > 0 && BitWidth(type) < 8;
}

// Encodes a number in a storage-only type (IsStorageOnly), in the low bits of the result, with the rounding
// of TensorValue::ConvertedTo.
uint8_t CodeOf(ElementType type, double value);
// Encodes an integer without the loss of low bits that a double has beyond 2^53.
uint8_t CodeOf(ElementType type, int64_t value);
// Decodes a value of such a type.
double NumberOf(ElementType type, uint8_t code);

// Reads or writes the encoded element of a packed tensor. StorePacked requires zero bits at that index.
uint8_t LoadPacked(const std::byte* bytes, int64_t index, ElementType type);
void StorePacked(std::byte* bytes, int64_t index, ElementType type, uint8_t code);

// Returns the encoded elements of a packed tensor, one per byte: a u8 tensor of the same shape. Throws
// std::bad_alloc if memory is short.
TensorValue CodesOf(const TensorValue& value);
// Packs encoded elements, one per byte in `codes`: the inverse of CodesOf.
TensorValue PackCodes(ElementType type, Shape shape, const std::byte* codes);

}  // namespace nnefc

// Access to elements of less than a byte.

#include "compiler/support/tensor/packed_elements.h"

#include <cmath>
#include <new>

namespace nnefc {
namespace {

// Returns the bit offset of a packed element in its byte, as in OpenVINO: from the low bits up, but single
// bits from the high bit down. Elements of 8 bits have offset 0.
int PackedShift(int64_t index, int bits) {
  const auto place = static_cast<int>(index % (8 / bits)) * bits;
  return bits == 1 ? 7 - place : place;
}

}  // namespace

uint8_t LoadPacked(const std::byte* bytes, int64_t index, ElementType type) {
  const int bits = BitWidth(type);
  const auto byte = static_cast<unsigned>(bytes[index / (8 / bits)]);
  return static_cast<uint8_t>((byte >> PackedShift(index, bits)) & ((1U << bits) - 1));
}

void StorePacked(std::byte* bytes, int64_t index, ElementType type, uint8_t code) {
  const int bits = BitWidth(type);
  const unsigned low = code & ((1U << bits) - 1);
  bytes[index / (8 / bits)] |= static_cast<std::byte>(low << PackedShift(index, bits));
}

uint8_t CodeOf(ElementType type, double value) {
  if (IsNarrowFloat(type)) return FloatToNarrow(type, static_cast<float>(value));
  const int bits = BitWidth(type);
  if (bits == 1) return value != 0 ? 1 : 0;
  constexpr double kEnd = 0x1p63;
  if (!(std::abs(value) < kEnd)) return 0;
  return static_cast<uint8_t>(static_cast<uint64_t>(static_cast<int64_t>(value)) & ((1U << bits) - 1));
}

uint8_t CodeOf(ElementType type, int64_t value) {
  const int bits = BitWidth(type);
  if (IsNarrowFloat(type) || bits == 1) return CodeOf(type, static_cast<double>(value));
  return static_cast<uint8_t>(static_cast<uint64_t>(value) & ((1U << bits) - 1));
}

double NumberOf(ElementType type, uint8_t code) {
  if (IsNarrowFloat(type)) return NarrowToFloat(type, code);
  const int bits = BitWidth(type);
  return IsSigned(type) && code >> (bits - 1) != 0 ? code - (1 << bits) : code;
}

TensorValue CodesOf(const TensorValue& value) {
  NNEFC_CHECK(IsPacked(value.type()));
  auto buffer = Buffer::Allocate(static_cast<size_t>(value.volume()));
  if (buffer == nullptr) throw std::bad_alloc();
  std::byte* codes = buffer->mutable_data();
  const std::byte* packed = value.bytes();
  for (int64_t i = 0; i < value.volume(); ++i)
    codes[i] = static_cast<std::byte>(LoadPacked(packed, i, value.type()));
  return TensorValue(ElementType::kU8, value.shape(), std::move(buffer));
}

TensorValue PackCodes(ElementType type, Shape shape, const std::byte* codes) {
  NNEFC_CHECK(IsPacked(type));
  const std::optional<int64_t> volume = Volume(shape);
  NNEFC_CHECK(volume.has_value());
  auto buffer = Buffer::Allocate(*ByteSize(type, *volume));
  if (buffer == nullptr) throw std::bad_alloc();
  std::byte* packed = buffer->mutable_data();
  for (int64_t i = 0; i < *volume; ++i) StorePacked(packed, i, type, static_cast<uint8_t>(codes[i]));
  return TensorValue(type, std::move(shape), std::move(buffer));
}

}  // namespace nnefc

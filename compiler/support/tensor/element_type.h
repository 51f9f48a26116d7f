#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nnefc {

// The element types of OpenVINO's IR. NNEF's `scalar` is kF32, `integer` kI64 and `logical` kBoolean unless
// the data declares another type.
enum class ElementType : uint8_t {
  kDynamic,
  kBoolean,  // one byte, 0 or 1
  kBF16,
  kF16,
  kF32,
  kF64,
  kI4,
  kI8,
  kI16,
  kI32,
  kI64,
  kU1,
  kU4,
  kU8,
  kU16,
  kU32,
  kU64,
  kString,
  kU2,
  // Formats of at most 8 bits for stored weights.
  kNF4,
  kF4E2M1,
  kF8E4M3,
  kF8E5M2,
  kF8E8M0,
};

// The kind of numbers that an element type has.
enum class ElementKind : uint8_t {
  kOther,  // not numeric: kDynamic, kString
  kBoolean,
  kFloat,
  kNarrowFloat,  // at most 8 bits
  kSigned,
  kUnsigned,
};

ElementKind KindOf(ElementType type);
// Returns the bits of one element; 0 for kDynamic and kString.
int BitWidth(ElementType type);
// Returns OpenVINO's `element_type` spelling: "f32", "i64", "boolean".
std::string_view Name(ElementType type);
// Returns OpenVINO's spelling in the `precision` of ports: "FP32", "I64", "BOOL".
std::string_view PortName(ElementType type);
// Parses either of OpenVINO's spellings ("f32", "FP32").
std::optional<ElementType> ParseElementType(std::string_view text);
// Returns NumPy's type letter, which precedes the byte size in its files: 'b', 'i', 'u' or 'f'. Returns
// nothing for types that NumPy lacks.
std::optional<char> NumPyLetter(ElementType type);
// Returns the type of NumPy's letter and byte size, such as ('f', 4); nothing if there is none.
std::optional<ElementType> FromNumPy(char letter, int bytes);
bool IsFloat(ElementType type);  // including narrow floats
// Returns true for floats of at most 8 bits.
bool IsNarrowFloat(ElementType type);
// Returns true for types that are stored and converted but never computed with: sub-byte elements and narrow
// floats.
bool IsStorageOnly(ElementType type);
bool IsInteger(ElementType type);  // signed or unsigned, not boolean
bool IsSigned(ElementType type);   // floats and signed integers

// Conversions between f32 and the 16-bit formats; they round to nearest even.
float HalfToFloat(uint16_t bits);
uint16_t FloatToHalf(float value);
inline float BFloatToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
inline uint16_t FloatToBFloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t nearest = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet_nan = (bits >> 16) | 0x40u;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet_nan : nearest);
}
// Conversions of narrow floats, encoded in the low bits of the byte; they round to nearest even. Values
// beyond the largest number become NaN in f8e4m3, infinity in f8e5m2, and that number in the others. NaN
// becomes the largest number in f4e2m1 and the lowest in nf4 (as in OpenVINO).
float NarrowToFloat(ElementType type, uint8_t code);
uint8_t FloatToNarrow(ElementType type, float value);

}  // namespace nnefc

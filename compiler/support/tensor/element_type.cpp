// Properties of element types, and conversions of 16-bit and narrower floats.

#include "compiler/support/tensor/element_type.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "compiler/support/check.h"

namespace nnefc {
namespace {

struct Row {
  ElementType type;
  ElementKind kind;
  int bits;
  std::string_view name;       // in attributes
  std::string_view port_name;  // in ports
  char numpy = 0;              // 0: NumPy has no such type
};

// The quantiles of the normal distribution that NF4 encodes.
constexpr float kNormalFloats[16] = {-1.0F,
                                     -0.6961928009986877F,
                                     -0.5250730514526367F,
                                     -0.39491748809814453F,
                                     -0.28444138169288635F,
                                     -0.18477343022823334F,
                                     -0.09105003625154495F,
                                     0.0F,
                                     0.07958029955625534F,
                                     0.16093020141124725F,
                                     0.24611230194568634F,
                                     0.33791524171829224F,
                                     0.44070982933044434F,
                                     0.5626170039176941F,
                                     0.7229568362236023F,
                                     1.0F};

// Decodes a sign, a biased exponent of `exponent_bits` and a fraction of `fraction_bits`, including
// subnormals.
float MiniFloat(unsigned code, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned fraction = code & ((1U << fraction_bits) - 1);
  const int exponent = static_cast<int>((code >> fraction_bits) & ((1U << exponent_bits) - 1));
  const bool negative = ((code >> (exponent_bits + fraction_bits)) & 1U) != 0;
  const unsigned significand = exponent == 0 ? fraction : fraction | (1U << fraction_bits);
  const int scale = std::max(exponent, 1) - bias - fraction_bits;
  const float magnitude = std::ldexp(static_cast<float>(significand), scale);
  return negative ? -magnitude : magnitude;
}

constexpr Row kRows[] = {
    {ElementType::kDynamic, ElementKind::kOther, 0, "dynamic", "UNSPECIFIED"},
    {ElementType::kBoolean, ElementKind::kBoolean, 8, "boolean", "BOOL", 'b'},
    {ElementType::kBF16, ElementKind::kFloat, 16, "bf16", "BF16"},
    {ElementType::kF16, ElementKind::kFloat, 16, "f16", "FP16", 'f'},
    {ElementType::kF32, ElementKind::kFloat, 32, "f32", "FP32", 'f'},
    {ElementType::kF64, ElementKind::kFloat, 64, "f64", "FP64", 'f'},
    {ElementType::kI4, ElementKind::kSigned, 4, "i4", "I4"},
    {ElementType::kI8, ElementKind::kSigned, 8, "i8", "I8", 'i'},
    {ElementType::kI16, ElementKind::kSigned, 16, "i16", "I16", 'i'},
    {ElementType::kI32, ElementKind::kSigned, 32, "i32", "I32", 'i'},
    {ElementType::kI64, ElementKind::kSigned, 64, "i64", "I64", 'i'},
    {ElementType::kU1, ElementKind::kUnsigned, 1, "u1", "BIN"},
    {ElementType::kU4, ElementKind::kUnsigned, 4, "u4", "U4"},
    {ElementType::kU8, ElementKind::kUnsigned, 8, "u8", "U8", 'u'},
    {ElementType::kU16, ElementKind::kUnsigned, 16, "u16", "U16", 'u'},
    {ElementType::kU32, ElementKind::kUnsigned, 32, "u32", "U32", 'u'},
    {ElementType::kU64, ElementKind::kUnsigned, 64, "u64", "U64", 'u'},
    {ElementType::kString, ElementKind::kOther, 0, "string", "STRING"},
    {ElementType::kU2, ElementKind::kUnsigned, 2, "u2", "U2"},
    {ElementType::kNF4, ElementKind::kNarrowFloat, 4, "nf4", "NF4"},
    {ElementType::kF4E2M1, ElementKind::kNarrowFloat, 4, "f4e2m1", "F4E2M1"},
    {ElementType::kF8E4M3, ElementKind::kNarrowFloat, 8, "f8e4m3", "F8E4M3"},
    {ElementType::kF8E5M2, ElementKind::kNarrowFloat, 8, "f8e5m2", "F8E5M2"},
    {ElementType::kF8E8M0, ElementKind::kNarrowFloat, 8, "f8e8m0", "F8E8M0"},
};

constexpr bool IsInOrder() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].type != static_cast<ElementType>(i)) return false;
  }
  return true;
}
// Returns whether a value has a name: compilers print other values as numbers after a cast.
template <ElementType kType>
consteval bool IsEnumerator() {
  return std::string_view(__PRETTY_FUNCTION__).find("= (") == std::string_view::npos;
}
constexpr auto kLast = static_cast<ElementType>(std::size(kRows) - 1);
constexpr auto kAfterLast = static_cast<ElementType>(std::size(kRows));
static_assert(IsInOrder());
static_assert(IsEnumerator<kLast>() && !IsEnumerator<kAfterLast>(), "each element type has a row");

const Row& RowOf(ElementType type) {
  const auto index = static_cast<size_t>(type);
  NNEFC_CHECK(index < std::size(kRows));
  return kRows[index];
}

}  // namespace

ElementKind KindOf(ElementType type) {
  return RowOf(type).kind;
}
int BitWidth(ElementType type) {
  return RowOf(type).bits;
}
std::string_view Name(ElementType type) {
  return RowOf(type).name;
}
std::string_view PortName(ElementType type) {
  return RowOf(type).port_name;
}

std::optional<ElementType> ParseElementType(std::string_view text) {
  for (const Row& row : kRows) {
    if (text == row.name || text == row.port_name) return row.type;
  }
  return std::nullopt;
}

std::optional<char> NumPyLetter(ElementType type) {
  const char letter = RowOf(type).numpy;
  return letter == 0 ? std::nullopt : std::optional(letter);
}

std::optional<ElementType> FromNumPy(char letter, int bytes) {
  for (const Row& row : kRows) {
    if (row.numpy != 0 && row.numpy == letter && row.bits == 8 * bytes) return row.type;
  }
  return std::nullopt;
}

bool IsFloat(ElementType type) {
  return KindOf(type) == ElementKind::kFloat || IsNarrowFloat(type);
}

bool IsNarrowFloat(ElementType type) {
  return KindOf(type) == ElementKind::kNarrowFloat;
}

bool IsStorageOnly(ElementType type) {
  return BitWidth(type) > 0 && (BitWidth(type) < 8 || IsNarrowFloat(type));
}

bool IsSigned(ElementType type) {
  return IsFloat(type) || KindOf(type) == ElementKind::kSigned;
}

bool IsInteger(ElementType type) {
  return KindOf(type) == ElementKind::kSigned || KindOf(type) == ElementKind::kUnsigned;
}

float HalfToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

uint16_t FloatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to 65536 or more
  if (magnitude < 0x38800000u) {
    // Below the smallest normal half: the value in units of 2^-24, rounded to even.
    float units = std::ldexp(std::bit_cast<float>(magnitude), 24);
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(units)));
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float NarrowToFloat(ElementType type, uint8_t code) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  switch (type) {
    case ElementType::kNF4:
      return kNormalFloats[code & 0xfU];
    case ElementType::kF4E2M1:
      return MiniFloat(code, 2, 1);
    case ElementType::kF8E4M3:
      return (code & 0x7fU) == 0x7fU ? kNan : MiniFloat(code, 4, 3);
    case ElementType::kF8E5M2:
      return HalfToFloat(static_cast<uint16_t>(code << 8));
    case ElementType::kF8E8M0:
      return code == 0xffU ? kNan : std::ldexp(1.0F, code - 127);
    default:
      NNEFC_CHECK(!"a narrow float");
  }
  return 0;
}

namespace {

// The fields of a signed format. Without the sign bit, encodings are in the order of their numbers.
struct MiniFormat {
  int exponent_bits, fraction_bits;
  unsigned largest;   // the encoding of the largest number
  unsigned overflow;  // the encoding of numbers that round to larger ones
  unsigned nan;
};

// Encodes the nearest number; ties go to the even encoding.
uint8_t MiniCode(const MiniFormat& format, float value) {
  const unsigned sign = std::signbit(value) ? 1U << (format.exponent_bits + format.fraction_bits) : 0;
  if (std::isnan(value)) return static_cast<uint8_t>(sign | format.nan);
  const float magnitude = std::abs(value);
  // The largest number of all these formats is below 2^16.
  if (magnitude >= 0x1p16F) return static_cast<uint8_t>(sign | format.overflow);
  const int lowest = 2 - (1 << (format.exponent_bits - 1));  // exponent of the smallest normal number
  const int exponent = magnitude == 0 ? lowest : std::max(std::ilogb(magnitude), lowest);
  const auto units =
      static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent)));
  const unsigned code = (static_cast<unsigned>(exponent - lowest) << format.fraction_bits) + units;
  return static_cast<uint8_t>(sign | (code > format.largest ? format.overflow : code));
}

// Encodes the nearest power of two, at least 2^-127; non-positive numbers become 2^-127.
uint8_t PowerCode(float value) {
  constexpr int kBias = 127, kLargest = 254, kNan = 255;
  if (std::isnan(value)) return kNan;
  if (!(value > 0)) return 0;
  if (std::isinf(value)) return kLargest;
  int exponent = std::ilogb(value);
  const float significand = std::ldexp(value, -exponent);
  if (significand > 1.5F || (significand == 1.5F && (exponent + kBias) % 2 != 0)) ++exponent;
  return static_cast<uint8_t>(std::clamp(exponent + kBias, 0, kLargest));
}

uint8_t NormalFloatCode(float value) {
  uint8_t code = 0;
  for (int i = 1; i < 16; ++i) code += value > (kNormalFloats[i - 1] + kNormalFloats[i]) / 2 ? 1 : 0;
  return code;
}

}  // namespace

uint8_t FloatToNarrow(ElementType type, float value) {
  switch (type) {
    case ElementType::kNF4:
      return NormalFloatCode(value);
    case ElementType::kF4E2M1:
      return MiniCode({.exponent_bits = 2, .fraction_bits = 1, .largest = 7, .overflow = 7, .nan = 7}, value);
    case ElementType::kF8E4M3:
      return MiniCode(
          {.exponent_bits = 4, .fraction_bits = 3, .largest = 0x7e, .overflow = 0x7f, .nan = 0x7f}, value);
    case ElementType::kF8E5M2:
      return MiniCode(
          {.exponent_bits = 5, .fraction_bits = 2, .largest = 0x7b, .overflow = 0x7c, .nan = 0x7e}, value);
    case ElementType::kF8E8M0:
      return PowerCode(value);
    default:
      NNEFC_CHECK(!"a narrow float");
  }
  return 0;
}

}  // namespace nnefc

#include "compiler/support/tensor/element_type.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "compiler/support/check.h"

namespace nnefc {
namespace {

struct Row {
  ElementType type;
  int bits;
  std::string_view name;       // of attributes
  std::string_view port_name;  // of ports
};

constexpr Row kRows[] = {
    {ElementType::kDynamic, 0, "dynamic", "UNSPECIFIED"},
    {ElementType::kBoolean, 8, "boolean", "BOOL"},
    {ElementType::kBF16, 16, "bf16", "BF16"},
    {ElementType::kF16, 16, "f16", "FP16"},
    {ElementType::kF32, 32, "f32", "FP32"},
    {ElementType::kF64, 64, "f64", "FP64"},
    {ElementType::kI4, 4, "i4", "I4"},
    {ElementType::kI8, 8, "i8", "I8"},
    {ElementType::kI16, 16, "i16", "I16"},
    {ElementType::kI32, 32, "i32", "I32"},
    {ElementType::kI64, 64, "i64", "I64"},
    {ElementType::kU1, 1, "u1", "BIN"},
    {ElementType::kU4, 4, "u4", "U4"},
    {ElementType::kU8, 8, "u8", "U8"},
    {ElementType::kU16, 16, "u16", "U16"},
    {ElementType::kU32, 32, "u32", "U32"},
    {ElementType::kU64, 64, "u64", "U64"},
    {ElementType::kString, 0, "string", "STRING"},
};

const Row& RowOf(ElementType type) {
  const Row& row = kRows[static_cast<size_t>(type)];
  NNEFC_CHECK(row.type == type);
  return row;
}

}  // namespace

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

bool IsFloat(ElementType type) {
  return type == ElementType::kBF16 || type == ElementType::kF16 || type == ElementType::kF32 ||
         type == ElementType::kF64;
}

bool IsSigned(ElementType type) {
  return IsFloat(type) || (type >= ElementType::kI4 && type <= ElementType::kI64);
}

bool IsInteger(ElementType type) {
  return type >= ElementType::kI4 && type <= ElementType::kU64;
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
    // Below the smallest normal half: the value in units of 2^-24, to even.
    float units = std::ldexp(std::bit_cast<float>(magnitude), 24);
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(units)));
  }
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float BFloatToFloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t FloatToBFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace nnefc

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "compiler/support/tensor/element_type.h"

namespace nnefc {

// The 16-bit formats as C++ types, stored in 16 bits and computed as float.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  Half(float value) : bits(FloatToHalf(value)) {}
  operator float() const { return HalfToFloat(bits); }
};
struct BFloat {
  uint16_t bits = 0;
  BFloat() = default;
  BFloat(float value) : bits(FloatToBFloat(value)) {}
  operator float() const { return BFloatToFloat(bits); }
};
// A boolean element: one byte, 0 or 1.
struct Boolean {
  uint8_t value = 0;
  Boolean() = default;
  Boolean(bool b) : value(b ? 1 : 0) {}
  operator bool() const { return value != 0; }
};

template <typename T>
struct TypeTag {
  using Type = T;
};

template <typename T>
inline constexpr bool kIsFloating =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat>;

// The type for arithmetic on T: float for the 16-bit formats, otherwise T.
template <typename T>
using ComputeType = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat>, float,
                                       std::conditional_t<std::is_same_v<T, Boolean>, uint8_t, T>>;

template <typename T>
double AsDouble(T value) {
  return static_cast<double>(static_cast<ComputeType<T>>(value));
}

// Converts like OpenVINO's `Convert`: to an integer truncates toward zero and saturates (NaN becomes 0); to
// boolean is "!= 0".
template <typename To, typename From>
To ConvertElement(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Boolean>) {
    return ConvertElement<To>(static_cast<uint8_t>(value.value != 0 ? 1 : 0));
  } else if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat>) {
    return ConvertElement<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, Boolean>) {
    return Boolean(value != From(0));
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(value)) return 0;
    // The limits of To, converted to From, may be rounded up past the largest To.
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// Calls `visit(TypeTag<T>())` with the C++ type that stores elements of `type`. Returns false where none
// does: for sub-byte types, narrow floats and strings.
template <typename Visit>
bool VisitAnyType(ElementType type, Visit&& visit) {
  switch (type) {
    case ElementType::kBoolean:
      visit(TypeTag<Boolean>());
      return true;
    case ElementType::kF16:
      visit(TypeTag<Half>());
      return true;
    case ElementType::kBF16:
      visit(TypeTag<BFloat>());
      return true;
    case ElementType::kF32:
      visit(TypeTag<float>());
      return true;
    case ElementType::kF64:
      visit(TypeTag<double>());
      return true;
    case ElementType::kI8:
      visit(TypeTag<int8_t>());
      return true;
    case ElementType::kI16:
      visit(TypeTag<int16_t>());
      return true;
    case ElementType::kI32:
      visit(TypeTag<int32_t>());
      return true;
    case ElementType::kI64:
      visit(TypeTag<int64_t>());
      return true;
    case ElementType::kU8:
      visit(TypeTag<uint8_t>());
      return true;
    case ElementType::kU16:
      visit(TypeTag<uint16_t>());
      return true;
    case ElementType::kU32:
      visit(TypeTag<uint32_t>());
      return true;
    case ElementType::kU64:
      visit(TypeTag<uint64_t>());
      return true;
    case ElementType::kDynamic:
    case ElementType::kString:
    case ElementType::kI4:
    case ElementType::kU1:
    case ElementType::kU2:
    case ElementType::kU4:
    case ElementType::kNF4:
    case ElementType::kF4E2M1:
    case ElementType::kF8E4M3:
    case ElementType::kF8E5M2:
    case ElementType::kF8E8M0:
      break;
  }
  return false;
}

// Variants of VisitAnyType for floats, integers or both; `visit` is not instantiated for other types.
template <typename Visit>
bool VisitFloatType(ElementType type, Visit&& visit) {
  bool visited = false;
  VisitAnyType(type, [&](auto tag) {
    if constexpr (kIsFloating<typename decltype(tag)::Type>) visit(tag), visited = true;
  });
  return visited;
}

template <typename Visit>
bool VisitIntegerType(ElementType type, Visit&& visit) {
  bool visited = false;
  VisitAnyType(type, [&](auto tag) {
    if constexpr (std::is_integral_v<typename decltype(tag)::Type>) visit(tag), visited = true;
  });
  return visited;
}

template <typename Visit>
bool VisitNumericType(ElementType type, Visit&& visit) {
  bool visited = false;
  VisitAnyType(type, [&](auto tag) {
    if constexpr (!std::is_same_v<typename decltype(tag)::Type, Boolean>) visit(tag), visited = true;
  });
  return visited;
}

}  // namespace nnefc

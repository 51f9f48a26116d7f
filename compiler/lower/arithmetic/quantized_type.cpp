// Types of 8-bit quantized values, and their conversions.

#include "compiler/lower/arithmetic/quantized_type.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nnefc::lower {

namespace {

// Rounds |x| * factor to the nearest integer and restores the sign of x.
float ScaleBy(float x, float factor) {
  return std::copysign(std::nearbyint(std::abs(x) * factor), x);
}

int32_t Saturate(float whole, const QuantizedType& type) {
  if (std::isnan(whole)) return 0;
  const float bounded =
      std::clamp(whole, static_cast<float>(type.lowest()), static_cast<float>(type.highest()));
  return static_cast<int32_t>(bounded);
}

// Converts to int32 with saturation; NaN becomes 0.
int32_t ToInteger(float whole) {
  if (std::isnan(whole)) return 0;
  if (whole >= 0x1p31F) return std::numeric_limits<int32_t>::max();
  if (whole <= -0x1p31F) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(whole);
}

int32_t AddZeroPoint(int32_t whole, const QuantizedType& type) {
  const uint32_t sum = static_cast<uint32_t>(whole) + static_cast<uint32_t>(type.zero_point());
  return std::clamp(static_cast<int32_t>(sum), type.lowest(), type.highest());
}

float Compute(QuantizedBinary operation, float x, float y) {
  switch (operation) {
    case QuantizedBinary::kAdd:
      return x + y;
    case QuantizedBinary::kSub:
      return x - y;
    case QuantizedBinary::kMul:
      return x * y;
    case QuantizedBinary::kDiv:
      return x / y;
    case QuantizedBinary::kMax:
      return std::fmax(x, y);
    case QuantizedBinary::kMin:
      return std::fmin(x, y);
  }
  return 0;
}

}  // namespace

float Dequantize(int32_t value, const QuantizedType& type) {
  return static_cast<float>(value - type.zero_point()) * type.scale();
}

int32_t QuantizeNumber(float x, const QuantizedType& type) {
  const float share = x / type.scale();
  const float shifted = share + static_cast<float>(type.zero_point());
  return Saturate(std::nearbyint(shifted), type);
}

int32_t Requantize(int32_t value, const QuantizedType& from, const QuantizedType& to) {
  if (from.is_signed != to.is_signed) return QuantizeNumber(Dequantize(value, from), to);
  const float steps = ScaleBy(static_cast<float>(value - from.zero_point()), from.scale() / to.scale());
  return AddZeroPoint(ToInteger(steps), to);
}

int32_t ApplyFunction(float (*function)(float), int32_t value, const QuantizedType& from,
                      const QuantizedType& to) {
  const float share = function(Dequantize(value, from)) / to.scale();
  const float shifted = share + static_cast<float>(to.zero_point());
  return Saturate(std::trunc(shifted), to);
}

int32_t ApplyBinary(QuantizedBinary operation, QuantizedOperand x, QuantizedOperand y,
                    const QuantizedType& to) {
  if (x.type.is_signed || y.type.is_signed || to.is_signed)
    return QuantizeNumber(Compute(operation, Dequantize(x.value, x.type), Dequantize(y.value, y.type)), to);
  const auto steps = [](const QuantizedOperand& operand) {
    return static_cast<float>(operand.value - operand.type.zero_point());
  };
  const float inverse = 1.0F / to.scale();
  if (operation == QuantizedBinary::kMax && (x.is_uniform || y.is_uniform)) {
    const bool swaps = x.is_uniform && !y.is_uniform;
    const QuantizedOperand &wide = swaps ? y : x, &narrow = swaps ? x : y;
    const float bound = ScaleBy(steps(narrow), narrow.type.scale() / wide.type.scale());
    const float larger = std::max(steps(wide), bound);
    return AddZeroPoint(ToInteger(ScaleBy(larger, wide.type.scale() * inverse)), to);
  }
  if (operation == QuantizedBinary::kMul) {
    const float factor = x.type.scale() * y.type.scale() * inverse;
    return AddZeroPoint(ToInteger(ScaleBy(steps(x) * steps(y), factor)), to);
  }
  if (operation == QuantizedBinary::kDiv) {
    const float factor = x.type.scale() / (y.type.scale() * to.scale());
    return AddZeroPoint(ToInteger(ScaleBy(steps(x) / steps(y), factor)), to);
  }
  const float number = Compute(operation, Dequantize(x.value, x.type), Dequantize(y.value, y.type));
  return AddZeroPoint(ToInteger(ScaleBy(number, inverse)), to);
}

}  // namespace nnefc::lower

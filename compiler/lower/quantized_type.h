#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nnefc {

// The type of a tensor of 8-bit quantized values, of which each stands for (value - zero_point) * scale.
struct QuantizedType {
  bool is_signed = false;
  // One item, or one for each index of the first axis.
  std::vector<float> scales;
  std::vector<int32_t> zero_points;

  float scale() const { return scales[0]; }
  int32_t zero_point() const { return zero_points[0]; }
  bool is_per_tensor() const { return scales.size() == 1; }
  int32_t lowest() const { return is_signed ? -128 : 0; }
  int32_t highest() const { return is_signed ? 127 : 255; }
  bool operator==(const QuantizedType& other) const = default;
};

// By the names of tensors.
using QuantizedTypes = std::map<std::string, QuantizedType, std::less<>>;

namespace lower {

// Arithmetic of single quantized values as tract does it, in f32 throughout. Types have one scale.

// The number that a quantized value stands for.
float Dequantize(int32_t value, const QuantizedType& type);
// The quantized value of a number: halves of `x / scale + zero_point` go to the even one.
int32_t QuantizeNumber(float x, const QuantizedType& type);
// The same number in another type.
int32_t Requantize(int32_t value, const QuantizedType& from, const QuantizedType& to);
// A function of one number; what is beyond the whole numbers of the result is cut off.
int32_t ApplyFunction(float (*function)(float), int32_t value, const QuantizedType& from,
                      const QuantizedType& to);

enum class QuantizedBinary : uint8_t { kAdd, kSub, kMul, kDiv, kMax, kMin };
// `x_uniform`, `y_uniform`: all quantized values of the operand are equal, for which tract has a maximum of
// its own.
struct QuantizedOperand {
  int32_t value;
  const QuantizedType& type;
  bool is_uniform = false;
};
int32_t ApplyBinary(QuantizedBinary operation, QuantizedOperand x, QuantizedOperand y,
                    const QuantizedType& to);

}  // namespace lower
}  // namespace nnefc

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nnefc::lower {

// A tensor type of 8-bit quantized values, where each represents (value - zero_point) * scale.
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

// Quantized types by tensor name.
using QuantizedTypes = std::map<std::string, QuantizedType, std::less<>>;

// Arithmetic of single quantized values as in tract, in f32 throughout. All types are per-tensor.

// Returns the real value of a quantized value.
float Dequantize(int32_t value, const QuantizedType& type);
// Quantizes a real value: `x / scale + zero_point`, rounded half to even and saturated.
int32_t QuantizeNumber(float x, const QuantizedType& type);
// Converts a quantized value to another type.
int32_t Requantize(int32_t value, const QuantizedType& from, const QuantizedType& to);
// Applies a function to the real value; the quantized result is truncated toward zero and saturated.
int32_t ApplyFunction(float (*function)(float), int32_t value, const QuantizedType& from,
                      const QuantizedType& to);

enum class QuantizedBinary : uint8_t { kAdd, kSub, kMul, kDiv, kMax, kMin };
// A quantized value with its type. `is_uniform`: all values of the tensor are equal; tract computes their
// maximum differently.
struct QuantizedOperand {
  int32_t value;
  const QuantizedType& type;
  bool is_uniform = false;
};
int32_t ApplyBinary(QuantizedBinary operation, QuantizedOperand x, QuantizedOperand y,
                    const QuantizedType& to);

}  // namespace nnefc::lower

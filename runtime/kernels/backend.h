#pragma once

#include <cstdint>

namespace nnefc::runtime {

enum class Backend : uint8_t {
  kReference,  // portable C++ that reads like the formula
  kOneDnn,     // oneDNN where it has the operation, reference elsewhere
};

// In which numbers the fast backend computes values of f32.
enum class Precision : uint8_t {
  kExact,  // sums of products as the formulas have them
  kF32,    // convolutions in fewer multiplications, too, which round otherwise
  kBf16,   // products of bf16 with sums in f32; values between convolutions in bf16
};

}  // namespace nnefc::runtime

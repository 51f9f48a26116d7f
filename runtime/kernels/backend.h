#pragma once

#include <cstdint>

namespace nnefc::runtime::kernels {

// The kernels that compute a graph.
enum class Backend : uint8_t {
  kReference,  // portable C++ that follows the formulas
  kFast,       // oneDNN and our fast kernels where available, otherwise reference
};

// The arithmetic that the fast backend uses for f32 values.
enum class Precision : uint8_t {
  kExact,  // dot products exactly as in the formulas
  kF32,    // also Winograd and similar algorithms, with other rounding errors
  kBf16,   // bf16 multiplication with f32 accumulation; bf16 values between convolutions
};

}  // namespace nnefc::runtime::kernels

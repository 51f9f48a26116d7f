#pragma once

#include <cstdint>

namespace nnefc::runtime::fast::gemm {

// The sizes of a matmul of a row-major matrix [rows, inputs] (input 0 of the request, with any shape) and a
// constant matrix (input 1): [outputs, inputs], or [inputs, outputs] if `inputs_first`. oneDNN chooses the
// packed layout of the constant.
struct InnerProduct {
  int64_t rows = 0;
  int64_t inputs = 0;
  int64_t outputs = 0;
  bool inputs_first = false;
};

}  // namespace nnefc::runtime::fast::gemm

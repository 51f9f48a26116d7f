#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

// Of rows that lie `from_stride` apart, columns that lie `to_stride` apart: [rows, columns] to [columns,
// rows].
struct TransposedMatrix {
  const float* from;
  int64_t from_stride;
  float* to;
  int64_t to_stride;
  int64_t rows, columns;
};
NNEFC_LANE_FUNCTION(TransposeMatrix, void(const TransposedMatrix& matrix));

}  // namespace nnefc::runtime

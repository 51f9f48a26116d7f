#pragma once

#include <cstdint>

#include "compiler/support/tensor/tensor_value.h"
#include "nlohmann/json.hpp"

namespace nnefc::api {

// Computes statistics of tensors for drawings, in bounded time: of a large tensor it examines blocks of
// elements at even distances, and of a large model not all tensors.
class WeightStatistics {
 public:
  static constexpr int64_t kMaxElements = int64_t{1} << 22;       // that are examined of one tensor
  static constexpr int64_t kMaxTotalElements = int64_t{1} << 27;  // that are examined of all tensors
  static constexpr int64_t kBlock = 4096;                         // elements
  static constexpr int64_t kBins = 16;

  // Returns the statistics as an object, or null for elements that are no numbers and if all tensors together
  // are too large:
  //
  //   {"count": elements, "examined": elements, "not_finite": .., "zeros": .., "min": .., "max": .., "mean":
  //   ..,
  //    "deviation": .., "bins": [16 counts]}
  //
  // `min`, `max`, `mean`, `deviation` (of the population) and `bins` are those of the finite elements that
  // are examined, and absent without any. The bins divide the range from `min` to `max` evenly; each includes
  // its lower limit, the last one also its upper limit. They are absent if both limits are equal.
  nlohmann::ordered_json Examine(const TensorValue& tensor);

 private:
  int64_t remaining_ = kMaxTotalElements;
};

}  // namespace nnefc::api

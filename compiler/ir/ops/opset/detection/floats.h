#pragma once

#include <vector>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::ir::ops::opset::detection {

// Returns the elements as f32.
inline std::vector<float> Floats(const TensorValue& value) {
  std::vector<float> elements;
  for (int64_t i = 0; i < value.volume(); ++i)
    elements.push_back(static_cast<float>(value.ElementAsDouble(i)));
  return elements;
}

}  // namespace nnefc::ir::ops::opset::detection

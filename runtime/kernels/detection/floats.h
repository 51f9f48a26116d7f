#pragma once

#include <vector>

#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime::kernels::detection {

// Returns the elements as f32.
inline std::vector<float> Floats(const tensor::TensorView& view) {
  const auto elements = tensor::ElementsAsDoubles(view);
  return {elements.begin(), elements.end()};
}

}  // namespace nnefc::runtime::kernels::detection

#pragma once

#include <vector>

#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime {

// Returns the elements as f32.
inline std::vector<float> Floats(const TensorView& view) {
  const auto elements = ElementsAsDoubles(view);
  return {elements.begin(), elements.end()};
}

}  // namespace nnefc::runtime

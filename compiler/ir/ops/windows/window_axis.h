#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace nnefc::ir::ops {

// The parameters of a sliding window along one axis, of NNEF (R 4.3) and of OpenVINO.
struct WindowAxis {
  int64_t size = 1;      // f
  int64_t stride = 1;    // s
  int64_t dilation = 1;  // d
  // (p, q); none: automatic
  std::optional<std::pair<int64_t, int64_t>> padding = std::nullopt;
};

// A window over all relevant axes; its lists are complete.
using Window = std::vector<WindowAxis>;

}  // namespace nnefc::ir::ops

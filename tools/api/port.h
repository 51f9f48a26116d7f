#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/tensor/element_type.h"

namespace nnefc::api {

// An input or output of a graph.
struct Port {
  std::string name;
  ElementType type = ElementType::kDynamic;
  // Nothing if the rank is unknown; -1 for an unknown extent.
  std::optional<std::vector<int64_t>> shape;
};

}  // namespace nnefc::api

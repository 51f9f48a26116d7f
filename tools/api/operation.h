#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tools/api/port.h"
#include "tools/api/tensor.h"

namespace nnefc::api {

// The value of an attribute. Tuples are lists, types are names of element types, and unknown extents of
// shapes are -1.
struct Value {
  std::variant<bool, int64_t, double, std::string, std::vector<Value>, Tensor> value;
};

// An operation of a model after fragment instantiation.
struct Operation {
  std::string type;  // "conv"
  // Names of tensors; an empty name is a literal of the document.
  std::vector<std::string> inputs;
  std::vector<Port> outputs;
  std::vector<std::pair<std::string, Value>> attributes;
};

// A variable; `label` identifies its data.
struct Variable {
  std::string label;
  Port port;
};

}  // namespace nnefc::api

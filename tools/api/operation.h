#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tools/api/port.h"
#include "tools/api/tensor.h"

namespace nnefc::api {

// The value of an attribute: tuples are lists, types are the names of element types, and extents
// of shapes that are open are -1.
struct Value {
  std::variant<bool, int64_t, double, std::string, std::vector<Value>, Tensor> value;
};

// An operation of a model, as it is once fragments are instantiated.
struct Operation {
  std::string type;  // "conv"
  // Names of tensors; an empty one is a literal of the document.
  std::vector<std::string> inputs;
  std::vector<Port> outputs;
  std::vector<std::pair<std::string, Value>> attributes;
};

// A variable: `label` is what its data is kept under.
struct Variable {
  std::string label;
  Port port;
};

}  // namespace nnefc::api

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/driver/compilation.h"

namespace nnefc::cli {

// A value of a graph that is told beside the outputs.
struct KeptValue {
  std::string name;
  ir::OutputPort port;
};

// The values of a lowered model that `--dump` names, in the order in which they
// are computed: tensors as `nnefc expand` prints them, or tensors and layers of
// OpenVINO IR; `all` is every result of an operation that has a name. Throws
// MisuseError for a name that is none of them.
std::vector<KeptValue> FindValues(const Compilation& compilation, const std::vector<std::string>& names);

}  // namespace nnefc::cli

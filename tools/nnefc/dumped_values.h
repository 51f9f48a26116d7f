#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/driver/compilation.h"

namespace nnefc::cli {

// A value of a graph that is reported in addition to the outputs.
struct DumpedValue {
  std::string name;
  ir::OutputPort port;
};

// Returns the values of a lowered model named by `--dump`, in the order of computation. Names are those of
// tensors printed by `nnefc expand`, or of tensors and layers of OpenVINO IR; `all` selects all named results
// of operations. Throws MisuseError for an unknown name.
std::vector<DumpedValue> FindValues(const Compilation& compilation, const std::vector<std::string>& names);

}  // namespace nnefc::cli

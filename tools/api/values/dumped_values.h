#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/support/error_or.h"

namespace nnefc::api {

// A value of a graph that is reported in addition to the outputs.
struct DumpedValue {
  std::string name;
  ir::OutputPort port;
};

// Returns the values of a lowered model named by `--dump`, in the order of computation. Names are those of
// tensors printed by `nnefc expand`, or of tensors and layers of OpenVINO IR; `all` selects all named results
// of operations. Returns an error for an unknown name.
ErrorOr<std::vector<DumpedValue>> FindValues(const driver::Compilation& compilation,
                                             const std::vector<std::string>& names);

}  // namespace nnefc::api

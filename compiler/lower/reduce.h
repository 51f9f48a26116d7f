#pragma once

#include <vector>

#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// A Reduce operation of opset1 that keeps the reduced dimensions; without axes
// the tensor itself.
OutputPort Reduce(NodeLowering& n, std::string_view type, OutputPort x, const std::vector<int64_t>& axes,
                  std::string_view suffix = {});

}  // namespace nnefc::lower

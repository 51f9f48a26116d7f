#pragma once

#include <vector>

#include "compiler/lower/node_lowering.h"

namespace nnefc::lower {

// Adds a Reduce operation of opset1 with the reduced dimensions preserved; without axes, returns the tensor.
OutputPort Reduce(NodeLowering& n, std::string_view type, OutputPort x, const std::vector<int64_t>& axes,
                  std::string_view suffix = {});

// Lowers a reduction along `axes` to the equivalent in its row.
void LowerReduction(NodeLowering& n);

}  // namespace nnefc::lower

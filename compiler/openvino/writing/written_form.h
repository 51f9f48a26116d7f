#pragma once

#include <memory>

#include "compiler/ir/graph.h"

namespace nnefc::openvino {

// Returns a copy of the graph, including bodies, with only operations that OpenVINO computes like nnefc; null
// if nothing changes.
// - A loop over part of an axis becomes a loop over the whole of a Slice, because OpenVINO's implementations
//   interpret other starts and ends differently.
// - An LSTMCell of old converters, whose W and R are one matrix, is split into two matrices.
std::unique_ptr<ir::Graph> WrittenForm(const ir::Graph& graph);

}  // namespace nnefc::openvino

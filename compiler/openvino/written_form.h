#pragma once

#include <memory>

#include "compiler/ir/graph.h"

namespace nnefc::openvino {

// The graph in operations that OpenVINO computes as we do, in bodies too; null
// if it is so already.
// - A loop over a part of an axis becomes one over the whole of what Slice cuts
//   out: parts of OpenVINO count other starts and ends in different ways.
// - The LSTMCell of old converters, whose W and R are one matrix, gets two.
std::unique_ptr<ir::Graph> WrittenForm(const ir::Graph& graph);

}  // namespace nnefc::openvino

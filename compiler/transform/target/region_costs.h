#pragma once

#include "compiler/ir/plan_functions.h"
#include "compiler/transform/target/quantized_regions.h"

namespace nnefc::transform::target {

// Returns the quantized results for which the steps of a graph take the least time by the times: convolutions
// and matmuls in 8 bits or f32, and the conversions between them. Parts of a Concat stay together.
// All results of very large graphs.
llvm::DenseSet<ir::NodeId> FasterResults(QuantizedRegions& regions, const ir::StepTimes& times);

}  // namespace nnefc::transform::target

#pragma once

#include "compiler/ir/op_registry.h"

namespace nnefc::ir::ops {

// Registers the nnef set, one family per file.
void RegisterTensorIntroducing(OpRegistry& registry);
void RegisterElementwise(OpRegistry& registry);
void RegisterSlidingWindow(OpRegistry& registry);
void RegisterSampling(OpRegistry& registry);
void RegisterReduce(OpRegistry& registry);
void RegisterShapeOps(OpRegistry& registry);
void RegisterSections(OpRegistry& registry);
void RegisterRoi(OpRegistry& registry);
void RegisterMatmul(OpRegistry& registry);
void RegisterUpdate(OpRegistry& registry);
void RegisterActivation(OpRegistry& registry);
void RegisterNormalization(OpRegistry& registry);
void RegisterQuantization(OpRegistry& registry);
void RegisterMiscellaneous(OpRegistry& registry);
void RegisterControlFlow(OpRegistry& registry);
void RegisterTract(OpRegistry& registry);
void RegisterTractOnnx(OpRegistry& registry);
void RegisterTractStates(OpRegistry& registry);

}  // namespace nnefc::ir::ops

#pragma once

#include <string_view>

#include "llvm/ADT/StringMap.h"

namespace nnefc::lower {

class NodeLowering;

// Adds the computation of one NNEF node to the target and sets its outputs.
using LowerFunction = void (*)(NodeLowering&);

// The lowerings of NNEF operations that have an OpenVINO form, by name.
using LoweringTable = llvm::StringMap<LowerFunction>;

// Returns the lowerings of the standard operations.
const LoweringTable& StandardLowerings();

// Registers the lowerings, one family per file.
void RegisterTensorIntroducing(LoweringTable& table);
void RegisterElementwise(LoweringTable& table);
void RegisterConvolution(LoweringTable& table);
void RegisterPooling(LoweringTable& table);
void RegisterIndexSampling(LoweringTable& table);
void RegisterResampling(LoweringTable& table);
void RegisterReduce(LoweringTable& table);
void RegisterShapeOps(LoweringTable& table);
void RegisterSections(LoweringTable& table);
void RegisterRoi(LoweringTable& table);
void RegisterMatmul(LoweringTable& table);
void RegisterUpdate(LoweringTable& table);
void RegisterActivation(LoweringTable& table);
void RegisterNormalization(LoweringTable& table);
void RegisterQuantization(LoweringTable& table);
void RegisterMiscellaneous(LoweringTable& table);
void RegisterControlFlow(LoweringTable& table);
void RegisterTract(LoweringTable& table);

}  // namespace nnefc::lower

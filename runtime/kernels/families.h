#pragma once

#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

// One function per file of kernels in this folder.
void RegisterElementwiseUnary(KernelRegistry& registry);
void RegisterElementwiseBinary(KernelRegistry& registry);
void RegisterActivation(KernelRegistry& registry);
void RegisterConvolution(KernelRegistry& registry);
void RegisterPooling(KernelRegistry& registry);
void RegisterPad(KernelRegistry& registry);
void RegisterReduce(KernelRegistry& registry);
void RegisterTopK(KernelRegistry& registry);
void RegisterShapeOps(KernelRegistry& registry);
void RegisterSlice(KernelRegistry& registry);
void RegisterGather(KernelRegistry& registry);
void RegisterGatherNd(KernelRegistry& registry);
void RegisterCounting(KernelRegistry& registry);
void RegisterRearranging(KernelRegistry& registry);
void RegisterAttention(KernelRegistry& registry);
void RegisterBitwise(KernelRegistry& registry);
void RegisterGridSample(KernelRegistry& registry);
void RegisterRoi(KernelRegistry& registry);
void RegisterBoxSelection(KernelRegistry& registry);
void RegisterYolo(KernelRegistry& registry);
void RegisterDetection(KernelRegistry& registry);
void RegisterPriorBox(KernelRegistry& registry);
void RegisterCtc(KernelRegistry& registry);
void RegisterNnefConvolution(KernelRegistry& registry);
void RegisterNnefPool(KernelRegistry& registry);
void RegisterNnefRoi(KernelRegistry& registry);
void RegisterMatMul(KernelRegistry& registry);
void RegisterNormalization(KernelRegistry& registry);
void RegisterSoftmax(KernelRegistry& registry);
void RegisterQuantization(KernelRegistry& registry);
void RegisterInterpolate(KernelRegistry& registry);
void RegisterRecurrent(KernelRegistry& registry);

}  // namespace nnefc::runtime::kernels

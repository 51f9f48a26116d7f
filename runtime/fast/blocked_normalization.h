// Normalizations of images with their channels in blocks.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Of a BatchNormInference with parameters that are constants; nothing where the images lie otherwise, the
// processor has no lanes, or one of the posts has no translation.
std::optional<PreparedKernel> MakeBlockedBatchNorm(const KernelRequest& request);

// Of an MVN over all pixels of each channel.
struct ChannelMoments {
  double epsilon;
  bool normalize;  // by the root of the variance, to which epsilon is added before it is drawn or after
  bool inside;

  double FactorOf(double variance) const;
};
// Nothing where the images lie otherwise or the processor has no lanes.
std::optional<PreparedKernel> MakeBlockedMvn(const KernelRequest& request, const ChannelMoments& moments);

}  // namespace nnefc::runtime

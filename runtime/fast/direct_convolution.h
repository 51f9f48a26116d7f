// Convolutions of all channels as sums of products, in tiles of registers: of images with their channels in
// blocks, and of row-major ones of few channels.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Of a Convolution; nothing where it has few output channels or a filter that is no constant, the processor
// has no lanes or one of the posts has no translation.
std::optional<PreparedKernel> MakeDirectConvolution(const KernelRequest& request);

// Of filters [outputs, inputs, rows, columns]: [tile of outputs][rows][columns][inputs], the outputs of a
// tile behind one another.
Layout BlockedFilterLayout(llvm::ArrayRef<int64_t> filter);

}  // namespace nnefc::runtime

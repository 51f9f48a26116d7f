// Convolutions of all channels as sums of products, in tiles of registers: of images with their channels in
// blocks, and of row-major ones of few channels.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Whether it is what a Convolution or GroupConvolution is best made by: of few output channels most of a
// block is computed in vain, and a filter that is no constant is laid out in each run.
bool IsForDirectConvolution(const KernelRequest& request);

// Nothing where groups fill no whole blocks of channels, the processor has no lanes or one of the posts has
// no translation.
std::optional<PreparedKernel> MakeDirectConvolution(const KernelRequest& request, bool is_grouped);

// Of filters [outputs, inputs, rows, columns]: [tile of outputs][rows][columns][inputs], the outputs of a
// tile behind one another.
Layout BlockedFilterLayout(llvm::ArrayRef<int64_t> filter);

}  // namespace nnefc::runtime

// Maxima and means over windows of images of f32 with their channels in blocks, in vectors along the block.
#pragma once

#include <optional>

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/window.h"

namespace nnefc::runtime {

enum class Pooled : uint8_t {
  kMaximum,
  kMeanOfInput,    // of what of a window lies in the input
  kMeanOfPadding,  // of the padding, too
};

// Of input 0, which is put into blocks first where it lies by rows and that is worth it; nothing where it
// lies otherwise or the processor has no lanes.
std::optional<PreparedKernel> MakeBlockedPooling(const KernelRequest& request, Pooled pooled,
                                                 const Window& window);

}  // namespace nnefc::runtime

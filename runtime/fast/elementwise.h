// Elementwise functions with one and two inputs, in the layout of the input.
#pragma once

#include <optional>

#include "runtime/fast/gemm/function_kind.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast {

// Returns the kernels' function for a binary operation; nothing if there is none.
std::optional<gemm::FunctionKind> BinaryFunction(ir::ElementFunction function);
// Returns the format for two inputs with the same shape: that of the input that is not row-major.
memory::BlockedFormat CommonFormatOf(const kernels::KernelRequest& request);
// Returns an empty reason if both inputs have the same shape.
kernels::Reason EqualShapes(const kernels::KernelRequest& request);

}  // namespace nnefc::runtime::fast

// Convolutions and products with constant matrices of integers of 32 bits, as exporters write products of
// codes whose zero is known when they run alone. Numbers that fit 16 bits are multiplied in tiles of
// registers (lanes/code_tile.h), the others one at a time; sums are modulo 2^32 either way.
#pragma once

#include <memory>
#include <optional>

#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Of a Convolution along one or two axes, or a MatMul whose right factor is one matrix. Nothing for others,
// for constants that do not fit 16 bits, or where the processor has no lanes.
std::optional<PreparedKernel> MakeIntegerConvolution(const KernelRequest& request);
std::optional<PreparedKernel> MakeIntegerProduct(const KernelRequest& request);

// Lays their constants out; null for other layouts.
std::shared_ptr<const Kernel> MakeIntegerReorder(ElementType type, const Layout& from, const Layout& to);

}  // namespace nnefc::runtime

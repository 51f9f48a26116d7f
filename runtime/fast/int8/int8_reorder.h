// Reorders and dequantization of int8 images and rows.
#pragma once

#include <memory>
#include <optional>

#include "runtime/fast/memory/blocked_layout.h"

namespace nnefc::runtime::fast::int8 {

// Creates a reorder of quantized values to quantized values of the same scale (`to_codes`), or to f32.
// Returns null for layouts other than row-major, NHWC, and nChw16c for f32.
std::shared_ptr<const kernels::Kernel> MakeInt8Reorder(const memory::BlockedFormat& from,
                                                       const memory::ValueQuantization& codes,
                                                       const memory::BlockedFormat& to, bool to_codes);

}  // namespace nnefc::runtime::fast::int8

// Codes of 8 bits to other places, and the numbers that they stand for, of images and of rows.
#pragma once

#include <memory>
#include <optional>

#include "runtime/fast/dnnl_layout.h"

namespace nnefc::runtime {

// From codes to codes that stand for the same numbers (`to_codes`) or to numbers. Null for layouts that are
// neither row-major nor of images with their channels behind the pixels, or, of numbers, in blocks.
std::shared_ptr<const Kernel> MakeCodedReorder(const dnnl::memory::desc& from, const DnnCodes& codes,
                                               const dnnl::memory::desc& to, bool to_codes);

}  // namespace nnefc::runtime

#pragma once

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::gemm {

// The shape of an operand of the binary operation `node` relative to its result; the first match applies.
enum class OperandShape : uint8_t {
  kScalar,      // one element
  kPerChannel,  // one element per position of the channel axis
  kFull,        // same size as the result
  kOther,
};
OperandShape ClassifyOperand(const ir::Node& node, llvm::ArrayRef<int64_t> operand,
                             llvm::ArrayRef<int64_t> result, int64_t channel_axis);

}  // namespace nnefc::runtime::fast::gemm

#pragma once

#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/gemm/function_kind.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::gemm {

// An operation on each element: a function with parameters, or a binary operation with a number.
struct ChainedFunction {
  FunctionKind kind;
  float alpha = 0;
  float beta = 0;
  std::optional<float> number = std::nullopt;  // the second operand of a binary operation
};

// A chain of functions of an element that a step applies to its result.
class FunctionChain {
 public:
  // Appends the function of `node` on input `chained`; the other inputs (`rest`) are constants. Returns false
  // unless the functions match the operation's formula for all x, including NaN and zeros.
  //
  // A chain has one set of parameters per kind, because oneDNN 2.6 generates code with the parameters of the
  // first function of a kind (OneDnnPostOpsTest checks that). A second function of a kind is expressed as a
  // binary one, or declined.
  bool Append(const ir::Node& node, int chained, llvm::ArrayRef<kernels::ValueInfo> rest);

  // Appends x * factor + offset. Returns false if the chain has a linear function with other parameters.
  bool AppendLinear(float factor, float offset);
  // Appends clamping, or rounding with ties to even, at the start of a chain.
  void AppendLimits(float low, float high);
  void AppendRound();

  llvm::ArrayRef<ChainedFunction> functions() const { return functions_; }

 private:
  bool Clashes(const ChainedFunction& function) const;

  llvm::SmallVector<ChainedFunction, 4> functions_;
};

// How a fused operation enters a step.
enum class PostOpKind : uint8_t {
  kFunction,    // appended to the chain
  kPerChannel,  // adds or multiplies one element per channel
  kFull,        // adds or multiplies an operand of the result's shape
  kOther,
};
// Classifies a fused operation, and appends functions to `chain`. Channels are axis `channel_axis` of the
// result.
PostOpKind ClassifyPostOp(const kernels::KernelRequest& request, const kernels::PostOperation& post,
                          int64_t channel_axis, FunctionChain& chain);

}  // namespace nnefc::runtime::fast::gemm

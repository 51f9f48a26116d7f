#pragma once

#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "runtime/kernels/kernel.h"
#include "runtime/onednn/onednn.h"

namespace nnefc::runtime {

// A oneDNN operation on each element x: a function with parameters, or a binary algorithm with a number.
struct DnnFunction {
  dnnl::algorithm algorithm;
  float alpha = 0;
  float beta = 0;
  std::optional<float> number = std::nullopt;  // the second operand of a binary algorithm
};

// A chain of functions of an element as computed by oneDNN's post-ops.
class DnnFunctions {
 public:
  // Appends the function of `node` on input `chained`; the other inputs (`rest`) are constants. Returns false
  // unless oneDNN's functions match the operation's formula for all x, including NaN and zeros.
  //
  // oneDNN 2.6 generates post-op code with one set of parameters per algorithm: a second function of the same
  // algorithm would use the parameters of the first (checked by DnnPostOpsTest). Such a function is expressed
  // as a binary one, or declined.
  bool Append(const ir::Node& node, int chained, llvm::ArrayRef<ValueInfo> rest);

  // Appends x * factor + offset. Returns false if the algorithm is already used with other parameters.
  bool AppendLinear(float factor, float offset);
  // Appends clamping, or rounding with ties to even, at the start of a chain.
  void AppendLimits(float low, float high);
  void AppendRound();

  llvm::ArrayRef<DnnFunction> functions() const { return functions_; }

 private:
  bool Clashes(const DnnFunction& function) const;

  llvm::SmallVector<DnnFunction, 4> functions_;
};

}  // namespace nnefc::runtime

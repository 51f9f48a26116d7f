#pragma once

#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/onednn.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// One operation of oneDNN on each element x: a function of x with parameters,
// or a binary algorithm of x and a number.
struct DnnFunction {
  dnnl::algorithm algorithm;
  float alpha = 0;
  float beta = 0;
  std::optional<float> number = std::nullopt;  // the second operand of a binary algorithm
};

// What operations do to an element one after the other, as oneDNN computes it in
// the post-operations of a primitive.
class DnnFunctions {
 public:
  // Adds what `node` does to its input `chained`, the others (`rest`) being
  // constants. False if that is no chain of functions of oneDNN that give what
  // the operation's formula gives for every x, NaN and zeros included.
  //
  // The code that oneDNN 2.6 generates for post-operations keeps one set of
  // parameters for each algorithm: a second function of an algorithm with other
  // parameters would take those of the first (DnnPostOpsTest tells whether it
  // still does). It is made a binary one here, or is declined.
  bool Append(const ir::Node& node, int chained, llvm::ArrayRef<ValueInfo> rest);

  // Adds x * factor + offset; false if other parameters of it have been taken.
  bool AppendLinear(float factor, float offset);
  // Cuts off at both ends, and rounds to whole numbers, halves to even; first of all.
  void AppendLimits(float low, float high);
  void AppendRound();

  llvm::ArrayRef<DnnFunction> functions() const { return functions_; }

 private:
  bool Clashes(const DnnFunction& function) const;

  llvm::SmallVector<DnnFunction, 4> functions_;
};

}  // namespace nnefc::runtime

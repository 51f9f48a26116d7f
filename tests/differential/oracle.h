#pragma once

// Expected results of a graph, node by node, and the deviation that is allowed for a correct implementation.

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "runtime/kernels/registry.h"
#include "tests/differential/random.h"

namespace nnefc::differential {

// The distribution of input values.
enum class Spread : uint8_t {
  kEighths,  // multiples of 1/8 in [-2, 2]: sums and products are exact
  kReal,     // any number in [-2, 2]
  kSpecial,  // also NaN, infinities, denormals, zeros of both signs, huge numbers
};

// True if no element is infinite or NaN; always true for other types.
bool IsFinite(const TensorValue& value);

// Returns data for the parameters of a graph, whose extents must be known; the same for the same seed.
std::vector<TensorValue> MakeInputs(const ir::Graph& graph, Spread spread, uint64_t seed);

// The rounding in a computation: by operations alone, or also of intermediate values.
enum class Rounding : uint8_t { kF32, kBf16 };

// Computes the results of a graph with known shapes; `error` explains a node that cannot be computed.
class Oracle {
 public:
  Oracle(const ir::Graph& graph, const runtime::kernels::KernelRegistry& kernels,
         std::vector<TensorValue> inputs);

  // Returns the results by the reference kernels, node by node, or nothing and the message in `error` if one
  // fails.
  std::optional<std::vector<TensorValue>> Evaluate(std::string& error);
  // True if Evaluate computed only finite numbers.
  bool all_finite() const { return all_finite_; }
  // Compares `found` and `expected`, results of the graph. Returns "" if every element is equal or as near as
  // rounding alone explains: results of inexact nodes are perturbed at random and the effect is observed.
  std::string Compare(const std::vector<TensorValue>& found, const std::vector<TensorValue>& expected,
                      Rounding rounding = Rounding::kF32) const;

  // Returns the allowed deviation from `expected` per element, as tensors of f32; infinite where rounding
  // decides between finite and not. Returns nothing if rounding decides whether the graph can be computed at
  // all.
  std::optional<std::vector<TensorValue>> Bounds(const std::vector<TensorValue>& expected) const;

 private:
  // The largest observed deviation by rounding, per result and element.
  using Reach = std::vector<std::vector<double>>;
  static Reach NoReach(const std::vector<TensorValue>& expected);
  // Runs the perturbations from `first` to `last` and widens `reach`. Returns false if one cannot be computed
  // or has another shape.
  bool Shake(int first, int last, const std::vector<TensorValue>& expected, Rounding rounding,
             Reach& reach) const;
  void ForgetCancelled(const std::vector<TensorValue>& expected, Rounding rounding, Reach& reach) const;
  // The perturbation of numbers within a run. At a scale of 0 numbers are only rounded to nearly equal ones.
  struct Noise {
    Random* random = nullptr;  // null: none
    double scale = 0;
    Rounding rounding = Rounding::kF32;
  };
  std::optional<std::vector<TensorValue>> Run(const Noise& noise, std::string& error) const;
  // Runs the body of an If that its condition selects.
  std::optional<std::vector<TensorValue>> RunBranch(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs,
                                                    const Noise& noise, std::string& error) const;

  void LoseInfinities(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs,
                      std::vector<TensorValue>& outputs) const;
  void OverflowSums(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs, Random& random,
                    std::vector<TensorValue>& outputs) const;

  const ir::Graph& graph_;
  const runtime::kernels::KernelRegistry& kernels_;
  std::vector<TensorValue> inputs_;
  mutable bool all_finite_ = true;
  mutable bool takes_large_ = false;  // a perturbed node has large inputs
};

// Describes the first difference of type, shape or bits; zeros of both signs are equal, and so are all NaN.
// Empty if there is none.
std::string FirstDifference(const std::vector<TensorValue>& found, const std::vector<TensorValue>& expected);

}  // namespace nnefc::differential

#pragma once

// What a graph computes, node by node, and how far from that a right
// implementation may be.

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "runtime/kernels/registry.h"
#include "tests/differential/random.h"

namespace nnefc::differential {

// How values of inputs are spread.
enum class Spread : uint8_t {
  kEighths,  // multiples of 1/8 in [-2, 2]: sums and products are exact
  kReal,     // any number in [-2, 2]
  kSpecial,  // also NaN, infinities, denormals, zeros of both signs, huge numbers
};

// True of numbers that are neither infinite nor NaN, and of other elements.
bool IsFinite(const TensorValue& value);

// Data for the parameters of a graph, the same for the same seed. Extents that
// the graph leaves open are taken from `shapes`.
std::vector<TensorValue> MakeInputs(const ir::Graph& graph, Spread spread, uint64_t seed);

// What rounds a computation: its operations alone, or also what lies between them.
enum class Rounding : uint8_t { kF32, kBf16 };

// The values of the results of a graph of known shapes; `error` where a node
// cannot be computed.
class Oracle {
 public:
  Oracle(const ir::Graph& graph, const runtime::KernelRegistry& kernels, std::vector<TensorValue> inputs);

  // Results by the reference kernels, one node after the other. Nothing if one
  // fails, with its message in `error`.
  std::optional<std::vector<TensorValue>> Evaluate(std::string& error);
  // True if Evaluate met finite numbers alone.
  bool all_finite() const { return all_finite_; }
  // What differs between `found` and `expected`, results of the graph: empty
  // if every element is the same, or as near as rounding alone explains: rounding
  // of nodes that are not exact is shaken at random and its effect observed.
  std::string Compare(const std::vector<TensorValue>& found, const std::vector<TensorValue>& expected,
                      Rounding rounding = Rounding::kF32) const;

  // How far from `expected` each element may be, as tensors of f32; infinite where
  // rounding decides between finite and not. Nothing if it decides whether the
  // graph can be computed at all.
  std::optional<std::vector<TensorValue>> Bounds(const std::vector<TensorValue>& expected) const;

 private:
  // By result and element, how far rounding was seen to take it.
  using Reach = std::vector<std::vector<double>>;
  static Reach NoReach(const std::vector<TensorValue>& expected);
  // Shakes from `first` to `last`, widening `reach`. False if one cannot be
  // computed or has another shape.
  bool Shake(int first, int last, const std::vector<TensorValue>& expected, Rounding rounding,
             Reach& reach) const;
  void ForgetCancelled(const std::vector<TensorValue>& expected, Rounding rounding, Reach& reach) const;
  // How numbers are shaken on their way; at a scale of 0 they are rounded to what they may
  // be alike to, and nothing else changes.
  struct Noise {
    Random* random = nullptr;  // null: none
    double scale = 0;
    Rounding rounding = Rounding::kF32;
  };
  std::optional<std::vector<TensorValue>> Run(const Noise& noise, std::string& error) const;
  // The body of an If that its condition chooses.
  std::optional<std::vector<TensorValue>> RunBranch(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs,
                                                    const Noise& noise, std::string& error) const;

  void LoseInfinities(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs,
                      std::vector<TensorValue>& outputs) const;

  const ir::Graph& graph_;
  const runtime::KernelRegistry& kernels_;
  std::vector<TensorValue> inputs_;
  mutable bool all_finite_ = true;
  mutable bool takes_large_ = false;  // a node that was shaken takes large numbers
};

// The first difference of type, shape or bits; zeros of both signs are alike,
// and so are all NaN. Empty if there is none.
std::string FirstDifference(const std::vector<TensorValue>& found, const std::vector<TensorValue>& expected);

}  // namespace nnefc::differential

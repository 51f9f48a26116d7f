#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/transform/graph.h"

namespace nnefc::transform::middle {

// A matrix [batch, rows] as a sum of products with constant matrices plus a constant row, extracted from
// MatMul, Add, Concat, Split and Slice: x W^T + h R^T + b. The type is f32.
struct LinearForm {
  struct Term {
    Port source;                 // [batch, columns]
    std::vector<float> weights;  // [rows, columns]
  };
  int64_t rows = 0;
  std::vector<Term> terms;
  std::vector<float> bias;  // one element per row of weights
  // Summands that are not products with constant matrices.
  std::vector<Port> others;
  // The nodes that compute the form.
  std::vector<Node> nodes;

  // Returns the form of an output, or nothing without a multiplication by a constant matrix. Terms with the
  // same source are merged.
  static std::optional<LinearForm> Of(const Port& output);

  // Returns the weights of a source, or null.
  const std::vector<float>* TermOf(const Port& source) const;
  void Negate();
};

}  // namespace nnefc::transform::middle

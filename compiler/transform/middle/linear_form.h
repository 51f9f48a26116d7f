#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/transform/graph.h"

namespace nnefc::transform::middle {

// A matrix [batch, rows] as a sum of products with constant matrices and a constant row, read
// off MatMul, Add, Concat, Split and Slice: x W^T + h R^T + b. Values are f32.
struct LinearForm {
  struct Term {
    Port source;                 // [batch, columns]
    std::vector<float> weights;  // [rows, columns]
  };
  int64_t rows = 0;
  std::vector<Term> terms;
  std::vector<float> bias;  // a number a row
  // Terms of the sum that are no such product.
  std::vector<Port> others;
  // The nodes that compute it.
  std::vector<Node> nodes;

  // Nothing if no constant matrix is multiplied. A term of a source stands for all of it.
  static std::optional<LinearForm> Of(const Port& output);

  // The weights of a source; null if it has none.
  const std::vector<float>* TermOf(const Port& source) const;
  void Negate();
};

}  // namespace nnefc::transform::middle

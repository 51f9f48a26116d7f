#pragma once

#include <optional>
#include <vector>

#include "compiler/transform/graph.h"

namespace nnefc::transform {

// A value as a number times powers of other values, read off Multiply, Divide, Sqrt and
// Power: x * 0.5 / sqrt(v) is 0.5, x to the power of 1 and v to the power of -0.5. Fusions
// compare such products, so that it does not matter in which order factors were written.
struct Product {
  struct Factor {
    Port value;
    double exponent;
  };
  double number = 1;
  std::vector<Factor> factors;
  // The nodes that compute it, the last first. But for that one nobody else reads them.
  std::vector<Node> nodes;

  // The value that stands to the power of `exponent`; nothing if none or several do.
  std::optional<Port> Only(double exponent) const;
  // How often a value is a factor: the sum of its exponents.
  double Exponent(const Port& value) const;
};

// The product that an output is; if it is none, itself to the power of 1. Values that more
// than this product reads are factors. At most `kMostProductNodes` nodes are looked into.
inline constexpr size_t kMostProductNodes = 16;
Product ProductOf(const Port& output);

// number and value of a sum `value + number`, whichever comes first, that nobody but `reader`
// reads; the node that adds.
struct NumberAdded {
  Port value;
  double number;
  Node node;
};
std::optional<NumberAdded> MatchNumberAdded(const Port& output);

// Whether two numbers are equal to six digits, as constants are written in documents.
bool IsNearly(double a, double b);

}  // namespace nnefc::transform

#pragma once

#include <optional>
#include <vector>

#include "compiler/transform/graph.h"

namespace nnefc::transform {

// A value as a number times powers of other values, extracted from Multiply, Divide, Sqrt and Power:
// x * 0.5 / sqrt(v) is 0.5 with factors x^1 and v^-0.5. Fusions compare such products, so that the order of
// factors is irrelevant.
struct Product {
  struct Factor {
    Port value;
    double exponent;
  };
  double number = 1;
  std::vector<Factor> factors;
  // The nodes that compute the value, the last one first. Except for the last one, no other node reads them.
  std::vector<Node> nodes;

  // Returns the only value with the exponent `exponent`; nothing if there are none or several.
  std::optional<Port> Only(double exponent) const;
  // Returns the sum of a value's exponents.
  double Exponent(const Port& value) const;
};

// Returns the product that an output computes, or the output to the power of 1. Values with several consumers
// are not expanded. At most `kMaxProductNodes` nodes are expanded.
inline constexpr size_t kMaxProductNodes = 16;
Product ProductOf(const Port& output);

// A sum `value + number`, in either order, and the node that computes it.
struct NumberAdded {
  Port value;
  double number;
  Node node;
};
// Matches a sum with a known number and exactly one consumer.
std::optional<NumberAdded> MatchNumberAdded(const Port& output);

// Returns whether two numbers agree to six digits, the precision of constants in documents.
bool IsNearly(double a, double b);

}  // namespace nnefc::transform

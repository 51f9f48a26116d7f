// Values as products of powers of other values.

#include "compiler/transform/product.h"

#include <cmath>

#include "compiler/transform/values.h"

namespace nnefc::transform {

namespace {

bool Is(const Node& node, ir::ElementFunction function) {
  return node.ir().Is(function);
}

// A collector of factors; nodes that are not expanded are factors themselves.
class Collector {
 public:
  explicit Collector(Product& product) : product_(product) {}

  // Adds a power of an output. The recursion depth is at most kMaxProductNodes.
  void Add(const Port& output, double exponent, bool is_whole) {
    if (const std::optional<double> number = KnownNumber(output)) {
      product_.number *= std::pow(*number, exponent);
      return;
    }
    const Node node = output.node();
    if (product_.nodes.size() >= kMaxProductNodes || (!is_whole && !OnlyDestination(output)) ||
        !Open(node, exponent)) {
      product_.factors.push_back({output, exponent});
    }
  }

 private:
  // Expands a node into factors; returns false if it is not a product. The root of a product with negative
  // factors is not the product of their roots; then it is one factor as a whole.
  bool Open(const Node& node, double exponent) {
    if (Is(node, ir::ElementFunction::kMultiply)) return Both(node, exponent, exponent);
    if (Is(node, ir::ElementFunction::kDivide)) return Both(node, exponent, -exponent);
    if (Is(node, ir::ElementFunction::kSqrt)) return Root(node, 0.5 * exponent);
    if (!IsOperation(node, "opset1", "Power")) return false;
    const std::optional<double> power = KnownNumber(node.in_port(1));
    return power && Root(node, *power * exponent);
  }
  bool Both(const Node& node, double first, double second) {
    if (!IsWhole(first)) return false;
    product_.nodes.push_back(node);
    Add(node.in_port(0).GetSource(), first, false);
    Add(node.in_port(1).GetSource(), second, false);
    return true;
  }
  bool Root(const Node& node, double exponent) {
    product_.nodes.push_back(node);
    product_.factors.push_back({node.in_port(0).GetSource(), exponent});
    return true;
  }
  static bool IsWhole(double exponent) { return exponent == std::floor(exponent); }

  Product& product_;
};

}  // namespace

std::optional<Port> Product::Only(double exponent) const {
  std::optional<Port> found;
  for (const Factor& factor : factors) {
    if (factor.exponent != exponent) continue;
    if (found) return std::nullopt;
    found = factor.value;
  }
  return found;
}

double Product::Exponent(const Port& value) const {
  double sum = 0;
  for (const Factor& factor : factors) sum += factor.value == value ? factor.exponent : 0;
  return sum;
}

Product ProductOf(const Port& output) {
  Product product;
  Collector(product).Add(output, 1, true);
  return product;
}

std::optional<NumberAdded> MatchNumberAdded(const Port& output) {
  const Node node = output.node();
  if (!Is(node, ir::ElementFunction::kAdd) || !OnlyDestination(output)) return std::nullopt;
  for (int32_t i : {1, 0}) {
    if (const std::optional<double> number = KnownNumber(node.in_port(i)))
      return NumberAdded{node.in_port(1 - i).GetSource(), *number, node};
  }
  return std::nullopt;
}

bool IsNearly(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::abs(b);
}

}  // namespace nnefc::transform

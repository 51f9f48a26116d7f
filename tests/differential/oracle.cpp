#include "tests/differential/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "fmt/core.h"
#include "llvm/ADT/DenseMap.h"
#include "runtime/engine/evaluate.h"

namespace nnefc::differential {

namespace {

constexpr size_t kMaxBytes = size_t{1} << 26;
// Noise relative to an element, to the largest element of its tensor, and to the 1 in sums such as log(1 +
// exp(x)).
constexpr double kElementNoise = 6e-7;
constexpr double kTensorNoise = 2e-6;
constexpr double kSumNoise = 3e-7;
// Noise relative to an element of bf16: half the distance of two neighbours.
constexpr double kBf16Noise = 0x1p-8;
// Denormal numbers may be zero: an exponential that underflows, or a divisor that overflows.
constexpr double kMinNumber = 0x1p-126;
// Numbers beyond this are perturbed at the inputs of any node: if large numbers cancel within a node, the
// remaining small ones depend on the order of its sum.
constexpr double kLarge = 1 << 20;
// A product of two smaller numbers, summed up over a million terms, is below the largest float.
constexpr double kHuge = 0x1p54;
// Sums of this magnitude may overflow in one order or precision, and be finite in another.
constexpr double kMayOverflow = 0x1p108;
// The number of perturbed runs before a difference counts, and the factor by which a result may exceed the
// observed differences.
constexpr int kFirstShakes = 4;
constexpr int kMoreShakes = 40;
constexpr double kMargin = 4;

double SpecialNumber(Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // No number whose square or sum exceeds the largest float: overflow of a sum depends on its order.
  return random.Pick({std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 1e-40, -1e-42, 0.0,
                      -0.0, 1e12, -1e12, 1e-30, 65504.0, 1.0});
}

// Returns out-of-range indices, axes and lengths; conversion clamps them to the range of narrower types.
int64_t SpecialInteger(Random& random) {
  return random.Pick({INT64_MIN, INT64_MAX, int64_t{INT32_MIN}, int64_t{INT32_MAX}, int64_t{1} << 40,
                      int64_t{-1000}, int64_t{1000}, int64_t{-1}});
}

double Number(Spread spread, Random& random) {
  if (spread == Spread::kSpecial && random.Chance(20)) return SpecialNumber(random);
  if (spread == Spread::kEighths) return static_cast<double>(random.Between(-16, 16)) / 8;
  return random.Unit() * 4 - 2;
}

TensorValue MakeInput(ElementType type, const Shape& shape, Spread spread, Random& random) {
  const int64_t volume = Volume(shape).value_or(0);
  if (IsFloat(type)) {
    std::vector<float> items;
    for (int64_t i = 0; i < volume; ++i) items.push_back(static_cast<float>(Number(spread, random)));
    return TensorValue::FromFloats(shape, items).ConvertedTo(type);
  }
  const int64_t high = random.Between(1, 4);
  const int64_t low = IsSigned(type) && random.Chance(50) ? -high : 0;
  std::vector<int64_t> items;
  for (int64_t i = 0; i < volume; ++i) {
    items.push_back(type == ElementType::kBoolean                     ? random.Below(2)
                    : spread == Spread::kSpecial && random.Chance(10) ? SpecialInteger(random)
                                                                      : random.Between(low, high));
  }
  return TensorValue::FromInts(shape, items).ConvertedTo(type);
}

// Returns the finite elements of tensors of floats, in order.
std::vector<double> FiniteNumbers(llvm::ArrayRef<TensorValue> tensors) {
  std::vector<double> numbers;
  for (const TensorValue& tensor : tensors) {
    if (!IsFloat(tensor.type())) continue;
    for (int64_t i = 0; i < tensor.volume(); ++i) {
      if (std::isfinite(tensor.ElementAsDouble(i))) numbers.push_back(tensor.ElementAsDouble(i));
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<double> Merged(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
  std::vector<double> both(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin());
  return both;
}

// True if each element of the result is an element of an input, zero or an infinity: a selection, which
// rounding does not change.
bool IsChoice(llvm::ArrayRef<TensorValue> inputs, const TensorValue& result) {
  const std::vector<double> known = FiniteNumbers(inputs);
  for (int64_t i = 0; i < result.volume(); ++i) {
    const double x = result.ElementAsDouble(i);
    if (std::isfinite(x) && x != 0 && !std::binary_search(known.begin(), known.end(), x)) return false;
  }
  return true;
}

// True if the tensor has a finite number of at least this magnitude.
bool HasFiniteFrom(double magnitude, const TensorValue& value) {
  for (int64_t i = 0; i < value.volume(); ++i) {
    const double item = value.ElementAsDouble(i);
    if (std::isfinite(item) && std::abs(item) >= magnitude) return true;
  }
  return false;
}

// Returns the tensor with each element replaced by `change`.
template <typename Change>
TensorValue Changed(const TensorValue& value, Change&& change) {
  std::vector<float> items;
  for (int64_t i = 0; i < value.volume(); ++i)
    items.push_back(static_cast<float>(change(value.ElementAsDouble(i))));
  return TensorValue::FromFloats(value.shape(), items).ConvertedTo(value.type());
}

// Returns the input of a node that rounds internally, with elements of at least `least` perturbed.
TensorValue Taken(const TensorValue& value, double least, double scale, Random& random) {
  return Changed(value, [&](double x) {
    const bool is_shaken = std::isfinite(x) && std::abs(x) >= least;
    return is_shaken ? x + x * kElementNoise * scale * (2 * random.Unit() - 1) : x;
  });
}

// Returns the nearest of the numbers `known`, if rounding makes `x` equal to it. Rounding can make different
// numbers equal; random noise cannot.
double Alike(double x, llvm::ArrayRef<double> known) {
  if (known.empty()) return x;
  const double* nearest = std::lower_bound(known.begin(), known.end(), x);
  if (nearest == known.end() || (nearest != known.begin() && x - nearest[-1] < *nearest - x)) --nearest;
  return std::abs(*nearest - x) <= kElementNoise * std::abs(x) ? *nearest : x;
}

// Returns the nearest number with a short mantissa, or zero: the same effect for numbers that no value has.
double Snapped(double x) {
  const double step = std::ldexp(1, std::max(x == 0 ? 0 : std::ilogb(x), 0) - 20);
  return std::nearbyint(x / step) * step;
}

// Returns possible elements if the value is stored in bf16.
TensorValue InBf16(const TensorValue& value, double scale, Random& random) {
  if (scale == 0) return value.ConvertedTo(ElementType::kBF16).ConvertedTo(value.type());
  return Changed(
      value, [&](double x) { return std::isfinite(x) ? x + x * kBf16Noise * (random.Unit() * 2 - 1) : x; });
}

// Returns the perturbed value. A scale of 0 only makes nearly equal numbers equal.
TensorValue Shaken(const TensorValue& value, double scale, llvm::ArrayRef<double> known, Random& random) {
  const TensorValue aligned = value.ConvertedTo(ElementType::kF32).Aligned(alignof(float));
  double largest = 0;
  for (float x : aligned.elements<float>()) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(static_cast<double>(x)));
  }
  const double narrow = BitWidth(value.type()) < 32 ? 1000 : 1;
  const bool snaps = scale > 1 && random.Chance(30);
  const auto shaken = [&](double x) {
    if (!std::isfinite(x)) return x;
    if (scale == 0) return Alike(x, known);
    if (snaps) return Snapped(x);
    const double noise = scale * narrow * (kElementNoise * std::abs(x) + kTensorNoise * largest + kSumNoise);
    return x + (random.Unit() * 2 - 1) * noise;
  };
  return TensorValue::Make<float>(ElementType::kF32, aligned.shape(),
                                  [&](std::span<float> out) {
                                    for (size_t i = 0; i < out.size(); ++i)
                                      out[i] = static_cast<float>(shaken(aligned.elements<float>()[i]));
                                  })
      .ConvertedTo(value.type());
}

// Returns -1 if exactly one is NaN, or if an infinity differs from the other number.
double Distance(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (a == b) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return -1;
  return std::abs(a - b);
}

std::string Describe(size_t result, int64_t element, const TensorValue& found, const TensorValue& expected) {
  return fmt::format("result {} ({}{}), element {}: {}, expected {}", result, Name(expected.type()),
                     ToString(expected.shape()), element, found.ElementAsDouble(element),
                     expected.ElementAsDouble(element));
}

std::string CompareForm(const std::vector<TensorValue>& found, const std::vector<TensorValue>& expected) {
  if (found.size() != expected.size())
    return fmt::format("{} results, expected {}", found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].type() == expected[i].type() && found[i].shape() == expected[i].shape()) continue;
    return fmt::format("result {} is {}{}, expected {}{}", i, Name(found[i].type()),
                       ToString(found[i].shape()), Name(expected[i].type()), ToString(expected[i].shape()));
  }
  return "";
}

// Describes the first element that differs by more than rounding explains.
std::string FirstBeyond(const std::vector<TensorValue>& found, const std::vector<TensorValue>& expected,
                        const std::vector<std::vector<double>>& reach) {
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t k = 0; k < reach[i].size(); ++k) {
      const auto element = static_cast<int64_t>(k);
      const double distance =
          Distance(found[i].ElementAsDouble(element), expected[i].ElementAsDouble(element));
      const bool beyond =
          distance < 0 ? !std::isinf(reach[i][k]) : distance > kMargin * std::max(reach[i][k], kMinNumber);
      if (beyond) return Describe(i, element, found[i], expected[i]);
    }
  }
  return "";
}

// Returns the magnitudes of the finite numbers, and 0 in place of the others.
TensorValue FiniteMagnitudes(const TensorValue& value) {
  return Changed(value, [](double x) { return std::isfinite(x) ? std::abs(x) : 0.0; });
}

bool HasInfinity(const TensorValue& value) {
  if (!IsFloat(value.type())) return false;
  for (int64_t i = 0; i < value.volume(); ++i) {
    if (std::isinf(value.ElementAsDouble(i))) return true;
  }
  return false;
}

// Returns the value with infinities replaced by numbers of that magnitude.
TensorValue WithoutInfinities(const TensorValue& value, double magnitude) {
  return Changed(value, [&](double x) { return std::isinf(x) ? std::copysign(magnitude, x) : x; });
}

// Values that are known at compile time, including constants, have no operands to compute.
bool HasKnownValues(const ir::Node& node) {
  return llvm::all_of(node.outputs(), [](const ir::Output& output) { return output.value.has_value(); });
}

// Returns for each node whether a result depends on its value. Shapes need no values.
std::vector<bool> NeededNodes(const ir::Graph& graph, llvm::ArrayRef<ir::NodeId> order) {
  std::vector<bool> needed(graph.node_bound(), false);
  const auto need_inputs = [&](const ir::Node& node) {
    for (ir::OutputPort port : node.inputs()) needed[static_cast<size_t>(port.node.index)] = true;
  };
  for (ir::NodeId id : graph.results()) need_inputs(graph.node(id));
  for (ir::NodeId id : llvm::reverse(order)) {
    if (needed[static_cast<size_t>(id.index)] && !HasKnownValues(graph.node(id))) need_inputs(graph.node(id));
  }
  return needed;
}

}  // namespace

bool IsFinite(const TensorValue& value) {
  if (!IsFloat(value.type())) return true;
  for (int64_t i = 0; i < value.volume(); ++i) {
    if (!std::isfinite(value.ElementAsDouble(i))) return false;
  }
  return true;
}

std::vector<TensorValue> MakeInputs(const ir::Graph& graph, Spread spread, uint64_t seed) {
  Random random(seed);
  std::vector<TensorValue> inputs;
  for (ir::NodeId id : graph.parameters()) {
    const ir::Output& output = graph.node(id).output();
    inputs.push_back(MakeInput(output.type, output.shape.known_extents(), spread, random));
  }
  return inputs;
}

std::string FirstDifference(const std::vector<TensorValue>& found, const std::vector<TensorValue>& expected) {
  if (std::string form = CompareForm(found, expected); !form.empty()) return form;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    for (int64_t k = 0; k < found[i].volume(); ++k) {
      if (Distance(found[i].ElementAsDouble(k), expected[i].ElementAsDouble(k)) != 0)
        return Describe(i, k, found[i], expected[i]);
    }
  }
  return "";
}

Oracle::Oracle(const ir::Graph& graph, const runtime::kernels::KernelRegistry& kernels,
               std::vector<TensorValue> inputs)
    : graph_(graph), kernels_(kernels), inputs_(std::move(inputs)) {}

std::optional<std::vector<TensorValue>> Oracle::Evaluate(std::string& error) {
  return Run({}, error);
}

std::optional<std::vector<TensorValue>> Oracle::RunBranch(const ir::Node& node,
                                                          llvm::ArrayRef<TensorValue> inputs,
                                                          const Noise& noise, std::string& error) const {
  const ir::Body& body = node.bodies()[inputs[0].ElementAsInt(0) != 0 ? 0 : 1];
  std::vector<TensorValue> parameters(body.graph->parameters().size());
  for (const ir::InputMapping& mapping : body.inputs)
    parameters[static_cast<size_t>(mapping.internal)] = inputs[static_cast<size_t>(mapping.external)];
  const Oracle inner(*body.graph, kernels_, parameters);
  const auto results = inner.Run(noise, error);
  takes_large_ |= inner.takes_large_;
  if (!results) return std::nullopt;
  std::vector<TensorValue> outputs(static_cast<size_t>(node.num_outputs()));
  for (const ir::OutputMapping& mapping : body.outputs)
    outputs[static_cast<size_t>(mapping.external)] = (*results)[static_cast<size_t>(mapping.internal)];
  return outputs;
}

std::optional<std::vector<TensorValue>> Oracle::Run(const Noise& noise, std::string& error) const {
  std::vector<std::vector<TensorValue>> values(graph_.node_bound());
  for (size_t i = 0; i < inputs_.size(); ++i)
    values[static_cast<size_t>(graph_.parameters()[i].index)] = {inputs_[i]};
  const std::vector<ir::NodeId> order = *ir::TopologicalOrder(graph_);
  const std::vector<bool> needed = NeededNodes(graph_, order);
  std::vector<double> known = FiniteNumbers(inputs_);  // candidates for equal values
  for (ir::NodeId id : order) {
    const ir::Node& node = graph_.node(id);
    if (node.Is("opset1", "Parameter") || !needed[static_cast<size_t>(id.index)]) continue;
    std::vector<TensorValue>& outputs = values[static_cast<size_t>(id.index)];
    if (HasKnownValues(node)) {
      for (const ir::Output& output : node.outputs()) outputs.push_back(*output.value);
      continue;
    }
    std::vector<TensorValue> inputs;
    for (ir::OutputPort port : node.inputs())
      inputs.push_back(values[static_cast<size_t>(port.node.index)][static_cast<size_t>(port.index)]);
    if (!node.bodies().empty()) {
      // `select` with a condition of one element becomes an If.
      const auto branch = RunBranch(node, inputs, noise, error);
      if (!branch) return std::nullopt;
      outputs = *branch;
      continue;
    }
    // A rounded dot product equals the exact dot product of slightly perturbed factors, whatever the node
    // computes from it: a score of attention, a gate of a recurrent cell.
    const bool adds_products = node.info().products != nullptr;
    for (TensorValue& input : inputs) {
      if (noise.random == nullptr || !IsFloat(input.type())) continue;
      if (noise.rounding == Rounding::kBf16) input = InBf16(input, noise.scale, *noise.random);
      const bool has_large = HasFiniteFrom(kLarge, input);
      takes_large_ |= has_large;
      if (adds_products || has_large)
        input = Taken(input, adds_products ? 0 : kLarge, noise.scale, *noise.random);
    }
    runtime::kernels::FaultOr<std::vector<TensorValue>> done =
        runtime::engine::EvaluateDynamicNode(node, inputs, kernels_, kMaxBytes);
    if (!done) {
      error = done.error().message;
      return std::nullopt;
    }
    outputs = *done;
    if (noise.random == nullptr) {
      all_finite_ &= llvm::all_of(outputs, IsFinite);
      continue;
    }
    if (adds_products) LoseInfinities(node, inputs, outputs);
    if (!node.info().is_elementwise) OverflowSums(node, inputs, *noise.random, outputs);
    for (TensorValue& output : outputs) {
      // A weighted mean of equal numbers is rounded like any other dot product.
      const bool is_choice = !node.info().is_heavy() && IsChoice(inputs, output);
      if (IsFloat(output.type()) && !is_choice) output = Shaken(output, noise.scale, known, *noise.random);
      if (IsFloat(output.type()) && noise.rounding == Rounding::kBf16)
        output = InBf16(output, noise.scale, *noise.random);
    }
    if (noise.scale == 0) known = Merged(known, FiniteNumbers(outputs));
  }
  std::vector<TensorValue> results;
  for (ir::NodeId id : graph_.results()) {
    const ir::OutputPort port = graph_.node(id).input(0);
    results.push_back(values[static_cast<size_t>(port.node.index)][static_cast<size_t>(port.index)]);
  }
  return results;
}

// A weight computed within a node, such as the exponential of a score or a gate, may underflow to zero and
// turn the infinity that it multiplies into NaN. This applies to weights for which a large number instead of
// the infinity adds almost nothing.
void Oracle::LoseInfinities(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs,
                            std::vector<TensorValue>& outputs) const {
  constexpr double kInPlace = 0x1p100;
  if (llvm::none_of(inputs, HasInfinity) || llvm::none_of(outputs, HasInfinity)) return;
  const auto with = [&](double magnitude) {
    std::vector<TensorValue> finite;
    for (const TensorValue& input : inputs)
      finite.push_back(HasInfinity(input) ? WithoutInfinities(input, magnitude) : input);
    return runtime::engine::EvaluateDynamicNode(node, finite, kernels_, kMaxBytes);
  };
  const auto once = with(kInPlace), twice = with(2 * kInPlace);
  if (!once || !twice) return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!HasInfinity(outputs[i])) continue;
    int64_t k = 0;
    outputs[i] = Changed(outputs[i], [&](double x) {
      const double added = (*twice)[i].ElementAsDouble(k) - (*once)[i].ElementAsDouble(k);
      ++k;
      return !std::isinf(x) || std::abs(added) > kTensorNoise * kInPlace ? x : NAN;
    });
  }
}

// Whether a partial sum overflows depends on the order of the terms and on the precision of the sum: the
// reference kernels compute averages in f64. This applies to elements that overflow, or almost, if all terms
// have the same sign.
void Oracle::OverflowSums(const ir::Node& node, llvm::ArrayRef<TensorValue> inputs, Random& random,
                          std::vector<TensorValue>& outputs) const {
  const auto is_huge = [](const TensorValue& input) {
    return IsFloat(input.type()) && HasFiniteFrom(kHuge, input);
  };
  if (llvm::none_of(inputs, is_huge)) return;
  std::vector<TensorValue> magnitudes;
  for (const TensorValue& input : inputs)
    magnitudes.push_back(IsFloat(input.type()) ? FiniteMagnitudes(input) : input);
  const auto sums = runtime::engine::EvaluateDynamicNode(node, magnitudes, kernels_, kMaxBytes);
  if (!sums) return;
  // In half of the runs no sum overflows: a node that reads several of them may need that.
  const bool is_finite = random.Chance(50);
  for (size_t i = 0; i < outputs.size(); ++i) {
    // A selection adds nothing, and indices may depend on the signs.
    if (!IsFloat(outputs[i].type()) || outputs[i].shape() != (*sums)[i].shape()) continue;
    if (!node.info().is_heavy() && IsChoice(inputs, outputs[i])) continue;
    int64_t k = 0;
    outputs[i] = Changed(outputs[i], [&](double x) {
      const double sum = (*sums)[i].ElementAsDouble(k++);
      if (sum < kMayOverflow) return x;
      if (is_finite) return std::isfinite(x) ? x : 0.0;
      return random.Pick({x, double{INFINITY}, -double{INFINITY}, double{NAN}});
    });
  }
}

bool Oracle::Shake(int first, int last, const std::vector<TensorValue>& expected, Rounding rounding,
                   Reach& reach) const {
  for (int shake = first; shake < last; ++shake) {
    Random random(static_cast<uint64_t>(shake) + 1);
    std::string error;
    const double scale = shake < kFirstShakes ? 1 : shake == kFirstShakes ? 0 : 8;
    const auto shaken = Run({&random, scale, rounding}, error);
    if (!shaken || !CompareForm(*shaken, expected).empty()) return false;
    for (size_t i = 0; i < expected.size(); ++i) {
      for (size_t k = 0; k < reach[i].size(); ++k) {
        const auto element = static_cast<int64_t>(k);
        const double distance =
            Distance((*shaken)[i].ElementAsDouble(element), expected[i].ElementAsDouble(element));
        const double infinity = std::numeric_limits<double>::infinity();
        reach[i][k] = distance < 0 ? infinity : std::max(reach[i][k], distance);
      }
    }
  }
  return true;
}

Oracle::Reach Oracle::NoReach(const std::vector<TensorValue>& expected) {
  Reach reach;
  for (const TensorValue& result : expected) reach.emplace_back(static_cast<size_t>(result.volume()), 0.0);
  return reach;
}

std::string Oracle::Compare(const std::vector<TensorValue>& found, const std::vector<TensorValue>& expected,
                            Rounding rounding) const {
  if (std::string form = CompareForm(found, expected); !form.empty()) return form;
  if (FirstDifference(found, expected).empty()) return "";
  Reach reach = NoReach(expected);
  // Rounding may decide whether the graph can be computed at all.
  if (!Shake(0, kFirstShakes, expected, rounding, reach)) return "";
  if (FirstBeyond(found, expected, reach).empty()) return "";
  if (!Shake(kFirstShakes, kMoreShakes, expected, rounding, reach)) return "";
  ForgetCancelled(expected, rounding, reach);
  return FirstBeyond(found, expected, reach);
}

// If large numbers cancel, the difference may be any number near zero, and a power or a quotient of it any
// number at all: no number of perturbations approaches a pole as closely as another order of a sum. For bf16,
// numbers near the inputs' magnitude of 1 are large enough.
void Oracle::ForgetCancelled(const std::vector<TensorValue>& expected, Rounding rounding,
                             Reach& reach) const {
  if (!takes_large_ && rounding != Rounding::kBf16) return;
  const double least = takes_large_ ? kMinNumber : 0.5;
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t k = 0; k < reach[i].size(); ++k) {
      if (reach[i][k] >= std::abs(expected[i].ElementAsDouble(static_cast<int64_t>(k))) / 2 &&
          reach[i][k] > least)
        reach[i][k] = std::numeric_limits<double>::infinity();
    }
  }
}

std::optional<std::vector<TensorValue>> Oracle::Bounds(const std::vector<TensorValue>& expected) const {
  Reach reach = NoReach(expected);
  if (!Shake(0, kMoreShakes, expected, Rounding::kF32, reach)) return std::nullopt;
  ForgetCancelled(expected, Rounding::kF32, reach);
  std::vector<TensorValue> bounds;
  for (size_t i = 0; i < expected.size(); ++i) {
    std::vector<float> items;
    for (double distance : reach[i]) items.push_back(static_cast<float>(kMargin * distance));
    bounds.push_back(TensorValue::FromFloats(expected[i].shape(), items));
  }
  return bounds;
}

}  // namespace nnefc::differential

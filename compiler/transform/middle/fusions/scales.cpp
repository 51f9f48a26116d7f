// Fusion of per-channel scales and shifts into the weights of convolutions and matrix multiplications.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "compiler/ir/interval.h"
#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

namespace {

// A per-channel affine function y[c] = x[c] * scale[c] + shift[c].
struct Affine {
  std::vector<double> scale;
  std::vector<double> shift;
};

// Returns the elements of a known f32 tensor with one element per channel, or one in total, that is broadcast
// to the output of `node`; nothing for other tensors.
std::optional<std::vector<double>> ChannelVector(const Node& node, int32_t input, int64_t axis) {
  const Port source = node.in_port(input);
  const std::optional<TensorValue>& value = source.value();
  const ir::PartialShape& result = node.ir().output().shape;
  if (!value || value->type() != ElementType::kF32 || node.ir().String("auto_broadcast") != "numpy" ||
      value->rank() > result.rank())
    return std::nullopt;
  const int64_t channels = result[axis].value();
  const int64_t missing = result.rank() - value->rank();
  for (int64_t i = 0; i < value->rank(); ++i) {
    const int64_t extent = value->shape()[static_cast<size_t>(i)];
    if (extent != 1 && (i + missing != axis || extent != channels)) return std::nullopt;
  }
  std::vector<double> elements;
  for (int64_t c = 0; c < channels; ++c)
    elements.push_back(value->ElementAsDouble(value->volume() == 1 ? 0 : c));
  return elements;
}

// A node that applies a constant affine function to channels.
struct AffineNode {
  int32_t data = 0;  // the scaled and shifted input
  Affine affine;
};

std::optional<AffineNode> MatchBatchNorm(const Node& node, int64_t channels) {
  std::vector<std::vector<double>> vectors;
  for (int32_t i = 1; i < 5; ++i) {
    const std::optional<TensorValue>& value = node.in_port(i).value();
    if (!value || value->type() != ElementType::kF32 || value->volume() != channels) return std::nullopt;
    std::vector<double>& vector = vectors.emplace_back();
    for (int64_t c = 0; c < channels; ++c) vector.push_back(value->ElementAsDouble(c));
  }
  const double epsilon = node.ir().Double("epsilon");
  AffineNode match;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    const double scale = vectors[0][c] / std::sqrt(vectors[3][c] + epsilon);
    match.affine.scale.push_back(scale);
    match.affine.shift.push_back(vectors[1][c] - vectors[2][c] * scale);
  }
  return match;
}

// Matches Multiply, or Divide by a constant.
std::optional<AffineNode> MatchScale(const Node& node, int64_t axis) {
  const bool divides = node.ir().Is(ir::ElementFunction::kDivide);
  if (!divides && !node.ir().Is(ir::ElementFunction::kMultiply)) return std::nullopt;
  for (int32_t constant : {1, 0}) {
    if (divides && constant == 0) break;
    std::optional<std::vector<double>> scale = ChannelVector(node, constant, axis);
    if (!scale) continue;
    if (divides) {
      for (double& factor : *scale) factor = 1 / factor;
    }
    std::vector<double> shift(scale->size(), 0.0);
    return AffineNode{1 - constant, {std::move(*scale), std::move(shift)}};
  }
  return std::nullopt;
}

// A node with constant weights, and the constant bias added to it, if any.
struct Biased {
  Node node;
  std::optional<Node> add;
  int32_t bias_input = 1;  // input of `add`
  std::vector<double> bias;
};

// The lane count of the reductions below, chosen for auto-vectorisation.
constexpr size_t kLanes = 16;

float Largest(llvm::ArrayRef<float> elements) {
  std::array<float, kLanes> lanes = {};
  size_t i = 0;
  for (; i + kLanes <= elements.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float size = std::abs(elements[i + lane]);
      lanes[lane] = lanes[lane] < size ? size : lanes[lane];
    }
  }
  for (; i < elements.size(); ++i) lanes[0] = std::max(lanes[0], std::abs(elements[i]));
  return *std::max_element(lanes.begin(), lanes.end());
}

// Returns whether all elements are finite: 0 times an infinity or NaN makes the sum of zeros NaN.
bool AllFinite(llvm::ArrayRef<float> elements) {
  std::array<float, kLanes> lanes = {};
  size_t i = 0;
  for (; i + kLanes <= elements.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += 0.0F * elements[i + lane];
  }
  for (; i < elements.size(); ++i) lanes[0] += 0.0F * elements[i];
  return llvm::all_of(lanes, [](float sum) { return sum == 0; });
}

// Factors that are broadcast to a tensor.
struct Factors {
  Shape shape;
  std::vector<double> elements;
};

// Returns the shape of a tensor that is multiplied by factors.
Shape ShapeOfProduct(const TensorValue& value, const Factors& factors) {
  const auto partial = [](const Shape& shape) { return ir::PartialShape(llvm::ArrayRef<int64_t>(shape)); };
  const ir::BroadcastResult product =
      ir::BroadcastShapes(partial(value.shape()), partial(factors.shape), ir::Alignment::kLast);
  NNEFC_CHECK(!product.mismatch);
  return product.shape.known_extents();
}

// Multiplies a tensor by factors. Calls run(begin, numbers, count, factor) for runs of elements with a common
// factor, starting at element `begin`.
template <typename Run>
void EachProduct(const TensorValue& value, const Factors& factors, Run run) {
  const Shape shape = ShapeOfProduct(value, factors);
  const size_t rank = shape.size();
  // The strides of both tensors along each axis.
  const auto strides_of = [&](const Shape& of) {
    std::vector<size_t> strides(rank, 0);
    const size_t missing = rank - of.size();
    size_t stride = 1;
    for (size_t i = of.size(); i-- > 0;) {
      if (of[i] != 1) strides[i + missing] = stride;
      stride *= static_cast<size_t>(of[i]);
    }
    return strides;
  };
  const std::vector<size_t> in_strides = strides_of(value.shape()),
                            factor_strides = strides_of(factors.shape);
  // Merges the innermost axes with a constant factor.
  size_t axes = rank, inner = 1;
  while (axes > 0 && factor_strides[axes - 1] == 0 && (shape[axes - 1] == 1 || in_strides[axes - 1] == inner))
    inner *= static_cast<size_t>(shape[--axes]);
  const TensorValue source = value.Loaded().Aligned(alignof(float));
  const auto in = source.elements<float>();
  const auto size = static_cast<size_t>(*Volume(shape));
  std::vector<int64_t> place(axes, 0);
  size_t at = 0, which = 0;
  for (size_t begin = 0; begin < size; begin += inner) {
    run(begin, in.data() + at, inner, factors.elements[which]);
    for (size_t axis = axes; axis-- > 0;) {
      at += in_strides[axis];
      which += factor_strides[axis];
      if (++place[axis] < shape[axis]) break;
      at -= in_strides[axis] * static_cast<size_t>(place[axis]);
      which -= factor_strides[axis] * static_cast<size_t>(place[axis]);
      place[axis] = 0;
    }
  }
}

void Multiply(const float* numbers, size_t count, double factor, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(numbers[i] * factor);
}

// The largest magnitudes of numbers and their products, computed in large batches even if each factor has few
// numbers.
class ProductSizes {
 public:
  void Add(const float* numbers, size_t count, double factor) {
    for (size_t at = 0; at < count;) {
      const size_t length = std::min(kSome - filled_, count - at);
      std::copy_n(numbers + at, length, numbers_.data() + filled_);
      Multiply(numbers + at, length, factor, products_.data() + filled_);
      at += length;
      filled_ += length;
      if (filled_ == kSome) Finish();
    }
  }
  // Must be called before the accessors below.
  void Finish() {
    largest_ = std::max(largest_, Largest({numbers_.data(), filled_}));
    largest_product_ = std::max(largest_product_, Largest({products_.data(), filled_}));
    is_finite_ &= AllFinite({products_.data(), filled_});
    filled_ = 0;
  }
  float largest() const { return largest_; }
  float largest_product() const { return largest_product_; }
  bool is_finite() const { return is_finite_; }  // true if all products are

 private:
  static constexpr size_t kSome = 1024;

  std::array<float, kSome> numbers_, products_;
  size_t filled_ = 0;
  float largest_ = 0, largest_product_ = 0;
  bool is_finite_ = true;
};

Buffer::Recipe RecipeOf(const TensorValue& weights, const Factors& factors) {
  FieldDigest what;
  what.Add("scaled").Add(ToString(weights.shape())).Add(ToString(factors.shape));
  for (double factor : factors.elements) what.Add(factor);
  return {.what = what.Finish(), .from = {weights.buffer()}};
}

// Returns true if products with the factors retain full precision, because no factor is far from 1.
bool ArePlain(llvm::ArrayRef<double> factors) {
  return llvm::all_of(factors, [](double factor) {
    const double size = std::abs(factor);
    return factor == 0 || (size >= 0x1p-40 && size <= 0x1p40);
  });
}

// Returns false if products with factors overflow, or are all so small that precision is lost.
bool KeepsNumbers(const TensorValue& weights, const Factors& factors) {
  constexpr float kLeast = 0x1p-100F;
  ProductSizes sizes;
  EachProduct(weights, factors, [&](size_t, const float* numbers, size_t count, double factor) {
    sizes.Add(numbers, count, factor);
  });
  sizes.Finish();
  const bool is_lost = sizes.largest_product() < kLeast && sizes.largest() >= kLeast &&
                       llvm::any_of(factors.elements, [](double factor) { return factor != 0; });
  return sizes.is_finite() && !is_lost;
}

// Returns weights times factors, multiplied lazily on first access: a plan packs them for its kernels, so
// that they are never in memory all at once. Returns nothing if the products would lose precision. Large
// weights with plain factors are not checked, since a cached plan does not read them at all.
std::optional<TensorValue> ScaledConstant(const TensorValue& weights, const Factors& factors) {
  constexpr size_t kMany = size_t{16} << 10;
  const Shape shape = ShapeOfProduct(weights, factors);
  const auto size = static_cast<size_t>(*Volume(shape)) * sizeof(float);
  const bool is_read = size < kMany || !ArePlain(factors.elements);
  if (is_read && !KeepsNumbers(weights, factors)) return std::nullopt;
  const auto multiply = [weights, factors](std::byte* out) {
    const auto put = [&](size_t begin, const float* numbers, size_t count, double factor) {
      Multiply(numbers, count, factor, reinterpret_cast<float*>(out) + begin);
    };
    EachProduct(weights, factors, put);
    weights.buffer()->Release();
  };
  const TensorValue scaled(ElementType::kF32, shape,
                           Buffer::Computed(size, multiply, RecipeOf(weights, factors)));
  return size < kMany ? scaled.Loaded() : scaled;
}

bool IsConstant(const Node& node) {
  return node.ir().Is(ir::OpRole::kConst);
}
// Returns whether a node is a constant, or a constant converted from another type.
bool IsKept(const Node& node) {
  return IsConstant(node) || (node.ir().Is(ir::ElementFunction::kConvert) && IsConstant(node.in_node(0)));
}

// Returns the constant weights of a node, scaled by factors. Plain constants are replaced. Weights in a
// narrower type are unchanged, and their conversion is multiplied (once, by the runtime). For FakeQuantize
// the output range is scaled, so that the weights remain in few bits.
std::optional<Port> ScaledWeights(Graph& graph, const Node& node, const Factors& factors) {
  const Port weights = node.in_port(1).GetSource();
  const Node source = weights.node();
  if (weights.data().type != ElementType::kF32) return std::nullopt;
  const auto constant = [&](const TensorValue& value, std::string_view name) {
    return graph.CreateConst(value, graph.UniqueName(source.name() + std::string(name))).out_port(0);
  };
  if (weights.value() && !source.ir().Is(ir::ElementFunction::kConvert)) {
    const std::optional<TensorValue> scaled = ScaledConstant(*weights.value(), factors);
    if (!scaled) return std::nullopt;
    return constant(*scaled, "/scaled");
  }
  if (!ArePlain(factors.elements)) return std::nullopt;
  const auto add = [&](const char* operation, llvm::ArrayRef<Port> sources, Graph::Spec spec) {
    spec.name = graph.UniqueName(source.name() + "/scaled");
    spec.origin = source.ir().origin();
    return graph.CreateNode(operation, sources, std::move(spec)).out_port(0);
  };
  if (IsKept(source)) {
    const std::vector<float> numbers(factors.elements.begin(), factors.elements.end());
    return add("opset1.Multiply",
               {weights, constant(TensorValue::FromFloats(factors.shape, numbers), "/factors")}, {});
  }
  if (!IsOperation(source, "opset1", "FakeQuantize") || !IsKept(source.in_node(0))) return std::nullopt;
  std::vector<Port> sources;
  for (const Port& input : source.in_ports()) sources.push_back(input.GetSource());
  for (size_t bound : {3, 4}) {
    const std::optional<TensorValue>& value = sources[bound].value();
    if (!value || value->type() != ElementType::kF32) return std::nullopt;
    const std::optional<TensorValue> scaled = ScaledConstant(*value, factors);
    if (!scaled) return std::nullopt;
    sources[bound] = constant(*scaled, bound == 3 ? "/low" : "/high");
  }
  return add("opset1.FakeQuantize", sources, {.attributes = source.ir().attributes()});
}

// A fusion of an affine node into the preceding node with constant weights and its bias. `axis` is the
// channel axis.
class AffineFusion {
 public:
  // Returns the shape of factors of output channels that broadcasts to the weights; nothing for nodes that
  // cannot be scaled.
  using FactorsOf = std::optional<Shape> (*)(const Node& node, const ir::PartialShape& weights,
                                             int64_t channels);

  AffineFusion(Graph& graph, int64_t axis, FactorsOf factors_of)
      : graph_(graph), axis_(axis), factors_of_(factors_of) {}

  void Fuse(const Node& last, const AffineNode& match) {
    const Port data = last.in_port(match.data).GetSource();
    const std::optional<Biased> source = FindSource(data);
    if (!source || !(data.shape() == last.ir().output().shape)) return;
    const TensorValue bias = BiasOf(last, *source, match.affine);
    if (!AllFinite(bias.elements<float>()) || source->node.num_in_ports() < 2) return;
    Port filter = source->node.in_port(1);
    const auto channels = static_cast<int64_t>(match.affine.scale.size());
    const ir::PartialShape& weights = filter.shape();
    if (!weights.known() || weights.volume() == 0) return;
    const std::optional<Shape> factors = factors_of_(source->node, weights, channels);
    if (!factors) return;
    const std::optional<Port> scaled = ScaledWeights(graph_, source->node, {*factors, match.affine.scale});
    if (!scaled) return;
    filter.Connect(*scaled);
    // The node's previous output value no longer exists.
    graph_.DropTensorNames(source->node.out_port(0));
    if (source->add) graph_.DropTensorNames(source->add->out_port(0));
    PutBias(last, *source, bias);
  }

 private:
  std::optional<Biased> FindSource(const Port& data) const {
    if (!OnlyDestination(data) || !HasChannels(data.shape())) return std::nullopt;
    const auto channels = static_cast<size_t>(data.shape()[Axis(data.shape())].value());
    Biased found{.node = data.node(), .bias = std::vector<double>(channels, 0.0)};
    if (!found.node.ir().Is(ir::ElementFunction::kAdd)) return found;
    for (int32_t constant : {1, 0}) {
      const Port before = found.node.in_port(1 - constant).GetSource();
      const auto bias = ChannelVector(found.node, constant, Axis(data.shape()));
      if (!bias || !OnlyDestination(before) || !(before.shape() == data.shape())) continue;
      return Biased{.node = before.node(), .add = found.node, .bias_input = constant, .bias = *bias};
    }
    return std::nullopt;
  }

  bool HasChannels(const ir::PartialShape& shape) const {
    return shape.rank_known() && shape.rank() > axis_ && shape.rank() > 0 && shape[Axis(shape)].known() &&
           shape[Axis(shape)].value() > 0;
  }
  int64_t Axis(const ir::PartialShape& shape) const { return axis_ < 0 ? shape.rank() + axis_ : axis_; }

  // Returns the new bias, one element per channel, broadcast to the result.
  TensorValue BiasOf(const Node& last, const Biased& source, const Affine& affine) const {
    const ir::PartialShape& result = last.ir().output().shape;
    Shape shape(static_cast<size_t>(result.rank()), 1);
    shape[static_cast<size_t>(Axis(result))] = static_cast<int64_t>(source.bias.size());
    return TensorValue::Make<float>(ElementType::kF32, shape, [&](std::span<float> out) {
      for (size_t c = 0; c < out.size(); ++c)
        out[c] = static_cast<float>(source.bias[c] * affine.scale[c] + affine.shift[c]);
    });
  }

  // Adds the bias instead of the affine node.
  void PutBias(const Node& last, const Biased& source, const TensorValue& bias) {
    const Port data = source.add ? source.add->out_port(0) : source.node.out_port(0);
    const bool is_zero = llvm::all_of(bias.elements<float>(), [](float term) { return term == 0; });
    if (!source.add && is_zero) return Replace(last, data.node());
    const Node term = graph_.CreateConst(bias, graph_.UniqueName(last.name() + "/shift"));
    if (source.add) {
      Port input = source.add->in_port(source.bias_input);
      input.Connect(term.out_port(0));
      return Replace(last, *source.add);
    }
    const Node sum =
        graph_.CreateNode("opset1.Add", {data, term.out_port(0)}, {.origin = last.ir().origin()});
    Replace(last, sum);
  }

  void Replace(const Node& last, const Node& by) {
    TakePlace(graph_, last, by);
    graph_.Remove(last);
  }

  Graph& graph_;
  const int64_t axis_;
  const FactorsOf factors_of_;
};

// The channels scaled by factors.
enum class Channels : uint8_t { kOutput, kInput };

// Returns the shape of per-channel factors that broadcasts to a filter.
template <Channels kOf>
std::optional<Shape> FactorsOfFilter(const Node& node, const ir::PartialShape& weights, int64_t channels) {
  using ir::Contraction;
  const Contraction contraction = node.ir().info().contraction;
  if (contraction == Contraction::kNone || contraction == Contraction::kMatMul) return std::nullopt;
  Shape factors(static_cast<size_t>(weights.rank()), 1);
  const bool is_grouped = contraction == Contraction::kGroupConvolution ||
                          contraction == Contraction::kGroupConvolutionBackpropData;
  // The output channels are the first channel axis of the weights, or the second one.
  const bool is_rows =
      contraction == Contraction::kConvolution || contraction == Contraction::kGroupConvolution;
  if (is_grouped) factors[0] = weights[0].value();
  const bool is_first = is_rows == (kOf == Channels::kOutput);
  factors[(is_grouped ? 1 : 0) + (is_first ? 0 : 1)] = channels / factors[0];
  return factors;
}

// Returns the shape of factors of columns or rows for a right-hand matrix.
template <Channels kOf>
std::optional<Shape> FactorsOfMatrix(const Node& node, const ir::PartialShape& weights, int64_t channels) {
  if (!node.ir().Is(ir::Contraction::kMatMul) || weights.rank() < 2) return std::nullopt;
  Shape factors(static_cast<size_t>(weights.rank()), 1);
  const bool is_last = node.ir().Bool("transpose_b") == (kOf == Channels::kInput);
  factors[factors.size() - (is_last ? 1 : 2)] = channels;
  return factors;
}

// Returns whether a node is the BatchNormInference whose first input is the data (opset5).
bool IsBatchNorm(const Node& node) {
  static const ir::OpId kBatchNorm = ir::StandardOps().Find("opset5", "BatchNormInference");
  return node.ir().op() == kBatchNorm;
}

// The common base of the two transformations: `axis` is the channel axis, negative if counted from the last.
class FuseScale : public MiddleReplacementPattern {
 public:
  FuseScale(int64_t axis, int64_t least_rank, AffineFusion::FactorsOf factors_of)
      : axis_(axis), least_rank_(least_rank), factors_of_(factors_of) {}
  Names RunBefore() const override { return {"middle.RemoveUnneeded", "PostMiddleStart"}; }
  Names RunAfter() const override { return {"MiddleFinish"}; }

  void FindAndReplacePattern(Graph& graph) override {
    AffineFusion fusion(graph, axis_, factors_of_);
    for (const Node& node : graph.GetNodes()) {
      if (node.num_out_ports() != 1) continue;
      const ir::Output& output = node.ir().output();
      const int64_t rank = output.shape.rank_known() ? output.shape.rank() : 0;
      if (rank < least_rank_ || output.type != ElementType::kF32) continue;
      const int64_t axis = axis_ < 0 ? rank + axis_ : axis_;
      if (!output.shape[axis].known() || output.shape[axis].value() == 0) continue;
      const auto match = axis_ == 1 && IsBatchNorm(node) ? MatchBatchNorm(node, output.shape[axis].value())
                                                         : MatchScale(node, axis);
      if (match) fusion.Fuse(node, *match);
    }
  }

 private:
  const int64_t axis_, least_rank_;
  const AffineFusion::FactorsOf factors_of_;
};

}  // namespace

class FuseScaleIntoConvolution : public FuseScale {
 public:
  FuseScaleIntoConvolution() : FuseScale(1, 3, FactorsOfFilter<Channels::kOutput>) {}
  std::string_view Description() const override {
    return "BatchNormInference, Multiply and Divide by constants of each "
           "channel behind a convolution, grouped, "
           "transposed or neither, go into its constant filter and the "
           "constant bias behind it, unless an "
           "element would not be finite; a filter of 16 KB and more is not read for that where factors lie "
           "between 2^-40 and 2^40. A filter in a narrower type keeps its "
           "type and is multiplied when it "
           "is converted; of FakeQuantize the range of results is scaled. "
           "Where sums would overflow before "
           "they are scaled, they do so after it.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,1,4,4]} : f32[1,1,4,4]
%1 = opset1.Const "w" : f32[2,1,1,1] = dense<f32[2,1,1,1]: 1.0, 2.0>
%2 = opset1.Convolution "c" (%0, %1) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[1,2,4,4]
%3 = opset1.Const "s" : f32[1,2,1,1] = dense<f32[1,2,1,1]: 0.5, 3.0>
%4 = opset1.Multiply "m" (%2, %3) : f32[1,2,4,4]
opset1.Result "y" (%4)
)";
  }
};

class FuseScaleIntoMatMul : public FuseScale {
 public:
  FuseScaleIntoMatMul() : FuseScale(-1, 1, FactorsOfMatrix<Channels::kOutput>) {}
  std::string_view Description() const override {
    return "Multiply and Divide by constants of each column behind a MatMul go "
           "into its constant right "
           "matrix and the constant bias behind it, as into filters.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[4,1]} : f32[4,1]
%1 = opset1.Const "w" : f32[1,2] = dense<f32[1,2]: 1.0, 2.0>
%2 = opset1.MatMul "p" (%0, %1) {transpose_a = false, transpose_b = false} : f32[4,2]
%3 = opset1.Const "s" : f32[2] = dense<f32[2]: 0.5, 3.0>
%4 = opset1.Multiply "m" (%2, %3) : f32[4,2]
opset1.Result "y" (%4)
)";
  }
};

class FuseScaleIntoFollowing : public MiddleReplacementPattern {
 public:
  FuseScaleIntoFollowing() { force_clean_up = true; }
  std::string_view Description() const override {
    return "Multiply and Divide by constants of each channel, or column, go into the constant filter of a "
           "convolution, or the constant right matrix of a MatMul, that alone reads what they scale.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[4,2]} : f32[4,2]
%1 = opset1.Const "s" : f32[2] = dense<f32[2]: 0.5, 3.0>
%2 = opset1.Multiply "m" (%0, %1) : f32[4,2]
%3 = opset1.Const "w" : f32[2,1] = dense<f32[2,1]: 1.0, 2.0>
%4 = opset1.MatMul "p" (%2, %3) {transpose_a = false, transpose_b = false} : f32[4,1]
opset1.Result "y" (%4)
)";
  }
  Names RunBefore() const override { return {"middle.RemoveUnneeded", "PostMiddleStart"}; }
  Names RunAfter() const override { return {"middle.FuseConstantSequence"}; }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetNodes()) {
      if (node.num_in_ports() >= 2) Fuse(graph, node);
    }
  }

 private:
  static void Fuse(Graph& graph, const Node& node) {
    Port input = node.in_port(0), filter = node.in_port(1);
    const Port scaled = input.GetSource();
    const ir::PartialShape& weights = filter.shape();
    const ir::PartialShape& shape = scaled.shape();
    if (!weights.known() || weights.volume() == 0 || !shape.rank_known() || shape.rank() < 2 ||
        scaled.data().type != ElementType::kF32 || !OnlyDestination(scaled))
      return;
    const ir::Attribute* transpose = node.Find("transpose_a");
    const int64_t axis = transpose == nullptr ? 1 : shape.rank() - 1;
    if (!shape[axis].known() || (transpose != nullptr && transpose->AsBool())) return;
    const int64_t channels = shape[axis].value();
    std::optional<Shape> factors = FactorsOfFilter<Channels::kInput>(node, weights, channels);
    if (!factors) factors = FactorsOfMatrix<Channels::kInput>(node, weights, channels);
    if (!factors) return;
    const std::optional<AffineNode> match = MatchScale(scaled.node(), axis);
    if (!match || !(scaled.node().in_port(match->data).shape() == shape)) return;
    const std::optional<Port> made = ScaledWeights(graph, node, {*factors, match->affine.scale});
    if (!made) return;
    filter.Connect(*made);
    input.Connect(scaled.node().in_port(match->data).GetSource());
  }
};

void RegisterScales(TransformationList& list) {
  list.Add<middle::FuseScaleIntoConvolution>();
  list.Add<middle::FuseScaleIntoMatMul>();
  list.Add<middle::FuseScaleIntoFollowing>();
}

}  // namespace nnefc::transform::middle

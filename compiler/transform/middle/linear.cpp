// Factors and terms of constants that filters, matrices and each other take in.

#include <algorithm>
#include <cmath>
#include <span>

#include "compiler/transform/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform {
namespace middle {

namespace {

// y[c] = x[c] * scale[c] + shift[c], by channels.
struct Affine {
  std::vector<double> scale;
  std::vector<double> shift;
};

// The elements of a known f32 tensor of one element a channel, or of one in all, that is
// broadcast to an output of `node`; nothing of another.
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

// An operation of constants on the channels of what another node computes.
struct AffineNode {
  int32_t data = 0;  // the input that it scales and shifts
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

// Multiply, or Divide by a constant.
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

// Where the channels of weights lie: that of element i is (i / stride) % channels.
struct Weights {
  TensorValue value;
  int64_t stride = 1;
};

// A node with constant weights, and the constant bias behind it, if any.
struct Biased {
  Node node;
  std::optional<Node> add;
  int32_t bias_input = 1;  // of `add`
  std::vector<double> bias;
};

bool AllFinite(llvm::ArrayRef<float> elements) {
  return llvm::all_of(elements, [](float element) { return std::isfinite(element); });
}

float Largest(llvm::ArrayRef<float> elements) {
  float largest = 0;
  for (float element : elements) largest = std::max(largest, std::abs(element));
  return largest;
}

// The weights with every channel times its factor; nothing if they overflow, or are so
// small together that bits are lost.
std::optional<TensorValue> Scaled(const Weights& weights, llvm::ArrayRef<double> scale) {
  constexpr float kLeast = 0x1p-100F;
  const TensorValue source = weights.value.Aligned(alignof(float));
  const auto in = source.elements<float>();
  const TensorValue scaled =
      TensorValue::Make<float>(ElementType::kF32, source.shape(), [&](std::span<float> out) {
        const auto stride = static_cast<size_t>(weights.stride);
        for (size_t begin = 0, channel = 0; begin < out.size(); begin += stride) {
          const double factor = scale[channel];
          for (size_t i = begin; i < begin + stride; ++i) out[i] = static_cast<float>(in[i] * factor);
          channel = channel + 1 == scale.size() ? 0 : channel + 1;
        }
      });
  if (!AllFinite(scaled.elements<float>())) return std::nullopt;
  const bool is_lost = Largest(scaled.elements<float>()) < kLeast && Largest(in) >= kLeast &&
                       llvm::any_of(scale, [](double factor) { return factor != 0; });
  if (is_lost) return std::nullopt;
  return scaled;
}

// Lets a node with constant weights, and the bias behind it, do what an affine node does
// with them. `axis` is that of the channels.
class AffineFusion {
 public:
  // Of what may be scaled: its weights, or nothing.
  using WeightsOf = std::optional<Weights> (*)(const Node& node);

  AffineFusion(Graph& graph, int64_t axis, WeightsOf weights_of)
      : graph_(graph), axis_(axis), weights_of_(weights_of) {}

  void Fuse(const Node& last, const AffineNode& match) {
    const Port data = last.in_port(match.data).GetSource();
    const std::optional<Biased> source = FindSource(data);
    if (!source || !(data.shape() == last.ir().output().shape)) return;
    const std::optional<Weights> weights = weights_of_(source->node);
    if (!weights) return;
    const auto [scale, shift] = match.affine;
    const std::optional<TensorValue> scaled = Scaled(*weights, scale);
    const TensorValue bias = BiasOf(last, *source, match.affine);
    if (!scaled || !AllFinite(bias.elements<float>())) return;

    const Node old = source->node.in_node(1);
    const Node made = graph_.CreateConst(*scaled, graph_.UniqueName(old.name() + "/scaled"));
    Port filter = source->node.in_port(1);
    filter.Connect(made.out_port(0));
    // What it computed is nowhere now.
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

  // One element a channel, broadcast to the result.
  TensorValue BiasOf(const Node& last, const Biased& source, const Affine& affine) const {
    const ir::PartialShape& result = last.ir().output().shape;
    Shape shape(static_cast<size_t>(result.rank()), 1);
    shape[static_cast<size_t>(Axis(result))] = static_cast<int64_t>(source.bias.size());
    return TensorValue::Make<float>(ElementType::kF32, shape, [&](std::span<float> out) {
      for (size_t c = 0; c < out.size(); ++c)
        out[c] = static_cast<float>(source.bias[c] * affine.scale[c] + affine.shift[c]);
    });
  }

  // Adds the bias in the place of the affine node.
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
  const WeightsOf weights_of_;
};

// The constant f32 filter or matrix that is a node's second input.
const TensorValue* KnownWeights(const Node& node) {
  if (node.num_in_ports() < 2) return nullptr;
  const std::optional<TensorValue>& value = node.in_port(1).value();
  return value && value->type() == ElementType::kF32 && value->volume() > 0 ? &*value : nullptr;
}

enum class Product : uint8_t { kConvolution, kMatMul };

bool IsProduct(const Node& node, Product product) {
  static const ir::OpTable<Product> kProducts(ir::StandardOps(), {{"Convolution", Product::kConvolution},
                                                                  {"GroupConvolution", Product::kConvolution},
                                                                  {"MatMul", Product::kMatMul}});
  const Product* found = kProducts.Find(node.ir().op());
  return found != nullptr && *found == product;
}

}  // namespace

class FuseScaleIntoConvolution : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "BatchNormInference, Multiply and Divide by constants of each channel behind a Convolution or "
           "GroupConvolution go into its constant filter and the constant bias behind it, unless an element "
           "would not be finite. Where sums would overflow before they are scaled, they do so after it.";
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
  Names RunBefore() const override { return {"middle.RemoveUnneeded", "PostMiddleStart"}; }
  Names RunAfter() const override { return {"MiddleFinish"}; }

  void FindAndReplacePattern(Graph& graph) override {
    AffineFusion fusion(graph, 1, WeightsOf);
    for (const Node& node : graph.GetNodes()) {
      if (node.num_out_ports() != 1) continue;
      const ir::Output& output = node.ir().output();
      const bool has_channels =
          output.shape.rank_known() && output.shape.rank() >= 3 && output.shape[1].known();
      if (!has_channels || output.shape[1].value() == 0 || output.type != ElementType::kF32) continue;
      const auto match =
          IsBatchNorm(node) ? MatchBatchNorm(node, output.shape[1].value()) : MatchScale(node, 1);
      if (match) fusion.Fuse(node, *match);
    }
  }

 private:
  // Of the version whose first input is what is normalized.
  static bool IsBatchNorm(const Node& node) {
    static const ir::OpId kBatchNorm = ir::StandardOps().Find("opset5", "BatchNormInference");
    return node.ir().op() == kBatchNorm;
  }
  // Rows of a filter, grouped or not, belong to output channels in order.
  static std::optional<Weights> WeightsOf(const Node& node) {
    const TensorValue* filter = IsProduct(node, Product::kConvolution) ? KnownWeights(node) : nullptr;
    if (filter == nullptr) return std::nullopt;
    return Weights{*filter, filter->volume() / node.ir().output().shape[1].value()};
  }
};

class FuseScaleIntoMatMul : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Multiply and Divide by constants of each column behind a MatMul go into its constant right "
           "matrix and the constant bias behind it, unless an element would not be finite.";
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
  Names RunBefore() const override { return {"middle.RemoveUnneeded", "PostMiddleStart"}; }
  Names RunAfter() const override { return {"MiddleFinish"}; }

  void FindAndReplacePattern(Graph& graph) override {
    AffineFusion fusion(graph, -1, WeightsOf);
    for (const Node& node : graph.GetNodes()) {
      if (node.num_out_ports() != 1) continue;
      const ir::Output& output = node.ir().output();
      const int64_t rank = output.shape.rank_known() ? output.shape.rank() : 0;
      if (rank == 0 || !output.shape[rank - 1].known() || output.type != ElementType::kF32) continue;
      if (const auto match = MatchScale(node, rank - 1)) fusion.Fuse(node, *match);
    }
  }

 private:
  static std::optional<Weights> WeightsOf(const Node& node) {
    const TensorValue* matrix = IsProduct(node, Product::kMatMul) ? KnownWeights(node) : nullptr;
    if (matrix == nullptr || matrix->rank() < 2) return std::nullopt;
    return Weights{*matrix, node.ir().Bool("transpose_b") ? matrix->shape().back() : 1};
  }
};

class FuseConstantSequence : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "x * a * b and x + a + b of f32 constants that are broadcast to each other become x * (a * b) and "
           "x + (a + b), where no bits are lost: factors from 2^-40 to 2^40, and sums without cancellation.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.Const "a" : f32[] = dense<f32[]: 2.0>
%2 = opset1.Multiply "m" (%0, %1) : f32[2,3]
%3 = opset1.Const "b" : f32[3] = dense<f32[3]: 1.0, 2.0, 3.0>
%4 = opset1.Multiply "n" (%2, %3) : f32[2,3]
opset1.Result "y" (%4)
)";
  }
  Names RunBefore() const override {
    return {"middle.FuseScaleIntoConvolution", "middle.FuseScaleIntoMatMul", "PostMiddleStart"};
  }
  Names RunAfter() const override { return {"MiddleFinish"}; }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetNodes()) {
      for (ir::ElementFunction function : {ir::ElementFunction::kMultiply, ir::ElementFunction::kAdd})
        if (node.exists() && node.ir().Is(function)) Fuse(graph, node, function);
    }
  }

 private:
  // The input that is a known f32 tensor, which none of the other is.
  static std::optional<int32_t> ConstantInput(const Node& node) {
    if (node.ir().String("auto_broadcast") != "numpy") return std::nullopt;
    for (int32_t i : {1, 0}) {
      const std::optional<TensorValue>& value = node.in_port(i).value();
      if (value && value->type() == ElementType::kF32 && !node.in_port(1 - i).value()) return i;
    }
    return std::nullopt;
  }

  static void Fuse(Graph& graph, const Node& outer, ir::ElementFunction function) {
    const std::optional<int32_t> second = ConstantInput(outer);
    if (!second) return;
    const Port between = outer.in_port(1 - *second).GetSource();
    const Node inner = between.node();
    if (!inner.ir().Is(function) || !OnlyDestination(between)) return;
    const std::optional<int32_t> first = ConstantInput(inner);
    if (!first) return;
    const std::optional<TensorValue> both =
        Combined(*inner.in_port(*first).value(), *outer.in_port(*second).value(), function);
    if (!both) return;
    const Node constant = graph.CreateConst(*both, graph.UniqueName(outer.name() + "/constant"));
    Port data = outer.in_port(1 - *second);
    Port term = outer.in_port(*second);
    data.Connect(inner.in_port(1 - *first).GetSource());
    term.Connect(constant.out_port(0));
    graph.Remove(inner);
  }

  // Of two tensors one of which is broadcast to the other.
  static std::optional<TensorValue> Combined(const TensorValue& a, const TensorValue& b,
                                             ir::ElementFunction function) {
    const bool is_wider = a.volume() != b.volume() ? a.volume() > b.volume() : a.rank() > b.rank();
    const TensorValue& whole = is_wider ? a : b;
    const TensorValue& part = is_wider ? b : a;
    if (part.rank() > whole.rank() || whole.volume() == 0) return std::nullopt;
    const auto missing = static_cast<size_t>(whole.rank() - part.rank());
    for (size_t i = 0; i < part.shape().size(); ++i) {
      if (part.shape()[i] != 1 && part.shape()[i] != whole.shape()[i + missing]) return std::nullopt;
    }
    bool is_exact = true;
    const TensorValue made =
        TensorValue::Make<float>(ElementType::kF32, whole.shape(), [&](std::span<float> out) {
          for (size_t i = 0; i < out.size(); ++i) {
            const double p = whole.ElementAsDouble(static_cast<int64_t>(i));
            const double q = part.ElementAsDouble(PlaceIn(part, whole, i));
            const double both = function == ir::ElementFunction::kAdd ? p + q : p * q;
            is_exact &= function == ir::ElementFunction::kAdd ? IsPlainSum(p, q) : IsPlain(p) && IsPlain(q);
            is_exact &= std::isfinite(both);
            out[i] = static_cast<float>(both);
          }
        });
    if (!is_exact) return std::nullopt;
    return made;
  }
  // The element of a broadcast tensor that stands for element i of the whole.
  static int64_t PlaceIn(const TensorValue& part, const TensorValue& whole, size_t i) {
    int64_t place = 0, stride = 1;
    auto rest = static_cast<int64_t>(i);
    const auto missing = static_cast<size_t>(whole.rank() - part.rank());
    for (size_t axis = whole.shape().size(); axis-- > missing;) {
      const int64_t extent = part.shape()[axis - missing];
      if (extent != 1) place += rest % whole.shape()[axis] * stride;
      rest /= whole.shape()[axis];
      stride *= extent;
    }
    return place;
  }
  static bool IsPlain(double factor) {
    const double size = std::abs(factor);
    return factor == 0 || (size >= 0x1p-40 && size <= 0x1p40);
  }
  static bool IsPlainSum(double a, double b) {
    return std::abs(a + b) >= std::max(std::abs(a), std::abs(b)) / 16 && std::abs(a + b) <= 0x1p100;
  }
};

class FuseTransposeIntoMatMul : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "A Transpose of the last two axes before a MatMul becomes its `transpose_a` or `transpose_b`; "
           "`transpose_a` only where the right matrix is no constant, whose layout is chosen once.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[4,3]} : f32[4,3]
%1 = opset1.Parameter "w" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%2 = opset1.Const "o" : i64[2] = dense<i64[2]: 1, 0>
%3 = opset1.Transpose "t" (%1, %2) : f32[3,2]
%4 = opset1.MatMul "p" (%0, %3) {transpose_a = false, transpose_b = false} : f32[4,2]
opset1.Result "y" (%4)
)";
  }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& product : graph.GetOpNodes("MatMul")) {
      for (int32_t i : {0, 1}) {
        Port input = product.in_port(i);
        const Node transpose = input.GetSource().node();
        if (!SwapsLastAxes(transpose) || (i == 0 && product.in_port(1).value())) continue;
        const std::string_view attribute = i == 0 ? "transpose_a" : "transpose_b";
        product.Set(attribute, !product.ir().Bool(attribute));
        input.Connect(transpose.in_port(0).GetSource());
      }
    }
  }

 private:
  static bool SwapsLastAxes(const Node& node) {
    static const ir::OpTable<bool> kTransposes(ir::StandardOps(), {{"Transpose", true}});
    if (kTransposes.Find(node.ir().op()) == nullptr) return false;
    std::optional<std::vector<int64_t>> order = KnownInts(node.in_port(1));
    // No order at all reverses the axes.
    if (order && order->empty() && node.ir().output().shape.rank_known() &&
        node.ir().output().shape.rank() == 2)
      return true;
    if (!order || order->size() < 2) return false;
    std::swap((*order)[order->size() - 1], (*order)[order->size() - 2]);
    for (size_t i = 0; i < order->size(); ++i) {
      if ((*order)[i] != static_cast<int64_t>(i)) return false;
    }
    return true;
  }
};

class SqueezeConstantMatrix : public MiddleReplacementPattern {
 public:
  SqueezeConstantMatrix() { force_clean_up = true; }
  std::string_view Description() const override {
    return "A constant right operand of MatMul whose leading extents are 1, of no higher rank than the left "
           "one, becomes a matrix.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3,2]} : f32[2,3,2]
%1 = opset1.Const "w" : f32[1,2,1] = dense<f32[1,2,1]: 1.0, 2.0>
%2 = opset1.MatMul "p" (%0, %1) {transpose_a = false, transpose_b = false} : f32[2,3,1]
opset1.Result "y" (%2)
)";
  }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& product : graph.GetOpNodes("opset1.MatMul")) {
      Port input = product.in_port(1);
      const std::optional<TensorValue>& value = input.value();
      const ir::PartialShape& left = product.in_port(0).shape();
      if (!value || value->rank() <= 2 || !left.rank_known() || left.rank() < value->rank()) continue;
      const llvm::ArrayRef<int64_t> extents = value->shape();
      if (llvm::any_of(extents.drop_back(2), [](int64_t extent) { return extent != 1; })) continue;
      const llvm::ArrayRef<int64_t> matrix = extents.take_back(2);
      const std::string name = input.GetSource().node().name() + "/matrix";
      const Node made = graph.CreateConst(value->Reshaped(Shape(matrix.begin(), matrix.end())), name);
      input.Connect(made.out_port(0));
    }
  }
};

}  // namespace middle

void RegisterLinear(TransformationList& list) {
  list.Add<middle::FuseScaleIntoConvolution>();
  list.Add<middle::FuseScaleIntoMatMul>();
  list.Add<middle::FuseConstantSequence>();
  list.Add<middle::FuseTransposeIntoMatMul>();
  list.Add<middle::SqueezeConstantMatrix>();
}

}  // namespace nnefc::transform

// Random chains of operations after those to which the fast backend fuses them, against the reference
// backend, which runs node by node. Operations occur again with other parameters. Operands are shared,
// constant, dead or still needed; a few elements are NaN, infinite, denormal or negative zero.

#include <cmath>
#include <limits>
#include <random>

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {
namespace {

// Makes one graph from a seed.
class ChainMaker {
 public:
  explicit ChainMaker(unsigned seed) : random_(seed) {}

  void Make() {
    const ir::OutputPort main = Main();
    ir::OutputPort y = main;
    shape_ = graph_.graph->output(y).shape.known_extents();
    for (int length = 1 + Below(6); length > 0; --length) y = Follow(y);
    graph_.Result(y);
    // Intermediate values that are also results.
    if (!full_.empty() && Below(3) == 0) graph_.Result(full_.back(), "operand");
    if (Below(12) == 0) graph_.Result(main, "main");
  }

  const TestGraph& graph() const { return graph_; }
  const std::vector<TensorValue>& inputs() const { return inputs_; }
  // The order of additions in dot products differs between kernels.
  bool exact() const { return exact_; }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  TensorValue Values(const Shape& shape, bool special) {
    std::uniform_real_distribution<float> distribution(-2, 2);
    return TensorValue::Make<float>(ElementType::kF32, shape, [&](std::span<float> values) {
      static constexpr float kSpecial[] = {kNan, kInfinity, -kInfinity, -0.0f, 0.0f, 1e-40f, -1e-40f};
      for (float& value : values) {
        value = distribution(random_);
        if (special && Below(9) == 0) value = kSpecial[Below(7)];
      }
    });
  }

  ir::OutputPort Input(const Shape& shape, bool special) {
    inputs_.push_back(Values(shape, special));
    return graph_.Parameter("x" + std::to_string(inputs_.size()), shape);
  }

  ir::OutputPort Weights(const Shape& shape) { return graph_.Const(Values(shape, false)); }

  ir::OutputPort Product(bool special) {
    const int64_t channels = Below(2) == 0 ? 7 : 32;
    const int64_t pixels = Below(3) == 0 ? 15 : 5;
    ir::AttributeMap window;
    for (const char* name : {"strides", "dilations", "pads_begin", "pads_end"})
      window.Set(name, ir::Attribute::Integers{1, 1});
    // The Winograd algorithm spreads non-finite values over tiles.
    const bool rare = special && (channels < 32 || pixels < 14);
    switch (Below(7)) {
      case 0:
      case 1:
        return graph_.Convolution(Input({1, 32, pixels, pixels}, rare), Weights({channels, 32, 3, 3}), 1);
      case 2:
        return graph_.Op("GroupConvolution",
                         {Input({2, channels, 6, 5}, special), Weights({channels, 1, 1, 3, 3})}, window);
      case 3:
        return graph_.Op("ConvolutionBackpropData",
                         {Input({1, 16, 6, 5}, special), Weights({16, channels, 3, 3})}, window);
      case 4:  // the filter covers the image
        return graph_.Convolution(Input({3, 16, 3, 3}, special), Weights({channels, 16, 3, 3}), 0);
      case 5:
        return graph_.Op("MatMul", {Input({3, 19}, special), Weights({channels, 19})},
                         With("transpose_b", true));
      default:
        return graph_.Op("MatMul", {Input({2, 3, 19}, special), Weights({19, channels})});
    }
  }

  ir::OutputPort Main() {
    if (Below(2) == 0) {
      exact_ = false;
      return Product(Below(2) == 0);
    }
    static constexpr const char* kTypes[] = {"Add", "Subtract", "Multiply"};
    const char* type = kTypes[Below(3)];
    if (Below(2) == 0) {  // in the layout of a convolution
      exact_ = false;
      const int64_t channels = Below(2) == 0 ? 7 : 32;
      const ir::OutputPort x = Input({2, 32, 3, 5}, false);
      const auto branch = [&] {
        return graph_.Op("Sigmoid", {graph_.Convolution(x, Weights({channels, 32, 1, 1}), 0)});
      };
      // Not fused to a convolution: it is used twice.
      const ir::OutputPort a = branch();
      full_.push_back(a);
      graph_.Result(a, "branch");
      return graph_.Op(type, {a, Below(2) == 0 ? graph_.Op("Tanh", {a}) : Input({1, channels, 1, 1}, true)});
    }
    const Shape shape = Below(2) == 0 ? Shape{2, 5, 37} : Shape{1, 16, 3, 3};
    const ir::OutputPort a = Input(shape, true);
    return graph_.Op(type, {a, Below(3) == 0 ? a : Input(shape, true)});
  }

  // An infinite factor would turn the difference between a denormal number and 0 into one between infinity
  // and NaN.
  ir::OutputPort Number(bool factor) {
    static constexpr float kNumbers[] = {0.5f, 3, -1, 0, -0.0f, 1, -0.25f, 2, 0.75f, kInfinity, -kInfinity};
    const int most = exact_ && !factor ? 11 : 9;
    return graph_.Const(
        TensorValue::FromFloats(Below(2) == 0 ? Shape{} : Shape(shape_.size(), 1), {kNumbers[Below(most)]}));
  }

  ir::OutputPort Binary(const char* type, ir::OutputPort x, ir::OutputPort other) {
    return Below(4) == 0 ? graph_.Op(type, {other, x}) : graph_.Op(type, {x, other});
  }

  // An operand with the shape of the result: a parameter, a constant, a value with no other reader, or one
  // that is read again.
  ir::OutputPort Whole() {
    const int kind = Below(4);
    if (kind == 0 && !full_.empty()) return full_[static_cast<size_t>(Below(static_cast<int>(full_.size())))];
    if (kind == 1) return Weights(shape_);
    ir::OutputPort whole = Input(shape_, exact_);
    if (kind == 2) whole = graph_.Op("Tanh", {whole});
    full_.push_back(whole);
    return whole;
  }

  // One element per channel, of images or of rows.
  ir::OutputPort PerChannel() {
    const bool image = shape_.size() == 4;
    Shape shape(shape_.size(), 1);
    shape[image ? 1 : shape.size() - 1] = image ? shape_[1] : shape_.back();
    return Below(3) == 0 ? Input(shape, false) : Weights(shape);
  }

  ir::OutputPort Follow(ir::OutputPort x) {
    static constexpr const char* kScalar[] = {"Add",      "Add",     "Subtract", "Multiply",
                                              "Multiply", "Minimum", "Maximum"};
    static constexpr float kSlopes[] = {0.1f, 0.25f, 0, 1, 2, -0.5f};
    static constexpr double kLimits[][2] = {{0, 6},     {-1, 1},         {0, 1},
                                            {0.5, 0.5}, {-kInfinity, 2}, {-2, kInfinity}};
    switch (Below(12)) {
      case 0:
      case 1:
      case 2: {
        const char* type = kScalar[Below(7)];
        return Binary(type, x, Number(type == std::string_view("Multiply")));
      }
      case 3: {
        ir::AttributeMap limits;
        const auto& [low, high] = kLimits[Below(6)];
        limits.Set("min", low);
        limits.Set("max", high);
        return graph_.Op("Clamp", {x}, limits);
      }
      case 4:
        return graph_.Op("PReLU", {x, graph_.Const(TensorValue::FromFloats({1}, {kSlopes[Below(6)]}))});
      case 5:
        return graph_.Op("Elu", {x}, With("alpha", static_cast<double>(kSlopes[Below(5)])));
      case 6: {
        const float beta = kSlopes[1 + Below(4)];
        return graph_.Op("opset4", "Swish", {x, graph_.Const(TensorValue::FromFloats({}, {beta}))});
      }
      case 7:
        return Binary(Below(2) == 0 ? "Add" : "Multiply", x, PerChannel());
      case 8:
        return Binary(Below(3) == 0 ? "Multiply" : "Add", x, Whole());
      case 9:
        return graph_.Op("ReLU", {x});
      default:
        return Function(x);
    }
  }

  ir::OutputPort Function(ir::OutputPort x) {
    switch (Below(8)) {
      case 0:
        return graph_.Op("Sigmoid", {x});
      case 1:
        return graph_.Op("Tanh", {x});
      case 2:
        return graph_.Op("Abs", {x});
      case 3:
        return graph_.Op("opset4", "HSwish", {x});
      case 4:
        return graph_.Op("opset4", "Mish", {x});
      case 5:
        return graph_.Op("opset4", "SoftPlus", {x});
      case 6:
        return graph_.Op("opset7", "Gelu", {x}, With("approximation_mode", Below(2) == 0 ? "TANH" : "ERF"));
      default:
        return graph_.Op("Exp", {graph_.Op("Minimum", {x, graph_.Const(TensorValue::Scalar(3))})});
    }
  }

  std::mt19937 random_;
  TestGraph graph_;
  Shape shape_;
  bool exact_ = true;
  std::vector<TensorValue> inputs_;
  std::vector<ir::OutputPort> full_;
};

// Returns the number of steps in the plan that cover several nodes.
int FusedSteps(const std::string& plan) {
  return static_cast<int>(std::count(plan.begin(), plan.end(), '+'));
}

int CheckChain(unsigned seed) {
  ChainMaker maker(seed);
  maker.Make();
  const auto executable = Compile(maker.graph().graph, {.backend = kernels::Backend::kFast, .threads = 1});
  if (executable == nullptr) return 0;
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + executable->DescribePlan());
  const std::vector<TensorValue> expected =
      RunGraph(maker.graph().graph, {.backend = kernels::Backend::kReference, .threads = 1}, maker.inputs());
  std::unique_ptr<Session> session = Session::Create(executable);
  for (int run = 0; run < 2; ++run) {
    kernels::FaultOr<std::vector<TensorValue>> actual = session->Run(maker.inputs());
    EXPECT_TRUE(actual.ok()) << (actual.ok() ? "" : actual.error().message);
    if (!actual.ok() || actual->size() != expected.size()) return 0;
    for (size_t i = 0; i < expected.size(); ++i)
      ExpectNear((*actual)[i], expected[i], maker.exact() ? 2e-6 : 1e-4);
  }
  return FusedSteps(executable->DescribePlan());
}

TEST(ChainsTest, BackendsAgree) {
  int fused = 0;
  for (unsigned seed = 0; seed < 400; ++seed) fused += CheckChain(seed);
  // The agreement is not due to missing fusion.
  EXPECT_GT(fused, 400);
}

}  // namespace
}  // namespace nnefc::runtime::engine

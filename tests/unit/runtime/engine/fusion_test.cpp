// Fusion, aliasing and overwriting in plans of the fast backend must not change results: every graph also
// runs on the reference backend, node by node.

#include <algorithm>
#include <functional>
#include <random>

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/planned_bytes.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {
namespace {

constexpr double kTolerance = 2e-5;

// Runs both backends, twice in one session of the fast one (the arena is reused), and returns the fast plan's
// description.
std::string PlanWhereBackendsAgree(const TestGraph& graph, const std::vector<TensorValue>& inputs) {
  const std::vector<TensorValue> expected =
      RunGraph(graph.graph, {.backend = kernels::Backend::kReference, .threads = 2, .fuse = false}, inputs);
  const auto executable = Compile(graph.graph, {.backend = kernels::Backend::kFast, .threads = 2});
  if (executable == nullptr) return "";
  std::unique_ptr<Session> session = Session::Create(executable);
  for (int run = 0; run < 2; ++run) {
    kernels::FaultOr<std::vector<TensorValue>> actual = session->Run(inputs);
    EXPECT_TRUE(actual.ok()) << (actual.ok() ? "" : actual.error().message);
    if (!actual) return "";
    EXPECT_EQ(actual->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) ExpectClose((*actual)[i], expected[i], kTolerance);
  }
  return executable->DescribePlan();
}

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(FusionTest, ConvolutionBiasRelu) {
  TestGraph g;
  auto x = g.Parameter("x", {1, 16, 9, 9});
  auto y = g.Convolution(x, g.Weights({32, 16, 3, 3}, 1), 1);
  y = g.Op("Add", {y, g.Weights({1, 32, 1, 1}, 2)});
  g.Result(g.Op("ReLU", {y}));
  EXPECT_TRUE(Contains(PlanWhereBackendsAgree(g, {RandomTensor({1, 16, 9, 9}, 3)}), "Convolution+Add+ReLU"));
}

// A residual unit: the sum is fused to the convolution whose other operand is dead, but not if that operand
// is needed later.
TEST(FusionTest, ResidualUnits) {
  TestGraph g;
  auto x = g.Parameter("x", {1, 16, 8, 8});
  auto first = g.Op("ReLU", {g.Convolution(x, g.Weights({32, 16, 3, 3}, 1), 1)});
  auto second = g.Op("ReLU", {g.Convolution(first, g.Weights({32, 32, 3, 3}, 2), 1)});
  auto sum = g.Op("ReLU", {g.Op("Add", {g.Convolution(second, g.Weights({32, 32, 1, 1}, 3), 0), first})});
  auto third = g.Op("Add", {sum, g.Convolution(sum, g.Weights({32, 32, 3, 3}, 4), 1)});
  g.Result(third);
  g.Result(sum, "sum");
  const std::string plan = PlanWhereBackendsAgree(g, {RandomTensor({1, 16, 8, 8}, 5)});
  EXPECT_TRUE(Contains(plan, "Convolution+Add+ReLU")) << plan;
}

TEST(FusionTest, AConvolutionAddedToItsOwnInput) {
  TestGraph g;
  auto x = g.Op("ReLU", {g.Parameter("x", {1, 32, 8, 8})});
  g.Result(g.Op("Add", {g.Convolution(x, g.Weights({32, 32, 3, 3}, 1), 1), x}));
  PlanWhereBackendsAgree(g, {RandomTensor({1, 32, 8, 8}, 2)});
}

TEST(FusionTest, BothOperandsAreConvolutions) {
  TestGraph g;
  auto x = g.Parameter("x", {1, 16, 8, 8});
  auto a = g.Convolution(x, g.Weights({32, 16, 3, 3}, 1), 1);
  auto b = g.Convolution(x, g.Weights({32, 16, 1, 1}, 2), 0);
  auto sum = g.Op("ReLU", {g.Op("Add", {a, b})});
  g.Result(sum);
  g.Result(g.Op("Sigmoid", {b}), "other");
  PlanWhereBackendsAgree(g, {RandomTensor({1, 16, 8, 8}, 3)});
}

// Channel attention on blocked images: a value per channel, with a full or partial last block, before a
// convolution that reads the result.
TEST(FusionTest, NumbersForChannelsInBlocks) {
  for (const Shape& numbers :
       std::vector<Shape>{{1, 32, 1, 1}, {2, 32, 1, 1}, {1, 24, 1, 1}, {2, 24, 1, 1}, {24, 1, 1}}) {
    const int64_t channels = numbers.size() == 4 ? numbers[1] : numbers[0];
    const int64_t batch = numbers == Shape{1, 32, 1, 1} ? 1 : 2;
    for (const char* op : {"Multiply", "Add", "Subtract", "Divide"}) {
      for (const bool images_first : {true, false}) {
        TestGraph g;
        auto x = g.Parameter("x", {batch, 16, 5, 3});
        auto y = g.Op("ReLU", {g.Convolution(x, g.Weights({channels, 16, 3, 3}, 1), 1)});
        auto own = g.Op("Abs", {g.Parameter("numbers", numbers)});
        auto combined = g.Op(op, images_first ? std::vector{y, own} : std::vector{own, y});
        if (op == std::string_view("Divide") && !images_first) combined = g.Op("Sigmoid", {combined});
        g.Result(g.Convolution(combined, g.Weights({16, channels, 1, 1}, 2), 0));
        g.Result(y, "images");  // two readers: the convolution is stored before
        const std::string plan =
            PlanWhereBackendsAgree(g, {RandomTensor({batch, 16, 5, 3}, 3), RandomTensor(numbers, 4)});
        if (op != std::string_view("Divide") || images_first) {
          EXPECT_TRUE(Contains(plan, "nnefc:channels") || !fast::simd::HasSimd()) << plan;
        }
      }
    }
  }
}

TEST(FusionTest, ConcatenationOfBlockedPartsNeedsNoStep) {
  TestGraph g;
  auto x = g.Parameter("x", {1, 16, 8, 8});
  auto a = g.Op("ReLU", {g.Convolution(x, g.Weights({32, 16, 3, 3}, 1), 1)});
  auto b = g.Op("ReLU", {g.Convolution(a, g.Weights({16, 32, 1, 1}, 2), 0)});
  ir::AttributeMap axis;
  axis.Set("axis", 1);
  auto joined = g.Op("Concat", {a, b}, axis);
  g.Result(g.Convolution(joined, g.Weights({16, 48, 3, 3}, 3), 1));
  g.Result(g.Op("Sigmoid", {a}), "part");
  const std::string plan = PlanWhereBackendsAgree(g, {RandomTensor({1, 16, 8, 8}, 4)});
  EXPECT_TRUE(!Contains(plan, "Concat") || !fast::simd::HasSimd()) << plan;
}

// Layers that read the results of all earlier ones: each concatenates the previous concatenation.
TEST(FusionTest, GrowingConcatenationsNeedNoSteps) {
  ir::AttributeMap axis;
  axis.Set("axis", 1);
  TestGraph g;
  auto x = g.Parameter("x", {1, 16, 8, 8});
  std::vector parts{g.Convolution(x, g.Weights({32, 16, 3, 3}, 1), 1)};
  for (uint32_t layer = 2; layer < 6; ++layer) {
    auto joined = parts.size() == 1 ? parts[0] : g.Op("Concat", parts, axis);
    const int64_t channels = 16 + 16 * static_cast<int64_t>(layer - 1);
    joined = g.Op("ReLU", {joined});
    parts.push_back(g.Convolution(joined, g.Weights({16, channels, 3, 3}, layer), 1));
  }
  g.Result(g.Convolution(g.Op("Concat", parts, axis), g.Weights({16, 96, 1, 1}, 9), 0));
  const std::string plan = PlanWhereBackendsAgree(g, {RandomTensor({1, 16, 8, 8}, 4)});
  EXPECT_FALSE(Contains(plan, "Concat") && fast::simd::HasSimd()) << plan;
}

// Concatenated parts are one part of another concatenation only in the same order and without a gap.
TEST(FusionTest, JoinedPartsInAnotherOrder) {
  ir::AttributeMap axis;
  axis.Set("axis", 1);
  const std::vector<std::vector<size_t>> orders{{0, 2, 1, 3}, {0, 1, 3, 2}, {3, 0, 1, 2},   {0, 2, 3},
                                                {0, 1, 2},    {1, 2, 3},    {0, 1, 2, 3, 3}};
  for (const std::vector<size_t>& order : orders) {
    TestGraph g;
    auto x = g.Parameter("x", {1, 16, 5, 3});
    decltype(g.Op("ReLU", {x})) parts[4] = {};
    for (uint32_t i = 0; i < 4; ++i) parts[i] = g.Convolution(x, g.Weights({16, 16, 1, 1}, i + 1), 0);
    g.Result(g.Op("Tanh", {g.Op("Concat", {parts[0], parts[1], parts[2], parts[3]}, axis)}), "first");
    std::vector<decltype(g.Op("ReLU", {x}))> chosen;
    chosen.reserve(order.size());
    for (size_t i : order) chosen.push_back(parts[i]);
    g.Result(g.Op("Exp", {g.Op("Concat", chosen, axis)}), "second");
    PlanWhereBackendsAgree(g, {RandomTensor({1, 16, 5, 3}, 4)});
  }
}

// Parts of two concatenations, each at the position of the other's next part.
TEST(FusionTest, PartsOfTwoWholesAreNoWhole) {
  ir::AttributeMap axis;
  axis.Set("axis", 1);
  const std::vector<std::vector<size_t>> orders{{0, 3},       {2, 1},       {0, 1, 3}, {0, 3, 2, 1},
                                                {2, 3, 0, 1}, {0, 1, 2, 3}, {2, 3, 1}};
  for (const bool is_blocked : {true, false}) {
    for (const std::vector<size_t>& order : orders) {
      TestGraph g;
      const ir::OutputPort x = g.Parameter("x", {1, 16, 5, 3});
      std::vector<ir::OutputPort> parts;
      for (uint32_t i = 0; i < 4; ++i) {
        parts.push_back(is_blocked ? g.Convolution(x, g.Weights({16, 16, 1, 1}, i + 1), 0)
                                   : g.Op(i % 2 == 0 ? "Tanh" : "Sigmoid",
                                          {g.Op("Add", {x, g.Weights({1, 16, 1, 1}, i + 1)})}));
      }
      g.Result(g.Op("Tanh", {g.Op("Concat", {parts[0], parts[1]}, axis)}), "first");
      g.Result(g.Op("Abs", {g.Op("Concat", {parts[2], parts[3]}, axis)}), "second");
      std::vector<ir::OutputPort> chosen;
      chosen.reserve(order.size());
      for (size_t i : order) chosen.push_back(parts[i]);
      g.Result(g.Op("Exp", {g.Op("Concat", chosen, axis)}), "third");
      PlanWhereBackendsAgree(g, {RandomTensor({1, 16, 5, 3}, 4)});
    }
  }
}

// Random lists of parts, also nested: with or without common prefixes, with repeated parts, row-major or
// blocked, with further readers, overwritten or as results.
TEST(FusionTest, DrawnConcatenations) {
  ir::AttributeMap axis;
  axis.Set("axis", 1);
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t count) { return static_cast<size_t>(random() % count); };
    const bool is_blocked = below(2) == 0;
    const int64_t batch = below(4) == 0 ? 2 : 1;
    TestGraph g;
    auto x = g.Parameter("x", {batch, 16, 5, 3});
    struct Made {
      decltype(x) value;
      int64_t channels;
    };
    const auto layer = [&](const Made& from) -> Made {
      if (!is_blocked) return {g.Op(below(2) == 0 ? "Tanh" : "Abs", {from.value}), from.channels};
      const auto made = g.Convolution(from.value, g.Weights({16, from.channels, 1, 1}, 1 + below(5)), 0);
      return {below(2) == 0 ? g.Op("ReLU", {made}) : made, 16};
    };
    std::vector<Made> parts{layer({x, 16})};
    for (int i = 0; i < 5; ++i) {
      std::vector<Made> chosen;
      if (below(3) == 0) {
        for (size_t count = 1 + below(3); chosen.size() < count;)
          chosen.push_back(parts[below(parts.size())]);
      } else {
        chosen.assign(parts.begin(), parts.begin() + 1 + static_cast<int64_t>(below(parts.size())));
        if (below(4) == 0)
          std::shuffle(chosen.begin() + static_cast<int64_t>(below(2)), chosen.end(), random);
      }
      Made joined{chosen[0].value, 0};
      std::vector<decltype(x)> values;
      for (const Made& part : chosen) {
        values.push_back(part.value);
        joined.channels += part.channels;
      }
      if (values.size() > 1) joined.value = g.Op("Concat", values, axis);
      if (below(3) == 0) joined.value = g.Op("Negative", {joined.value});
      if (below(4) == 0) g.Result(joined.value, fmt::format("joined{}", i));
      parts.push_back(below(5) == 0 ? joined : layer(joined));
      if (below(6) == 0) g.Result(g.Op("Exp", {parts[below(parts.size())].value}), fmt::format("part{}", i));
    }
    g.Result(g.Op("Sigmoid", {parts.back().value}), "last");
    PlanWhereBackendsAgree(g, {RandomTensor({batch, 16, 5, 3}, seed)});
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      return;
    }
  }
}

TEST(FusionTest, ConcatenationsThatMustCopy) {
  ir::AttributeMap axis;
  axis.Set("axis", 1);
  for (int64_t batch : {1, 2}) {
    TestGraph g;
    auto x = g.Parameter("x", {batch, 16, 8, 8});
    auto a = g.Op("ReLU", {g.Convolution(x, g.Weights({32, 16, 3, 3}, 1), 1)});
    auto twice = g.Op("Concat", {a, a}, axis);
    auto with_input = g.Op("Concat", {x, a, twice}, axis);
    auto odd = g.Op("Concat", {g.Convolution(x, g.Weights({5, 16, 3, 3}, 2), 1), with_input}, axis);
    g.Result(odd);
    g.Result(with_input, "with_input");
    PlanWhereBackendsAgree(g, {RandomTensor({batch, 16, 8, 8}, 3)});
  }
}

TEST(FusionTest, FullyConnectedLayers) {
  ir::AttributeMap transposed;
  transposed.Set("transpose_b", true);
  transposed.Set("transpose_a", false);
  ir::AttributeMap zero;
  zero.Set("special_zero", true);
  TestGraph g;
  auto x = g.Parameter("x", {2, 16, 4, 4});
  auto y = g.Op("ReLU", {g.Convolution(x, g.Weights({16, 16, 3, 3}, 1), 1)});
  y = g.Op("Reshape", {y, g.Ints({0, -1})}, zero);
  y = g.Op("MatMul", {y, g.Weights({64, 256}, 2)}, transposed);
  y = g.Op("ReLU", {g.Op("Add", {y, g.Weights({1, 64}, 3)})});
  ir::AttributeMap plain;
  plain.Set("transpose_b", false);
  plain.Set("transpose_a", false);
  y = g.Op("Add", {g.Op("MatMul", {y, g.Weights({64, 10}, 4)}, plain), g.Weights({10}, 5)});
  ir::AttributeMap axis;
  axis.Set("axis", 1);
  g.Result(g.Op("SoftMax", {y}, axis));
  const std::string plan = PlanWhereBackendsAgree(g, {RandomTensor({2, 16, 4, 4}, 6)});
  EXPECT_TRUE(Contains(plan, "MatMul+Add+ReLU")) << plan;
}

TEST(FusionTest, ActivationsAfterConvolution) {
  ir::AttributeMap clamp;
  clamp.Set("min", 0.0);
  clamp.Set("max", 6.0);
  ir::AttributeMap elu;
  elu.Set("alpha", 0.5);
  TestGraph g;
  auto x = g.Parameter("x", {1, 16, 6, 6});
  const auto conv = [&](unsigned seed) { return g.Convolution(x, g.Weights({16, 16, 3, 3}, seed), 1); };
  g.Result(g.Op("Clamp", {conv(1)}, clamp), "clamp");
  g.Result(g.Op("Elu", {conv(2)}, elu), "elu");
  g.Result(g.Op("Sigmoid", {conv(3)}), "sigmoid");
  g.Result(g.Op("Tanh", {conv(4)}), "tanh");
  g.Result(g.Op("opset4", "Swish", {conv(5)}), "swish");
  g.Result(g.Op("PReLU", {conv(6), g.Const(TensorValue::FromFloats({1}, {0.25f}))}), "leaky");
  g.Result(g.Op("PReLU", {conv(7), g.Weights({16}, 8)}), "prelu");
  g.Result(g.Op("Multiply", {conv(9), g.Op("Sigmoid", {g.Weights({1, 16, 1, 1}, 10)})}), "scaled");
  g.Result(g.Op("Subtract", {g.Const(TensorValue::Scalar(1)), conv(11)}), "subtracted");
  g.Result(g.Op("Add", {conv(12), g.Const(TensorValue::Scalar(1))}), "shifted");
  g.Result(g.Op("Subtract", {conv(14), g.Const(TensorValue::Scalar(1))}), "lowered");
  g.Result(g.Op("Minimum", {g.Op("ReLU", {conv(15)}), g.Const(TensorValue::Scalar(6))}), "relu6");
  g.Result(g.Op("Maximum", {g.Const(TensorValue::Scalar(-0.5)), conv(16)}), "above");
  g.Result(g.Op("Maximum", {g.Op("Tanh", {x}), g.Const(TensorValue::Scalar(0.25))}), "alone");
  PlanWhereBackendsAgree(g, {RandomTensor({1, 16, 6, 6}, 13)});
}

// Squeeze and excitation: a full tensor times one value per channel.
TEST(FusionTest, ChannelAttention) {
  ir::AttributeMap keep;
  keep.Set("keep_dims", true);
  TestGraph g;
  auto x = g.Parameter("x", {1, 32, 6, 6});
  auto y = g.Op("ReLU", {g.Convolution(x, g.Weights({32, 32, 3, 3}, 1), 1)});
  auto mean = g.Op("ReduceMean", {y, g.Ints({2, 3})}, keep);
  auto gate = g.Op("Sigmoid", {g.Convolution(mean, g.Weights({32, 32, 1, 1}, 2), 0)});
  g.Result(g.Op("Multiply", {y, gate}));
  g.Result(g.Op("Add", {gate, g.Op("Multiply", {gate, gate})}), "gates");
  PlanWhereBackendsAgree(g, {RandomTensor({1, 32, 6, 6}, 3)});
}

// Normalisation before a convolution (ResNet v2) cannot be folded.
TEST(FusionTest, PreActivationUnits) {
  TestGraph g;
  ir::AttributeMap epsilon;
  epsilon.Set("epsilon", 1e-3);
  auto x = g.Parameter("x", {1, 16, 8, 8});
  auto y = g.Convolution(x, g.Weights({32, 16, 3, 3}, 1), 1);
  const auto activated = [&](ir::OutputPort data) {
    return g.Op(
        "ReLU",
        {g.Op("opset5", "BatchNormInference",
              {data, g.Weights({32}, 3), g.Weights({32}, 4), g.Weights({32}, 5), g.Weights({32}, 6, 0.1f, 2)},
              epsilon)});
  };
  auto z = g.Op("Add", {y, g.Convolution(activated(y), g.Weights({32, 32, 3, 3}, 7, -0.1f, 0.1f), 1)});
  g.Result(g.Op("Tanh", {activated(z)}));
  g.Result(g.Op("ReLU", {g.Op("Add", {g.Op("Sigmoid", {z}), g.Op("Abs", {y})})}), "sum");
  const std::string plan = PlanWhereBackendsAgree(g, {RandomTensor({1, 16, 8, 8}, 8)});
  EXPECT_TRUE(Contains(plan, "BatchNormInference+ReLU")) << plan;
  EXPECT_TRUE(Contains(plan, " Add+ReLU")) << plan;
}

TEST(FusionTest, OperationsWithoutAFastKernelBetweenFastOnes) {
  TestGraph g;
  auto x = g.Parameter("x", {1, 5, 7, 7});
  auto y = g.Convolution(x, g.Weights({7, 5, 3, 3}, 1), 1);
  y = g.Op("Sin", {y});
  y = g.Convolution(y, g.Weights({16, 7, 3, 3}, 2), 1);
  auto t = g.Op("Transpose", {y, g.Ints({0, 2, 3, 1})});
  g.Result(t);
  g.Result(g.Op("Cos", {y}), "cos");
  PlanWhereBackendsAgree(g, {RandomTensor({1, 5, 7, 7}, 3)});
}

// An operand that is also the input of the fused operation is not overwritten while it is read.
TEST(FusionTest, SumsWithTheInputOfTheProduct) {
  constexpr int64_t kSize = 48;
  TestGraph g;
  const auto x = g.Op("ReLU", {g.Parameter("x", {kSize, kSize})});
  g.Result(g.Op("Add", {g.Op("MatMul", {x, g.Weights({kSize, kSize}, 2)}), x}));
  TestGraph h;
  const auto image = h.Op("ReLU", {h.Parameter("x", {1, 16, 9, 9})});
  h.Result(h.Op("Add", {h.Convolution(image, h.Weights({16, 16, 3, 3}, 2), 1), image}));
  for (const auto& [graph, shape] :
       {std::pair{g.graph, Shape{kSize, kSize}}, std::pair{h.graph, Shape{1, 16, 9, 9}}}) {
    const TensorValue input = RandomTensor(shape, 1);
    const auto expected = RunGraph(graph, {.backend = kernels::Backend::kReference, .fuse = false}, {input});
    for (const kernels::Backend backend : kBackends) {
      const auto made = RunGraph(graph, {.backend = backend, .threads = 2}, {input});
      ASSERT_EQ(made.size(), 1u);
      ExpectClose(made[0], expected[0], 1e-5);
    }
  }
}

// Cells with constant weights are computed by packed panels.
TEST(FusionTest, RecurrentCells) {
  struct Cells {
    const char *set, *type;
    int64_t gates, states;
  };
  for (const auto& [set, type, gates, states] :
       {Cells{"opset4", "LSTMCell", 4, 2}, {"opset3", "GRUCell", 3, 1}, {"opset1", "RNNCell", 1, 1}}) {
    SCOPED_TRACE(type);
    constexpr int64_t kBatch = 3, kInputs = 13, kHidden = 20;
    TestGraph g;
    std::vector<ir::OutputPort> inputs = {g.Parameter("x", {kBatch, kInputs})};
    std::vector<TensorValue> given = {RandomTensor({kBatch, kInputs}, 1)};
    for (int64_t i = 0; i < states; ++i) {
      inputs.push_back(g.Parameter("state" + std::to_string(i), {kBatch, kHidden}));
      given.push_back(RandomTensor({kBatch, kHidden}, static_cast<unsigned>(2 + i)));
    }
    inputs.push_back(g.Weights({gates * kHidden, kInputs}, 4));
    inputs.push_back(g.Weights({gates * kHidden, kHidden}, 5));
    inputs.push_back(g.Weights({gates * kHidden}, 6));
    const ir::OutputPort y = g.Op(set, type, inputs, With("hidden_size", kHidden), static_cast<int>(states));
    for (int32_t i = 0; i < states; ++i) g.Result({y.node, i}, "output" + std::to_string(i));
    const std::string plan = PlanWhereBackendsAgree(g, given);
    if (fast::simd::HasSimd()) {
      EXPECT_TRUE(Contains(plan, "panels")) << plan;
    }
  }
}

// Operations of one tensor overwrite it: the plan has room for the first value and the result.
TEST(FusionTest, ValuesThatAreOverwritten) {
  if (!fast::simd::HasSimd()) GTEST_SKIP() << "reference kernels overwrite no input";
  const Shape shape = {1, 4, 100, 100};
  const auto bytes = static_cast<double>(4 * 100 * 100 * sizeof(float));
  const auto limit = [](TestGraph& g, float value) { return g.Const(TensorValue::FromFloats({}, {value})); };
  const std::vector<std::function<ir::OutputPort(TestGraph&, ir::OutputPort)>> operations = {
      [](TestGraph& g, ir::OutputPort x) {
        ir::AttributeMap attributes = With("eps", 1e-6);
        attributes.Set("eps_mode", "add");
        return g.Op("NormalizeL2", {x, g.Ints({3})}, attributes);
      },
      [&](TestGraph& g, ir::OutputPort x) {
        return g.Op("FakeQuantize", {x, limit(g, -1), limit(g, 1), limit(g, -1), limit(g, 1)},
                    With("levels", int64_t{16}));
      },
      [](TestGraph& g, ir::OutputPort x) {
        return g.Op("Add", {x, g.Parameter("second", {1, 4, 100, 100})});
      }};
  for (size_t i = 0; i < operations.size(); ++i) {
    TestGraph g;
    ir::OutputPort x = g.Op("SoftMax", {g.Parameter("x", shape)}, With("axis", int64_t{3}));
    x = operations[i](g, x);
    g.Result(g.Op("opset3", "CumSum", {x, g.Const(TensorValue::FromInts({}, {3}))}));
    const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = 1});
    ASSERT_NE(executable, nullptr);
    EXPECT_LE(PlannedBytes(*executable), 2.2 * bytes) << executable->DescribePlan();
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine

// Kernels with bf16 factors against the reference in f32. Sums are in f32, so results differ by the rounding
// of the factors, 2^-8 of the largest product.

#include <random>

#include "runtime/fast/processor.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {
namespace {

// Expects each element within `share` of the largest one.
void ExpectShare(const TensorValue& actual, const TensorValue& expected, double share) {
  ASSERT_EQ(ToString(actual.shape()), ToString(expected.shape()));
  double largest = 0;
  for (int64_t i = 0; i < expected.volume(); ++i)
    largest = std::max(largest, std::abs(expected.ElementAsDouble(i)));
  for (int64_t i = 0; i < expected.volume(); ++i) {
    ASSERT_LE(std::abs(actual.ElementAsDouble(i) - expected.ElementAsDouble(i)), share * largest)
        << "element " << i << ": " << actual.ElementAsDouble(i) << ", expected "
        << expected.ElementAsDouble(i);
  }
}

// `kernel`: the name in the plan if bf16 microkernels are available.
void ExpectNearReference(const TestGraph& graph, const std::vector<TensorValue>& inputs, double share,
                         const std::string& kernel) {
  const std::vector<TensorValue> expected =
      RunGraph(graph.graph, {.backend = kernels::Backend::kReference}, inputs);
  for (const int threads : {1, 2}) {
    const ExecutableOptions options = {
        .backend = kernels::Backend::kFast, .precision = kernels::Precision::kBf16, .threads = threads};
    const auto executable = Compile(graph.graph, options);
    ASSERT_NE(executable, nullptr);
    const bool is_named = executable->DescribePlan().find(kernel) != std::string::npos;
    EXPECT_TRUE(is_named || !fast::HasAmx()) << executable->DescribePlan();
    const auto session = Session::Create(executable);
    for (int run = 0; run < 2; ++run) {
      const kernels::FaultOr<std::vector<TensorValue>> actual = session->Run(inputs);
      ASSERT_TRUE(actual.ok()) << (actual.ok() ? "" : actual.error().message);
      for (size_t i = 0; i < expected.size(); ++i) ExpectShare((*actual)[i], expected[i], share);
    }
  }
}

ir::AttributeMap Window(int64_t stride, int64_t pad) {
  using Ints = ir::Attribute::Integers;
  ir::AttributeMap attributes;
  attributes.Set("strides", Ints{stride, stride});
  attributes.Set("dilations", Ints{1, 1});
  attributes.Set("pads_begin", Ints{pad, pad});
  attributes.Set("pads_end", Ints{pad, pad});
  attributes.Set("auto_pad", "explicit");
  return attributes;
}

TEST(Bf16Test, NarrowGroupsAreMerged) {
  struct Case {
    int64_t groups, width;
  };
  for (const auto& [groups, width] : {Case{32, 4}, {16, 8}, {6, 8}, {13, 8}, {26, 8}, {5, 8}, {3, 2}}) {
    SCOPED_TRACE(std::to_string(groups) + " of " + std::to_string(width));
    const bool is_merged = groups * width >= 16 && !(groups == 3);
    TestGraph g;
    const Shape shape = {1, groups * width, 9, 11};
    auto y = g.Op("GroupConvolution", {g.Parameter("x", shape), g.Weights({groups, width, width, 3, 3}, 1)},
                  Window(1, 1));
    y = g.Op("Add", {y, g.Weights({1, groups * width, 1, 1}, 2)});
    g.Result(g.Op("ReLU", {y}));
    ExpectNearReference(g, {RandomTensor(shape, 3)}, 0.01, is_merged ? "amx_bf16" : "");
  }
}

TEST(Bf16Test, ProductsOfManyInputsAreSumsOfChunks) {
  for (const int64_t inputs : {1536, 2304, 3072, 4096}) {
    for (const bool transposed : {false, true}) {
      for (const bool has_residual : {false, true}) {
        SCOPED_TRACE(inputs);
        TestGraph g;
        const Shape rows = {2, 19, inputs}, result = {2, 19, 70};
        auto x = g.Parameter("x", rows);
        auto y = g.Op("MatMul", {x, g.Weights(transposed ? Shape{70, inputs} : Shape{inputs, 70}, 1)},
                      With("transpose_b", transposed));
        y = g.Op("Add", {y, g.Weights({70}, 2)});
        std::vector<TensorValue> values = {RandomTensor(rows, 3)};
        if (has_residual) {
          // A residual with a single reader, so that the matrix multiplication accumulates into it.
          y = g.Op("Add", {y, g.Op("Tanh", {g.Parameter("residual", result)})});
          values.push_back(RandomTensor(result, 4));
        }
        g.Result(g.Op("opset2", "Gelu", {y}));
        ExpectNearReference(g, values, 0.01, ":chunks");
      }
    }
  }
}

TEST(Bf16Test, Attention) {
  for (const int64_t tokens : {33, 197}) {
    TestGraph g;
    const Shape shape = {2, 3, tokens, 64};
    const auto inputs = {g.Parameter("q", shape), g.Parameter("k", shape), g.Parameter("v", shape)};
    g.Result(g.Op("opset13", "ScaledDotProductAttention", inputs, With("causal", tokens == 33)));
    ExpectNearReference(g, {RandomTensor(shape, 1), RandomTensor(shape, 2), RandomTensor(shape, 3)}, 0.01,
                        "onednn:attention");
  }
}

// Odd numbers of terms, which are multiplied in pairs, sequences of several lengths, and a single row.
TEST(Bf16Test, Recurrent) {
  struct Case {
    const char* type;
    int64_t gates, batch, hidden;
    bool is_linear = false;
  };
  for (const Case& made : {Case{"LSTMSequence", 4, 1, 96},
                           {"LSTMSequence", 4, 3, 95},
                           {"GRUSequence", 3, 1, 77},
                           {"GRUSequence", 3, 9, 64, true},
                           {"GRUSequence", 3, 2, 129},
                           {"RNNSequence", 1, 3, 45}}) {
    SCOPED_TRACE(testing::Message() << made.type << ", a batch of " << made.batch << ", " << made.hidden
                                    << " hidden");
    const bool is_lstm = made.gates == 4;
    constexpr int64_t kLength = 7, kInputs = 13;
    TestGraph g;
    ir::AttributeMap attributes = With("hidden_size", made.hidden);
    attributes.Set("direction", "bidirectional");
    if (made.is_linear) attributes.Set("linear_before_reset", true);
    std::vector<ir::OutputPort> inputs = {g.Parameter("x", {made.batch, kLength, kInputs})};
    for (int i = 0; i < (is_lstm ? 2 : 1); ++i) inputs.push_back(g.Weights({made.batch, 2, made.hidden}, 1));
    std::vector<int64_t> lengths(static_cast<size_t>(made.batch), kLength);
    lengths.back() = 4;
    inputs.push_back(g.Ints(lengths));
    const int64_t rows = made.gates * made.hidden;
    const float most = 1 / std::sqrt(static_cast<float>(made.hidden));
    inputs.push_back(g.Weights({2, rows, kInputs}, 2, -0.3f, 0.3f));
    inputs.push_back(g.Weights({2, rows, made.hidden}, 3, -most, most));
    inputs.push_back(g.Weights({2, rows + (made.is_linear ? made.hidden : 0)}, 4));
    const ir::OutputPort y = g.Op("opset5", made.type, inputs, attributes, is_lstm ? 3 : 2);
    for (int32_t i = 0; i < (is_lstm ? 3 : 2); ++i) g.Result({y.node, i}, "output" + std::to_string(i));
    ExpectNearReference(g, {RandomTensor({made.batch, kLength, kInputs}, 5)}, 0.01, "");
  }
}

TEST(Bf16Test, TransposedConvolutions) {
  for (const int64_t size : {2, 4}) {
    TestGraph g;
    const Shape shape = {1, 64, 13, 10};
    auto y = g.Op("ConvolutionBackpropData", {g.Parameter("x", shape), g.Weights({64, 32, size, size}, 1)},
                  Window(2, size / 2 - 1));
    y = g.Op("Add", {y, g.Weights({1, 32, 1, 1}, 2)});
    g.Result(g.Op("ReLU", {y}));
    ExpectNearReference(g, {RandomTensor(shape, 3)}, 0.01, "amx_bf16");
  }
}

// Of an image whose rows have one pixel, as one-dimensional convolutions are written with channels last.
TEST(Bf16Test, ColumnsOfPixels) {
  using Ints = ir::Attribute::Integers;
  constexpr int64_t kChannels = 32;
  struct Case {
    int64_t taps, stride, before, after, dilation, groups, size;
    bool has_residual = false;
  };
  for (const Case& each : {Case{1, 1, 0, 0, 1, 1, 2},
                           {3, 1, 1, 1, 1, 1, 17, true},
                           {3, 2, 0, 1, 1, 1, 16},
                           {5, 1, 0, 0, 1, 1, 40},
                           {5, 2, 3, 1, 2, 1, 41},
                           {3, 1, 1, 1, 1, kChannels, 17},
                           {5, 2, 3, 1, 2, kChannels, 41},
                           {5, 1, 2, 2, 1, kChannels, 33, true}}) {
    SCOPED_TRACE(std::to_string(each.size) + " pixels, taps " + std::to_string(each.taps));
    TestGraph g;
    ir::AttributeMap window = Window(1, 0);
    window.Set("strides", Ints{each.stride, 1});
    window.Set("dilations", Ints{each.dilation, 1});
    window.Set("pads_begin", Ints{each.before, 0});
    window.Set("pads_end", Ints{each.after, 0});
    const bool is_grouped = each.groups > 1;
    const Shape image = {2, kChannels, each.size, 1};
    const Shape filter =
        is_grouped ? Shape{kChannels, 1, 1, each.taps, 1} : Shape{kChannels, kChannels, each.taps, 1};
    auto y = g.Op(is_grouped ? "GroupConvolution" : "Convolution",
                  {g.Parameter("x", image), g.Weights(filter, 1)}, window);
    y = g.Op("Add", {y, g.Weights({1, kChannels, 1, 1}, 2)});
    std::vector<TensorValue> inputs = {RandomTensor(image, 3)};
    if (each.has_residual) {
      y = g.Op("Add", {y, g.Parameter("z", image)});
      inputs.push_back(RandomTensor(image, 4));
    }
    g.Result(g.Op("ReLU", {y}));
    ExpectNearReference(g, inputs, 0.01, "");
  }
}

TEST(Bf16Test, MaximaOfImages) {
  for (const int64_t channels : {1, 8, 16, 24, 31, 32, 33, 48, 96}) {
    for (const int64_t size : {2, 3}) {
      SCOPED_TRACE(std::to_string(channels) + " channels, windows of " + std::to_string(size));
      std::mt19937 random(static_cast<unsigned>(channels * size));
      TestGraph g;
      const Shape shape = {2, channels, 9, 12};
      std::vector<float> one(static_cast<size_t>(channels * channels));
      for (int64_t i = 0; i < channels; ++i) one[static_cast<size_t>(i * channels + i)] = 1;
      const auto filter = g.Const(TensorValue::Make<float>(
          ElementType::kF32, {channels, channels, 1, 1},
          [&](std::span<float> elements) { std::copy(one.begin(), one.end(), elements.begin()); }));
      const auto images = g.Convolution(g.Parameter("x", shape), filter, 0);
      ir::AttributeMap attributes = Window(2, 1);
      attributes.Set("kernel", ir::Attribute::Integers{size, size});
      attributes.Set("rounding_type", "floor");
      g.Result(g.Op("MaxPool", {images}, attributes));
      // Small integers, which bf16 represents: maxima are exact.
      const TensorValue numbers =
          TensorValue::Make<float>(ElementType::kF32, shape, [&](std::span<float> elements) {
            for (float& element : elements)
              element = static_cast<float>(static_cast<int>(random() % 256) - 128);
          });
      ExpectNearReference(g, {numbers}, 0, "nnefc:bf16_max_pool");
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine

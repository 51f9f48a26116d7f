// Conditions of recurrent layers with constant weights.

#include "runtime/fast/rnn/recurrent_panels.h"

#include "runtime/fast/rnn/recurrent.h"
#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::rnn {
namespace {

kernels::ValueInfo ConstantInfo(const TensorValue& value) {
  return {.type = value.type(), .shape = value.shape(), .constant = &value};
}

// The inputs of an element are adjacent rows, and sums of whole panels have no gaps between the gates.
TEST(RecurrentPanelsTest, OtherMatmulsTakeTheInputsOfOneElementWithWholePanels) {
  const auto takes = [](int64_t hidden, int64_t batch) {
    return PanelWeights::TakesInputs(
        {.kind = kernels::CellKind::kLstm, .gates = 4, .hidden = hidden},
        {.batch = batch, .length = 9, .steps = 1, .has_bias = true, .type = memory::StorageType::kF32});
  };
  EXPECT_TRUE(takes(gemm::kPanelWidth, 1));
  EXPECT_TRUE(takes(3 * gemm::kPanelWidth, 1));
  EXPECT_FALSE(takes(gemm::kPanelWidth, 2));
  EXPECT_FALSE(takes(gemm::kPanelWidth - 1, 1));
  EXPECT_FALSE(takes(gemm::kPanelWidth + 1, 1));
}

// Each thread runs elements of its own if there are at least four, R has at most 2^20 numbers, and all steps
// together are worth waking threads.
TEST(RecurrentPanelsTest, ElementsOfThreads) {
  struct Layer {
    int64_t hidden, batch, length;
    int threads;
    int64_t count;
  };
  for (const Layer& layer : std::vector<Layer>{{16, 12, 4, 3, 3},   // 4 gates of 16 x 16, 49152 products
                                               {16, 12, 4, 1, 1},   // one thread
                                               {16, 11, 9, 3, 1},   // too few elements
                                               {16, 13, 9, 3, 3},   // not the same number for each
                                               {16, 12, 3, 3, 1},   // 36864 products
                                               {512, 12, 4, 3, 3},  // 2^20 numbers
                                               {513, 12, 4, 3, 1}}) {
    const tensor::ThreadScope scope(layer.threads);
    const TensorValue w = RandomTensor({4 * layer.hidden, 8}, 1),
                      r = RandomTensor({4 * layer.hidden, layer.hidden}, 2);
    const auto weights = PanelWeights::Make(
        {.kind = kernels::CellKind::kLstm, .gates = 4, .hidden = layer.hidden}, ConstantInfo(w),
        ConstantInfo(r),
        {.batch = layer.batch, .length = layer.length, .steps = 1, .type = memory::StorageType::kF32},
        nullptr);
    if (!weights) GTEST_SKIP() << "there are no vectors";
    // Elements that all threads run together have no steps of one thread.
    EXPECT_EQ(weights->slice().steps > 0, layer.count > 1);
    EXPECT_EQ(weights->slice().count, layer.count)
        << layer.hidden << " units, " << layer.batch << " elements, " << layer.length << " steps";
  }
}

// Matmuls with all sums 0.5, in layouts of their own, that record the numbers of rows.
class RecordedMatmuls final : public RecurrentMatmuls {
 public:
  explicit RecordedMatmuls(std::vector<int64_t>* rows) : rows_(rows) {}

  bool is_packed() const override { return true; }
  tensor::Layout w_layout() const override { return w_; }
  tensor::Layout r_layout() const override { return r_; }
  size_t scratch_bytes() const override { return 0; }
  std::string implementation() const override { return "recorded"; }
  std::unique_ptr<RecurrentMultiplier> NewRun(const kernels::Cell& cell, const DirectionWeights& /*weights*/,
                                              std::byte* /*scratch*/) const override {
    return std::make_unique<Multiplier>(rows_, cell.gates * cell.hidden);
  }

 private:
  struct Multiplier final : RecurrentMultiplier {
    Multiplier(std::vector<int64_t>* given, int64_t numbers) : rows(given), outputs(numbers) {}
    kernels::FaultOr<Success> Run(ProductKey key, const float* /*left*/, const float* /*bias*/,
                                  float* out) override {
      rows->push_back(key.rows);
      std::fill_n(out, key.rows * outputs, 0.5F);
      return Success();
    }
    std::vector<int64_t>* rows;
    int64_t outputs;
  };

  std::vector<int64_t>* rows_;
  const tensor::Layout w_ = memory::LayoutOf(memory::AxisBlockedFormat({16, 3}, 0, 16)),
                       r_ = memory::LayoutOf(memory::AxisBlockedFormat({16, 16}, 0, 16));
};

// Other matmuls compute the sums of the inputs, of as many steps at once as planned.
TEST(RecurrentPanelsTest, InputsOfOtherMatmuls) {
  if (!simd::HasSimd()) GTEST_SKIP() << "there are no vectors";
  constexpr int64_t kHidden = gemm::kPanelWidth, kInputs = 3;
  const kernels::Cell cell{.kind = kernels::CellKind::kRnn, .gates = 1, .hidden = kHidden};
  const TensorValue w = RandomTensor({kHidden, kInputs}, 1), r = RandomTensor({kHidden, kHidden}, 2);
  const auto info = [](const TensorValue& value) {
    return kernels::ValueInfo{.type = value.type(), .shape = value.shape(), .constant = &value};
  };
  const tensor::ThreadScope scope(1);
  for (const auto& [length, expected] : std::vector<std::pair<int64_t, std::vector<int64_t>>>{
           {0, {}}, {1, {1}}, {2, {2}}, {3, {2, 1}}, {4, {2, 2}}}) {
    std::vector<int64_t> rows;
    const auto matmuls = std::make_shared<RecordedMatmuls>(&rows);
    const auto weights = PanelWeights::Make(
        cell, info(w), info(r), {.batch = 1, .length = length, .steps = 2, .type = memory::StorageType::kF32},
        matmuls);
    ASSERT_TRUE(weights.has_value());
    EXPECT_EQ(weights->inputs(), matmuls.get());
    EXPECT_EQ(weights->w_layout(), matmuls->w_layout());
    const std::vector<float> zeros(kHidden * kHidden);
    std::vector<float> y(static_cast<size_t>(length * kHidden));
    std::vector<float> scratch(weights->scratch_bytes() / sizeof(float));
    ASSERT_TRUE(RunPanels(cell, {.w = {}, .r = {zeros.data(), kHidden}, .bias = nullptr, .inputs = kInputs},
                          *weights,
                          {.size = 1,
                           .length = length,
                           .x = zeros.data(),
                           .x_stride = length * kInputs,
                           .h = zeros.data(),
                           .h_stride = kHidden,
                           .y = y.data(),
                           .y_stride = length * kHidden,
                           .c = nullptr,
                           .c_stride = 0,
                           .reverse = false},
                          scratch.data())
                    .ok());
    EXPECT_EQ(rows, expected) << length << " steps";
    for (const float state : y) EXPECT_NEAR(state, std::tanh(0.5), 1e-6);
  }
}

// A plan packs the weights as the matmuls require.
TEST(RecurrentPanelsTest, LayoutsOfOtherMatmuls) {
  const int64_t hidden = 16;
  TestGraph g;
  const std::vector<Shape> shapes = {{2, 3}, {2, 16}, {16, 3}, {16, 16}, {16}};
  std::vector<ir::OutputPort> ports;
  std::vector<kernels::ValueInfo> inputs;
  for (const Shape& shape : shapes) {
    ports.push_back(g.Parameter("x", shape));
    inputs.push_back({.type = ElementType::kF32, .shape = shape});
  }
  const ir::NodeId node = g.Op("opset1", "RNNCell", ports, With("hidden_size", hidden)).node;
  const kernels::ValueInfo output{.type = ElementType::kF32, .shape = {2, 16}};
  const kernels::KernelRequest request{.node = &g.graph->node(node), .inputs = inputs, .outputs = output};
  const auto layer = RecurrentLayerOf(request);
  ASSERT_TRUE(bool(layer));
  std::vector<int64_t> rows;
  const auto matmuls = std::make_shared<RecordedMatmuls>(&rows);
  const kernels::KernelOrReason made = MakeMatmulRecurrent(request, *layer, matmuls);
  ASSERT_TRUE(bool(made));
  const std::vector<tensor::Layout> expected = {nullptr, nullptr, matmuls->w_layout(), matmuls->r_layout(),
                                                nullptr};
  ASSERT_EQ(made->inputs.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(made->inputs[i], expected[i]) << i;
}

// The sums of the inputs of as many steps as fit into 2^15 numbers are computed at once, those of at least
// one.
TEST(RecurrentPanelsTest, StepsTogether) {
  struct Steps {
    int64_t batch, hidden, length, together;
  };
  for (const Steps& steps : std::vector<Steps>{{2, 16, 9, 9},
                                               {2, 16, 1, 1},
                                               {4, 512, 15, 15},
                                               {4, 512, 16, 16},
                                               {4, 512, 17, 16},
                                               {4, 520, 17, 15},
                                               {64, 512, 9, 1},
                                               {64, 520, 9, 1}}) {
    TestGraph g;
    std::vector<ir::OutputPort> ports;
    std::vector<kernels::ValueInfo> inputs;
    const auto add = [&](const Shape& shape, ElementType type = ElementType::kF32) {
      ports.push_back(g.Parameter("x", shape, type));
      inputs.push_back({.type = type, .shape = shape});
    };
    const auto& [batch, hidden, length, together] = steps;
    add({batch, length, 3});
    add({batch, 1, hidden});
    add({batch}, ElementType::kI64);
    add({1, hidden, 3});
    add({1, hidden, hidden});
    add({1, hidden});
    ir::AttributeMap attributes = With("hidden_size", hidden);
    attributes.Set("direction", "forward");
    const ir::NodeId node = g.Op("opset5", "RNNSequence", ports, attributes, 2).node;
    const std::vector<kernels::ValueInfo> outputs = {
        {.type = ElementType::kF32, .shape = {batch, 1, length, hidden}},
        {.type = ElementType::kF32, .shape = {batch, 1, hidden}}};
    const auto layer = RecurrentLayerOf({.node = &g.graph->node(node), .inputs = inputs, .outputs = outputs});
    ASSERT_TRUE(bool(layer));
    EXPECT_EQ(layer->sizes.steps, together) << batch << " x " << hidden << ", " << length << " steps";
  }
}

// Panels are packed in advance, so that both matrices must be constant.
TEST(RecurrentPanelsTest, VariableWeights) {
  if (!simd::HasSimd()) GTEST_SKIP() << "there are no vectors";
  const TensorValue w = RandomTensor({64, 8}, 1), r = RandomTensor({64, 16}, 2);
  for (const bool is_w_constant : {false, true}) {
    for (const bool is_r_constant : {false, true}) {
      kernels::ValueInfo of_w = ConstantInfo(w), of_r = ConstantInfo(r);
      if (!is_w_constant) of_w.constant = nullptr;
      if (!is_r_constant) of_r.constant = nullptr;
      const auto weights = PanelWeights::Make(
          {.kind = kernels::CellKind::kLstm, .gates = 4, .hidden = 16}, of_w, of_r,
          {.batch = 1, .length = 2, .steps = 1, .type = memory::StorageType::kF32}, nullptr);
      EXPECT_EQ(weights.has_value(), is_w_constant && is_r_constant);
    }
  }
}

// Matmuls of another backend, which pack nothing.
class OtherMatmuls final : public RecurrentMatmuls {
 public:
  bool is_packed() const override { return false; }
  tensor::Layout w_layout() const override { return nullptr; }
  tensor::Layout r_layout() const override { return nullptr; }
  size_t scratch_bytes() const override { return 0; }
  std::string implementation() const override { return "other"; }
  std::unique_ptr<RecurrentMultiplier> NewRun(const kernels::Cell& /*cell*/,
                                              const DirectionWeights& /*weights*/,
                                              std::byte* /*scratch*/) const override {
    return nullptr;
  }
};

// W is packed unless another backend multiplies the inputs with it.
TEST(RecurrentPanelsTest, MatmulsOfInputs) {
  if (!simd::HasSimd()) GTEST_SKIP() << "there are no vectors";
  const TensorValue w = RandomTensor({64, 8}, 1), r = RandomTensor({64, 16}, 2);
  for (const bool has_others : {false, true}) {
    const std::shared_ptr<const RecurrentMatmuls> others =
        has_others ? std::make_shared<OtherMatmuls>() : nullptr;
    const auto weights = PanelWeights::Make(
        {.kind = kernels::CellKind::kLstm, .gates = 4, .hidden = 16}, ConstantInfo(w), ConstantInfo(r),
        {.batch = 1, .length = 2, .steps = 1, .type = memory::StorageType::kF32}, others);
    ASSERT_TRUE(weights);
    EXPECT_EQ(weights->inputs(), others.get());
    EXPECT_EQ(weights->w().has_value(), !has_others);
    EXPECT_EQ(weights->w_layout() == nullptr, has_others);
  }
}

// W and R of a cell are two matrices; one of both has a bias of one axis after it.
TEST(RecurrentPanelsTest, WeightsOfCells) {
  constexpr char kId[] = "recurrent";
  const int64_t hidden = 20;
  const auto cell = [&](const char* set, const std::vector<Shape>& weights) {
    Step step{.set = set,
              .type = "LSTMCell",
              .inputs = {{{3, 13}}, {{3, hidden}}, {{3, hidden}}},
              .attributes = With("hidden_size", hidden),
              .outputs = 2};
    for (const Shape& shape : weights) step.inputs.push_back(ConstantZeros(shape));
    return step;
  };
  const Step separate = cell("opset4", {{80, 13}, {80, 20}, {80}});
  ExpectReasons({
      {separate, kId, ""},
      {cell("opset4", {{80, 33}, {80}}), kId, "the weights are one matrix"},
      {cell("opset1", {{80, 13}, {80, 20}}), kId, ""},
      {cell("opset1", {{80, 13}, {80, 20}, {80}}), kId, ""},
      {cell("opset1", {{80, 13}, {80, 20}, {80}, {60}}), kId, "peepholes"},
      {WithoutConstants(separate), kId, "the weights are not constant"},
  });
}

}  // namespace
}  // namespace nnefc::runtime::fast::rnn

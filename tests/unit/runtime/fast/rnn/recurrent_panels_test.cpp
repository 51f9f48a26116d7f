// Conditions of recurrent layers with constant weights.

#include "runtime/fast/rnn/recurrent_panels.h"

#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::rnn {
namespace {

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

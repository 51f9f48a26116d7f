// Conditions of recurrent layers with constant weights.

#include "runtime/fast/rnn/recurrent_panels.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace nnefc::runtime::fast::rnn

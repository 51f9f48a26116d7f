// Convolutions by Winograd's way whose transformed images are large, against the reference kernels, and the
// memory that their plans take.

#include "runtime/fast/dnnl_layout.h"
#include "tests/unit/runtime/planned_bytes.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime {
namespace {

struct Convolved {
  int64_t inputs, outputs, size;
};

TEST(WinogradTest, TakesLessThanTheWholeTransformedImage) {
  // Between two convolutions that keep to blocks; square images whose tiles of 4x4 do not end at the border
  // too.
  for (const auto& [inputs, outputs, size] :
       {Convolved{128, 64, 128}, {64, 128, 63}, {128, 128, 64}, {96, 128, 30}}) {
    TestGraph g;
    const auto x = g.Parameter("x", {1, inputs, size, size});
    const auto y = g.Convolution(x, g.Weights({outputs, inputs, 3, 3}, 1, -0.05F, 0.05F), 1);
    g.Result(g.Op("ReLU", {g.Op("Add", {y, g.Weights({1, outputs, 1, 1}, 2)})}));
    const std::vector<TensorValue> images = {RandomTensor({1, inputs, size, size}, 3)};
    const std::vector<TensorValue> expected = RunGraph(g.graph, {.backend = Backend::kReference}, images);
    ASSERT_EQ(expected.size(), 1u);
    for (const int threads : {1, 2, 3}) {
      SCOPED_TRACE(std::to_string(inputs) + " to " + std::to_string(outputs) + ", " +
                   std::to_string(threads) + " threads");
      const auto executable = Compile(g.graph, {.backend = Backend::kOneDnn, .threads = threads});
      ASSERT_NE(executable, nullptr);
      const auto session = Session::Create(executable);
      for (int run = 0; run < 2; ++run) {
        const FaultOr<std::vector<TensorValue>> actual = session->Run(images);
        ASSERT_TRUE(actual.ok()) << actual.error().message;
        ExpectClose((*actual)[0], expected[0], 5e-5);
      }
      if (!HasAvx512() || inputs != 128 || outputs != 64) continue;
      // The image in blocks, the result, in blocks and not, and of the 28 MB that both are transformed some
      // tiles.
      EXPECT_NE(executable->DescribePlan().find("wino_4x3"), std::string::npos) << executable->DescribePlan();
      const double pixels = static_cast<double>(size * size * (inputs + outputs)) * sizeof(float);
      EXPECT_LE(PlannedBytes(*executable), 1.6 * pixels) << executable->DescribePlan();
    }
  }
}

// 13 blocks of outputs do not divide into few for the tiles of small images, 14 do.
TEST(WinogradTest, IsLeftWhereItsTilesAreSlow) {
  if (!HasAvx512()) GTEST_SKIP() << "oneDNN has Winograd's way for AVX-512";
  for (const int64_t outputs : {208, 224}) {
    TestGraph g;
    const auto x = g.Parameter("x", {1, 96, 14, 14});
    g.Result(g.Convolution(x, g.Weights({outputs, 96, 3, 3}, 1, -0.05F, 0.05F), 1));
    const auto executable = Compile(g.graph, {.backend = Backend::kOneDnn, .threads = 1});
    ASSERT_NE(executable, nullptr);
    const bool is_winograd = executable->DescribePlan().find("wino") != std::string::npos;
    EXPECT_EQ(is_winograd, outputs == 224) << executable->DescribePlan();
    const std::vector<TensorValue> images = {RandomTensor({1, 96, 14, 14}, 2)};
    const FaultOr<std::vector<TensorValue>> actual = Session::Create(executable)->Run(images);
    ASSERT_TRUE(actual.ok()) << actual.error().message;
    ExpectClose((*actual)[0], RunGraph(g.graph, {.backend = Backend::kReference}, images)[0], 5e-5);
  }
}

}  // namespace
}  // namespace nnefc::runtime

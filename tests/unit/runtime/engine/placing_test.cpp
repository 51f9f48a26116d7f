// Peak memory of the values of a plan.

#include "tests/unit/runtime/planned_bytes.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {
namespace {

// As in a U-Net: the first values are concatenated in place with the last ones. Between them, other values
// use the memory of the second half.
TEST(PlacingTest, AConcatenationLeavesRoomUntilItsPartsAreMade) {
  constexpr int64_t kSize = 64, kChannels = 64;
  constexpr double kUnit = static_cast<double>(kSize * kSize * kChannels) * sizeof(float);
  TestGraph g;
  const auto x = g.Parameter("x", {1, kChannels, kSize, kSize});
  unsigned seed = 1;
  const auto convolve = [&](ir::OutputPort y, int64_t from, int64_t to) {
    return g.Convolution(y, g.Weights({to, from, 1, 1}, seed++, -0.2F, 0.2F), 0);
  };
  const ir::OutputPort kept = convolve(x, kChannels, kChannels);
  ir::OutputPort y = convolve(kept, kChannels, 2 * kChannels);
  y = convolve(y, 2 * kChannels, 2 * kChannels);
  y = convolve(convolve(y, 2 * kChannels, kChannels / 4), kChannels / 4, kChannels);
  const auto joined = g.Op("Concat", {kept, y}, With("axis", int64_t{1}));
  g.Result(g.Op("ReduceMean", {joined, g.Ints({2, 3})}, With("keep_dims", false)));
  const std::vector<TensorValue> inputs = {RandomTensor({1, kChannels, kSize, kSize}, 20)};
  const std::vector<TensorValue> expected =
      RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
  for (const kernels::Backend backend : kBackends) {
    const auto executable = Compile(g.graph, {.backend = backend, .threads = 1});
    ASSERT_NE(executable, nullptr);
    // `kept` and two others with twice the channels.
    EXPECT_LE(PlannedBytes(*executable), 5.2 * kUnit) << executable->DescribePlan();
    const auto session = Session::Create(executable);
    for (int run = 0; run < 2; ++run) {
      const auto actual = session->Run(inputs);
      ASSERT_TRUE(actual.ok());
      ExpectClose((*actual)[0], expected[0], 1e-5);
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine

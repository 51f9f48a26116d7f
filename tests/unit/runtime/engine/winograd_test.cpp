// Convolutions by Winograd's way against the reference kernels, and the memory that their plans take.

#include "runtime/fast/dnnl_layout.h"
#include "tests/unit/runtime/planned_bytes.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime {
namespace {

struct Convolved {
  Shape input;
  int64_t outputs;
  ir::Attribute::Integers before = {1, 1}, after = {1, 1};

  Shape output() const {
    return {input[0], outputs, input[2] + before[0] + after[0] - 2, input[3] + before[1] + after[1] - 2};
  }
};

// With what may follow it in the step: a number for each channel, a sum with an image, a function.
std::shared_ptr<ir::Graph> GraphOf(const Convolved& convolved, bool has_steps) {
  TestGraph g;
  ir::AttributeMap attributes;
  attributes.Set("strides", ir::Attribute::Integers{1, 1});
  attributes.Set("dilations", ir::Attribute::Integers{1, 1});
  attributes.Set("pads_begin", convolved.before);
  attributes.Set("pads_end", convolved.after);
  attributes.Set("auto_pad", "explicit");
  const ir::OutputPort x = g.Parameter("x", convolved.input);
  const ir::OutputPort filter = g.Weights({convolved.outputs, convolved.input[1], 3, 3}, 1, -0.05F, 0.05F);
  ir::OutputPort y = g.Op("Convolution", {x, filter}, attributes);
  if (has_steps) {
    y = g.Op("Add", {y, g.Weights({1, convolved.outputs, 1, 1}, 2)});
    y = g.Op("Sigmoid", {g.Op("Add", {y, g.Parameter("z", convolved.output())})});
  } else {
    y = g.Op("ReLU", {y});
  }
  g.Result(y);
  return g.graph;
}

void ExpectLikeReference(const Convolved& convolved, bool has_steps, bool is_winograd) {
  const std::shared_ptr<ir::Graph> graph = GraphOf(convolved, has_steps);
  std::vector<TensorValue> images = {RandomTensor(convolved.input, 3)};
  if (has_steps) images.push_back(RandomTensor(convolved.output(), 4));
  const std::vector<TensorValue> expected = RunGraph(graph, {.backend = Backend::kReference}, images);
  ASSERT_EQ(expected.size(), 1u);
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE(std::to_string(threads) + " threads");
    const auto executable = Compile(graph, {.backend = Backend::kOneDnn, .threads = threads});
    ASSERT_NE(executable, nullptr);
    if (HasLanes()) {
      EXPECT_EQ(executable->DescribePlan().find("winograd") != std::string::npos, is_winograd)
          << executable->DescribePlan();
    }
    const auto session = Session::Create(executable);
    for (int run = 0; run < 2; ++run) {
      const FaultOr<std::vector<TensorValue>> actual = session->Run(images);
      ASSERT_TRUE(actual.ok()) << actual.error().message;
      ExpectClose((*actual)[0], expected[0], 5e-5);
    }
  }
}

// Channels that fill no block or no tile of registers, images that end within a tile, of one tile, in
// batches, with all kinds of borders; with little of a filter, that is transformed before, and with much.
TEST(WinogradTest, IsLikeTheReference) {
  const std::vector<Convolved> all = {
      {{1, 64, 63, 40}, 48},
      {{1, 16, 8, 8}, 16},
      {{1, 17, 30, 31}, 33},
      {{3, 40, 14, 14}, 100},
      {{1, 200, 14, 14}, 208},
      {{2, 32, 60, 60}, 32},
      {{1, 32, 100, 90}, 20},
      {{5, 70, 9, 9}, 40},
      {{1, 256, 33, 34}, 130},
      {{1, 48, 20, 20}, 64, {0, 0}, {0, 0}},
      {{1, 48, 20, 20}, 64, {2, 0}, {1, 3}},
      {{1, 24, 12, 12}, 24, {0, 4}, {5, 0}},
  };
  for (const Convolved& convolved : all) {
    for (const bool has_steps : {false, true}) {
      SCOPED_TRACE(std::to_string(convolved.input[1]) + " channels of " + std::to_string(convolved.input[2]) +
                   "x" + std::to_string(convolved.input[3]) + " to " + std::to_string(convolved.outputs));
      ExpectLikeReference(convolved, has_steps, true);
    }
  }
}

// Where most of a tile would lie behind the image.
TEST(WinogradTest, IsLeftForSmallImages) {
  for (const Convolved& convolved : {Convolved{{1, 64, 5, 5}, 64}, {{1, 64, 2, 2}, 64}, {{4, 64, 3, 3}, 64}})
    ExpectLikeReference(convolved, true, false);
}

// Neither an image nor a filter is transformed as a whole where it is large.
TEST(WinogradTest, TakesLittleMemory) {
  if (!HasLanes()) GTEST_SKIP() << "for AVX-512";
  struct Limit {
    Convolved convolved;
    double bytes;  // beside the image and its result, in blocks and not
  };
  for (const auto& [convolved, bytes] : {Limit{{{1, 128, 128, 128}, 64}, 3e6},
                                         {{{1, 512, 28, 28}, 512}, 7e6},
                                         {{{1, 512, 14, 14}, 512}, 3e6}}) {
    const auto executable = Compile(GraphOf(convolved, false), {.backend = Backend::kOneDnn, .threads = 1});
    ASSERT_NE(executable, nullptr);
    const auto pixels = static_cast<double>(convolved.input[2] * convolved.input[3] * 4);
    const double both = pixels * static_cast<double>(convolved.input[1] + convolved.outputs);
    EXPECT_LE(PlannedBytes(*executable), both + pixels * static_cast<double>(convolved.outputs) + bytes)
        << executable->DescribePlan();
  }
}

}  // namespace
}  // namespace nnefc::runtime

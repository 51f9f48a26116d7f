// target.FuseChannelPermutations: chains of concatenations, slices and shuffles, and near misses.

#include <numeric>

#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

class ChannelsTest : public TargetTest {
 protected:
  // Returns the graph of images of `channels` channels that `steps` turn into `moved`, before a convolution.
  std::string Convolved(int channels, llvm::ArrayRef<std::string> steps, const std::string& moved,
                        int moved_channels) {
    std::vector<std::string> text = {TargetInput("x", "f32", fmt::format("[1,{},2,2]", channels)),
                                     TargetInput("w", "f32", fmt::format("[1,{},1,1]", moved_channels))};
    text.insert(text.end(), steps.begin(), steps.end());
    text.push_back(
        TargetStep("conv", "opset1.Convolution", "%" + moved + ", %w",
                   "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]"));
    text.push_back(TargetResult("conv"));
    return After("FuseChannelPermutations", text);
  }
  static std::string Shuffle(const std::string& name, const std::string& data, int axis = 1) {
    return TargetStep(name, "opset1.ShuffleChannels", "%" + data, fmt::format("axis = {}, group = 2", axis));
  }
};

TEST_F(ChannelsTest, AShuffleBecomesAGather) {
  const std::string gathered =
      "Concat[1,16,2,2](Parameter) Gather[1,16,2,2](Concat Const Const) Convolution[1,1,2,2](Gather "
      "Parameter)";
  // arange(16).reshape(2, 8).T.ravel()
  const std::vector<double> order = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
  for (const int axis : {1, -3}) {
    EXPECT_EQ(Convolved(16, {Shuffle("s", "x", axis)}, "s", 16), gathered);
    EXPECT_EQ(InputOf("Gather", 1), order);
    EXPECT_EQ(InputOf("Gather", 2), std::vector<double>{1});
  }
  EXPECT_EQ(Convolved(16,
                      {TargetConstant("five", "i64[5]", "1, 2, 8, 2, 2"),
                       TargetConstant("order", "i64[5]", "0, 2, 1, 3, 4"),
                       TargetConstant("four", "i64[4]", "1, 16, 2, 2"),
                       TargetStep("a", "opset1.Reshape", "%x, %five", "special_zero = false"),
                       TargetStep("b", "opset1.Transpose", "%a, %order"),
                       TargetStep("c", "opset1.Reshape", "%b, %four", "special_zero = false")},
                      "c", 16),
            gathered);
  EXPECT_EQ(InputOf("Gather", 1), order);
}

// Parts of a Split along the channels, joined in another order; other axes have no channels.
TEST_F(ChannelsTest, PartsInAnotherOrder) {
  const auto joined = [&](int axis) {
    return Convolved(32,
                     {TargetConstant("axis", "i64[]", std::to_string(axis)),
                      "  %s:2 = opset1.Split \"s\" (%x, %axis) {num_splits = 2} : f32[...], f32[...]\n",
                      TargetStep("c", "opset1.Concat", "%s.1, %s", fmt::format("axis = {}", axis))},
                     "c", 32);
  };
  std::vector<double> order(32);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<double>((i + 16) % 32);
  for (const int axis : {1, -3}) {
    EXPECT_NE(joined(axis).find("Gather"), std::string::npos) << axis;
    EXPECT_EQ(InputOf("Gather", 1), order) << axis;
  }
  for (const int axis : {2, 3, -1}) EXPECT_EQ(joined(axis).find("Gather"), std::string::npos) << axis;
}

// Images have one to three spatial axes.
TEST_F(ChannelsTest, AxesOfImages) {
  for (const int rank : {3, 4, 5}) {
    std::string spatial, ones, strides, zeros;
    for (int axis = 2; axis < rank; ++axis) {
      spatial += ",2";
      ones += ",1";
      strides += axis == 2 ? "1" : ", 1";
      zeros += axis == 2 ? "0" : ", 0";
    }
    const std::string nodes = After(
        "FuseChannelPermutations",
        {TargetInput("x", "f32", "[1,16" + spatial + "]"), TargetInput("w", "f32", "[1,16" + ones + "]"),
         Shuffle("s", "x"),
         TargetStep("conv", "opset1.Convolution", "%s, %w",
                    fmt::format("strides = [{0}], dilations = [{0}], pads_begin = [{1}], pads_end = [{1}]",
                                strides, zeros)),
         TargetResult("conv")});
    EXPECT_NE(nodes.find("Gather"), std::string::npos) << rank << nodes;
  }
}

// Chains are tracked up to 2^20 channels together.
TEST_F(ChannelsTest, VeryManyChannelsAreNotTracked) {
  constexpr int kMax = 1 << 20;
  EXPECT_NE(Convolved(kMax, {Shuffle("s", "x")}, "s", kMax).find("Gather"), std::string::npos);
  EXPECT_EQ(Convolved(kMax + 2, {Shuffle("s", "x")}, "s", kMax + 2).find("Gather"), std::string::npos);
  EXPECT_EQ(
      Convolved(kMax, {Shuffle("s", "x"), Shuffle("t", "s")}, "t", kMax).find("ShuffleChannels(Parameter"),
      std::string::npos);
}

TEST_F(ChannelsTest, ChainsAreFollowed) {
  // The even channels of the shuffled images, after those of the images themselves: 0, 1, 2 ..
  EXPECT_EQ(Convolved(16,
                      {Shuffle("s", "x"), TargetConstant("zero", "i64[1]", "0"),
                       TargetConstant("end", "i64[1]", "16"), TargetConstant("step", "i64[1]", "2"),
                       TargetConstant("axis", "i64[1]", "1"),
                       TargetStep("p", "opset8.Slice", "%s, %zero, %end, %step, %axis"),
                       TargetStep("c", "opset1.Concat", "%x, %p", "axis = 1")},
                      "c", 24),
            "Concat[1,16,2,2](Parameter) Gather[1,24,2,2](Concat Const Const) Convolution[1,1,2,2](Gather "
            "Parameter)");
  std::vector<double> order;
  order.reserve(24);
  for (int i = 0; i < 16; ++i) order.push_back(i);
  for (int i = 0; i < 8; ++i) order.push_back(i);
  EXPECT_EQ(InputOf("Gather", 1), order);
}

// Starts count from the last channel if they are negative; beyond either end they are those of the images.
TEST_F(ChannelsTest, StartsOfSlices) {
  for (const auto& [start, first] : {std::pair("-20", 12), {"12", 12}, {"-32", 0}, {"-40", 0}, {"0", 0}}) {
    const int count = 32 - first;
    EXPECT_NE(Convolved(32,
                        {TargetConstant("start", "i64[1]", start), TargetConstant("end", "i64[1]", "32"),
                         TargetConstant("step", "i64[1]", "1"), TargetConstant("axis", "i64[1]", "1"),
                         TargetStep("p", "opset8.Slice", "%x, %start, %end, %step, %axis")},
                        "p", count)
                  .find("Gather"),
              std::string::npos)
        << start;
    std::vector<double> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), first);
    EXPECT_EQ(InputOf("Gather", 1), order) << start;
  }
}

// A Slice whose start, step or axis only a run knows, after one with constants, and other Slices.
TEST_F(ChannelsTest, OtherSlicesRemain) {
  const auto is_fused = [&](const std::string& inputs) {
    const auto has = [&](const char* name) { return inputs.find(name) != std::string::npos; };
    const std::string text =
        Convolved(64,
                  {TargetConstant("zero", "i64[1]", "0"), TargetConstant("two", "i64[1]", "2"),
                   TargetConstant("one", "i64[1]", "1"), TargetConstant("minus", "i64[1]", "-1"),
                   TargetConstant("end", "i64[1]", "64"), TargetInput("n", "i64", "[1]"),
                   TargetStep("p", "opset8.Slice", "%x, %zero, %end, %two, %one"),
                   TargetStep("q", "opset8.Slice", "%p, " + inputs)},
                  "q",
                  has("%two")     ? 16
                  : has("%minus") ? 31
                                  : 32);
    return text.find("Gather[") != std::string::npos;
  };
  EXPECT_TRUE(is_fused("%zero, %end, %one, %one"));
  EXPECT_TRUE(is_fused("%zero, %end, %two, %one"));
  EXPECT_FALSE(is_fused("%n, %end, %one, %one"));
  EXPECT_FALSE(is_fused("%zero, %end, %n, %one"));
  EXPECT_FALSE(is_fused("%zero, %end, %one, %n"));
  EXPECT_FALSE(is_fused("%end, %zero, %minus, %one"));
  EXPECT_FALSE(is_fused("%zero, %end, %one, %zero"));
}

// Reshapes and a transpose that do more than a shuffle: other axes, and data that are no images.
TEST_F(ChannelsTest, OtherTransposesRemain) {
  const auto is_shuffle = [&](const std::string& order, const std::string& data = "%x") {
    return Convolved(
               16,
               {TargetInput("u", "f32", "[1,64]"), TargetConstant("five", "i64[5]", "1, 4, 4, 2, 2"),
                TargetConstant("order", "i64[5]", order), TargetConstant("four", "i64[4]", "1, 16, 2, 2"),
                TargetStep("a", "opset1.Reshape", data + ", %five", "special_zero = false"),
                TargetStep("b", "opset1.Transpose", "%a, %order"),
                TargetStep("c", "opset1.Reshape", "%b, %four", "special_zero = false")},
               "c", 16)
               .find("Gather") != std::string::npos;
  };
  EXPECT_TRUE(is_shuffle("0, 2, 1, 3, 4"));
  EXPECT_FALSE(is_shuffle("0, 1, 2, 4, 3"));
  EXPECT_FALSE(is_shuffle("0, 2, 1, 4, 3"));
  EXPECT_FALSE(is_shuffle("0, 2, 1, 3, 4", "%u"));
}

TEST_F(ChannelsTest, OthersRemain) {
  // Fewer channels than one block, another axis, and concatenations alone.
  EXPECT_EQ(Convolved(14, {Shuffle("s", "x")}, "s", 14),
            "ShuffleChannels[1,14,2,2](Parameter) Convolution[1,1,2,2](ShuffleChannels Parameter)");
  EXPECT_EQ(Convolved(16, {Shuffle("s", "x", 2)}, "s", 16),
            "ShuffleChannels[1,16,2,2](Parameter) Convolution[1,1,2,2](ShuffleChannels Parameter)");
  EXPECT_EQ(Convolved(16, {TargetStep("c", "opset1.Concat", "%x, %x", "axis = 1")}, "c", 32),
            "Concat[1,32,2,2](Parameter Parameter) Convolution[1,1,2,2](Concat Parameter)");
  // A part of an unknown extent, before and after one that determines the result's.
  for (const char* parts : {"%s, %u", "%u, %s"}) {
    EXPECT_NE(Convolved(16,
                        {Shuffle("s", "x"), TargetInput("u", "f32", "[1,16,?,2]"),
                         TargetStep("c", "opset1.Concat", parts, "axis = 1")},
                        "c", 32)
                  .find("Convolution[1,1,2,2](Concat Parameter)"),
              std::string::npos)
        << parts;
  }
}

// Kernels of 8 bits move the channels of images that are quantized equally themselves.
TEST_F(ChannelsTest, QuantizedImagesRemain) {
  struct Case {
    std::string first = "255.0", second = "255.0";  // the ends of the ranges, of 256 numbers from 0
    std::string part = "%p";                        // the second image
    bool has_scales = true;
  };
  const auto is_gathered = [&](const Case& of) {
    const auto quantized = [](const std::string& name, const std::string& data, const std::string& high) {
      return TargetConstant(name + "h", "f32[]", high) +
             TargetStep(name + "m", "opset1.MaxPool", "%" + data,
                        "kernel = [1, 1], strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]") +
             TargetStep(name, "opset1.FakeQuantize", fmt::format("%{0}m, %l, %{0}h, %l, %{0}h", name),
                        "levels = 256");
    };
    std::string numbers = "1.0";
    for (int i = 1; i < 32; ++i) numbers += ", 1.0";
    const ir::PlanFunctions plan{.quantize_filter = [&](const ir::Node&, const TensorValue&) {
      return of.has_scales ? ir::FilterQuantization{.scales = {1}, .max_magnitude = 1}
                           : ir::FilterQuantization();
    }};
    const std::string made =
        After("FuseChannelPermutations",
              {TargetInput("x", "f32", "[1,16,2,2]"), TargetInput("z", "f32", "[1,16,2,2]"),
               TargetConstant("l", "f32[]", "0.0"), TargetConstant("w", "f32[1,32,1,1]", numbers),
               TargetConstant("axis", "i64[]", "1"), quantized("q", "x", of.first),
               quantized("p", "z", of.second), TargetStep("r", "opset1.ReLU", "%p"),
               "  %s:2 = opset1.Split \"s\" (%q, %axis) {num_splits = 2} : f32[...], f32[...]\n",
               TargetStep("c", "opset1.Concat", "%s.1, %s, " + of.part, "axis = 1"),
               TargetConvolution("conv", "c"), TargetResult("conv")},
              plan);
    return made.find("Gather") != std::string::npos;
  };
  EXPECT_FALSE(is_gathered({}));
  EXPECT_TRUE(is_gathered({.first = "127.5"}));
  EXPECT_TRUE(is_gathered({.second = "127.5"}));
  EXPECT_TRUE(is_gathered({.part = "%z"}));
  EXPECT_TRUE(is_gathered({.part = "%r"}));
  EXPECT_TRUE(is_gathered({.has_scales = false}));
}

}  // namespace
}  // namespace nnefc::transform::target

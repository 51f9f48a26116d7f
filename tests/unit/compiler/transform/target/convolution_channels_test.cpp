// target.RepeatGroupChannels and target.ConvolveSubpixelPhases: the new filters, and near misses.

#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

std::string Numbers(int64_t count) {
  std::string text;
  for (int64_t i = 1; i <= count; ++i) text += fmt::format("{}{}.0", i == 1 ? "" : ", ", i);
  return text;
}

class RepeatedChannelsTest : public TargetTest {
 protected:
  // The nodes after a GroupConvolution of [1,4,5].
  std::string Repeated(const std::string& filter, int64_t volume, const std::string& value = "w") {
    return After("RepeatGroupChannels",
                 {TargetInput("x", "f32", "[1,4,5]"), TargetInput("given", "f32", filter),
                  TargetConstant("w", "f32" + filter, Numbers(volume)),
                  TargetStep("c", "opset1.GroupConvolution", "%x, %" + value,
                             "strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]"),
                  TargetResult("c")});
  }
};

TEST_F(RepeatedChannelsTest, EachOutputHasItsChannel) {
  EXPECT_EQ(Repeated("[4,2,1,2]", 16),
            "Gather[1,8,5](Parameter Const Const) GroupConvolution[1,8,4](Gather Const)");
  EXPECT_EQ(InputOf("Gather", 1), (std::vector<double>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(InputOf("Gather", 2), (std::vector<double>{1}));
  EXPECT_EQ(InputOf("GroupConvolution", 1).size(), 16U);
}

TEST_F(RepeatedChannelsTest, OtherGroupsStay) {
  EXPECT_EQ(Repeated("[4,1,1,2]", 8), "GroupConvolution[1,4,4](Parameter Const)");   // one output
  EXPECT_EQ(Repeated("[2,2,2,2]", 16), "GroupConvolution[1,4,4](Parameter Const)");  // two inputs
  EXPECT_EQ(Repeated("[4,2,1,2]", 16, "given"), "GroupConvolution[1,8,4](Parameter Parameter)");
}

// A ConvolutionBackpropData of [1,2,4].
struct Upsampling {
  std::string filter = "[2,1,4]";
  int64_t volume = 8;
  std::string strides = "2", dilations = "1", begin = "1", end = "1", extra = "0", auto_pad = "explicit";
  std::string value = "w", shape_input;
};

class SubpixelPhasesTest : public TargetTest {
 protected:
  std::string Convolved(const Upsampling& of) {
    return After(
        "ConvolveSubpixelPhases",
        {TargetInput("x", "f32", "[1,2,4]"), TargetInput("given", "f32", of.filter),
         TargetConstant("w", "f32" + of.filter, Numbers(of.volume)), TargetConstant("shape", "i64[1]", "8"),
         TargetStep("d", "opset1.ConvolutionBackpropData", "%x, %" + of.value + of.shape_input,
                    fmt::format("strides = [{}], dilations = [{}], pads_begin = [{}], pads_end = [{}], "
                                "output_padding = [{}], auto_pad = \"{}\"",
                                of.strides, of.dilations, of.begin, of.end, of.extra, of.auto_pad)),
         TargetResult("d")});
  }
  static constexpr const char* kReplaced =
      "Convolution[1,2,4](Parameter Const) DepthToSpace[1,1,8](Convolution)";
  std::vector<int64_t> PadsOf(const std::string& name) const {
    for (const ir::NodeId id : graph_->nodes()) {
      if (graph_->node(id).type() == "Convolution") return graph_->node(id).Ints(name);
    }
    return {};
  }
};

// Result 2 b is x[b] * w[1] + x[b - 1] * w[3], result 2 b + 1 is x[b + 1] * w[0] + x[b] * w[2].
TEST_F(SubpixelPhasesTest, TapsOfEachPhase) {
  EXPECT_EQ(Convolved({}), kReplaced);
  EXPECT_EQ(InputOf("Convolution", 1), (std::vector<double>{4, 2, 0, 8, 6, 0, 0, 3, 1, 0, 7, 5}));
  EXPECT_EQ(PadsOf("pads_begin"), (std::vector<int64_t>{1}));
  EXPECT_EQ(PadsOf("pads_end"), (std::vector<int64_t>{1}));
}

// Without padding, both phases begin at the same input; the outputs of a phase follow each other.
TEST_F(SubpixelPhasesTest, OutputsAndBegin) {
  EXPECT_EQ(Convolved({.filter = "[2,2,4]", .volume = 16, .begin = "0", .end = "0"}),
            "Convolution[1,4,5](Parameter Const) DepthToSpace[1,2,10](Convolution)");
  EXPECT_EQ(InputOf("Convolution", 1),
            (std::vector<double>{3, 1, 11, 9, 7, 5, 15, 13, 4, 2, 12, 10, 8, 6, 16, 14}));
  EXPECT_EQ(PadsOf("pads_begin"), (std::vector<int64_t>{1}));
  EXPECT_EQ(PadsOf("pads_end"), (std::vector<int64_t>{1}));
}

TEST_F(SubpixelPhasesTest, NearMisses) {
  const auto stays = [&](const Upsampling& of) {
    return Convolved(of).find("ConvolutionBackpropData") != std::string::npos;
  };
  EXPECT_TRUE(stays({.value = "given"}));
  EXPECT_TRUE(stays({.shape_input = ", %shape"}));
  EXPECT_TRUE(stays({.auto_pad = "same_upper"}));
  EXPECT_TRUE(stays({.strides = "1"}));
  EXPECT_TRUE(stays({.dilations = "2", .begin = "2", .extra = "1"}));
  EXPECT_TRUE(stays({.end = "2"}));                 // 7 results
  EXPECT_FALSE(stays({.end = "2", .extra = "1"}));  // 8
  EXPECT_FALSE(stays({.begin = "3", .end = "1"}));  // all taps of the first result are before its place
  EXPECT_TRUE(stays({.begin = "4", .end = "0"}));   // the first result is beyond the first input
  EXPECT_TRUE(stays({.begin = "0", .end = "4"}));   // results end before the last input
  EXPECT_FALSE(stays({.begin = "0", .end = "2"}));
  // Fewer taps than phases, of which there may be any number.
  EXPECT_TRUE(stays({.strides = "5", .begin = "0", .end = "0", .extra = "1"}));
  EXPECT_TRUE(stays({.strides = "1000000000", .begin = "0", .end = "0", .extra = "999999996"}));
  EXPECT_TRUE(stays({.filter = "[2,1,2]", .volume = 4, .begin = "0", .end = "0"}));  // no overlap
}

// The vectors of 16 outputs times taps, at most 0.8 of those before: 3 of 4.
TEST_F(SubpixelPhasesTest, NumbersOfOutputs) {
  const auto is_replaced = [&](int64_t outputs) {
    return Convolved({.filter = fmt::format("[2,{},4]", outputs), .volume = 8 * outputs})
               .find("DepthToSpace") != std::string::npos;
  };
  EXPECT_TRUE(is_replaced(8));
  EXPECT_FALSE(is_replaced(9));
  EXPECT_FALSE(is_replaced(16));
  // 4 of 5 with four phases of 5 taps.
  const auto is_replaced_by_four = [&](int64_t outputs) {
    return Convolved({.filter = fmt::format("[2,{},5]", outputs),
                      .volume = 10 * outputs,
                      .strides = "4",
                      .begin = "0"})
               .find("DepthToSpace") != std::string::npos;
  };
  EXPECT_TRUE(is_replaced_by_four(8));
  EXPECT_FALSE(is_replaced_by_four(9));
}

}  // namespace
}  // namespace nnefc::transform::target

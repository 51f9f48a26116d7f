#include "compiler/ir/ops/windows/sliding_window_shape.h"

#include "compiler/ir/ops/windows/resolved_window.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::ir::ops {
namespace {

// x = floor((p + X + q - f_d) / s) + 1, R 4.3.
TEST(ConvTest, Shapes) {
  EXPECT_EQ(Infer({"conv",
                   {"f32[1,3,224,224]", "f32[64,3,7,7]", "f32[1,64]"},
                   "stride = [2,2], padding = [[3,3],[3,3]]"}),
            "f32[1,64,112,112]");
  // Automatic padding: x = ceil(X / s).
  EXPECT_EQ(Infer({"conv", {"f32[1,3,7,8]", "f32[4,3,3,3]", "f32[]"}, "stride = [2,3]"}), "f32[1,4,4,3]");
  // f_d = (3 - 1) * 2 + 1 = 5; (0 + 9 + 1 - 5) / 2 + 1 = 3.
  EXPECT_EQ(
      Infer(
          {"conv", {"f32[2,3,9]", "f32[4,3,3]", "f32[]"}, "stride = [2], dilation = [2], padding = [[0,1]]"}),
      "f32[2,4,3]");
  EXPECT_EQ(Infer({"conv", {"f32[1,3,8,8]", "f32[4,3,3,3]", "f32[]"}, "padding = [[-1,0],[0,-2]]"}),
            "f32[1,4,5,4]");
  EXPECT_EQ(Infer({"conv", {"f32[1,3,8,8]", "f32[4,3,3,3]"}}), "f32[1,4,8,8]");
}

// An open extent is at least that of one window.
TEST(ConvTest, OpenExtents) {
  const auto conv = [](std::string_view extent) {
    return Infer({"conv", {fmt::format("f32[1,3,{}]", extent), "f32[4,3,5]"}, "padding = [[0,1]]"});
  };
  EXPECT_EQ(conv("2..9"), "f32[1,4,1..6]");
  EXPECT_EQ(conv("4..9"), "f32[1,4,1..6]");
  EXPECT_EQ(conv("5..9"), "f32[1,4,2..6]");
  EXPECT_EQ(conv("2..4"), "f32[1,4,1]");
  EXPECT_EQ(conv("2..3"), "window.fit");
  // A window that no extent is large enough for.
  const auto dilated = [](std::string_view extent) {
    return Infer({"conv",
                  {fmt::format("f32[1,3,{}]", extent), "f32[4,3,5]"},
                  "padding = [[0,1]], dilation = [9223372036854775807]"});
  };
  EXPECT_EQ(dilated("2.."), "shape.overflow");
  EXPECT_EQ(dilated("2..9"), "window.fit");
}

TEST(ConvTest, Groups) {
  EXPECT_EQ(Infer({"conv", {"f32[1,4,8,8]", "f32[8,2,3,3]", "f32[]"}, "groups = 2"}), "f32[1,8,8,8]");
  EXPECT_EQ(Infer({"conv", {"f32[1,4,8,8]", "f32[8,1,3,3]", "f32[]"}, "groups = 0"}), "f32[1,8,8,8]");
  EXPECT_EQ(Infer({"conv", {"f32[1,4,8,8]", "f32[9,1,3,3]", "f32[]"}, "groups = 0"}), "conv.groups");
  EXPECT_EQ(Infer({"conv", {"f32[1,4,8,8]", "f32[9,2,3,3]", "f32[]"}, "groups = 2"}), "conv.groups");
  EXPECT_EQ(Infer({"conv", {"f32[1,4,8,8]", "f32[8,2,3,3]", "f32[]"}, "groups = -1"}), "conv.groups");
  EXPECT_EQ(Infer({"conv", {"f32[1,4,8,8]", "f32[8,2,3,3]", "f32[]"}, "groups = 0"}), "conv.channels");
}

// A dilation of a window of one element, and paddings that cancel each other out, are facts of their own.
TEST(ResolvedWindowTest, Facts) {
  const ResolvedWindow plain = {
      .size = {3, 1}, .stride = {1, 1}, .dilation = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}};
  EXPECT_FALSE(plain.IsDilated());
  EXPECT_FALSE(plain.IsPadded());
  EXPECT_FALSE(plain.IsTrivial(0));
  EXPECT_TRUE(plain.IsTrivial(1));
  EXPECT_EQ(plain.reach(0), 3);
  EXPECT_EQ(plain.Volume(), 3);
  const auto with = [&](std::vector<int64_t> ResolvedWindow::*list, int64_t first, int64_t second) {
    ResolvedWindow changed = plain;
    changed.*list = {first, second};
    return changed;
  };
  EXPECT_TRUE(with(&ResolvedWindow::dilation, 2, 1).IsDilated());
  EXPECT_FALSE(with(&ResolvedWindow::dilation, 1, 2).IsDilated());
  EXPECT_TRUE(with(&ResolvedWindow::dilation, 1, 2).IsTrivial(1));
  EXPECT_EQ(with(&ResolvedWindow::dilation, 2, 2).reach(0), 5);
  EXPECT_EQ(with(&ResolvedWindow::dilation, 2, 2).reach(1), 1);
  EXPECT_FALSE(with(&ResolvedWindow::stride, 1, 2).IsTrivial(1));
  for (const auto list : {&ResolvedWindow::pad_begin, &ResolvedWindow::pad_end}) {
    for (const int64_t pad : {1, -1}) {
      EXPECT_TRUE(with(list, pad, 0).IsPadded());
      EXPECT_TRUE(with(list, 0, pad).IsPadded());
      EXPECT_FALSE(with(list, 0, pad).IsTrivial(1));
      EXPECT_TRUE(with(list, pad, 0).IsTrivial(1));
    }
  }
  EXPECT_EQ(with(&ResolvedWindow::size, INT64_MAX, 2).Volume(), INT64_MAX);
}

// Channels that are last and equal those of a group are another framework's order; a vector has no order.
TEST(ConvTest, HintsAtTheOrderOfChannels) {
  const auto conv = [](std::string_view input, std::string_view filter, std::string_view attributes) {
    return Message({"conv", {input, filter, "f32[]"}, attributes});
  };
  const std::string order = "; an input is [batch, channels, extents..]";
  EXPECT_TRUE(conv("f32[1,6,4]", "f32[8,4,3]", "groups = 2").ends_with(order));
  EXPECT_TRUE(conv("f32[1,8,8,4]", "f32[8,4,3,3]", "groups = 1").ends_with(order));
  EXPECT_FALSE(conv("f32[1,8,4,8]", "f32[8,4,3,3]", "groups = 1").ends_with(order));
  EXPECT_EQ(
      conv("f32[1,4]", "f32[8,4]", "groups = 2"),
      "`filter` of `conv` has 4 channels for each of 2 groups; expected 4 channels in all, as `input` of "
      "`conv` has");
}

TEST(ConvTest, Rules) {
  EXPECT_EQ(Message({"conv", {"f32[1,3,8,8]", "f32[4,3,3]", "f32[]"}}),
            "`filter` of `conv` has rank 3; expected 4");
  EXPECT_EQ(Infer({"conv", {"f32[1,3,8,8]", "f32[4,3,3]", "f32[]"}}), "conv.rank");
  EXPECT_EQ(Infer({"conv", {"f32[3]", "f32[4]", "f32[]"}}), "conv.rank");
  EXPECT_EQ(Infer({"conv", {"f32[1,3,8,8]", "f32[4,2,3,3]", "f32[]"}}), "conv.channels");
  EXPECT_EQ(Infer({"conv", {"i64[1,3,8,8]", "f32[4,3,3,3]", "f32[]"}}), "node.input-type");
  for (std::string_view bias : {"f32[4]", "f32[1,3]", "f32[2,4]", "f32[1,4,2]"}) {
    EXPECT_EQ(Infer({"conv", {"f32[1,3,8,8]", "f32[4,3,3,3]", bias}}), "conv.bias") << bias;
  }
  for (std::string_view bias : {"f32[]", "f32[1]", "f32[1,1]", "f32[1,4]", "f32[1,4,1,1]"}) {
    EXPECT_EQ(Infer({"conv", {"f32[1,3,8,8]", "f32[4,3,3,3]", bias}}), "f32[1,4,8,8]") << bias;
  }
  const auto conv = [](std::string_view attributes) {
    return Infer({"conv", {"f32[1,3,8,8]", "f32[4,3,3,3]", "f32[]"}, attributes});
  };
  EXPECT_EQ(conv("padding = [[0,0]]"), "window.padding");
  EXPECT_EQ(conv("stride = [1]"), "window.stride");
  EXPECT_EQ(conv("stride = [1,0]"), "window.stride");
  EXPECT_EQ(conv("dilation = [1,1,1]"), "window.dilation");
  EXPECT_EQ(conv("dilation = [-1,1]"), "window.dilation");
  EXPECT_EQ(conv("border = \"ignore\""), "window.border");
  EXPECT_EQ(conv("border = \"none\""), "window.border");
  EXPECT_EQ(conv("border = \"reflect\", padding = [[8,0],[0,0]]"), "window.border-reach");
  EXPECT_EQ(conv("border = \"reflect\", padding = [[7,0],[0,7]]"), "f32[1,4,13,13]");
  EXPECT_EQ(conv("border = \"reflect-even\", padding = [[8,0],[0,8]]"), "f32[1,4,14,14]");
  EXPECT_EQ(conv("padding = [[0,0],[-3,-3]]"), "window.fit");
  EXPECT_EQ(conv("dilation = [4,4], padding = [[0,0],[0,0]]"), "window.fit");
  EXPECT_EQ(conv("stride = 1"), "node.attribute-kind");
}

TEST(ConvTest, PartialShapes) {
  EXPECT_EQ(Infer({"conv",
                   {"f32[?,3,?,10..20]", "f32[4,3,3,3]", "f32[]"},
                   "stride = [2,2], padding = [[0,0],[0,0]]"}),
            "f32[?,4,1..,4..9]");
  EXPECT_EQ(Infer({"conv", {"f32[?,?,?,10..20]", "f32[4,3,3,3]", "f32[]"}, "stride = [2,2]"}),
            "f32[?,4,?,5..10]");
  EXPECT_EQ(Infer({"conv", {"f32[1,3,8]", "f32[?,3,?]", "f32[]"}}), "f32[1,?,?]");
  EXPECT_EQ(Infer({"conv", {"f32[...]", "f32[4,3,3,3]", "f32[]"}}), "f32[...]");
}

TEST(ConvTest, HostileAttributes) {
  const auto conv = [](std::string_view attributes) {
    return Infer({"conv", {"f32[1,3,8]", "f32[4,3,3]", "f32[]"}, attributes});
  };
  EXPECT_EQ(conv("padding = [[9223372036854775807,9223372036854775807]]"), "shape.overflow");
  EXPECT_EQ(conv("padding = [[-9223372036854775808,-9223372036854775808]]"), "window.fit");
  EXPECT_EQ(conv("dilation = [9223372036854775807], padding = [[0,0]]"), "window.fit");
  EXPECT_EQ(conv("stride = [9223372036854775807]"), "f32[1,4,1]");
  EXPECT_EQ(conv("groups = 9223372036854775807"), "conv.channels");
  EXPECT_EQ(Infer({"deconv", {"f32[1,4,8]", "f32[4,3,3]", "f32[]"}, "stride = [9223372036854775807]"}),
            "shape.overflow");
  EXPECT_EQ(Infer({"deconv", {"f32[1,4,8]", "f32[4,3,3]", "f32[]"}, "groups = 9223372036854775807"}),
            "shape.overflow");
  // An automatic padding that is too large for an extent leaves the result the input's extents.
  for (const std::string_view op : {"conv", "deconv"})
    EXPECT_EQ(Infer({op,
                     {"f32[1,1,1]", "f32[1,1,4294967296]", "f32[]"},
                     "dilation = [4294967297], border = \"reflect\""}),
              "f32[1,1,1]");
}

// X = (x - 1) * s + f_d - (p + q); the filter is (c, C / G, ..).
TEST(DeconvTest, Shapes) {
  EXPECT_EQ(
      Infer({"deconv", {"f32[1,8,4,4]", "f32[8,3,3,3]", "f32[]"}, "stride = [2,2], padding = [[1,1],[0,1]]"}),
      "f32[1,3,7,8]");
  EXPECT_EQ(Infer({"deconv", {"f32[1,8,4,4]", "f32[8,3,3,3]", "f32[1,3]"}, "stride = [2,2]"}),
            "f32[1,3,8,8]");
  EXPECT_EQ(Infer({"deconv", {"f32[1,8,4]", "f32[8,3,3]", "f32[]"}, "stride = [2], groups = 4"}),
            "f32[1,12,8]");
  EXPECT_EQ(Infer({"deconv", {"f32[1,8,4]", "f32[8,1,3]", "f32[]"}, "groups = 0"}), "f32[1,8,4]");
  EXPECT_EQ(Infer({"deconv", {"f32[1,8,4]", "f32[8,1,3]", "f32[]"}, "groups = 0, output_shape = [1,4,4]"}),
            "f32[1,4,4]");
  EXPECT_EQ(Infer({"deconv", {"f32[1,8,4]", "f32[8,3,3]", "f32[]"}, "stride = [2], output_shape = [1,3,7]"}),
            "f32[1,3,7]");
  EXPECT_EQ(Infer({"deconv", {"f32[1,8,?]", "f32[8,3,3]", "f32[]"}, "stride = [2]"}), "f32[1,3,?]");
}

TEST(DeconvTest, Rules) {
  const auto deconv = [](std::string_view attributes) {
    return Infer({"deconv", {"f32[1,8,4]", "f32[8,3,3]", "f32[]"}, attributes});
  };
  EXPECT_EQ(deconv("output_shape = [1,3]"), "window.output-shape");
  EXPECT_EQ(deconv("output_shape = [1,3,9], stride = [2]"), "window.output-shape");
  EXPECT_EQ(deconv("output_shape = [1,3,0], stride = [2]"), "window.output-shape");
  EXPECT_EQ(deconv("output_shape = [1,4,8], stride = [2]"), "window.output-shape");
  EXPECT_EQ(deconv("output_shape = [2,3,8], stride = [2]"), "window.output-shape");
  EXPECT_EQ(deconv("groups = 0"), "conv.channels");
  EXPECT_EQ(deconv("groups = 3"), "conv.groups");
  EXPECT_EQ(deconv("padding = [[4,4]]"), "window.fit");
  EXPECT_EQ(Infer({"deconv", {"f32[1,7,4]", "f32[8,3,3]", "f32[]"}}), "conv.channels");
  EXPECT_EQ(Infer({"deconv", {"f32[1,8,4]", "f32[8,3,3]", "f32[1,8]"}}), "conv.bias");
}

// The border extends the input: the sums read its elements at (i + p - j * d) / s where this is an integer.
TEST(DeconvTest, BorderReach) {
  const auto deconv = [](std::string_view input, std::string_view filter, std::string_view attributes) {
    return Infer({"deconv", {input, filter, "f32[]"}, attributes});
  };
  const std::string reflect = "border = \"reflect\", ";
  const std::string even = "border = \"reflect-even\", ";
  // 3 before and 3 after.
  EXPECT_EQ(deconv("f32[1,8,4]", "f32[8,3,4]", reflect + "padding = [[0,0]]"), "f32[1,3,7]");
  EXPECT_EQ(deconv("f32[1,8,3]", "f32[8,3,4]", reflect + "padding = [[0,0]]"), "window.border-reach");
  EXPECT_EQ(deconv("f32[1,8,3]", "f32[8,3,4]", even + "padding = [[0,0]]"), "f32[1,3,6]");
  EXPECT_EQ(deconv("f32[1,8,2]", "f32[8,3,4]", even + "padding = [[0,0]]"), "window.border-reach");
  EXPECT_EQ(deconv("f32[1,8,3]", "f32[8,3,4]", reflect + "padding = [[1,0]]"), "window.border-reach");
  EXPECT_EQ(deconv("f32[1,8,3]", "f32[8,3,4]", reflect + "padding = [[0,1]]"), "window.border-reach");
  EXPECT_EQ(deconv("f32[1,8,3]", "f32[8,3,4]", reflect + "padding = [[1,1]]"), "f32[1,3,4]");
  // Positions between strides are not elements: reads -1, 0 and 0, 1.
  EXPECT_EQ(deconv("f32[1,8,1]", "f32[8,3,4]", even + "stride = [2], padding = [[1,1]]"), "f32[1,3,2]");
  EXPECT_EQ(deconv("f32[1,8,1]", "f32[8,3,4]", reflect + "stride = [2], padding = [[1,1]]"),
            "window.border-reach");
  // Results so short that 0 is the only integer position.
  EXPECT_EQ(deconv("f32[1,8,1]", "f32[8,3,2]", reflect + "stride = [5], dilation = [7], padding = [[0,6]]"),
            "f32[1,3,2]");
  EXPECT_EQ(deconv("f32[1,8,1]", "f32[8,3,3]", reflect + "stride = [2], padding = [[1,1]]"), "f32[1,3,1]");
  EXPECT_EQ(deconv("f32[1,8,1]", "f32[8,3,3]", reflect + "stride = [5], output_shape = [1,3,2]"),
            "f32[1,3,2]");
  EXPECT_EQ(deconv("f32[1,8,1]", "f32[8,3,3]", "border = \"replicate\", padding = [[0,0]]"), "f32[1,3,3]");
  EXPECT_EQ(deconv("f32[1,8,?]", "f32[8,3,3]", reflect + "padding = [[0,0]]"), "f32[1,3,2..]");
  EXPECT_EQ(deconv("f32[1,8,1]", "f32[8,3,3]", reflect + "stride = [4611686018427387904], padding = [[1,0]]"),
            "f32[1,3,2]");
  EXPECT_EQ(Infer({"separable_deconv",
                   {"f32[1,8,1]", "f32[8,1,3]", "f32[8,8,1]", "f32[]"},
                   "border = \"reflect\", padding = [[0,0]]"}),
            "window.border-reach");
}

TEST(SeparableConvTest, Shapes) {
  EXPECT_EQ(Infer({"separable_conv",
                   {"f32[1,8,9,9]", "f32[16,1,3,3]", "f32[32,16,1,1]", "f32[1,32]"},
                   "stride = [2,2]"}),
            "f32[1,32,5,5]");
  EXPECT_EQ(
      Infer({"separable_conv", {"f32[1,8,9,9]", "f32[8,1,3,3]", "f32[6,4,1,1]", "f32[]"}, "groups = 2"}),
      "f32[1,6,9,9]");
  EXPECT_EQ(Infer({"separable_deconv",
                   {"f32[1,32,5,5]", "f32[16,1,3,3]", "f32[32,16,1,1]", "f32[]"},
                   "stride = [2,2]"}),
            "f32[1,16,10,10]");
  EXPECT_EQ(Infer({"separable_conv", {"f32[1,8,9]", "f32[8,2,3]", "f32[4,8,1]", "f32[]"}}), "conv.channels");
  EXPECT_EQ(Infer({"separable_conv", {"f32[1,8,9]", "f32[8,1,3]", "f32[4,8,3]", "f32[]"}}), "f32[1,4,9]");
  EXPECT_EQ(Infer({"separable_conv", {"f32[1,8,9]", "f32[8,1,3]", "f32[4,7,1]", "f32[]"}}), "conv.channels");
  EXPECT_EQ(Infer({"separable_conv", {"f32[1,8,9]", "f32[8,1,3]", "f32[4,8,1]", "f32[1,5]"}}), "conv.bias");
}

TEST(PoolTest, Shapes) {
  const std::string_view size = "size = [1,1,3,3], stride = [1,1,2,2]";
  for (std::string_view op : {"max_pool", "avg_pool", "rms_pool", "box"}) {
    EXPECT_EQ(Infer({op, {"f32[1,3,7,8]"}, size}), "f32[1,3,4,4]") << op;
    EXPECT_EQ(Infer({op,
                     {"f32[1,3,7,8]"},
                     "size = [1,1,3,3], padding = [[0,0],[0,0],[0,0],[0,0]], border = \"ignore\""}),
              "f32[1,3,5,6]")
        << op;
  }
  EXPECT_EQ(Infer({"argmax_pool", {"f32[1,3,7,8]"}, size}), "i64[1,3,4,4]");
  EXPECT_EQ(Infer({"max_pool_with_index", {"f32[1,3,7,8]"}, size, 2}), "f32[1,3,4,4]; i64[1,3,4,4]");
  EXPECT_EQ(Infer({"max_pool_with_index", {"f32[1,3,7,8]"}, size, 1}), "node.arity");
  EXPECT_EQ(Infer({"sample", {"f32[1,3,7,8]", "i64[1,3,4,4]"}, size}), "f32[1,3,4,4]");
  EXPECT_EQ(Infer({"desample", {"f32[1,3,4,4]", "i64[1,3,4,4]"}, size}), "f32[1,3,8,8]");
  EXPECT_EQ(Infer({"desample",
                   {"f32[1,3,4,4]", "i64[1,3,4,4]"},
                   "size = [1,1,3,3], stride = [1,1,2,2], output_shape = [1,3,7,8]"}),
            "f32[1,3,7,8]");
  EXPECT_EQ(
      Infer({"debox", {"f32[1,3,4]"}, "size = [1,1,3], stride = [1,1,2], padding = [[0,0],[0,0],[0,0]]"}),
      "f32[1,3,9]");
}

TEST(PoolTest, Rules) {
  EXPECT_EQ(Infer({"max_pool", {"f32[1,3,7]"}, "size = [1,3]"}), "window.size");
  EXPECT_EQ(Infer({"max_pool", {"f32[1,3,7]"}, "size = [1,0,3]"}), "window.size");
  EXPECT_EQ(Message({"max_pool", {"f32[1,3,7]"}, "size = [1,0,3]"}),
            "`size[1]` of `max_pool` is 0; expected a positive number");
  EXPECT_EQ(Infer({"box", {"f32[1,3,7]"}, "size = [1,1,3], padding = [[0,0]]"}), "window.padding");
  EXPECT_EQ(Infer({"box", {"f32[1,3,7]"}, "size = [1,1,3], border = \"edge\""}), "window.border");
  EXPECT_EQ(Infer({"sample", {"f32[1,3,8]", "i64[1,3,8]"}, "size = [1,1,3], stride = [1,1,2]"}),
            "sample.index");
  EXPECT_EQ(
      Infer(
          {"sample", {"f32[1,3,8]", "i64[1,3,4]"}, "size = [1,1,3], stride = [1,1,2], border = \"ignore\""}),
      "window.border");
  EXPECT_EQ(Infer({"desample", {"f32[1,3,4]", "i64[1,3,8]"}, "size = [1,1,3], stride = [1,1,2]"}),
            "sample.index");
  EXPECT_EQ(Infer({"desample", {"f32[1,3,4]", "i64[1,3,4]"}, "size = [1,1,3], border = \"replicate\""}),
            "window.border");
  EXPECT_EQ(Infer({"debox", {"f32[1,3,4]"}, "size = [1,1,3], output_shape = [1,3]"}), "window.output-shape");
  EXPECT_EQ(Infer({"debox", {"f32[1,3,4]"}, "size = [1,1,9], border = \"reflect\""}), "window.border-reach");
  EXPECT_EQ(Infer({"debox", {"f32[1,3,4]"}, "size = [1,1,9], border = \"reflect-even\""}), "f32[1,3,4]");
}

TEST(SamplingTest, Shapes) {
  EXPECT_EQ(Infer({"nearest_downsample", {"f32[1,3,8,9]"}, "factor = [2,3]"}), "f32[1,3,4,3]");
  EXPECT_EQ(Infer({"area_downsample", {"f32[1,3,?,5..9]"}, "factor = [2,2]"}), "f32[1,3,?,3..4]");
  EXPECT_EQ(Infer({"nearest_upsample", {"f32[1,3,8,?]"}, "factor = [2,3]"}), "f32[1,3,16,?]");
  EXPECT_EQ(Infer({"multilinear_upsample", {"f32[1,3,8,9]"}, "factor = [2,3]"}), "f32[1,3,16,27]");
}

TEST(SamplingTest, Rules) {
  EXPECT_EQ(Infer({"nearest_downsample", {"f32[1,3,8,9]"}, "factor = [3,3]"}), "sampling.factor");
  EXPECT_EQ(Infer({"nearest_downsample", {"f32[1,3,8,9]"}, "factor = [2]"}), "sampling.factor");
  EXPECT_EQ(Infer({"nearest_downsample", {"f32[1,3,5..8,5..]"}, "factor = [4,4]"}), "f32[1,3,2,2..]");
  EXPECT_EQ(Message({"nearest_downsample", {"f32[1,3,4,5..7]"}, "factor = [4,4]"}),
            "`factor[1]` of `nearest_downsample` is 4, which does not divide the extent 5..7 of axis 3");
  EXPECT_EQ(Infer({"nearest_upsample", {"f32[1,3,8,9]"}, "factor = [2,0]"}), "sampling.factor");
  EXPECT_EQ(Infer({"nearest_upsample", {"f32[3]"}, "factor = []"}), "sampling.rank");
  EXPECT_EQ(Infer({"multilinear_upsample", {"f32[1,3,8]"}, "factor = [2], method = \"cubic\""}),
            "sampling.method");
  EXPECT_EQ(Infer({"multilinear_upsample", {"f32[1,3,8]"}, "factor = [2], border = \"ignore\""}),
            "sampling.border");
  EXPECT_EQ(Infer({"nearest_upsample", {"f32[1,3,8]"}, "factor = [9223372036854775807]"}), "shape.overflow");
}

// p = floor(t / 2), q = ceil(t / 2), t = max((x - 1) * s + f_d - X, 0).
TEST(WindowTest, AutomaticPadding) {
  const auto padding = [](int64_t extent, int64_t size, int64_t stride, int64_t dilation) {
    return *ResolvedPadding(extent, {size, stride, dilation, std::nullopt});
  };
  EXPECT_EQ(padding(224, 7, 2, 1), std::pair(int64_t{2}, int64_t{3}));
  EXPECT_EQ(padding(7, 3, 2, 1), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(padding(8, 3, 1, 2), std::pair(int64_t{2}, int64_t{2}));
  EXPECT_EQ(padding(8, 1, 2, 1), std::pair(int64_t{0}, int64_t{0}));
  EXPECT_FALSE(ResolvedPadding(8, {INT64_MAX, 1, INT64_MAX, std::nullopt}).has_value());
  // The largest padding is INT64_MAX - 1: with one element, t = (f - 1) * d = (2^32 - 2) * (2^32 + 2) =
  // 2^64 - 4 is twice that.
  const int64_t power = int64_t{1} << 32;
  EXPECT_EQ(padding(1, power - 1, 1, power + 2), std::pair(INT64_MAX - 1, INT64_MAX - 1));
  // t = (2^64 - 1) - 2 with three elements and one position: q alone is too large.
  const WindowAxis huge = {power, 3, power + 1, std::nullopt}, small = {3, 2, 1, std::nullopt};
  EXPECT_FALSE(ResolvedPadding(3, huge).has_value());
  EXPECT_FALSE(ResolvedPaddings({small, huge}, {7, 3}).has_value());
  EXPECT_FALSE(ResolvedPaddings({huge, small}, {3, 7}).has_value());
  EXPECT_EQ(ResolvedPaddings({small, small}, {7, 8}), (Padding{{1, 1}, {0, 1}}));
}

}  // namespace
}  // namespace nnefc::ir::ops

// The reasons for implementations that cannot run a convolution, at the bounds of their conditions: a request
// that just fits has no reason.

#include "compiler/support/tensor/compressed_floats.h"
#include "runtime/fast/conv/winograd/winograd_convolution.h"
#include "runtime/fast/convolution.h"
#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::conv {
namespace {

using engine::WindowSetting;
using kernels::Precision;

constexpr char kNotConstant[] = "the filter is not constant";

TEST(ConvolutionReasonsTest, Winograd) {
  const auto fewer = [](int inputs, int outputs) {
    return fmt::format("{} input and {} output channels, fewer than a block", inputs, outputs);
  };
  constexpr char kId[] = "winograd";
  const auto volume = [](int64_t channels, int64_t slices) {
    return Conv({.input = {1, channels, slices, 9, 9}, .window = {slices, 3, 3}}, 16);
  };
  ExpectReasons({
      {Conv({.input = {1, 16, 20, 20}, .window = {3, 3}}, 16), kId, ""},
      {Conv({.input = {1, 16, 20, 20}, .window = {3, 3}, .dilations = {2, 3}}, 16), kId, ""},
      {Conv({.input = {1, 16, 20, 20}, .window = {3, 2}}, 16), kId, "filter 3x2"},
      {Conv({.input = {1, 16, 20, 20}, .window = {2, 3}}, 16), kId, "filter 2x3"},
      {Conv({.input = {1, 16, 20, 20}, .window = {4, 3}}, 16), kId, "filter 4x3"},
      {Conv({.input = {1, 16, 20, 20}, .window = {2, 2}}, 16), kId, ""},
      {Conv({.input = {1, 16, 20, 20}, .window = {4, 4}}, 16), kId, "filter 4x4"},
      {Conv({.input = {1, 16, 20}, .window = {1}}, 16), kId, "filter 1x1"},
      {Conv({.input = {1, 16, 20}, .window = {2}}, 16), kId, ""},
      {Conv({.input = {1, 16, 20}, .window = {5}}, 16), kId, ""},
      {Conv({.input = {1, 16, 20}, .window = {6}}, 16), kId, "filter 1x6"},
      {Conv({.input = {1, 16, 20}, .window = {3}, .strides = {2}}, 16), kId, "strides 1x2"},
      {Conv({.input = {1, 16, 20, 20}, .window = {2, 1}}, 16), kId, ""},
      {Conv({.input = {1, 16, 20, 20}, .window = {5, 1}}, 16), kId, ""},
      {Conv({.input = {1, 16, 20, 20}, .window = {6, 1}}, 16), kId, "filter 6x1"},
      {Conv({.input = {1, 16, 20, 20}, .window = {3, 1}, .strides = {1, 2}}, 16), kId, "strides 1x2"},
      {Conv({.input = {1, 16, 20, 20}, .window = {3, 3}, .strides = {2, 1}}, 16), kId, "strides 2x1"},
      {Conv({.input = {1, 16, 20, 20}, .window = {3, 3}, .strides = {1, 2}}, 16), kId, "strides 1x2"},
      {Conv({.input = {1, 15, 20, 20}, .window = {3, 3}}, 16), kId, fewer(15, 16)},
      {Conv({.input = {1, 16, 20, 20}, .window = {3, 3}}, 15), kId, fewer(16, 15)},
      {WithoutConstants(Conv({.input = {1, 16, 20, 20}, .window = {3, 3}}, 16)), kId, kNotConstant},
      {Conv({.input = {1, 16, 20, 20}, .window = {3, 3}}, 16, Precision::kExact), kId, "precision exact"},
      {volume(24, 1), kId, ""},
      {volume(8208, 1), kId, ""},
      {volume(24, 2), kId, "24 channels for several slices, not whole blocks"},
      {volume(32, 2), kId, ""},
      {volume(4096, 2), kId, ""},
      {volume(4112, 2), kId, "4112 channels of 2 slices are too many"},
      {volume(2720, 3), kId, ""},
      {volume(2736, 3), kId, "2736 channels of 3 slices are too many"},
      {Conv({.input = {1, 32, 5, 9, 9}, .window = {2, 3, 3}, .strides = {2, 1, 1}}, 16), kId, ""},
  });
}

// The time per tile and term is 40 + 150 / outputs + 130 / inputs, that of the filter 300, and that of direct
// convolution 9.3 per pixel: with 26 inputs and 32 outputs, eight tiles of 5 x 15 pixels take as long.
TEST(ConvolutionReasonsTest, WinogradTimes) {
  struct Tiles {
    int64_t inputs, outputs, columns;
  };
  for (const auto& [inputs, outputs, columns] :
       std::vector<Tiles>{{26, 32, 15}, {416, 16, 15}, {65, 80, 14}}) {
    for (const int64_t more : {-1, 0, 1}) {
      const int64_t channels = inputs + more;
      const Step step = Conv({.input = {1, channels, 7, columns + 2}, .window = {3, 3}}, outputs);
      TestGraph g;
      const ir::OutputPort result =
          g.Op(step.type, {g.Parameter("x", step.inputs[0].shape), g.Const(*step.inputs[1].constant)},
               step.attributes);
      const kernels::ValueInfo inputs_of_step[] = {
          {.type = ElementType::kF32, .shape = step.inputs[0].shape},
          {.type = ElementType::kF32, .shape = step.inputs[1].shape, .constant = &*step.inputs[1].constant}};
      const kernels::ValueInfo output{.type = ElementType::kF32, .shape = {1, outputs, 5, columns}};
      const tensor::ThreadScope scope(1);
      const kernels::Cost cost =
          WinogradCost({.node = &g.graph->node(result.node), .inputs = inputs_of_step, .outputs = output});
      const auto of = [](int64_t count) { return static_cast<double>(count); };
      EXPECT_NEAR(cost.time,
                  (8 * (40 + 150 / of(outputs) + 130 / of(channels)) + 300) / (9.3 * 5 * of(columns)), 1e-9);
      EXPECT_EQ(cost.reason.ToString(), more <= 0 ? "direct convolution is faster for 8 tiles" : "");
    }
  }
}

TEST(ConvolutionReasonsTest, FewOutputs) {
  constexpr char kId[] = "few_outputs";
  constexpr int64_t kPixels = int64_t{1} << 24, kInputs = int64_t{1} << 20;
  const auto rows = [](int64_t taps, int64_t dilation) {
    return Conv({.input = {1, 2, 70, 9}, .window = {taps, 1}, .dilations = {dilation, 1}}, 2);
  };
  const auto columns = [](int64_t taps, int64_t before) {
    return Conv({.input = {1, 2, 2, 2000}, .window = {1, taps}, .begin = {0, before}}, 2);
  };
  const auto many_rows = [](int count) { return fmt::format("windows over {} rows, more than 33", count); };
  const auto wide = [](int count) {
    return fmt::format("windows or borders of {} columns, more than 1024", count);
  };
  ExpectReasons({
      {Conv({.input = {1, kInputs + 1, 1, 1}, .window = {1, 1}}, 1), kId,
       "1048577 input channels, more than 1048576"},
      {WithoutConstants(Conv({.input = {1, 2, 9, 9}, .window = {3, 3}}, 2)), kId, kNotConstant},
      {Conv({.input = {1, 2, 9, 9}, .window = {3, 3}, .strides = {2, 1}}, 2), kId, "strides 2x1"},
      {Conv({.input = {1, 2, 9, 9}, .window = {3, 3}, .strides = {1, 2}}, 2), kId, "strides 1x2"},
      {Conv({.input = {1, 1, kPixels + 2}, .window = {3}}, 1), kId, ""},
      {Conv({.input = {1, 1, kPixels + 3}, .window = {3}}, 1), kId,
       "rows of 16777217 pixels, more than 16777216"},
      {Conv({.input = {1, 1, 4096, 4096}, .window = {1, 1}}, 1), kId, ""},
      {Conv({.input = {1, 1, 4096, 4097}, .window = {1, 1}}, 1), kId,
       "rows of 16781312 pixels, more than 16777216"},
      {rows(33, 1), kId, ""},
      {rows(34, 1), kId, many_rows(34)},
      {rows(2, 32), kId, ""},
      {rows(2, 33), kId, many_rows(34)},
      {columns(1024, 0), kId, ""},
      {columns(1025, 0), kId, wide(1025)},
      {columns(3, 1024), kId, ""},
      {columns(3, 1025), kId, wide(1025)},
      {Conv({.input = {1, 2, 3, 4, 5}, .window = {1, 1, 1}}, 2), kId, ""},
      {Conv({.input = {1, 2, 3, 4, 5}, .window = {1, 1, 2}}, 2), kId, "windows of three axes"},
      {Conv({.input = {1, 2, 3, 4, 5}, .window = {2, 1, 1}}, 2), kId, "windows of three axes"},
      {Conv({.input = {1, 2, 3, 4, 5}, .window = {1, 1, 1}, .begin = {1, 0, 0}}, 2), kId,
       "windows of three axes"},
  });
}

TEST(ConvolutionReasonsTest, MatrixProducts) {
  constexpr char kGemv[] = "gemv", kPointwise[] = "pointwise", kIm2col[] = "im2col";
  constexpr char kNotWhole[] = "the window is not the whole image";
  const auto gemv = [](const WindowSetting& window) { return Conv(window, 16); };
  Step compressed = gemv({.input = {1, 16, 2, 3}, .window = {2, 3}});
  std::optional<TensorValue>& filter = compressed.inputs[1].constant;
  const TensorValue half = filter->ConvertedTo(ElementType::kF16);
  filter = TensorValue(ElementType::kF32, half.shape(),
                       Buffer::Unpacked({CompressedFloats::Form::kHalf, half.buffer(), half.volume()}));
  ExpectReasons({
      {gemv({.input = {1, 16, 2, 3}, .window = {2, 3}}), kGemv, ""},
      {gemv({.input = {1, 16, 2, 3, 4}, .window = {2, 3, 4}}), kGemv, ""},
      {gemv({.input = {1, 16, 3}, .window = {3}}), kGemv, ""},
      {gemv({.input = {2, 16, 2, 3}, .window = {2, 3}}), kGemv, "2 rows"},
      {compressed, kGemv, "the matrix is compressed"},
      {gemv({.input = {1, 16, 2, 3}, .window = {2, 2}}), kGemv, kNotWhole},
      {gemv({.input = {1, 16, 3, 3}, .window = {2, 3}}), kGemv, kNotWhole},
      {gemv({.input = {1, 16, 2, 2, 3}, .window = {1, 2, 3}}), kGemv, kNotWhole},
      // One window that does not begin or end with the image, or has gaps.
      {gemv({.input = {1, 16, 2, 3}, .window = {2, 2}, .strides = {1, 2}}), kGemv, kNotWhole},
      {gemv({.input = {1, 16, 2, 3}, .window = {2, 4}, .begin = {0, 1}}), kGemv, kNotWhole},
      {gemv({.input = {1, 16, 2, 3}, .window = {2, 4}, .end = {0, 1}}), kGemv, kNotWhole},
      {gemv({.input = {1, 16, 3, 3}, .window = {3, 3}, .strides = {4, 4}, .begin = {1, 0}, .end = {0, 0}}),
       kGemv, kNotWhole},
      {gemv({.input = {1, 16, 2, 2}, .window = {2, 2}, .dilations = {2, 1}, .begin = {0, 0}, .end = {1, 0}}),
       kGemv, kNotWhole},
      {gemv({.input = {1, 16, 1, 1}, .window = {1, 1}, .dilations = {2, 3}}), kGemv, ""},
      {WithoutConstants(gemv({.input = {1, 16, 2, 3}, .window = {2, 3}})), kGemv, kNotConstant},
      {Conv({.input = {1, 16, 5, 5}, .window = {1, 1}}, 16), kPointwise, ""},
      {Conv({.input = {3, 16, 2, 5, 5}, .window = {1, 1, 1}}, 16), kPointwise, ""},
      {Conv({.input = {1, 16, 5, 5}, .window = {1, 2}}, 16), kPointwise, "a filter of 2 taps"},
      {Conv({.input = {1, 16, 5, 5}, .window = {2, 1}}, 16), kPointwise, "a filter of 2 taps"},
      {WithoutConstants(Conv({.input = {1, 16, 5, 5}, .window = {1, 1}}, 16)), kPointwise, kNotConstant},
      {Conv({.input = {1, 15, 5, 5}, .window = {1, 1}}, 16), kPointwise,
       "15 input and 16 output channels, fewer than a block"},
      {Conv({.input = {1, 16, 5, 5}, .window = {1, 1}}, 15), kPointwise,
       "16 input and 15 output channels, fewer than a block"},
      {Conv({.input = {1, 16, 5, 5}, .window = {1, 1}, .strides = {2, 1}}, 16), kPointwise, "a stride"},
      {Conv({.input = {1, 16, 5, 5}, .window = {1, 1}, .strides = {1, 2}}, 16), kPointwise, "a stride"},
      {Conv({.input = {1, 16, 5, 5}, .window = {1, 1}, .begin = {1, 0}}, 16), kPointwise, "a border"},
      {Conv({.input = {1, 16, 5, 5}, .window = {1, 1}, .begin = {0, 1}}, 16), kPointwise, "a border"},
      {Conv({.input = {1, 16, 5, 5}, .window = {1, 1}, .end = {1, 0}}, 16), kPointwise, "a border"},
      {Conv({.input = {1, 16, 5, 5}, .window = {1, 1}, .end = {0, 1}}, 16), kPointwise, "a border"},
      {Conv({.input = {1, 16, 512, 512}, .window = {1, 1}}, 16), kIm2col, ""},
      {Conv({.input = {1, 16, 512, 513}, .window = {1, 1}}, 16), kIm2col,
       "a patch matrix of 4202496 elements"},
      {Conv({.input = {2, 16, 512, 512}, .window = {1, 1}}, 16), kIm2col,
       "a patch matrix of 8388608 elements"},
      {Conv({.input = {1, 16, 5, 5}, .window = {3, 3}}, 15), kIm2col,
       "15 output channels, fewer than a block"},
      {Conv({.input = {1, 24, 5, 5}, .window = {3, 3}}, 16), kIm2col, "24 input channels, not whole blocks"},
      {Conv({.input = {1, 16, 5}, .window = {3}}, 16), kIm2col, "1 spatial axes"},
      {Conv({.input = {1, 16, 5, 5, 5}, .window = {3, 3, 3}}, 16), kIm2col, "3 spatial axes"},
      {WithoutConstants(Conv({.input = {1, 16, 5, 5}, .window = {3, 3}}, 16)), kIm2col, kNotConstant},
  });
}

TEST(ConvolutionReasonsTest, Groups) {
  constexpr char kGrouped[] = "grouped", kDirect[] = "direct", kDepthwise[] = "depthwise";
  const WindowSetting image{.input = {1, 0, 9, 9}, .window = {3, 3}};
  const auto window = [](Shape taps, Shape strides, Shape dilations) {
    return Grouped({.input = {1, 0, 9, 9},
                    .window = std::move(taps),
                    .strides = std::move(strides),
                    .dilations = std::move(dilations)},
                   4, 8, 8);
  };
  const auto groups_of = [](int inputs, int outputs) {
    return fmt::format("groups of {} input and {} output channels", inputs, outputs);
  };
  const auto not_whole = [&](int inputs, int outputs) {
    return groups_of(inputs, outputs) + ", not whole blocks";
  };
  const bool is_wide = simd::SimdWidth() == simd::kSimdWidth512;
  const auto pixels = [](Shape begin, Shape end) {
    const int64_t columns = 23 - begin[1] - end[1];
    return Conv({.input = {1, 32, 9, columns},
                 .window = {1, 1},
                 .strides = {2, 2},
                 .begin = std::move(begin),
                 .end = std::move(end)},
                48);
  };
  const char* const of_twelve =
      is_wide ? "not faster with AVX-512" : "rows of 12 pixels fill the tiles of direct convolution";
  ExpectReasons({
      {Grouped(image, 4, 4, 4), kGrouped, ""},
      {Grouped(image, 2, 8, 8), kGrouped, ""},
      {Grouped(image, 2, 16, 16), kGrouped, ""},
      {Grouped(image, 3, 4, 4), kGrouped, "12 channels, fewer than a block"},
      {Grouped(image, 1, 8, 8), kGrouped, "8 channels, fewer than a block"},
      {Grouped(image, 1, 16, 8), kGrouped, is_wide ? groups_of(16, 8) : "8 channels, fewer than a block"},
      {Grouped(image, 1, 8, 16), kGrouped, is_wide ? groups_of(8, 16) : "8 channels, fewer than a block"},
      {Grouped(image, 8, 4, 8), kGrouped, groups_of(4, 8)},
      {Grouped(image, 8, 8, 4), kGrouped, groups_of(8, 4)},
      {Grouped(image, 8, 12, 12), kGrouped, groups_of(12, 12)},
      {Grouped(image, 8, 16, 12), kGrouped, groups_of(16, 12)},
      {Grouped(image, 8, 12, 16), kGrouped, groups_of(12, 16)},
      {Grouped(image, 4, 24, 24), kGrouped, is_wide ? groups_of(24, 24) : ""},
      {Grouped({.input = {1, 0, 9}, .window = {3}}, 4, 8, 8), kGrouped, ""},
      {Grouped({.input = {1, 0, 9, 9, 9}, .window = {3, 3, 3}}, 4, 8, 8), kGrouped, "3 spatial axes"},
      {window({2, 3}, {}, {}), kGrouped, ""},
      {window({3, 2}, {}, {}), kGrouped, "windows of 2 columns"},
      {window({3, 4}, {}, {}), kGrouped, "windows of 4 columns"},
      {window({3, 3}, {}, {2, 1}), kGrouped, ""},
      {window({3, 3}, {}, {1, 2}), kGrouped, "dilation 2"},
      {window({3, 3}, {3, 2}, {}), kGrouped, ""},
      {window({3, 3}, {1, 3}, {}), kGrouped, "stride 3"},
      {Grouped(image, 2, 16, 32), kGrouped,
       is_wide ? "direct convolution is faster for groups of 32 outputs" : "", true},
      {Grouped(image, 2, 16, 16), kDirect, ""},
      {Grouped(image, 2, 24, 16), kDirect, not_whole(24, 16)},
      {Grouped(image, 2, 16, 24), kDirect, not_whole(16, 24)},
      {Grouped(image, 1, 24, 24), kDirect, ""},
      {Grouped(image, 8, 1, 1), kDepthwise, ""},
      {Grouped(image, 7, 1, 1), kDepthwise, "7 channels, fewer than half a block"},
      {Grouped(image, 16, 1, 2), kDepthwise, groups_of(1, 2)},
      {Grouped(image, 16, 2, 1), kDepthwise, groups_of(2, 1)},
      {Grouped({.input = {1, 0, 9}, .window = {3}}, 16, 1, 1), kDepthwise, ""},
      {Grouped({.input = {1, 0, 9, 9, 9}, .window = {3, 3, 3}}, 16, 1, 1), kDepthwise, ""},
      {Conv({.input = {1, 16, 9, 9}, .window = {3, 3}}, 15), kDirect, ""},
      {Conv({.input = {1, 16, 9}, .window = {3}}, 16), kDirect, ""},
      {Conv({.input = {1, 16, 5, 5, 5}, .window = {3, 3, 3}}, 16), kDirect, ""},
      {Conv({.input = {1, 16, 9, 9}, .window = {3, 3}, .strides = {2, 2}}, 15), kDirect,
       "15 output channels, fewer than a block", true},
      {Conv({.input = {1, 16, 12, 5}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, 32), "im2col",
       is_wide ? "not faster with AVX-512" : "rows of 5 pixels fill the tiles of direct convolution", true},
      // Single pixels without a border; otherwise the rows of results.
      {pixels({0, 0}, {0, 0}), "im2col", is_wide ? "not faster with AVX-512" : "", true},
      {pixels({1, 0}, {0, 0}), "im2col", of_twelve, true},
      {pixels({0, 0}, {1, 0}), "im2col", of_twelve, true},
      {pixels({1, 0}, {1, 0}), "im2col", of_twelve, true},
      {pixels({0, 1}, {0, 0}), "im2col", of_twelve, true},
      {pixels({0, 0}, {0, 1}), "im2col", of_twelve, true},
      {WithoutConstants(Conv({.input = {1, 16, 9, 9}, .window = {3, 3}}, 16)), kDirect, ""},
      {WithoutConstants(Conv({.input = {1, 16, 9, 9}, .window = {3, 3}}, 16)), kDirect, kNotConstant, true},
  });
}

// Images with fewer channels than a block are read in row-major memory.
TEST(ConvolutionReasonsTest, ImagesOfDirectConvolutions) {
  if (!simd::HasSimd()) GTEST_SKIP() << "direct convolution needs vectors";
  for (const int64_t channels : {1, 15, 16, 17}) {
    const Step step = Conv({.input = {2, channels, 9, 9}, .window = {3, 3}}, 32);
    const Choice choice = ChoiceOf(step, "direct");
    ASSERT_TRUE(choice.kernel);
    const Operand blocks{step.inputs[0].shape, Memory::kBlocks};
    EXPECT_TRUE(tensor::SameLayout(choice.kernel->inputs[0], channels < 16 ? nullptr : blocks.Layout()))
        << channels;
  }
}

// A ConvolutionBackpropData to `outputs` channels.
Step Transposed(const WindowSetting& window, int64_t outputs, Shape added = {}) {
  Shape filter = {window.input[1], outputs};
  filter.append(window.window.begin(), window.window.end());
  ir::AttributeMap attributes = WindowOf(window);
  added.resize(window.window.size(), 0);
  attributes.Set("output_padding", ir::Attribute::Integers(added.begin(), added.end()));
  return {.type = "ConvolutionBackpropData",
          .inputs = {{window.input}, ConstantZeros(filter)},
          .attributes = attributes};
}

TEST(ConvolutionReasonsTest, TransposedWinograd) {
  constexpr char kId[] = "winograd";
  const auto of = [](const Shape& window, const Shape& strides, const Shape& dilations = {}) {
    return WindowSetting{
        .input = {1, 16, 8, 9}, .window = window, .strides = strides, .dilations = dilations};
  };
  const WindowSetting fours = of({4, 4}, {2, 2});
  const auto border = [&](const Shape& begin) {
    WindowSetting window = fours;
    window.begin = begin;
    return window;
  };
  const auto channels = [](int64_t inputs, int64_t outputs) {
    return Transposed({.input = {1, inputs, 8, 9}, .window = {4, 4}, .strides = {2, 2}}, outputs);
  };
  const auto exact = [](Step step) {
    step.precision = Precision::kExact;
    return step;
  };
  ExpectReasons({
      {Transposed(fours, 16), kId, ""},
      {Transposed(of({6, 9}, {2, 3}), 16), kId, ""},
      {Transposed(of({8, 8}, {2, 2}), 16), kId, "filter 4x4"},
      {Transposed(of({2, 2}, {2, 2}), 16), kId, "filter 1x1"},
      {Transposed(of({4, 6}, {2, 2}), 16), kId, "filter 2x3"},
      {Transposed(of({2, 10}, {2, 2}), 16), kId, ""},
      {Transposed(of({2, 12}, {2, 2}), 16), kId, "filter 1x6"},
      {Transposed(of({3, 4}, {2, 2}), 16), kId, "phases of filter 3x4 have different taps"},
      {Transposed(of({4, 3}, {2, 2}), 16), kId, "phases of filter 4x3 have different taps"},
      {Transposed(border({0, 0}), 16), kId, ""},
      {Transposed(border({-1, 0}), 16), kId, "negative padding"},
      {Transposed(border({0, -1}), 16), kId, "negative padding"},
      {Transposed(of({4, 4}, {2, 2}, {2, 1}), 16), kId, "dilations 2x1"},
      {Transposed(of({4, 4}, {2, 2}, {1, 2}), 16), kId, "dilations 1x2"},
      {Transposed({.input = {1, 16, 9}, .window = {16}, .strides = {8}}, 16), kId, ""},
      {Transposed({.input = {1, 16, 3, 4, 5}, .window = {1, 4, 4}, .strides = {1, 2, 2}}, 16), kId,
       "3 spatial axes"},
      {channels(15, 16), kId, "15 input and 16 output channels, fewer than a block"},
      {channels(16, 15), kId, "16 input and 15 output channels, fewer than a block"},
      {WithoutConstants(Transposed(fours, 16)), kId, kNotConstant},
      {exact(Transposed(fours, 16)), kId, "precision exact"},
  });
}

TEST(ConvolutionReasonsTest, TransposedConvolutions) {
  constexpr char kCol2im[] = "col2im", kFew[] = "col2im_few_outputs";
  constexpr char kOverlap[] = "windows that overlap, or a border";
  const WindowSetting twos{.input = {1, 16, 3, 5}, .window = {2, 2}, .strides = {2, 2}};
  const auto of = [](Shape window, Shape strides, Shape dilations = {}, Shape begin = {}, Shape end = {}) {
    return WindowSetting{.input = {1, 16, 3, 5},
                         .window = std::move(window),
                         .strides = std::move(strides),
                         .dilations = std::move(dilations),
                         .begin = std::move(begin),
                         .end = std::move(end)};
  };
  ExpectReasons({
      {Transposed(twos, 16), kCol2im, ""},
      {Transposed(of({1, 1}, {2, 2}, {2, 2}), 16), "onednn", ""},
      {Transposed(of({2, 2}, {2, 2}, {2, 2}), 16), "onednn", ""},
      {Transposed(of({2, 2}, {2, 2}, {2, 2}), 15), "onednn", ""},
      {InMemory(Transposed(twos, 16), Memory::kRowsApart), "int8", kNotF32.ToString()},
      {InMemory(Transposed(twos, 16), Memory::kRowsApart), "f32", kNotF32.ToString()},
      {Transposed(twos, 15), kCol2im, "15 output channels, fewer than a block"},
      {Transposed({.input = {1, 15, 3, 5}, .window = {2, 2}, .strides = {2, 2}}, 16), kCol2im,
       "15 input channels, fewer than a block"},
      {WithoutConstants(Transposed(twos, 16)), kCol2im, kNotConstant},
      {Transposed(of({3, 2}, {2, 2}), 16), kCol2im, kOverlap},
      {Transposed(of({2, 3}, {2, 2}), 16), kCol2im, kOverlap},
      {Transposed(of({2, 2}, {3, 2}), 16), kCol2im, kOverlap},
      {Transposed(of({2, 2}, {2, 3}), 16), kCol2im, kOverlap},
      {Transposed(of({2, 2}, {2, 2}, {2, 1}), 16), kCol2im, kOverlap},
      {Transposed(of({2, 2}, {2, 2}, {1, 2}), 16), kCol2im, kOverlap},
      {Transposed(of({1, 1}, {1, 1}, {2, 3}), 16), kCol2im, ""},
      // A border may restore the extents of windows without gaps.
      {Transposed(of({2, 2}, {2, 2}, {2, 1}, {}, {1, 0}), 16), kCol2im, kOverlap},
      {Transposed(of({2, 2}, {2, 2}, {1, 2}, {}, {0, 1}), 16), kCol2im, kOverlap},
      {Transposed(of({2, 2}, {2, 2}, {}, {1, 0}), 16), kCol2im, kOverlap},
      {Transposed(of({2, 2}, {2, 2}, {}, {0, 1}), 16), kCol2im, kOverlap},
      {Transposed(of({2, 2}, {2, 2}, {}, {}, {1, 0}), 16), kCol2im, kOverlap},
      {Transposed(of({2, 2}, {2, 2}, {}, {}, {0, 1}), 16), kCol2im, kOverlap},
      // Padding of the result may restore the extents of images without a border.
      {Transposed(of({2, 2}, {2, 2}, {}, {1, 0}), 16, {1, 0}), kCol2im, kOverlap},
      {Transposed(twos, 16, {1, 0}), kCol2im, kOverlap},
      {Transposed(twos, 16, {0, 1}), kCol2im, kOverlap},
      {Transposed(twos, 8), kFew, ""},
      {Transposed(twos, 9), kFew, "36 columns, more than 32"},
      {Transposed(of({1, 2}, {1, 2}), 15), kFew, ""},
      {Transposed(of({1, 2}, {1, 2}), 16), kFew, "16 output channels fill a block"},
      {Transposed(of({2, 3}, {2, 2}), 2), kFew, kOverlap},
  });
}

// oneDNN's kernels for images with the channels last have f32 images on both sides.
TEST(ConvolutionReasonsTest, ChannelsLastOfOneDnn) {
  if (!HasAvx512()) GTEST_SKIP() << "oneDNN has other kernels for smaller vectors";
  const Choice choice =
      ChoiceOf(Conv({.input = {1, 16, 9, 9}, .window = {3, 3}}, 32), "onednn_channels_last");
  ASSERT_TRUE(choice.kernel.has_value());
  const auto layout = [](const Shape& shape) {
    return memory::LayoutOf(memory::ChannelsLastFormat(shape, memory::StorageType::kF32));
  };
  EXPECT_TRUE(tensor::SameLayout(choice.kernel->inputs[0], layout({1, 16, 9, 9})));
  EXPECT_TRUE(tensor::SameLayout(choice.kernel->outputs[0], layout({1, 32, 7, 7})));
}

// oneDNN leaves windows of few outputs to col2im where other operations are fused into them, and computes
// whole blocks of channels in place.
TEST(ConvolutionReasonsTest, TransposedConvolutionsOfOneDnn) {
  if (!HasAvx512()) GTEST_SKIP() << "oneDNN has other kernels for smaller vectors";
  constexpr char kId[] = "onednn", kCol2im[] = "col2im is faster without the fused operations";
  const WindowSetting twos{.input = {1, 16, 3, 5}, .window = {2, 2}, .strides = {2, 2}};
  ExpectReasons({{Transposed(twos, 16), kId, ""}, {Fused(Transposed(twos, 8)), kId, kCol2im}});
  EXPECT_NE(ReasonOf(Fused(Transposed(twos, 16)), kId), kCol2im);
  EXPECT_NE(ReasonOf(Transposed(twos, 8), kId), kCol2im);
  EXPECT_NE(ReasonOf(Fused(Transposed(twos, 9)), kId), kCol2im);
  for (const int64_t inputs : {16, 32}) {
    for (const int64_t outputs : {16, 48}) {
      const Choice choice = ChoiceOf(
          Transposed({.input = {1, inputs, 3, 5}, .window = {2, 2}, .strides = {2, 2}}, outputs), kId);
      ASSERT_TRUE(choice.kernel.has_value());
      EXPECT_TRUE(tensor::SameLayout(choice.kernel->inputs[0],
                                     memory::LayoutOf(memory::ChannelBlockedFormat({1, inputs, 3, 5}))));
      EXPECT_TRUE(tensor::SameLayout(choice.kernel->outputs[0],
                                     memory::LayoutOf(memory::ChannelBlockedFormat({1, outputs, 6, 10}))));
    }
  }
}

// Parts of the terms of a product, for AMX alone.
TEST(ConvolutionReasonsTest, ProductsInParts) {
  constexpr char kId[] = "split_k_matmul";
  const auto whole = [](int64_t channels) {
    return Conv({.input = {1, channels, 2, 2}, .window = {2, 2}}, 64, Precision::kBf16);
  };
  if (HasAmx()) {
    EXPECT_EQ(ReasonOf(whole(3), kId), "12 inputs do not divide into parts");
  } else {
    EXPECT_EQ(ReasonOf(whole(3), kId), "needs AMX");
    EXPECT_EQ(ReasonOf(whole(4096), kId), "needs AMX");
  }
}

TEST(ConvolutionReasonsTest, DepthwiseRows) {
  constexpr char kId[] = "depthwise_rows";
  const auto of = [](Shape window, Shape strides, Shape dilations) {
    return Grouped({.input = {1, 0, 19, 19},
                    .window = std::move(window),
                    .strides = std::move(strides),
                    .dilations = std::move(dilations)},
                   16, 1, 1);
  };
  const WindowSetting threes{.input = {1, 0, 9, 9}, .window = {3, 3}};
  const WindowSetting padded{.input = {1, 0, 2, 9}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  ExpectReasons({
      {of({3, 3}, {}, {}), kId, ""},
      {of({5, 5}, {2, 2}, {}), kId, ""},
      {of({3, 5}, {}, {}), kId, "a window of 3 x 5 or its strides"},
      {of({5, 3}, {}, {}), kId, "a window of 5 x 3 or its strides"},
      {of({4, 4}, {}, {}), kId, "a window of 4 x 4 or its strides"},
      {of({7, 7}, {}, {}), kId, "a window of 7 x 7 or its strides"},
      {of({3, 3}, {1, 2}, {}), kId, "a window of 3 x 3 or its strides"},
      {of({3, 3}, {2, 1}, {}), kId, "a window of 3 x 3 or its strides"},
      {of({3, 3}, {3, 3}, {}), kId, "a window of 3 x 3 or its strides"},
      {of({3, 3}, {}, {2, 1}), kId, "a dilation of 2 x 1"},
      {of({3, 3}, {}, {1, 2}), kId, "a dilation of 1 x 2"},
      {Grouped({.input = {1, 0, 9}, .window = {3}}, 16, 1, 1), kId, "1 spatial axes"},
      {Grouped({.input = {1, 0, 9, 9, 9}, .window = {3, 3, 3}}, 16, 1, 1), kId, "3 spatial axes"},
      {Grouped(threes, 7, 1, 1), kId, "7 channels, fewer than half a block"},
      {Grouped(threes, 16, 1, 2), kId, "groups of 1 input and 2 output channels"},
      {Grouped(padded, 16, 1, 1), kId, ""},
      {Grouped(padded, 16, 1, 1), kId, "a quarter of the taps are border", true},
  });
}

// Windows of which none is entirely in the border, by the positions of their taps.
TEST(SpatialDimsTest, WindowsInTheBorder) {
  for (const int64_t before : {0, 1, 2, 3}) {
    for (const int64_t after : {-1, 0, 1, 2, 3, 4}) {
      for (const int64_t taps : {1, 2, 3}) {
        for (const int64_t dilation : {1, 2}) {
          for (const int64_t stride : {1, 2}) {
            constexpr int64_t kInput = 7;
            const Step step = Conv({.input = {1, 1, kInput},
                                    .window = {taps},
                                    .strides = {stride},
                                    .dilations = {dilation},
                                    .begin = {before},
                                    .end = {after}},
                                   1);
            TestGraph g;
            const auto made =
                g.Op(step.type, {g.Parameter("x", step.inputs[0].shape), g.Const(*step.inputs[1].constant)},
                     step.attributes);
            const ir::Node& node = g.graph->node(made.node);
            const Shape result = node.output().shape.known_extents();
            const kernels::ValueInfo inputs[] = {{.type = ElementType::kF32, .shape = step.inputs[0].shape},
                                                 {.type = ElementType::kF32,
                                                  .shape = step.inputs[1].shape,
                                                  .constant = &*step.inputs[1].constant}};
            const kernels::ValueInfo output{.type = ElementType::kF32, .shape = result};
            bool all_see_input = true;
            for (int64_t place = 0; place < result[2]; ++place) {
              bool sees_input = false;
              for (int64_t tap = 0; tap < taps; ++tap) {
                const int64_t position = place * stride - before + tap * dilation;
                sees_input |= position >= 0 && position < kInput;
              }
              all_see_input &= sees_input;
            }
            EXPECT_EQ(SpatialDimsOf({.node = &node, .inputs = inputs, .outputs = output}).all_see_input,
                      all_see_input)
                << before << " " << after << " " << taps << " " << dilation << " " << stride;
          }
        }
      }
    }
  }
}

TEST(ConvolutionReasonsTest, WithoutVectors) {
  const WindowSetting threes{.input = {1, 16, 9, 9}, .window = {3, 3}};
  const WindowSetting twos{.input = {1, 16, 3, 5}, .window = {2, 2}, .strides = {2, 2}};
  ExpectVectorsNeeded({
      {Conv(threes, 16), "direct"},
      {Conv(threes, 16), "winograd"},
      {Conv(threes, 16), "im2col"},
      {Conv(threes, 2), "few_outputs"},
      {Conv({.input = {1, 16, 9, 9}, .window = {1, 1}}, 16), "pointwise"},
      {Conv({.input = {1, 16, 3, 3}, .window = {3, 3}}, 16), "gemv"},
      {Grouped(threes, 4, 8, 8), "grouped"},
      {Grouped(threes, 16, 1, 1), "depthwise"},
      {Grouped(threes, 16, 1, 1), "depthwise_rows"},
      {Transposed(twos, 16), "col2im"},
      {Transposed({.input = {1, 16, 3, 5}, .window = {4, 4}, .strides = {2, 2}}, 16), "winograd"},
      {Transposed(twos, 2), "col2im_few_outputs"},
  });
}

TEST(ConvolutionReasonsTest, Bf16) {
  constexpr char kId[] = "bf16_gemm";
  const auto conv = [](const WindowSetting& window) { return Conv(window, 16, Precision::kBf16); };
  if (!HasBf16()) {
    const Step step = conv({.input = {1, 16, 9, 9}, .window = {3, 3}});
    return ExpectReasons({{step, kId, "needs AVX-512 with bf16"}});
  }
  const auto transposed = [](int64_t inputs, int64_t outputs, size_t axes) {
    WindowSetting window{.input = {1, inputs}, .window = Shape(axes, 2), .strides = Shape(axes, 2)};
    window.input.append(axes, 5);
    Step step = Transposed(window, outputs);
    step.precision = Precision::kBf16;
    return step;
  };
  ExpectReasons({
      {conv({.input = {1, 16, 9}, .window = {3}}), kId, ""},
      {conv({.input = {1, 16, 9, 9}, .window = {3, 3}}), kId, ""},
      {conv({.input = {1, 16, 9, 9, 9}, .window = {3, 3, 3}}), kId, "3 spatial axes"},
      {WithoutConstants(conv({.input = {1, 16, 9, 9}, .window = {3, 3}})), kId, kNotConstant},
      {transposed(64, 16, 1), kId, "1 spatial axes"},
      {transposed(64, 16, 2), kId, ""},
      {transposed(64, 16, 3), kId, "3 spatial axes"},
      {WithoutConstants(transposed(64, 16, 2)), kId, kNotConstant},
      {transposed(63, 16, 2), kId, "63 input channels, fewer than 64", true},
      {transposed(64, 16, 2), kId, "", true},
      {transposed(64, 15, 2), kId, "15 output channels, fewer than a block", true},
  });
  // Taps one after the other, each in panels of outputs with pairs of input channels.
  const Choice choice = ChoiceOf(transposed(64, 40, 2), kId);
  ASSERT_TRUE(choice.kernel);
  EXPECT_EQ(choice.kernel->inputs[1]->ToString(), "bf16 cdBA8a16b2a");
}

}  // namespace
}  // namespace nnefc::runtime::fast::conv

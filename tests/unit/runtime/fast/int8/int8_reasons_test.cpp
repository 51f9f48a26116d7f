// The reasons for implementations that cannot run a convolution of quantized images, at the bounds of their
// conditions: a request that just fits has no reason.

#include "runtime/fast/factories.h"
#include "runtime/fast/simd/int8/int8_winograd_microkernel.h"
#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::int8 {
namespace {

using engine::WindowSetting;

// Quantized images, and a filter that is quantized by output.
Step QuantizedBy(Step step, int64_t outputs) {
  step.filter_scales.assign(static_cast<size_t>(outputs), 0.25F);
  return InMemory(std::move(step), Memory::kQuantized);
}
Step Int8Conv(const WindowSetting& window, int64_t outputs, float magnitude = 1000) {
  Step step = QuantizedBy(Conv(window, outputs), outputs);
  step.filter_magnitude = magnitude;
  return step;
}
Step Int8Grouped(const WindowSetting& window, int64_t groups, int64_t inputs, int64_t outputs) {
  return QuantizedBy(Grouped(window, groups, inputs, outputs), groups * outputs);
}

TEST(Int8ReasonsTest, Convolutions) {
  constexpr char kDot2[] = "int8_dot2", kDot4[] = "int8_dot4", kFew[] = "int8_few_outputs";
  const bool has_vnni = HasVnni();
  const auto of = [](int64_t channels, Shape taps, Shape strides = {}, Shape dilations = {}) {
    return Int8Conv({.input = {1, channels, 20, 20},
                     .window = std::move(taps),
                     .strides = std::move(strides),
                     .dilations = std::move(dilations)},
                    32);
  };
  const auto no_fours = [](int channels) {
    return fmt::format("{} channels, not a multiple of 4", channels);
  };
  ExpectReasons({
      {of(16, {3, 3}), kDot2, ""},
      {Int8Conv({.input = {1, 16, 20}, .window = {3}}, 32), kDot2, ""},
      {Int8Conv({.input = {1, 16, 5, 5, 5}, .window = {3, 3, 3}}, 32), kDot2, "3 spatial axes"},
      {Int8Conv({.input = {1, 4, 1, 600}, .window = {1, 513}}, 32), kDot2, ""},
      {of(8, {3, 3}), kDot4, ""},
      {of(5, {3, 3}), kDot4, no_fours(5)},
      {of(6, {3, 3}), kDot4, no_fours(6)},
      {of(7, {3, 3}), kDot4, no_fours(7)},
      {of(6, {1, 1}), kDot4, has_vnni ? "" : no_fours(6)},
      {of(7, {1, 1}), kDot4, has_vnni ? "" : no_fours(7)},
      // Taps of a row are joined for fewer than four channels.
      {of(3, {2, 3}), kDot4, has_vnni ? "" : no_fours(3)},
      {of(3, {3, 1}), kDot4, no_fours(3)},
      {of(3, {3, 3}, {}, {1, 2}), kDot4, no_fours(3)},
      {of(8, {4, 3}), kDot4, has_vnni ? "" : "12 windows see a pixel, more than 9"},
      {of(8, {4, 3}, {2, 1}), kDot4, ""},
      {Int8Conv({.input = {1, 16, 9, 9}, .window = {3, 3}}, 8), kFew, has_vnni ? "" : "no VNNI"},
      {Int8Conv({.input = {1, 16, 9, 9}, .window = {3, 3}}, 9), kFew,
       has_vnni ? "9 output channels, more than 8" : "no VNNI"},
  });
}

TEST(Int8ReasonsTest, Winograd) {
  constexpr char kId[] = "int8_winograd";
  constexpr float kTooLarge = static_cast<float>(simd::kMaxWinogradSum) / simd::kMidpoint;
  const auto of = [](int64_t channels, Shape taps, Shape strides = {}, Shape dilations = {}) {
    return Int8Conv({.input = {1, channels, 20, 20},
                     .window = std::move(taps),
                     .strides = std::move(strides),
                     .dilations = std::move(dilations)},
                    32);
  };
  const WindowSetting threes{.input = {1, 16, 20, 20}, .window = {3, 3}};
  ExpectReasons({
      {of(16, {3, 3}), kId, ""},
      {of(48, {3, 3}), kId, ""},
      {of(16, {3, 2}), kId, "filter 3x2"},
      {of(16, {2, 3}), kId, "filter 2x3"},
      {of(16, {3, 3}, {2, 1}), kId, "strides 2x1"},
      {of(16, {3, 3}, {1, 2}), kId, "strides 1x2"},
      {of(16, {3, 3}, {}, {2, 1}), kId, "dilations 2x1"},
      {of(16, {3, 3}, {}, {1, 2}), kId, "dilations 1x2"},
      {of(24, {3, 3}), kId, "24 channels, not whole blocks"},
      {Int8Conv(threes, 32, std::nextafter(kTooLarge, 0.0F)), kId, ""},
      {Int8Conv(threes, 32, kTooLarge), kId, "the sums of the filter are too large for 32 bits"},
      {Int8Conv(threes, 32, kNan), kId, "the sums of the filter are too large for 32 bits"},
  });
}

TEST(Int8ReasonsTest, Groups) {
  constexpr char kDepthwise[] = "int8_depthwise", kFours[] = "int8_depthwise_dot4",
                 kGrouped[] = "int8_grouped";
  constexpr char kOneColumn[] = "a window of a single column", kMixed[] = "mixed_depthwise";
  const WindowSetting image{.input = {1, 0, 9, 9}, .window = {3, 3}};
  ExpectReasons({
      {Int8Grouped(image, 16, 1, 1), kDepthwise, ""},
      {Int8Grouped(image, 4, 8, 8), kDepthwise, "more than one channel per group"},
      {Int8Grouped(image, 16, 1, 2), kDepthwise, "more than one channel per group"},
      {Int8Grouped(image, 16, 2, 1), kDepthwise, "more than one channel per group"},
      {Int8Grouped(image, 16, 1, 1), kGrouped, "one channel per group"},
      {Int8Grouped(image, 4, 8, 8), kGrouped, ""},
      {Int8Grouped(image, 4, 24, 24), kGrouped, ""},
      {Int8Grouped(image, 3, 20, 40), kGrouped, ""},
      {Int8Grouped(image, 4, 22, 24), kGrouped, "groups of 22 input and 24 output channels"},
      {Int8Grouped(image, 4, 24, 12), kGrouped, "groups of 24 input and 12 output channels"},
      {Int8Grouped(image, 4, 24, 25), kGrouped, "groups of 24 input and 25 output channels"},
      {Int8Grouped(image, 32, 2, 2), kGrouped, ""},
      {Int8Grouped(image, 8, 2, 6), kGrouped, ""},
      {Int8Grouped(image, 8, 3, 2), kGrouped, ""},
      {Int8Grouped(image, 8, 2, 1), kGrouped, "groups of 2 input and 1 output channels"},
      {Int8Grouped(image, 8, 1, 2), kGrouped, "groups of 1 input and 2 output channels"},
      {Int8Grouped(image, 8, 3, 16), kGrouped, "groups of 3 input and 16 output channels"},
      {Int8Grouped(image, 8, 4, 4), kGrouped, "groups of 4 input and 4 output channels"},
      {Int8Grouped({.input = {1, 0, 600, 1}, .window = {512, 1}}, 16, 1, 1), kDepthwise, ""},
      {Int8Grouped({.input = {1, 0, 600, 1}, .window = {513, 1}}, 16, 1, 1), kDepthwise,
       "513 taps, more than 512"},
      {Int8Grouped({.input = {1, 0, 40, 40}, .window = {19, 27}}, 16, 1, 1), kDepthwise,
       "513 taps, more than 512"},
      {Int8Grouped({.input = {1, 0, 5, 5, 5}, .window = {3, 3, 3}}, 16, 1, 1), kDepthwise, "3 spatial axes"},
      {Grouped(image, 16, 1, 1), kMixed, "no kernel"},
      {InMemory(Grouped(image, 16, 1, 1), Memory::kQuantized), kMixed, ""},
      {WithoutConstants(InMemory(Grouped(image, 16, 1, 1), Memory::kQuantized)), kMixed,
       "the filter is not constant"},
      {InMemory(Grouped(image, 16, 1, 2), Memory::kQuantized), kMixed,
       "groups of 1 input and 2 output channels"},
      {InMemory(Grouped(image, 16, 2, 1), Memory::kQuantized), kMixed,
       "groups of 2 input and 1 output channels"},
      {InMemory(Grouped({.input = {1, 0, 5, 5, 5}, .window = {3, 3, 3}}, 16, 1, 1), Memory::kQuantized),
       kMixed, "more than 2 spatial axes"},
      {Int8Grouped(image, 16, 1, 1), kMixed, ""},
      {Int8Grouped({.input = {1, 0, 9, 9}, .window = {1, 1}}, 16, 1, 1), kMixed, ""},
      {Int8Grouped({.input = {1, 0, 9, 9}, .window = {3, 5}}, 16, 1, 1), kMixed,
       "a window of 3 x 5 or its strides"},
      {Int8Grouped(image, 16, 1, 2), kMixed, "groups of 1 input and 2 output channels"},
  });
  if (!HasVnni()) return ExpectReasons({{Int8Grouped(image, 16, 1, 1), kFours, "needs VNNI"}});
  const auto of = [](Shape taps, Shape strides, Shape dilations) {
    return Int8Grouped({.input = {1, 0, 9, 9},
                        .window = std::move(taps),
                        .strides = std::move(strides),
                        .dilations = std::move(dilations)},
                       16, 1, 1);
  };
  ExpectReasons({
      {of({3, 3}, {}, {}), kFours, ""},
      {of({3, 2}, {}, {}), kFours, ""},
      {of({3, 1}, {}, {}), kFours, kOneColumn},
      {of({3, 3}, {}, {2, 1}), kFours, ""},
      {of({3, 3}, {}, {1, 2}), kFours, "a dilation of columns"},
      {of({3, 3}, {3, 2}, {}), kFours, ""},
      {of({3, 3}, {1, 3}, {}), kFours, "a stride of 3 columns, more than 2"},
      // An image of a single column is a row, but not with columns that are skipped or in the border.
      {Int8Grouped({.input = {1, 0, 9, 1}, .window = {3, 1}}, 16, 1, 1), kFours, ""},
      {Int8Grouped({.input = {1, 0, 9, 2}, .window = {3, 1}, .strides = {1, 2}}, 16, 1, 1), kFours,
       kOneColumn},
      {Int8Grouped({.input = {1, 0, 9, 1}, .window = {3, 1}, .end = {0, 1}}, 16, 1, 1), kFours, kOneColumn},
      {Int8Grouped({.input = {1, 0, 9, 1}, .window = {3, 1}, .strides = {1, 2}, .begin = {0, 1}}, 16, 1, 1),
       kFours, kOneColumn},
  });
}

// A Pad of quantized images by a number, or by the value of a border mode.
Step PaddedImages(const Shape& shape, const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                  float number = 0, const char* mode = "constant") {
  return {.set = "opset12",
          .type = "Pad",
          .inputs = {{shape, Memory::kQuantized},
                     Integers(begin),
                     Integers(end),
                     {.shape = {}, .constant = TensorValue::FromFloats({}, std::vector<float>{number})}},
          .attributes = With("pad_mode", mode)};
}

// A Pad of quantized images with channels of zeros at the end.
Step AddedChannels(const Shape& shape, int64_t added = 3) {
  std::vector<int64_t> begin(shape.size(), 0), end = begin;
  end[1] = added;
  return PaddedImages(shape, begin, end);
}

// An Interpolate of quantized images in the mode `nearest`, to `sizes` of `axes`.
Step Nearest(const Shape& shape, std::vector<int64_t> sizes, std::vector<int64_t> axes) {
  ir::AttributeMap attributes;
  attributes.Set("mode", "nearest");
  attributes.Set("shape_calculation_mode", "sizes");
  return {.set = "opset11",
          .type = "Interpolate",
          .inputs = {{shape, Memory::kQuantized}, Integers(std::move(sizes)), Integers(std::move(axes))},
          .attributes = attributes};
}

TEST(Int8ReasonsTest, CopiesOfImages) {
  constexpr char kId[] = "int8", kEmpty[] = "an empty image", kNotConstant[] = "an operand is not constant";
  constexpr char kOtherBorder[] = "a border other than channels of zeros at the end";
  const Step pad = AddedChannels({2, 16, 5, 6}), nearest = Nearest({2, 16, 5, 6}, {10, 9}, {2, 3});
  const auto padded = [](const std::vector<int64_t>& begin, const std::vector<int64_t>& end) {
    return PaddedImages({2, 16, 5}, begin, end);
  };
  const auto in_mode = [&](const char* mode) {
    Step step = nearest;
    step.attributes.Set("mode", mode);
    return step;
  };
  ExpectReasons({
      {pad, kId, ""},
      {AddedChannels({2, 16, 5}), kId, ""},
      {AddedChannels({2, 16, 3, 5, 6}), kId, ""},
      {AddedChannels({2, 16}), kId, "0 spatial axes"},
      {AddedChannels({2, 16, 3, 5, 6, 7}), kId, "4 spatial axes"},
      {InMemory(pad, Memory::kBlocks), kId, "the images are not quantized"},
      {Fused(pad), kId, "a fused operation"},
      {WithoutConstants(pad), kId, kNotConstant},
      {AddedChannels({2, 1, 5, 6}), kId, ""},
      {AddedChannels({2, 0, 5, 6}), kId, kEmpty},
      {AddedChannels({2, 16, 5, 6}, 0), kId, ""},
      {AddedChannels({2, 16, 5, 6}, -1), kId, kOtherBorder},
      {AddedChannels({2, 16, 5, 6}, -15), kId, kOtherBorder},
      {padded({1, 0, 0}, {0, 1, 0}), kId, kOtherBorder},
      {padded({0, 1, 0}, {0, 1, 0}), kId, kOtherBorder},
      {padded({0, 0, 1}, {0, 1, 0}), kId, kOtherBorder},
      {padded({0, -1, 0}, {0, 1, 0}), kId, kOtherBorder},
      {padded({0, 0, 0}, {1, 1, 0}), kId, kOtherBorder},
      {padded({0, 0, 0}, {0, 1, 1}), kId, kOtherBorder},
      {padded({0, 0, 0}, {0, 1, -1}), kId, kOtherBorder},
      {PaddedImages({2, 16, 5}, {0, 0, 0}, {0, 1, 0}, 1), kId, kOtherBorder},
      {PaddedImages({2, 16, 5}, {0, 0, 0}, {0, 1, 0}, -1), kId, kOtherBorder},
      {PaddedImages({2, 16, 5}, {0, 0, 0}, {0, 1, 0}, 0, "edge"), kId, kOtherBorder},
      {PaddedImages({2, 16, 5}, {0, 0, 0}, {0, 1, 0}, 0, "reflect"), kId, kOtherBorder},
      {nearest, kId, ""},
      {InMemory(nearest, Memory::kBlocks), kId, "the images are not quantized"},
      {Fused(nearest), kId, "a fused operation"},
      {WithoutConstants(nearest), kId, kNotConstant},
      {Nearest({0, 16, 5, 6}, {10, 9}, {2, 3}), kId, kEmpty},
      {Nearest({2, 16, 5, 6}, {32}, {1}), kId, "other axes than those of the pixels"},
      {Nearest({2, 16, 5, 6}, {4, 9}, {0, 3}), kId, "other axes than those of the pixels"},
      {Nearest({2, 16, 5, 6}, {12}, {3}), kId, ""},
      {in_mode("linear"), kId, "sums of pixels"},
      {in_mode("linear_onnx"), kId, "sums of pixels"},
      {in_mode("cubic"), kId, "sums of pixels"},
  });
}

TEST(Int8ReasonsTest, WithoutVectors) {
  const WindowSetting image{.input = {1, 16, 9, 9}, .window = {3, 3}};
  std::vector<VectorCase> cases;
  for (const char* id : {"int8_dot2", "int8_dot4", "int8_winograd", "int8_few_outputs"})
    cases.push_back({Int8Conv(image, 16), id});
  for (const char* id : {"int8_depthwise", "int8_depthwise_dot4", "int8_grouped"})
    cases.push_back({Int8Grouped(image, 16, 1, 1), id});
  cases.push_back({InMemory(Grouped(image, 16, 1, 1), Memory::kQuantized), "mixed_depthwise"});
  ExpectVectorsNeeded(cases);
}

// A FakeQuantize to 256 levels with one scale, of which a reader needs quantized values.
TEST(Int8ReasonsTest, Quantizations) {
  constexpr char kId[] = "quantize", kOthers[] = "not 256 levels with one scale";
  const auto quantized = [](int64_t levels, const Operand& low, bool as_codes = true) {
    const Operand high{.shape = {}, .constant = TensorValue::Scalar(255)};
    return Step{.type = "FakeQuantize",
                .inputs = {{{2, 16, 5, 6}}, low, high, low, high},
                .attributes = With("levels", levels),
                .as_codes = as_codes};
  };
  const Operand zero{.shape = {}, .constant = TensorValue::Scalar(0)};
  ExpectReasons({
      {quantized(256, zero), kId, ""},
      {quantized(256, zero, false), kId, "a reader needs f32 values"},
      {quantized(255, zero), kId, kOthers},
      {quantized(257, zero), kId, kOthers},
      {WithoutConstants(quantized(256, zero)), kId, kOthers},
      {Fused(quantized(256, zero)), kId, "a fused operation"},
  });
}

// Matmuls of two quantized tensors: matrices whose sums fit into 32 bits.
TEST(Int8ReasonsTest, TensorMatmuls) {
  constexpr char kId[] = "int8_tensors", kOthers[] = "no kernel";
  constexpr int64_t kMost = ir::ops::kMaxQuantizedTerms, kMatrices = int64_t{1} << 20;
  const auto matmul = [](Shape left, Shape right, bool is_marked = true) {
    return Step{.type = "MatMul",
                .inputs = {{std::move(left)}, {std::move(right)}},
                .has_quantized_operands = is_marked};
  };
  const auto with_vnni = [](const std::string& reason) { return HasVnni() ? reason : "needs VNNI"; };
  ExpectReasons({
      {matmul({3, 4}, {4, 5}), kId, with_vnni("")},
      {matmul({2, 3, 4}, {4, 5}), kId, with_vnni("")},
      {matmul({3, 4}, {2, 4, 5}), kId, with_vnni("")},
      {matmul({3, 4}, {4, 5}, false), kId, kOthers},
      {matmul({4}, {4, 5}), kId, kOthers},
      {matmul({3, 4}, {4}), kId, kOthers},
      {matmul({4}, {4}), kId, kOthers},
      {matmul({0, 4}, {4, 5}), kId, kNotF32.ToString()},
      {matmul({3, kMost}, {kMost, 5}), kId, with_vnni("")},
      {matmul({3, kMost + 1}, {kMost + 1, 5}), kId,
       with_vnni(fmt::format("sums of {} products exceed 32 bits", kMost + 1))},
      {matmul({kMatrices, 1, 1}, {1, 1}), kId, with_vnni("")},
      {matmul({kMatrices + 1, 1, 1}, {1, 1}), kId,
       with_vnni(fmt::format("{} matrices, more than {}", kMatrices + 1, kMatrices))},
  });
}

// Quantized rows have the same values in any shape of at most twelve axes; other layouts would be moved.
TEST(Int8ReasonsTest, ReshapedRows) {
  const Shape from = {4, 16};
  const auto layout = [&](Memory memory) { return Operand{from, memory}.Layout(); };
  const auto rows = layout(Memory::kQuantizedRows);
  for (const size_t axes : {1, 2, 11, 12, 13}) {
    Shape to(axes, 1);
    to[0] = 64;
    const auto reshaped = ReshapeQuantized(rows, from, to);
    ASSERT_EQ(reshaped.has_value(), axes <= 12) << axes;
    if (reshaped) {
      EXPECT_TRUE(tensor::SameLayout(*reshaped, Operand{to, Memory::kQuantizedRows}.Layout()));
    }
  }
  EXPECT_FALSE(ReshapeQuantized(nullptr, from, {64}));
  EXPECT_FALSE(ReshapeQuantized(layout(Memory::kRowBlocks), from, {64}));
  const Shape images = {1, 16, 2, 3};
  EXPECT_FALSE(ReshapeQuantized(Operand{images, Memory::kQuantized}.Layout(), images, {96}));
}

// Quantized values keep their scale and zero point in another layout.
TEST(Int8ReasonsTest, ReordersOfQuantizedImages) {
  if (!simd::HasSimd()) GTEST_SKIP() << "all reasons are those of the processor";
  const Shape shape = {1, 20, 3, 4};
  const auto in_order = [&](const memory::BlockedFormat& format, const memory::ValueQuantization& codes) {
    return memory::QuantizedLayout(format, codes);
  };
  const memory::BlockedFormat pixels = memory::ChannelsLastFormat(shape, memory::StorageType::kF32);
  const memory::ValueQuantization codes{.scale = 0.5F, .zero = 3};
  const auto from = in_order(pixels, codes);
  const auto made = [&](const memory::ValueQuantization& to) {
    return memory::MakeFastReorder(ElementType::kF32, shape, from,
                                   in_order(memory::RowMajorFormat(shape), to)) != nullptr;
  };
  EXPECT_TRUE(made(codes));
  EXPECT_FALSE(made({.scale = 0.25F, .zero = 3}));
  EXPECT_FALSE(made({.scale = 0.5F, .zero = 4}));
}

TEST(Int8ReasonsTest, IntegerMatmuls) {
  constexpr char kId[] = "integer";
  const auto matmul = [](Shape left, const Shape& right, bool transpose_left = false) {
    ir::AttributeMap attributes;
    attributes.Set("transpose_a", transpose_left);
    attributes.Set("transpose_b", false);
    return Step{.type = "MatMul",
                .inputs = {{.shape = std::move(left), .type = ElementType::kI32},
                           {.shape = right,
                            .constant = TensorValue::Make<int32_t>(ElementType::kI32, right,
                                                                   [](std::span<int32_t>) {}),
                            .type = ElementType::kI32}},
                .attributes = attributes};
  };
  ExpectReasons({
      {matmul({3, 4}, {4, 5}), kId, ""},
      {matmul({2, 3, 4}, {4, 5}), kId, ""},
      {matmul({4}, {4, 5}), kId, "the left operand is a vector"},
      {matmul({3, 4}, {4}), kId, "the right operand has 1 axes"},
      {matmul({2, 3, 4}, {2, 4, 5}), kId, "the right operand has 3 axes"},
      {matmul({4, 4}, {4, 5}, true), kId, "the left operand is transposed"},
      {WithoutConstants(matmul({3, 4}, {4, 5})), kId, "the right operand is not constant"},
      {Fused(matmul({3, 4}, {4, 5})), kId, "a fused operation"},
      {matmul({0, 4}, {4, 5}), kId, "an operand or the result is empty or not i32"},
  });
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8

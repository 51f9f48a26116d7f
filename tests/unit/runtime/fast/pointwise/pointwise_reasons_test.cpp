// The reasons for implementations that cannot run a pool, reduction, normalization or another operation on
// images, at the bounds of their conditions: a request that just fits has no reason.

#include "runtime/fast/pointwise/blocked_pooling.h"
#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::pointwise {
namespace {

using engine::WindowSetting;
using kernels::Precision;

// An MVN of images.
Step Mvn(std::vector<int64_t> axes, Memory memory = Memory::kBlocks) {
  ir::AttributeMap attributes;
  attributes.Set("normalize_variance", true);
  attributes.Set("eps", 1e-6);
  attributes.Set("eps_mode", "inside_sqrt");
  return {.set = "opset6",
          .type = "MVN",
          .inputs = {{{2, 16, 4, 5}, memory}, Integers(std::move(axes))},
          .attributes = attributes};
}

// A MaxPool or AvgPool.
Step Pool(const char* type, const WindowSetting& window, bool excludes_padding = false) {
  ir::AttributeMap attributes = WindowOf(window);
  attributes.Set("kernel", ir::Attribute::Integers(window.window.begin(), window.window.end()));
  const bool is_max = std::string_view(type) == "MaxPool";
  if (!is_max) attributes.Set("exclude-pad", excludes_padding);
  return {.set = is_max ? "opset8" : "opset1",
          .type = type,
          .inputs = {{window.input}},
          .attributes = attributes,
          .outputs = is_max ? 2 : 1};
}

TEST(PointwiseReasonsTest, Pools) {
  constexpr char kBlocked[] = "blocked", kInt8[] = "int8", kBf16[] = "bf16";
  constexpr char kBorder[] = "a window in the border has no quantized maximum";
  const WindowSetting threes{.input = {2, 16, 9, 9}, .window = {3, 3}};
  const auto max = [](const WindowSetting& window, Memory memory = Memory::kRows) {
    return InMemory(Pool("MaxPool", window), memory);
  };
  const auto coded = [&](Shape window, Shape strides, Shape begin, Shape end) {
    return max({.input = {2, 16, 5, 4},
                .window = std::move(window),
                .strides = std::move(strides),
                .begin = std::move(begin),
                .end = std::move(end)},
               Memory::kQuantized);
  };
  Step reads_indices = max(threes, Memory::kBlocks);
  reads_indices.reads_last_output = true;
  ExpectReasons({
      {max(threes, Memory::kBlocks), kBlocked, ""},
      {max(threes), kBlocked, ""},
      {max(threes, Memory::kChannelsLast), kBlocked, "the input is neither nChw16c nor row-major"},
      {max({.input = {2, 16, 9, 9}, .window = {9, 9}}), kBlocked, "whole images that are not nChw16c"},
      {max({.input = {2, 16, 9, 9}, .window = {9, 9}}, Memory::kBlocks), kBlocked, ""},
      {max({.input = {2, 16, 9, 9}, .window = {9, 8}}), kBlocked, ""},
      {max({.input = {2, 16, 9, 9}, .window = {8, 9}}), kBlocked, ""},
      {max({.input = {2, 16, 9, 9}, .window = {9, 9}, .begin = {1, 0}}), kBlocked, ""},
      {max({.input = {2, 4, 9, 9}, .window = {3, 3}}), kBlocked, "", true},
      {max({.input = {2, 3, 9, 9}, .window = {3, 3}}), kBlocked, "3 channels, fewer than 4", true},
      {max({.input = {2, 3, 9, 9}, .window = {3, 3}}, Memory::kBlocks), kBlocked, "", true},
      {reads_indices, "f32", "the indices of the maxima are read", true},
      {max(threes), kInt8, "the input is not quantized"},
      {coded({3, 3}, {}, {2, 2}, {2, 2}), kInt8, ""},
      {coded({3, 3}, {}, {3, 0}, {}), kInt8, kBorder},
      {coded({3, 3}, {}, {0, 3}, {}), kInt8, kBorder},
      {coded({3, 3}, {}, {}, {3, 0}), kInt8, kBorder},
      {coded({3, 3}, {}, {}, {0, 3}), kInt8, kBorder},
      {coded({2, 2}, {2, 3}, {1, 1}, {0, 1}), kInt8, ""},
      {max({.input = {2, 16, 1, 9, 9}, .window = {1, 3, 3}}, Memory::kQuantized), kInt8, ""},
      {max({.input = {2, 16, 4, 9, 9}, .window = {1, 3, 3}}, Memory::kQuantized), kInt8,
       "windows of three axes"},
      {max({.input = {2, 16, 1, 9, 9}, .window = {2, 3, 3}, .begin = {1, 0, 0}}, Memory::kQuantized), kInt8,
       "windows of three axes"},
      {max({.input = {2, 16, 2, 9, 9}, .window = {1, 3, 3}, .strides = {2, 1, 1}}, Memory::kQuantized), kInt8,
       "windows of three axes"},
      {max({.input = {2, 16, 9, 9}, .window = {3, 3}, .dilations = {2, 1}}, Memory::kQuantized), kInt8,
       "dilation 2"},
      {max({.input = {2, 16, 9, 9}, .window = {3, 3}, .dilations = {1, 3}}, Memory::kQuantized), kInt8,
       "dilation 3"},
      {max({.input = {2, 16, 9, 9}, .window = {3, 3}, .dilations = {1, 2}}, Memory::kBf16), kBf16,
       "dilation 2"},
      {max(threes, Memory::kBf16), kBf16, ""},
      {max(threes, Memory::kChannelsLast), kBf16, "the input is not bf16 NHWC"},
      {max({.input = {2, 16, 1, 9, 9}, .window = {1, 3, 3}}, Memory::kBf16), kBf16, ""},
      {max({.input = {2, 16, 4, 9, 9}, .window = {1, 3, 3}}, Memory::kBf16), kBf16, "windows of three axes"},
      {max({.input = {2, 16, 1, 9, 9}, .window = {2, 3, 3}, .begin = {1, 0, 0}}, Memory::kBf16), kBf16,
       "windows of three axes"},
      {max({.input = {2, 16, 2, 9, 9}, .window = {1, 3, 3}, .strides = {2, 1, 1}}, Memory::kBf16), kBf16,
       "windows of three axes"},
      {Pool("AvgPool", {.input = {1, 16, 70, 70}, .window = {64, 64}}), kBlocked, ""},
      {Pool("AvgPool", {.input = {1, 16, 70, 70}, .window = {64, 65}}), "f32",
       "an average of 4160 elements, more than 4096", true},
      {Pool("AvgPool", {.input = {1, 16, 5000}, .window = {4096}}), kBlocked, ""},
      {Pool("AvgPool", {.input = {1, 16, 5000}, .window = {4097}}), "f32",
       "an average of 4097 elements, more than 4096", true},
      {max({.input = {1, 16, 5000}, .window = {4097}}), kBlocked, ""},
  });
}

TEST(PointwiseReasonsTest, PoolsOfTensorsThatAreNoImages) {
  if (!simd::HasSimd()) GTEST_SKIP() << "all reasons are those of the processor";
  const auto reason = [](const Shape& shape) {
    const kernels::ValueInfo value{.type = ElementType::kF32, .shape = shape};
    return BlockedPoolingApplies({.inputs = value, .outputs = value}, PoolingKind::kMaximum, {}).ToString();
  };
  EXPECT_EQ(reason({2, 16}), "0 spatial axes");
  EXPECT_EQ(reason({2, 16, 3, 4, 5, 6}), "4 spatial axes");
}

TEST(PointwiseReasonsTest, ReductionsOfPixels) {
  constexpr char kId[] = "blocked", kOthers[] = "other axes than those of the pixels";
  for (const char* type : {"ReduceMean", "ReduceMax"}) {
    const auto reduce = [&](Shape shape, std::vector<int64_t> axes, Memory memory = Memory::kBlocks) {
      return Step{.type = type, .inputs = {{std::move(shape), memory}, Integers(std::move(axes))}};
    };
    ExpectReasons({
        {reduce({2, 16, 5}, {2}), kId, ""},
        {reduce({2, 16, 5, 6}, {2, 3}), kId, ""},
        {reduce({2, 16, 5, 6}, {-1, -2}), kId, ""},
        {reduce({2, 16, 5, 6, 7}, {4, 2, 3}), kId, ""},
        {reduce({2, 16, 5, 6}, {3}), kId, kOthers},
        {reduce({2, 16, 5, 6}, {2}), kId, kOthers},
        {reduce({2, 16, 5, 6}, {1, 2, 3}), kId, kOthers},
        {reduce({2, 16, 5, 6}, {0, 2, 3}), kId, kOthers},
        {reduce({2, 16, 5, 6}, {2, 3}, Memory::kRows), kId, "the input is row-major"},
        {reduce({2, 17}, {1}), kId, "0 spatial axes"},
        {reduce({2, 16, 3, 4, 5, 6}, {2, 3, 4, 5}), kId, "4 spatial axes"},
        {Fused(reduce({2, 16, 5, 6}, {2, 3})), kId, "a fused operation"},
        {WithoutConstants(reduce({2, 16, 5, 6}, {2, 3})), kId, "the axes are not constant"},
    });
  }
  const Step mean{.type = "ReduceMean", .inputs = {{{2, 16, 5, 6}, Memory::kQuantized}, Integers({2, 3})}};
  ExpectReasons({{mean, "int8", ""},
                 {mean, kId, "the input is quantized"},
                 {mean, "onednn", "the input is quantized"},
                 {InMemory(mean, Memory::kBlocks), "onednn", "the result has fewer axes"}});
  constexpr char kEmpty[] = "an operand is not f32, empty, or has strides";
  for (const char* type : {"ReduceMean", "ReduceMax"}) {
    const auto quantized = [&](const Shape& shape) {
      return Step{.type = type, .inputs = {{shape, Memory::kQuantized}, Integers({2, 3})}};
    };
    ExpectReasons({{quantized({2, 16, 1, 1}), "int8", ""},
                   {quantized({2, 16, 0, 6}), "int8", kEmpty},
                   {quantized({2, 16, 5, 0}), "int8", kEmpty}});
  }
}

// An Interpolate, or a Pad with a border of `number`.
Step Resized(const Shape& shape, Memory memory, int64_t begin = 0, int64_t end = 0) {
  ir::AttributeMap attributes;
  attributes.Set("mode", "nearest");
  attributes.Set("shape_calculation_mode", "sizes");
  attributes.Set("pads_begin", ir::Attribute::Integers{0, 0, 0, begin});
  attributes.Set("pads_end", ir::Attribute::Integers{0, 0, end, 0});
  return {.set = "opset11",
          .type = "Interpolate",
          .inputs = {{shape, memory}, Integers({7, 9}), Integers({2, 3})},
          .attributes = attributes};
}
Step Padded(std::vector<int64_t> begin, std::vector<int64_t> end, float number = 0,
            Shape shape = {2, 16, 5, 6}, Memory memory = Memory::kBlocks) {
  return {.set = "opset12",
          .type = "Pad",
          .inputs = {{std::move(shape), memory},
                     Integers(std::move(begin)),
                     Integers(std::move(end)),
                     {.shape = {}, .constant = TensorValue::FromFloats({}, {number})}},
          .attributes = With("pad_mode", "constant")};
}

TEST(PointwiseReasonsTest, Resampling) {
  constexpr char kId[] = "blocked", kOthers[] = "other axes than those of the pixels";
  constexpr char kNotInBlocks[] = "the images are not nChw16c";
  const auto few = [](int channels) {
    return fmt::format("{} channels fill less than 3/4 of their blocks", channels);
  };
  const auto resized = [](int64_t channels) { return Resized({2, channels, 5, 6}, Memory::kBlocks); };
  ExpectReasons({
      {Resized({2, 16, 5, 6}, Memory::kBlocks), kId, ""},
      {Resized({2, 16, 5, 6}, Memory::kBf16), kId, ""},
      {Resized({2, 16, 5, 6}, Memory::kRows), kId, kNotInBlocks},
      {Resized({2, 16, 5, 6}, Memory::kBlocks, 1, 0), kId, "padding of 1 pixels"},
      {Resized({2, 16, 5, 6}, Memory::kBlocks, 0, 2), kId, "padding of 2 pixels"},
      {resized(11), kId, few(11), true},
      {resized(12), kId, "", true},
      {resized(17), kId, few(17), true},
      {resized(23), kId, few(23), true},
      {resized(24), kId, "", true},
      {resized(48), kId, "", true},
      {Padded({0, 0, 1, 2}, {0, 0, 3, 4}), kId, ""},
      {Padded({0, 0, 1, 2}, {0, 0, 3, 4}, 1), kId, ""},
      {Padded({0, 0, 1, 2}, {0, 0, 3, 4}, 0, {2, 16, 5, 6}, Memory::kRows), kId, kNotInBlocks},
      {Padded({1, 0, 0, 0}, {0, 0, 0, 0}), kId, kOthers},
      {Padded({0, 0, 0, 0}, {1, 0, 0, 0}), kId, kOthers},
      {Padded({0, 1, 0, 0}, {0, 0, 0, 0}), kId, kOthers},
      {Padded({0, 1, 0, 0}, {0, 1, 0, 0}), kId, kOthers},
      {Padded({0, 0, 0, 0}, {0, 1, 0, 0}), kId, ""},
      {Padded({0, 0, 0, 0}, {0, 1, 0, 0}, 1), kId, kOthers},
      {Padded({0, 0, 0, 0}, {0, -1, 0, 0}), kId, kOthers},
      {Padded({0, 0, 0, 0}, {0, 0, 0, -2}, 0, {1, 1, 1, 3}), kId, ""},
      {Padded({0, 0, 0, 1, 2}, {0, 0, 0, 3, 4}, 0, {2, 16, 3, 5, 6}), kId, ""},
      {Padded({0, 0, 0, 1, 2}, {0, 0, 0, 3, 4}, 0, {2, 16, 3, 5, 6}, Memory::kBf16), kId, ""},
      {Padded({0, 0, 1}, {0, 0, 3}, 0, {2, 16, 5}, Memory::kBf16), kId, ""},
  });
}

TEST(PointwiseReasonsTest, EnlargedImages) {
  constexpr char kId[] = "enlarged", kNotLarger[] = "the images are not twice as large afterwards";
  const auto resized = [](Shape shape, const char* mode = "linear_onnx", Memory memory = Memory::kRows) {
    Step step = Resized(shape, memory);
    step.attributes.Set("mode", mode);
    return step;  // to 7 rows of 9 columns
  };
  const auto few = [](int channels) {
    return fmt::format("{} channels fill less than 3/4 of their blocks", channels);
  };
  // Images of three pixels along each axis, whose last axis is enlarged to eight.
  const auto of_rank = [](size_t rank) {
    Shape shape = {2, 16};
    shape.append(rank - 2, 3);
    ir::AttributeMap attributes;
    attributes.Set("mode", "linear");
    attributes.Set("shape_calculation_mode", "sizes");
    return Step{.set = "opset11",
                .type = "Interpolate",
                .inputs = {{shape}, Integers({8}), Integers({static_cast<int64_t>(rank) - 1})},
                .attributes = attributes};
  };
  ExpectReasons({
      {resized({2, 16, 3, 9}), kId, ""},
      {resized({2, 16, 4, 8}), kId, kNotLarger},
      {resized({1, 16, 4, 7}), kId, ""},
      {resized({2, 12, 3, 4}), kId, ""},
      {resized({2, 11, 3, 4}), kId, few(11)},
      {resized({2, 17, 3, 4}), kId, few(17)},
      {resized({2, 16, 3, 4}, "nearest"), kId, "pixels are copied"},
      {resized({2, 16, 3, 4}, "linear_onnx", Memory::kBlocks), kId, "not row-major images"},
      {of_rank(3), kId, "not row-major images"},
      {of_rank(4), kId, ""},
      {of_rank(5), kId, ""},
      {of_rank(6), kId, "not row-major images"},
  });
}

TEST(PointwiseReasonsTest, Transposes) {
  constexpr char kId[] = "channels", kOtherOrder[] = "not between nChw16c and NHWC";
  const auto transposed = [](Shape shape, std::vector<int64_t> order, Memory memory = Memory::kRows) {
    return Step{.type = "Transpose", .inputs = {{std::move(shape), memory}, Integers(std::move(order))}};
  };
  ExpectReasons({
      {transposed({2, 16, 5}, {0, 2, 1}, Memory::kBlocks), kId, ""},
      {transposed({2, 16, 5, 6}, {0, 2, 3, 1}, Memory::kBlocks), kId, ""},
      {transposed({2, 16, 5, 6, 7}, {0, 2, 3, 4, 1}, Memory::kBlocks), kId, ""},
      {transposed({2, 16, 5, 6}, {0, 2, 3, 1}), kId, "the images are not nChw16c"},
      {transposed({2, 16, 5, 6}, {0, 2, 3, 1}, Memory::kQuantizedBlocks), kId, "the images are not nChw16c"},
      {transposed({2, 16, 5, 6}, {0, 2, 3, 1}, Memory::kChannelsLast), kId, "the images are not nChw16c"},
      {transposed({2, 5, 6, 16}, {0, 3, 1, 2}), kId, ""},
      {transposed({2, 5, 6, 15}, {0, 3, 1, 2}), kId, "15 channels, fewer than a block"},
      {transposed({2, 15, 5, 6}, {0, 2, 3, 1}, Memory::kBlocks), kId, "15 channels, fewer than a block"},
      {transposed({2, 16, 5, 6}, {0, 1, 3, 2}, Memory::kBlocks), kId, kOtherOrder},
      {transposed({2, 16, 5, 6}, {2, 0, 3, 1}, Memory::kBlocks), kId, kOtherOrder},
      {transposed({2, 16}, {1, 0}), kId, "0 spatial axes"},
      {transposed({2, 2, 2, 2, 2, 2}, {0, 2, 3, 4, 5, 1}), kId, "4 spatial axes"},
      {transposed({2, 16, 5, 6}, {0, 1, 2, 3}), "plain", "the axes stay in the same order"},
      {transposed({2, 16, 5, 6}, {0, 1, 3, 2}), "plain", ""},
      {Fused(transposed({2, 16, 5, 6}, {0, 1, 3, 2})), "plain", "a fused operation"},
      {WithoutConstants(transposed({2, 16, 5, 6}, {0, 1, 3, 2})), "plain", "the order is not constant"},
  });
}

TEST(PointwiseReasonsTest, Normalizations) {
  constexpr char kLast[] = "last_axis", kRows[] = "rows", kBlocked[] = "blocked";
  constexpr char kOthers[] = "other axes than those of the pixels",
                 kNotFinite[] = "a parameter is not a finite constant";
  const auto l2 = [](std::vector<int64_t> axes, int64_t last = 16) {
    ir::AttributeMap attributes;
    attributes.Set("eps", 1e-6);
    attributes.Set("eps_mode", "add");
    return Step{.type = "NormalizeL2",
                .inputs = {{{2, 3, 4, last}}, Integers(std::move(axes))},
                .attributes = attributes};
  };
  const auto batch = [](int changed, float number, double epsilon = 1, Shape shape = {2, 2, 4, 5}) {
    std::vector<Operand> inputs = {{std::move(shape), Memory::kBlocks}};
    for (int i = 1; i < 5; ++i) inputs.push_back(Numbers({1, i == changed ? number : 1}));
    if (inputs[0].shape.size() < 3) inputs[0].memory = Memory::kRows;
    return Step{.set = "opset5",
                .type = "BatchNormInference",
                .inputs = inputs,
                .attributes = With("epsilon", epsilon)};
  };
  const auto groups = [](int64_t channels, int64_t count) {
    ir::AttributeMap attributes;
    attributes.Set("num_groups", count);
    attributes.Set("epsilon", 1e-6);
    return Step{.set = "opset12",
                .type = "GroupNormalization",
                .inputs = {{{2, channels, 3}}, ConstantZeros({channels}), ConstantZeros({channels})},
                .attributes = attributes};
  };
  ExpectReasons({
      {l2({3}), kLast, ""},
      {l2({-1}), kLast, ""},
      {l2({3}, 15), kLast, "rows of 15 elements"},
      {l2({3}, 4096), kLast, ""},
      {l2({3}, 4097), kLast, "rows of 4097 elements"},
      {l2({2}), kLast, "other axes than the last"},
      {l2({2}, 4), kLast, "other axes than the last"},
      {l2({2, 3}), kLast, "other axes than the last"},
      {l2({1, 3}), kRows, "the reduced axes are not adjacent"},
      {l2({0, 1}), kRows, ""},
      {WithoutConstants(l2({3})), kRows, "the axes are not constant"},
      {Mvn({2, 3}), kBlocked, ""},
      {Mvn({-1, -2}), kBlocked, ""},
      {Mvn({3}), kBlocked, kOthers},
      {Mvn({2}), kBlocked, kOthers},
      {Mvn({1, 2, 3}), kBlocked, kOthers},
      {Mvn({2, 3}, Memory::kRows), kBlocked, "the images are not nChw16c"},
      {Mvn({2, 3}, Memory::kQuantized), "int8", ""},
      {Mvn({1, 2, 3}, Memory::kQuantized), "int8", kOthers},
      {Mvn({3}, Memory::kQuantized), "int8", kOthers},
      {Mvn({2, 3}), "int8", "the images are not quantized"},
      {groups(6, 3), kRows, ""},
      {groups(6, 6), kRows, ""},
      {batch(0, 0), kBlocked, ""},
      {batch(0, 0, 1, {2, 2}), kBlocked, "no pixels"},
      {batch(1, kInfinity), kBlocked, kNotFinite},
      {batch(2, kNan), kBlocked, kNotFinite},
      {batch(3, -kInfinity), kBlocked, kNotFinite},
      {batch(4, kInfinity), kBlocked, kNotFinite},
      {batch(1, 0), kBlocked, ""},
      {batch(3, -5), kBlocked, ""},
      {batch(4, -0.5F), kBlocked, ""},
      {batch(4, -1), kBlocked, kNotFinite},
      {batch(4, -2), kBlocked, kNotFinite},
      {WithoutConstants(batch(0, 0)), kBlocked, kNotFinite},
      {batch(0, 0), kRows, "the input is not row-major"},
      {InMemory(batch(0, 0), Memory::kRows), kRows, ""},
  });
}

TEST(PointwiseReasonsTest, NormalizationsOfRowsOverwriteTheirInput) {
  Step batch{.set = "opset5",
             .type = "BatchNormInference",
             .inputs = {{{2, 16, 4, 5}}},
             .attributes = With("epsilon", 1e-6)};
  for (int i = 0; i < 4; ++i) batch.inputs.push_back(ConstantZeros({16}));
  const Choice choice = ChoiceOf(batch, "rows");
  ASSERT_TRUE(choice.kernel);
  EXPECT_EQ(choice.kernel->in_place, 0);
}

TEST(PointwiseReasonsTest, Elementwise) {
  constexpr char kPerChannel[] = "per_channel", kElements[] = "elementwise", kVectorised[] = "vectorised";
  constexpr char kPadding[] = "the layout has padding channels",
                 kNone[] = "no operand has one element per channel";
  const Shape image = {2, 16, 4, 5};
  const auto binary = [&](const char* type, Operand a, Operand b) {
    return Step{.type = type, .inputs = {std::move(a), std::move(b)}};
  };
  const Operand blocked{image, Memory::kBlocks}, numbers{{1, 16, 1, 1}};
  const auto unary = [](const char* type, int64_t channels, Memory memory = Memory::kBlocks) {
    return Step{.type = type, .inputs = {{{2, channels, 4, 5}, memory}}};
  };
  const auto prelu = [&](std::vector<float> slopes) {
    return Step{.type = "PReLU", .inputs = {{image, Memory::kBlocks}, Numbers(std::move(slopes))}};
  };
  ExpectReasons({
      {binary("Multiply", blocked, numbers), kPerChannel, ""},
      {binary("Multiply", numbers, blocked), kPerChannel, ""},
      {binary("Subtract", numbers, blocked), kPerChannel, ""},
      {binary("Divide", blocked, numbers), kPerChannel, ""},
      {binary("Divide", numbers, blocked), kPerChannel, "the operands are in the other order"},
      {binary("Add", blocked, {{2, 16, 1, 1}}), kPerChannel, ""},
      {binary("Add", blocked, {{2, 1, 1, 1}}), kPerChannel, kNone},
      {binary("Add", blocked, {{1, 16, 1, 5}}), kPerChannel, kNone},
      {binary("Add", blocked, {{2, 16, 4, 1}}), kPerChannel, kNone},
      {binary("Add", blocked, {{4, 1}}), kPerChannel, kNone},
      {binary("Add", {image}, numbers), kPerChannel, "the images are not nChw16c"},
      {binary("Add", {{2, 16, 1, 5}, Memory::kBlocks}, {{1, 16, 4, 1}}), kPerChannel,
       "both operands are broadcast"},
      {binary("Multiply", blocked, numbers), "int8_scale", "the result is not quantized"},
      {Quantized(binary("Multiply", blocked, numbers)), "int8_scale", "no operand is quantized"},
      {Quantized(binary("Multiply", {image, Memory::kChannelsLast}, numbers)), "int8_scale",
       "no operand is quantized"},
      {Quantized(binary("Multiply", {image, Memory::kQuantized}, numbers)), "int8_scale", ""},
      {Quantized(binary("Multiply", numbers, {image, Memory::kQuantized})), "int8_scale", ""},
      {Quantized(binary("Multiply", {image, Memory::kQuantizedBlocks}, numbers)), "int8_scale",
       "the images are not NHWC"},
      {Quantized(binary("Multiply", {image, Memory::kQuantized}, {{2, 16, 1, 1}})), "int8_scale",
       "the other operand is not of channels"},
      {binary("Add", blocked, blocked), kElements, ""},
      {binary("Add", blocked, numbers), kElements, "a broadcast operand"},
      {binary("Divide", blocked, blocked), kElements, "quotients of layout padding are NaN"},
      {binary("Add", {image, Memory::kBf16}, {image, Memory::kBf16}), kElements, "the operands are bf16"},
      {unary("Tanh", 17), kVectorised, ""},
      {unary("Sigmoid", 16), kVectorised, ""},
      {unary("Sigmoid", 17), kVectorised, kPadding},
      {unary("Sigmoid", 17, Memory::kChannelsLast), kVectorised, ""},
      {unary("Tanh", 17, Memory::kBf16), kVectorised, "the input is bf16"},
      {prelu({0.5F}), kVectorised, ""},
      {prelu(std::vector<float>(16, 0.5F)), kVectorised, "the slope is not one constant"},
      {WithoutConstants(prelu({0.5F})), kVectorised, "the slope is not one constant"},
  });
}

// A Concat.
Step Joined(std::vector<Operand> parts, int64_t axis = 1, Precision precision = Precision::kF32) {
  return {
      .type = "Concat", .inputs = std::move(parts), .attributes = With("axis", axis), .precision = precision};
}
// A Split into three parts.
Step SplitInThree(Operand whole, int64_t axis) {
  const int64_t parts = 3;
  return {.type = "Split",
          .inputs = {std::move(whole),
                     {.shape = {},
                      .constant = TensorValue::FromInts({}, std::vector<int64_t>{axis}),
                      .type = ElementType::kI64}},
          .attributes = With("num_splits", parts),
          .outputs = 3};
}

// Parts in NHWC, and row-major ones of images with two or three spatial axes, which are reordered.
TEST(PointwiseReasonsTest, JoinedQuantizedImages) {
  for (const Shape& shape :
       {Shape{2, 17, 4}, Shape{2, 17, 4, 5}, Shape{2, 17, 3, 4, 5}, Shape{2, 17, 2, 3, 4, 5}}) {
    const Operand images{shape, Memory::kQuantized}, rows{shape, Memory::kQuantizedRows};
    const bool is_reordered = shape.size() == 4 || shape.size() == 5;
    const char* const other = "the parts are not NHWC";
    ExpectReasons({{Joined({images, images}), "int8", shape.size() > 5 ? other : ""},
                   {Joined({images, rows}), "int8", is_reordered ? "" : other}});
    const Choice choice = ChoiceOf(Joined({images, rows}), "int8");
    ASSERT_EQ(choice.kernel.has_value(), is_reordered);
    if (!is_reordered) continue;
    for (size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(tensor::SameLayout(choice.kernel->inputs[i], images.Layout())) << i;
  }
}

TEST(PointwiseReasonsTest, SplitQuantizedImages) {
  const Operand images{{2, 6, 3, 3}, Memory::kQuantized}, part{{2, 2, 3, 3}, Memory::kQuantized};
  const Choice choice = ChoiceOf(SplitInThree(images, 1), "int8");
  ASSERT_TRUE(choice.kernel);
  EXPECT_TRUE(tensor::SameLayout(choice.kernel->inputs[0], images.Layout()));
  EXPECT_EQ(choice.kernel->inputs[1], nullptr);
  ASSERT_EQ(choice.kernel->outputs.size(), 3U);
  for (const tensor::Layout& layout : choice.kernel->outputs)
    EXPECT_TRUE(tensor::SameLayout(layout, part.Layout()));
}

TEST(PointwiseReasonsTest, JoinedAndSplitChannels) {
  constexpr char kChannels[] = "channels", kInt8[] = "int8";
  constexpr char kOtherAxis[] = "another axis than the channels";
  const Operand blocked{{2, 17, 4, 5}, Memory::kBlocks}, rows{{2, 3, 4, 5}};
  const Operand codes{{2, 17, 4, 5}, Memory::kQuantized};
  const Operand lines{{2, 17, 5}, Memory::kBlocks}, volumes{{2, 17, 3, 4, 5}, Memory::kBlocks};
  ExpectReasons({
      {Joined({blocked, rows}), kChannels, ""},
      {Joined({blocked, rows}, -3), kChannels, ""},
      {Joined({lines, {{2, 3, 5}}}), kChannels, ""},
      {Joined({volumes, {{2, 3, 3, 4, 5}}}), kChannels, ""},
      {Joined({{{2, 17}}, {{2, 3}}}), kChannels, "0 spatial axes"},
      {Joined({blocked, rows, rows}), kChannels, "1 of 3 images are nChw16c"},
      {Joined({blocked, rows, blocked}), kChannels, ""},
      {Joined({blocked, rows}, 1, Precision::kBf16), kChannels, "precision bf16"},
      {Joined({blocked, blocked}, 0), kChannels, kOtherAxis},
      {Joined({blocked, blocked}, 2), kChannels, kOtherAxis},
      {Joined({{{2, 16, 4, 5}, Memory::kBlocks}, {{2, 32, 4, 5}, Memory::kBlocks}}), kChannels,
       "the parts have a common layout"},
      {Joined({codes, codes}), kInt8, ""},
      {Joined({codes, codes}, 2), kInt8, kOtherAxis},
      {Joined({blocked, codes}), kInt8, "the first part is not quantized"},
      {Joined({codes, blocked}), kInt8, "the parts are not of equal quantization"},
      {Joined({blocked, blocked}), "channel_gather", "no fused Gather"},
      {Fused(Joined({blocked, blocked})), "channel_gather", "no fused Gather"},
      {Joined({codes, codes}), "int8_linear", "no fused operation"},
      {Fused(Joined({codes, codes}, 2)), "int8_linear", kOtherAxis},
      {Fused(Joined({codes, codes})), "int8_linear", "the result is not quantized"},
      {SplitInThree({{2, 6, 3, 3}, Memory::kQuantized}, 1), kInt8, ""},
      {SplitInThree({{2, 6, 3, 3}, Memory::kQuantized}, -3), kInt8, ""},
      {SplitInThree({{2, 6, 3, 3}, Memory::kQuantized}, 2), kInt8, kOtherAxis},
      {SplitInThree({{2, 6, 3, 3}, Memory::kBlocks}, 1), kInt8, "the input is not 8-bit NHWC"},
      {SplitInThree({{2, 6, 3, 3}, Memory::kChannelsLast}, 1), kInt8, "the input is not 8-bit NHWC"},
      {SplitInThree({{2, 6, 3, 3}}, 1), kInt8, "the input is not 8-bit NHWC"},
  });
}

TEST(PointwiseReasonsTest, WithoutVectors) {
  const Operand blocked{{2, 16, 4, 5}, Memory::kBlocks}, rows{{2, 3, 4, 5}};
  Step batch{.set = "opset5",
             .type = "BatchNormInference",
             .inputs = {blocked},
             .attributes = With("epsilon", 1e-6)};
  for (int i = 0; i < 4; ++i) batch.inputs.push_back(ConstantZeros({16}));
  const auto transposed = [](Operand x, std::vector<int64_t> order) {
    return Step{.type = "Transpose", .inputs = {std::move(x), Integers(std::move(order))}};
  };
  ExpectVectorsNeeded({
      {InMemory(Pool("MaxPool", {.input = {2, 16, 4, 5}, .window = {2, 2}}), Memory::kBlocks), "blocked"},
      {Padded({0, 0, 1, 2}, {0, 0, 3, 4}), "blocked"},
      {transposed(blocked, {0, 2, 3, 1}), "channels"},
      {transposed(rows, {0, 1, 3, 2}), "plain"},
      {Mvn({2, 3}), "blocked"},
      {batch, "blocked"},
      {{.type = "Multiply", .inputs = {blocked, {{1, 16, 1, 1}}}}, "per_channel"},
      {{.type = "Multiply", .inputs = {blocked, {{1, 16, 1, 1}}}}, "scaled_images"},
      {{.set = "opset4", .type = "SoftPlus", .inputs = {blocked}}, "epilogue"},
      {Joined({blocked, rows}), "channels"},
      {{.set = "opset13",
        .type = "ScaledDotProductAttention",
        .inputs = {{{2, 3, 7}}, {{2, 5, 7}}, {{2, 5, 16}}},
        .attributes = With("causal", false)},
       "tiled"},
      {{.type = "MatMul", .inputs = {{{1, 16}}, ConstantZeros({16, 32})}}, "gemm"},
      {{.type = "MatMul",
        .inputs = {{{1, 16}}, ConstantZeros({32, 16})},
        .attributes = With("transpose_b", true)},
       "gemv"},
  });
}

TEST(PointwiseReasonsTest, PrimitivesOfOneDnn) {
  constexpr char kEltwise[] = "onednn_eltwise", kPerChannel[] = "onednn_per_channel";
  ir::AttributeMap limits;
  limits.Set("min", -1.0);
  limits.Set("max", 2.0);
  const Operand rows{{2, 16, 4, 5}}, blocks{{2, 16, 4, 5}, Memory::kBlocks},
      partial{{2, 20, 4, 5}, Memory::kBlocks};
  Step batch{
      .set = "opset5", .type = "BatchNormInference", .inputs = {blocks}, .attributes = With("epsilon", 1e-6)};
  for (int i = 0; i < 4; ++i) batch.inputs.push_back(ConstantZeros({16}));
  const auto scaled = [](const Operand& images, const Shape& scale) {
    return Step{.type = "Multiply", .inputs = {images, {scale}}};
  };
  const std::string overruns = "oneDNN writes past the end of blocks that are not full";
  ExpectReasons({
      {{.type = "ReLU", .inputs = {rows}}, kEltwise, ""},
      {Fused({.type = "Abs", .inputs = {rows}}), kEltwise, "a fused operation"},
      {{.type = "ReLU", .inputs = {{{2, 3}, Memory::kRows, std::nullopt, ElementType::kF64}}},
       kEltwise,
       kNotF32.ToString()},
      {{.type = "Minimum", .inputs = {blocks, Numbers({2})}}, kEltwise, "oneDNN needs several functions"},
      {{.type = "Maximum", .inputs = {blocks, Numbers({NAN})}}, kEltwise, "oneDNN needs several functions"},
      {batch, "onednn", HasAvx512() ? "" : "oneDNN has no such kernel, or only a portable one"},
      {Fused(scaled(partial, {1})), kPerChannel, overruns},
      {Fused(scaled(partial, {1, 20, 1, 1})), kPerChannel, overruns},
  });
  // Not every processor has the kernels of these.
  EXPECT_NE(ReasonOf(scaled(partial, {1}), kPerChannel), overruns);
  EXPECT_NE(ReasonOf(Fused(scaled(blocks, {1})), kPerChannel), overruns);
  EXPECT_NE(ReasonOf({.type = "Clamp", .inputs = {blocks}, .attributes = limits}, kEltwise),
            "oneDNN needs several functions");
}

}  // namespace
}  // namespace nnefc::runtime::fast::pointwise

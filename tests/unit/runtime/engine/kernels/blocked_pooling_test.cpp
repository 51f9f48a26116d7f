// Maximum and average pooling of blocked images that a convolution writes, against the reference kernels.

#include <random>

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

constexpr char kPooling[] = "nnefc:pooling";

enum class Pool : uint8_t { kMax, kMean, kMeanOfPadding };
constexpr std::array kPools = {Pool::kMax, Pool::kMean, Pool::kMeanOfPadding};

// An empty set stands for the first one with the attributes of the tests.
ir::OutputPort PoolOf(TestGraph& g, Pool pool, ir::OutputPort x, const WindowSetting& setting,
                      const char* rounding, std::string_view set = {}) {
  ir::AttributeMap window = WindowOf(setting);
  window.Set("kernel", ir::Attribute::Integers(setting.window.begin(), setting.window.end()));
  window.Set("rounding_type", rounding);
  const bool is_max = pool == Pool::kMax;
  if (!is_max) window.Set("exclude-pad", pool == Pool::kMean);
  if (!is_max) return g.Op(set.empty() ? "opset1" : set, "AvgPool", {x}, window);
  return g.Op(set.empty() ? "opset8" : set, "MaxPool", {x}, window, 2);
}

void ExpectPool(Pool pool, const WindowSetting& setting, const char* rounding, std::string_view set,
                const TensorValue& images, const std::string& kernel = kPooling) {
  SCOPED_TRACE(Describe(setting) + " " + rounding + " pool " + std::to_string(static_cast<int>(pool)) + " " +
               std::string(set));
  TestGraph g;
  const auto x = g.Parameter("x", setting.input);
  const auto y =
      PoolOf(g, pool, InBlocks(g, x, setting.input[1], setting.window.size()), setting, rounding, set);
  g.Result(y);
  // Readers of whole blocks must not use the padding after the last channel.
  Shape next = {4, setting.input[1]};
  next.append(setting.window.size(), 1);
  g.Result(
      g.Op("Convolution", {g.Op("Sigmoid", {y}), g.Weights(next, 1)}, WindowOf({.window = setting.window})),
      "next");
  const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, {images});
  for (const int threads : {1, 2, 3}) {
    const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = threads});
    ASSERT_NE(executable, nullptr);
    if (fast::simd::HasSimd()) {
      EXPECT_NE(executable->DescribePlan().find(kernel), std::string::npos) << executable->DescribePlan();
    }
    const kernels::FaultOr<std::vector<TensorValue>> actual = Session::Create(executable)->Run({images});
    ASSERT_TRUE(actual.ok()) << (actual.ok() ? "" : actual.error().message);
    // Maxima are elements; means have the same sums.
    for (size_t i = 0; i < expected.size(); ++i)
      ExpectNear((*actual)[i], expected[i], i == 0 ? (pool == Pool::kMax ? 0 : 1e-6) : 1e-5);
  }
}

void ExpectPool(Pool pool, const WindowSetting& setting, bool ceil, const TensorValue& images,
                const std::string& kernel = kPooling) {
  ExpectPool(pool, setting, ceil ? "ceil" : "floor", {}, images, kernel);
}

TEST(BlockedPoolingTest, WindowsOfEveryKind) {
  for (const Pool pool : kPools) {
    for (int64_t width = 1; width <= 20; ++width) {
      const WindowSetting setting{
          .input = {1, 32, 5, width}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
      ExpectPool(pool, setting, false, RandomTensor(setting.input, 1));
    }
    for (const bool ceil : {false, true}) {
      for (const int64_t size : {5, 6, 13, 14, 28}) {
        const WindowSetting setting{
            .input = {2, 40, size, size}, .window = {3, 2}, .strides = {2, 3}, .end = {1, 0}};
        ExpectPool(pool, setting, ceil, RandomTensor(setting.input, 2));
      }
    }
  }
}

TEST(BlockedPoolingTest, ImagesThatComeFromMemory) {
  const WindowSetting halves{.input = {1, 64, 72, 72}, .window = {2, 2}, .strides = {2, 2}};
  const WindowSetting others{.input = {1, 64, 72, 72}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  for (const Pool pool : kPools) {
    ExpectPool(pool, halves, false, RandomTensor(halves.input, 3));
    ExpectPool(pool, others, false, RandomTensor(others.input, 4));
  }
}

// Row-major images are reordered to blocks first, except those with few channels.
TEST(BlockedPoolingTest, ImagesThatLieByRows) {
  for (const Pool pool : kPools) {
    for (const Shape& shape :
         {Shape{1, 3, 9, 14}, {2, 4, 9, 14}, {1, 20, 7, 7}, {2, 33, 40}, {1, 5, 4, 6, 7}}) {
      const size_t axes = shape.size() - 2;
      const Shape threes(axes, 3), ones(axes, 1);
      const WindowSetting setting{.input = shape, .window = threes, .begin = ones, .end = ones};
      SCOPED_TRACE(Describe(setting) + " pool " + std::to_string(static_cast<int>(pool)));
      TestGraph g;
      g.Result(PoolOf(g, pool, g.Op("Sigmoid", {g.Parameter("x", shape)}), setting, "floor"));
      const std::vector<TensorValue> images = {RandomTensor(shape, 3)};
      const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = 2});
      ASSERT_NE(executable, nullptr);
      EXPECT_EQ(fast::simd::HasSimd() && shape[1] > 3,
                executable->DescribePlan().find(kPooling) != std::string::npos);
      const kernels::FaultOr<std::vector<TensorValue>> actual = Session::Create(executable)->Run(images);
      ASSERT_TRUE(actual.ok());
      ExpectNear((*actual)[0], RunGraph(g.graph, {.backend = kernels::Backend::kReference}, images)[0], 1e-6);
    }
  }
}

TEST(BlockedPoolingTest, OneAxisAndDilations) {
  const WindowSetting row{.input = {2, 24, 40}, .window = {4}, .strides = {3}, .begin = {1}, .end = {2}};
  for (const Pool pool : kPools) ExpectPool(pool, row, true, RandomTensor(row.input, 5));
  const WindowSetting wide{.input = {1, 17, 12, 13},
                           .window = {3, 2},
                           .strides = {1, 2},
                           .dilations = {2, 5},
                           .begin = {2, 1},
                           .end = {1, 1}};
  ExpectPool(Pool::kMax, wide, false, RandomTensor(wide.input, 6));
}

// PyTorch's exporters write these sets. Its rounding excludes windows that begin in the padding at the end.
TEST(BlockedPoolingTest, LaterSets) {
  for (const Pool pool : kPools) {
    for (const char* set : {"opset14", "opset16"}) {
      const bool is_max = pool == Pool::kMax;
      if (is_max && std::string_view(set) == "opset16") continue;
      for (const char* rounding : {"floor", "ceil", "ceil_torch"}) {
        for (const int64_t size : {5, 6, 13, 14}) {
          const WindowSetting setting{.input = {2, 40, size, size},
                                      .window = {3, 2},
                                      .strides = {2, 3},
                                      .begin = {1, 1},
                                      .end = {1, 1}};
          ExpectPool(pool, setting, rounding, set, RandomTensor(setting.input, 2));
          if (!is_max && std::string_view(set) == "opset14") continue;
          WindowSetting dilated = setting;
          dilated.dilations = {2, 3};
          ExpectPool(pool, dilated, rounding, set, RandomTensor(setting.input, 3));
        }
      }
    }
  }
}

TEST(BlockedPoolingTest, MeansAndMaximaOfWholeImages) {
  for (const int64_t channels : {16, 23, 64}) {
    for (const bool keeps : {false, true}) {
      for (const char* name : {"ReduceMean", "ReduceMax"}) {
        TestGraph g;
        const auto x = g.Parameter("x", {3, channels, 7, 9});
        const auto y = InBlocks(g, x, channels, 2);
        g.Result(g.Op(name, {y, g.Ints({2, 3})}, With("keep_dims", keeps)));
        ExpectAsReference(g, {RandomTensor({3, channels, 7, 9}, 7)}, kPooling, 1e-6);
        EXPECT_EQ(Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = 1})
                      ->DescribePlan()
                      .find("reorder:"),
                  std::string::npos);
      }
    }
    const WindowSetting whole{.input = {2, channels, 6, 5}, .window = {6, 5}};
    const WindowSetting volume{.input = {2, channels, 4, 3, 5}, .window = {4, 3, 5}};
    for (const Pool pool : kPools) {
      ExpectPool(pool, whole, false, RandomTensor(whole.input, 8));
      ExpectPool(pool, volume, false, RandomTensor(volume.input, 9));
    }
  }
}

// Means over many pixels, whose sum in f32 would lose digits.
TEST(BlockedPoolingTest, MeansOfManyPixels) {
  TestGraph g;
  const Shape shape = {1, 16, 64, 64, 64};
  g.Result(g.Op("ReduceMean", {InBlocks(g, g.Parameter("x", shape), 16, 3), g.Ints({2, 3, 4})},
                With("keep_dims", false)));
  const std::vector<float> numbers(16 * 64 * 64 * 64, 0.1F);
  ExpectAsReference(g, {TensorValue::FromFloats(shape, numbers)}, kPooling, 1e-6);
}

// NaN is ignored; a window of NaN and border alone is negative infinity; infinities are kept.
TEST(BlockedPoolingTest, SpecialNumbers) {
  std::mt19937 random(1);
  for (const Pool pool : kPools) {
    const WindowSetting setting{
        .input = {1, 20, 11, 13}, .window = {3, 3}, .strides = {1, 2}, .begin = {2, 2}, .end = {2, 2}};
    std::vector<float> numbers;
    for (int64_t i = 0; i < 20 * 11 * 13; ++i) {
      constexpr float kSpecial[] = {kNan, kInfinity, -kInfinity, 0.0F, -0.0F, 1.5F};
      // A channel of NaN alone.
      const size_t index = i < 11 * 13 ? 0 : random() % 30;
      numbers.push_back(index < std::size(kSpecial) ? kSpecial[index] : static_cast<float>(index) - 15);
    }
    ExpectPool(pool, setting, false, TensorValue::FromFloats(setting.input, numbers));
  }
}

TEST(BlockedPoolingTest, WindowsThatLieWhollyInTheBorder) {
  const WindowSetting setting{.input = {1, 20, 5, 5}, .window = {2, 3}, .begin = {3, 5}, .end = {3, 4}};
  for (const Pool pool : {Pool::kMax, Pool::kMeanOfPadding})
    ExpectPool(pool, setting, false, RandomTensor(setting.input, 9));
}

// Windows that read all of a short row or column, which is shorter than the window.
TEST(BlockedPoolingTest, WindowsThatAreLongerThanTheImage) {
  for (const Pool pool : kPools) {
    for (int64_t extent = 1; extent <= 4; ++extent) {
      for (const int64_t other : {1, 3, 9}) {
        const WindowSetting wide{
            .input = {1, 20, 9, extent}, .window = {other, 9}, .begin = {0, 8}, .end = {0, 8}};
        ExpectPool(pool, wide, false, RandomTensor(wide.input, 10));
        const WindowSetting high{
            .input = {1, 20, extent, 9}, .window = {9, other}, .begin = {8, 0}, .end = {8, 0}};
        ExpectPool(pool, high, false, RandomTensor(high.input, 11));
      }
      // The number of rows of a window is that of the columns of the image.
      const WindowSetting short_rows{
          .input = {2, 17, 12, extent}, .window = {extent, 9}, .begin = {0, 8}, .end = {0, 8}};
      ExpectPool(pool, short_rows, false, RandomTensor(short_rows.input, 12));
    }
  }
}

TEST(BlockedPoolingTest, WindowsAtRandom) {
  std::mt19937 random(2);
  const auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (unsigned i = 0; i < 150; ++i) {
    const Pool pool = kPools[i % kPools.size()];
    const int axes = i < 100 ? 2 : 3;
    WindowSetting setting{.input = {draw(1, 2), draw(16, 40)}};
    for (int axis = 0; axis < axes; ++axis) {
      setting.window.push_back(draw(1, 6));
      setting.dilations.push_back(pool == Pool::kMax ? draw(1, 2) : 1);
      setting.strides.push_back(draw(1, 3));
      setting.begin.push_back(draw(0, setting.window.back() - 1));
      setting.end.push_back(draw(0, setting.window.back() - 1));
      setting.input.push_back(draw(1, axes == 2 ? 24 : 7) + setting.window.back() * setting.dilations.back());
    }
    ExpectPool(pool, setting, draw(0, 1) == 1, RandomTensor(setting.input, 100 + i));
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine

// Operations of NHWC images by oneDNN, against the formulas.

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "compiler/support/tensor/element_type.h"
#include "runtime/fast/processor.h"
#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::pointwise {
namespace {

// Runs a kernel with operands and a result in its layouts.
void RunChoice(const Choice& choice, const Step& step, const std::vector<const void*>& operands,
               const Shape& result, void* out) {
  std::vector<tensor::TensorView> views;
  std::vector<const tensor::TensorView*> inputs;
  views.reserve(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    views.emplace_back(ElementType::kF32, step.inputs[i].shape, static_cast<const std::byte*>(operands[i]));
    inputs.push_back(&views.back());
  }
  const tensor::MutableTensorView output(ElementType::kF32, result, static_cast<std::byte*>(out));
  const tensor::MutableTensorView* outputs[] = {&output};
  std::vector<std::byte> scratch(choice.kernel->scratch_bytes);
  EXPECT_TRUE(
      choice.kernel->kernel->Run({.inputs = inputs, .outputs = outputs, .scratch = scratch.data()}).ok());
}

struct Function {
  const char* name;
  std::function<float(float, float)> of;
  bool is_commutative = true;  // also where an operand is NaN
};
const Function kFunctions[] = {{"Add", std::plus<>()},
                               {"Multiply", std::multiplies<>()},
                               {"Minimum", [](float a, float b) { return std::min(a, b); }, false},
                               {"Maximum", [](float a, float b) { return std::max(a, b); }, false},
                               {"Subtract", std::minus<>(), false},
                               {"Divide", std::divides<>(), false}};

void ExpectFormula(const Function& function, const Shape& numbers, size_t image) {
  constexpr int64_t kImages = 3, kChannels = 5, kPixels = 4;
  SCOPED_TRACE(function.name + ToString(numbers));
  Step step{.type = function.name, .inputs = {{numbers}, {numbers}}};
  step.inputs[image] = {{kImages, kChannels, 2, 2}, Memory::kChannelsLast};
  const Choice choice = ChoiceOf(step, "onednn_per_channel");
  ASSERT_TRUE(choice.kernel);
  std::vector<float> x, y, expected, out(kImages * kChannels * kPixels);
  for (int64_t i = 0; i < *Volume(numbers); ++i) y.push_back(static_cast<float>(i % 7 + 1));
  for (int64_t i = 0; i < kImages * kPixels * kChannels; ++i) {
    const int64_t of_image = numbers[0] == 1 ? 0 : i / (kPixels * kChannels) * numbers[1];
    const int64_t of_channel = numbers[1] == 1 ? 0 : i % kChannels;
    x.push_back(static_cast<float>(i % 11) - 5);
    expected.push_back(function.of(x.back(), y[static_cast<size_t>(of_image + of_channel)]));
  }
  const std::vector<const void*> operands = {image == 0 ? x.data() : y.data(),
                                             image == 0 ? y.data() : x.data()};
  RunChoice(choice, step, operands, step.inputs[image].shape, out.data());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-6) << i;
}

TEST(OneDnnImagesTest, ChannelsOfEachImage) {
  if (!simd::HasSimd()) GTEST_SKIP() << "oneDNN has only a portable kernel";
  for (const Function& function : kFunctions) {
    for (const Shape& numbers : {Shape{1, 1, 1, 1}, Shape{1, 5, 1, 1}, Shape{3, 5, 1, 1}}) {
      ExpectFormula(function, numbers, 0);
      if (function.is_commutative) ExpectFormula(function, numbers, 1);
    }
  }
}

TEST(OneDnnImagesTest, LimitsOfElements) {
  if (!simd::HasSimd()) GTEST_SKIP() << "oneDNN has only a portable kernel";
  const Shape shape = {2, 5, 3, 4};
  for (const auto& [low, high] : {std::pair(-1.0F, 2.0F), {0.0F, 2.0F}, {-3.0F, -3.0F}, {-9.0F, 9.0F}}) {
    ir::AttributeMap limits;
    limits.Set("min", static_cast<double>(low));
    limits.Set("max", static_cast<double>(high));
    const Step step{.type = "Clamp", .inputs = {{shape, Memory::kChannelsLast}}, .attributes = limits};
    const Choice choice = ChoiceOf(step, "onednn_eltwise");
    ASSERT_TRUE(choice.kernel);
    EXPECT_EQ(choice.kernel->in_place, 0);
    EXPECT_TRUE(tensor::SameLayout(choice.kernel->inputs[0], step.inputs[0].Layout()));
    EXPECT_TRUE(tensor::SameLayout(choice.kernel->outputs[0], step.inputs[0].Layout()));
    std::vector<float> x, out(static_cast<size_t>(*Volume(shape)));
    for (size_t i = 0; i < out.size(); ++i) x.push_back(static_cast<float>(i % 11) - 5);
    RunChoice(choice, step, {x.data()}, shape, out.data());
    for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], std::clamp(x[i], low, high)) << i;
  }
}

// NaN and the border are left out; a window with nothing else has negative infinity.
TEST(OneDnnImagesTest, MaximaInBf16) {
  if (!HasBf16()) GTEST_SKIP() << "the processor has no bf16 instructions";
  constexpr int64_t kImages = 2, kChannels = 5, kRows = 7, kColumns = 6;
  const float lowest = BFloatToFloat(0xff7f);
  const float kinds[] = {-kInfinity, kNan, lowest, 1.5F, -2, 3, -100, kInfinity};
  engine::WindowSetting window{.input = {kImages, kChannels, kRows, kColumns},
                               .window = {2, 3},
                               .strides = {1, 2},
                               .begin = {1, 1},
                               .end = {0, 1}};
  Step step{.type = "MaxPool",
            .inputs = {{window.input, Memory::kBf16}},
            .attributes = engine::WindowOf(window),
            .precision = kernels::Precision::kBf16};
  step.attributes.Set("kernel", ir::Attribute::Integers{2, 3});
  const Choice choice = ChoiceOf(step, "onednn");
  ASSERT_TRUE(choice.kernel);
  std::vector<float> numbers;
  std::vector<uint16_t> x, out(kImages * kRows * 3 * kChannels);
  for (int64_t i = 0; i < kImages * kRows * kColumns * kChannels; ++i) {
    // Mostly negative infinities and NaN.
    numbers.push_back(kinds[i % 17 == 3 ? i / 17 % 8 : i / 4 % 2]);
    x.push_back(FloatToBFloat(numbers.back()));
  }
  RunChoice(choice, step, {x.data()}, {kImages, kChannels, kRows, 3}, out.data());
  size_t at = 0;
  for (int64_t image = 0; image < kImages; ++image) {
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t column = 0; column < 3; ++column) {
        for (int64_t channel = 0; channel < kChannels; ++channel) {
          float largest = -kInfinity;
          for (int64_t y = std::max<int64_t>(row - 1, 0); y <= row; ++y) {
            for (int64_t z = std::max<int64_t>(2 * column - 1, 0); z < std::min(2 * column + 2, kColumns);
                 ++z) {
              const int64_t place = ((image * kRows + y) * kColumns + z) * kChannels + channel;
              largest = std::max(largest, numbers[static_cast<size_t>(place)]);
            }
          }
          ASSERT_EQ(BFloatToFloat(out[at++]), largest)
              << image << " " << row << " " << column << " " << channel;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::pointwise

// Binary operations of NHWC images and numbers of their channels, by oneDNN, against the formulas.

#include <algorithm>
#include <functional>

#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::pointwise {
namespace {

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
  std::vector<tensor::TensorView> views;
  for (size_t i = 0; i < 2; ++i)
    views.emplace_back(ElementType::kF32, step.inputs[i].shape,
                       reinterpret_cast<const std::byte*>(i == image ? x.data() : y.data()));
  const tensor::MutableTensorView output(ElementType::kF32, step.inputs[image].shape,
                                         reinterpret_cast<std::byte*>(out.data()));
  std::vector<std::byte> scratch(choice.kernel->scratch_bytes);
  ASSERT_TRUE(choice.kernel->kernel
                  ->Run({.inputs = {&views[0], &views[1]}, .outputs = {&output}, .scratch = scratch.data()})
                  .ok());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-6) << i;
}

TEST(OneDnnPerChannelTest, ChannelsOfEachImage) {
  if (!simd::HasSimd()) GTEST_SKIP() << "oneDNN has only a portable kernel";
  for (const Function& function : kFunctions) {
    for (const Shape& numbers : {Shape{1, 1, 1, 1}, Shape{1, 5, 1, 1}, Shape{3, 5, 1, 1}}) {
      ExpectFormula(function, numbers, 0);
      if (function.is_commutative) ExpectFormula(function, numbers, 1);
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::pointwise

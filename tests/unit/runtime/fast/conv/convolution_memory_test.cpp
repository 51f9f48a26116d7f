// Convolutions in operands, results and scratch memory of exact size: no access beyond their ends.

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/unit/runtime/fast/reason_cases.h"
#include "tests/unit/runtime/fast/simd/guarded_array.h"

namespace nnefc::runtime::fast::conv {
namespace {

using engine::WindowSetting;
using simd::GuardedArray;
using simd::GuardedEdge;

// Runs an implementation with zeros and returns the largest magnitude of the results, which is 0.
float RunInExactMemory(const Step& step, const Shape& result, const char* id) {
  const Choice choice = ChoiceOf(step, id);
  EXPECT_TRUE(choice.kernel) << id;
  if (!choice.kernel) return 0;
  const auto floats = [](const tensor::Layout& layout, const Shape& shape) {
    return layout == nullptr ? *Volume(shape) : static_cast<int64_t>(layout->byte_size() / sizeof(float));
  };
  std::vector<GuardedArray<float>> memory;
  std::vector<tensor::TensorView> views;
  memory.reserve(step.inputs.size());
  views.reserve(step.inputs.size());
  std::vector<const tensor::TensorView*> inputs;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Shape& shape = step.inputs[i].shape;
    memory.emplace_back(floats(choice.kernel->inputs[i], shape), GuardedEdge::kEnd);
    views.emplace_back(ElementType::kF32, shape, reinterpret_cast<const std::byte*>(memory.back().data()));
    inputs.push_back(&views.back());
  }
  GuardedArray<float> out(floats(choice.kernel->outputs[0], result), GuardedEdge::kEnd, 1.0F);
  const tensor::MutableTensorView output(ElementType::kF32, result, reinterpret_cast<std::byte*>(out.data()));
  const tensor::MutableTensorView* outputs[] = {&output};
  GuardedArray<std::byte> scratch(static_cast<int64_t>(choice.kernel->scratch_bytes), GuardedEdge::kEnd);
  EXPECT_TRUE(
      choice.kernel->kernel->Run({.inputs = inputs, .outputs = outputs, .scratch = scratch.data()}).ok());
  float largest = 0;
  for (const float number : out) largest = std::max(largest, std::abs(number));
  return largest;
}

TEST(ConvolutionMemoryTest, ImplementationsStayInTheirMemory) {
  if (!simd::HasSimd()) GTEST_SKIP() << "the implementations need vectors";
  for (const int64_t channels : {16, 20, 33}) {
    const WindowSetting threes{
        .input = {2, channels, 9, 20}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
    for (const int64_t outputs : {3, 5})
      EXPECT_EQ(RunInExactMemory(InMemory(Conv(threes, outputs), Memory::kBlocks), {2, outputs, 9, 20},
                                 "few_outputs"),
                0);
    for (const int64_t outputs : {16, 33}) {
      EXPECT_EQ(RunInExactMemory(Conv(threes, outputs), {2, outputs, 9, 20}, "direct"), 0);
      EXPECT_EQ(RunInExactMemory(Conv(threes, outputs), {2, outputs, 9, 20}, "winograd"), 0);
    }
    for (const char* id : {"depthwise", "depthwise_rows"})
      EXPECT_EQ(RunInExactMemory(Grouped(threes, channels, 1, 1), {2, channels, 9, 20}, id), 0);
  }
  const WindowSetting groups{.input = {2, 0, 9, 20}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  EXPECT_EQ(RunInExactMemory(Grouped(groups, 4, 8, 8), {2, 32, 9, 20}, "grouped"), 0);
  const WindowSetting whole_blocks{.input = {1, 32, 12, 5}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  EXPECT_EQ(RunInExactMemory(Conv(whole_blocks, 33), {1, 33, 12, 5}, "im2col"), 0);
}

}  // namespace
}  // namespace nnefc::runtime::fast::conv

// Runs implementations in operands, results and scratch memory of exact size.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/unit/runtime/fast/reason_cases.h"
#include "tests/unit/runtime/fast/simd/guarded_array.h"

namespace nnefc::runtime::fast {

// Runs an implementation with zeros and returns the largest magnitude of the results, which is 0.
inline float RunInExactMemory(const Step& step, const Shape& result, const char* id) {
  const Choice choice = ChoiceOf(step, id);
  EXPECT_TRUE(choice.kernel) << id;
  if (!choice.kernel) return 0;
  const auto bytes = [](const tensor::Layout& layout, const Shape& shape) {
    return layout == nullptr ? *Volume(shape) * int64_t{sizeof(float)}
                             : static_cast<int64_t>(layout->byte_size());
  };
  std::vector<simd::GuardedArray<std::byte>> memory;
  std::vector<tensor::TensorView> views;
  memory.reserve(step.inputs.size());
  views.reserve(step.inputs.size());
  std::vector<const tensor::TensorView*> inputs;
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const Shape& shape = step.inputs[i].shape;
    memory.emplace_back(bytes(choice.kernel->inputs[i], shape), simd::GuardedEdge::kEnd);
    views.emplace_back(step.inputs[i].type, shape, memory.back().data());
    inputs.push_back(&views.back());
  }
  simd::GuardedArray<float> out(
      bytes(choice.kernel->outputs[0], result) / static_cast<int64_t>(sizeof(float)), simd::GuardedEdge::kEnd,
      1.0F);
  const tensor::MutableTensorView output(step.inputs[0].type, result,
                                         reinterpret_cast<std::byte*>(out.data()));
  const tensor::MutableTensorView* outputs[] = {&output};
  simd::GuardedArray<std::byte> scratch(static_cast<int64_t>(choice.kernel->scratch_bytes),
                                        simd::GuardedEdge::kEnd);
  EXPECT_TRUE(
      choice.kernel->kernel->Run({.inputs = inputs, .outputs = outputs, .scratch = scratch.data()}).ok());
  float largest = 0;
  for (const float number : out) largest = std::max(largest, std::abs(number));
  return largest;
}

}  // namespace nnefc::runtime::fast

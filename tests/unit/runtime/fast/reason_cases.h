// Helpers of the tests of reasons: the reason that a profile shows for an implementation that cannot run a
// step.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "fmt/core.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/register.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/onednn/register.h"
#include "runtime/tensor/thread_team.h"
#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::fast {

enum class Memory : uint8_t {
  kRows,
  kRowsApart,  // with as many other elements after each row
  kBlocks,
  kHalfBlocks,  // of eight channels
  kChannelsLast,
  kRowBlocks,
  kSpacedRows,  // with a gap after each matrix
  kQuantized,
  kQuantizedBlocks,
  kQuantizedRows,
  kBf16
};

// An operand: a constant of zeros or of given numbers, or data in a layout.
struct Operand {
  Shape shape;
  Memory memory = Memory::kRows;
  std::optional<TensorValue> constant = std::nullopt;
  ElementType type = ElementType::kF32;

  tensor::Layout Layout() const {
    switch (memory) {
      case Memory::kRows:
        break;
      case Memory::kRowsApart: {
        tensor::ElementsView view{.shape = shape, .strides = tensor::DenseStrides(shape)};
        for (size_t axis = 0; axis + 1 < shape.size(); ++axis) view.strides[axis] *= 2;
        return tensor::LayoutOf(view, sizeof(float));
      }
      case Memory::kBlocks:
        return memory::LayoutOf(memory::ChannelBlockedFormat(shape));
      case Memory::kHalfBlocks:
        return memory::LayoutOf(memory::AxisBlockedFormat(shape, 1, 8));
      case Memory::kSpacedRows: {
        const auto format = memory::RowMajorFormat(shape);
        tensor::Strides strides(format.strides.begin(), format.strides.begin() + format.rank);
        strides[0] += 16;
        return std::make_shared<tensor::StridedLayout>(
            strides, format.byte_size() + static_cast<size_t>(64 * shape[0]));
      }
      case Memory::kChannelsLast:
        return memory::LayoutOf(memory::ChannelsLastFormat(shape, memory::StorageType::kF32));
      case Memory::kRowBlocks:
        return memory::LayoutOf(memory::AxisBlockedFormat(shape, 0, 16));
      case Memory::kQuantized:
        return memory::QuantizedLayout(memory::ChannelsLastFormat(shape, memory::StorageType::kF32),
                                       {.scale = 0.5F, .zero = 3});
      case Memory::kQuantizedBlocks:
        return memory::QuantizedLayout(memory::ChannelBlockedFormat(shape), {.scale = 0.5F, .zero = 3});
      case Memory::kQuantizedRows:
        return memory::QuantizedLayout(memory::RowMajorFormat(shape), {.scale = 0.5F, .zero = 3});
      case Memory::kBf16:
        return memory::LayoutOf(memory::ChannelsLastFormat(shape, memory::StorageType::kBf16));
    }
    return nullptr;
  }
};

inline Operand ConstantZeros(const Shape& shape) {
  return {.shape = shape,
          .constant = TensorValue::Make<float>(ElementType::kF32, shape, [](std::span<float>) {})};
}
inline Operand Numbers(std::vector<float> numbers) {
  const Shape shape = {static_cast<int64_t>(numbers.size())};
  return {.shape = shape, .constant = TensorValue::FromFloats(shape, numbers)};
}
inline Operand Integers(std::vector<int64_t> numbers) {
  const Shape shape = {static_cast<int64_t>(numbers.size())};
  return {.shape = shape, .constant = TensorValue::FromInts(shape, numbers), .type = ElementType::kI64};
}

// A step with one node.
struct Step {
  const char* set = "opset1";
  const char* type;
  std::vector<Operand> inputs;
  ir::AttributeMap attributes = {};
  int outputs = 1;
  bool reads_last_output = false;
  kernels::Precision precision = kernels::Precision::kF32;
  bool has_constants = true;
  const char* function = nullptr;         // a function of the result that is fused
  bool is_result_quantized = false;       // by a FakeQuantize that is fused
  std::vector<float> filter_scales = {};  // of a quantized filter
  float filter_magnitude = 1000;
  bool has_quantized_operands = false;  // of a matmul of tensors
  bool as_codes = false;                // the result is read as quantized values
};

// The kernel of a step, if any, and the implementations that were not chosen.
struct Choice {
  bool has_factory = true;
  std::optional<kernels::PreparedKernel> kernel = std::nullopt;
  std::vector<kernels::RejectedImplementation> rejected = {};
};

// Chooses the implementation `id` for a step; the one with the lowest cost if it is empty.
inline Choice ChoiceOf(const Step& step, std::string_view id) {
  static const kernels::KernelRegistry kRegistry = [] {
    kernels::KernelRegistry made;
    RegisterFastKernels(made, onednn::OneDnnExtension());
    return made;
  }();
  const tensor::ThreadScope scope(1);
  TestGraph g;
  std::vector<ir::OutputPort> ports;
  llvm::SmallVector<kernels::ValueInfo, 8> inputs;
  for (const Operand& operand : step.inputs) {
    ports.push_back(operand.constant ? g.Const(*operand.constant)
                                     : g.Parameter("x", operand.shape, operand.type));
    inputs.push_back({.type = operand.type,
                      .shape = operand.shape,
                      .layout = operand.Layout(),
                      .constant = operand.constant && step.has_constants ? &*operand.constant : nullptr});
  }
  const ir::OutputPort result = g.Op(step.set, step.type, ports, step.attributes, step.outputs);
  if (step.reads_last_output) g.Result({result.node, step.outputs - 1});
  if (step.has_quantized_operands)
    ir::ops::MarkQuantizedOperands(*g.graph, result.node,
                                   {.left = {.scale = 0.5F, .zero = 3}, .right = {.scale = 0.5F, .zero = 3}});
  const ir::Node& node = g.graph->node(result.node);
  llvm::SmallVector<kernels::ValueInfo, 2> outputs;
  llvm::SmallVector<kernels::PostOperation, 1> posts;
  if (step.function != nullptr) posts.push_back({.node = &g.graph->node(g.Op(step.function, {result}).node)});
  const std::array<TensorValue, 2> limits = {TensorValue::FromFloats({}, {0}),
                                             TensorValue::FromFloats({}, {255})};
  if (step.is_result_quantized) {
    std::vector<ir::OutputPort> quantized = {result};
    posts.push_back({.first_operand = static_cast<int>(inputs.size())});
    for (const size_t end : {0, 1, 0, 1}) {
      quantized.push_back(g.Const(limits[end]));
      inputs.push_back({.type = ElementType::kF32, .constant = &limits[end]});
    }
    posts.back().node = &g.graph->node(g.Op("FakeQuantize", quantized, With("levels", int64_t{256})).node);
  }
  for (int32_t i = 0; i < step.outputs; ++i)
    outputs.push_back({.type = node.output(i).type, .shape = node.output(i).shape.known_extents()});
  const kernels::KernelFactory* factory = kRegistry.Find(kernels::Backend::kFast, step.set, step.type);
  if (factory == nullptr) return {.has_factory = false};
  Choice choice;
  choice.kernel = (*factory)({.node = &node,
                              .posts = posts,
                              .inputs = inputs,
                              .outputs = outputs,
                              .precision = step.precision,
                              .as_codes = step.as_codes,
                              .filter_scales = step.filter_scales,
                              .filter_magnitude = step.filter_magnitude,
                              .way = id,
                              .rejected = &choice.rejected});
  return choice;
}

// Returns the reason for an implementation, or for a table without a suitable one; empty if it can run the
// step. By default, costs are no reasons.
inline std::string ReasonOf(const Step& step, const std::string& id, bool by_cost = false) {
  const Choice choice = ChoiceOf(step, by_cost ? std::string_view() : std::string_view(id));
  if (!choice.has_factory) return "no factory";
  for (const kernels::RejectedImplementation& other : choice.rejected) {
    if (other.id == id) return other.reason.ToString();
  }
  return !by_cost && !choice.kernel ? "no kernel" : "";
}

inline Step WithoutConstants(Step step) {
  step.has_constants = false;
  return step;
}
inline Step Fused(Step step) {
  step.function = "ReLU";
  return step;
}
inline Step Quantized(Step step) {
  step.is_result_quantized = step.as_codes = true;
  return step;
}
inline Step InMemory(Step step, Memory memory) {
  step.inputs[0].memory = memory;
  return step;
}

// The reason of a step for an implementation.
struct ReasonCase {
  Step step;
  const char* id;
  std::string reason;  // empty: the implementation can run the step
  bool by_cost = false;
};

inline void ExpectReasons(const std::vector<ReasonCase>& cases) {
  if (!simd::HasSimd()) GTEST_SKIP() << "all reasons are those of the processor";
  for (size_t i = 0; i < cases.size(); ++i) {
    const ReasonCase& each = cases[i];
    std::string shapes;
    for (const Operand& operand : each.step.inputs) shapes += " " + ToString(operand.shape);
    EXPECT_EQ(ReasonOf(each.step, each.id, each.by_cost), each.reason)
        << "case " << i << ": " << each.step.type << shapes << ", " << each.id;
  }
}

// Expects that implementations need vectors, in a process without them.
struct VectorCase {
  Step step;
  const char* id;
};
inline void ExpectVectorsNeeded(const std::vector<VectorCase>& cases) {
  if (simd::HasSimd()) GTEST_SKIP() << "for ONEDNN_MAX_CPU_ISA=SSE41";
  for (const VectorCase& each : cases)
    EXPECT_EQ(ReasonOf(each.step, each.id), kNeedsSimd.ToString()) << each.step.type << ", " << each.id;
}

// A Convolution to `outputs` channels with a constant filter.
inline Step Conv(const engine::WindowSetting& window, int64_t outputs,
                 kernels::Precision precision = kernels::Precision::kF32) {
  Shape filter = {outputs, window.input[1]};
  filter.append(window.window.begin(), window.window.end());
  return {.type = "Convolution",
          .inputs = {{window.input}, ConstantZeros(filter)},
          .attributes = WindowOf(window),
          .precision = precision};
}

// A GroupConvolution; `input[1]` is ignored.
inline Step Grouped(engine::WindowSetting window, int64_t groups, int64_t inputs, int64_t outputs) {
  window.input[1] = groups * inputs;
  Shape filter = {groups, outputs, inputs};
  filter.append(window.window.begin(), window.window.end());
  return {.type = "GroupConvolution",
          .inputs = {{window.input}, ConstantZeros(filter)},
          .attributes = WindowOf(window)};
}

}  // namespace nnefc::runtime::fast

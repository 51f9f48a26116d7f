// The epilogue of a matmul: post-ops on tiles of the result.

#include "runtime/fast/gemm/epilogue.h"

#include <algorithm>
#include <cmath>

#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::gemm {

using simd::EpilogueFunction;

namespace {

std::optional<EpilogueFunction> FunctionOfTwo(const ir::Node& node) {
  switch (node.info().function) {
    case ir::ElementFunction::kAdd:
      return EpilogueFunction::kAdd;
    case ir::ElementFunction::kMultiply:
      return EpilogueFunction::kMultiply;
    case ir::ElementFunction::kPRelu:
      return EpilogueFunction::kPRelu;
    default:
      return std::nullopt;
  }
}

}  // namespace

kernels::OrReason<Epilogue> Epilogue::Make(const kernels::KernelRequest& request,
                                           llvm::ArrayRef<kernels::PostOperation> posts,
                                           int64_t channel_axis) {
  Epilogue steps;
  for (size_t i = 0; i < posts.size(); ++i) {
    if (!steps.Add(request, posts[i], channel_axis))
      return kernels::Reason("fused operation {} has no epilogue", static_cast<int64_t>(i) + 1);
  }
  for (const Step& step : steps.rest_) {
    if (step.operand >= 0)
      (step.of_columns ? steps.column_inputs_ : steps.element_inputs_).push_back(step.operand);
  }
  steps.TakeFirstSteps();
  return steps;
}

void Epilogue::TakeFirstSteps() {
  auto next = rest_.begin();
  const auto is = [&](EpilogueFunction function) {
    return next != rest_.end() && next->function == function;
  };
  if (is(EpilogueFunction::kAdd) && next->of_columns) bias_ = next++->operand;
  if (is(EpilogueFunction::kAdd) && !next->of_columns) start_ = next++->operand;
  // An upper limit of NaN remains a function: kernels have no instance for it (DispatchLimits).
  if (is(EpilogueFunction::kUpperBound) && !std::isnan(next->alpha)) {
    limits_.has_max = true;
    limits_.max = next++->alpha;
  }
  if (is(EpilogueFunction::kLowerBound)) {
    limits_.has_min = true;
    limits_.min = next++->alpha;
  }
  rest_.erase(rest_.begin(), next);
}

std::optional<Epilogue::Step> Epilogue::StepOf(const ChainedFunction& function) {
  const float number = function.number.value_or(0);
  switch (function.kind) {
    case FunctionKind::kLinear:
      return Step{.function = EpilogueFunction::kLinear, .alpha = function.alpha, .beta = function.beta};
    case FunctionKind::kRelu:
      return Step{.function = function.alpha == 0 ? EpilogueFunction::kLowerBound : EpilogueFunction::kRelu,
                  .alpha = function.alpha};
    case FunctionKind::kAdd:
      return Step{.function = EpilogueFunction::kLinear, .alpha = 1, .beta = number};
    case FunctionKind::kMultiply:  // adding -0.0 preserves the sign of a zero
      return Step{.function = EpilogueFunction::kLinear, .alpha = number, .beta = -0.0f};
    case FunctionKind::kMaximum:
      return Step{.function = EpilogueFunction::kLowerBound, .alpha = number};
    case FunctionKind::kMinimum:
      return Step{.function = EpilogueFunction::kUpperBound, .alpha = number};
    case FunctionKind::kClip:  // the other limit is infinite
      return Step{.function = EpilogueFunction::kLowerBound, .alpha = function.alpha};
    case FunctionKind::kSigmoid:
      return Step{.function = EpilogueFunction::kSigmoid};
    case FunctionKind::kSwish:
      return Step{.function = EpilogueFunction::kSwish, .alpha = function.alpha};
    case FunctionKind::kHSwish:
      return Step{.function = EpilogueFunction::kHSwish};
    case FunctionKind::kGelu:
      return Step{.function = EpilogueFunction::kGelu};
    case FunctionKind::kGeluTanh:
      return Step{.function = EpilogueFunction::kGeluTanh};
    case FunctionKind::kTanh:
      return Step{.function = EpilogueFunction::kTanh};
    case FunctionKind::kElu:
      return Step{.function = EpilogueFunction::kElu, .alpha = function.alpha};
    case FunctionKind::kMish:
      return Step{.function = EpilogueFunction::kMish};
    case FunctionKind::kSoftPlus:
      return Step{.function = EpilogueFunction::kSoftPlus};
    default:
      return std::nullopt;
  }
}

bool Epilogue::Add(const kernels::KernelRequest& request, const kernels::PostOperation& post,
                   int64_t channel_axis) {
  const size_t operands = static_cast<size_t>(post.node->num_inputs()) - 1;
  const auto first = static_cast<size_t>(post.first_operand);
  FunctionChain functions;  // for this operation alone
  if (functions.Append(*post.node, post.chained_input, request.inputs.slice(first, operands))) {
    for (const ChainedFunction& function : functions.functions()) {
      const std::optional<Step> step = StepOf(function);
      if (!step) return false;
      rest_.push_back(*step);
    }
    return true;
  }
  const std::optional<EpilogueFunction> function = FunctionOfTwo(*post.node);
  if (operands != 1 || !function || (*function == EpilogueFunction::kPRelu && post.chained_input != 0))
    return false;
  const OperandShape shape =
      ClassifyOperand(*post.node, request.inputs[first].shape, request.outputs[0].shape, channel_axis);
  const bool of_columns = shape == OperandShape::kPerChannel;
  if (!of_columns && shape != OperandShape::kFull) return false;
  rest_.push_back({.function = *function, .operand = post.first_operand, .of_columns = of_columns});
  return true;
}

bool Epilogue::takes_operands() const {
  return llvm::any_of(rest_, [](const Step& step) { return step.operand >= 0; });
}

std::optional<Epilogue::Activation> Epilogue::activation() const {
  Activation activation;
  llvm::ArrayRef<Step> steps = rest_;
  if (llvm::any_of(steps, [](const Step& step) { return step.operand >= 0 && !step.of_columns; }))
    return std::nullopt;
  const auto take_last = [&](EpilogueFunction function) {
    if (steps.empty() || steps.back().function != function) return -1;
    const int operand = steps.back().operand;
    steps = steps.drop_back();
    return operand;
  };
  activation.offset = take_last(EpilogueFunction::kAdd);
  activation.factor = take_last(EpilogueFunction::kMultiply);
  if (steps.size() > 1) return std::nullopt;
  if (!steps.empty()) {
    const Step& step = steps.front();
    activation.function = step.function;
    activation.alpha = step.alpha;
    activation.beta = step.beta;
    activation.operand = step.operand;
  }
  return activation;
}

int64_t Epilogue::column_floats(int64_t columns) const {
  return static_cast<int64_t>(column_inputs_.size()) * tensor::RoundUp(columns, simd::kTileColumns);
}

Epilogue::Operands Epilogue::OperandsOf(const kernels::KernelRun& run, int64_t columns,
                                        float* scratch) const {
  const auto floats = [&](int input) {
    return reinterpret_cast<const float*>(run.input(static_cast<size_t>(input)).bytes());
  };
  Operands operands;
  operands.columns.resize(run.inputs.size());
  operands.elements.resize(run.inputs.size());
  for (int input : column_inputs_) {
    std::copy_n(floats(input), columns, scratch);
    std::fill(scratch + columns, scratch + tensor::RoundUp(columns, simd::kTileColumns), 0.0f);
    operands.columns[static_cast<size_t>(input)] = scratch;
    scratch += tensor::RoundUp(columns, simd::kTileColumns);
  }
  for (int input : element_inputs_) operands.elements[static_cast<size_t>(input)] = floats(input);
  return operands;
}

bool Epilogue::KeepsZero() const {
  return rest_.empty() && limits_.Of(0) == 0;
}

void Epilogue::Finish(const Tile& tile, int64_t columns, const Operands& operands) const {
  for (const Step& step : rest_) Apply(step, tile, operands);
  const int64_t zeros = tile.column + tile.blocks * simd::kBlockColumns - columns;
  if (zeros <= 0 || KeepsZero()) return;
  for (int64_t row = 0; row < tile.rows; ++row)
    std::fill_n(tile.out.At(row, tile.blocks - 1) + simd::kBlockColumns - zeros, zeros, 0.0f);
}

void Epilogue::Apply(const Step& step, const Tile& tile, const Operands& operands) {
  simd::EpilogueTile call{
      .out = tile.out, .rows = tile.rows, .blocks = tile.blocks, .alpha = step.alpha, .beta = step.beta};
  call.operand = {tile.out.data, tile.out.row_stride, tile.out.block_stride};
  const auto operand = static_cast<size_t>(step.operand);
  if (step.of_columns) {
    call.operand = {operands.columns[operand] + tile.column, 0, simd::kBlockColumns};
  } else if (step.operand >= 0) {
    call.operand.data = operands.elements[operand] + tile.offset;
  }
  simd::ApplyEpilogue(step.function, call);
}

ConvolutionCall ConvolutionCall::Of(const kernels::KernelRun& run, const Epilogue& steps, int64_t channels) {
  return {.in = reinterpret_cast<const float*>(run.input(0).bytes()),
          .weights = reinterpret_cast<const float*>(run.input(1).bytes()),
          .out = reinterpret_cast<float*>(run.output().mutable_bytes()),
          .operands = steps.OperandsOf(run, channels, reinterpret_cast<float*>(run.scratch))};
}

kernels::PreparedKernel PrepareConvolution(const kernels::KernelRequest& request, const Epilogue& steps,
                                           int64_t channels, const tensor::Layout& filter) {
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = memory::LayoutOf(memory::ChannelBlockedFormat(request.inputs[0].shape));
  prepared.inputs[1] = filter;
  prepared.outputs.push_back(memory::LayoutOf(memory::ChannelBlockedFormat(request.outputs[0].shape)));
  for (int input : steps.element_inputs()) prepared.inputs[static_cast<size_t>(input)] = prepared.outputs[0];
  prepared.scratch_bytes = static_cast<size_t>(steps.column_floats(channels)) * sizeof(float);
  return prepared;
}

}  // namespace nnefc::runtime::fast::gemm

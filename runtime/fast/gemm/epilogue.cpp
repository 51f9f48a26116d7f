// The epilogue of a matmul: post-ops on tiles of the result.

#include "runtime/fast/gemm/epilogue.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
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

ColumnLevels::ColumnLevels(const AxisLimits& limits, int64_t columns) {
  constexpr float kWhole = 1e-4F;
  for (int64_t column = 0; column < columns; ++column) {
    const simd::FakeQuantizeLevels levels = limits.LevelsOf(static_cast<size_t>(column));
    const float factor = levels.steps / (levels.high - levels.low),
                unit = (levels.last - levels.first) / levels.steps;
    float offset = -levels.low * factor, first = levels.first;
    const float zero = std::nearbyint(offset);
    if (std::abs(offset - zero) < kWhole && std::abs(first + zero * unit) < kWhole * std::abs(unit)) {
      // 0 is a level and stays 0. An odd offset sends ties to the same levels as the formula.
      const bool is_odd = std::fmod(zero, 2.0F) != 0;
      offset = is_odd ? 1.0F : 0.0F;
      first = is_odd ? -unit : 0.0F;
    }
    low_.push_back(levels.low);
    high_.push_back(levels.high);
    factor_.push_back(factor);
    offset_.push_back(offset);
    unit_.push_back(unit);
    first_.push_back(first);
  }
  for (std::vector<float>* numbers : {&low_, &high_, &factor_, &offset_, &unit_, &first_})
    numbers->resize(static_cast<size_t>(tensor::RoundUp(columns, simd::kTileColumns)));
}

void ColumnLevels::LimitBelow(float least) {
  for (float& low : low_) low = std::max(low, least);
  replaces_nan_ = true;
}

simd::LevelColumns ColumnLevels::From(int64_t column) const {
  return {.low = low_.data() + column,
          .high = high_.data() + column,
          .factor = factor_.data() + column,
          .offset = offset_.data() + column,
          .unit = unit_.data() + column,
          .first = first_.data() + column,
          .replaces_nan = replaces_nan_,
          .adds_operand = adds_operand_};
}

std::optional<AxisLimits> FakeQuantizeLimits(const ir::Node& node, llvm::ArrayRef<kernels::ValueInfo> limits,
                                             llvm::ArrayRef<int64_t> result, int64_t channel_axis) {
  if (node.info().quantizer != ir::Quantizer::kFakeQuantize) return std::nullopt;
  const kernels::OrReason<AxisLimits> found = AxisLimitsOf(node, limits, result);
  if (!found || (!found->has_one_range() && found->axis != channel_axis)) return std::nullopt;
  const int64_t count = found->has_one_range() ? 1 : result[static_cast<size_t>(channel_axis)];
  for (int64_t index = 0; index < count; ++index) {
    const simd::FakeQuantizeLevels levels = found->LevelsOf(static_cast<size_t>(index));
    if (levels.low == levels.high) return std::nullopt;
  }
  return *found;
}

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
  FuseBeforeLevels();
  keeps_zero_ = KeepsZero();
}

void Epilogue::FuseBeforeLevels() {
  std::vector<Step> fused;
  for (Step& step : rest_) {
    const auto follows = [&](EpilogueFunction function) {
      return step.levels != nullptr && !fused.empty() && fused.back().levels == nullptr &&
             fused.back().function == function;
    };
    if (follows(EpilogueFunction::kLowerBound) && !std::isnan(fused.back().alpha)) {
      step.levels->LimitBelow(fused.back().alpha);
      fused.pop_back();
    }
    if (follows(EpilogueFunction::kAdd)) {
      step.levels->AddOperand();
      step.operand = fused.back().operand;
      step.of_columns = fused.back().of_columns;
      fused.pop_back();
    }
    fused.push_back(step);
  }
  rest_ = std::move(fused);
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
  // In bf16, a separate step after a product in bf16 is faster.
  const bool has_levels =
      !ir::ops::HasQuantizedResult(*post.node) && request.precision != kernels::Precision::kBf16;
  if (has_levels && post.chained_input == 0) {
    const Shape& result = request.outputs[0].shape;
    const std::optional<AxisLimits> limits =
        FakeQuantizeLimits(*post.node, request.inputs.slice(first, operands), result, channel_axis);
    if (limits) {
      const int64_t columns = channel_axis < 0 ? 1 : result[static_cast<size_t>(channel_axis)];
      rest_.push_back({.function = EpilogueFunction::kLinear,
                       .levels = std::make_shared<ColumnLevels>(*limits, columns)});
      return true;
    }
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
  return llvm::any_of(rest_, [](const Step& step) { return step.operand >= 0 || step.levels != nullptr; });
}

std::optional<Epilogue::AffineStep> Epilogue::AffineOf(const Step& step) {
  switch (step.function) {
    case EpilogueFunction::kLinear:
      if (!std::isfinite(step.alpha) || !std::isfinite(step.beta)) return std::nullopt;
      return AffineStep{.alpha = step.alpha, .beta = step.beta};
    case EpilogueFunction::kMultiply:
      return AffineStep{.factor = step.operand};
    case EpilogueFunction::kAdd:
      return AffineStep{.offset = step.operand};
    default:
      return std::nullopt;
  }
}

std::optional<Epilogue::Activation> Epilogue::activation() const {
  Activation activation;
  for (const Step& step : rest_) {
    if ((step.operand >= 0 && !step.of_columns) || step.levels != nullptr) return std::nullopt;
    if (const std::optional<AffineStep> affine = AffineOf(step)) {
      activation.affine.push_back(*affine);
      continue;
    }
    if (&step != rest_.data()) return std::nullopt;
    activation.function = step.function;
    activation.alpha = step.alpha;
    activation.beta = step.beta;
    activation.operand = step.operand;
  }
  return activation;
}

void Epilogue::Activation::ComposeAffine(const Operands& operands, llvm::MutableArrayRef<float> factors,
                                         llvm::MutableArrayRef<float> offsets) const {
  for (const AffineStep& step : llvm::reverse(affine)) {
    const float* factor = operands.ColumnsOf(step.factor, 0);
    const float* offset = operands.ColumnsOf(step.offset, 0);
    for (size_t i = 0; i < factors.size(); ++i) {
      // Infinite factors of nothing would be NaN.
      const float added = offset == nullptr ? step.beta : offset[i];
      if (added != 0) offsets[i] += factors[i] * added;
      factors[i] *= factor == nullptr ? step.alpha : factor[i];
    }
  }
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

bool Epilogue::KeepsZero(const Step& step) {
  switch (step.function) {
    case EpilogueFunction::kAdd:
    case EpilogueFunction::kMultiply:
    case EpilogueFunction::kPRelu:
    case EpilogueFunction::kRelu:
    case EpilogueFunction::kHSwish:
      return true;
    case EpilogueFunction::kLinear:
      return step.alpha * 0 + step.beta == 0;
    case EpilogueFunction::kLowerBound:
      return step.alpha <= 0;
    case EpilogueFunction::kUpperBound:
      return step.alpha >= 0;
    default:
      return false;
  }
}

bool Epilogue::KeepsZero() const {
  bool keeps = limits_.Of(0) == 0;
  for (const Step& step : rest_) keeps = step.levels != nullptr || (keeps && KeepsZero(step));
  return keeps;
}

void Epilogue::Finish(const Tile& tile, int64_t columns, const Operands& operands) const {
  for (const Step& step : rest_) Apply(step, tile, operands);
  const int64_t zeros = tile.column + tile.blocks * simd::kBlockColumns - columns;
  if (zeros <= 0 || keeps_zero_) return;
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
  if (step.levels != nullptr) return simd::RoundTileToLevels(step.levels->From(tile.column), call);
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

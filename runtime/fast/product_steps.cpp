#include "runtime/fast/product_steps.h"

#include <algorithm>

#include "runtime/fast/post_ops.h"
#include "runtime/fast/round_up.h"

namespace nnefc::runtime {

namespace {

std::optional<TileFunction> FunctionOfTwo(const ir::Node& node) {
  switch (node.info().function) {
    case ir::ElementFunction::kAdd:
      return TileFunction::kAdd;
    case ir::ElementFunction::kMultiply:
      return TileFunction::kMultiply;
    case ir::ElementFunction::kPRelu:
      return TileFunction::kPRelu;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ProductSteps> ProductSteps::Make(const KernelRequest& request,
                                               llvm::ArrayRef<PostOperation> posts, int64_t channel_axis) {
  ProductSteps steps;
  for (const PostOperation& post : posts) {
    if (!steps.Add(request, post, channel_axis)) return std::nullopt;
  }
  for (const Step& step : steps.rest_) {
    if (step.operand >= 0)
      (step.of_columns ? steps.column_inputs_ : steps.element_inputs_).push_back(step.operand);
  }
  steps.TakeFirstSteps();
  return steps;
}

void ProductSteps::TakeFirstSteps() {
  auto next = rest_.begin();
  const auto is = [&](TileFunction function) { return next != rest_.end() && next->function == function; };
  if (is(TileFunction::kAdd) && next->of_columns) bias_ = next++->operand;
  if (is(TileFunction::kAdd) && !next->of_columns) start_ = next++->operand;
  if (is(TileFunction::kAtMost)) {
    limits_.has_most = true;
    limits_.most = next++->alpha;
  }
  if (is(TileFunction::kAtLeast)) {
    limits_.has_least = true;
    limits_.least = next++->alpha;
  }
  rest_.erase(rest_.begin(), next);
}

std::optional<ProductSteps::Step> ProductSteps::StepOf(const DnnFunction& function) {
  using dnnl::algorithm;
  const float number = function.number.value_or(0);
  switch (function.algorithm) {
    case algorithm::eltwise_linear:
      return Step{.function = TileFunction::kLinear, .alpha = function.alpha, .beta = function.beta};
    case algorithm::eltwise_relu:
      return Step{.function = function.alpha == 0 ? TileFunction::kAtLeast : TileFunction::kRelu,
                  .alpha = function.alpha};
    case algorithm::binary_add:
      return Step{.function = TileFunction::kLinear, .alpha = 1, .beta = number};
    case algorithm::binary_mul:  // adding -0.0 preserves the sign of a zero
      return Step{.function = TileFunction::kLinear, .alpha = number, .beta = -0.0f};
    case algorithm::binary_max:
      return Step{.function = TileFunction::kAtLeast, .alpha = number};
    case algorithm::binary_min:
      return Step{.function = TileFunction::kAtMost, .alpha = number};
    case algorithm::eltwise_clip:  // the other limit is infinite
      return Step{.function = TileFunction::kAtLeast, .alpha = function.alpha};
    case algorithm::eltwise_logistic:
      return Step{.function = TileFunction::kSigmoid};
    case algorithm::eltwise_swish:
      return Step{.function = TileFunction::kSwish, .alpha = function.alpha};
    case algorithm::eltwise_hardswish:
      return Step{.function = TileFunction::kHSwish};
    case algorithm::eltwise_gelu_erf:
      return Step{.function = TileFunction::kGelu};
    case algorithm::eltwise_gelu_tanh:
      return Step{.function = TileFunction::kGeluTanh};
    case algorithm::eltwise_tanh:
      return Step{.function = TileFunction::kTanh};
    case algorithm::eltwise_elu:
      return Step{.function = TileFunction::kElu, .alpha = function.alpha};
    case algorithm::eltwise_mish:
      return Step{.function = TileFunction::kMish};
    case algorithm::eltwise_soft_relu:
      return Step{.function = TileFunction::kSoftPlus};
    default:
      return std::nullopt;
  }
}

bool ProductSteps::Add(const KernelRequest& request, const PostOperation& post, int64_t channel_axis) {
  const size_t operands = static_cast<size_t>(post.node->num_inputs()) - 1;
  const auto first = static_cast<size_t>(post.first_operand);
  DnnFunctions functions;  // for this operation alone
  if (functions.Append(*post.node, post.chained_input, request.inputs.slice(first, operands))) {
    for (const DnnFunction& function : functions.functions()) {
      const std::optional<Step> step = StepOf(function);
      if (!step) return false;
      rest_.push_back(*step);
    }
    return true;
  }
  const std::optional<TileFunction> function = FunctionOfTwo(*post.node);
  if (operands != 1 || !function || (*function == TileFunction::kPRelu && post.chained_input != 0))
    return false;
  const OperandShape shape =
      ClassifyOperand(*post.node, request.inputs[first].shape, request.outputs[0].shape, channel_axis);
  const bool of_columns = shape == OperandShape::kPerChannel;
  if (!of_columns && shape != OperandShape::kFull) return false;
  rest_.push_back({.function = *function, .operand = post.first_operand, .of_columns = of_columns});
  return true;
}

bool ProductSteps::takes_operands() const {
  return llvm::any_of(rest_, [](const Step& step) { return step.operand >= 0; });
}

int64_t ProductSteps::column_floats(int64_t columns) const {
  return static_cast<int64_t>(column_inputs_.size()) * RoundUp(columns, kTileColumns);
}

ProductSteps::Operands ProductSteps::OperandsOf(const KernelRun& run, int64_t columns, float* scratch) const {
  const auto floats = [&](int input) {
    return reinterpret_cast<const float*>(run.input(static_cast<size_t>(input)).bytes());
  };
  Operands operands;
  operands.columns.resize(run.inputs.size());
  operands.elements.resize(run.inputs.size());
  for (int input : column_inputs_) {
    std::copy_n(floats(input), columns, scratch);
    std::fill(scratch + columns, scratch + RoundUp(columns, kTileColumns), 0.0f);
    operands.columns[static_cast<size_t>(input)] = scratch;
    scratch += RoundUp(columns, kTileColumns);
  }
  for (int input : element_inputs_) operands.elements[static_cast<size_t>(input)] = floats(input);
  return operands;
}

bool ProductSteps::KeepsZero() const {
  return rest_.empty() && limits_.Of(0) == 0;
}

void ProductSteps::Finish(const Tile& tile, int64_t columns, const Operands& operands) const {
  for (const Step& step : rest_) Apply(step, tile, operands);
  const int64_t zeros = tile.column + tile.blocks * kBlockColumns - columns;
  if (zeros <= 0 || KeepsZero()) return;
  for (int64_t row = 0; row < tile.rows; ++row)
    std::fill_n(tile.out.At(row, tile.blocks - 1) + kBlockColumns - zeros, zeros, 0.0f);
}

void ProductSteps::Apply(const Step& step, const Tile& tile, const Operands& operands) {
  FunctionTile call{
      .out = tile.out, .rows = tile.rows, .blocks = tile.blocks, .alpha = step.alpha, .beta = step.beta};
  call.operand = {tile.out.data, tile.out.row_stride, tile.out.block_stride};
  const auto operand = static_cast<size_t>(step.operand);
  if (step.of_columns) {
    call.operand = {operands.columns[operand] + tile.column, 0, kBlockColumns};
  } else if (step.operand >= 0) {
    call.operand.data = operands.elements[operand] + tile.offset;
  }
  ApplyToTile(step.function, call);
}

FilterCall FilterCall::Of(const KernelRun& run, const ProductSteps& steps, int64_t channels) {
  return {.in = reinterpret_cast<const float*>(run.input(0).bytes()),
          .weights = reinterpret_cast<const float*>(run.input(1).bytes()),
          .out = reinterpret_cast<float*>(run.output().mutable_bytes()),
          .operands = steps.OperandsOf(run, channels, reinterpret_cast<float*>(run.scratch))};
}

PreparedKernel PrepareFilterStep(const KernelRequest& request, const ProductSteps& steps, int64_t channels,
                                 const Layout& filter) {
  PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = LayoutOf(ChannelBlockedDesc(request.inputs[0].shape));
  prepared.inputs[1] = filter;
  prepared.outputs.push_back(LayoutOf(ChannelBlockedDesc(request.outputs[0].shape)));
  for (int input : steps.element_inputs()) prepared.inputs[static_cast<size_t>(input)] = prepared.outputs[0];
  prepared.scratch_bytes = static_cast<size_t>(steps.column_floats(channels)) * sizeof(float);
  return prepared;
}

}  // namespace nnefc::runtime

#include "runtime/fast/product_steps.h"

#include <algorithm>

#include "runtime/fast/dots.h"
#include "runtime/fast/lane_math.h"
#include "runtime/fast/post_ops.h"
#include "runtime/fast/round_up.h"

namespace nnefc::runtime {

namespace {

// Calls function(x, place) for the blocks of a tile, where `place` is that of the operand of the block.
template <typename Place, typename Function>
void MapTile(const ProductSteps::Tile& tile, const Place& place, const Function& function) {
  RunInLanes([&]() NNEFC_IN_LANES {
    // Copies, which what is written cannot change.
    const ProductSteps::Tile own = tile;
    const Function own_function = function;
    for (int64_t row = 0; row < own.rows; ++row) {
      for (int64_t block = 0; block < own.blocks; ++block)
        own_function(*reinterpret_cast<Lanes*>(own.out.At(row, block)), place(row, block));
    }
  });
}

// A function of a number alone.
template <typename Function>
void MapNumbers(const ProductSteps::Tile& tile, const Function& function) {
  MapTile(
      tile, [](int64_t, int64_t) { return 0; },
      [=](Lanes& numbers, int) NNEFC_IN_LANES {
        LaneSums x = numbers;
        function(x);
        numbers = x;
      });
}

}  // namespace

std::optional<ProductSteps> ProductSteps::Make(const KernelRequest& request,
                                               llvm::ArrayRef<PostOperation> posts, int64_t channel_axis) {
  ProductSteps steps;
  for (const PostOperation& post : posts) {
    if (!steps.Add(request, post, channel_axis)) return std::nullopt;
  }
  for (const Step& step : steps.rest_) {
    const bool of_columns = step.kind == Kind::kAddColumns || step.kind == Kind::kMultiplyColumns;
    if (step.operand >= 0)
      (of_columns ? steps.column_inputs_ : steps.element_inputs_).push_back(step.operand);
  }
  steps.TakeFirstSteps();
  return steps;
}

void ProductSteps::TakeFirstSteps() {
  auto next = rest_.begin();
  if (next != rest_.end() && next->kind == Kind::kAddColumns) bias_ = next++->operand;
  if (next != rest_.end() && next->kind == Kind::kAddElements) start_ = next++->operand;
  if (next != rest_.end() && next->kind == Kind::kAtMost) {
    limits_.has_most = true;
    limits_.most = next++->alpha;
  }
  if (next != rest_.end() && next->kind == Kind::kAtLeast) {
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
      return Step{.kind = Kind::kLinear, .alpha = function.alpha, .beta = function.beta};
    case algorithm::eltwise_relu:
      return Step{.kind = function.alpha == 0 ? Kind::kAtLeast : Kind::kRelu, .alpha = function.alpha};
    case algorithm::binary_add:
      return Step{.kind = Kind::kLinear, .alpha = 1, .beta = number};
    case algorithm::binary_mul:  // adding -0.0 keeps the sign of a zero
      return Step{.kind = Kind::kLinear, .alpha = number, .beta = -0.0f};
    case algorithm::binary_max:
      return Step{.kind = Kind::kAtLeast, .alpha = number};
    case algorithm::binary_min:
      return Step{.kind = Kind::kAtMost, .alpha = number};
    case algorithm::eltwise_clip:  // its other end is infinite
      return Step{.kind = Kind::kAtLeast, .alpha = function.alpha};
    case algorithm::eltwise_logistic:
      return Step{.kind = Kind::kSigmoid};
    case algorithm::eltwise_swish:
      return Step{.kind = Kind::kSwish, .alpha = function.alpha};
    case algorithm::eltwise_hardswish:
      return Step{.kind = Kind::kHSwish};
    case algorithm::eltwise_gelu_erf:
      return Step{.kind = Kind::kGelu};
    default:
      return std::nullopt;
  }
}

bool ProductSteps::Add(const KernelRequest& request, const PostOperation& post, int64_t channel_axis) {
  const size_t operands = static_cast<size_t>(post.node->num_inputs()) - 1;
  const auto first = static_cast<size_t>(post.first_operand);
  DnnFunctions functions;  // of this operation alone
  if (functions.Append(*post.node, post.chained_input, request.inputs.slice(first, operands))) {
    for (const DnnFunction& function : functions.functions()) {
      const std::optional<Step> step = StepOf(function);
      if (!step) return false;
      rest_.push_back(*step);
    }
    return true;
  }
  const bool adds = post.node->Is(ir::ElementFunction::kAdd);
  if (operands != 1 || (!adds && !post.node->Is(ir::ElementFunction::kMultiply))) return false;
  const OperandShape shape =
      ClassifyOperand(*post.node, request.inputs[first].shape, request.outputs[0].shape, channel_axis);
  if (shape == OperandShape::kPerChannel) {
    rest_.push_back(
        {.kind = adds ? Kind::kAddColumns : Kind::kMultiplyColumns, .operand = post.first_operand});
    return true;
  }
  if (shape != OperandShape::kFull) return false;
  rest_.push_back(
      {.kind = adds ? Kind::kAddElements : Kind::kMultiplyElements, .operand = post.first_operand});
  return true;
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
  const auto of = [&](const std::vector<const float*>& inputs) {
    return inputs[static_cast<size_t>(step.operand)];
  };
  const auto with_columns = [&](const auto& function) {
    const float* numbers = of(operands.columns) + tile.column;
    MapTile(
        tile, [=](int64_t, int64_t block) { return numbers + block * kBlockColumns; }, function);
  };
  const auto with_elements = [&](const auto& function) {
    const BlockedMatrix<const float> numbers = {of(operands.elements) + tile.offset, tile.out.row_stride,
                                                tile.out.block_stride};
    MapTile(
        tile, [=](int64_t row, int64_t block) { return numbers.At(row, block); }, function);
  };
  const auto add = [](Lanes& x, const float* y) { x += *reinterpret_cast<const Lanes*>(y); };
  const auto multiply = [](Lanes& x, const float* y) { x *= *reinterpret_cast<const Lanes*>(y); };
  const float alpha = step.alpha, beta = step.beta;
  switch (step.kind) {
    case Kind::kAddColumns:
      return with_columns(add);
    case Kind::kMultiplyColumns:
      return with_columns(multiply);
    case Kind::kAddElements:
      return with_elements(add);
    case Kind::kMultiplyElements:
      return with_elements(multiply);
    case Kind::kLinear:
      return MapNumbers(tile, [=](LaneSums& x) NNEFC_IN_LANES { x = alpha * x + beta; });
    case Kind::kRelu:
      return MapNumbers(tile, [=](LaneSums& x) NNEFC_IN_LANES { x = x > 0.0f ? x : alpha * x; });
    case Kind::kAtLeast:
      return MapNumbers(tile, [=](LaneSums& x) NNEFC_IN_LANES { x = x > alpha ? x : LaneSums{} + alpha; });
    case Kind::kAtMost:
      return MapNumbers(tile, [=](LaneSums& x) NNEFC_IN_LANES { x = x < alpha ? x : LaneSums{} + alpha; });
    case Kind::kSigmoid:
      return MapNumbers(tile, [](LaneSums& x) NNEFC_IN_LANES { SigmoidLanes(x); });
    case Kind::kSwish:
      return MapNumbers(tile, [=](LaneSums& x) NNEFC_IN_LANES { SwishLanes(x, alpha); });
    case Kind::kHSwish:
      return MapNumbers(tile, [](LaneSums& x) NNEFC_IN_LANES { HSwishLanes(x); });
    case Kind::kGelu:
      return MapNumbers(tile, [](LaneSums& x) NNEFC_IN_LANES { GeluLanes(x); });
  }
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

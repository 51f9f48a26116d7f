#include "runtime/fast/conv/subnormal_operands.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include "runtime/tensor/subnormals.h"

namespace nnefc::runtime::fast::conv {

namespace {

// An input of a kernel, and the number of f32 elements in its memory.
struct Operand {
  size_t input;
  int64_t count;
};

// Returns whether one of some parts of adjacent numbers, each a cache line, has a number that is not small.
bool HasLargeNumber(const kernels::KernelRun& run, const Operand& operand) {
  constexpr int64_t kPart = 16, kParts = 64;
  constexpr float kLarge = 1e-10F;
  const auto* x = reinterpret_cast<const float*>(run.input(operand.input).bytes());
  // An odd distance, since rows and blocks repeat at even ones.
  const int64_t stride = (operand.count / kParts / kPart | 1) * kPart;
  for (int64_t first = 0; first < operand.count; first += stride) {
    const int64_t length = std::min(kPart, operand.count - first);
    float largest = 0;
    for (int64_t i = 0; i < length; ++i) largest = std::max(largest, std::abs(x[first + i]));
    if (largest >= kLarge) return true;
  }
  return false;
}

// A kernel that runs with subnormal numbers as 0 if both operands have a number that is not small.
class FlushingKernel final : public kernels::Kernel {
 public:
  FlushingKernel(std::shared_ptr<const kernels::Kernel> kernel, Operand data, Operand weights)
      : kernel_(std::move(kernel)), data_(data), weights_(weights) {}

  std::string implementation() const override { return kernel_->implementation(); }
  std::unique_ptr<kernels::KernelState> NewState() const override { return kernel_->NewState(); }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    if (!HasLargeWeights(run) || !HasLargeNumber(run, data_)) return kernel_->Run(run);
    const tensor::SubnormalsAsZero scope;
    return kernel_->Run(run);
  }

 private:
  enum class Known : uint8_t { kNothing, kSmall, kLarge };

  // The weights are the same in all runs.
  bool HasLargeWeights(const kernels::KernelRun& run) const {
    Known known = weights_are_.load(std::memory_order_relaxed);
    if (known == Known::kNothing) {
      known = HasLargeNumber(run, weights_) ? Known::kLarge : Known::kSmall;
      weights_are_.store(known, std::memory_order_relaxed);
    }
    return known == Known::kLarge;
  }

  const std::shared_ptr<const kernels::Kernel> kernel_;
  const Operand data_, weights_;
  mutable std::atomic<Known> weights_are_ = Known::kNothing;
};

// Returns the input with the weights of a convolution or matrix product; nothing if the step has none, or
// groups, in which each number of the data has few products. The first operation may be a scale of the data.
std::optional<size_t> WeightsOf(const kernels::KernelRequest& request) {
  const auto has_products = [](const ir::Node& node) {
    return node.Is(ir::Contraction::kConvolution) || node.Is(ir::Contraction::kMatMul) ||
           node.Is(ir::Contraction::kConvolutionBackpropData);
  };
  if (has_products(*request.node)) return 1;
  for (const kernels::PostOperation& post : request.posts) {
    if (has_products(*post.node)) return static_cast<size_t>(post.first_operand);
  }
  return std::nullopt;
}

}  // namespace

void FlushSubnormals(const kernels::KernelRequest& request, kernels::PreparedKernel& prepared) {
  if (request.precision != kernels::Precision::kF32) return;
  const std::optional<size_t> weights = WeightsOf(request);
  if (!weights || *weights >= request.inputs.size() || request.inputs[0].constant != nullptr) return;
  const TensorValue* constant = request.inputs[*weights].constant;
  if (constant == nullptr || constant->compressed() != nullptr) return;
  const auto operand = [&](size_t input) -> Operand {
    const kernels::ValueInfo& value = request.inputs[input];
    const tensor::Layout& layout = prepared.inputs[input];
    if (value.type != ElementType::kF32) return {input, 0};
    return {input, layout == nullptr ? Volume(value.shape).value_or(0)
                                     : static_cast<int64_t>(layout->byte_size() / sizeof(float))};
  };
  prepared.kernel =
      std::make_shared<FlushingKernel>(std::move(prepared.kernel), operand(0), operand(*weights));
}

}  // namespace nnefc::runtime::fast::conv

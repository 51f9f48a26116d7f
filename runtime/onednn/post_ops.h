#pragma once

#include <optional>
#include <vector>

#include "runtime/fast/gemm/function_chain.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"
#include "runtime/onednn/kernel_builder.h"

namespace nnefc::runtime::onednn {

// The post-ops of a step, translated to oneDNN.
class OneDnnPostOps {
 public:
  // Biases belong to `channel_axis` of the result, which has
  // type `type`. `takes_sum`: an operand may share memory with the result. oneDNN crashes in that case if
  // functions follow and a convolution window is entirely in the border.
  static kernels::OrReason<OneDnnPostOps> Make(
      const kernels::KernelRequest& request, int64_t channel_axis,
      fast::memory::StorageType type = fast::memory::StorageType::kF32, bool takes_sum = true);
  // For an int8 convolution: the bias is added like any operand, and the result has type `type` or, with a
  // `range`, is quantized.
  static kernels::OrReason<OneDnnPostOps> MakeForQuantized(
      const kernels::KernelRequest& request, int64_t channel_axis, fast::memory::StorageType type,
      const std::optional<fast::int8::QuantizationRange>& range, bool takes_sum);
  // Returns the remaining post-ops for folded requantization; the primitive applies bias and scales.
  static OneDnnPostOps MakeForRequantization(const fast::int8::FoldedRequantization& codes, size_t rank);
  // For a primitive that treats its row-major result as a matrix: biases belong to the last axis.
  static kernels::OrReason<OneDnnPostOps> MakeForRows(const kernels::KernelRequest& request, int64_t rows,
                                                      int64_t columns);
  // The same for quantized results.
  static kernels::OrReason<OneDnnPostOps> MakeForQuantizedRows(
      const kernels::KernelRequest& request, int64_t rows, int64_t columns,
      const std::optional<fast::int8::QuantizationRange>& range);

  // Returns the same post-ops after a sum with the previous content of the result.
  OneDnnPostOps AfterSum() const;
  bool begins_with_sum() const { return !posts_.empty() && posts_[0].kind == Post::Kind::kSum; }
  bool has_sum() const { return has_sum_; }
  // Returns true if there is nothing but a bias.
  bool empty() const { return posts_.empty(); }
  // Returns the input of the per-channel bias, or -1.
  int bias() const { return bias_; }
  // Returns the post-ops of the primitive.
  std::vector<library::PrimitivePostOp> OfPrimitive() const;
  // Adds the operands to the kernel, after the primitive has chosen formats. `output` is that of the result.
  void AddArguments(const fast::memory::BlockedFormat& output, OneDnnKernelBuilder& builder) const;
  void AddArguments(OneDnnKernelBuilder& builder) const {
    AddArguments(builder.primitive().format({library::PrimitiveArgument::Role::kResult}), builder);
  }

 private:
  struct Post {
    enum class Kind : uint8_t { kFunction, kSum, kBinary };

    Kind kind;
    size_t function = 0;  // index in functions_
    int operand = -1;     // operand of kSum and kBinary; -1: the intermediate result of a part of the step
    fast::gemm::FunctionKind operation = fast::gemm::FunctionKind::kAdd;
    fast::memory::BlockedFormat format = {};                                       // of the operand
    std::optional<fast::int8::FoldedRequantization::Sum> of_codes = std::nullopt;  // kSum
  };

  // The formats of operands: one element per channel, or the shape of the result.
  struct ResultView {
    fast::memory::BlockedFormat channels, whole;
  };
  bool AddAll(const kernels::KernelRequest& request, int64_t channel_axis, fast::memory::StorageType type);
  bool AddAllOfRows(const kernels::KernelRequest& request, int64_t rows, int64_t columns);
  void AddLastFunction();
  // Appends quantization; stores clamp the values.
  bool AddQuantization(const fast::int8::QuantizationRange& range);
  // Returns false if the operation is unsupported.
  bool Add(const kernels::KernelRequest& request, const kernels::PostOperation& post,
           const ResultView& result, int64_t channel_axis);

  bool takes_bias_ = true;
  bool takes_sum_ = true;
  int bias_ = -1;
  bool has_sum_ = false;
  fast::memory::BlockedFormat number_format_;
  fast::gemm::FunctionChain functions_;
  std::vector<Post> posts_;
};

}  // namespace nnefc::runtime::onednn

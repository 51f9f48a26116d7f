#pragma once

#include <optional>
#include <vector>

#include "runtime/fast/gemm/function_chain.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"
#include "runtime/onednn/kernel_builder.h"

namespace nnefc::runtime {

// The post-ops of a step, translated to oneDNN.
class OneDnnPostOps {
 public:
  // Biases belong to `channel_axis` of the result, which has
  // type `type`. `takes_sum`: an operand may share memory with the result. oneDNN crashes in that case if
  // functions follow and a convolution window is entirely in the border.
  static OrReason<OneDnnPostOps> Make(const KernelRequest& request, int64_t channel_axis,
                                      StorageType type = StorageType::kF32, bool takes_sum = true);
  // For an int8 convolution: the bias is added like any operand, and the result has type `type` or, with a
  // `range`, is quantized.
  static OrReason<OneDnnPostOps> MakeForQuantized(const KernelRequest& request, int64_t channel_axis,
                                                  StorageType type,
                                                  const std::optional<QuantizationRange>& range,
                                                  bool takes_sum);
  // Returns the remaining post-ops for folded requantization; the primitive applies bias and scales.
  static OneDnnPostOps MakeForRequantization(const FoldedRequantization& codes, size_t rank);
  // For a primitive that treats its row-major result as a matrix: biases belong to the last axis.
  static OrReason<OneDnnPostOps> MakeForRows(const KernelRequest& request, int64_t rows, int64_t columns);
  // The same for quantized results.
  static OrReason<OneDnnPostOps> MakeForQuantizedRows(const KernelRequest& request, int64_t rows,
                                                      int64_t columns,
                                                      const std::optional<QuantizationRange>& range);

  // Returns the same post-ops after a sum with the previous content of the result.
  OneDnnPostOps AfterSum() const;
  bool begins_with_sum() const { return !posts_.empty() && posts_[0].kind == Post::Kind::kSum; }
  bool has_sum() const { return has_sum_; }
  // Returns true if there is nothing but a bias.
  bool empty() const { return posts_.empty(); }
  // Returns the input of the per-channel bias, or -1.
  int bias() const { return bias_; }
  // Returns the post-ops of the primitive.
  std::vector<PrimitivePostOp> OfPrimitive() const;
  // Adds the operands to the kernel, after the primitive has chosen formats. `output` is that of the result.
  void AddArguments(const BlockedFormat& output, OneDnnKernelBuilder& builder) const;
  void AddArguments(OneDnnKernelBuilder& builder) const {
    AddArguments(builder.primitive().format({PrimitiveArgument::Role::kResult}), builder);
  }

 private:
  struct Post {
    enum class Kind : uint8_t { kFunction, kSum, kBinary };

    Kind kind;
    size_t function = 0;  // index in functions_
    int operand = -1;     // operand of kSum and kBinary; -1: the intermediate result of a part of the step
    FunctionKind operation = FunctionKind::kAdd;
    BlockedFormat format = {};                                         // of the operand
    std::optional<FoldedRequantization::Sum> of_codes = std::nullopt;  // kSum
  };

  // The formats of operands: one element per channel, or the shape of the result.
  struct ResultView {
    BlockedFormat channels, whole;
  };
  bool AddAll(const KernelRequest& request, int64_t channel_axis, StorageType type);
  bool AddAllOfRows(const KernelRequest& request, int64_t rows, int64_t columns);
  void AddLastFunction();
  // Appends quantization; stores clamp the values.
  bool AddQuantization(const QuantizationRange& range);
  // Returns false if the operation is unsupported.
  bool Add(const KernelRequest& request, const PostOperation& post, const ResultView& result,
           int64_t channel_axis);

  bool takes_bias_ = true;
  bool takes_sum_ = true;
  int bias_ = -1;
  bool has_sum_ = false;
  BlockedFormat number_format_;
  FunctionChain functions_;
  std::vector<Post> posts_;
};

}  // namespace nnefc::runtime

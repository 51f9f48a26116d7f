#pragma once

#include <optional>
#include <vector>

#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"
#include "runtime/onednn/dnnl_functions.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/onednn/onednn.h"

namespace nnefc::runtime {

// The post-ops of a step, translated to oneDNN.
class DnnPostOps {
 public:
  // Biases belong to `channel_axis` of the result, which has
  // type `type`. `takes_sum`: an operand may share memory with the result. oneDNN crashes in that case if
  // functions follow and a convolution window is entirely in the border.
  static OrReason<DnnPostOps> Make(const KernelRequest& request, int64_t channel_axis,
                                   DnnType type = DnnType::f32, bool takes_sum = true);
  // For an int8 convolution: the bias is added like any operand, and the result has type `type` or, with a
  // `range`, is quantized.
  static OrReason<DnnPostOps> MakeForQuantized(const KernelRequest& request, int64_t channel_axis,
                                               DnnType type, const std::optional<QuantizationRange>& range,
                                               bool takes_sum);
  // Returns the remaining post-ops for folded requantization; the primitive applies bias and scales.
  static DnnPostOps MakeForRequantization(const FoldedRequantization& codes, size_t rank);
  // For a primitive that treats its row-major result as a matrix: biases belong to the last axis.
  static OrReason<DnnPostOps> MakeForRows(const KernelRequest& request, int64_t rows, int64_t columns);
  // The same for quantized results.
  static OrReason<DnnPostOps> MakeForQuantizedRows(const KernelRequest& request, int64_t rows,
                                                   int64_t columns,
                                                   const std::optional<QuantizationRange>& range);

  // Returns the same post-ops after a sum with the previous content of the result.
  DnnPostOps AfterSum() const;
  bool begins_with_sum() const { return !posts_.empty() && posts_[0].kind == Post::Kind::kSum; }
  bool has_sum() const { return has_sum_; }
  // Returns true if there is nothing but a bias.
  bool empty() const { return posts_.empty(); }
  // Returns the input of the per-channel bias, or -1.
  int bias() const { return bias_; }
  dnnl::primitive_attr Attributes() const;
  // Adds the operands to the kernel, after the primitive has chosen layouts.
  void AddArguments(const dnnl::primitive_desc_base& primitive, const dnnl::memory::desc& output,
                    DnnKernelBuilder& builder) const;

 private:
  struct Post {
    enum class Kind : uint8_t { kFunction, kSum, kBinary };

    Kind kind;
    size_t function = 0;  // index in functions_
    int operand = -1;     // operand of kSum and kBinary; -1: the intermediate result of a part of the step
    dnnl::algorithm algorithm{};
    dnnl::memory::desc operand_desc{};
    std::optional<FoldedRequantization::Sum> of_codes = std::nullopt;  // kSum
  };

  // The descriptors of operands: one element per channel, or the shape of the result.
  struct ResultView {
    dnnl::memory::desc channels, whole;
  };
  bool AddAll(const KernelRequest& request, int64_t channel_axis, DnnType type);
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
  dnnl::memory::desc number_desc_;
  DnnFunctions functions_;
  std::vector<Post> posts_;
};

}  // namespace nnefc::runtime

#pragma once

#include <optional>
#include <vector>

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/functions.h"
#include "runtime/fast/onednn.h"
#include "runtime/fast/quantization.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// The shape of an operand of the binary operation `node` relative to its result; the first match applies.
enum class OperandShape : uint8_t {
  kScalar,      // one element
  kPerChannel,  // one element per position of the channel axis
  kFull,        // same size as the result
  kOther,
};
OperandShape ClassifyOperand(const ir::Node& node, llvm::ArrayRef<int64_t> operand,
                             llvm::ArrayRef<int64_t> result, int64_t channel_axis);

// The post-ops of a step, translated to oneDNN.
class DnnPostOps {
 public:
  // Returns nothing if a post-op is unsupported. Biases belong to `channel_axis` of the result, which has
  // type `type`. `takes_sum`: an operand may share memory with the result. oneDNN crashes in that case if
  // functions follow and a convolution window is entirely in the border.
  static std::optional<DnnPostOps> Make(const KernelRequest& request, int64_t channel_axis,
                                        DnnType type = DnnType::f32, bool takes_sum = true);
  // For an int8 convolution: the bias is added like any operand, and the result has type `type` or, with a
  // `range`, is quantized.
  static std::optional<DnnPostOps> MakeForCodes(const KernelRequest& request, int64_t channel_axis,
                                                DnnType type, const std::optional<CodeRange>& range,
                                                bool takes_sum);
  // Returns the remaining post-ops for folded requantization; the primitive applies bias and scales.
  static DnnPostOps MakeForFoldedCodes(const FoldedCodes& codes, size_t rank);
  // For a primitive that treats its row-major result as a matrix: biases belong to the last axis.
  static std::optional<DnnPostOps> MakeForRows(const KernelRequest& request, int64_t rows, int64_t columns);
  // The same for quantized results.
  static std::optional<DnnPostOps> MakeForRowsOfCodes(const KernelRequest& request, int64_t rows,
                                                      int64_t columns, const std::optional<CodeRange>& range);

  // Returns the same post-ops after a sum with the previous content of the result.
  DnnPostOps BehindSum() const;
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
    std::optional<FoldedCodes::Sum> of_codes = std::nullopt;  // kSum
  };

  // The descriptors of operands: one element per channel, or the shape of the result.
  struct ResultView {
    dnnl::memory::desc channels, whole;
  };
  bool AddAll(const KernelRequest& request, int64_t channel_axis, DnnType type);
  bool AddAllOfRows(const KernelRequest& request, int64_t rows, int64_t columns);
  void AddLastFunction();
  // Appends quantization; stores clamp the values.
  bool AddCodes(const CodeRange& range);
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

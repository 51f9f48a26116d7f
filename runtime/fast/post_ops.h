#pragma once

#include <optional>
#include <vector>

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/functions.h"
#include "runtime/fast/onednn.h"
#include "runtime/fast/quantization.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// How an operand of the binary operation `node` relates to its result; the first
// that applies.
enum class OperandShape : uint8_t {
  kScalar,      // one element
  kPerChannel,  // one element for each position of the channel axis
  kFull,        // as many as the result
  kOther,
};
OperandShape ClassifyOperand(const ir::Node& node, llvm::ArrayRef<int64_t> operand,
                             llvm::ArrayRef<int64_t> result, int64_t channel_axis);

// The operations that follow in the same step, translated.
class DnnPostOps {
 public:
  // Nothing if one of the posts has no translation. `channel_axis` of the
  // result, whose elements lie in `type`, is the one of biases. `takes_sum`: an
  // operand may lie where the result does; oneDNN crashes there if functions follow
  // too and a window of a convolution lies wholly in the border.
  static std::optional<DnnPostOps> Make(const KernelRequest& request, int64_t channel_axis,
                                        DnnType type = DnnType::f32, bool takes_sum = true);
  // For a convolution of codes of 8 bits, whose bias is added like any operand, and whose
  // result lies in numbers of `type` or, with a `range`, in codes.
  static std::optional<DnnPostOps> MakeForCodes(const KernelRequest& request, int64_t channel_axis,
                                                DnnType type, const std::optional<CodeRange>& range,
                                                bool takes_sum);
  // What is left to do for codes whose bias and scales the primitive takes.
  static DnnPostOps MakeForFoldedCodes(const FoldedCodes& codes, size_t rank);
  // For a primitive that sees its row-major result as a matrix: biases belong
  // to the last axis.
  static std::optional<DnnPostOps> MakeForRows(const KernelRequest& request, int64_t rows, int64_t columns);
  // The same of codes.
  static std::optional<DnnPostOps> MakeForRowsOfCodes(const KernelRequest& request, int64_t rows,
                                                      int64_t columns, const std::optional<CodeRange>& range);

  // The same behind a sum with what lies in the place of the result already.
  DnnPostOps BehindSum() const;
  bool begins_with_sum() const { return !posts_.empty() && posts_[0].kind == Post::Kind::kSum; }
  bool has_sum() const { return has_sum_; }
  // True if nothing follows but a bias.
  bool empty() const { return posts_.empty(); }
  // The input that is added first, one element a channel, or -1.
  int bias() const { return bias_; }
  dnnl::primitive_attr Attributes() const;
  // Adds the operands to the kernel, once the primitive has chosen layouts.
  void AddArguments(const dnnl::primitive_desc_base& primitive, const dnnl::memory::desc& output,
                    DnnKernelBuilder& builder) const;

 private:
  struct Post {
    enum class Kind : uint8_t { kFunction, kSum, kBinary };

    Kind kind;
    size_t function = 0;  // of functions_
    int operand = -1;     // of kSum and kBinary; -1: what a part of the step has left
    dnnl::algorithm algorithm{};
    dnnl::memory::desc operand_desc{};
    std::optional<FoldedCodes::Sum> of_codes = std::nullopt;  // kSum
  };

  // Operands as the primitive sees them: one element a channel, or as many as
  // the result.
  struct ResultView {
    dnnl::memory::desc channels, whole;
  };
  bool AddAll(const KernelRequest& request, int64_t channel_axis, DnnType type);
  bool AddAllOfRows(const KernelRequest& request, int64_t rows, int64_t columns);
  void AddLastFunction();
  // From numbers to codes, which are cut off at their ends where they are stored.
  bool AddCodes(const CodeRange& range);
  // False if the operation has no translation.
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

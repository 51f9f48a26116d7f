// Post-ops of a matmul in its epilogue, applied to tiles of the result while they are cached.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/fast/gemm/function_chain.h"
#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/fast/simd/gemm/epilogue_microkernel.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast::gemm {

// A FakeQuantize by column, for whole tiles of columns. If 0 is a level of a column, it stays 0; columns
// of padding become 0.
class ColumnLevels {
 public:
  ColumnLevels(const AxisLimits& limits, int64_t columns);

  // Clamps elements to `least` and replaces NaN by it, before they are rounded.
  void LimitBelow(float least);
  // Adds an operand to elements before anything else.
  void AddOperand() { adds_operand_ = true; }
  // Returns the arrays from a column on.
  simd::LevelColumns From(int64_t column) const;

 private:
  std::vector<float> low_, high_, factor_, offset_, unit_, first_;
  bool replaces_nan_ = false, adds_operand_ = false;
};
// Returns the limits of a FakeQuantize with f32 result that an epilogue applies to a result of the given
// shape: for all elements, or by index of `channel_axis`. Nothing for other nodes.
std::optional<AxisLimits> FakeQuantizeLimits(const ir::Node& node, llvm::ArrayRef<kernels::ValueInfo> limits,
                                             llvm::ArrayRef<int64_t> result, int64_t channel_axis);

// An ordered list of operations on matmul results: sums and products with per-column or elementwise operands,
// and unary functions.
class Epilogue {
 public:
  // Translates `posts`; columns are axis `channel_axis` of the result.
  static kernels::OrReason<Epilogue> Make(const kernels::KernelRequest& request,
                                          llvm::ArrayRef<kernels::PostOperation> posts, int64_t channel_axis);

  // The initial accumulators and final limits of tiles, which cost nothing: input indices of the kernel, -1
  // for none.
  int bias() const { return bias_; }
  int start() const { return start_; }
  const simd::Limits& limits() const { return limits_; }

  // The operands in a run: per-column ones zero-padded to whole tiles, elementwise ones in the layout of the
  // result.
  struct Operands {
    std::vector<const float*> columns;  // indexed by input; null for others
    std::vector<const float*> elements;

    // Return the operand of an input starting at a column or an element; null for input -1.
    const float* ColumnsOf(int input, int64_t column) const {
      return input < 0 ? nullptr : columns[static_cast<size_t>(input)] + column;
    }
    const float* ElementsOf(int input, int64_t offset) const {
      return input < 0 ? nullptr : elements[static_cast<size_t>(input)] + offset;
    }
  };
  // Returns the operands of a run with `columns` columns, rounded up to whole tiles. Per-column operands are
  // copied to `scratch` with column_floats elements.
  Operands OperandsOf(const kernels::KernelRun& run, int64_t columns, float* scratch) const;
  int64_t column_floats(int64_t columns) const;
  // Returns whether operations remain after bias, start and limits, and whether they have operands or differ
  // by column.
  bool has_functions() const { return !rest_.empty(); }
  bool takes_operands() const;
  // A multiplication and an addition: x * alpha + beta, or by per-column inputs, -1 for none.
  struct AffineStep {
    float alpha = 1, beta = 0;
    int factor = -1, offset = -1;
  };
  // The remaining operations as one function with an optional per-column operand, then multiplications and
  // additions of numbers or per-column inputs; nothing for other lists.
  struct Activation {
    simd::EpilogueFunction function = simd::EpilogueFunction::kLinear;
    float alpha = 1, beta = 0;
    int operand = -1;  // an input, -1 for none
    std::vector<AffineStep> affine = {};

    // Replaces factors * x + offsets, by column, by the same of x after the affine steps.
    void ComposeAffine(const Operands& operands, llvm::MutableArrayRef<float> factors,
                       llvm::MutableArrayRef<float> offsets) const;
  };
  std::optional<Activation> activation() const;
  // Returns the inputs in the layout of the result.
  llvm::ArrayRef<int> element_inputs() const { return element_inputs_; }

  // The location of a tile: its address `out`, its `offset` from the start of the result, and its first
  // column.
  struct Tile {
    simd::BlockedMatrix<float> out;
    int64_t offset, column, rows, blocks;
  };
  // Applies the remaining operations after bias, start and limits. Padding columns beyond `columns` stay
  // zero.
  void Finish(const Tile& tile, int64_t columns, const Operands& operands) const;

 private:
  struct Step {
    simd::EpilogueFunction function;
    int operand = -1;         // operand of kAdd, kMultiply and kPRelu
    bool of_columns = false;  // per-column operand, otherwise elementwise
    float alpha = 0, beta = 0;
    // A FakeQuantize instead of the function. The operand, if any, is added before.
    std::shared_ptr<ColumnLevels> levels = nullptr;
  };
  // Returns nothing for functions without a tile implementation.
  static std::optional<Step> StepOf(const ChainedFunction& function);
  bool Add(const kernels::KernelRequest& request, const kernels::PostOperation& post, int64_t channel_axis);
  void TakeFirstSteps();
  // Moves a sum and a lower limit into the FakeQuantize after them: one pass instead of three.
  void FuseBeforeLevels();
  static void Apply(const Step& step, const Tile& tile, const Operands& operands);
  // Returns whether zeros of padding stay zeros. Their operands are zeros.
  bool KeepsZero() const;
  static bool KeepsZero(const Step& step);
  // Returns a multiplication or addition with finite numbers; nothing for other steps.
  static std::optional<AffineStep> AffineOf(const Step& step);

  int bias_ = -1, start_ = -1;
  simd::Limits limits_;
  std::vector<Step> rest_;
  bool keeps_zero_ = false;
  std::vector<int> column_inputs_, element_inputs_;
};

// The pointers of a step with images (input 0), a filter (input 1) and post-ops.
struct ConvolutionCall {
  const float* in;
  const float* weights;
  float* out;
  Epilogue::Operands operands;

  static ConvolutionCall Of(const kernels::KernelRun& run, const Epilogue& steps, int64_t channels);
};

// Returns the layouts of such a step: nChw16c images and result with `channels` channels, and the layout of
// the filter. The caller sets the kernel.
kernels::PreparedKernel PrepareConvolution(const kernels::KernelRequest& request, const Epilogue& steps,
                                           int64_t channels, const tensor::Layout& filter);

}  // namespace nnefc::runtime::fast::gemm

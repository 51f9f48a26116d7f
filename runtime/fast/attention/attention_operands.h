// Sizes, operands and masks shared by the attention kernels.
#pragma once

#include <optional>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "runtime/fast/memory/blocked_format.h"
#include "runtime/kernels/arithmetic/broadcast.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime::fast::attention {

// The problem size and configuration of an attention kernel.
struct AttentionSizes {
  int64_t batches, queries, keys, width, values;
  int64_t rows;   // rows per query block; the last block of a batch element may have fewer
  int64_t group;  // batch elements processed together; 1 if they have several blocks
  int threads;
  bool causal;
  memory::StorageType type;  // operand type of the matrix multiplications
  // The quantization of queries and keys, if they are multiplied in 8 bits.
  std::optional<ir::ops::QuantizedOperands> operands = std::nullopt;

  int64_t blocks() const { return (queries + rows - 1) / rows; }
  int64_t last_rows() const { return queries - (blocks() - 1) * rows; }
};

// Describes an attention without its division into blocks.
kernels::OrReason<AttentionSizes> AttentionSizesOf(const kernels::KernelRequest& request);

// A batch of matrices with arbitrary row strides and contiguous elements within a row.
template <typename Number>
struct BatchedMatrix {
  Number* data;
  llvm::SmallVector<int64_t, 4> strides;  // strides along the batch axes; 0 if broadcast
  int64_t row_stride;

  Number* At(llvm::ArrayRef<int64_t> batch, int64_t index, int64_t row = 0) const {
    return data + kernels::BatchOffset(strides, batch, index) + row * row_stride;
  }
};
// The additive, boolean or causal mask of one batch element.
class AttentionMask {
 public:
  // Returns true if there is any mask.
  bool changes_scores() const { return is_causal_ || data_ != nullptr; }
  // Returns the additive mask of a query in place, or null if it is not contiguous f32.
  const float* Floats(int64_t query) const {
    return floats_ == nullptr ? nullptr : floats_ + query * row_stride_;
  }
  int64_t row_stride() const { return row_stride_; }
  // Applies the mask to the scores of a query.
  void Apply(int64_t query, float* scores, int64_t keys) const;

 private:
  friend class AttentionMasks;

  bool is_causal_ = false;
  bool is_boolean_ = false;
  const std::byte* data_ = nullptr;
  const float* floats_ = nullptr;  // the same data if it is contiguous f32
  int64_t row_stride_ = 0, stride_ = 0;
};

class AttentionMasks {
 public:
  AttentionMasks(const kernels::KernelRun& run, llvm::ArrayRef<int64_t> batch, const AttentionSizes& sizes);
  AttentionMask At(llvm::ArrayRef<int64_t> batch, int64_t index) const;

 private:
  const bool is_causal_;
  const tensor::TensorView* view_ = nullptr;
  tensor::Strides strides_;
};

// The operands of an attention in a run. The run must outlive it.
struct AttentionCall {
  BatchedMatrix<const float> q, k, v;
  AttentionMasks masks;
  llvm::ArrayRef<int64_t> batch;
  float scale;  // scale of the scores: input 4, or 1 / sqrt(width)
  BatchedMatrix<float> out;

  // Returns a fault if there are several scales.
  static kernels::FaultOr<AttentionCall> Of(const kernels::KernelRun& run, const AttentionSizes& sizes);
};

}  // namespace nnefc::runtime::fast::attention

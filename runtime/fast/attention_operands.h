// What kernels of attention share: their sizes, operands and masks.
#pragma once

#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/kernel.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime {

// What a kernel was made for.
struct AttentionSizes {
  int64_t batches, queries, keys, width, values;
  int64_t rows;   // of a block; the last one of an element of the batch may have fewer
  int64_t group;  // elements of the batch that are done at once; 1 if they have several blocks
  int threads;
  bool causal;
  DnnType type;  // of the factors of products

  int64_t blocks() const { return (queries + rows - 1) / rows; }
  int64_t last_rows() const { return queries - (blocks() - 1) * rows; }
};

// A row-major matrix of each element of a batch, which may be stretched.
struct Operand {
  const float* data;
  llvm::SmallVector<int64_t, 4> strides;  // by axes of the batch

  Operand(const TensorView& view, llvm::ArrayRef<int64_t> batch);
  const float* At(llvm::ArrayRef<int64_t> batch, int64_t index) const {
    return data + BatchOffset(strides, batch, index);
  }

  static int64_t BatchOffset(llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> batch, int64_t index);
};

// What is added to scores, or which of them count.
class AttentionMask {
 public:
  AttentionMask(const KernelRun& run, llvm::ArrayRef<int64_t> batch, const AttentionSizes& sizes);
  // Adds the mask to the scores of a query.
  void Apply(llvm::ArrayRef<int64_t> batch, int64_t index, int64_t query, float* scores, int64_t keys) const;
  bool changes_scores() const { return is_causal_ || view_ != nullptr; }

 private:
  const bool is_causal_;
  const TensorView* view_ = nullptr;
  Strides strides_;
};

// An attention in a run, which outlives it.
struct AttentionCall {
  Operand q, k, v;
  AttentionMask mask;
  llvm::ArrayRef<int64_t> batch;
  float scale;  // of products of queries and keys: input 4, or 1 by the root of the width
  float* out;

  // A fault where there are several scales.
  static FaultOr<AttentionCall> Of(const KernelRun& run, const AttentionSizes& sizes);
};

}  // namespace nnefc::runtime

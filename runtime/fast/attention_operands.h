// What kernels of attention share: their sizes, operands and masks.
#pragma once

#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/broadcast.h"
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

// A matrix of each element of a batch, whose rows lie anywhere and whose numbers behind one another.
template <typename Number>
struct BatchedMatrix {
  Number* data;
  llvm::SmallVector<int64_t, 4> strides;  // by axes of the batch, which may be stretched
  int64_t row_stride;

  Number* At(llvm::ArrayRef<int64_t> batch, int64_t index, int64_t row = 0) const {
    return data + BatchOffset(strides, batch, index) + row * row_stride;
  }
};
// What is added to the scores of an element of the batch, or which of them count.
class AttentionMask {
 public:
  // True if there is any.
  bool changes_scores() const { return is_causal_ || data_ != nullptr; }
  // What is added to the scores of a query, as it lies; null where it does not lie so.
  const float* Floats(int64_t query) const {
    return floats_ == nullptr ? nullptr : floats_ + query * row_stride_;
  }
  int64_t row_stride() const { return row_stride_; }
  // Adds the mask to the scores of a query.
  void Apply(int64_t query, float* scores, int64_t keys) const;

 private:
  friend class AttentionMasks;

  bool is_causal_ = false;
  bool is_boolean_ = false;
  const std::byte* data_ = nullptr;
  const float* floats_ = nullptr;  // the same, of f32 that lie behind one another
  int64_t row_stride_ = 0, stride_ = 0;
};

class AttentionMasks {
 public:
  AttentionMasks(const KernelRun& run, llvm::ArrayRef<int64_t> batch, const AttentionSizes& sizes);
  AttentionMask At(llvm::ArrayRef<int64_t> batch, int64_t index) const;

 private:
  const bool is_causal_;
  const TensorView* view_ = nullptr;
  Strides strides_;
};

// An attention in a run, which outlives it.
struct AttentionCall {
  BatchedMatrix<const float> q, k, v;
  AttentionMasks masks;
  llvm::ArrayRef<int64_t> batch;
  float scale;  // of products of queries and keys: input 4, or 1 by the root of the width
  BatchedMatrix<float> out;

  // A fault where there are several scales.
  static FaultOr<AttentionCall> Of(const KernelRun& run, const AttentionSizes& sizes);
};

}  // namespace nnefc::runtime

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/rnn/recurrent_matmul.h"
#include "runtime/kernels/kernel.h"
#include "runtime/onednn/onednn.h"

namespace nnefc::runtime::onednn {

// A constant matrix [outputs, terms], or a batch [count, outputs, terms], packed for matmuls with its
// transpose.
class PackedMatrix {
 public:
  // Packs for left operands with `rows` rows, in f32 or bf16. Returns nothing for other values, or if oneDNN
  // has no faster matmul for packed weights.
  static std::optional<PackedMatrix> Make(const kernels::ValueInfo& value, int64_t rows,
                                          fast::memory::StorageType type);

  // Returns the packed layout for the plan.
  const tensor::Layout& layout() const { return layout_; }
  int64_t outputs() const { return matrix_.extents[1]; }
  int64_t terms() const { return matrix_.extents[0]; }
  // Returns outputs [first, first + count) of a matrix, or nothing if a block crosses either end.
  std::optional<fast::memory::BlockedFormat> Part(int64_t first, int64_t count) const;
  // Returns the byte offset of output `first` of matrix `index`.
  int64_t Offset(int64_t index, int64_t first) const;

 private:
  PackedMatrix(const fast::memory::BlockedFormat& matrix, tensor::Layout layout)
      : matrix_(matrix), layout_(std::move(layout)) {}
  int64_t BlockOfOutputs() const;

  fast::memory::BlockedFormat matrix_;  // [terms, outputs]
  tensor::Layout layout_;
};

// The matmul of row-major matrices [rows, terms] with the transpose of a part of a packed matrix, with f32
// accumulators. Immutable and shared by sessions.
class PackedMatmul {
 public:
  // Returns nothing if oneDNN has no fast implementation. Small matmuls run on one thread, because waking
  // others takes longer.
  static std::optional<PackedMatmul> Make(const fast::memory::BlockedFormat& part, int64_t rows,
                                          fast::rnn::SumStart start);

  size_t scratch_bytes() const { return primitive_->scratch_bytes(); }
  std::string implementation() const { return primitive_->implementation(); }

  // The matmul in one session.
  class Call {
   public:
    // `scratch` must have scratch_bytes() bytes.
    Call(const PackedMatmul& product, std::byte* scratch);

    // Computes out = start + left * part^T with the SumStart of the matmul: zero, `bias` (one element per
    // output), or the former values of `out`. `left` has the element type of the part.
    kernels::FaultOr<Success> Run(const void* left, const std::byte* part, const float* bias, float* out);

   private:
    const PackedMatmul& product_;
    std::byte* scratch_;
    std::unique_ptr<library::PrimitiveCall> call_;
  };

 private:
  PackedMatmul(std::shared_ptr<const library::Primitive> primitive, fast::rnn::SumStart start, int threads)
      : primitive_(std::move(primitive)), start_(start), threads_(threads) {}

  std::shared_ptr<const library::Primitive> primitive_;
  fast::rnn::SumStart start_;
  int threads_;
};

}  // namespace nnefc::runtime::onednn

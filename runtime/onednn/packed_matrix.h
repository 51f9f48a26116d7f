#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "runtime/onednn/dnnl_kernel.h"

namespace nnefc::runtime {

// A constant matrix [outputs, terms], or a batch [count, outputs, terms], packed for matmuls with its
// transpose.
class PackedMatrix {
 public:
  // Packs for left operands with `rows` rows, in f32 or bf16. Returns nothing for other values, or if oneDNN
  // has no faster matmul for packed weights.
  static std::optional<PackedMatrix> Make(const ValueInfo& value, int64_t rows, DnnType type);

  // Returns the packed layout for the plan.
  const Layout& layout() const { return layout_; }
  int64_t outputs() const { return matrix_.dims()[1]; }
  int64_t terms() const { return matrix_.dims()[0]; }
  // Returns outputs [first, first + count) of a matrix, or nothing if a block crosses either end.
  std::optional<dnnl::memory::desc> Part(int64_t first, int64_t count) const;
  // Returns the byte offset of output `first` of matrix `index`.
  int64_t Offset(int64_t index, int64_t first) const;

 private:
  PackedMatrix(const dnnl::memory::desc& matrix, Layout layout)
      : matrix_(matrix), layout_(std::move(layout)) {}
  int64_t BlockOfOutputs() const;

  dnnl::memory::desc matrix_;  // [terms, outputs]
  Layout layout_;
};

// The initial accumulators of a matmul.
enum class SumStart : uint8_t { kZero, kBias, kOutput };

// The matmul of row-major matrices [rows, terms] with the transpose of a part of a packed matrix, with f32
// accumulators. Immutable and shared by sessions.
class PackedMatmul {
 public:
  // Returns nothing if oneDNN has no fast implementation. Small matmuls run on one thread, because waking
  // others takes longer.
  static std::optional<PackedMatmul> Make(const dnnl::memory::desc& part, int64_t rows, SumStart start);

  size_t scratch_bytes() const { return description_.scratchpad_desc().get_size(); }
  std::string implementation() const { return description_.impl_info_str(); }

  // The matmul in one session.
  class Call {
   public:
    // `scratch` must have scratch_bytes() bytes.
    Call(const PackedMatmul& product, std::byte* scratch) : product_(product), scratch_(scratch) {}

    // out = start + left * part^T; `bias` has one element per output.
    FaultOr<Success> Run(const void* left, const std::byte* part, const float* bias, float* out);

   private:
    void Bind(int argument, const dnnl::memory::desc& desc, const void* data);

    const PackedMatmul& product_;
    std::byte* scratch_;
    std::unordered_map<int, dnnl::memory> memories_;
  };

 private:
  PackedMatmul(const dnnl::matmul::primitive_desc& description, SumStart start, int threads)
      : description_(description), primitive_(description), start_(start), threads_(threads) {}

  dnnl::matmul::primitive_desc description_;
  dnnl::matmul primitive_;
  SumStart start_;
  int threads_;
};

}  // namespace nnefc::runtime

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "runtime/fast/dnnl_kernel.h"

namespace nnefc::runtime {

// A constant matrix [outputs, terms], or several of them [count, outputs, terms], packed for
// products with their transposes.
class PackedMatrix {
 public:
  // Packed for left factors of `rows` rows, in f32 or bf16. Nothing where the value is no such
  // constant or oneDNN has no product that is faster by packed ones.
  static std::optional<PackedMatrix> Make(const ValueInfo& value, int64_t rows, DnnType type);

  // How the plan is to lay the constant.
  const Layout& layout() const { return layout_; }
  int64_t outputs() const { return matrix_.dims()[1]; }
  int64_t terms() const { return matrix_.dims()[0]; }
  // Outputs [first, first + count) of a matrix; nothing if a block lies across an end of them.
  std::optional<dnnl::memory::desc> Part(int64_t first, int64_t count) const;
  // Where output `first` of matrix `index` begins, in bytes.
  int64_t Offset(int64_t index, int64_t first) const;

 private:
  PackedMatrix(const dnnl::memory::desc& matrix, Layout layout)
      : matrix_(matrix), layout_(std::move(layout)) {}
  int64_t BlockOfOutputs() const;

  dnnl::memory::desc matrix_;  // [terms, outputs]
  Layout layout_;
};

// What a product is added to.
enum class SumStart : uint8_t { kZero, kBias, kOutput };

// The product of row-major matrices [rows, terms] with the transpose of a part of a packed
// one, of its type; sums are of f32. Immutable and shared by sessions.
class PackedProduct {
 public:
  // Nothing where oneDNN has no fast one. It runs on one thread where others would take longer to wake.
  static std::optional<PackedProduct> Make(const dnnl::memory::desc& part, int64_t rows, SumStart start);

  size_t scratch_bytes() const { return description_.scratchpad_desc().get_size(); }
  std::string implementation() const { return description_.impl_info_str(); }

  // The product in one session.
  class Call {
   public:
    // `scratch`: as much as the product wants.
    Call(const PackedProduct& product, std::byte* scratch) : product_(product), scratch_(scratch) {}

    // out = start + left * part^T; `bias` has an element for each output.
    FaultOr<Success> Run(const void* left, const std::byte* part, const float* bias, float* out);

   private:
    void Bind(int argument, const dnnl::memory::desc& desc, const void* data);

    const PackedProduct& product_;
    std::byte* scratch_;
    std::unordered_map<int, dnnl::memory> memories_;
  };

 private:
  PackedProduct(const dnnl::matmul::primitive_desc& description, SumStart start, int threads)
      : description_(description), primitive_(description), start_(start), threads_(threads) {}

  dnnl::matmul::primitive_desc description_;
  dnnl::matmul primitive_;
  SumStart start_;
  int threads_;
};

}  // namespace nnefc::runtime

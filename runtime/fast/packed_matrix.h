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

// The product of a row of f32 with the columns of a matrix [terms, outputs] in blocks of 64 columns, each row
// of which lies behind the other: as oneDNN packs those of f32. It is as fast as these come from a cache
// or from memory.
class RowProduct {
 public:
  // Nothing for another order.
  static std::optional<RowProduct> Make(const dnnl::memory::desc& part);

  // out = start + x * part on the threads of a scope; `bias` has an element for each output. `backward`: the
  // last columns first, so that of a matrix that is read again and again a cache still holds those
  // that were read last.
  void Run(const float* x, const float* part, SumStart start, const float* bias, float* out,
           bool backward = false) const;

 private:
  RowProduct(int64_t terms, int64_t outputs, int64_t stride)
      : terms_(terms), outputs_(outputs), stride_(stride) {}
  void RunBlock(int64_t block, const float* x, const float* part, const float* start, float* out) const;

  int64_t terms_, outputs_;
  int64_t stride_;  // from one block to the next
};

// The product of row-major matrices [rows, terms] with the transpose of a part of a packed
// one, of its type; sums are of f32. Immutable and shared by sessions.
class PackedProduct {
 public:
  // Nothing where oneDNN has no fast one. It runs on one thread where others would take longer to wake.
  static std::optional<PackedProduct> Make(const dnnl::memory::desc& part, int64_t rows, SumStart start);

  size_t scratch_bytes() const { return row_ ? 0 : description_.scratchpad_desc().get_size(); }
  std::string implementation() const { return row_ ? "row_product" : description_.impl_info_str(); }

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
    bool backward_ = false;  // every other run
  };

 private:
  PackedProduct(const dnnl::matmul::primitive_desc& description, SumStart start, int threads)
      : description_(description), primitive_(description), start_(start), threads_(threads) {}
  PackedProduct(const RowProduct& row, SumStart start, int threads)
      : row_(row), start_(start), threads_(threads) {}

  std::optional<RowProduct> row_;  // instead of the primitive
  dnnl::matmul::primitive_desc description_;
  dnnl::matmul primitive_;
  SumStart start_;
  int threads_;
};

}  // namespace nnefc::runtime

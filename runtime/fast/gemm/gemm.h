// GEMM of a matrix with multiple rows and a constant matrix with register-tiled microkernels: row-major
// matrices, and 1x1 convolutions of nChw16c images.
#pragma once

#include <optional>

#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/im2col.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::gemm {

// The sizes of a GEMM: [rows, terms] times [terms, outputs], for each image.
struct GemmSizes {
  int64_t images;  // nChw16c images; 1 for a row-major matrix
  int64_t rows;    // rows of a matrix, or pixels per image
  int64_t terms, outputs;
  bool is_blocked;    // the left operand and the result are nChw16c
  bool inputs_first;  // layout of the constant: [terms, outputs], otherwise [outputs, terms]

  int64_t term_blocks() const { return (terms + simd::kBlockColumns - 1) / simd::kBlockColumns; }
  int64_t output_blocks() const { return (outputs + simd::kBlockColumns - 1) / simd::kBlockColumns; }
  int64_t tiles() const { return (outputs + simd::kTileColumns - 1) / simd::kTileColumns; }
};

// The roles of the inputs of a step.
struct GemmInputs {
  size_t left = 0, weights = 1;
  int scale = -1;  // the input with a per-term scale of the left operand; -1: none
  // im2col parameters if the left rows are patches of `left`, and the corresponding weight layout.
  std::optional<Im2col> windows = std::nullopt;
  tensor::Layout filter = nullptr;
};

// Creates the kernel of a GEMM in the layout of `sizes`, with the operations `posts` on its result. Requires
// vector kernels (simd::HasSimd).
kernels::KernelOrReason MakeGemm(const kernels::KernelRequest& request, const GemmSizes& sizes,
                                 const GemmInputs& inputs, llvm::ArrayRef<kernels::PostOperation> posts);

}  // namespace nnefc::runtime::fast::gemm

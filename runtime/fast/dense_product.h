// GEMM of a matrix with multiple rows and a constant matrix with register-tiled microkernels: row-major
// matrices, and 1x1 convolutions of nChw16c images.
#pragma once

#include <optional>

#include "runtime/fast/gathered_windows.h"
#include "runtime/fast/product_steps.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

struct DenseSizes {
  int64_t images;  // nChw16c images; 1 for a row-major matrix
  int64_t rows;    // rows of a matrix, or pixels per image
  int64_t terms, outputs;
  bool is_blocked;
  bool inputs_first;  // layout of the constant: [terms, outputs], otherwise [outputs, terms]

  int64_t term_blocks() const { return (terms + kBlockColumns - 1) / kBlockColumns; }
  int64_t output_blocks() const { return (outputs + kBlockColumns - 1) / kBlockColumns; }
  int64_t tiles() const { return (outputs + kTileColumns - 1) / kTileColumns; }
};

// The roles of the inputs of a step.
struct DenseInputs {
  size_t left = 0, weights = 1;
  int scale = -1;  // per-term scale of the left operand
  // im2col parameters if the left rows are patches of `left`, and the corresponding weight layout.
  std::optional<GatheredWindows> windows = std::nullopt;
  Layout filter = nullptr;
};

// Prepares a GEMM in the layout of `sizes`. Returns nothing if vector kernels are unavailable, for an
// unsupported post-op, or if another algorithm is as fast.
std::optional<PreparedKernel> MakeDenseProduct(const KernelRequest& request, const DenseSizes& sizes,
                                               const DenseInputs& inputs,
                                               llvm::ArrayRef<PostOperation> posts);

}  // namespace nnefc::runtime

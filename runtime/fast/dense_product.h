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

// The pointers of a GEMM in a run. Left rows are in the layout of the microkernel.
struct DenseCall {
  const DenseSizes* sizes;
  const ProductSteps* steps;
  ProductSteps::Operands operands;
  const float* left;
  const float* weights;
  const float* scale = nullptr;
  float* out;

  // Returns the left matrix; for row-major operands its blocked copy.
  BlockedMatrix<const float> Left(int64_t image) const;
  BlockedMatrix<float> Out(int64_t image) const;
  const float* Weights(int64_t tile) const { return weights + tile * sizes->terms * kTileColumns; }
  // Returns the offset of the image in the result.
  int64_t Offset(int64_t image) const;
  // Applies the remaining post-ops to rows of an image, in column blocks starting at `block`.
  void Finish(int64_t image, int64_t row, int64_t rows, int64_t block, int64_t blocks) const;
};

}  // namespace nnefc::runtime

// Products of many rows with a constant matrix, in tiles of registers: of row-major matrices, and of pixels
// with their channels in blocks, which convolutions of one pixel are.
#pragma once

#include <optional>

#include "runtime/fast/gathered_windows.h"
#include "runtime/fast/product_steps.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

struct DenseSizes {
  int64_t images;  // whose channels are in blocks; 1 of a row-major matrix
  int64_t rows;    // of a matrix, pixels of an image
  int64_t terms, outputs;
  bool is_blocked;
  bool inputs_first;  // of the constant: [terms, outputs], otherwise [outputs, terms]

  int64_t term_blocks() const { return (terms + kBlockColumns - 1) / kBlockColumns; }
  int64_t output_blocks() const { return (outputs + kBlockColumns - 1) / kBlockColumns; }
  int64_t tiles() const { return (outputs + kTileColumns - 1) / kTileColumns; }
};

// The inputs of a step by what they are to the product.
struct DenseInputs {
  size_t left = 0, weights = 1;
  int scale = -1;  // a number for each term, by which left is multiplied
  // The left rows are what these see of `left`, and how the weights lie then.
  std::optional<GatheredWindows> windows = std::nullopt;
  Layout filter = nullptr;
};

// Row-major or in blocks as `sizes` says; nothing where the processor has no lanes, one of the posts has
// no translation, or another way is as fast.
std::optional<PreparedKernel> MakeDenseProduct(const KernelRequest& request, const DenseSizes& sizes,
                                               const DenseInputs& inputs,
                                               llvm::ArrayRef<PostOperation> posts);

// A product in a run. Left rows lie as tiles want them.
struct DenseCall {
  const DenseSizes* sizes;
  const ProductSteps* steps;
  ProductSteps::Operands operands;
  const float* left;
  const float* weights;
  const float* scale = nullptr;
  float* out;

  // Of a row-major matrix as tiles want it: its copy in blocks.
  BlockedMatrix<const float> Left(int64_t image) const;
  BlockedMatrix<float> Out(int64_t image) const;
  const float* Weights(int64_t tile) const { return weights + tile * sizes->terms * kTileColumns; }
  // How far the image is from the beginning of the result.
  int64_t Offset(int64_t image) const;
  // Does what is left of the steps on rows of an image, in blocks of columns from `block` on.
  void Finish(int64_t image, int64_t row, int64_t rows, int64_t block, int64_t blocks) const;
};

}  // namespace nnefc::runtime

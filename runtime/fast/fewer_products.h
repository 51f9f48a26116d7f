// Strassen matrix multiplication: seven multiplications of halves instead of eight. The rounding errors of a
// row are relative to the row it is added to. If that is much larger, for instance next to a row of zeros,
// the row is computed separately.
#pragma once

#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/lanes/product_tile.h"

namespace nnefc::runtime {

struct DenseSizes;
struct DenseCall;

class FewerProducts {
 public:
  // Returns nothing if halves are not multiples of the block size or, unless `wanted`, if the additions are
  // known to cost more than is saved.
  static std::optional<FewerProducts> Make(const DenseSizes& sizes, bool wanted);

  int64_t scratch_floats(int threads) const;
  // Runs on the threads of the scope.
  void Run(const DenseCall& call, float* scratch) const;

 private:
  FewerProducts(int64_t images, int64_t rows, int64_t terms);
  // Rows of an image processed together. The second half may have one row less.
  struct Rows {
    int64_t image, first, count;
    int64_t half() const { return (count + 1) / 2; }
  };
  Rows RowsOf(const DenseCall& call, int64_t part) const;
  bool DividesRows(int threads) const { return threads == 1 || images_ * row_parts_ >= 2 * threads; }
  int64_t half_rows() const { return (rows_ + row_parts_ - 1) / row_parts_ / 2 + 1; }
  int64_t half_blocks() const { return terms_ / kBlockColumns / 2; }
  int64_t FactorFloats() const;
  // Per-thread buffer sizes: products, a sum of weights, and separately computed rows.
  int64_t OwnRowsBegin() const;
  int64_t ProductFloats() const;

  void MakeFactors(const DenseCall& call, const Rows& rows, int64_t block, float* factors) const;
  // A row that is computed separately.
  struct OwnRow {
    int64_t row;
    bool is_zero;  // all elements are zero, so the result is zero
  };
  using OwnRows = llvm::SmallVector<OwnRow, 16>;
  BlockedMatrix<const float> LeftOf(const DenseCall& call, int64_t image) const;
  OwnRows FindOwnRows(const DenseCall& call, const Rows& rows, int threads) const;
  int64_t Pairs(const DenseCall& call) const;
  // A pair of column tiles, and the likely next pair of the same thread.
  struct PairTask {
    int64_t pair, next;
  };
  void RunPair(const DenseCall& call, const Rows& rows, const OwnRows& own, const PairTask& task,
               const float* factors, float* products) const;
  // Combines the seven products to the results of the pair.
  void Combine(const DenseCall& call, const Rows& rows, const OwnRows& own, int64_t pair,
               float* products) const;
  void MakeOwnRow(const DenseCall& call, const Rows& rows, const OwnRow& own, int64_t pair, float* out) const;

  int64_t images_, rows_, terms_;
  int64_t row_parts_;  // per image
};

}  // namespace nnefc::runtime

// Products of matrices by Strassen's way: seven products of halves instead of eight. A row has rounding
// errors of the row it is added to; where that is much larger, as beside a row of zeros, it is made by
// itself.
#pragma once

#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/lanes/product_tile.h"

namespace nnefc::runtime {

struct DenseSizes;
struct DenseCall;

class FewerProducts {
 public:
  // Nothing where halves are no whole blocks, nor, unless it is `wanted`, where what is added on the way is
  // known to take longer than what is saved.
  static std::optional<FewerProducts> Make(const DenseSizes& sizes, bool wanted);

  int64_t scratch_floats(int threads) const;
  // On the threads of the scope.
  void Run(const DenseCall& call, float* scratch) const;

 private:
  FewerProducts(int64_t images, int64_t rows, int64_t terms);
  // Rows of an image that are done together; the second half of them may be shorter by one.
  struct Rows {
    int64_t image, first, count;
    int64_t half() const { return (count + 1) / 2; }
  };
  Rows RowsOf(const DenseCall& call, int64_t part) const;
  bool DividesRows(int threads) const { return threads == 1 || images_ * row_parts_ >= 2 * threads; }
  int64_t half_rows() const { return (rows_ + row_parts_ - 1) / row_parts_ / 2 + 1; }
  int64_t half_blocks() const { return terms_ / kBlockColumns / 2; }
  int64_t FactorFloats() const;
  // Of a thread: the products, a sum of weights, and rows that are made by themselves.
  int64_t OwnRowsBegin() const;
  int64_t ProductFloats() const;

  void MakeFactors(const DenseCall& call, const Rows& rows, int64_t block, float* factors) const;
  // Of some rows, those that are made by themselves.
  struct OwnRow {
    int64_t row;
    bool is_zero;  // all of it, which no weight makes anything else
  };
  using OwnRows = llvm::SmallVector<OwnRow, 16>;
  BlockedMatrix<const float> LeftOf(const DenseCall& call, int64_t image) const;
  OwnRows FindOwnRows(const DenseCall& call, const Rows& rows, int threads) const;
  int64_t Pairs(const DenseCall& call) const;
  // A pair of tiles of columns, and which the same thread most likely does next.
  struct PairTask {
    int64_t pair, next;
  };
  void RunPair(const DenseCall& call, const Rows& rows, const OwnRows& own, const PairTask& task,
               const float* factors, float* products) const;
  // Adds the products up to the results of the pair.
  void Combine(const DenseCall& call, const Rows& rows, const OwnRows& own, int64_t pair,
               float* products) const;
  void MakeOwnRow(const DenseCall& call, const Rows& rows, const OwnRow& own, int64_t pair, float* out) const;

  int64_t images_, rows_, terms_;
  int64_t row_parts_;  // of an image
};

}  // namespace nnefc::runtime

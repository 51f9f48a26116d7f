// The products of recurrent layers: of inputs and of states by W and R, which are packed where they are
// constant and large.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/dots.h"
#include "runtime/fast/packed_matrix.h"
#include "runtime/kernels/recurrent.h"

namespace nnefc::runtime {

// Gates that are computed together: of a GRU the candidate stands alone, since it waits for the reset.
struct GatePart {
  int64_t first, count;
};
llvm::SmallVector<GatePart, 2> PartsOf(const Cell& cell);
// The parts of which there are products, by index: those, and all gates, which lie behind one another where a
// reset acts on products of the state.
llvm::SmallVector<GatePart, 3> ProductParts(const Cell& cell);
size_t AllGates(const Cell& cell);

// Which product: of inputs or of the state by the weights of a part of the gates.
struct ProductKey {
  bool of_state;
  size_t part;
  int64_t rows;
  SumStart start;

  friend bool operator==(const ProductKey&, const ProductKey&) = default;
};

// W [gates * hidden, inputs] and R [gates * hidden, hidden] of constants, packed, and the products
// that every run makes.
class PackedWeights {
 public:
  struct Sizes {
    int64_t batch, length;
    int64_t steps;  // whose inputs are multiplied at once
    bool has_bias;
    DnnType type;  // of the factors
  };
  // Nothing where the weights are small, no constants, or cannot be packed.
  static std::optional<PackedWeights> Make(const Cell& cell, const ValueInfo& w, const ValueInfo& r,
                                           const Sizes& sizes);
  // Of W alone, whose products are of all gates at once.
  static std::optional<PackedWeights> OfInputs(const Cell& cell, const ValueInfo& w, const Sizes& sizes);

  const PackedMatrix& w() const { return w_; }
  const PackedMatrix& r() const { return *r_; }
  llvm::ArrayRef<std::pair<ProductKey, PackedProduct>> products() const { return products_; }
  std::optional<PackedProduct> Product(const ProductKey& key) const;
  // Where the weights of a product begin, in bytes.
  int64_t Offset(const ProductKey& key, int64_t direction) const {
    return Of(key).Offset(direction, First(key));
  }
  // What products want besides, and before that left factors of bf16.
  size_t scratch_bytes() const;
  size_t factor_bytes() const { return factor_bytes_; }

 private:
  PackedWeights(const Cell& cell, const PackedMatrix& w, const std::optional<PackedMatrix>& r,
                const Sizes& sizes);
  bool Add(const ProductKey& key);
  bool AddOfInputs(size_t part, const Sizes& sizes);
  const PackedMatrix& Of(const ProductKey& key) const { return key.of_state ? *r_ : w_; }
  int64_t First(const ProductKey& key) const { return parts_[key.part].first * hidden_; }

  PackedMatrix w_;
  std::optional<PackedMatrix> r_;
  llvm::SmallVector<GatePart, 3> parts_;
  int64_t hidden_;
  size_t factor_bytes_ = 0;
  std::vector<std::pair<ProductKey, PackedProduct>> products_;
};

// The weights of one direction in a run; of packed ones, those of all directions.
struct DirectionWeights {
  Matrix w, r;
  const float* bias;  // null: zeros
  int64_t inputs;
  int64_t direction = 0;
};

// The products of a run.
class Multiplier {
 public:
  // `packed`: null where the weights lie row-major.
  Multiplier(const Cell& cell, const DirectionWeights& weights, const PackedWeights* packed,
             std::byte* scratch)
      : parts_(ProductParts(cell)),
        hidden_(cell.hidden),
        weights_(weights),
        packed_(packed),
        scratch_(scratch) {}

  // out = start + left * weights^T, row-major; `bias` may be null, which is zeros.
  FaultOr<Success> Run(ProductKey key, const float* left, const float* bias, float* out);

 private:
  struct Kept {
    ProductKey key;
    std::optional<PackedProduct> own;  // of a number of rows that was not planned
    std::vector<std::byte> own_scratch;
    std::optional<PackedProduct::Call> call;
  };
  FaultOr<PackedProduct::Call*> CallOf(const ProductKey& key);

  const llvm::SmallVector<GatePart, 3> parts_;
  const int64_t hidden_;
  const DirectionWeights& weights_;
  const PackedWeights* packed_;
  std::byte* scratch_;
  std::vector<std::unique_ptr<Kept>> calls_;
};

}  // namespace nnefc::runtime

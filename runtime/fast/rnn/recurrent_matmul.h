// Matmuls of recurrent layers: inputs with W and states with R, packed if they are constant and large.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/gemm/dot_products.h"
#include "runtime/kernels/recurrent.h"
#include "runtime/onednn/packed_matrix.h"

namespace nnefc::runtime {

// Gates computed together. The candidate of a GRU is separate, since it depends on the reset gate.
struct GatePart {
  int64_t first, count;
};
llvm::SmallVector<GatePart, 2> PartsOf(const Cell& cell);
// Returns the parts with matmuls, by index: PartsOf, and all gates if the reset acts on products of the
// state.
llvm::SmallVector<GatePart, 3> ProductParts(const Cell& cell);
size_t AllGates(const Cell& cell);

// The identity of a matmul: inputs or state, part of the gates, size, and initial accumulators.
struct ProductKey {
  bool of_state;
  size_t part;
  int64_t rows;
  SumStart start;

  friend bool operator==(const ProductKey&, const ProductKey&) = default;
};

// Packed constant W [gates * hidden, inputs] and R [gates * hidden, hidden], and the matmuls of all runs.
class PackedWeights {
 public:
  struct Sizes {
    int64_t batch, length;
    int64_t steps;  // steps whose inputs are multiplied at once
    bool has_bias;
    DnnType type;  // operand type
  };
  // Returns nothing for small or variable weights, or if they cannot be packed.
  static std::optional<PackedWeights> Make(const Cell& cell, const ValueInfo& w, const ValueInfo& r,
                                           const Sizes& sizes);
  // Packs W only, for matmuls of all gates at once.
  static std::optional<PackedWeights> OfInputs(const Cell& cell, const ValueInfo& w, const Sizes& sizes);

  const PackedMatrix& w() const { return w_; }
  const PackedMatrix& r() const { return *r_; }
  llvm::ArrayRef<std::pair<ProductKey, PackedMatmul>> products() const { return products_; }
  std::optional<PackedMatmul> Product(const ProductKey& key) const;
  // Returns the byte offset of the weights of a matmul.
  int64_t Offset(const ProductKey& key, int64_t direction) const {
    return Of(key).Offset(direction, First(key));
  }
  // Returns the scratch size of matmuls, including preceding bf16 operands.
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
  std::vector<std::pair<ProductKey, PackedMatmul>> products_;
};

// The weights of one direction in a run; packed weights cover all directions.
struct DirectionWeights {
  Matrix w, r;
  const float* bias;  // null: zeros
  int64_t inputs;
  int64_t direction = 0;
};

// The matmuls of a run.
class Multiplier {
 public:
  // `packed`: null for row-major weights.
  Multiplier(const Cell& cell, const DirectionWeights& weights, const PackedWeights* packed,
             std::byte* scratch)
      : parts_(ProductParts(cell)),
        hidden_(cell.hidden),
        weights_(weights),
        packed_(packed),
        scratch_(scratch) {}

  // out = start + left * weights^T, row-major; a null `bias` means zeros.
  FaultOr<Success> Run(ProductKey key, const float* left, const float* bias, float* out);

 private:
  struct Kept {
    ProductKey key;
    std::optional<PackedMatmul> own;  // created for an unplanned number of rows
    std::vector<std::byte> own_scratch;
    std::optional<PackedMatmul::Call> call;
  };
  FaultOr<PackedMatmul::Call*> CallOf(const ProductKey& key);

  const llvm::SmallVector<GatePart, 3> parts_;
  const int64_t hidden_;
  const DirectionWeights& weights_;
  const PackedWeights* packed_;
  std::byte* scratch_;
  std::vector<std::unique_ptr<Kept>> calls_;
};

}  // namespace nnefc::runtime

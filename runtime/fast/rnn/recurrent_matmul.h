// Matmuls of recurrent layers: inputs with W and states with R. Another backend implements them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/gemm/dot_products.h"
#include "runtime/fast/memory/blocked_format.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/arithmetic/recurrent.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::rnn {

// Gates computed together. The candidate of a GRU is separate, since it depends on the reset gate.
struct GatePart {
  int64_t first, count;
};
llvm::SmallVector<GatePart, 2> PartsOf(const kernels::Cell& cell);
// Returns the parts with matmuls, by index: PartsOf, and all gates if the reset acts on products of the
// state.
llvm::SmallVector<GatePart, 3> ProductParts(const kernels::Cell& cell);
size_t AllGates(const kernels::Cell& cell);

// The initial accumulators of a matmul.
enum class SumStart : uint8_t { kZero, kBias, kOutput };

// The identity of a matmul: inputs or state, part of the gates, size, and initial accumulators.
struct ProductKey {
  bool of_state;
  size_t part;
  int64_t rows;
  SumStart start;

  friend bool operator==(const ProductKey&, const ProductKey&) = default;
};

// The size of a layer, and the operand type of its matmuls.
struct RecurrentSizes {
  int64_t batch, length;
  int64_t steps;  // steps whose inputs are multiplied at once
  bool has_bias;
  memory::StorageType type;
  bool allows_int8 = false;  // for constant weights that are multiples of a scale
  // The quantization of the inputs, if their numbers are results of one.
  std::optional<memory::ValueQuantization> data = std::nullopt;
};

// The weights of one direction in a run; packed weights cover all directions.
struct DirectionWeights {
  gemm::Matrix w, r;
  const float* bias;  // null: zeros
  int64_t inputs;
  int64_t direction = 0;
};

// The matmuls of a run.
class RecurrentMultiplier {
 public:
  virtual ~RecurrentMultiplier() = default;
  // out = start + left * weights^T, row-major; a null `bias` means zeros.
  virtual kernels::FaultOr<Success> Run(ProductKey key, const float* left, const float* bias, float* out) = 0;
};

// The matmuls of a layer, in all runs.
class RecurrentMatmuls {
 public:
  virtual ~RecurrentMatmuls() = default;
  // Returns true if the weights of all directions are packed together.
  virtual bool is_packed() const = 0;
  // Returns the layouts of the weights for the plan; null for row-major.
  virtual tensor::Layout w_layout() const = 0;
  virtual tensor::Layout r_layout() const = 0;
  virtual size_t scratch_bytes() const = 0;
  virtual std::string implementation() const = 0;
  // `cell` and `weights` must outlive the result.
  virtual std::unique_ptr<RecurrentMultiplier> NewRun(const kernels::Cell& cell,
                                                      const DirectionWeights& weights,
                                                      std::byte* scratch) const = 0;
};

}  // namespace nnefc::runtime::fast::rnn

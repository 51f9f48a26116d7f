// Matmuls of recurrent layers: with packed weights if they are constant and large, or with row-major ones.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "runtime/fast/gemm/dot_products.h"
#include "runtime/fast/gemm/panel_gemm.h"
#include "runtime/fast/rnn/recurrent.h"
#include "runtime/fast/rnn/recurrent_panels.h"
#include "runtime/onednn/rows.h"
#include "runtime/onednn/weighted/packed_matrix.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::onednn {

using fast::rnn::DirectionWeights;
using fast::rnn::ProductKey;
using fast::rnn::RecurrentSizes;
using fast::rnn::SumStart;
using kernels::Cell;

namespace {

// sums += matrix * x, on all threads if the matrix is large.
void MultiplyAdd(const fast::gemm::Matrix& matrix, int64_t rows, const float* x, int64_t columns,
                 float* sums) {
  constexpr int64_t kBlock = 64;
  tensor::ParallelFor((rows + kBlock - 1) / kBlock, kBlock * columns / 4, [&](int64_t block) {
    const int64_t end = std::min(rows, (block + 1) * kBlock);
    fast::simd::Vectorized([&] {
      int64_t i = block * kBlock;
      for (; i + 4 <= end; i += 4)
        fast::gemm::AddDotProducts<4>({matrix.data + i * matrix.stride, matrix.stride}, x, columns, sums + i);
      for (; i < end; ++i)
        fast::gemm::AddDotProducts<1>({matrix.data + i * matrix.stride, matrix.stride}, x, columns, sums + i);
    });
  });
}

// out[i, j] += sum over k of left[i, k] * right[j, k], with contiguous rows of `left` and `out`.
struct ProductSize {
  int64_t rows, columns, terms;
};
kernels::FaultOr<Success> AddProducts(const ProductSize& size, const float* left,
                                      const fast::gemm::Matrix& right, float* out) {
  if (size.rows == 1) {
    MultiplyAdd(right, size.columns, left, size.terms, out);
    return Success();
  }
  const library::OneDnnLibrary* library = LoadOneDnn();
  if (library == nullptr) return kernels::KernelFault("oneDNN: {}", OneDnnLoadError());
  const std::string error = library->MultiplyAdd({.rows = size.rows,
                                                  .columns = size.columns,
                                                  .terms = size.terms,
                                                  .left = left,
                                                  .right = right.data,
                                                  .right_stride = right.stride,
                                                  .out = out});
  if (!error.empty()) return kernels::KernelFault("oneDNN: {}", error);
  return Success();
}

// --- row-major weights ----------------------------------------------------------------

class RowMajorMultiplier final : public fast::rnn::RecurrentMultiplier {
 public:
  RowMajorMultiplier(const Cell& cell, const DirectionWeights& weights)
      : parts_(fast::rnn::ProductParts(cell)), hidden_(cell.hidden), weights_(weights) {}

  kernels::FaultOr<Success> Run(ProductKey key, const float* left, const float* bias, float* out) override {
    const int64_t outputs = parts_[key.part].count * hidden_;
    if (key.start != SumStart::kOutput) {
      tensor::ParallelFor(key.rows, outputs, [&](int64_t row) {
        float* sums = out + row * outputs;
        if (bias == nullptr) {
          std::fill(sums, sums + outputs, 0.0f);
        } else {
          std::copy(bias, bias + outputs, sums);
        }
      });
    }
    fast::gemm::Matrix matrix = key.of_state ? weights_.r : weights_.w;
    matrix.data += parts_[key.part].first * hidden_ * matrix.stride;
    return AddProducts({key.rows, outputs, key.of_state ? hidden_ : weights_.inputs}, left, matrix, out);
  }

 private:
  const llvm::SmallVector<fast::rnn::GatePart, 3> parts_;
  const int64_t hidden_;
  const DirectionWeights& weights_;
};

class RowMajorMatmuls final : public fast::rnn::RecurrentMatmuls {
 public:
  bool is_packed() const override { return false; }
  tensor::Layout w_layout() const override { return nullptr; }
  tensor::Layout r_layout() const override { return nullptr; }
  size_t scratch_bytes() const override { return 0; }
  std::string implementation() const override { return "onednn:gemm"; }
  std::unique_ptr<fast::rnn::RecurrentMultiplier> NewRun(const Cell& cell, const DirectionWeights& weights,
                                                         std::byte* /*scratch*/) const override {
    return std::make_unique<RowMajorMultiplier>(cell, weights);
  }
};

// --- packed weights -------------------------------------------------------------------

// Packed constant W [gates * hidden, inputs] and R [gates * hidden, hidden], and the matmuls of all runs.
class PackedWeights final : public fast::rnn::RecurrentMatmuls {
 public:
  // Returns null for small or variable weights, or if they cannot be packed.
  static std::shared_ptr<const PackedWeights> Make(const Cell& cell, const kernels::ValueInfo& w,
                                                   const kernels::ValueInfo& r, const RecurrentSizes& sizes);
  // Packs W only, for matmuls of all gates at once.
  static std::shared_ptr<const PackedWeights> OfInputs(const Cell& cell, const kernels::ValueInfo& w,
                                                       const RecurrentSizes& sizes);

  bool is_packed() const override { return true; }
  tensor::Layout w_layout() const override { return w_.layout(); }
  tensor::Layout r_layout() const override { return r_ ? r_->layout() : nullptr; }
  // Includes preceding bf16 operands.
  size_t scratch_bytes() const override;
  std::string implementation() const override {
    return fmt::format("onednn:{}", products_[0].second.implementation());
  }
  std::unique_ptr<fast::rnn::RecurrentMultiplier> NewRun(const Cell& cell, const DirectionWeights& weights,
                                                         std::byte* scratch) const override;

  llvm::ArrayRef<std::pair<ProductKey, PackedMatmul>> products() const { return products_; }
  std::optional<PackedMatmul> Product(const ProductKey& key) const;
  // Returns the byte offset of the weights of a matmul.
  int64_t Offset(const ProductKey& key, int64_t direction) const {
    return Of(key).Offset(direction, First(key));
  }
  size_t factor_bytes() const { return factor_bytes_; }

 private:
  PackedWeights(const Cell& cell, const PackedMatrix& w, const std::optional<PackedMatrix>& r,
                const RecurrentSizes& sizes);
  bool Add(const ProductKey& key);
  bool AddOfInputs(size_t part, const RecurrentSizes& sizes);
  const PackedMatrix& Of(const ProductKey& key) const { return key.of_state ? *r_ : w_; }
  int64_t First(const ProductKey& key) const { return parts_[key.part].first * hidden_; }

  PackedMatrix w_;
  std::optional<PackedMatrix> r_;
  llvm::SmallVector<fast::rnn::GatePart, 3> parts_;
  int64_t hidden_;
  size_t factor_bytes_ = 0;
  std::vector<std::pair<ProductKey, PackedMatmul>> products_;
};

std::shared_ptr<const PackedWeights> PackedWeights::Make(const Cell& cell, const kernels::ValueInfo& w,
                                                         const kernels::ValueInfo& r,
                                                         const RecurrentSizes& sizes) {
  constexpr int64_t kWorthPacking = 1 << 15;  // minimum elements; smaller matrices are just as fast unpacked
  if (cell.gates * cell.hidden * cell.hidden < kWorthPacking) return nullptr;
  const auto packed_w = PackedMatrix::Make(w, sizes.batch * sizes.steps, sizes.type);
  const auto packed_r = PackedMatrix::Make(r, sizes.batch, sizes.type);
  if (!packed_w || !packed_r) return nullptr;
  PackedWeights weights(cell, *packed_w, *packed_r, sizes);
  if (cell.linear_before_reset &&
      !weights.Add({true, fast::rnn::AllGates(cell), sizes.batch, SumStart::kZero}))
    return nullptr;
  for (size_t part = 0; part < fast::rnn::PartsOf(cell).size(); ++part) {
    if (!weights.AddOfInputs(part, sizes)) return nullptr;
    if (cell.linear_before_reset) continue;
    if (!weights.Add({true, part, sizes.batch, SumStart::kOutput})) return nullptr;
  }
  return std::make_shared<const PackedWeights>(std::move(weights));
}

std::shared_ptr<const PackedWeights> PackedWeights::OfInputs(const Cell& cell, const kernels::ValueInfo& w,
                                                             const RecurrentSizes& sizes) {
  const auto packed_w = PackedMatrix::Make(w, sizes.batch * sizes.steps, sizes.type);
  if (!packed_w) return nullptr;
  PackedWeights weights(cell, *packed_w, std::nullopt, sizes);
  if (!weights.AddOfInputs(fast::rnn::AllGates(cell), sizes)) return nullptr;
  return std::make_shared<const PackedWeights>(std::move(weights));
}

bool PackedWeights::AddOfInputs(size_t part, const RecurrentSizes& sizes) {
  const SumStart start = sizes.has_bias ? SumStart::kBias : SumStart::kZero;
  for (int64_t steps : {sizes.steps, sizes.length % sizes.steps}) {
    if (steps > 0 && !Add({false, part, sizes.batch * steps, start})) return false;
  }
  return true;
}

std::optional<PackedMatmul> PackedWeights::Product(const ProductKey& key) const {
  const auto part = Of(key).Part(First(key), parts_[key.part].count * hidden_);
  return part ? PackedMatmul::Make(*part, key.rows, key.start) : std::nullopt;
}

size_t PackedWeights::scratch_bytes() const {
  size_t most = 0;
  for (const auto& [key, product] : products_) most = std::max(most, product.scratch_bytes());
  return most + factor_bytes_;
}

PackedWeights::PackedWeights(const Cell& cell, const PackedMatrix& w, const std::optional<PackedMatrix>& r,
                             const RecurrentSizes& sizes)
    : w_(w), r_(r), parts_(fast::rnn::ProductParts(cell)), hidden_(cell.hidden) {
  constexpr size_t kAligned = 64;
  if (sizes.type != fast::memory::StorageType::kBf16) return;
  const int64_t most = sizes.batch * std::max(sizes.steps * w.terms(), r ? r->terms() : 0);
  factor_bytes_ = (static_cast<size_t>(most) * sizeof(uint16_t) + kAligned - 1) / kAligned * kAligned;
}

bool PackedWeights::Add(const ProductKey& key) {
  std::optional<PackedMatmul> product = Product(key);
  if (product) products_.emplace_back(key, std::move(*product));
  return product.has_value();
}

class PackedMultiplier final : public fast::rnn::RecurrentMultiplier {
 public:
  PackedMultiplier(const Cell& cell, const DirectionWeights& weights, const PackedWeights& packed,
                   std::byte* scratch)
      : hidden_(cell.hidden), weights_(weights), packed_(packed), scratch_(scratch) {}

  kernels::FaultOr<Success> Run(ProductKey key, const float* left, const float* bias, float* out) override {
    if (key.start == SumStart::kBias && bias == nullptr) key.start = SumStart::kZero;
    kernels::FaultOr<PackedMatmul::Call*> call = CallOf(key);
    if (!call) return call.error();
    const fast::gemm::Matrix& matrix = key.of_state ? weights_.r : weights_.w;
    const auto* part =
        reinterpret_cast<const std::byte*>(matrix.data) + packed_.Offset(key, weights_.direction);
    if (packed_.factor_bytes() == 0) return (*call)->Run(left, part, bias, out);
    const int64_t terms = key.of_state ? hidden_ : weights_.inputs;
    auto* rounded = reinterpret_cast<uint16_t*>(scratch_);
    tensor::ParallelFor(key.rows, terms, [&](int64_t row) {
      fast::gemm::RoundToBf16(left + row * terms, terms, rounded + row * terms);
    });
    return (*call)->Run(rounded, part, bias, out);
  }

 private:
  struct Kept {
    ProductKey key;
    std::optional<PackedMatmul> own;  // created for an unplanned number of rows
    std::vector<std::byte> own_scratch;
    std::optional<PackedMatmul::Call> call;
  };

  kernels::FaultOr<PackedMatmul::Call*> CallOf(const ProductKey& key) {
    for (const std::unique_ptr<Kept>& kept : calls_) {
      if (kept->key == key) return &*kept->call;
    }
    auto made = std::make_unique<Kept>();
    made->key = key;
    for (const auto& [planned, product] : packed_.products()) {
      if (planned == key) made->call.emplace(product, scratch_ + packed_.factor_bytes());
    }
    if (!made->call) {
      made->own = packed_.Product(key);
      if (!made->own)
        return kernels::KernelFault("oneDNN: no product of {} rows by packed weights", key.rows);
      made->own_scratch.resize(made->own->scratch_bytes());
      made->call.emplace(*made->own, made->own_scratch.data());
    }
    calls_.push_back(std::move(made));
    return &*calls_.back()->call;
  }

  const int64_t hidden_;
  const DirectionWeights& weights_;
  const PackedWeights& packed_;
  std::byte* scratch_;
  std::vector<std::unique_ptr<Kept>> calls_;
};

std::unique_ptr<fast::rnn::RecurrentMultiplier> PackedWeights::NewRun(const Cell& cell,
                                                                      const DirectionWeights& weights,
                                                                      std::byte* scratch) const {
  return std::make_unique<PackedMultiplier>(cell, weights, *this, scratch);
}

// --- rows -----------------------------------------------------------------------------

constexpr kernels::Reason kNeedsTiles("needs AMX and precision bf16");
constexpr kernels::Reason kCannotPack(
    "the weights are small, not constant, or oneDNN has no packed matmul for them");

bool UsesTiles(const fast::rnn::RecurrentLayer& layer) {
  return fast::HasAmx() && layer.sizes.type == fast::memory::StorageType::kBf16 && !layer.is_side_by_side;
}

// For a single row the time is bound by reading R from a cache, with AMX tiles too.
kernels::KernelOrReason MakePacked(const kernels::KernelRequest& request) {
  const kernels::OrReason<fast::rnn::RecurrentLayer> layer = fast::rnn::RecurrentLayerOf(request);
  if (!layer) return layer.reason();
  if (!UsesTiles(*layer)) return kNeedsTiles;
  if (layer->sizes.batch == 1) return kernels::Reason("a batch of one");
  std::shared_ptr<const fast::rnn::RecurrentMatmuls> packed =
      PackedWeights::Make(layer->cell, request.inputs[layer->w], request.inputs[layer->w + 1], layer->sizes);
  if (packed == nullptr) return kCannotPack;
  return fast::rnn::MakeMatmulRecurrent(request, *layer, std::move(packed));
}

// Our panels, with oneDNN's matmul for the inputs of all steps.
kernels::KernelOrReason MakePackedInputs(const kernels::KernelRequest& request) {
  const kernels::OrReason<fast::rnn::RecurrentLayer> layer = fast::rnn::RecurrentLayerOf(request);
  if (!layer) return layer.reason();
  if (!UsesTiles(*layer)) return kNeedsTiles;
  if (!fast::rnn::PanelWeights::TakesInputs(layer->cell, layer->sizes))
    return kernels::Reason("several batch elements, or a state that is not whole panels");
  std::shared_ptr<const fast::rnn::RecurrentMatmuls> packed =
      PackedWeights::OfInputs(layer->cell, request.inputs[layer->w], layer->sizes);
  if (packed == nullptr) return kCannotPack;
  return fast::rnn::MakePanelRecurrent(request, *layer, std::move(packed));
}

kernels::KernelOrReason MakeRowMajor(const kernels::KernelRequest& request) {
  const kernels::OrReason<fast::rnn::RecurrentLayer> layer = fast::rnn::RecurrentLayerOf(request);
  if (!layer) return layer.reason();
  if (LoadOneDnn() == nullptr) return kNotInOneDnn;
  return fast::rnn::MakeMatmulRecurrent(request, *layer, std::make_shared<RowMajorMatmuls>());
}

// Relative to our kernel with constant weights in panels.
constexpr int kPackedCost = 50, kPackedInputsCost = 60, kRowMajorCost = 200;
constexpr kernels::Implementation kRecurrentRows[] = {
    {"onednn_packed", kernels::AlwaysApplies, kernels::FixedCost<kPackedCost>, MakePacked},
    {"onednn_packed_inputs", kernels::AlwaysApplies, kernels::FixedCost<kPackedInputsCost>, MakePackedInputs},
    {"onednn", kernels::AlwaysApplies, kernels::FixedCost<kRowMajorCost>, MakeRowMajor}};

}  // namespace

void AddRecurrentRows(fast::FastTables& tables) {
  const auto add = [&](std::initializer_list<std::string_view> sets, std::string_view name) {
    tables.Append(sets, name, {{"f32", kRecurrentRows}});
  };
  add({"opset1", "opset4"}, "LSTMCell");
  add({"opset3"}, "GRUCell");
  add({"opset1"}, "RNNCell");
  for (std::string_view name : {"LSTMSequence", "GRUSequence", "RNNSequence"}) add({"opset5"}, name);
}

}  // namespace nnefc::runtime::onednn

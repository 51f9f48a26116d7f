#include "runtime/fast/rnn/recurrent_matmul.h"

#include <algorithm>

#include "runtime/fast/gemm/dot_products.h"
#include "runtime/fast/gemm/panel_gemm.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {
namespace {

// sums += matrix * x, on all threads if the matrix is large.
void MultiplyAdd(const Matrix& matrix, int64_t rows, const float* x, int64_t columns, float* sums) {
  constexpr int64_t kBlock = 64;
  ParallelFor((rows + kBlock - 1) / kBlock, kBlock * columns / 4, [&](int64_t block) {
    const int64_t end = std::min(rows, (block + 1) * kBlock);
    Vectorized([&] {
      int64_t i = block * kBlock;
      for (; i + 4 <= end; i += 4)
        AddDotProducts<4>({matrix.data + i * matrix.stride, matrix.stride}, x, columns, sums + i);
      for (; i < end; ++i)
        AddDotProducts<1>({matrix.data + i * matrix.stride, matrix.stride}, x, columns, sums + i);
    });
  });
}

// out[i, j] += sum over k of left[i, k] * right[j, k], with contiguous rows of `left` and `out`.
struct ProductSize {
  int64_t rows, columns, terms;
};
FaultOr<Success> AddProducts(const ProductSize& size, const float* left, const Matrix& right, float* out) {
  if (size.rows == 1) {
    MultiplyAdd(right, size.columns, left, size.terms, out);
    return Success();
  }
  const dnnl_status_t status = dnnl_sgemm('N', 'T', size.rows, size.columns, size.terms, 1.0f, left,
                                          size.terms, right.data, right.stride, 1.0f, out, size.columns);
  if (status == dnnl_out_of_memory) return OutOfMemory();
  if (status != dnnl_success) return KernelFault("oneDNN: a product of matrices fails ({})", int{status});
  return Success();
}

}  // namespace

llvm::SmallVector<GatePart, 2> PartsOf(const Cell& cell) {
  if (cell.kind == CellKind::kGru) return {{0, 2}, {2, 1}};
  return {{0, cell.gates}};
}

llvm::SmallVector<GatePart, 3> ProductParts(const Cell& cell) {
  const llvm::SmallVector<GatePart, 2> parts = PartsOf(cell);
  llvm::SmallVector<GatePart, 3> all(parts.begin(), parts.end());
  if (cell.kind == CellKind::kGru) all.push_back({0, cell.gates});
  return all;
}

size_t AllGates(const Cell& cell) {
  return ProductParts(cell).size() - 1;
}

std::optional<PackedWeights> PackedWeights::Make(const Cell& cell, const ValueInfo& w, const ValueInfo& r,
                                                 const Sizes& sizes) {
  constexpr int64_t kWorthPacking = 1 << 15;  // minimum elements; smaller matrices are just as fast unpacked
  if (cell.gates * cell.hidden * cell.hidden < kWorthPacking) return std::nullopt;
  const auto packed_w = PackedMatrix::Make(w, sizes.batch * sizes.steps, sizes.type);
  const auto packed_r = PackedMatrix::Make(r, sizes.batch, sizes.type);
  if (!packed_w || !packed_r) return std::nullopt;
  PackedWeights weights(cell, *packed_w, *packed_r, sizes);
  if (cell.linear_before_reset && !weights.Add({true, AllGates(cell), sizes.batch, SumStart::kZero}))
    return std::nullopt;
  for (size_t part = 0; part < PartsOf(cell).size(); ++part) {
    if (!weights.AddOfInputs(part, sizes)) return std::nullopt;
    if (cell.linear_before_reset) continue;
    if (!weights.Add({true, part, sizes.batch, SumStart::kOutput})) return std::nullopt;
  }
  return weights;
}

std::optional<PackedWeights> PackedWeights::OfInputs(const Cell& cell, const ValueInfo& w,
                                                     const Sizes& sizes) {
  const auto packed_w = PackedMatrix::Make(w, sizes.batch * sizes.steps, sizes.type);
  if (!packed_w) return std::nullopt;
  PackedWeights weights(cell, *packed_w, std::nullopt, sizes);
  if (!weights.AddOfInputs(AllGates(cell), sizes)) return std::nullopt;
  return weights;
}

bool PackedWeights::AddOfInputs(size_t part, const Sizes& sizes) {
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
                             const Sizes& sizes)
    : w_(w), r_(r), parts_(ProductParts(cell)), hidden_(cell.hidden) {
  constexpr size_t kAligned = 64;
  if (sizes.type != DnnType::bf16) return;
  const int64_t most = sizes.batch * std::max(sizes.steps * w.terms(), r ? r->terms() : 0);
  factor_bytes_ = (static_cast<size_t>(most) * sizeof(uint16_t) + kAligned - 1) / kAligned * kAligned;
}

bool PackedWeights::Add(const ProductKey& key) {
  std::optional<PackedMatmul> product = Product(key);
  if (product) products_.emplace_back(key, std::move(*product));
  return product.has_value();
}

FaultOr<Success> Multiplier::Run(ProductKey key, const float* left, const float* bias, float* out) {
  const int64_t outputs = parts_[key.part].count * hidden_;
  if (packed_ != nullptr) {
    if (key.start == SumStart::kBias && bias == nullptr) key.start = SumStart::kZero;
    FaultOr<PackedMatmul::Call*> call = CallOf(key);
    if (!call) return call.error();
    const Matrix& matrix = key.of_state ? weights_.r : weights_.w;
    const auto* part =
        reinterpret_cast<const std::byte*>(matrix.data) + packed_->Offset(key, weights_.direction);
    if (packed_->factor_bytes() == 0) return (*call)->Run(left, part, bias, out);
    const int64_t terms = key.of_state ? hidden_ : weights_.inputs;
    auto* rounded = reinterpret_cast<uint16_t*>(scratch_);
    ParallelFor(key.rows, terms,
                [&](int64_t row) { RoundToBf16(left + row * terms, terms, rounded + row * terms); });
    return (*call)->Run(rounded, part, bias, out);
  }
  if (key.start != SumStart::kOutput) {
    ParallelFor(key.rows, outputs, [&](int64_t row) {
      float* sums = out + row * outputs;
      if (bias == nullptr) {
        std::fill(sums, sums + outputs, 0.0f);
      } else {
        std::copy(bias, bias + outputs, sums);
      }
    });
  }
  Matrix matrix = key.of_state ? weights_.r : weights_.w;
  matrix.data += parts_[key.part].first * hidden_ * matrix.stride;
  return AddProducts({key.rows, outputs, key.of_state ? hidden_ : weights_.inputs}, left, matrix, out);
}

FaultOr<PackedMatmul::Call*> Multiplier::CallOf(const ProductKey& key) {
  for (const std::unique_ptr<Kept>& kept : calls_) {
    if (kept->key == key) return &*kept->call;
  }
  auto made = std::make_unique<Kept>();
  made->key = key;
  for (const auto& [planned, product] : packed_->products()) {
    if (planned == key) made->call.emplace(product, scratch_ + packed_->factor_bytes());
  }
  if (!made->call) {
    made->own = packed_->Product(key);
    if (!made->own) return KernelFault("oneDNN: no product of {} rows by packed weights", key.rows);
    made->own_scratch.resize(made->own->scratch_bytes());
    made->call.emplace(*made->own, made->own_scratch.data());
  }
  calls_.push_back(std::move(made));
  return &*calls_.back()->call;
}

}  // namespace nnefc::runtime

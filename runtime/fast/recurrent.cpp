// LSTMCell, GRUCell and RNNCell, and the sequences of them, in f32: the inputs
// of many steps are multiplied by their weights at once, a step of a whole
// batch is one product of matrices, by packed weights where they are constant and
// large, and gates are functions of rows. Formulas are those of
// runtime/kernels/recurrent.cpp, which takes what is declined here: other types, peepholes.

#include "runtime/kernels/recurrent.h"

#include <bit>
#include <cstring>

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/families.h"
#include "runtime/fast/packed_matrix.h"
#include "runtime/fast/vector_math.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

// ---- products ----

// A matrix whose rows lie `stride` apart.
struct Matrix {
  const float* data;
  int64_t stride;
};

// An element of a matrix is aligned as a float is.
using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));

// sums[i] += sum over k of rows[i, k] * x[k], for `kRows` rows.
template <int64_t kRows>
[[gnu::always_inline]] inline void AddDots(const Matrix& rows, const float* x, int64_t columns, float* sums) {
  LaneSums partial[kRows] = {};
  int64_t k = 0;
  for (; k + kSumLanes <= columns; k += kSumLanes) {
    const LaneSums factor = *reinterpret_cast<const Lanes*>(x + k);
    for (int64_t i = 0; i < kRows; ++i)
      partial[i] += *reinterpret_cast<const Lanes*>(rows.data + i * rows.stride + k) * factor;
  }
  for (int64_t i = 0; i < kRows; ++i) {
    float rest = 0;
    for (int64_t j = k; j < columns; ++j) rest += rows.data[i * rows.stride + j] * x[j];
    for (int64_t width = kSumLanes / 2; width > 0; width /= 2) {
      for (int64_t lane = 0; lane < width; ++lane) partial[i][lane] += partial[i][lane + width];
    }
    sums[i] += partial[i][0] + rest;
  }
}

// sums += matrix * x, on all threads if the matrix is large.
void AddProduct(const Matrix& matrix, int64_t rows, const float* x, int64_t columns, float* sums) {
  constexpr int64_t kBlock = 64;
  ParallelFor((rows + kBlock - 1) / kBlock, kBlock * columns / 4, [&](int64_t block) {
    const int64_t end = std::min(rows, (block + 1) * kBlock);
    Vectorized([&] {
      int64_t i = block * kBlock;
      for (; i + 4 <= end; i += 4)
        AddDots<4>({matrix.data + i * matrix.stride, matrix.stride}, x, columns, sums + i);
      for (; i < end; ++i) AddDots<1>({matrix.data + i * matrix.stride, matrix.stride}, x, columns, sums + i);
    });
  });
}

// out[i, j] += sum over k of left[i, k] * right[j, k], where rows of `left` and of `out` lie one
// behind the other.
struct ProductSize {
  int64_t rows, columns, terms;
};
FaultOr<Success> AddProducts(const ProductSize& size, const float* left, const Matrix& right, float* out) {
  if (size.rows == 1) {
    AddProduct(right, size.columns, left, size.terms, out);
    return Success();
  }
  const dnnl_status_t status = dnnl_sgemm('N', 'T', size.rows, size.columns, size.terms, 1.0f, left,
                                          size.terms, right.data, right.stride, 1.0f, out, size.columns);
  if (status == dnnl_out_of_memory) return OutOfMemory();
  if (status != dnnl_success) return KernelFault("oneDNN: a product of matrices fails ({})", int{status});
  return Success();
}

// Gates that are computed together: of a GRU the candidate stands alone, since it waits for the reset.
struct GatePart {
  int64_t first, count;
};
llvm::SmallVector<GatePart, 2> PartsOf(const Cell& cell) {
  if (cell.kind == CellKind::kGru) return {{0, 2}, {2, 1}};
  return {{0, cell.gates}};
}

// The nearest numbers of bf16, of two the even one.
void RoundToBf16(const float* numbers, int64_t count, uint16_t* rounded) {
  Vectorized([&] {
    for (int64_t i = 0; i < count; ++i) {
      const auto bits = std::bit_cast<uint32_t>(numbers[i]);
      const uint32_t nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
      constexpr uint32_t kQuietNan = 0x7FC0;
      rounded[i] = static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? kQuietNan : nearest);
    }
  });
}

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
                                           const Sizes& sizes) {
    constexpr int64_t kWorthPacking = 1 << 15;  // elements: fewer are multiplied as quickly as they are
    if (cell.gates * cell.hidden * cell.hidden < kWorthPacking) return std::nullopt;
    const auto packed_w = PackedMatrix::Make(w, sizes.batch * sizes.steps, sizes.type);
    const auto packed_r = PackedMatrix::Make(r, sizes.batch, sizes.type);
    if (!packed_w || !packed_r) return std::nullopt;
    PackedWeights weights(cell, *packed_w, *packed_r, sizes);
    const SumStart first = sizes.has_bias ? SumStart::kBias : SumStart::kZero;
    for (size_t part = 0; part < weights.parts_.size(); ++part) {
      const bool is_apart = part == 1 && cell.linear_before_reset;
      for (int64_t steps : {sizes.steps, sizes.length % sizes.steps}) {
        if (steps > 0 && !weights.Add({false, part, sizes.batch * steps, first})) return std::nullopt;
      }
      if (!weights.Add({true, part, sizes.batch, is_apart ? first : SumStart::kOutput})) return std::nullopt;
    }
    return weights;
  }

  const PackedMatrix& w() const { return w_; }
  const PackedMatrix& r() const { return r_; }
  llvm::ArrayRef<std::pair<ProductKey, PackedProduct>> products() const { return products_; }
  std::optional<PackedProduct> Product(const ProductKey& key) const {
    const auto part = Of(key).Part(First(key), parts_[key.part].count * hidden_);
    return part ? PackedProduct::Make(*part, key.rows, key.start) : std::nullopt;
  }
  // Where the weights of a product begin, in bytes.
  int64_t Offset(const ProductKey& key, int64_t direction) const {
    return Of(key).Offset(direction, First(key));
  }
  // What products want besides, and before that left factors of bf16.
  size_t scratch_bytes() const {
    size_t most = 0;
    for (const auto& [key, product] : products_) most = std::max(most, product.scratch_bytes());
    return most + factor_bytes_;
  }
  size_t factor_bytes() const { return factor_bytes_; }

 private:
  PackedWeights(const Cell& cell, const PackedMatrix& w, const PackedMatrix& r, const Sizes& sizes)
      : w_(w), r_(r), parts_(PartsOf(cell)), hidden_(cell.hidden) {
    constexpr size_t kAligned = 64;
    if (sizes.type != DnnType::bf16) return;
    const int64_t most = sizes.batch * std::max(sizes.steps * w.terms(), r.terms());
    factor_bytes_ = (static_cast<size_t>(most) * sizeof(uint16_t) + kAligned - 1) / kAligned * kAligned;
  }
  bool Add(const ProductKey& key) {
    std::optional<PackedProduct> product = Product(key);
    if (product) products_.emplace_back(key, std::move(*product));
    return product.has_value();
  }
  const PackedMatrix& Of(const ProductKey& key) const { return key.of_state ? r_ : w_; }
  int64_t First(const ProductKey& key) const { return parts_[key.part].first * hidden_; }

  PackedMatrix w_, r_;
  llvm::SmallVector<GatePart, 2> parts_;
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
      : parts_(PartsOf(cell)), hidden_(cell.hidden), weights_(weights), packed_(packed), scratch_(scratch) {}

  // out = start + left * weights^T, row-major; `bias` may be null, which is zeros.
  FaultOr<Success> Run(ProductKey key, const float* left, const float* bias, float* out) {
    const int64_t outputs = parts_[key.part].count * hidden_;
    if (packed_ != nullptr) {
      if (key.start == SumStart::kBias && bias == nullptr) key.start = SumStart::kZero;
      FaultOr<PackedProduct::Call*> call = CallOf(key);
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

 private:
  struct Kept {
    ProductKey key;
    std::optional<PackedProduct> own;  // of a number of rows that was not planned
    std::vector<std::byte> own_scratch;
    std::optional<PackedProduct::Call> call;
  };

  FaultOr<PackedProduct::Call*> CallOf(const ProductKey& key) {
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

  const llvm::SmallVector<GatePart, 2> parts_;
  const int64_t hidden_;
  const DirectionWeights& weights_;
  const PackedWeights* packed_;
  std::byte* scratch_;
  std::vector<std::unique_ptr<Kept>> calls_;
};

// ---- gates ----

template <typename Function>
void MapRow(float* x, int64_t count, const Function& function) {
  Vectorized([&] {
    for (int64_t i = 0; i < count; ++i) x[i] = function(x[i]);
  });
}

void ActivateRow(const CellFunction& activation, float* x, int64_t count) {
  const auto alpha = static_cast<float>(activation.alpha);
  const auto beta = static_cast<float>(activation.beta);
  switch (activation.function) {
    case ir::CellActivation::kSigmoid:
      return MapRow(x, count, [](float v) { return VectorSigmoid(v); });
    case ir::CellActivation::kTanh:
      return MapRow(x, count, [](float v) { return VectorTanh(v); });
    case ir::CellActivation::kRelu:
      return MapRow(x, count, [](float v) { return v < 0.0f ? 0.0f : v; });
    case ir::CellActivation::kHardSigmoid:
      return MapRow(x, count, [=](float v) {
        const float y = alpha * v + beta;
        return y < 0.0f ? 0.0f : y > 1.0f ? 1.0f : y;
      });
  }
}

// A part of the state of one element of the batch: gates lie `hidden` apart, the candidate
// of a GRU on its own.
struct StateRow {
  float* gates;
  float* candidate;
  const float* h;
  float* next_h;
  float* c = nullptr;              // of an LSTM: before and after the step
  const float* product = nullptr;  // of a GRU: R * h of the new state if the reset acts on it
  float* reset = nullptr;          // of a GRU: r * h, otherwise
  int64_t count = 0;
};

class CellMath {
 public:
  explicit CellMath(const Cell& cell)
      : cell_(cell), is_usual_(cell.kind == CellKind::kLstm && HasUsualFunctions()) {}

  void Finish(const StateRow& row) const {
    if (cell_.kind == CellKind::kLstm) return FinishLstm(row);
    if (cell_.kind == CellKind::kGru) return FinishGru(row);
    Gate(row, 0, 0);
    std::memcpy(row.next_h, row.gates, static_cast<size_t>(row.count) * sizeof(float));
  }

  // The gates z and r, and r * h where the reset acts on the state.
  void StartGru(const StateRow& row) const {
    Gate(row, 0, 0);
    const float* r = Gate(row, 1, 0);
    if (cell_.linear_before_reset) return;
    Vectorized([&] {
      for (int64_t j = 0; j < row.count; ++j) row.reset[j] = r[j] * row.h[j];
    });
  }

 private:
  float* Gate(const StateRow& row, int64_t place, size_t activation) const {
    return Apply(row.gates + place * cell_.hidden, row, activation);
  }
  float* Apply(float* gate, const StateRow& row, size_t activation) const {
    const auto most = static_cast<float>(cell_.clip);
    if (most > 0) MapRow(gate, row.count, [=](float v) { return v < -most ? -most : v > most ? most : v; });
    ActivateRow(cell_.activations[activation], gate, row.count);
    return gate;
  }

  bool HasUsualFunctions() const {
    using ir::CellActivation;
    const auto is = [&](size_t place, CellActivation function) {
      return cell_.activations[place].function == function;
    };
    return cell_.clip <= 0 && is(0, CellActivation::kSigmoid) && is(1, CellActivation::kTanh) &&
           is(2, CellActivation::kTanh);
  }

  // C' = f * C + i * c;  H' = o * h(C')
  void FinishLstm(const StateRow& row) const {
    if (is_usual_) {  // in one pass
      const float* gates[4];
      for (size_t i = 0; i < 4; ++i) gates[i] = row.gates + cell_.order[i] * cell_.hidden;
      return Vectorized([&] {
        for (int64_t j = 0; j < row.count; ++j) {
          const float kept = VectorSigmoid(gates[0][j]) * row.c[j];
          row.c[j] = kept + VectorSigmoid(gates[1][j]) * VectorTanh(gates[2][j]);
          row.next_h[j] = VectorTanh(row.c[j]) * VectorSigmoid(gates[3][j]);
        }
      });
    }
    const float* f = Gate(row, cell_.order[0], 0);
    const float* i = Gate(row, cell_.order[1], 0);
    const float* c = Gate(row, cell_.order[2], 1);
    const float* o = Gate(row, cell_.order[3], 0);
    Vectorized([&] {
      for (int64_t j = 0; j < row.count; ++j) {
        row.c[j] = f[j] * row.c[j] + i[j] * c[j];
        row.next_h[j] = row.c[j];
      }
    });
    ActivateRow(cell_.activations[2], row.next_h, row.count);
    Vectorized([&] {
      for (int64_t j = 0; j < row.count; ++j) row.next_h[j] *= o[j];
    });
  }

  // H' = (1 - z) * h + z * H
  void FinishGru(const StateRow& row) const {
    const float* z = row.gates;
    const float* r = row.gates + cell_.hidden;
    float* sum = row.candidate;
    if (cell_.linear_before_reset) {
      Vectorized([&] {
        for (int64_t j = 0; j < row.count; ++j) sum[j] += r[j] * row.product[j];
      });
    }
    const float* h = Apply(sum, row, 1);
    Vectorized([&] {
      for (int64_t j = 0; j < row.count; ++j) row.next_h[j] = (1.0f - z[j]) * h[j] + z[j] * row.h[j];
    });
  }

  const Cell& cell_;
  const bool is_usual_;
};

// ---- steps ----

// Elements [0, batch) of a batch that all make the same steps.
struct Batch {
  int64_t size, length;
  const float* x;  // [size, length of the tensor, inputs]
  int64_t x_stride;
  const float* h;  // the first state
  int64_t h_stride;
  float* y;  // states by element and step, `y_stride` and `hidden` apart
  int64_t y_stride;
  float* c;  // of an LSTM
  int64_t c_stride;
  bool reverse;
};

class StepRunner {
 public:
  // Where things are in scratch memory.
  struct Scratch {
    Scratch(const Cell& cell, int64_t batch, int64_t steps, int64_t inputs, size_t product_bytes) {
      constexpr int64_t kAligned = 16;  // floats
      const auto place = [&](int64_t count) {
        const int64_t begin = floats;
        floats += (count + kAligned - 1) / kAligned * kAligned;
        return begin;
      };
      for (const GatePart& part : PartsOf(cell))
        gates.push_back(place(batch * steps * part.count * cell.hidden));
      beside = place(batch * cell.hidden);
      x = place(batch == 1 ? 0 : batch * steps * inputs);
      h = place(batch == 1 ? 0 : batch * cell.hidden);
      product = place(static_cast<int64_t>(product_bytes / sizeof(float)) + 1);
    }

    llvm::SmallVector<int64_t, 2> gates;  // by part: [steps, batch, gates, hidden]
    int64_t beside;                       // of a GRU: r * h, or R * h of the candidate
    int64_t x, h;  // of more than one element: [steps, batch, inputs] and [batch, hidden]
    int64_t product;
    int64_t floats = 0;
    size_t bytes() const { return static_cast<size_t>(floats) * sizeof(float); }
  };

  StepRunner(const Cell& cell, const DirectionWeights& weights, const PackedWeights* packed, int64_t steps,
             const Scratch& places, float* scratch)
      : cell_(cell),
        math_(cell),
        parts_(PartsOf(cell)),
        weights_(weights),
        multiplier_(cell, weights, packed, reinterpret_cast<std::byte*>(scratch + places.product)),
        steps_(steps),
        beside_(scratch + places.beside),
        x_(scratch + places.x),
        h_(scratch + places.h) {
    for (int64_t place : places.gates) gates_.push_back(scratch + place);
  }

  FaultOr<Success> Run(const Batch& batch) {
    if (batch.size > 1) {
      for (int64_t element = 0; element < batch.size; ++element)
        Copy(batch.h + element * batch.h_stride, cell_.hidden, h_ + element * cell_.hidden);
    }
    for (int64_t first = 0; first < batch.length; first += steps_) {
      const int64_t count = std::min(steps_, batch.length - first);
      if (FaultOr<Success> done = MultiplyInputs(batch, first, count); !done) return done.error();
      for (int64_t step = 0; step < count; ++step) {
        const int64_t place = batch.reverse ? count - 1 - step : step;
        if (FaultOr<Success> done = Step(batch, first + step, place); !done) return done.error();
      }
    }
    return Success();
  }

 private:
  static void Copy(const float* from, int64_t count, float* to) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
  }
  static int64_t Time(const Batch& batch, int64_t step) {
    return batch.reverse ? batch.length - 1 - step : step;
  }
  int64_t Width(size_t part) const { return parts_[part].count * cell_.hidden; }
  float* Gates(const Batch& batch, size_t part, int64_t place) const {
    return gates_[part] + place * batch.size * Width(part);
  }
  // Of the batch, row-major: that before a step.
  const float* State(const Batch& batch, int64_t step) const {
    if (batch.size > 1) return h_;
    return step == 0 ? batch.h : batch.y + Time(batch, step - 1) * cell_.hidden;
  }
  const float* Bias(int64_t gate) const {
    return weights_.bias == nullptr ? nullptr : weights_.bias + gate * cell_.hidden;
  }

  // X * W^T + B for `count` steps from `first` on, kept in the order of time.
  FaultOr<Success> MultiplyInputs(const Batch& batch, int64_t first, int64_t count) {
    const int64_t inputs = weights_.inputs;
    const float* x = batch.x + (batch.reverse ? Time(batch, first + count - 1) : first) * inputs;
    if (batch.size > 1) {
      ParallelFor(count * batch.size, inputs, [&](int64_t row) {
        const int64_t step = row / batch.size, element = row % batch.size;
        Copy(x + element * batch.x_stride + step * inputs, inputs, x_ + row * inputs);
      });
      x = x_;
    }
    for (size_t part = 0; part < parts_.size(); ++part) {
      FaultOr<Success> done = multiplier_.Run({false, part, count * batch.size, SumStart::kBias}, x,
                                              Bias(parts_[part].first), Gates(batch, part, 0));
      if (!done) return done;
    }
    return Success();
  }

  FaultOr<Success> Step(const Batch& batch, int64_t step, int64_t place) {
    const float* h = State(batch, step);
    FaultOr<Success> done =
        multiplier_.Run({true, 0, batch.size, SumStart::kOutput}, h, nullptr, Gates(batch, 0, place));
    if (!done) return done;
    if (cell_.kind == CellKind::kGru) {
      ForEachPart(batch, step, place, [&](const StateRow& row) { math_.StartGru(row); });
      if (cell_.linear_before_reset) {
        done = multiplier_.Run({true, 1, batch.size, SumStart::kBias}, h, Bias(3), beside_);
      } else {
        done = multiplier_.Run({true, 1, batch.size, SumStart::kOutput}, beside_, nullptr,
                               Gates(batch, 1, place));
      }
      if (!done) return done;
    }
    ForEachPart(batch, step, place, [&](const StateRow& row) {
      math_.Finish(row);
      // What a product reads next lies row-major.
      if (batch.size > 1) Copy(row.next_h, row.count, h_ + (row.h - h_));
    });
    return Success();
  }

  template <typename Body>
  void ForEachPart(const Batch& batch, int64_t step, int64_t place, const Body& body) const {
    constexpr int64_t kPart = 512;
    const int64_t parts = (cell_.hidden + kPart - 1) / kPart;
    ParallelFor(batch.size * parts, kPart * cell_.gates * 4, [&](int64_t task) {
      const int64_t element = task / parts;
      const int64_t first = task % parts * kPart;
      float* beside = beside_ + element * cell_.hidden + first;
      float* candidate = parts_.size() == 1 ? nullptr : Gates(batch, 1, place) + element * Width(1) + first;
      body({.gates = Gates(batch, 0, place) + element * Width(0) + first,
            .candidate = candidate,
            .h = State(batch, step) + element * cell_.hidden + first,
            .next_h = batch.y + element * batch.y_stride + Time(batch, step) * cell_.hidden + first,
            .c = batch.c == nullptr ? nullptr : batch.c + element * batch.c_stride + first,
            .product = beside,
            .reset = beside,
            .count = std::min(kPart, cell_.hidden - first)});
    });
  }

  const Cell& cell_;
  const CellMath math_;
  const llvm::SmallVector<GatePart, 2> parts_;
  const DirectionWeights& weights_;
  Multiplier multiplier_;
  const int64_t steps_;  // whose gates are in memory at once
  llvm::SmallVector<float*, 2> gates_;
  float* beside_;
  float *x_, *h_;
};

// ---- kernels ----

class RecurrentKernel final : public Kernel {
 public:
  struct Form {
    bool is_sequence;
    bool reverse;
    int64_t steps;
    std::optional<PackedWeights> packed;
  };
  RecurrentKernel(const Cell& cell, Form form, const StepRunner::Scratch& scratch)
      : cell_(cell), form_(std::move(form)), scratch_(scratch) {}

  std::string implementation() const override {
    return form_.packed ? fmt::format("onednn:{}", form_.packed->products()[0].second.implementation())
                        : "onednn:gemm";
  }

  FaultOr<Success> Run(const KernelRun& run) const override {
    return form_.is_sequence ? RunSequence(run) : RunCell(run);
  }

 private:
  bool is_lstm() const { return cell_.kind == CellKind::kLstm; }

  FaultOr<Success> RunCell(const KernelRun& run) const {
    const size_t first = is_lstm() ? 3 : 2;  // W
    const int64_t hidden = cell_.hidden;
    const int64_t inputs = run.input(0).extent(1);
    const size_t last = run.inputs.size() - 1;
    DirectionWeights weights{.w = {Elements(run.input(first)), inputs},
                             .r = {Elements(run.input(first + 1)), hidden},
                             .bias = last > first + 1 ? run.input(first + 2).data<float>() : nullptr,
                             .inputs = inputs};
    if (is_lstm() && last == 4 && run.input(4).rank() == 1) {  // W and R side by side
      weights.w.stride = weights.r.stride = inputs + hidden;
      weights.r.data = weights.w.data + inputs;
      weights.bias = run.input(4).data<float>();
    }
    if (is_lstm()) CopyStates(run.input(2), run.output(1));
    StepRunner runner = Runner(run, weights);
    return runner.Run({.size = run.input(0).extent(0),
                       .length = 1,
                       .x = run.input(0).data<float>(),
                       .x_stride = inputs,
                       .h = run.input(1).data<float>(),
                       .h_stride = hidden,
                       .y = run.output(0).mutable_data<float>(),
                       .y_stride = hidden,
                       .c = is_lstm() ? run.output(1).mutable_data<float>() : nullptr,
                       .c_stride = hidden,
                       .reverse = false});
  }

  FaultOr<Success> RunSequence(const KernelRun& run) const {
    const auto lengths = ElementsAsInts(run.input(is_lstm() ? 3 : 2));
    for (int64_t length : lengths) {
      if (length >= 0 && length <= run.input(0).extent(1)) continue;
      return KernelFault("a sequence has the length {}; expected at most {}", length, run.input(0).extent(1));
    }
    if (is_lstm()) CopyStates(run.input(2), run.output(2));
    for (int64_t direction = 0; direction < run.input(1).extent(1); ++direction) {
      if (FaultOr<Success> done = RunDirection(run, direction, lengths); !done) return done;
    }
    return Success();
  }

  // Elements of one length run together.
  FaultOr<Success> RunDirection(const KernelRun& run, int64_t direction,
                                llvm::ArrayRef<int64_t> lengths) const {
    const size_t first = is_lstm() ? 4 : 3;  // W
    const int64_t hidden = cell_.hidden;
    const int64_t inputs = run.input(0).extent(2);
    const int64_t rows = direction * cell_.gates * hidden;
    DirectionWeights weights{.w = {Elements(run.input(first)), inputs},
                             .r = {Elements(run.input(first + 1)), hidden},
                             .bias = run.input(first + 2).data<float>() + direction * cell_.bias_rows(),
                             .inputs = inputs,
                             .direction = direction};
    if (!form_.packed) {
      weights.w.data += rows * inputs;
      weights.r.data += rows * hidden;
    }
    StepRunner runner = Runner(run, weights);
    for (size_t begin = 0, end = 0; begin < lengths.size(); begin = end) {
      while (end < lengths.size() && lengths[end] == lengths[begin]) ++end;
      const Batch batch = ElementsOf(run, direction, static_cast<int64_t>(begin),
                                     {static_cast<int64_t>(end - begin), lengths[begin]});
      if (FaultOr<Success> done = runner.Run(batch); !done) return done;
      FinishStates(run, direction, static_cast<int64_t>(begin), batch);
    }
    return Success();
  }

  // Of a tensor in whatever layout.
  static const float* Elements(const TensorView& tensor) {
    return reinterpret_cast<const float*>(tensor.bytes());
  }
  StepRunner Runner(const KernelRun& run, const DirectionWeights& weights) const {
    return {cell_,       weights,  form_.packed ? &*form_.packed : nullptr,
            form_.steps, scratch_, reinterpret_cast<float*>(run.scratch)};
  }

  struct Count {
    int64_t elements, length;
  };
  Batch ElementsOf(const KernelRun& run, int64_t direction, int64_t begin, const Count& count) const {
    const int64_t directions = run.input(1).extent(1);
    const int64_t length = run.input(0).extent(1);
    const int64_t inputs = run.input(0).extent(2);
    const int64_t place = (begin * directions + direction) * cell_.hidden;
    const int64_t stride = directions * cell_.hidden;
    return {.size = count.elements,
            .length = count.length,
            .x = run.input(0).data<float>() + begin * length * inputs,
            .x_stride = length * inputs,
            .h = run.input(1).data<float>() + place,
            .h_stride = stride,
            .y = run.output(0).mutable_data<float>() + place * length,
            .y_stride = stride * length,
            .c = is_lstm() ? run.output(2).mutable_data<float>() + place : nullptr,
            .c_stride = stride,
            .reverse = form_.reverse || direction == 1};
  }

  // The last states; behind the length of a sequence its states are 0.
  void FinishStates(const KernelRun& run, int64_t direction, int64_t begin, const Batch& batch) const {
    const int64_t hidden = cell_.hidden;
    const int64_t length = run.input(0).extent(1);
    const int64_t place = (begin * run.input(1).extent(1) + direction) * hidden;
    float* last = run.output(1).mutable_data<float>() + place;
    for (int64_t i = 0; i < batch.size; ++i) {
      const float* h = batch.h + i * batch.h_stride;
      float* y = batch.y + i * batch.y_stride;
      if (batch.length > 0) h = y + (batch.reverse ? 0 : batch.length - 1) * hidden;
      std::copy(h, h + hidden, last + i * batch.h_stride);
      std::fill(y + batch.length * hidden, y + length * hidden, 0.0f);
    }
  }

  static void CopyStates(const TensorView& from, const MutableTensorView& to) {
    std::memcpy(to.mutable_bytes(), from.bytes(), from.byte_size());
  }

  const Cell cell_;
  const Form form_;
  const StepRunner::Scratch scratch_;
};

// How many steps' gates are held at once: as many as a second-level cache holds beside weights.
int64_t StepsTogether(const Cell& cell, int64_t batch, int64_t length) {
  constexpr int64_t kMost = int64_t{1} << 17;  // floats
  return std::clamp<int64_t>(kMost / (batch * cell.gates * cell.hidden), 1, length);
}

template <CellKind kKind, bool kSequence>
std::optional<PreparedKernel> MakeRecurrent(const KernelRequest& request) {
  const size_t states = kKind == CellKind::kLstm ? 2 : 1;
  const size_t lengths = kSequence ? states + 1 : request.inputs.size();  // the input that is not f32
  if (!request.posts.empty() || request.outputs.size() != states + (kSequence ? 1 : 0)) return std::nullopt;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (i != lengths && !DnnAccepts(request.inputs[i])) return std::nullopt;
  }
  if (kKind == CellKind::kLstm && !kSequence && request.inputs.size() > 6) return std::nullopt;  // peepholes
  const Cell cell = MakeCell(*request.node, kKind);
  const Shape& x = request.inputs[0].shape;
  const int64_t length = kSequence ? x[1] : 1;
  const int64_t steps = kSequence ? StepsTogether(cell, x[0], length) : 1;
  const size_t w = kSequence ? lengths + 1 : states + 1;
  const size_t bias = w + 2;
  const bool is_side_by_side = kKind == CellKind::kLstm && !kSequence && request.inputs.size() == 5 &&
                               request.inputs[4].shape.size() == 1;
  RecurrentKernel::Form form{.is_sequence = kSequence,
                             .reverse = kSequence && request.node->String("direction") == "reverse",
                             .steps = steps};
  if (!is_side_by_side) {
    form.packed = PackedWeights::Make(cell, request.inputs[w], request.inputs[w + 1],
                                      {.batch = x[0],
                                       .length = length,
                                       .steps = steps,
                                       .has_bias = request.inputs.size() > bias,
                                       .type = ProductType(request)});
  }
  PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(request.outputs.size());
  size_t product_bytes = 0;
  if (form.packed) {
    prepared.inputs[w] = form.packed->w().layout();
    prepared.inputs[w + 1] = form.packed->r().layout();
    product_bytes = form.packed->scratch_bytes();
  }
  const StepRunner::Scratch scratch(cell, x[0], steps, x.back(), product_bytes);
  prepared.scratch_bytes = scratch.bytes();
  prepared.kernel = std::make_shared<RecurrentKernel>(cell, std::move(form), scratch);
  return prepared;
}

}  // namespace

void RegisterDnnRecurrent(KernelRegistry& registry) {
  const auto add = [&](std::initializer_list<std::string_view> sets, std::string_view name,
                       KernelFactory factory) {
    registry.Add(Backend::kOneDnn, sets, name, std::move(factory));
  };
  add({"opset1", "opset4"}, "LSTMCell", GuardedDnnFactory<MakeRecurrent<CellKind::kLstm, false>>);
  add({"opset3"}, "GRUCell", GuardedDnnFactory<MakeRecurrent<CellKind::kGru, false>>);
  add({"opset1"}, "RNNCell", GuardedDnnFactory<MakeRecurrent<CellKind::kRnn, false>>);
  add({"opset5"}, "LSTMSequence", GuardedDnnFactory<MakeRecurrent<CellKind::kLstm, true>>);
  add({"opset5"}, "GRUSequence", GuardedDnnFactory<MakeRecurrent<CellKind::kGru, true>>);
  add({"opset5"}, "RNNSequence", GuardedDnnFactory<MakeRecurrent<CellKind::kRnn, true>>);
}

}  // namespace nnefc::runtime

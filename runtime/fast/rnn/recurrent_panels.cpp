// Recurrent layers with constant weights in panels.

#include "runtime/fast/rnn/recurrent_panels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "runtime/fast/simd/index_range.h"
#include "runtime/fast/simd/int8/fake_quantize_microkernel.h"
#include "runtime/fast/simd/int8/fixed_point_microkernel.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::rnn {

using gemm::kPanelWidth;
using kernels::FaultOr;
using simd::IndexRange;

namespace {

// Number of panels with gates computed together: enough vectors to hide the latency of their functions.
constexpr int64_t kPanelsTogether = 4;

void Copy(const float* from, int64_t count, float* to) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

const std::byte* Bytes(const void* data) {
  return static_cast<const std::byte*>(data);
}

// Calls body(first, rows) for tiles of `count` rows, of nearly equal sizes.
template <typename Body>
void ForEachTile(int64_t count, const Body& body) {
  const int64_t tiles = (count + gemm::kMaxPanelRows - 1) / gemm::kMaxPanelRows;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t first = count * i / tiles;
    body(first, count * (i + 1) / tiles - first);
  }
}

// A run of one direction of a layer, for a share of the batch.
class PanelRunner {
 public:
  // `threads`: number of threads that divide the hidden units of each step.
  PanelRunner(const kernels::Cell& cell, const DirectionWeights& weights, const PanelWeights& packed,
              const PanelWeights::Share& share, int threads, float* scratch);

  FaultOr<Success> Run(const Batch& batch);

 private:
  // The part of a cell computed between two barriers.
  struct Phase {
    int64_t first_gate, last_gate;
    bool of_reset;  // multiplies r * h instead of h
    bool is_last;
  };
  // Steps with gates in scratch memory at the same time, stored in time order; `start`: the first in that
  // order.
  struct Block {
    int64_t first, count, start;
  };
  // A step in processing order, and the index of its gates in the block.
  struct StepPosition {
    int64_t step, place;
  };
  // Rows of X for a block.
  using Rows = llvm::SmallVector<const std::byte*, 32>;

  void StartStates(const Batch& batch);
  void MultiplyQuantizedInputs(const Batch& batch, const Block& block);
  void RunPartitions(const Batch& batch) const;
  Block BlockAt(const Batch& batch, int64_t first) const;
  StepPosition At(const Batch& batch, const Block& block, int64_t step) const;
  // Returns the panels of a gate that belong to a team member.
  IndexRange OwnPanels(int part) const;
  FaultOr<Success> MultiplyInputs(const Batch& batch, const Block& block);
  void RoundInputs(const Batch& batch, const Block& block);
  Rows RowsOf(const Batch& batch, const Block& block) const;
  void MultiplyInputPanels(llvm::ArrayRef<const std::byte*> rows, const IndexRange& panels) const;
  void RunPart(const Batch& batch, const StepPosition& at, const Phase& phase, int part) const;
  FixedPointRows FixedPointOf(const Batch& batch, int part) const;
  const float* Factors(const Batch& batch, const StepPosition& at, const Phase& phase, int64_t element) const;
  void MultiplyQuantizedStates(const Batch& batch, const StepPosition& at, const Phase& phase,
                               const IndexRange& panels, const FixedPointRows& rows) const;
  void MultiplyStates(const Batch& batch, const StepPosition& at, const Phase& phase, int64_t first,
                      int64_t last) const;
  void Finish(const Batch& batch, const StepPosition& at, const Phase& phase, int64_t first,
              int64_t last) const;

  bool is_rounded() const { return packed_.r().type() == memory::StorageType::kBf16; }
  const std::byte* State(const Batch& batch, int64_t step, int64_t element) const;

  const kernels::Cell& cell_;
  const CellMath math_;
  const DirectionWeights& weights_;
  const PanelWeights& packed_;
  const int threads_;
  const int64_t steps_;
  const int64_t padded_;
  llvm::SmallVector<Phase, 2> phases_;
  std::unique_ptr<RecurrentMultiplier> multiplier_;
  float *gates_, *beside_, *bias_, *states_;
  uint16_t *rounded_, *rounded_x_;
  uint8_t *quantized_x_, *fixed_point_;
  float *units_of_x_, *units_;
};

}  // namespace

// ---- the plan ----

std::optional<PanelWeights> PanelWeights::Make(const kernels::Cell& cell, const kernels::ValueInfo& w,
                                               const kernels::ValueInfo& r, const RecurrentSizes& sizes,
                                               std::shared_ptr<const RecurrentMatmuls> inputs) {
  const auto packed_r = gemm::PanelMatrix::Make(r, cell.hidden, sizes.type);
  if (!packed_r || w.constant == nullptr) return std::nullopt;
  PanelWeights weights(*packed_r);
  weights.inputs_ = std::move(inputs);
  if (sizes.allows_int8) weights.quantized_r_ = QuantizedPanels::Make(r, cell.hidden);
  if (sizes.allows_int8) weights.quantized_w_ = QuantizedPanels::Make(w, cell.hidden);
  weights.data_ = sizes.data;
  if (weights.quantized_w_) weights.inputs_ = nullptr;
  if (weights.inputs_ == nullptr && !weights.quantized_w_)
    weights.w_ = gemm::PanelMatrix::Make(w, cell.hidden, sizes.type);
  if (weights.inputs_ == nullptr && !weights.quantized_w_ && !weights.w_) return std::nullopt;
  const auto threads = static_cast<int64_t>(tensor::CurrentThreads());
  const int64_t panels = weights.r_.panels_of_group();
  const int64_t of_element = cell.gates * cell.hidden * cell.hidden;
  // Minimum work per step that justifies the barrier after it.
  constexpr int64_t kWorthOthers = tensor::kParallelGrain * 3 / 2;
  if (sizes.batch * of_element >= kWorthOthers)
    weights.threads_ = static_cast<int>(std::min<int64_t>(threads, panels));
  const int64_t width = w.shape.back();
  weights.whole_ = {.steps = sizes.steps,
                    .scratch = weights.PlaceScratch(cell, width, sizes.batch, sizes.steps)};
  // Each thread then reads all of R, small enough for a shared cache.
  constexpr int64_t kMinElements = 4, kMaxNumbers = int64_t{1} << 20;
  if (threads > 1 && sizes.batch >= threads * kMinElements && of_element <= kMaxNumbers &&
      sizes.batch * of_element * sizes.length >= kWorthOthers) {
    const int64_t steps = std::min(sizes.length, sizes.steps * threads);
    const int64_t batch = (sizes.batch + threads - 1) / threads;
    weights.slice_ = {
        .count = threads, .steps = steps, .scratch = weights.PlaceScratch(cell, width, batch, steps)};
  }
  return weights;
}

PanelWeights::Scratch PanelWeights::PlaceScratch(const kernels::Cell& cell, int64_t inputs, int64_t batch,
                                                 int64_t steps) const {
  constexpr int64_t kAligned = 64 / sizeof(float);
  Scratch scratch;
  const auto place = [&](int64_t floats) {
    const int64_t begin = scratch.floats;
    scratch.floats += tensor::RoundUp(floats, kAligned);
    return begin;
  };
  const int64_t padded = r_.panels_of_group() * kPanelWidth;
  const bool is_rounded = r_.type() == memory::StorageType::kBf16;
  scratch.gates = place(batch * steps * cell.gates * padded);
  scratch.beside = place(batch * padded);
  scratch.bias = place((cell.gates + 1) * padded);
  scratch.states = place(2 * batch * padded);
  scratch.rounded = place(is_rounded ? 3 * batch * r_.row_stride() / 2 : 0);
  scratch.rounded_x = place(is_rounded && w_ ? batch * steps * tensor::RoundUp(inputs, 2) / 2 : 0);
  scratch.product = place(inputs_ ? static_cast<int64_t>(inputs_->scratch_bytes() / sizeof(float)) + 1 : 0);
  const auto place_bytes = [&](int64_t bytes) { return place(tensor::CeilDivide(bytes, sizeof(float))); };
  const int64_t of_x = data_ ? 1 : simd::kFixedPointBytes;  // bytes of a number
  scratch.quantized_x = place_bytes(quantized_w_ ? of_x * batch * steps * quantized_w_->row_bytes() : 0);
  scratch.units_of_x = place(quantized_w_ && !data_ ? batch * steps : 0);
  const int64_t rows = quantized_r_ ? threads_ * batch : 0;
  scratch.fixed_point =
      place_bytes(quantized_r_ ? rows * simd::kFixedPointBytes * quantized_r_->row_bytes() : 0);
  scratch.units = place(rows);
  return scratch;
}

std::string PanelWeights::implementation() const {
  if (quantized_w_) return quantized_r_ ? "panels:int8" : "panels:int8_w";
  if (quantized_r_) return "panels:int8_r";
  return r_.type() == memory::StorageType::kBf16 ? "panels:bf16" : "panels:f32";
}

// ---- a run ----

FaultOr<Success> RunPanels(const kernels::Cell& cell, const DirectionWeights& weights,
                           const PanelWeights& packed, const Batch& batch, float* scratch) {
  const PanelWeights::Share& slice = packed.slice();
  if (slice.count == 1 || batch.size < 2 * slice.count)
    return PanelRunner(cell, weights, packed, packed.whole(), packed.threads(), scratch).Run(batch);
  std::vector<std::optional<kernels::Fault>> faults(static_cast<size_t>(slice.count));
  tensor::RunTasks(slice.count, static_cast<int>(slice.count), [&](int64_t task, int /*member*/) {
    float* own = scratch + task * slice.scratch.floats;
    const IndexRange elements = IndexRange{0, batch.size}.Part(slice.count, task);
    const FaultOr<Success> done = PanelRunner(cell, weights, packed, slice, 1, own)
                                      .Run(batch.Elements(elements.begin, elements.count()));
    if (!done) faults[static_cast<size_t>(task)] = done.error();
  });
  for (const std::optional<kernels::Fault>& fault : faults) {
    if (fault) return *fault;
  }
  return Success();
}

PanelRunner::PanelRunner(const kernels::Cell& cell, const DirectionWeights& weights,
                         const PanelWeights& packed, const PanelWeights::Share& share, int threads,
                         float* scratch)
    : cell_(cell),
      math_(cell),
      weights_(weights),
      packed_(packed),
      threads_(threads),
      steps_(share.steps),
      padded_(packed.r().panels_of_group() * kPanelWidth),
      gates_(scratch + share.scratch.gates),
      beside_(scratch + share.scratch.beside),
      bias_(scratch + share.scratch.bias),
      states_(scratch + share.scratch.states),
      rounded_(reinterpret_cast<uint16_t*>(scratch + share.scratch.rounded)),
      rounded_x_(reinterpret_cast<uint16_t*>(scratch + share.scratch.rounded_x)),
      quantized_x_(reinterpret_cast<uint8_t*>(scratch + share.scratch.quantized_x)),
      fixed_point_(reinterpret_cast<uint8_t*>(scratch + share.scratch.fixed_point)),
      units_of_x_(scratch + share.scratch.units_of_x),
      units_(scratch + share.scratch.units) {
  if (cell.kind == kernels::CellKind::kGru && !cell.linear_before_reset) {
    phases_ = {{0, 2, false, false}, {2, 3, true, true}};
  } else {
    phases_ = {{0, cell.gates, false, true}};
  }
  if (packed.inputs() != nullptr) {
    multiplier_ =
        packed.inputs()->NewRun(cell, weights, reinterpret_cast<std::byte*>(scratch + share.scratch.product));
  }
  std::fill_n(bias_, (cell.gates + 1) * padded_, 0.0f);
  const int64_t biases = weights.bias == nullptr ? 0 : cell.bias_rows() / cell.hidden;
  for (int64_t i = 0; i < biases; ++i) Copy(weights.bias + i * cell.hidden, cell.hidden, bias_ + i * padded_);
}

FaultOr<Success> PanelRunner::Run(const Batch& batch) {
  StartStates(batch);
  if (packed_.w() && !is_rounded() && threads_ > 1) {
    RunPartitions(batch);
    return Success();
  }
  const auto phases = static_cast<int64_t>(phases_.size());
  for (int64_t first = 0; first < batch.length; first += steps_) {
    const Block block = BlockAt(batch, first);
    if (FaultOr<Success> done = MultiplyInputs(batch, block); !done) return done.error();
    tensor::RunInSteps(block.count * phases, threads_, [&](int64_t i, int part) {
      RunPart(batch, At(batch, block, first + i / phases), phases_[static_cast<size_t>(i % phases)], part);
    });
  }
  return Success();
}

// Each member multiplies inputs for its own gates, already in its cache, without a barrier.
void PanelRunner::RunPartitions(const Batch& batch) const {
  const auto phases = static_cast<int64_t>(phases_.size());
  tensor::RunInSteps(batch.length * phases, threads_, [&](int64_t i, int part) {
    const int64_t step = i / phases;
    const Block block = BlockAt(batch, step / steps_ * steps_);
    if (i == block.first * phases) {
      const Rows rows = RowsOf(batch, block);
      const int64_t panels = packed_.r().panels_of_group();
      const IndexRange own = OwnPanels(part);
      for (int64_t gate = 0; gate < cell_.gates; ++gate)
        MultiplyInputPanels(rows, {gate * panels + own.begin, gate * panels + own.end});
    }
    RunPart(batch, At(batch, block, step), phases_[static_cast<size_t>(i % phases)], part);
  });
}

PanelRunner::Block PanelRunner::BlockAt(const Batch& batch, int64_t first) const {
  const int64_t count = std::min(steps_, batch.length - first);
  return {.first = first, .count = count, .start = batch.reverse ? batch.Time(first + count - 1) : first};
}

PanelRunner::StepPosition PanelRunner::At(const Batch& batch, const Block& block, int64_t step) const {
  const int64_t place = step - block.first;
  return {.step = step, .place = batch.reverse ? block.count - 1 - place : place};
}

IndexRange PanelRunner::OwnPanels(int part) const {
  return IndexRange{0, packed_.r().panels_of_group()}.Part(threads_, part);
}

void PanelRunner::StartStates(const Batch& batch) {
  const int64_t stride = packed_.r().row_stride();
  // Row padding is multiplied by zeros.
  if (is_rounded()) std::fill_n(rounded_, 3 * batch.size * stride, uint16_t{0});
  for (int64_t i = 0; i < batch.size; ++i) {
    const float* h = batch.h + i * batch.h_stride;
    Copy(h, cell_.hidden, states_ + i * padded_);
    if (is_rounded()) gemm::RoundToBf16(h, cell_.hidden, rounded_ + i * stride);
  }
}

// ---- X * W^T + B, for many steps at once ----

FaultOr<Success> PanelRunner::MultiplyInputs(const Batch& batch, const Block& block) {
  if (multiplier_) {
    const ProductKey key = {false, AllGates(cell_), block.count * batch.size,
                            weights_.bias == nullptr ? SumStart::kZero : SumStart::kBias};
    return multiplier_->Run(key, batch.x + block.start * weights_.inputs, weights_.bias, gates_);
  }
  if (packed_.quantized_w()) {
    MultiplyQuantizedInputs(batch, block);
    return Success();
  }
  if (is_rounded()) RoundInputs(batch, block);
  const Rows rows = RowsOf(batch, block);
  const int64_t panels = cell_.gates * packed_.w()->panels_of_group();
  const int64_t tasks = (panels + kPanelsTogether - 1) / kPanelsTogether;
  const auto work = static_cast<int64_t>(rows.size()) * weights_.inputs * kPanelsTogether;
  tensor::ParallelFor(tasks, work, [&](int64_t task) {
    const int64_t begin = task * kPanelsTogether;
    MultiplyInputPanels(rows, {begin, std::min(panels, begin + kPanelsTogether)});
  });
  return Success();
}

void PanelRunner::MultiplyQuantizedInputs(const Batch& batch, const Block& block) {
  const QuantizedPanels& w = *packed_.quantized_w();
  const std::optional<memory::ValueQuantization>& data = packed_.data();
  const int64_t inputs = weights_.inputs, count = block.count * batch.size;
  const FixedPointRows rows{.bytes = quantized_x_, .units = units_of_x_, .row_bytes = w.row_bytes()};
  llvm::SmallVector<const float*, 32> numbers;
  for (int64_t row = 0; row < count; ++row) {
    const int64_t step = row / batch.size, element = row % batch.size;
    numbers.push_back(batch.x + element * batch.x_stride + (block.start + step) * inputs);
  }
  tensor::ParallelFor(count, inputs, [&](int64_t row) {
    const float* x = numbers[static_cast<size_t>(row)];
    if (!data) return rows.Store(row, x, inputs);
    uint8_t* values = quantized_x_ + row * w.row_bytes();
    simd::QuantizeRow({.low = data->NumberOf(0), .high = data->NumberOf(255)}, x, inputs, values);
    std::fill(values + inputs, values + w.row_bytes(), uint8_t{0});
  });
  const int64_t panels = cell_.gates * packed_.r().panels_of_group(), width = cell_.gates * padded_;
  const int64_t first = weights_.direction * panels;
  constexpr int64_t kProductsAtOnce = 4;
  const int64_t work = count * inputs * kPanelsTogether / kProductsAtOnce;
  tensor::ParallelFor(tensor::CeilDivide(panels, kPanelsTogether), work, [&](int64_t task) {
    const int64_t begin = task * kPanelsTogether, end = std::min(panels, begin + kPanelsTogether);
    const int64_t column = begin * kPanelWidth;
    const QuantizedPanels::Results results{.panels = {first + begin, first + end},
                                           .start = bias_ + column,
                                           .start_stride = 0,
                                           .out = gates_ + column,
                                           .out_stride = width};
    if (data) {
      w.Multiply(Bytes(weights_.w.data), {quantized_x_, count, *data}, results);
    } else {
      w.Multiply(Bytes(weights_.w.data), rows, count, numbers.data(), results);
    }
  });
}

void PanelRunner::RoundInputs(const Batch& batch, const Block& block) {
  const int64_t inputs = weights_.inputs;
  const int64_t stride = packed_.w()->row_stride();
  tensor::ParallelFor(block.count * batch.size, inputs, [&](int64_t row) {
    const int64_t step = row / batch.size, element = row % batch.size;
    uint16_t* rounded = rounded_x_ + row * stride;
    rounded[stride - 1] = 0;
    gemm::RoundToBf16(batch.x + element * batch.x_stride + (block.start + step) * inputs, inputs, rounded);
  });
}

PanelRunner::Rows PanelRunner::RowsOf(const Batch& batch, const Block& block) const {
  Rows rows;
  for (int64_t step = 0; step < block.count; ++step) {
    for (int64_t element = 0; element < batch.size; ++element) {
      const int64_t row = step * batch.size + element, time = block.start + step;
      rows.push_back(is_rounded() ? Bytes(rounded_x_ + row * packed_.w()->row_stride())
                                  : Bytes(batch.x + element * batch.x_stride + time * weights_.inputs));
    }
  }
  return rows;
}

// Multiplies all rows by a range of panels, numbered across all gates.
void PanelRunner::MultiplyInputPanels(llvm::ArrayRef<const std::byte*> rows, const IndexRange& panels) const {
  const gemm::PanelMatrix& w = *packed_.w();
  const int64_t width = cell_.gates * padded_;
  const int64_t all = cell_.gates * w.panels_of_group();
  const std::byte* weights = Bytes(weights_.w.data) + weights_.direction * all * w.panel_bytes();
  for (int64_t first = panels.begin; first < panels.end; first += kPanelsTogether) {
    llvm::SmallVector<gemm::PanelSums, kPanelsTogether> sums;
    for (int64_t panel = first; panel < std::min(panels.end, first + kPanelsTogether); ++panel) {
      const int64_t column = panel * kPanelWidth;
      sums.push_back({weights + panel * w.panel_bytes(), bias_ + column, 0, gates_ + column, width});
    }
    ForEachTile(static_cast<int64_t>(rows.size()), [&](int64_t top, int64_t height) {
      const auto tile = rows.slice(static_cast<size_t>(top), static_cast<size_t>(height));
      gemm::MultiplyByPanels(tile, w.type(), w.terms(), sums);
      for (gemm::PanelSums& to : sums) to.out += height * width;
    });
  }
}

// ---- steps ----

void PanelRunner::RunPart(const Batch& batch, const StepPosition& at, const Phase& phase, int part) const {
  const IndexRange own = OwnPanels(part);
  const int64_t groups = (own.count() + kPanelsTogether - 1) / kPanelsTogether;
  const FixedPointRows rows = FixedPointOf(batch, part);
  for (int64_t element = 0; packed_.quantized_r() && element < batch.size; ++element)
    rows.Store(element, Factors(batch, at, phase, element), cell_.hidden);
  for (int64_t i = 0; i < groups; ++i) {
    // Alternate steps run backward: a cache smaller than R still holds the panels read last.
    const int64_t group = at.step % 2 == 0 ? i : groups - 1 - i;
    const int64_t first = own.begin + group * kPanelsTogether;
    const int64_t last = std::min(own.end, first + kPanelsTogether);
    if (packed_.quantized_r()) {
      MultiplyQuantizedStates(batch, at, phase, {first, last}, rows);
    } else {
      MultiplyStates(batch, at, phase, first, last);
    }
    Finish(batch, at, phase, first, last);
  }
}

const std::byte* PanelRunner::State(const Batch& batch, int64_t step, int64_t element) const {
  const int64_t row = step % 2 * batch.size + element;
  if (is_rounded()) return Bytes(rounded_ + row * packed_.r().row_stride());
  return Bytes(states_ + row * padded_);
}

// Returns the memory of a team member for states in fixed point.
FixedPointRows PanelRunner::FixedPointOf(const Batch& batch, int part) const {
  if (!packed_.quantized_r()) return {};
  const int64_t of_row = packed_.quantized_r()->row_bytes();
  const int64_t first = part * batch.size;
  return {.bytes = fixed_point_ + first * simd::kFixedPointBytes * of_row,
          .units = units_ + first,
          .row_bytes = of_row};
}

// Returns the f32 numbers that a phase multiplies by R: the state, or r * h.
const float* PanelRunner::Factors(const Batch& batch, const StepPosition& at, const Phase& phase,
                                  int64_t element) const {
  if (phase.of_reset) return beside_ + element * padded_;
  return states_ + (at.step % 2 * batch.size + element) * padded_;
}

void PanelRunner::MultiplyQuantizedStates(const Batch& batch, const StepPosition& at, const Phase& phase,
                                          const IndexRange& panels, const FixedPointRows& rows) const {
  llvm::SmallVector<const float*, gemm::kMaxPanelRows> numbers;
  for (int64_t element = 0; element < batch.size; ++element)
    numbers.push_back(Factors(batch, at, phase, element));
  const int64_t width = cell_.gates * padded_, unit = panels.begin * kPanelWidth;
  for (int64_t gate = phase.first_gate; gate < phase.last_gate; ++gate) {
    const int64_t first =
        (weights_.direction * cell_.gates + gate) * packed_.r().panels_of_group() + panels.begin;
    float* const out = gates_ + at.place * batch.size * width + gate * padded_ + unit;
    QuantizedPanels::Results results{.panels = {first, first + panels.count()},
                                     .start = out,
                                     .start_stride = width,
                                     .out = out,
                                     .out_stride = width};
    if (cell_.linear_before_reset && gate == 2) {
      results.start = bias_ + 3 * padded_ + unit;
      results.start_stride = 0;
      results.out = beside_ + unit;
      results.out_stride = padded_;
    }
    packed_.quantized_r()->Multiply(Bytes(weights_.r.data), rows, batch.size, numbers.data(), results);
  }
}

// Adds the products of the state, or of r * h, to the gate sums of panels [first, last).
void PanelRunner::MultiplyStates(const Batch& batch, const StepPosition& at, const Phase& phase,
                                 int64_t first, int64_t last) const {
  const gemm::PanelMatrix& r = packed_.r();
  const int64_t width = cell_.gates * padded_;
  const int64_t gate_bytes = r.panels_of_group() * r.panel_bytes();
  const std::byte* weights =
      Bytes(weights_.r.data) + weights_.direction * cell_.gates * gate_bytes + first * r.panel_bytes();
  ForEachTile(batch.size, [&](int64_t top, int64_t height) {
    llvm::SmallVector<const std::byte*, gemm::kMaxPanelRows> left;
    for (int64_t i = 0; i < height; ++i) {
      const int64_t element = top + i;
      if (!phase.of_reset) {
        left.push_back(State(batch, at.step, element));
      } else if (is_rounded()) {
        left.push_back(State(batch, 0, 2 * batch.size + element));
      } else {
        left.push_back(Bytes(beside_ + element * padded_));
      }
    }
    std::array<gemm::PanelSums, 4 * kPanelsTogether> sums;
    size_t count = 0;
    float* gates = gates_ + (at.place * batch.size + top) * width + first * kPanelWidth;
    float* beside = beside_ + top * padded_ + first * kPanelWidth;
    for (int64_t panel = 0; panel < last - first; ++panel) {
      for (int64_t gate = phase.first_gate; gate < phase.last_gate; ++gate) {
        const std::byte* from = weights + gate * gate_bytes + panel * r.panel_bytes();
        const int64_t unit = panel * kPanelWidth;
        if (cell_.linear_before_reset && gate == 2) {
          const float* bias = bias_ + 3 * padded_ + first * kPanelWidth + unit;
          sums[count++] = {from, bias, 0, beside + unit, padded_};
        } else {
          float* out = gates + gate * padded_ + unit;
          sums[count++] = {from, out, width, out, width};
        }
      }
    }
    gemm::MultiplyByPanels(left, r.type(), r.terms(), llvm::ArrayRef(sums).take_front(count));
  });
}

// Computes the result of a phase from its sums: the reset, or the new state.
void PanelRunner::Finish(const Batch& batch, const StepPosition& at, const Phase& phase, int64_t first,
                         int64_t last) const {
  const int64_t unit = first * kPanelWidth;
  const int64_t count = std::min(cell_.hidden, last * kPanelWidth) - unit;
  const int64_t stride = packed_.r().row_stride();
  for (int64_t element = 0; element < batch.size; ++element) {
    float* gates = gates_ + (at.place * batch.size + element) * cell_.gates * padded_ + unit;
    float* beside = beside_ + element * padded_ + unit;
    // Other threads still read the previous state.
    const int64_t before = at.step % 2 * batch.size + element;
    const int64_t after = (at.step + 1) % 2 * batch.size + element;
    const StateRow row = {.gates = gates,
                          .stride = padded_,
                          .candidate = cell_.kind == kernels::CellKind::kGru ? gates + 2 * padded_ : nullptr,
                          .h = states_ + before * padded_ + unit,
                          .next_h = states_ + after * padded_ + unit,
                          .c = batch.c == nullptr ? nullptr : batch.c + element * batch.c_stride + unit,
                          .reset = beside,
                          .candidate_product = beside,
                          .count = count};
    if (!phase.is_last) {
      math_.StartGru(row);
      if (is_rounded())
        gemm::RoundToBf16(beside, count, rounded_ + (2 * batch.size + element) * stride + unit);
      continue;
    }
    math_.Finish(row);
    Copy(row.next_h, count, batch.y + element * batch.y_stride + batch.Time(at.step) * cell_.hidden + unit);
    if (is_rounded()) gemm::RoundToBf16(row.next_h, count, rounded_ + after * stride + unit);
  }
}

}  // namespace nnefc::runtime::fast::rnn

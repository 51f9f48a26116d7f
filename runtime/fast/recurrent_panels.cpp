#include "runtime/fast/recurrent_panels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "runtime/fast/round_up.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

// Panels whose gates are computed at once: vectors enough that their functions do not wait for each other.
constexpr int64_t kPanelsTogether = 4;

void Copy(const float* from, int64_t count, float* to) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

const std::byte* Bytes(const void* data) {
  return static_cast<const std::byte*>(data);
}

// Calls body(first, rows) for tiles of `count` rows, all of about the same number.
template <typename Body>
void ForEachTile(int64_t count, const Body& body) {
  const int64_t tiles = (count + kRowsTogether - 1) / kRowsTogether;
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t first = count * i / tiles;
    body(first, count * (i + 1) / tiles - first);
  }
}

}  // namespace

// ---- the plan ----

std::optional<PanelWeights> PanelWeights::Make(const Cell& cell, const ValueInfo& w, const ValueInfo& r,
                                               const PackedWeights::Sizes& sizes) {
  const auto packed_r = PanelMatrix::Make(r, cell.hidden, sizes.type);
  if (!packed_r || w.constant == nullptr) return std::nullopt;
  PanelWeights weights(*packed_r);
  // These read rows and write sums that lie close together.
  const bool is_close = sizes.batch == 1 && cell.hidden % kPanelWidth == 0;
  if (sizes.type == DnnType::bf16 && HasAmx() && is_close)
    weights.inputs_ = PackedWeights::OfInputs(cell, w, sizes);
  if (!weights.inputs_) weights.w_ = PanelMatrix::Make(w, cell.hidden, sizes.type);
  if (!weights.inputs_ && !weights.w_) return std::nullopt;
  // Of a step, that members meet behind it is worth their work.
  constexpr int64_t kWorthOthers = kParallelGrain * 3 / 2;
  const int64_t panels = weights.r_.panels_of_group();
  if (sizes.batch * cell.gates * cell.hidden * cell.hidden >= kWorthOthers)
    weights.threads_ = static_cast<int>(std::min<int64_t>(CurrentThreads(), panels));
  weights.PlaceScratch(cell, w.shape.back(), sizes);
  return weights;
}

void PanelWeights::PlaceScratch(const Cell& cell, int64_t inputs, const PackedWeights::Sizes& sizes) {
  constexpr int64_t kAligned = 64 / sizeof(float);
  const auto place = [&](int64_t floats) {
    const int64_t begin = scratch_.floats;
    scratch_.floats += RoundUp(floats, kAligned);
    return begin;
  };
  const int64_t padded = r_.panels_of_group() * kPanelWidth;
  const bool is_rounded = r_.type() == DnnType::bf16;
  scratch_.gates = place(sizes.batch * sizes.steps * cell.gates * padded);
  scratch_.beside = place(sizes.batch * padded);
  scratch_.bias = place((cell.gates + 1) * padded);
  scratch_.states = place(2 * sizes.batch * padded);
  scratch_.rounded = place(is_rounded ? 3 * sizes.batch * r_.row_stride() / 2 : 0);
  scratch_.rounded_x = place(is_rounded && w_ ? sizes.batch * sizes.steps * RoundUp(inputs, 2) / 2 : 0);
  scratch_.product = place(inputs_ ? static_cast<int64_t>(inputs_->scratch_bytes() / sizeof(float)) + 1 : 0);
}

std::string PanelWeights::implementation() const {
  return r_.type() == DnnType::bf16 ? "panels:bf16" : "panels:f32";
}

// ---- a run ----

PanelRunner::PanelRunner(const Cell& cell, const DirectionWeights& weights, const PanelWeights& packed,
                         int64_t steps, float* scratch)
    : cell_(cell),
      math_(cell),
      weights_(weights),
      packed_(packed),
      steps_(steps),
      padded_(packed.r().panels_of_group() * kPanelWidth),
      gates_(scratch + packed.scratch().gates),
      beside_(scratch + packed.scratch().beside),
      bias_(scratch + packed.scratch().bias),
      states_(scratch + packed.scratch().states),
      rounded_(reinterpret_cast<uint16_t*>(scratch + packed.scratch().rounded)),
      rounded_x_(reinterpret_cast<uint16_t*>(scratch + packed.scratch().rounded_x)) {
  if (cell.kind == CellKind::kGru && !cell.linear_before_reset) {
    phases_ = {{0, 2, false, false}, {2, 3, true, true}};
  } else {
    phases_ = {{0, cell.gates, false, true}};
  }
  if (packed.inputs()) {
    multiplier_.emplace(cell, weights, &*packed.inputs(),
                        reinterpret_cast<std::byte*>(scratch + packed.scratch().product));
  }
  std::fill_n(bias_, (cell.gates + 1) * padded_, 0.0f);
  const int64_t biases = weights.bias == nullptr ? 0 : cell.bias_rows() / cell.hidden;
  for (int64_t i = 0; i < biases; ++i) Copy(weights.bias + i * cell.hidden, cell.hidden, bias_ + i * padded_);
}

FaultOr<Success> PanelRunner::Run(const Batch& batch) {
  StartStates(batch);
  const auto phases = static_cast<int64_t>(phases_.size());
  for (int64_t first = 0; first < batch.length; first += steps_) {
    const int64_t count = std::min(steps_, batch.length - first);
    if (FaultOr<Success> done = MultiplyInputs(batch, first, count); !done) return done.error();
    RunInSteps(count * phases, packed_.threads(), [&](int64_t i, int part) {
      const int64_t step = i / phases;
      const At at = {.step = first + step, .place = batch.reverse ? count - 1 - step : step};
      RunPart(batch, at, phases_[static_cast<size_t>(i % phases)], part);
    });
  }
  return Success();
}

void PanelRunner::StartStates(const Batch& batch) {
  const int64_t stride = packed_.r().row_stride();
  // What lies behind the terms of a row is multiplied by zeros.
  if (is_rounded()) std::fill_n(rounded_, 3 * batch.size * stride, uint16_t{0});
  for (int64_t i = 0; i < batch.size; ++i) {
    const float* h = batch.h + i * batch.h_stride;
    Copy(h, cell_.hidden, states_ + i * padded_);
    if (is_rounded()) RoundToBf16(h, cell_.hidden, rounded_ + i * stride);
  }
}

// ---- X * W^T + B, for many steps at once ----

FaultOr<Success> PanelRunner::MultiplyInputs(const Batch& batch, int64_t first, int64_t count) {
  // They are kept in the order of time.
  const int64_t start = batch.reverse ? batch.Time(first + count - 1) : first;
  if (multiplier_) {
    const ProductKey key = {false, AllGates(cell_), count * batch.size,
                            weights_.bias == nullptr ? SumStart::kZero : SumStart::kBias};
    return multiplier_->Run(key, batch.x + start * weights_.inputs, weights_.bias, gates_);
  }
  if (is_rounded()) RoundInputs(batch, start, count);
  MultiplyInputPanels(batch, start, count);
  return Success();
}

void PanelRunner::RoundInputs(const Batch& batch, int64_t first, int64_t count) {
  const int64_t inputs = weights_.inputs;
  const int64_t stride = packed_.w()->row_stride();
  ParallelFor(count * batch.size, inputs, [&](int64_t row) {
    const int64_t step = row / batch.size, element = row % batch.size;
    uint16_t* rounded = rounded_x_ + row * stride;
    rounded[stride - 1] = 0;
    RoundToBf16(batch.x + element * batch.x_stride + (first + step) * inputs, inputs, rounded);
  });
}

void PanelRunner::MultiplyInputPanels(const Batch& batch, int64_t first, int64_t count) {
  const PanelMatrix& w = *packed_.w();
  const int64_t rows = count * batch.size;
  const int64_t panels = cell_.gates * w.panels_of_group();
  const int64_t width = cell_.gates * padded_;
  const std::byte* weights = Bytes(weights_.w.data) + weights_.direction * panels * w.panel_bytes();
  std::vector<const std::byte*> left;
  for (int64_t step = 0; step < count; ++step) {
    for (int64_t element = 0; element < batch.size; ++element) {
      left.push_back(is_rounded()
                         ? Bytes(rounded_x_ + (step * batch.size + element) * w.row_stride())
                         : Bytes(batch.x + element * batch.x_stride + (first + step) * weights_.inputs));
    }
  }
  const int64_t tasks = (panels + kPanelsTogether - 1) / kPanelsTogether;
  ParallelFor(tasks, rows * weights_.inputs * kPanelsTogether, [&](int64_t task) {
    const int64_t begin = task * kPanelsTogether, end = std::min(panels, begin + kPanelsTogether);
    llvm::SmallVector<PanelSums, kPanelsTogether> sums;
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t column = panel * kPanelWidth;
      sums.push_back({weights + panel * w.panel_bytes(), bias_ + column, 0, gates_ + column, width});
    }
    ForEachTile(rows, [&](int64_t top, int64_t height) {
      const auto tile = llvm::ArrayRef(left).slice(static_cast<size_t>(top), static_cast<size_t>(height));
      MultiplyByPanels(tile, w.type(), w.terms(), sums);
      for (PanelSums& to : sums) to.out += height * width;
    });
  });
}

// ---- steps ----

void PanelRunner::RunPart(const Batch& batch, const At& at, const Phase& phase, int part) const {
  const int64_t panels = packed_.r().panels_of_group();
  const int64_t parts = packed_.threads();
  const int64_t begin = panels * part / parts, end = panels * (part + 1) / parts;
  const int64_t groups = (end - begin + kPanelsTogether - 1) / kPanelsTogether;
  for (int64_t i = 0; i < groups; ++i) {
    // Every other step goes backward: a cache that does not hold all of R has what was read last.
    const int64_t group = at.step % 2 == 0 ? i : groups - 1 - i;
    const int64_t first = begin + group * kPanelsTogether;
    const int64_t last = std::min(end, first + kPanelsTogether);
    MultiplyStates(batch, at, phase, first, last);
    Finish(batch, at, phase, first, last);
  }
}

const std::byte* PanelRunner::State(const Batch& batch, int64_t step, int64_t element) const {
  const int64_t row = step % 2 * batch.size + element;
  if (is_rounded()) return Bytes(rounded_ + row * packed_.r().row_stride());
  return Bytes(states_ + row * padded_);
}

// Adds the products of the state, or of r * h, to the sums of gates of panels [first, last).
void PanelRunner::MultiplyStates(const Batch& batch, const At& at, const Phase& phase, int64_t first,
                                 int64_t last) const {
  const PanelMatrix& r = packed_.r();
  const int64_t width = cell_.gates * padded_;
  const int64_t gate_bytes = r.panels_of_group() * r.panel_bytes();
  const std::byte* weights =
      Bytes(weights_.r.data) + weights_.direction * cell_.gates * gate_bytes + first * r.panel_bytes();
  ForEachTile(batch.size, [&](int64_t top, int64_t height) {
    llvm::SmallVector<const std::byte*, kRowsTogether> left;
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
    std::array<PanelSums, 4 * kPanelsTogether> sums;
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
    MultiplyByPanels(left, r.type(), r.terms(), llvm::ArrayRef(sums).take_front(count));
  });
}

// What the sums of a phase are for: the reset, or the new state.
void PanelRunner::Finish(const Batch& batch, const At& at, const Phase& phase, int64_t first,
                         int64_t last) const {
  const int64_t unit = first * kPanelWidth;
  const int64_t count = std::min(cell_.hidden, last * kPanelWidth) - unit;
  const int64_t stride = packed_.r().row_stride();
  for (int64_t element = 0; element < batch.size; ++element) {
    float* gates = gates_ + (at.place * batch.size + element) * cell_.gates * padded_ + unit;
    float* beside = beside_ + element * padded_ + unit;
    // Other threads still read the state before.
    const int64_t before = at.step % 2 * batch.size + element;
    const int64_t after = (at.step + 1) % 2 * batch.size + element;
    const StateRow row = {.gates = gates,
                          .stride = padded_,
                          .candidate = cell_.kind == CellKind::kGru ? gates + 2 * padded_ : nullptr,
                          .h = states_ + before * padded_ + unit,
                          .next_h = states_ + after * padded_ + unit,
                          .c = batch.c == nullptr ? nullptr : batch.c + element * batch.c_stride + unit,
                          .reset = beside,
                          .candidate_product = beside,
                          .count = count};
    if (!phase.is_last) {
      math_.StartGru(row);
      if (is_rounded()) RoundToBf16(beside, count, rounded_ + (2 * batch.size + element) * stride + unit);
      continue;
    }
    math_.Finish(row);
    Copy(row.next_h, count, batch.y + element * batch.y_stride + batch.Time(at.step) * cell_.hidden + unit);
    if (is_rounded()) RoundToBf16(row.next_h, count, rounded_ + after * stride + unit);
  }
}

}  // namespace nnefc::runtime

// Steps of recurrent layers whose weights are constants, packed in panels (panels.h): a thread makes the sums
// of some elements of the state and then these elements, step after step, so that its cache keeps its part of
// R; or all of the state, of some elements of the batch.
#pragma once

#include <algorithm>
#include <optional>

#include "runtime/fast/panels.h"
#include "runtime/fast/recurrent_gates.h"
#include "runtime/fast/recurrent_products.h"

namespace nnefc::runtime {

// Elements [0, size) of a batch that all make the same steps.
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

  int64_t Time(int64_t step) const { return reverse ? length - 1 - step : step; }
  // `count` of them from one on.
  Batch Elements(int64_t first, int64_t count) const {
    Batch some = *this;
    some.size = count;
    some.x += first * x_stride;
    some.h += first * h_stride;
    some.y += first * y_stride;
    if (c != nullptr) some.c += first * c_stride;
    return some;
  }
};

// W [gates * hidden, inputs] and R [gates * hidden, hidden] of constants, packed.
class PanelWeights {
 public:
  // Nothing for no constants.
  static std::optional<PanelWeights> Make(const Cell& cell, const ValueInfo& w, const ValueInfo& r,
                                          const PackedWeights::Sizes& sizes);

  const Layout& w_layout() const { return w_ ? w_->layout() : inputs_->w().layout(); }
  const PanelMatrix& r() const { return r_; }
  const std::optional<PanelMatrix>& w() const { return w_; }
  // The products of inputs where tiles of AMX make them.
  const std::optional<PackedWeights>& inputs() const { return inputs_; }
  // On which the steps run, where members of a team divide the units of a state.
  int threads() const { return threads_; }
  std::string implementation() const;

  // Floats of scratch memory, and where what is.
  struct Scratch {
    int64_t gates;    // [steps, batch, gates, padded]
    int64_t beside;   // [batch, padded]; of a GRU: r * h, or R * h of the candidate
    int64_t bias;     // [gates + 1, padded]
    int64_t states;   // two of [batch, padded]
    int64_t rounded;  // of bf16: two states and r * h, then inputs [steps, batch, inputs]
    int64_t rounded_x;
    int64_t product;
    int64_t floats = 0;
  };
  // Of elements that run on a thread, apart from others, or of all.
  struct Share {
    int64_t count = 1;  // of such shares
    int64_t steps = 0;  // whose gates are in scratch memory at once
    Scratch scratch = {};
  };
  const Share& whole() const { return whole_; }
  const Share& slice() const { return slice_; }
  size_t scratch_bytes() const {
    return static_cast<size_t>(std::max(whole_.scratch.floats, slice_.count * slice_.scratch.floats)) *
           sizeof(float);
  }

 private:
  explicit PanelWeights(const PanelMatrix& r) : r_(r) {}
  Scratch PlaceScratch(const Cell& cell, int64_t inputs, int64_t batch, int64_t steps) const;

  PanelMatrix r_;
  std::optional<PanelMatrix> w_;
  std::optional<PackedWeights> inputs_;
  int threads_ = 1;
  Share whole_, slice_;
};

// A direction of a layer: each thread some elements by itself, where these are enough for its registers, or
// all threads each step together.
FaultOr<Success> RunPanels(const Cell& cell, const DirectionWeights& weights, const PanelWeights& packed,
                           const Batch& batch, float* scratch);

}  // namespace nnefc::runtime

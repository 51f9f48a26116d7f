// Steps of recurrent layers whose weights are constants, packed in panels (panels.h): a thread makes the sums
// of some elements of the state and then these elements, step after step, so that its cache keeps its part of
// R.
#pragma once

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
  // On which the steps run.
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
  const Scratch& scratch() const { return scratch_; }
  size_t scratch_bytes() const { return static_cast<size_t>(scratch_.floats) * sizeof(float); }

 private:
  explicit PanelWeights(const PanelMatrix& r) : r_(r) {}
  void PlaceScratch(const Cell& cell, int64_t inputs, const PackedWeights::Sizes& sizes);

  PanelMatrix r_;
  std::optional<PanelMatrix> w_;
  std::optional<PackedWeights> inputs_;
  int threads_ = 1;
  Scratch scratch_ = {};
};

// A direction of a layer in a run.
class PanelRunner {
 public:
  // `steps`: so many are in scratch memory at once.
  PanelRunner(const Cell& cell, const DirectionWeights& weights, const PanelWeights& packed, int64_t steps,
              float* scratch);

  FaultOr<Success> Run(const Batch& batch);

 private:
  // What of a cell is computed before members of the team meet.
  struct Phase {
    int64_t first_gate, last_gate;
    bool of_reset;  // multiplies r * h instead of h
    bool is_last;
  };
  // A step in the order of steps, and the place of its gates, in the order of time.
  struct At {
    int64_t step, place;
  };

  void StartStates(const Batch& batch);
  FaultOr<Success> MultiplyInputs(const Batch& batch, int64_t first, int64_t count);
  void RoundInputs(const Batch& batch, int64_t first, int64_t count);
  void MultiplyInputPanels(const Batch& batch, int64_t first, int64_t count);
  void RunPart(const Batch& batch, const At& at, const Phase& phase, int part) const;
  void MultiplyStates(const Batch& batch, const At& at, const Phase& phase, int64_t first,
                      int64_t last) const;
  void Finish(const Batch& batch, const At& at, const Phase& phase, int64_t first, int64_t last) const;

  bool is_rounded() const { return packed_.r().type() == DnnType::bf16; }
  const std::byte* State(const Batch& batch, int64_t step, int64_t element) const;

  const Cell& cell_;
  const CellMath math_;
  const DirectionWeights& weights_;
  const PanelWeights& packed_;
  const int64_t steps_;
  const int64_t padded_;
  llvm::SmallVector<Phase, 2> phases_;
  std::optional<Multiplier> multiplier_;
  float *gates_, *beside_, *bias_, *states_;
  uint16_t *rounded_, *rounded_x_;
};

}  // namespace nnefc::runtime

// Recurrent layers with constant weights packed in panels (gemm/panel_gemm.h). Each thread computes a part of
// the state in all steps, so that its part of R stays cached; or the whole state for a part of the batch.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "runtime/fast/gemm/panel_gemm.h"
#include "runtime/fast/rnn/quantized_panels.h"
#include "runtime/fast/rnn/recurrent_gates.h"
#include "runtime/fast/rnn/recurrent_matmul.h"

namespace nnefc::runtime::fast::rnn {

// A batch of elements that run the same steps.
struct Batch {
  int64_t size, length;
  const float* x;  // [size, length of the tensor, inputs]
  int64_t x_stride;
  const float* h;  // initial state
  int64_t h_stride;
  float* y;  // states by element and step, with strides `y_stride` and `hidden`
  int64_t y_stride;
  float* c;  // LSTM only
  int64_t c_stride;
  bool reverse;

  int64_t Time(int64_t step) const { return reverse ? length - 1 - step : step; }
  // Returns `count` elements starting at `first`.
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

// Packed constant W [gates * hidden, inputs] and R [gates * hidden, hidden].
class PanelWeights {
 public:
  // Returns nothing if the weights are not constant. `inputs` computes the matmuls of all inputs with W if it
  // is not null.
  static std::optional<PanelWeights> Make(const kernels::Cell& cell, const kernels::ValueInfo& w,
                                          const kernels::ValueInfo& r, const RecurrentSizes& sizes,
                                          std::shared_ptr<const RecurrentMatmuls> inputs = nullptr);
  // Returns true if `inputs` may compute the matmuls of inputs: it needs adjacent input rows and output sums.
  static bool TakesInputs(const kernels::Cell& cell, const RecurrentSizes& sizes) {
    return sizes.batch == 1 && cell.hidden % gemm::kPanelWidth == 0;
  }

  tensor::Layout w_layout() const {
    if (quantized_w_) return quantized_w_->layout();
    return w_ ? w_->layout() : inputs_->w_layout();
  }
  tensor::Layout r_layout() const { return quantized_r_ ? quantized_r_->layout() : r_.layout(); }
  const gemm::PanelMatrix& r() const { return r_; }
  // Returns nothing if quantized_w() or inputs() is in use.
  const std::optional<gemm::PanelMatrix>& w() const { return w_; }
  // The 8-bit weights, in use in place of the others.
  const std::optional<QuantizedPanels>& quantized_w() const { return quantized_w_; }
  const std::optional<QuantizedPanels>& quantized_r() const { return quantized_r_; }
  // Returns the quantization of the inputs, or nothing if they are f32.
  const std::optional<memory::ValueQuantization>& data() const { return data_; }
  // Returns the matmuls of inputs if another backend computes them, or null.
  const RecurrentMatmuls* inputs() const { return inputs_.get(); }
  // The thread count of steps partitioned by state units.
  int threads() const { return threads_; }
  std::string implementation() const;

  // Offsets in floats within the scratch memory.
  struct Scratch {
    int64_t gates;    // [steps, batch, gates, padded]
    int64_t beside;   // [batch, padded]; GRU: r * h, or R * h of the candidate
    int64_t bias;     // [gates + 1, padded]
    int64_t states;   // two of [batch, padded]
    int64_t rounded;  // bf16: two states and r * h, then inputs [steps, batch, inputs]
    int64_t rounded_x;
    int64_t product;
    // [steps, batch, row bytes of W], with three bytes per number and units for f32 inputs.
    int64_t quantized_x, units_of_x;
    // Each thread: f32 states or r * h in fixed point, and their units.
    int64_t fixed_point, units;
    int64_t floats = 0;
  };
  // The configuration of elements that run separately on one thread, or of all.
  struct Share {
    int64_t count = 1;  // number of such shares
    int64_t steps = 0;  // steps with gates in scratch memory at once
    Scratch scratch = {};
  };
  const Share& whole() const { return whole_; }
  const Share& slice() const { return slice_; }
  size_t scratch_bytes() const {
    return static_cast<size_t>(std::max(whole_.scratch.floats, slice_.count * slice_.scratch.floats)) *
           sizeof(float);
  }

 private:
  explicit PanelWeights(const gemm::PanelMatrix& r) : r_(r) {}
  Scratch PlaceScratch(const kernels::Cell& cell, int64_t inputs, int64_t batch, int64_t steps) const;

  gemm::PanelMatrix r_;
  std::optional<gemm::PanelMatrix> w_;
  std::optional<QuantizedPanels> quantized_w_, quantized_r_;
  std::optional<memory::ValueQuantization> data_;
  std::shared_ptr<const RecurrentMatmuls> inputs_;
  int threads_ = 1;
  Share whole_, slice_;
};

// Runs one direction of a layer. Each thread runs some batch elements separately if these fill its registers;
// otherwise all threads cooperate in each step.
kernels::FaultOr<Success> RunPanels(const kernels::Cell& cell, const DirectionWeights& weights,
                                    const PanelWeights& packed, const Batch& batch, float* scratch);

}  // namespace nnefc::runtime::fast::rnn

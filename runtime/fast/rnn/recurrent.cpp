// The inputs of many steps are multiplied by their weights in one matmul. Steps use panels of constant
// weights (rnn/recurrent_panels.h), or else one matmul for the whole batch with gates as row functions.
// runtime/kernels/arithmetic/recurrent.cpp has the formulas and handles all cases declined here: other types,
// peepholes.

#include "runtime/fast/rnn/recurrent.h"

#include <cstring>
#include <utility>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/rnn/recurrent_gates.h"
#include "runtime/fast/rnn/recurrent_panels.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::rnn {

using kernels::Cell;
using kernels::CellKind;
using kernels::FaultOr;
using kernels::KernelRun;

namespace {

// ---- steps ----

class StepRunner {
 public:
  // Offsets in scratch memory.
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
      beside = place(batch * cell.hidden * (cell.linear_before_reset ? cell.gates : 1));
      x = place(batch == 1 ? 0 : batch * steps * inputs);
      h = place(batch == 1 ? 0 : batch * cell.hidden);
      product = place(static_cast<int64_t>(product_bytes / sizeof(float)) + 1);
    }

    llvm::SmallVector<int64_t, 2> gates;  // per part: [steps, batch, gates, hidden]
    int64_t beside;                       // for a GRU: r * h, or R * h of all gates
    int64_t x, h;  // for batches with several elements: [steps, batch, inputs] and [batch, hidden]
    int64_t product;
    int64_t floats = 0;
    size_t bytes() const { return static_cast<size_t>(floats) * sizeof(float); }
  };

  StepRunner(const Cell& cell, const DirectionWeights& weights, const RecurrentMatmuls& matmuls,
             int64_t steps, const Scratch& places, float* scratch)
      : cell_(cell),
        math_(cell),
        parts_(PartsOf(cell)),
        weights_(weights),
        multiplier_(matmuls.NewRun(cell, weights, reinterpret_cast<std::byte*>(scratch + places.product))),
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
  int64_t Width(size_t part) const { return parts_[part].count * cell_.hidden; }
  float* Gates(const Batch& batch, size_t part, int64_t place) const {
    return gates_[part] + place * batch.size * Width(part);
  }
  // Returns the row-major state of the batch before a step.
  const float* State(const Batch& batch, int64_t step) const {
    if (batch.size > 1) return h_;
    return step == 0 ? batch.h : batch.y + batch.Time(step - 1) * cell_.hidden;
  }
  const float* Bias(int64_t gate) const {
    return weights_.bias == nullptr ? nullptr : weights_.bias + gate * cell_.hidden;
  }

  // Computes X * W^T + B for `count` steps starting at `first`, stored in time order.
  FaultOr<Success> MultiplyInputs(const Batch& batch, int64_t first, int64_t count) {
    const int64_t inputs = weights_.inputs;
    const float* x = batch.x + (batch.reverse ? batch.Time(first + count - 1) : first) * inputs;
    if (batch.size > 1) {
      tensor::ParallelFor(count * batch.size, inputs, [&](int64_t row) {
        const int64_t step = row / batch.size, element = row % batch.size;
        Copy(x + element * batch.x_stride + step * inputs, inputs, x_ + row * inputs);
      });
      x = x_;
    }
    for (size_t part = 0; part < parts_.size(); ++part) {
      FaultOr<Success> done = multiplier_->Run({false, part, count * batch.size, SumStart::kBias}, x,
                                               Bias(parts_[part].first), Gates(batch, part, 0));
      if (!done) return done;
    }
    return Success();
  }

  FaultOr<Success> Step(const Batch& batch, int64_t step, int64_t place) {
    const float* h = State(batch, step);
    const bool is_at_once = cell_.linear_before_reset;
    FaultOr<Success> done =
        is_at_once
            ? multiplier_->Run({true, AllGates(cell_), batch.size, SumStart::kZero}, h, nullptr, beside_)
            : multiplier_->Run({true, 0, batch.size, SumStart::kOutput}, h, nullptr, Gates(batch, 0, place));
    if (!done) return done;
    if (cell_.kind == CellKind::kGru && !is_at_once) {
      ForEachPart(batch, step, place, [&](const StateRow& row) { math_.StartGru(row); });
      done = multiplier_->Run({true, 1, batch.size, SumStart::kOutput}, beside_, nullptr,
                              Gates(batch, 1, place));
      if (!done) return done;
    }
    ForEachPart(batch, step, place, [&](const StateRow& row) {
      math_.Finish(row);
      // Row-major, as the input of the next matmul.
      if (batch.size > 1) Copy(row.next_h, row.count, h_ + (row.h - h_));
    });
    return Success();
  }

  template <typename Body>
  void ForEachPart(const Batch& batch, int64_t step, int64_t place, const Body& body) const {
    constexpr int64_t kPart = 512;
    const int64_t parts = (cell_.hidden + kPart - 1) / kPart;
    tensor::ParallelFor(batch.size * parts, kPart * cell_.gates * 4, [&](int64_t task) {
      const int64_t element = task / parts;
      const int64_t first = task % parts * kPart;
      const int64_t width = cell_.linear_before_reset ? cell_.gates * cell_.hidden : cell_.hidden;
      float* beside = beside_ + element * width + first;
      float* candidate = parts_.size() == 1 ? nullptr : Gates(batch, 1, place) + element * Width(1) + first;
      body({.gates = Gates(batch, 0, place) + element * Width(0) + first,
            .stride = cell_.hidden,
            .candidate = candidate,
            .h = State(batch, step) + element * cell_.hidden + first,
            .next_h = batch.y + element * batch.y_stride + batch.Time(step) * cell_.hidden + first,
            .c = batch.c == nullptr ? nullptr : batch.c + element * batch.c_stride + first,
            .reset = beside,
            .candidate_product = cell_.linear_before_reset ? beside + 2 * cell_.hidden : nullptr,
            .bias = !cell_.linear_before_reset || Bias(3) == nullptr ? nullptr : Bias(3) + first,
            .products = beside,
            .count = std::min(kPart, cell_.hidden - first)});
    });
  }

  const Cell& cell_;
  const CellMath math_;
  const llvm::SmallVector<GatePart, 2> parts_;
  const DirectionWeights& weights_;
  const std::unique_ptr<RecurrentMultiplier> multiplier_;
  const int64_t steps_;  // steps with gates in memory at the same time
  llvm::SmallVector<float*, 2> gates_;
  float* beside_;
  float *x_, *h_;
};

// ---- kernels ----

class RecurrentKernel final : public kernels::Kernel {
 public:
  struct Form {
    bool is_sequence;
    bool reverse;
    int64_t steps;
    std::optional<PanelWeights> panels;
    std::shared_ptr<const RecurrentMatmuls> matmuls;  // otherwise
  };
  RecurrentKernel(const std::array<Cell, 2>& cells, Form form, const StepRunner::Scratch& scratch)
      : cells_(cells), form_(std::move(form)), scratch_(scratch) {}

  std::string implementation() const override {
    return form_.panels ? form_.panels->implementation() : form_.matmuls->implementation();
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
    if (is_lstm() && last == 4 && run.input(4).rank() == 1) {  // W and R in one matrix
      weights.w.stride = weights.r.stride = inputs + hidden;
      weights.r.data = weights.w.data + inputs;
      weights.bias = run.input(4).data<float>();
    }
    if (is_lstm()) CopyStates(run.input(2), run.output(1));
    return RunBatch(run, weights,
                    {.size = run.input(0).extent(0),
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
    const auto lengths = tensor::ElementsAsInts(run.input(is_lstm() ? 3 : 2));
    for (int64_t length : lengths) {
      if (length >= 0 && length <= run.input(0).extent(1)) continue;
      return kernels::KernelFault("a sequence has the length {}; expected at most {}", length,
                                  run.input(0).extent(1));
    }
    if (is_lstm()) CopyStates(run.input(2), run.output(2));
    for (int64_t direction = 0; direction < run.input(1).extent(1); ++direction) {
      if (FaultOr<Success> done = RunDirection(run, direction, lengths); !done) return done;
    }
    return Success();
  }

  // Elements with equal lengths run together.
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
    if (!form_.panels && !form_.matmuls->is_packed()) {
      weights.w.data += rows * inputs;
      weights.r.data += rows * hidden;
    }
    for (size_t begin = 0, end = 0; begin < lengths.size(); begin = end) {
      while (end < lengths.size() && lengths[end] == lengths[begin]) ++end;
      const Batch batch = ElementsOf(run, direction, static_cast<int64_t>(begin),
                                     {static_cast<int64_t>(end - begin), lengths[begin]});
      if (FaultOr<Success> done = RunBatch(run, weights, batch); !done) return done;
      FinishStates(run, direction, static_cast<int64_t>(begin), batch);
    }
    return Success();
  }

  // Returns the data of a tensor in any layout.
  static const float* Elements(const tensor::TensorView& tensor) {
    return reinterpret_cast<const float*>(tensor.bytes());
  }
  FaultOr<Success> RunBatch(const KernelRun& run, const DirectionWeights& weights, const Batch& batch) const {
    auto* scratch = reinterpret_cast<float*>(run.scratch);
    const Cell& cell = cells_[static_cast<size_t>(weights.direction)];
    if (form_.panels) return RunPanels(cell, weights, *form_.panels, batch, scratch);
    return StepRunner(cell, weights, *form_.matmuls, form_.steps, scratch_, scratch).Run(batch);
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

  // Stores the last states; past the length of a sequence its states are 0.
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

  static void CopyStates(const tensor::TensorView& from, const tensor::MutableTensorView& to) {
    std::memcpy(to.mutable_bytes(), from.bytes(), from.byte_size());
  }

  const std::array<Cell, 2> cells_;  // per direction; they differ in activations only
  const Cell& cell_ = cells_[0];
  const Form form_;
  const StepRunner::Scratch scratch_;
};

// Number of steps with gates in memory at the same time: as many as fit L2 in addition to the weights.
int64_t StepsTogether(const Cell& cell, int64_t batch, int64_t length) {
  constexpr int64_t kMax = int64_t{1} << 15;  // floats
  return std::clamp<int64_t>(kMax / (batch * cell.gates * cell.hidden), 1, length);
}

kernels::KernelOrReason MakeRecurrentKernel(const kernels::KernelRequest& request,
                                            const RecurrentLayer& layer, RecurrentKernel::Form form) {
  form.is_sequence = layer.is_sequence;
  form.reverse = layer.is_sequence && request.node->String("direction") == "reverse";
  form.steps = layer.sizes.steps;
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(request.outputs.size());
  const size_t w = layer.w;
  size_t product_bytes = 0;
  if (form.panels) {
    prepared.inputs[w] = form.panels->w_layout();
    prepared.inputs[w + 1] = form.panels->r_layout();
    prepared.scratch_bytes = form.panels->scratch_bytes();
  } else {
    prepared.inputs[w] = form.matmuls->w_layout();
    // W and R may be one matrix.
    if (w + 1 < request.inputs.size() && form.matmuls->is_packed())
      prepared.inputs[w + 1] = form.matmuls->r_layout();
    product_bytes = form.matmuls->scratch_bytes();
  }
  const Shape& x = request.inputs[0].shape;
  const StepRunner::Scratch scratch(layer.cell, x[0], form.steps, x.back(), product_bytes);
  if (!form.panels) prepared.scratch_bytes = scratch.bytes();
  const std::array<Cell, 2> cells = {layer.cell, kernels::MakeCell(*request.node, layer.cell.kind, 1)};
  prepared.kernel = std::make_shared<RecurrentKernel>(cells, std::move(form), scratch);
  return prepared;
}

std::optional<memory::ValueQuantization> DataQuantizationOf(const kernels::KernelRequest& request) {
  const auto data = ir::ops::QuantizedDataOf(*request.node);
  if (!data) return std::nullopt;
  return memory::ValueQuantization{.scale = data->scale, .zero = data->zero};
}

// Returns the reason if an operand is not f32, or the operation has other results or peepholes.
kernels::OrReason<RecurrentLayer> FindLayer(const kernels::KernelRequest& request, CellKind kind,
                                            bool is_sequence) {
  const size_t states = kind == CellKind::kLstm ? 2 : 1;
  // The index of the only input that is not f32.
  const size_t lengths = is_sequence ? states + 1 : request.inputs.size();
  if (!request.posts.empty()) return kHasFusedOperation;
  if (request.outputs.size() != states + (is_sequence ? 1 : 0))
    return kernels::Reason("another number of results");
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (i != lengths && !memory::IsDenseF32(request.inputs[i])) return kNotF32;
  }
  if (kind == CellKind::kLstm && !is_sequence && request.inputs.size() > 6)
    return kernels::Reason("peepholes");
  const Cell cell = kernels::MakeCell(*request.node, kind);
  const Shape& x = request.inputs[0].shape;
  const int64_t length = is_sequence ? x[1] : 1;
  const size_t w = is_sequence ? lengths + 1 : states + 1;
  return RecurrentLayer{.cell = cell,
                        .is_sequence = is_sequence,
                        .is_side_by_side = kind == CellKind::kLstm && !is_sequence &&
                                           request.inputs.size() == 5 && request.inputs[4].shape.size() == 1,
                        .w = w,
                        .sizes = {.batch = x[0],
                                  .length = length,
                                  .steps = is_sequence ? StepsTogether(cell, x[0], length) : 1,
                                  .has_bias = request.inputs.size() > w + 2,
                                  .type = memory::MatmulType(request),
                                  .allows_int8 = request.precision == kernels::Precision::kF32,
                                  .data = DataQuantizationOf(request)}};
}

kernels::KernelOrReason MakePanels(const kernels::KernelRequest& request) {
  const kernels::OrReason<RecurrentLayer> layer = RecurrentLayerOf(request);
  if (!layer) return layer.reason();
  return MakePanelRecurrent(request, *layer, nullptr);
}

}  // namespace

kernels::OrReason<RecurrentLayer> RecurrentLayerOf(const kernels::KernelRequest& request) {
  const std::string& type = request.node->type();
  const CellKind kind = type.starts_with("LSTM")  ? CellKind::kLstm
                        : type.starts_with("GRU") ? CellKind::kGru
                                                  : CellKind::kRnn;
  return FindLayer(request, kind, type.ends_with("Sequence"));
}

kernels::KernelOrReason MakePanelRecurrent(const kernels::KernelRequest& request, const RecurrentLayer& layer,
                                           std::shared_ptr<const RecurrentMatmuls> inputs) {
  if (layer.is_side_by_side) return kernels::Reason("the weights are one matrix");
  std::optional<PanelWeights> panels = PanelWeights::Make(
      layer.cell, request.inputs[layer.w], request.inputs[layer.w + 1], layer.sizes, std::move(inputs));
  if (!panels) return kernels::Reason("the weights are not constant");
  return MakeRecurrentKernel(request, layer, {.panels = std::move(panels)});
}

kernels::KernelOrReason MakeMatmulRecurrent(const kernels::KernelRequest& request,
                                            const RecurrentLayer& layer,
                                            std::shared_ptr<const RecurrentMatmuls> matmuls) {
  return MakeRecurrentKernel(request, layer, {.matmuls = std::move(matmuls)});
}

void AddFastRecurrent(FastTables& tables) {
  const llvm::ArrayRef<kernels::ImplementationTable> panels = TableOf<MakePanels>("recurrent");
  tables.Add({"opset1", "opset4"}, "LSTMCell", panels);
  tables.Add({"opset3"}, "GRUCell", panels);
  tables.Add({"opset1"}, "RNNCell", panels);
  for (std::string_view name : {"LSTMSequence", "GRUSequence", "RNNSequence"})
    tables.Add({"opset5"}, name, panels);
}

}  // namespace nnefc::runtime::fast::rnn

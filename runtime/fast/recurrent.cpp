// LSTMCell, GRUCell and RNNCell, and the sequences of them, in f32: the inputs
// of many steps are multiplied by their weights at once, a step of a whole
// batch is one product of matrices, and gates are functions of rows. Formulas
// are those of runtime/kernels/recurrent.cpp, which takes what is declined
// here: other types, peepholes.

#include "runtime/kernels/recurrent.h"

#include <cstring>

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/families.h"
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
struct MutableMatrix {
  float* data;
  int64_t stride;
};

// Sixteen partial sums, whatever registers they take. An element of a matrix
// is aligned as a float is.
using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));
using LaneSums = float __attribute__((vector_size(64)));
constexpr int64_t kDotLanes = 16;

// sums[i] += sum over k of rows[i, k] * x[k], for `kRows` rows.
template <int64_t kRows>
[[gnu::always_inline]] inline void AddDots(const Matrix& rows, const float* x, int64_t columns, float* sums) {
  LaneSums partial[kRows] = {};
  int64_t k = 0;
  for (; k + kDotLanes <= columns; k += kDotLanes) {
    const LaneSums factor = *reinterpret_cast<const Lanes*>(x + k);
    for (int64_t i = 0; i < kRows; ++i)
      partial[i] += *reinterpret_cast<const Lanes*>(rows.data + i * rows.stride + k) * factor;
  }
  for (int64_t i = 0; i < kRows; ++i) {
    float rest = 0;
    for (int64_t j = k; j < columns; ++j) rest += rows.data[i * rows.stride + j] * x[j];
    for (int64_t width = kDotLanes / 2; width > 0; width /= 2) {
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

// out[i, j] += sum over k of left[i, k] * right[j, k]
struct ProductSize {
  int64_t rows, columns, terms;
};
FaultOr<Success> AddProducts(const ProductSize& size, const Matrix& left, const Matrix& right,
                             const MutableMatrix& out) {
  if (size.rows == 1) {
    AddProduct(right, size.columns, left.data, size.terms, out.data);
    return Success();
  }
  const dnnl_status_t status = dnnl_sgemm('N', 'T', size.rows, size.columns, size.terms, 1.0f, left.data,
                                          left.stride, right.data, right.stride, 1.0f, out.data, out.stride);
  if (status == dnnl_out_of_memory) return OutOfMemory();
  if (status != dnnl_success) return KernelFault("oneDNN: a product of matrices fails ({})", int{status});
  return Success();
}

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

// A part of the state of one element of the batch: gates lie `hidden` apart.
struct StateRow {
  float* gates;
  const float* h;
  float* next_h;
  float* c = nullptr;              // of an LSTM: before and after the step
  const float* product = nullptr;  // of a GRU: R * h of the new state if the reset acts on it
  float* reset = nullptr;          // of a GRU: r * h, otherwise
  int64_t count = 0;
};

class CellMath {
 public:
  explicit CellMath(const Cell& cell) : cell_(cell) {}

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
    float* gate = row.gates + place * cell_.hidden;
    const auto most = static_cast<float>(cell_.clip);
    if (most > 0) MapRow(gate, row.count, [=](float v) { return v < -most ? -most : v > most ? most : v; });
    ActivateRow(cell_.activations[activation], gate, row.count);
    return gate;
  }

  // C' = f * C + i * c;  H' = o * h(C')
  void FinishLstm(const StateRow& row) const {
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
    float* sum = row.gates + 2 * cell_.hidden;
    if (cell_.linear_before_reset) {
      Vectorized([&] {
        for (int64_t j = 0; j < row.count; ++j) sum[j] += r[j] * row.product[j];
      });
    }
    const float* h = Gate(row, 2, 1);
    Vectorized([&] {
      for (int64_t j = 0; j < row.count; ++j) row.next_h[j] = (1.0f - z[j]) * h[j] + z[j] * row.h[j];
    });
  }

  const Cell& cell_;
};

// ---- steps ----

struct DirectionWeights {
  Matrix w, r;
  const float* bias;  // null: zeros
};

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
  // Scratch memory: gates of `steps` steps and what a GRU needs beside them.
  static int64_t ScratchFloats(const Cell& cell, int64_t batch, int64_t steps) {
    return batch * cell.hidden * (cell.gates * steps + 1);
  }

  StepRunner(const Cell& cell, const DirectionWeights& weights, int64_t inputs, int64_t steps, float* scratch)
      : cell_(cell), math_(cell), weights_(weights), inputs_(inputs), steps_(steps), gates_(scratch) {}

  FaultOr<Success> Run(const Batch& batch) {
    beside_ = gates_ + batch.size * steps_ * rows();
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
  int64_t rows() const { return cell_.gates * cell_.hidden; }
  static int64_t Time(const Batch& batch, int64_t step) {
    return batch.reverse ? batch.length - 1 - step : step;
  }
  float* Gates(int64_t element, int64_t step) const { return gates_ + (element * steps_ + step) * rows(); }
  const float* State(const Batch& batch, int64_t element, int64_t step) const {
    if (step == 0) return batch.h + element * batch.h_stride;
    return batch.y + element * batch.y_stride + Time(batch, step - 1) * cell_.hidden;
  }

  // X * W^T + B for `count` steps from `first` on, kept in the order of time.
  FaultOr<Success> MultiplyInputs(const Batch& batch, int64_t first, int64_t count) {
    ParallelFor(batch.size * count, rows(), [&](int64_t row) {
      float* gates = Gates(row / count, row % count);
      if (weights_.bias == nullptr) {
        std::fill(gates, gates + rows(), 0.0f);
      } else {
        std::copy(weights_.bias, weights_.bias + rows(), gates);
      }
    });
    const float* x = batch.x + (batch.reverse ? Time(batch, first + count - 1) : first) * inputs_;
    if (count == steps_ && batch.x_stride == count * inputs_) {
      return AddProducts({batch.size * count, rows(), inputs_}, {x, inputs_}, weights_.w,
                         {Gates(0, 0), rows()});
    }
    if (batch.size > count) {
      for (int64_t step = 0; step < count; ++step) {
        FaultOr<Success> done =
            AddProducts({batch.size, rows(), inputs_}, {x + step * inputs_, batch.x_stride}, weights_.w,
                        {Gates(0, step), steps_ * rows()});
        if (!done) return done;
      }
      return Success();
    }
    for (int64_t element = 0; element < batch.size; ++element) {
      FaultOr<Success> done = AddProducts({count, rows(), inputs_}, {x + element * batch.x_stride, inputs_},
                                          weights_.w, {Gates(element, 0), rows()});
      if (!done) return done;
    }
    return Success();
  }

  FaultOr<Success> Step(const Batch& batch, int64_t step, int64_t place) {
    const int64_t hidden = cell_.hidden;
    const Matrix h{State(batch, 0, step), step == 0 ? batch.h_stride : batch.y_stride};
    const MutableMatrix gates{Gates(0, place), steps_ * rows()};
    if (cell_.kind != CellKind::kGru) {
      FaultOr<Success> done = AddProducts({batch.size, rows(), hidden}, h, weights_.r, gates);
      if (!done) return done;
      ForEachPart(batch, step, place, [&](const StateRow& row) { math_.Finish(row); });
      return Success();
    }
    FaultOr<Success> done = AddProducts({batch.size, 2 * hidden, hidden}, h, weights_.r, gates);
    if (!done) return done;
    const Matrix last{weights_.r.data + 2 * hidden * weights_.r.stride, weights_.r.stride};
    ForEachPart(batch, step, place, [&](const StateRow& row) { math_.StartGru(row); });
    if (cell_.linear_before_reset) {
      for (int64_t element = 0; element < batch.size; ++element) {
        float* product = beside_ + element * hidden;
        if (weights_.bias == nullptr) {
          std::fill(product, product + hidden, 0.0f);
        } else {
          std::copy(weights_.bias + 3 * hidden, weights_.bias + 4 * hidden, product);
        }
      }
      done = AddProducts({batch.size, hidden, hidden}, h, last, {beside_, hidden});
    } else {
      done = AddProducts({batch.size, hidden, hidden}, {beside_, hidden}, last,
                         {gates.data + 2 * hidden, gates.stride});
    }
    if (!done) return done;
    ForEachPart(batch, step, place, [&](const StateRow& row) { math_.Finish(row); });
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
      body({.gates = Gates(element, place) + first,
            .h = State(batch, element, step) + first,
            .next_h = batch.y + element * batch.y_stride + Time(batch, step) * cell_.hidden + first,
            .c = batch.c == nullptr ? nullptr : batch.c + element * batch.c_stride + first,
            .product = beside,
            .reset = beside,
            .count = std::min(kPart, cell_.hidden - first)});
    });
  }

  const Cell& cell_;
  const CellMath math_;
  const DirectionWeights& weights_;
  const int64_t inputs_;
  const int64_t steps_;  // whose gates are in memory at once
  float* gates_;         // [batch, steps, gates, hidden]
  float* beside_ = nullptr;
};

// ---- kernels ----

class RecurrentKernel final : public Kernel {
 public:
  RecurrentKernel(const Cell& cell, bool is_sequence, const std::string& direction, int64_t steps)
      : cell_(cell), is_sequence_(is_sequence), reverse_(direction == "reverse"), steps_(steps) {}

  std::string implementation() const override { return "onednn:gemm"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    return is_sequence_ ? RunSequence(run) : RunCell(run);
  }

 private:
  bool is_lstm() const { return cell_.kind == CellKind::kLstm; }

  FaultOr<Success> RunCell(const KernelRun& run) const {
    const size_t first = is_lstm() ? 3 : 2;  // W
    const int64_t hidden = cell_.hidden;
    const int64_t inputs = run.input(0).extent(1);
    const size_t last = run.inputs.size() - 1;
    DirectionWeights weights{.w = {run.input(first).data<float>(), inputs},
                             .r = {run.input(first + 1).data<float>(), hidden},
                             .bias = last > first + 1 ? run.input(first + 2).data<float>() : nullptr};
    if (is_lstm() && last == 4 && run.input(4).rank() == 1) {  // W and R side by side
      weights.w.stride = weights.r.stride = inputs + hidden;
      weights.r.data = weights.w.data + inputs;
      weights.bias = run.input(4).data<float>();
    }
    if (is_lstm()) CopyStates(run.input(2), run.output(1));
    StepRunner runner(cell_, weights, inputs, 1, reinterpret_cast<float*>(run.scratch));
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
    const DirectionWeights weights{
        .w = {run.input(first).data<float>() + rows * inputs, inputs},
        .r = {run.input(first + 1).data<float>() + rows * hidden, hidden},
        .bias = run.input(first + 2).data<float>() + direction * cell_.bias_rows()};
    StepRunner runner(cell_, weights, inputs, steps_, reinterpret_cast<float*>(run.scratch));
    for (size_t begin = 0, end = 0; begin < lengths.size(); begin = end) {
      while (end < lengths.size() && lengths[end] == lengths[begin]) ++end;
      const Batch batch = Elements(run, direction, static_cast<int64_t>(begin),
                                   {static_cast<int64_t>(end - begin), lengths[begin]});
      if (FaultOr<Success> done = runner.Run(batch); !done) return done;
      FinishStates(run, direction, static_cast<int64_t>(begin), batch);
    }
    return Success();
  }

  struct Count {
    int64_t elements, length;
  };
  Batch Elements(const KernelRun& run, int64_t direction, int64_t begin, const Count& count) const {
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
            .reverse = reverse_ || direction == 1};
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
  const bool is_sequence_;
  const bool reverse_;
  const int64_t steps_;
};

// How many steps' gates are held at once: some megabytes of them.
int64_t StepsTogether(const Cell& cell, int64_t batch, int64_t length) {
  constexpr int64_t kMost = int64_t{1} << 20;  // floats
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
  const int64_t steps = kSequence ? StepsTogether(cell, x[0], x[1]) : 1;
  PreparedKernel prepared;
  prepared.kernel = std::make_shared<RecurrentKernel>(
      cell, kSequence, kSequence ? request.node->String("direction") : std::string("forward"), steps);
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(request.outputs.size());
  prepared.scratch_bytes = static_cast<size_t>(StepRunner::ScratchFloats(cell, x[0], steps)) * sizeof(float);
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

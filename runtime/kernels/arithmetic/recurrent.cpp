// LSTMCell, GRUCell, RNNCell and the corresponding sequences. Each gate is
//     activation(clip(X * W^T + H * R^T + B))
// The rows of W, R and B are ordered by gate, then by state element. Sums are computed in f32, in an order
// independent of the thread count.

#include "runtime/kernels/arithmetic/recurrent.h"

#include <array>
#include <cstring>

#include "compiler/support/x86.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

Cell MakeCell(const ir::Node& node, CellKind kind, int64_t direction) {
  static constexpr std::array<int64_t, 3> kGates = {1, 3, 4};
  static constexpr std::array<size_t, 3> kActivations = {1, 2, 3};
  const auto index = static_cast<size_t>(kind);
  Cell cell{.kind = kind, .gates = kGates[index], .hidden = node.Int("hidden_size"), .activations = {}};
  cell.clip = node.Double("clip");
  cell.linear_before_reset = kind == CellKind::kGru && node.Bool("linear_before_reset");
  const auto activations = ir::ops::opset::ActivationsOfDirection(node, kActivations[index], direction);
  for (size_t i = 0; i < activations.size(); ++i) {
    const ir::ops::opset::ParametrizedActivation& activation = activations[i];
    cell.activations[i] = {activation.function, activation.alpha, activation.beta};
  }
  if (kind != CellKind::kLstm) return cell;
  const std::string& format = node.String("weights_format");
  for (size_t gate = 0; gate < 4; ++gate) {
    const size_t place = format.find("fico"[gate]);
    if (place < 4) cell.order[gate] = static_cast<int64_t>(place);
  }
  return cell;
}

namespace {

template <typename T>
ComputeType<T> Dot(const T* a, const T* b, int64_t count) {
  using C = ComputeType<T>;
  C sum = 0;
  for (int64_t k = 0; k < count; ++k) sum += static_cast<C>(a[k]) * static_cast<C>(b[k]);
  return sum;
}

// The hot loop of cells: partial sums in vector registers, added in pairs.
template <typename Vector>
[[gnu::always_inline]] inline float DotInLanes(const float* a, const float* b, int64_t count) {
  constexpr int64_t kWidth = sizeof(Vector) / sizeof(float);
  Vector sum0 = {}, sum1 = {}, sum2 = {}, sum3 = {}, x, y;
  const auto add_products = [&](int64_t k, Vector & sum) __attribute__((always_inline)) {
    std::memcpy(&x, a + k, sizeof(Vector));
    std::memcpy(&y, b + k, sizeof(Vector));
    sum += x * y;
  };
  int64_t k = 0;
  for (; k + 4 * kWidth <= count; k += 4 * kWidth) {
    add_products(k, sum0);
    add_products(k + kWidth, sum1);
    add_products(k + 2 * kWidth, sum2);
    add_products(k + 3 * kWidth, sum3);
  }
  for (; k + kWidth <= count; k += kWidth) add_products(k, sum0);
  const Vector lanes = (sum0 + sum1) + (sum2 + sum3);
  float sum = (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
  for (int64_t lane = 4; lane < kWidth; ++lane) sum += lanes[lane];
  for (; k < count; ++k) sum += a[k] * b[k];
  return sum;
}

using Narrow = float __attribute__((vector_size(16)));  // 128-bit vectors, available on all 64-bit processors
#if defined(NNEFC_X86)
using Wide = float __attribute__((vector_size(32)));
[[gnu::target("avx2,fma")]] float WideDot(const float* a, const float* b, int64_t count) {
  return DotInLanes<Wide>(a, b, count);
}
const bool kIsWide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
constexpr auto WideDot = DotInLanes<Narrow>;
constexpr bool kIsWide = false;
#endif

template <>
float Dot(const float* a, const float* b, int64_t count) {
  return kIsWide ? WideDot(a, b, count) : DotInLanes<Narrow>(a, b, count);
}

// The weights of one direction. Rows of W and R may have padding between them.
template <typename T>
struct CellWeights {
  const T* w;
  const T* r;
  const T* b;  // null: zeros
  int64_t inputs;
  int64_t w_stride, r_stride;
};

// The state of one batch element before and after a step. Only `c` and `next_c` may overlap.
template <typename T>
struct CellStep {
  const T* x;
  const T* h;
  const T* c;
  T* next_h;
  T* next_c;
};

template <typename T>
class CellRunner {
  using C = ComputeType<T>;

 public:
  CellRunner(const Cell& cell, const CellWeights<T>& weights) : cell_(cell), weights_(weights) {}

  void Run(const CellStep<T>& step) {
    if (cell_.kind == CellKind::kGru) return RunGru(step);
    // Loops over gates for a block of elements, so that rows of W and R are read sequentially.
    const int64_t cost = kBlock * cell_.gates * (weights_.inputs + cell_.hidden);
    tensor::ParallelFor((cell_.hidden + kBlock - 1) / kBlock, cost, [&](int64_t block) {
      const int64_t first = block * kBlock;
      const int64_t last = std::min(cell_.hidden, first + kBlock);
      GateSums sums;
      for (int64_t gate = 0; gate < cell_.gates; ++gate) {
        std::array<C, kBlock>& row = sums[static_cast<size_t>(gate)];
        for (int64_t j = first; j < last; ++j)
          row[static_cast<size_t>(j - first)] = Input(step, gate, j) + Bias(gate, j);
        for (int64_t j = first; j < last; ++j)
          row[static_cast<size_t>(j - first)] += Recurrent(step.h, gate, j);
      }
      for (int64_t j = first; j < last; ++j) {
        if (cell_.kind == CellKind::kLstm) {
          RunLstm(step, j, sums, j - first);
        } else {
          step.next_h[j] = T(Activate(0, sums[0][static_cast<size_t>(j - first)]));
        }
      }
    });
  }

 private:
  static constexpr int64_t kBlock = 32;
  using GateSums = std::array<std::array<C, kBlock>, 4>;

  C Input(const CellStep<T>& step, int64_t gate, int64_t j) const {
    return Dot(step.x, weights_.w + (gate * cell_.hidden + j) * weights_.w_stride, weights_.inputs);
  }
  C Recurrent(const T* h, int64_t gate, int64_t j) const {
    return Dot(h, weights_.r + (gate * cell_.hidden + j) * weights_.r_stride, cell_.hidden);
  }
  C Bias(int64_t gate, int64_t j) const {
    return weights_.b == nullptr ? C(0) : static_cast<C>(weights_.b[gate * cell_.hidden + j]);
  }
  C Gate(const CellStep<T>& step, int64_t gate, int64_t j) const {
    return Input(step, gate, j) + Recurrent(step.h, gate, j) + Bias(gate, j);
  }
  C Activate(size_t activation, C sum) const {
    if (cell_.clip > 0) sum = std::clamp(sum, C(-cell_.clip), C(cell_.clip));
    return cell_.activations[activation](sum);
  }

  // C' = f * C + i * c;  H' = o * h(C')
  void RunLstm(const CellStep<T>& step, int64_t j, const GateSums& sums, int64_t place) const {
    const auto gate = [&](size_t name) {
      return sums[static_cast<size_t>(cell_.order[name])][static_cast<size_t>(place)];
    };
    const C f = Activate(0, gate(0));
    const C i = Activate(0, gate(1));
    const C c = Activate(1, gate(2));
    const C o = Activate(0, gate(3));
    const C state = f * static_cast<C>(step.c[j]) + i * c;
    step.next_c[j] = T(state);
    step.next_h[j] = T(o * cell_.activations[2](state));
  }

  // H' = (1 - z) * h + z * H. The reset gate multiplies H, or the matmul result with linear_before_reset.
  void RunGru(const CellStep<T>& step) {
    const auto size = static_cast<size_t>(cell_.hidden);
    reset_.resize(size);
    reset_state_.resize(size);
    update_.resize(size);
    const int64_t cost = weights_.inputs + cell_.hidden;
    tensor::ParallelFor(cell_.hidden, 2 * cost, [&](int64_t j) {
      const auto at = static_cast<size_t>(j);
      update_[at] = Activate(0, Gate(step, 0, j));
      reset_[at] = Activate(0, Gate(step, 1, j));
      reset_state_[at] = T(reset_[at] * static_cast<C>(step.h[j]));
    });
    tensor::ParallelFor(cell_.hidden, cost, [&](int64_t j) {
      const auto at = static_cast<size_t>(j);
      C sum = Input(step, 2, j) + Bias(2, j);
      if (cell_.linear_before_reset) {
        sum += reset_[at] * (Recurrent(step.h, 2, j) + Bias(3, j));
      } else {
        sum += Recurrent(reset_state_.data(), 2, j);
      }
      const C h = Activate(1, sum);
      step.next_h[j] = T((C(1) - update_[at]) * h + update_[at] * static_cast<C>(step.h[j]));
    });
  }

  const Cell& cell_;
  const CellWeights<T>& weights_;
  std::vector<C> update_, reset_;
  std::vector<T> reset_state_;
};

// ---- cells ----

// Peepholes of LSTMCell-1 are not part of the formula.
bool HasPeepholes(const ReferenceRun& run) {
  if (run.num_inputs() < 7) return false;
  for (double value : tensor::ElementsAsDoubles(run.input(6))) {
    if (value != 0) return true;
  }
  return false;
}

template <typename T>
void RunCellAs(const ReferenceRun& run, const Cell& cell) {
  const bool is_lstm = cell.kind == CellKind::kLstm;
  const size_t first = is_lstm ? 3 : 2;  // W
  const int64_t batch = run.input(0).extent(0);
  const int64_t inputs = run.input(0).extent(1);
  CellWeights<T> weights{.w = run.input(first).data<T>(),
                         .r = run.input(first + 1).data<T>(),
                         .b = run.num_inputs() > first + 2 ? run.input(first + 2).data<T>() : nullptr,
                         .inputs = inputs,
                         .w_stride = inputs,
                         .r_stride = cell.hidden};
  if (is_lstm && run.num_inputs() == 5 && run.input(4).rank() == 1) {  // W and R concatenated
    weights.w_stride = weights.r_stride = inputs + cell.hidden;
    weights.r = weights.w + inputs;
    weights.b = run.input(4).data<T>();
  }
  CellRunner<T> runner(cell, weights);
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t state = i * cell.hidden;
    runner.Run({.x = run.input(0).data<T>() + i * inputs,
                .h = run.input(1).data<T>() + state,
                .c = is_lstm ? run.input(2).data<T>() + state : nullptr,
                .next_h = run.output(0).mutable_data<T>() + state,
                .next_c = is_lstm ? run.output(1).mutable_data<T>() + state : nullptr});
  }
}

template <CellKind kKind>
FaultOr<Success> RunCell(const ReferenceRun& run) {
  if (run.num_outputs() != (kKind == CellKind::kLstm ? 2u : 1u))
    return KernelFault("it has {} outputs", run.num_outputs());
  if (HasPeepholes(run)) return KernelFault("peepholes (input 6) are not zero");
  const Cell cell = MakeCell(run.node, kKind);
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { RunCellAs<T>(run, cell); }))
    return UnsupportedType(run);
  return Success();
}

// ---- sequences ----

template <typename T>
class SequenceRunner {
 public:
  SequenceRunner(const ReferenceRun& run, llvm::ArrayRef<Cell> cells)
      : run_(run),
        cells_(cells),
        cell_(cells[0]),
        is_lstm_(cell_.kind == CellKind::kLstm),
        batch_(run.input(0).extent(0)),
        length_(run.input(0).extent(1)),
        inputs_(run.input(0).extent(2)),
        directions_(run.input(1).extent(1)),
        state_(static_cast<size_t>(cell_.hidden)) {}

  void Run(llvm::ArrayRef<int64_t> lengths) {
    const bool reverse = run_.node.String("direction") == "reverse";
    for (int64_t direction = 0; direction < directions_; ++direction) {
      const size_t first = is_lstm_ ? 4 : 3;  // W
      const int64_t rows = direction * cell_.gates * cell_.hidden;
      const CellWeights<T> weights{
          .w = run_.input(first).template data<T>() + rows * inputs_,
          .r = run_.input(first + 1).template data<T>() + rows * cell_.hidden,
          .b = run_.input(first + 2).template data<T>() + direction * cell_.bias_rows(),
          .inputs = inputs_,
          .w_stride = inputs_,
          .r_stride = cell_.hidden};
      CellRunner<T> runner(cells_[static_cast<size_t>(direction)], weights);
      for (int64_t i = 0; i < batch_; ++i)
        RunOne(runner, i, direction, lengths[static_cast<size_t>(i)], reverse || direction == 1);
    }
  }

 private:
  // Runs one batch element in one direction. Results after its length are 0; in reverse the first step is the
  // last valid one.
  void RunOne(CellRunner<T>& runner, int64_t i, int64_t direction, int64_t length, bool reverse) {
    const int64_t hidden = cell_.hidden;
    const int64_t place = (i * directions_ + direction) * hidden;
    T* y = run_.output(0).template mutable_data<T>() + place * length_;
    const T* h = run_.input(1).template data<T>() + place;
    if (is_lstm_) {
      const T* c = run_.input(2).template data<T>() + place;
      std::copy(c, c + hidden, state_.begin());
    }
    for (int64_t k = 0; k < length; ++k) {
      const int64_t t = reverse ? length - 1 - k : k;
      runner.Run({.x = run_.input(0).template data<T>() + (i * length_ + t) * inputs_,
                  .h = h,
                  .c = state_.data(),
                  .next_h = y + t * hidden,
                  .next_c = state_.data()});
      h = y + t * hidden;
    }
    std::copy(h, h + hidden, run_.output(1).template mutable_data<T>() + place);
    std::fill(y + length * hidden, y + length_ * hidden, T(0));
    if (is_lstm_) std::copy(state_.begin(), state_.end(), run_.output(2).template mutable_data<T>() + place);
  }

  const ReferenceRun& run_;
  const llvm::ArrayRef<Cell> cells_;  // one per direction; they only differ in activations
  const Cell& cell_;
  const bool is_lstm_;
  const int64_t batch_, length_, inputs_, directions_;
  std::vector<T> state_;  // C of an LSTM
};

template <CellKind kKind>
FaultOr<Success> RunSequence(const ReferenceRun& run) {
  const size_t states = kKind == CellKind::kLstm ? 2 : 1;
  if (run.num_outputs() != states + 1) return KernelFault("it has {} outputs", run.num_outputs());
  const std::array<Cell, 2> cells = {MakeCell(run.node, kKind, 0), MakeCell(run.node, kKind, 1)};
  const auto lengths = tensor::ElementsAsInts(run.input(states + 1));
  for (int64_t length : lengths) {
    if (length >= 0 && length <= run.input(0).extent(1)) continue;
    return KernelFault("a sequence has the length {}; expected at most {}", length, run.input(0).extent(1));
  }
  const bool known = VisitFloatType(
      run.input(0).type(), [&]<typename T>(TypeTag<T>) { SequenceRunner<T>(run, cells).Run(lengths); });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterRecurrent(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset4"}, "LSTMCell", RunCell<CellKind::kLstm>);
  registry.AddReference({"opset3"}, "GRUCell", RunCell<CellKind::kGru>);
  registry.AddReference({"opset1"}, "RNNCell", RunCell<CellKind::kRnn>);
  registry.AddReference({"opset5"}, "LSTMSequence", RunSequence<CellKind::kLstm>);
  registry.AddReference({"opset5"}, "GRUSequence", RunSequence<CellKind::kGru>);
  registry.AddReference({"opset5"}, "RNNSequence", RunSequence<CellKind::kRnn>);
}

}  // namespace nnefc::runtime::kernels

// Gate computations of recurrent cells.

#include "runtime/fast/rnn/recurrent_gates.h"

#include <cstring>

#include "runtime/fast/rnn/gate_functions.h"
#include "runtime/fast/simd/loop_math.h"

namespace nnefc::runtime::fast::rnn {

using simd::Vectorized;

namespace {

template <typename Function>
void MapRow(float* x, int64_t count, const Function& function) {
  Vectorized([&] {
    for (int64_t i = 0; i < count; ++i) x[i] = function(x[i]);
  });
}

void ActivateRow(const kernels::CellFunction& activation, float* x, int64_t count) {
  const auto alpha = static_cast<float>(activation.alpha);
  const auto beta = static_cast<float>(activation.beta);
  switch (activation.function) {
    case ir::ops::opset::CellActivation::kSigmoid:
      return MapRow(x, count, [](float v) { return simd::VectorSigmoid(v); });
    case ir::ops::opset::CellActivation::kTanh:
      return MapRow(x, count, [](float v) { return simd::VectorTanh(v); });
    case ir::ops::opset::CellActivation::kRelu:
      return MapRow(x, count, [](float v) { return v < 0.0f ? 0.0f : v; });
    case ir::ops::opset::CellActivation::kHardSigmoid:
      return MapRow(x, count, [=](float v) {
        const float y = alpha * v + beta;
        return y < 0.0f ? 0.0f : y > 1.0f ? 1.0f : y;
      });
  }
}

// Adds the missing recurrent terms to the sums of a GRU whose reset gate applies to products.
void AddRecurrentSums(const StateRow& row) {
  constexpr int64_t kGates = 2;
  Vectorized([&] {
    for (int64_t gate = 0; row.products != nullptr && gate < kGates; ++gate) {
      float* sum = row.gates + gate * row.stride;
      const float* product = row.products + gate * row.stride;
      for (int64_t j = 0; j < row.count; ++j) sum[j] += product[j];
    }
    for (int64_t j = 0; row.bias != nullptr && j < row.count; ++j) row.candidate_product[j] += row.bias[j];
  });
}

}  // namespace

void CellMath::Finish(const StateRow& row) const {
  if (cell_.kind == kernels::CellKind::kLstm) return FinishLstm(row);
  if (cell_.kind == kernels::CellKind::kGru) return FinishGru(row);
  Gate(row, 0, 0);
  std::memcpy(row.next_h, row.gates, static_cast<size_t>(row.count) * sizeof(float));
}

void CellMath::StartGru(const StateRow& row) const {
  Gate(row, 0, 0);
  const float* r = Gate(row, 1, 0);
  Vectorized([&] {
    for (int64_t j = 0; j < row.count; ++j) row.reset[j] = r[j] * row.h[j];
  });
}

float* CellMath::Gate(const StateRow& row, int64_t place, size_t activation) const {
  return Apply(row.gates + place * row.stride, row, activation);
}

float* CellMath::Apply(float* gate, const StateRow& row, size_t activation) const {
  const auto most = static_cast<float>(cell_.clip);
  if (most > 0) MapRow(gate, row.count, [=](float v) { return v < -most ? -most : v > most ? most : v; });
  ActivateRow(cell_.activations[activation], gate, row.count);
  return gate;
}

bool CellMath::HasUsualFunctions() const {
  using ir::ops::opset::CellActivation;
  const auto is = [&](size_t place, CellActivation function) {
    return cell_.activations[place].function == function;
  };
  if (cell_.clip > 0 || cell_.kind == kernels::CellKind::kRnn) return false;
  return is(0, CellActivation::kSigmoid) && is(1, CellActivation::kTanh) &&
         (cell_.kind == kernels::CellKind::kGru || is(2, CellActivation::kTanh));
}

// C' = f * C + i * c;  H' = o * h(C')
void CellMath::FinishLstm(const StateRow& row) const {
  if (is_usual_) {  // in a single pass, with three divisions instead of five
    const float* gates[4];
    for (size_t i = 0; i < 4; ++i) gates[i] = row.gates + cell_.order[i] * row.stride;
    return Vectorized([&] {
      for (int64_t j = 0; j < row.count; ++j) {
        const Fraction f = SigmoidFraction(gates[0][j]);
        const Fraction i = SigmoidFraction(gates[1][j]);
        const Fraction c = TanhFraction(gates[2][j]);
        const Fraction o = SigmoidFraction(gates[3][j]);
        const float state = f.above / f.below * row.c[j] + i.above * c.above / (i.below * c.below);
        const Fraction h = TanhFraction(state);
        row.c[j] = state;
        row.next_h[j] = o.above * h.above / (o.below * h.below);
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
void CellMath::FinishGru(const StateRow& row) const {
  if (cell_.linear_before_reset) {
    AddRecurrentSums(row);
    if (is_usual_) return FinishUsualGru(row);
    Gate(row, 0, 0);
    const float* r = Gate(row, 1, 0);
    Vectorized([&] {
      for (int64_t j = 0; j < row.count; ++j) row.candidate[j] += r[j] * row.candidate_product[j];
    });
  }
  const float* z = row.gates;
  const float* h = Apply(row.candidate, row, 1);
  Vectorized([&] {
    for (int64_t j = 0; j < row.count; ++j) row.next_h[j] = (1.0f - z[j]) * h[j] + z[j] * row.h[j];
  });
}

// The same in a single pass.
void CellMath::FinishUsualGru(const StateRow& row) const {
  Vectorized([&] {
    for (int64_t j = 0; j < row.count; ++j) {
      const Fraction z = SigmoidFraction(row.gates[j]);
      const Fraction r = SigmoidFraction(row.gates[row.stride + j]);
      const Fraction h = TanhFraction(row.candidate[j] + r.above / r.below * row.candidate_product[j]);
      row.next_h[j] = (z.below - z.above) * h.above / (z.below * h.below) + z.above / z.below * row.h[j];
    }
  });
}

}  // namespace nnefc::runtime::fast::rnn

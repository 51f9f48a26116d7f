// Gate computations of a recurrent step for one batch element.
#pragma once

#include <cstdint>

#include "runtime/kernels/arithmetic/recurrent.h"

namespace nnefc::runtime::fast::rnn {

// A part of the state of one batch element. The candidate of a GRU is stored separately.
struct StateRow {
  float* gates;
  int64_t stride;  // stride between gates
  float* candidate = nullptr;
  const float* h;
  float* next_h;
  float* c = nullptr;      // LSTM: state before and after the step
  float* reset = nullptr;  // GRU: r * h if the reset gate acts on the state
  // Otherwise R * h of the candidate, its bias or null, and R * h of the gates z and r with stride `stride`,
  // or null if the gates include it.
  float* candidate_product = nullptr;
  const float* bias = nullptr;
  const float* products = nullptr;
  int64_t count = 0;
};

class CellMath {
 public:
  explicit CellMath(const kernels::Cell& cell) : cell_(cell), is_usual_(HasUsualFunctions()) {}

  // Computes the new state of the row.
  void Finish(const StateRow& row) const;
  // GRU with reset on the state: computes the gates z and r, and r * h.
  void StartGru(const StateRow& row) const;

 private:
  float* Gate(const StateRow& row, int64_t place, size_t activation) const;
  float* Apply(float* gate, const StateRow& row, size_t activation) const;
  bool HasUsualFunctions() const;
  void FinishLstm(const StateRow& row) const;
  void FinishGru(const StateRow& row) const;
  void FinishUsualGru(const StateRow& row) const;

  const kernels::Cell& cell_;
  const bool is_usual_;
};

}  // namespace nnefc::runtime::fast::rnn

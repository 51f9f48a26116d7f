// What a step of a recurrent layer makes of the sums of its gates, for one element of the batch.
#pragma once

#include <cstdint>

#include "runtime/kernels/recurrent.h"

namespace nnefc::runtime {

// A part of the state of one element of the batch; the candidate of a GRU lies on its own.
struct StateRow {
  float* gates;
  int64_t stride;  // from one gate to the next
  float* candidate = nullptr;
  const float* h;
  float* next_h;
  float* c = nullptr;      // of an LSTM: before and after the step
  float* reset = nullptr;  // of a GRU: r * h if the reset acts on the state
  // Otherwise R * h of its candidate, what is to be added to that, or null, and R * h of its gates z and r,
  // `stride` apart, or null where they have it.
  float* candidate_product = nullptr;
  const float* bias = nullptr;
  const float* products = nullptr;
  int64_t count = 0;
};

class CellMath {
 public:
  explicit CellMath(const Cell& cell) : cell_(cell), is_usual_(HasUsualFunctions()) {}

  // The new state of the row.
  void Finish(const StateRow& row) const;
  // Of a GRU whose reset acts on the state: the gates z and r, and r * h.
  void StartGru(const StateRow& row) const;

 private:
  float* Gate(const StateRow& row, int64_t place, size_t activation) const;
  float* Apply(float* gate, const StateRow& row, size_t activation) const;
  bool HasUsualFunctions() const;
  void FinishLstm(const StateRow& row) const;
  void FinishGru(const StateRow& row) const;
  void FinishUsualGru(const StateRow& row) const;

  const Cell& cell_;
  const bool is_usual_;
};

}  // namespace nnefc::runtime

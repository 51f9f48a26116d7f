#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/ir/graph.h"
#include "compiler/ir/ops/opset/control_flow/recurrent.h"

namespace nnefc::runtime::kernels {

enum class CellKind : uint8_t { kRnn, kGru, kLstm };

// The activation function of a gate or of the new state of a cell.
struct CellFunction {
  ir::ops::opset::CellActivation function = ir::ops::opset::CellActivation::kTanh;
  double alpha = 0, beta = 0;

  template <typename C>
  C operator()(C x) const {
    switch (function) {
      case ir::ops::opset::CellActivation::kSigmoid:
        return C(1) / (C(1) + std::exp(-x));
      case ir::ops::opset::CellActivation::kTanh:
        return std::tanh(x);
      case ir::ops::opset::CellActivation::kRelu:
        return std::max(x, C(0));
      case ir::ops::opset::CellActivation::kHardSigmoid:
        return std::clamp(C(alpha) * x + C(beta), C(0), C(1));
    }
    return x;
  }
};

// The attributes of a cell, or of one direction of a sequence.
struct Cell {
  CellKind kind;
  int64_t gates = 1;
  int64_t hidden = 1;
  double clip = 0;  // 0: none
  bool linear_before_reset = false;
  std::array<CellFunction, 3> activations;
  std::array<int64_t, 4> order = {0, 1, 2, 3};  // indices of gates f, i, c and o of an LSTM

  int64_t bias_rows() const { return (gates + (linear_before_reset ? 1 : 0)) * hidden; }
};

// Creates the cell of a direction; 1 is the reverse half of a bidirectional sequence.
Cell MakeCell(const ir::Node& node, CellKind kind, int64_t direction = 0);

}  // namespace nnefc::runtime::kernels

// Lowerings of NNEF's matmul and linear to OpenVINO operations.

#include "compiler/lower/table.h"
#include "compiler/lower/windows/convolution.h"

namespace nnefc::lower {

namespace {

OutputPort MatMul(NodeLowering& n, OutputPort a, OutputPort b, std::pair<bool, bool> transpose) {
  return n.Add("opset1", "MatMul", {a, b},
               Attributes({{"transpose_a", transpose.first}, {"transpose_b", transpose.second}}));
}

void LowerMatmul(NodeLowering& n) {
  n.SetOutput(MatMul(n, n.input(0), n.input(1), {n.Bool("transposeA"), n.Bool("transposeB")}));
}

// linear: matmul(input, filter, transposeB = true) + bias.
void LowerLinear(NodeLowering& n) {
  n.SetOutput(AddBias(n, MatMul(n, n.input(0), n.input(1), {false, true}), 2));
}

}  // namespace

void RegisterMatmul(LoweringTable& table) {
  table["matmul"] = LowerMatmul;
  table["linear"] = LowerLinear;
}

}  // namespace nnefc::lower

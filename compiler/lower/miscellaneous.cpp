// Lowerings of NNEF's copy, copy_n and add_n to OpenVINO operations.

#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

// A copy is an alias of the tensor.
void LowerCopy(NodeLowering& n) {
  for (int32_t i = 0; i < n.node().num_outputs(); ++i) n.SetOutput(i, n.input(0));
}

// Lowers the sum of any number of tensors; without tensors it is zero.
void LowerAddN(NodeLowering& n) {
  if (n.num_inputs() == 0) {
    n.SetOutput(n.ConstFloat(0, "zero"));
    return;
  }
  OutputPort sum = n.input(0);
  for (int32_t i = 1; i < n.num_inputs(); ++i) sum = n.Binary("Add", sum, n.input(i));
  n.SetOutput(sum);
}

}  // namespace

void RegisterMiscellaneous(LoweringTable& table) {
  table["copy"] = {LowerCopy, /*accepts_any_rank=*/true};
  table["copy_n"] = LowerCopy;
  table["add_n"] = LowerAddN;
}

}  // namespace nnefc::lower

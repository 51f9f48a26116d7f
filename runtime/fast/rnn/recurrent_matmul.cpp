// Matmuls of recurrent layers.

#include "runtime/fast/rnn/recurrent_matmul.h"

namespace nnefc::runtime::fast::rnn {

llvm::SmallVector<GatePart, 2> PartsOf(const kernels::Cell& cell) {
  if (cell.kind == kernels::CellKind::kGru) return {{0, 2}, {2, 1}};
  return {{0, cell.gates}};
}

llvm::SmallVector<GatePart, 3> ProductParts(const kernels::Cell& cell) {
  const llvm::SmallVector<GatePart, 2> parts = PartsOf(cell);
  llvm::SmallVector<GatePart, 3> all(parts.begin(), parts.end());
  if (cell.kind == kernels::CellKind::kGru) all.push_back({0, cell.gates});
  return all;
}

size_t AllGates(const kernels::Cell& cell) {
  return ProductParts(cell).size() - 1;
}

}  // namespace nnefc::runtime::fast::rnn

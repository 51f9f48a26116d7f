#pragma once

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"

namespace nnefc::ir::ops {

// Shape inference for operations that broadcast. NNEF aligns shapes at the first axis, in contrast to NumPy
// (R 4.2.2): [2,3] and [2] are compatible, [2,3] and [3] are not. `parameters` are indices into
// OpInfo::inputs.

// Returns the broadcast shape of the inputs of the entries `parameters`. Each item of a variadic entry is an
// operand; omitted entries are skipped. Emits kBroadcast and returns nothing if the shapes are incompatible.
[[nodiscard]] std::optional<PartialShape> BroadcastInputs(InferContext& context,
                                                          llvm::ArrayRef<int32_t> parameters);
// Broadcasts `shape` with one more input; returns it unchanged if the input is omitted. Emits kBroadcast and
// returns nothing if the shapes are incompatible.
[[nodiscard]] std::optional<PartialShape> BroadcastInput(InferContext& context, const PartialShape& shape,
                                                         int32_t parameter);
// Sets output 0 to `type` and the shape that BroadcastInputs returns. After an error the output is unchanged.
void ProduceBroadcast(InferContext& context, ElementType type, llvm::ArrayRef<int32_t> parameters);

}  // namespace nnefc::ir::ops

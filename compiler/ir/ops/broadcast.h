#pragma once

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"

namespace nnefc::ir::nnef {

// Broadcasts the inputs of the entries `parameters` of OpInfo::inputs (R 4.2.2),
// variadic ones item by item; entries that were left out do not count. Emits
// kBroadcast and returns nothing where they do not fit.
std::optional<PartialShape> BroadcastInputs(InferContext& context, llvm::ArrayRef<int32_t> parameters);
// Extends `shape` by one more input. Emits kBroadcast.
std::optional<PartialShape> BroadcastInput(InferContext& context, const PartialShape& shape,
                                           int32_t parameter);
// Sets output 0 to what the inputs broadcast to.
void ProduceBroadcast(InferContext& context, ElementType type, llvm::ArrayRef<int32_t> parameters);

}  // namespace nnefc::ir::nnef

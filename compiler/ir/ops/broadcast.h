#pragma once

#include "compiler/ir/interval.h"
#include "compiler/ir/ops/arguments.h"

namespace nnefc::ir::nnef {

// Returns the broadcast shape of the inputs of the entries `parameters` of OpInfo::inputs (R 4.2.2). Items of
// variadic entries count separately; omitted entries are skipped. Emits kBroadcast and returns nothing if the
// shapes are incompatible.
std::optional<PartialShape> BroadcastInputs(InferContext& context, llvm::ArrayRef<int32_t> parameters);
// Broadcasts `shape` with one more input. Emits kBroadcast.
std::optional<PartialShape> BroadcastInput(InferContext& context, const PartialShape& shape,
                                           int32_t parameter);
// Sets output 0 to `type` and the broadcast shape of the inputs. Emits kBroadcast.
void ProduceBroadcast(InferContext& context, ElementType type, llvm::ArrayRef<int32_t> parameters);

}  // namespace nnefc::ir::nnef

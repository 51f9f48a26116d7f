#pragma once

#include "compiler/ir/ops/windows/sliding_window.h"

namespace nnefc::ir::ops {

// Shape functions of convolutions (R 4.3.1, R 4.9.2); the rows are in sliding_window.cpp.
void InferConv(InferContext& context);
void InferDeconv(InferContext& context);
void InferSeparableConv(InferContext& context);
void InferSeparableDeconv(InferContext& context);

}  // namespace nnefc::ir::ops

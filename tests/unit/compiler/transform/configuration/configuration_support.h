#pragma once

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {

// Two blocks of the same form in sequence; their names are their scopes.
inline constexpr const char* kBlocks =
    R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.ReLU "net/block1/relu" (%0) : f32[2]
  %2 = opset1.Abs "net/block1/abs" (%0) : f32[2]
  %3 = opset1.Add "net/block1/sum" (%1, %2) : f32[2]
  %4 = opset1.ReLU "net/block2/relu" (%3) : f32[2]
  %5 = opset1.Abs "net/block2/abs" (%3) : f32[2]
  %6 = opset1.Add "net/block2/sum" (%4, %5) : f32[2] as ["out"]
  opset1.Result "y" (%6)
)";

}  // namespace nnefc::transform

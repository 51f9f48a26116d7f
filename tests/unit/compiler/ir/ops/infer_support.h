#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/algorithms/infer.h"
#include "tests/unit/compiler/ir/ops/standard_ops.h"

namespace nnefc::ir::ops {

// Infers one NNEF operation. `inputs` are types in the text form, "f32[1,3,?]". `attributes` are in the text
// form without braces, "stride = [2,2]", and completed by the defaults of the standard library. Returns the
// types of the results, "f32[1,8]; i64[1,8]", or the label of the broken rule.
struct Inference {
  std::string_view op;
  std::vector<std::string_view> inputs = {};
  std::string_view attributes = {};
  int num_outputs = 1;
};
std::string Infer(const Inference& inference);
// The message of the first diagnostic, or nothing.
std::string Message(const Inference& inference);

}  // namespace nnefc::ir::ops

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/op_registry.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::expand {

// A line of graph.quant (R 5.3, P 5.3) with its arguments evaluated: `"filter1": min_max_linear_quantize(min
// = [[-1.0], [-2.0]], max = 1.0, ...);`
struct TensorQuantization {
  struct Argument {
    std::string name;
    // Numbers are f32, logicals boolean. A single value has shape []; a nested array literal has one axis per
    // nesting level.
    TensorValue value;
    SourceRange range;
  };
  std::string tensor;     // the key
  std::string operation;  // "min_max_linear_quantize"
  bool is_standard = false;
  std::vector<Argument> arguments;  // defaults included
  SourceRange range;                // range of the invocation

  const Argument* Find(std::string_view name) const;
};

// Evaluates the lines of a quantization file that passed CheckQuantization, in order; the first line of a
// repeated key counts. Omits lines with errors that depend on values (an array of unequal lengths, a division
// by zero), after reporting them.
std::vector<TensorQuantization> EvaluateQuantization(const semantics::CheckedDocument& quantization,
                                                     const semantics::StandardLibrary& library,
                                                     ir::OpRegistry& registry, Context& context);

}  // namespace nnefc::expand

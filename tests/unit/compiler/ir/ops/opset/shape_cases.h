#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/algorithms/infer.h"

namespace nnefc::ir::ops::opset {

// A line of shape_cases.txt; make_shape_cases.py describes its format.
struct ShapeCase {
  int line = 0;
  std::string op;          // "opset1.Convolution"
  std::string inputs;      // "f32[1,3,8,8]; i64[2] = 1 2"
  std::string attributes;  // "strides = [1,1]"
  std::string results;     // "f32[1,3,8,8]", "error"
};

// Splits a text at the separators.
std::vector<std::string> SplitText(const std::string& text, const std::string& separator);

std::vector<ShapeCase> ReadShapeCases(const std::string& path);

// Returns the operations of the module, registered once.
const OpRegistry& Opsets();

// Infers a node with the inputs and attributes of a case, and as many outputs as it has results. Returns the
// types of the outputs in the form of ShapeCase::results, or the label of the broken rule; then `message`, if
// not null, is the text of the first error. Expects one error, or counts them if `num_messages` is not null.
std::string InferCase(const ShapeCase& shape_case, std::string* message = nullptr,
                      int* num_messages = nullptr);

}  // namespace nnefc::ir::ops::opset

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/infer.h"

namespace nnefc::testing {

// A line of shape_cases.txt; make_shape_cases.py describes its format.
struct ShapeCase {
  int line = 0;
  std::string op;          // "opset1.Convolution"
  std::string inputs;      // "f32[1,3,8,8]; i64[2] = 1 2"
  std::string attributes;  // "strides = [1,1]"
  std::string results;     // "f32[1,3,8,8]", "error"
};

// The parts of a text between the separators.
std::vector<std::string> SplitText(const std::string& text, const std::string& separator);

std::vector<ShapeCase> ReadShapeCases(const std::string& path);

// Returns the operations of the module, registered once.
const ir::OpRegistry& Opsets();

// Infers one node as a line of the table says it. Returns its results in the
// table's form; after a mistake the label of the broken rule, and in `message` what was reported.
std::string InferCase(const ShapeCase& shape_case, std::string* message = nullptr);

}  // namespace nnefc::testing

#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "compiler/ir/op_registry.h"

namespace nnefc::ir::nnef {

// A row of the table of NNEF operations. Inputs are the declaration's tensor
// parameters in order: "bias?" has a default, "values[]" is an array of
// tensors. Results likewise: "values[]".
struct Row {
  std::string_view name = {};
  std::string_view section = {};
  std::vector<std::string_view> inputs = {};
  std::vector<std::string_view> outputs = {"output"};
  InferFunction infer = nullptr;
  bool is_source = false;
  bool is_sink = false;
  OpRole role = OpRole::kComputation;
  SignRule sign = SignRule::kUnknown;
};

void AddRow(OpRegistry& registry, const Row& row);
// Adds operations that differ in name only.
void AddRows(OpRegistry& registry, std::initializer_list<std::string_view> names, Row row);

}  // namespace nnefc::ir::nnef

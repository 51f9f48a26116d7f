#pragma once

#include <initializer_list>
#include <string_view>

#include "compiler/ir/op_registry.h"
#include "compiler/ir/ops/arguments.h"

namespace nnefc::ir::nnef {

// What a row of the table of NNEF operations says beside the declaration in the
// standard library, which has the inputs, attributes and results.
struct Row {
  std::string_view name = {};
  std::string_view section = {};
  InferFunction infer = nullptr;
  bool is_source = false;
  bool is_sink = false;
  OpRole role = OpRole::kComputation;
  SignRule sign = SignRule::kUnknown;
  ProvisionalForm provisional = ProvisionalForm::kSame;
  WindowKind window = WindowKind::kNone;
  ResultCount results = ResultCount::kDeclared;
  bool is_elementwise = false;
  bool is_commutative = false;
  std::initializer_list<DataRole> data = {};  // of the inputs, if it decides
  // How inputs adjust the result, in order; those that are left out adjust nothing.
  std::initializer_list<Adjusts> adjusts = {};
};

void AddRow(OpRegistry& registry, const Row& row);
// Adds operations that differ in name only.
void AddRows(OpRegistry& registry, std::initializer_list<std::string_view> names, Row row);

}  // namespace nnefc::ir::nnef

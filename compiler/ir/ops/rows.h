#pragma once

#include <initializer_list>
#include <string_view>

#include "compiler/ir/op_registry.h"
#include "compiler/ir/ops/arguments.h"

namespace nnefc::ir::ops {

// A row of the table of NNEF operations: everything that the declaration in the standard library lacks. The
// declaration has the inputs, attributes and results.
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
  Quantizer quantizer = Quantizer::kNone;
  IntegerResult integers = IntegerResult::kUnknown;
  std::string_view equivalent = {};
  bool is_elementwise = false;
  bool is_commutative = false;
  NarrowIntegers narrow = NarrowIntegers::kKept;
  std::initializer_list<DataRole> data = {};  // roles of the inputs, if the operation determines them
  // Alignments of the inputs in order; missing items mean kNothing.
  std::initializer_list<Adjusts> adjusts = {};
};

void AddRow(OpRegistry& registry, const Row& row);
// Adds operations that differ in name only.
void AddRows(OpRegistry& registry, std::initializer_list<std::string_view> names, Row row);

}  // namespace nnefc::ir::ops

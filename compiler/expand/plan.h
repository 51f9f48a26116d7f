#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/expand/value.h"
#include "compiler/ir/op_registry.h"
#include "compiler/ir/wording.h"
#include "compiler/semantics/checked_document.h"

namespace nnefc::expand {

// A plan to turn calls of a fragment into nodes: the ratified operation and the source of each argument.
// Created once per fragment.
struct OpPlan {
  struct Parameter {
    std::string name;
    std::string called;     // the name in the document: `perm` for `axes`
    std::string type_text;  // in the spelling of the document's dialect
    semantics::TypeId type;
    bool is_tensor = false;  // an input, or several
    bool is_array = false;   // `tensor<scalar>[]`
    int32_t source = -1;     // index of the callee's parameter; -1: the default
    Value default_value;
  };
  ir::OpId op;
  std::string name;
  std::string called;                                    // the name in the document: `idn` for `copy`
  const semantics::CheckedDocument* document = nullptr;  // document of the signature: types and dialect
  const semantics::Signature* signature = nullptr;
  std::vector<Parameter> parameters;
  // Copies of the operation's row.
  ir::OpRole role = ir::OpRole::kComputation;
  ir::ResultCount results = ir::ResultCount::kDeclared;
  ir::ProvisionalForm form = ir::ProvisionalForm::kSame;
  bool is_custom = false;    // a fragment of the document without a body
  bool runs_bodies = false;  // it runs fragments of the document
  bool provisional = false;  // arguments follow the provisional dialect's rules
  bool has_arrays = false;   // an input is variadic: nodes have segments

  // Returns the index of a parameter, by its ratified name or its name in the document, or -1.
  int32_t Find(std::string_view parameter) const;
  // Returns the names for diagnostics of the plan's nodes.
  ir::Wording wording() const;
};

// Creates the plan of a primitive or of a compound that is not expanded.
std::unique_ptr<OpPlan> MakePlan(const semantics::Callee& callee, const semantics::CheckedDocument& ratified,
                                 ir::OpRegistry& registry, const SymbolTable& symbols, Heap& heap);

}  // namespace nnefc::expand

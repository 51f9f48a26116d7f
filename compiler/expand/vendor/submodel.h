#pragma once

#include <string>
#include <vector>

#include "compiler/expand/evaluate/evaluation.h"

namespace nnefc::expand::vendor {

// A submodel whose graph is being evaluated.
struct SubmodelRun {
  std::string path;           // its labels, joined
  std::vector<Value> inputs;  // values of its externals, in order
  size_t taken = 0;           // number of inputs consumed
  uint32_t symbols = 0;       // result of SymbolScopes::Open
};

// Begins the graph of a submodel.
bool MakeSubmodel(evaluate::Evaluation& state, const evaluate::Call& call, const OpPlan& plan,
                  llvm::ArrayRef<Value> arguments, const Site& site);

}  // namespace nnefc::expand::vendor

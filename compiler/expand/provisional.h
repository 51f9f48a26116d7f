#pragma once

#include "compiler/expand/instantiate.h"

namespace nnefc::expand {

// True if the body of a standard compound of the provisional dialect computes
// something else than the ratified operation of its name would with these
// arguments: then the body is expanded.
bool MeaningChanged(std::string_view name, const Signature& signature, llvm::ArrayRef<Value> arguments,
                    const SymbolTable& symbols, const ir::Graph& graph);

// Turns arguments that follow the provisional dialect's rules into those that
// the ratified operation wants: lists of full length, ranks that match (where
// trailing singular extents are implied, an `unsqueeze` makes them). False
// after a mistake, which is in `fault` unless it was reported.
bool AdaptProvisional(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                      GraphBuilder& builder, Fault& fault);

}  // namespace nnefc::expand

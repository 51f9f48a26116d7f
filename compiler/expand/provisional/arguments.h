#pragma once

#include "compiler/expand/build/graph_builder.h"

namespace nnefc::expand::provisional {

// Returns true if the body of a provisional standard compound and the ratified operation of its name differ
// for these arguments; the body is then expanded.
bool MeaningChanged(std::string_view name, const semantics::Signature& signature,
                    llvm::ArrayRef<Value> arguments, const SymbolTable& symbols, const ir::Graph& graph);

// Converts arguments from the provisional dialect's rules to those of the ratified operation: lists of full
// length, equal ranks (an `unsqueeze` adds implied trailing axes of extent 1). After an error, returns false
// and fills `fault` unless the error was reported.
[[nodiscard]] bool AdaptProvisional(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments,
                                    const Site& site, build::GraphBuilder& builder, Fault& fault);

}  // namespace nnefc::expand::provisional

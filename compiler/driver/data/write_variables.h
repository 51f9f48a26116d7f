#pragma once

#include <string>

#include "compiler/driver/data/variable_data.h"
#include "compiler/ir/graph.h"

namespace nnefc::driver {

// Writes the data of a graph's variables as `<label>.dat` into a folder. Mistakes in the data are emitted by
// `variables`; a returned error is the system's.
ErrorOr<Success> WriteVariables(const ir::Graph& graph, VariableStore& variables, const std::string& folder);

}  // namespace nnefc::driver

#pragma once

#include <cstdint>
#include <string>

#include "compiler/driver/data/variable_data.h"
#include "compiler/ir/graph.h"

namespace nnefc::driver {

// The document whose tensor files are written.
enum class LabelsOf : uint8_t {
  kSource,  // the document that the graph was expanded from
  kPrinted  // the ratified document that is printed of the graph (ir::ops::RatifiedLabels)
};

// Writes the data of a graph's variables as `<label>.dat` into a folder. Mistakes in the data are emitted by
// `variables`; a returned error is the system's.
ErrorOr<Success> WriteVariables(const ir::Graph& graph, VariableStore& variables, LabelsOf labels,
                                const std::string& folder);

}  // namespace nnefc::driver

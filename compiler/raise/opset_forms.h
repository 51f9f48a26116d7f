#pragma once

#include "compiler/raise/node_raising.h"

namespace nnefc::raise {

// True if a document has a form of the operation by NNEFC_opset. `node` is of an OpenVINO set.
bool HasOpsetForm(const ir::Node& node);
// Adds the operation of NNEFC_opset that is the node, with inputs of its element types, or declines.
void RaiseToOpset(NodeRaising& n);

}  // namespace nnefc::raise

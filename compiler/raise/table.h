#pragma once

#include <string_view>
#include <vector>

#include "compiler/ir/op_registry.h"

namespace nnefc::raise {

class NodeRaising;

// Adds the computation of one OpenVINO node to the target and sets its outputs, or declines with a reason.
using RaiseFunction = void (*)(NodeRaising&);

// An OpenVINO operation, in all its versions, and the function that raises it.
struct RaiseEntry {
  std::string_view operation;
  RaiseFunction raise;
};

// The operations with an NNEF form, one function for each family.
std::vector<RaiseEntry> ElementwiseEntries();
std::vector<RaiseEntry> ActivationEntries();
std::vector<RaiseEntry> ConvolutionEntries();
std::vector<RaiseEntry> PoolingEntries();
std::vector<RaiseEntry> MatmulEntries();
std::vector<RaiseEntry> AttentionEntries();
std::vector<RaiseEntry> ReduceEntries();
std::vector<RaiseEntry> NormalizationEntries();
std::vector<RaiseEntry> ShapeOpsEntries();
std::vector<RaiseEntry> RearrangingEntries();
std::vector<RaiseEntry> SectionsEntries();
std::vector<RaiseEntry> ResamplingEntries();
std::vector<RaiseEntry> QuantizationEntries();
std::vector<RaiseEntry> UpdateEntries();

// Returns the function for an operation, or null.
RaiseFunction FindRaising(ir::OpId op);
// Returns the names of all operations with an NNEF form.
std::vector<std::string_view> RaisedOperations();

}  // namespace nnefc::raise

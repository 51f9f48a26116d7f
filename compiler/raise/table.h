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
  // True if the form needs tract's registries.
  bool is_of_tract = false;
};

// Appends the operations with an NNEF form: those of `std::vector<RaiseEntry> <Family>Entries()` of each
// file.
void AppendFamilies(std::vector<RaiseEntry>& entries);

// Returns the name of the NNEF operation whose row has this OpenVINO operation as its equivalent; "" if there
// is none.
std::string_view FindEquivalent(ir::OpId op);
// Returns the entry of an operation, or null.
const RaiseEntry* FindRaising(ir::OpId op);
// Returns the names of all operations with a form in the ratified dialect.
std::vector<std::string_view> RaisedOperations();

}  // namespace nnefc::raise

#pragma once

#include <map>
#include <string>

#include "compiler/expand/print/naming.h"
#include "compiler/ir/graph.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::upgrade {

// Compares two graphs line by line of their flat documents, what tensors are
// called aside.
class Matching {
 public:
  Matching(const ir::Graph& before, const ir::Graph& after, const PrintedNames& names)
      : before_(before), after_(after), printed_(names) {}

  // True if the nodes do the same with the same tensors; then their outputs
  // count as the same.
  bool Match(ir::NodeId before, ir::NodeId after);
  // True if the parameters and results of both graphs are the same, and have
  // the same names as they are printed; after all nodes were matched.
  bool MatchEnds() const;
  // Tensors whose names differ.
  std::map<std::string, std::string> Renamed() const;

 private:
  bool IsSame(ir::OutputPort before, ir::OutputPort after) const;

  const ir::Graph& before_;
  const ir::Graph& after_;
  const PrintedNames& printed_;
  llvm::StringMap<std::string> names_;  // of the outputs that were matched
};

}  // namespace nnefc::upgrade

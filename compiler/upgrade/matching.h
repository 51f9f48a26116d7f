#pragma once

#include <map>
#include <string>

#include "compiler/expand/print/naming.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/ops/variables.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::upgrade {

// A comparison of two graphs line by line of their flat documents, ignoring the names of tensors.
class Matching {
 public:
  Matching(const ir::Graph& before, const ir::Graph& after, const expand::print::PrintedNames& names)
      : before_(before), after_(after), labels_(before), printed_(names) {}

  // Returns true if the nodes have the same operation and operands; their outputs are then considered the
  // same.
  bool Match(ir::NodeId before, ir::NodeId after);
  // Returns true if the parameters and results of both graphs correspond and have the same printed names.
  // Call after matching all nodes.
  bool MatchEnds() const;
  // Returns the tensors with different names.
  std::map<std::string, std::string> Renamed() const;

 private:
  bool IsSame(ir::OutputPort before, ir::OutputPort after) const;
  // Returns true if the attributes are the same, where the labels of `before` are those of a ratified
  // document.
  bool HasSameAttributes(const ir::Node& before, const ir::Node& after) const;

  const ir::Graph& before_;
  const ir::Graph& after_;
  const ir::ops::RatifiedLabels labels_;  // of `before_`
  const expand::print::PrintedNames& printed_;
  llvm::StringMap<std::string> names_;  // names of the matched outputs
};

}  // namespace nnefc::upgrade

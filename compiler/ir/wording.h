#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// How the document that an NNEF node comes from calls it, for messages: a
// provisional `idn` is a node of `copy`. Kept in the node's rt_info; without
// one the names are those of the operation's row.
struct Wording {
  std::string_view operation;
  // The document's names by the row's, where they differ.
  std::vector<std::pair<std::string_view, std::string_view>> arguments = {};
  bool provisional = false;
};
void SetWording(Graph& graph, NodeId node, const Wording& wording);

std::string_view OperationName(const Node& node);
std::string_view ArgumentName(const Node& node, std::string_view argument);
bool IsProvisional(const Node& node);

}  // namespace nnefc::ir

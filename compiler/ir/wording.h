#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

// The document's names of an NNEF node and its arguments, for messages: a provisional `idn` is a `copy` node.
// They are stored in rt_info; nodes without them use the names of the operation's row.
struct Wording {
  std::string_view operation;
  // Pairs of the row's and the document's name, where they differ.
  std::vector<std::pair<std::string_view, std::string_view>> arguments = {};
  bool provisional = false;
};
void SetWording(Graph& graph, NodeId node, const Wording& wording);

std::string_view OperationName(const Node& node);
std::string_view ArgumentName(const Node& node, std::string_view argument);
bool IsProvisional(const Node& node);

}  // namespace nnefc::ir

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/symbol.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::expand {

// Finds identifiers for what expansion makes. Identifiers of the graph's body
// are kept; a tensor of a fragment is called by the scope of its instantiation
// and its local identifier, `incept1/conv1x1`, which prints as
// `incept1_conv1x1`, or by its operation if it has none; what collides gets
// `_2`. Names are only rendered by Finish.
class Names {
 public:
  explicit Names(const SymbolTable& symbols) : symbols_(symbols) {}

  // A node was made: in the instantiation `frame` (null: the graph's body)
  // while the body's `statement` was being evaluated. Call in order.
  void OnNode(const ir::Node& node, Symbol statement);
  // An output was assigned to an identifier of the fragment `frame`; a later
  // call, of an enclosing fragment, wins.
  void Assign(ir::OutputPort port, std::shared_ptr<const ir::Frame> frame, Symbol identifier);
  // An output was assigned to an identifier of the graph's body, whose name is the
  // last one's that is. False if it has one already.
  bool AssignInBody(ir::OutputPort port, Symbol identifier);
  // Leaves the node without a name: literals.
  void LeaveUnnamed(ir::NodeId node);
  // For the body of a node: names begin at the instantiation of the fragment
  // that it is. Call before Finish.
  void SetRoot(std::shared_ptr<const ir::Frame> frame);

  // Names all nodes and outputs of the graph.
  void Finish(ir::Graph& graph);

 private:
  enum class Origin : uint8_t { kOperation, kIdentifier, kBody, kUnnamed };
  struct Hint {
    Origin origin = Origin::kOperation;
    Symbol symbol;  // identifier; of the statement for kOperation
    std::shared_ptr<const ir::Frame> frame;
  };

  Hint& At(ir::OutputPort port) {
    return hints_[first_[static_cast<size_t>(port.node.index)] + static_cast<size_t>(port.index)];
  }
  // "incept1_conv1_", shared by recursive instantiations.
  const std::string& Prefix(const ir::Frame* frame);
  std::string Wanted(const Hint& hint, const ir::Node& node);
  bool IsInBody(const std::string& name) const;
  std::string Claim(const std::string& wanted);

  const SymbolTable& symbols_;
  std::shared_ptr<const ir::Frame> root_;  // null: the graph's body
  std::vector<size_t> first_;              // by node: its first output's hint
  std::vector<Hint> hints_;
  llvm::DenseMap<int32_t, ir::OutputPort> in_body_;  // by symbol
  struct ScopePrefix {
    std::string text;
    int depth = 0;
  };
  llvm::DenseMap<const ir::Frame*, std::unique_ptr<ScopePrefix>> prefixes_;
  llvm::StringMap<int32_t> taken_;  // beside those: the last number given to a name
};

}  // namespace nnefc::expand

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/text/symbol.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::expand::build {

// Chooses identifiers for nodes and outputs. Identifiers of the graph's body are preserved. The name of a
// tensor in a fragment consists of the scope of its instantiation and its local identifier:
// `incept1/conv1x1`, printed as `incept1_conv1x1`. Without an identifier, the operation's name is used.
// Colliding names get a suffix such as `_2`. Only Finish renders names.
class Names {
 public:
  explicit Names(const SymbolTable& symbols) : symbols_(symbols) {}

  // Registers a node, created in the instantiation `frame` (null: the graph's body) while the body's
  // `statement` was evaluated. Must be called in creation order.
  void OnNode(const ir::Node& node, Symbol statement);
  // Registers the assignment of an output to an identifier of the fragment `frame`; a later call, from an
  // enclosing fragment, wins.
  void Assign(ir::OutputPort port, std::shared_ptr<const ir::Frame> frame, Symbol identifier);
  // Registers the assignment of an output to an identifier of the graph's body. The last output assigned to
  // it has the name. Returns false if the output already has an identifier of the body.
  bool AssignInBody(ir::OutputPort port, Symbol identifier);
  // Marks a node with one output, such as a literal, as unnamed.
  void MarkUnnamed(ir::NodeId node);
  // Sets the root of a node's body, so that names begin at the instantiation of its fragment. Must be called
  // before Finish.
  void SetRoot(std::shared_ptr<const ir::Frame> frame);

  // Names all nodes and outputs of the graph.
  void Finish(ir::Graph& graph);

 private:
  enum class Origin : uint8_t { kOperation, kIdentifier, kBody, kUnnamed };
  struct Hint {
    Origin origin = Origin::kOperation;
    Symbol symbol;  // the identifier; for kOperation that of the statement
    std::shared_ptr<const ir::Frame> frame;
  };

  Hint& At(ir::OutputPort port) {
    return hints_[first_[static_cast<size_t>(port.node.index)] + static_cast<size_t>(port.index)];
  }
  // Returns a prefix such as "incept1_conv1_", shared by recursive instantiations.
  const std::string& Prefix(const ir::Frame* frame);
  // Returns the name of a node's output before collisions are resolved; empty if it is unnamed.
  std::string PreferredName(const Hint& hint, const ir::Node& node);
  // Returns true if the name is an identifier of the graph's body.
  bool IsInBody(const std::string& name) const;
  // Returns `preferred`, with a suffix if another name equals it, and reserves the result.
  std::string Reserve(const std::string& preferred);

  const SymbolTable& symbols_;
  std::shared_ptr<const ir::Frame> root_;  // null: the graph's body
  std::vector<size_t> first_;              // indexed by node: the hint of its first output
  std::vector<Hint> hints_;
  llvm::DenseMap<int32_t, ir::OutputPort> in_body_;  // keyed by symbol
  struct ScopePrefix {
    std::string text;
    int depth = 0;
  };
  llvm::DenseMap<const ir::Frame*, std::unique_ptr<ScopePrefix>> prefixes_;
  llvm::StringMap<int32_t> taken_;  // other names: the last suffix used for each
};

}  // namespace nnefc::expand::build

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compiler/upgrade/rewriter.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace nnefc::upgrade {

// One statement of the expansion of a graph statement: an operation, or an invocation of a preserved
// fragment.
struct Piece {
  std::vector<size_t> lines;                           // lines of the flat document that it replaces
  const expand::FragmentInstance* instance = nullptr;  // null for a single operation
  std::string text;                                    // `    y = f(x, slope = 0.5);` and a line end
};

// The expansion of statements without a ratified form: the outermost instantiations of preserved fragments
// become invocations again, with the recorded argument values; everything else becomes operations.
class PieceFinder {
 public:
  PieceFinder(const Source& source, Rewriter& rewriter);

  // Returns the pieces of a statement of the graph, in order.
  std::vector<Piece> Find(size_t statement, const Choice& choice);
  // Excludes an instantiation from invocations.
  void Refuse(const expand::FragmentInstance& instance) { refused_.insert(&instance); }
  // Excludes a whole statement of the graph from invocations.
  void RefuseStatement(size_t statement) { operations_only_.insert(statement); }
  // Returns the instantiation of a frame; null for standard fragments and unrecorded instantiations.
  const expand::FragmentInstance* InstanceOf(const ir::Frame* frame) const { return by_frame_.lookup(frame); }

 private:
  using Memo = llvm::DenseMap<const ir::Frame*, const expand::FragmentInstance*>;

  const expand::FragmentInstance* Outermost(const ir::Frame* frame, const Choice& choice, Memo& memo) const;
  bool CanInvoke(const Piece& piece);
  std::string InvocationText(const expand::FragmentInstance& instance);
  // Appends a value; returns false if it has no literal form.
  bool Append(const expand::InstanceValue& value, std::string& text) const;
  bool AppendTensor(ir::OutputPort port, std::string& text) const;

  const Source& source_;
  Rewriter& rewriter_;
  llvm::DenseMap<const ir::Frame*, const expand::FragmentInstance*> by_frame_;
  llvm::DenseSet<const expand::FragmentInstance*> refused_;
  std::set<size_t> operations_only_;  // indices of statements
};

}  // namespace nnefc::upgrade

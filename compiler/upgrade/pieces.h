#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compiler/upgrade/rewriter.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace nnefc::upgrade {

// One of the statements that a statement of the graph is expanded to: an
// operation, or an invocation of a fragment that is kept.
struct Piece {
  std::vector<size_t> lines;                   // of the flat document that it stands for
  const FragmentInstance* instance = nullptr;  // null: of one line, which it is
  std::string text;                            // `    y = f(x, slope = 0.5);` and a line end
};

// Finds what statements without a ratified form are expanded to: the outermost
// instantiations of fragments that are kept become invocations again, with the
// values that they were given; what lies around them becomes operations.
class PieceFinder {
 public:
  PieceFinder(const Source& source, Rewriter& rewriter);

  // The pieces of a statement of the graph, in order.
  std::vector<Piece> Find(size_t statement, const Choice& choice);
  // Never makes an invocation of that instantiation.
  void Refuse(const FragmentInstance& instance) { refused_.insert(&instance); }
  // Makes no invocations of that statement of the graph any more.
  void RefuseStatement(size_t statement) { operations_only_.insert(statement); }
  // The instantiation that a frame is; null for those of standard fragments and
  // of what was not kept.
  const FragmentInstance* InstanceOf(const ir::Frame* frame) const { return by_frame_.lookup(frame); }

 private:
  using Memo = llvm::DenseMap<const ir::Frame*, const FragmentInstance*>;

  const FragmentInstance* Outermost(const ir::Frame* frame, const Choice& choice, Memo& memo) const;
  bool CanInvoke(const Piece& piece);
  std::string InvocationText(const FragmentInstance& instance);
  // False if a literal cannot tell the value.
  bool Append(const InstanceValue& value, std::string& text) const;
  bool AppendTensor(ir::OutputPort port, std::string& text) const;

  const Source& source_;
  Rewriter& rewriter_;
  llvm::DenseMap<const ir::Frame*, const FragmentInstance*> by_frame_;
  llvm::DenseSet<const FragmentInstance*> refused_;
  std::set<size_t> operations_only_;  // statements
};

}  // namespace nnefc::upgrade

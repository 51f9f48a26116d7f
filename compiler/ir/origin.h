#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/support/diagnostics.h"
#include "compiler/support/source.h"

namespace nnefc::ir {

// One instantiation of a fragment: parent-linked, shared by all nodes that it
// made; null is the graph's body. Stacks may be many thousands deep: the
// destructor releases the parents without recursion.
struct Frame {
  mutable std::shared_ptr<const Frame> parent;
  std::string fragment;   // the name of the instantiated fragment
  SourceRange call_site;  // the invocation, in the parent's body
  std::string scope;      // the local name of this instantiation: "conv1"
  int64_t depth = 1;

  ~Frame();
};

// Where a node comes from: a place in a text and the fragments that were being
// instantiated.
struct Origin {
  SourceRange range;
  std::shared_ptr<const Frame> frame;
};

// The scope path "a/b" of the node's frame, rendered on demand; empty in the
// graph's body.
std::string ScopeName(const Origin& origin);
// A note for every fragment on the stack, innermost first, as
// "in `inception`, instantiated here"; of a long stack the first and last 8.
std::vector<DiagnosticNote> StackNotes(const std::shared_ptr<const Frame>& frame);

}  // namespace nnefc::ir

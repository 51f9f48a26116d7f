#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"
#include "compiler/support/text/source.h"

namespace nnefc::ir {

// One instantiation of a fragment, linked to its parent and shared by all nodes that it created; null is the
// body of the graph. Stacks may be many thousands deep, so the destructor releases parents iteratively.
struct Frame {
  mutable std::shared_ptr<const Frame> parent;
  std::string fragment;   // the name of the instantiated fragment
  SourceRange call_site;  // the invocation, in the parent's body
  std::string scope;      // the local name of this instantiation: "conv1"
  int64_t depth = 1;

  ~Frame();
};

// The source range that a node comes from, and the fragment instantiation that created it.
struct Origin {
  SourceRange range;
  std::shared_ptr<const Frame> frame;
};

// Returns the scope path "a/b" of the node's frame; empty in the body of the graph.
std::string ScopeName(const Origin& origin);
// Returns a note for each fragment on the stack, innermost first: "in `inception`, instantiated here". A long
// stack is shortened to its first and last 8 frames.
std::vector<DiagnosticNote> StackNotes(const std::shared_ptr<const Frame>& frame);

}  // namespace nnefc::ir

#pragma once

#include <string>
#include <vector>

#include "compiler/support/context.h"
#include "compiler/upgrade/pieces.h"

namespace nnefc::upgrade {

// The comments of expanded fragments, moved as far as possible.
struct MovedComments {
  // Per statement of the rewritten graph: comment lines before it.
  std::vector<std::vector<std::string>> before;
  // Per fragment: comments without a new position.
  std::vector<size_t> lost;
};

// Moves the comments in and directly above the fragments that are not preserved. The target of a comment is
// the code of the statement that follows it or that it trails, in the first instantiation of the fragment.
// `pieces` are those of each expanded statement of the graph, `gone` the comments of each fragment.
MovedComments MoveComments(const Source& source, const Choice& choice,
                           const std::vector<std::vector<Piece>>& pieces, const PieceFinder& finder,
                           const std::vector<std::vector<size_t>>& gone, const Context& context);

}  // namespace nnefc::upgrade

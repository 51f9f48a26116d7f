#pragma once

#include <string>
#include <vector>

#include "compiler/support/context.h"
#include "compiler/upgrade/pieces.h"

namespace nnefc::upgrade {

// Comments of fragments that are expanded, as far as they have a place.
struct MovedComments {
  // By statement of the rewritten graph: lines that stand before it.
  std::vector<std::vector<std::string>> before;
  // By fragment: comments that found no place.
  std::vector<size_t> lost;
};

// Finds a place for the comments in and right above the fragments that are not
// kept: before what the first instantiation of the fragment made of the
// statement that follows them or that they trail. `pieces` are those of each
// statement of the graph that is expanded, `gone` the comments of each
// fragment.
MovedComments MoveComments(const Source& source, const Choice& choice,
                           const std::vector<std::vector<Piece>>& pieces, const PieceFinder& finder,
                           const std::vector<std::vector<size_t>>& gone, const Context& context);

}  // namespace nnefc::upgrade

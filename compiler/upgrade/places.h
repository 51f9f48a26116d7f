#pragma once

#include <algorithm>
#include <cstdint>

#include "compiler/syntax/ast.h"

namespace nnefc::upgrade {

inline bool Contains(SourceRange outer, SourceRange inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

// Returns the index of the statement of a body around a source range, or -1.
inline int64_t StatementAt(llvm::ArrayRef<ast::Assignment> body, SourceRange place) {
  const auto* after = std::partition_point(body.begin(), body.end(), [&](const ast::Assignment& assignment) {
    return assignment.range.begin <= place.begin;
  });
  if (after == body.begin()) return -1;
  --after;
  return Contains(after->range, place) ? after - body.begin() : -1;
}

}  // namespace nnefc::upgrade

// The failure of an internal check.

#include "compiler/support/check.h"

#include <cstdio>
#include <cstdlib>

namespace nnefc {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "nnefc: internal error: %s:%d: broken invariant: %s\n", file, line, condition);
  std::abort();
}

}  // namespace nnefc

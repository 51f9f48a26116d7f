#pragma once

namespace nnefc::cli {

// The commit that the program was built from, or "unknown" outside of a clone. A "+" suffix marks uncommitted
// changes.
extern const char* const kCommit;

}  // namespace nnefc::cli

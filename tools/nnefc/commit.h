#pragma once

namespace nnefc::cli {

// The commit that the program was built from, "unknown" outside of a clone;
// "+" behind it tells of changes beside it.
extern const char* const kCommit;

}  // namespace nnefc::cli

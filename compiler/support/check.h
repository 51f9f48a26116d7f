#pragma once

namespace nnefc {

// Prints the broken invariant and aborts. Only for our own bugs: a user's
// mistake goes through the diagnostic emitter.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace nnefc

#define NNEFC_CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::nnefc::CheckFailed(#condition, __FILE__, __LINE__))

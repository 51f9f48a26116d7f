#pragma once

namespace nnefc {

// Prints the broken invariant and aborts. Only for bugs in nnefc itself: mistakes of the user are reported
// through the diagnostic emitter.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace nnefc

#define NNEFC_CHECK(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::nnefc::CheckFailed(#condition, __FILE__, __LINE__))

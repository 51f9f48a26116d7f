#pragma once

#include <string>
#include <utility>

#include "compiler/support/diagnostics.h"
#include "compiler/support/error_or.h"
#include "fmt/format.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime {

// What keeps a graph from being run with the values that it was given.
struct [[nodiscard]] Fault {
  const Rule* rule;  // that is broken
  std::string message;
  SourceRange place = {};  // of the innermost node that tells, where it has one
};

// A result of a kernel or of a step, or why there is none.
template <typename T>
using FaultOr = ErrorOr<T, Fault>;

template <typename... Args>
Fault FaultOf(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
  return {&rule, fmt::format(format, std::forward<Args>(args)...)};
}
// Of values that a kernel cannot take.
template <typename... Args>
Fault KernelFault(fmt::format_string<Args...> format, Args&&... args) {
  return FaultOf(kRunFailed, format, std::forward<Args>(args)...);
}
inline Fault OutOfMemory() {
  return FaultOf(kRuntimeMemory, "out of memory");
}

// The first mistake of a callee, or `otherwise` where it told none.
inline Fault FirstFault(const Emitter& emitter, Fault otherwise) {
  if (emitter.diagnostics().empty()) return otherwise;
  const Diagnostic& first = emitter.diagnostics().front();
  return {first.rule, first.message, first.range};
}

inline void Emit(const Fault& fault, Emitter& emitter) {
  emitter.Emit(*fault.rule, fault.place, "{}", fault.message);
}

}  // namespace nnefc::runtime

#pragma once

#include <string>
#include <utility>

#include "compiler/support/diagnostics/diagnostics.h"
#include "compiler/support/error_or.h"
#include "fmt/core.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::kernels {

// A reason why a graph cannot run with the given values.
struct [[nodiscard]] Fault {
  const Rule* rule;  // the violated rule
  std::string message;
  SourceRange place = {};  // source range of the innermost node that has one
};

// The result of a kernel or a step, or a fault.
template <typename T>
using FaultOr = ErrorOr<T, Fault>;

template <typename... Args>
Fault FaultOf(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
  return {&rule, fmt::format(format, std::forward<Args>(args)...)};
}
// Returns a fault for values that a kernel cannot process.
template <typename... Args>
Fault KernelFault(fmt::format_string<Args...> format, Args&&... args) {
  return FaultOf(kRunFailed, format, std::forward<Args>(args)...);
}
inline Fault OutOfMemory() {
  return FaultOf(kRuntimeMemory, "out of memory");
}

// Returns the first diagnostic of a callee as a fault, or `otherwise` if there is none.
inline Fault FirstFault(const Emitter& emitter, Fault otherwise) {
  if (emitter.diagnostics().empty()) return otherwise;
  const Diagnostic& first = emitter.diagnostics().front();
  return {first.rule, first.message, first.range};
}

inline void Emit(const Fault& fault, Emitter& emitter) {
  emitter.Emit(*fault.rule, fault.place, "{}", fault.message);
}

}  // namespace nnefc::runtime::kernels

#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "compiler/support/diagnostics/diagnostics.h"
#include "compiler/transform/rules.h"
#include "compiler/transform/transformation.h"

namespace nnefc::transform {

// Returns the name of a transformation for messages, with its plug-in, if any.
std::string Called(const Transformation& transformation);

// Calls the function named `function` of a transformation, possibly of a plug-in. Catches and emits any
// exception, and then returns false.
template <typename Call>
[[nodiscard]] bool Guarded(const Transformation& transformation, std::string_view function, Emitter& emitter,
                           const Call& call) {
  std::string why;
  try {
    call();
    return true;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "something other than a std::exception";
  }
  emitter.Emit(kFailed, {}, "{} failed: its `{}` threw: {}", Called(transformation), function, why);
  return false;
}

}  // namespace nnefc::transform

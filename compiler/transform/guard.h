#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "compiler/support/diagnostics.h"
#include "compiler/transform/rules.h"
#include "compiler/transform/transformation.h"

namespace nnefc::transform {

// What messages call a transformation: with its plug-in, if one brings it.
std::string Called(const Transformation& transformation);

// Calls a function of a transformation, which a plug-in may have written: `function` is its name. An
// exception ends here and is emitted; then the result is false.
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
    why = "what is no std::exception";
  }
  emitter.Emit(kFailed, {}, "{} failed: its `{}` threw: {}", Called(transformation), function, why);
  return false;
}

}  // namespace nnefc::transform

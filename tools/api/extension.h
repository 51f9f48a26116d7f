#pragma once

// The header for plug-ins of nnefc: shared libraries for `--extensions FILE.so` with transformations,
// operations and fragments.
//
//     #include <nnefc/extension.h>
//
//     class Rename : public nnefc::transform::FrontReplacementOp { .. };
//
//     NNEFC_EXTENSION(registrar) {
//       registrar.AddTransformation<Rename>();
//     }
//
// Build it with `find_package(nnefc COMPONENTS extension)` and `target_link_libraries(.. nnefc::extension)`.
// It only works with the nnefc whose headers it was built with.

#include <string>
#include <string_view>
#include <utility>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/plugin/interface.h"
#include "compiler/plugin/registrar.h"
#include "compiler/transform/configuration/configured.h"
#include "compiler/transform/transformation.h"
#include "compiler/transform/values.h"
#include "runtime/kernels/registry.h"

namespace nnefc {

using plugin::Registrar;

// Registers a kernel for an operation of the plug-in: a function on dense row-major tensors. The operation's
// shape function has checked their types and shapes.
inline void AddKernel(Registrar& registrar, std::string set, std::string operation,
                      runtime::kernels::ReferenceFunction function,
                      runtime::kernels::Aliasing aliasing = runtime::kernels::Aliasing::kNone) {
  auto add = [set, operation, function, aliasing](runtime::kernels::KernelRegistry& kernels) {
    kernels.AddReference({set}, operation, function, aliasing);
  };
  registrar.AddKernel(std::move(set), std::move(operation), std::move(add));
}

}  // namespace nnefc

// Defines the entry points of a plug-in; used once. The macro declares the function that registers its
// contents, and a text by which nnefc verifies, before calling it, that both use the same headers.
#define NNEFC_EXTENSION(registrar)                                                                  \
  extern "C" {                                                                                      \
  __attribute__((visibility("default"))) extern const char nnefc_interface_text[];                  \
  __attribute__((used, section(NNEFC_INTERFACE_SECTION))) const char nnefc_interface_text[] =       \
      NNEFC_INTERFACE;                                                                              \
  __attribute__((visibility("default"))) void NNEFC_REGISTER_FUNCTION(::nnefc::plugin::Registrar&); \
  }                                                                                                 \
  void NNEFC_REGISTER_FUNCTION(::nnefc::plugin::Registrar& registrar)

#pragma once

// What a plug-in of nnefc includes: a shared library for `--extensions FILE.so` that brings transformations,
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
// It is built with `find_package(nnefc COMPONENTS extension)` and `target_link_libraries(..
// nnefc::extension)`, and fits the nnefc whose headers it was built with, and no other.

#include <string>
#include <string_view>
#include <utility>

#include "compiler/ir/infer.h"
#include "compiler/lower/node_lowering.h"
#include "compiler/plugin/interface.h"
#include "compiler/plugin/registrar.h"
#include "compiler/transform/configured.h"
#include "compiler/transform/transformation.h"
#include "compiler/transform/values.h"
#include "runtime/kernels/registry.h"

namespace nnefc {

using plugin::Registrar;

// Registers a kernel of an operation of the plug-in: a plain function on dense row-major
// tensors, whose types and shapes the operation's shape function has judged.
inline void AddKernel(Registrar& registrar, std::string set, std::string operation,
                      runtime::ReferenceFunction function,
                      runtime::Aliasing aliasing = runtime::Aliasing::kNone) {
  auto add = [set, operation, function, aliasing](runtime::KernelRegistry& kernels) {
    kernels.AddReference({set}, operation, function, aliasing);
  };
  registrar.AddKernel(std::move(set), std::move(operation), std::move(add));
}

}  // namespace nnefc

// Once in a plug-in: the function that registers what it brings, and the text by which
// nnefc knows before it runs any of it that both have the same headers.
#define NNEFC_EXTENSION(registrar)                                                                  \
  extern "C" {                                                                                      \
  __attribute__((visibility("default"))) extern const char nnefc_interface_text[];                  \
  __attribute__((used, section(NNEFC_INTERFACE_SECTION))) const char nnefc_interface_text[] =       \
      NNEFC_INTERFACE;                                                                              \
  __attribute__((visibility("default"))) void NNEFC_REGISTER_FUNCTION(::nnefc::plugin::Registrar&); \
  }                                                                                                 \
  void NNEFC_REGISTER_FUNCTION(::nnefc::plugin::Registrar& registrar)

#pragma once

#include <memory>

#include "compiler/plugin/plugins.h"
#include "runtime/engine/executable.h"

namespace nnefc::api {

// Creates an executable whose kernels include those of the plug-ins. The command line and the library create
// executables here alone, so that none of them lacks a plug-in's kernel. Null if an error was emitted.
[[nodiscard]] std::shared_ptr<const runtime::Executable> MakeExecutable(
    std::shared_ptr<const ir::Graph> graph, runtime::ExecutableOptions options,
    std::shared_ptr<const plugin::Plugins> plugins, Emitter& emitter);

}  // namespace nnefc::api

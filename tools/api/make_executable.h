#pragma once

#include <memory>

#include "compiler/plugin/plugins.h"
#include "runtime/engine/executable.h"

namespace nnefc::api {

// Creates an executable with the kernels of the plug-ins. The command line and the library create all
// executables through this function, so that none lacks a plug-in's kernel. Returns null if an error was
// emitted.
[[nodiscard]] std::shared_ptr<const runtime::Executable> MakeExecutable(
    std::shared_ptr<const ir::Graph> graph, runtime::ExecutableOptions options,
    std::shared_ptr<const plugin::Plugins> plugins, Emitter& emitter);

}  // namespace nnefc::api

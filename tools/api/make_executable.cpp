#include "tools/api/make_executable.h"

#include <utility>

namespace nnefc::api {

std::shared_ptr<const runtime::Executable> MakeExecutable(std::shared_ptr<const ir::Graph> graph,
                                                          runtime::ExecutableOptions options,
                                                          std::shared_ptr<const plugin::Plugins> plugins,
                                                          Emitter& emitter) {
  options.add_kernels = [plugins = std::move(plugins)](runtime::KernelRegistry& kernels) {
    plugins->AddKernels(kernels);
  };
  return runtime::Executable::Create(std::move(graph), options, emitter);
}

}  // namespace nnefc::api

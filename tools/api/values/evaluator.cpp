// The evaluator for constant folding.

#include "tools/api/values/evaluator.h"

#include "runtime/engine/evaluate.h"

namespace nnefc::api {

ir::Evaluator EvaluatorOf(std::shared_ptr<const plugin::Plugins> plugins) {
  return runtime::engine::ReferenceEvaluator(
      [plugins = std::move(plugins)](runtime::kernels::KernelRegistry& kernels) {
        plugins->AddKernels(kernels);
      });
}

}  // namespace nnefc::api

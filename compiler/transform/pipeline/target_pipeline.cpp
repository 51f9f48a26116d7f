#include "compiler/transform/pipeline/target_pipeline.h"

namespace nnefc::transform {

bool TargetPipeline::Run(const Names& requested, const ir::PlanFunctions& functions, ir::Graph& graph,
                         Emitter& emitter) {
  const std::lock_guard lock(mutex_);
  std::vector<const Transformation*> found;
  for (const std::string& name : requested) {
    found.push_back(list_->Find(name));
    NNEFC_CHECK(found.back() != nullptr && found.back()->phase() == Phase::kTarget);
  }
  Pipeline pipeline = pipeline_;  // each run has its own reports
  return pipeline.RunTarget(found, functions, graph, emitter);
}

}  // namespace nnefc::transform

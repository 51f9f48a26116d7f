#pragma once

#include <memory>
#include <mutex>

#include "compiler/transform/pipeline/pipeline.h"

namespace nnefc::transform {

// The transformations of the target phase for the plans of a model. Any number of threads may use it.
class TargetPipeline {
 public:
  // `pipeline` is a pipeline of the list.
  TargetPipeline(std::shared_ptr<const TransformationList> list, Pipeline pipeline)
      : list_(std::move(list)), pipeline_(std::move(pipeline)) {}

  // Applies the transformations that the pipeline chooses and `requested` names (checked: they exist), in the
  // order of the list. Returns false after a reported error; the graph is then unusable.
  [[nodiscard]] bool Run(const Names& requested, const ir::PlanFunctions& functions, ir::Graph& graph,
                         Emitter& emitter);

 private:
  std::shared_ptr<const TransformationList> list_;
  const Pipeline pipeline_;
  std::mutex mutex_;  // a transformation runs on one graph at a time
};

}  // namespace nnefc::transform

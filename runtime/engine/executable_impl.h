#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/engine/executable.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/plan_cache.h"
#include "runtime/engine/tuner.h"
#include "runtime/engine/weight_cache.h"

namespace nnefc::runtime {

class ExecutableImpl final : public Executable {
 public:
  ExecutableImpl(std::shared_ptr<const ir::Graph> graph, const ExecutableOptions& options);

  const std::vector<Port>& inputs() const override { return inputs_; }
  const std::vector<Port>& outputs() const override { return outputs_; }
  std::string DescribePlan() const override;
  PlanCacheUse plan_cache_use() const override;
  void TakeWarnings(Emitter& emitter) const override;

  // Emits what keeps the graph from being run at all; plans it if the shapes
  // of its inputs are known.
  [[nodiscard]] bool Check(Emitter& emitter);
  // The plan for inputs of these shapes, made now or before.
  FaultOr<std::shared_ptr<const Plan>> GetPlan(const std::vector<Shape>& shapes) const;
  // How to plan bodies whose shapes a run finds out; valid as long as this.
  PlanOptions plan_options() const {
    return {.backend = backend_,
            .precision = precision_,
            .kernels = &kernels_,
            .weights = &weights_,
            .limits = limits_,
            .fuse = fuse_};
  }
  int threads() const { return threads_; }

 private:
  std::shared_ptr<const Plan> FindPlan(const std::vector<Shape>& shapes) const;
  std::shared_ptr<const Plan> AddPlan(const std::vector<Shape>& shapes, Emitter& emitter) const;
  // Which items of a plan cache are for these options and this graph.
  Digest DigestOfModel() const;
  bool HasKernel(const ir::Node& node) const;
  [[nodiscard]] bool CheckKernels(Emitter& emitter) const;

  std::shared_ptr<const ir::Graph> graph_;
  Backend backend_;
  Precision precision_;
  int threads_;
  RunLimits limits_;
  bool fuse_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  // Holds what its kernels come from.
  std::function<void(KernelRegistry&)> add_kernels_;
  FaultOr<Success> added_ = Success();  // those kernels, or why they are not
  KernelRegistry kernels_;
  std::unique_ptr<PlanCache> cache_;  // null: none
  mutable WeightCache weights_{cache_.get()};
  std::unique_ptr<Tuner> tuner_;  // null: factories choose
  mutable std::mutex mutex_;
  mutable std::list<std::shared_ptr<const Plan>> plans_;  // the last used first
  mutable std::atomic<bool> has_reported_onednn_ = false;
};

}  // namespace nnefc::runtime

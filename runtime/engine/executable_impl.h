#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/engine/cache/plan_cache.h"
#include "runtime/engine/cache/tuner.h"
#include "runtime/engine/cache/weight_cache.h"
#include "runtime/engine/executable.h"
#include "runtime/engine/plan/plan.h"

namespace nnefc::runtime::engine {

class ExecutableImpl final : public Executable {
 public:
  ExecutableImpl(std::shared_ptr<const ir::Graph> graph, const ExecutableOptions& options);

  const std::vector<Port>& inputs() const override { return inputs_; }
  const std::vector<Port>& outputs() const override { return outputs_; }
  std::string DescribePlan() const override;
  PlanCacheUse plan_cache_use() const override;
  void TakeWarnings(Emitter& emitter) const override;

  // Emits all reasons why the graph cannot run. Plans it if all input shapes are static.
  [[nodiscard]] bool Check(Emitter& emitter);
  // Returns the plan for these input shapes, cached or new.
  kernels::FaultOr<std::shared_ptr<const plan::Plan>> GetPlan(const std::vector<Shape>& shapes) const;
  // Returns the options for planning bodies whose shapes are only known at run time. Valid during the
  // lifetime of this executable.
  plan::PlanOptions plan_options() const {
    return {.backend = backend_,
            .precision = precision_,
            .kernels = &kernels_,
            .transform = &transform_,
            .weights = &weights_,
            .limits = limits_,
            .fuse = fuse_,
            .explains = explains_};
  }
  int threads() const { return threads_; }

 private:
  std::shared_ptr<const plan::Plan> FindPlan(const std::vector<Shape>& shapes) const;
  [[nodiscard]] std::shared_ptr<const plan::Plan> AddPlan(const std::vector<Shape>& shapes,
                                                          Emitter& emitter) const;
  // Returns the plan cache key of this graph with these options.
  Digest DigestOfModel() const;
  bool HasKernel(const ir::Node& node) const;
  [[nodiscard]] bool CheckKernels(Emitter& emitter) const;

  std::shared_ptr<const ir::Graph> graph_;
  kernels::Backend backend_;
  kernels::Precision precision_;
  int threads_;
  RunLimits limits_;
  bool fuse_;
  bool explains_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  // Owns the library that its kernels come from, so it is declared before the registry.
  std::function<void(kernels::KernelRegistry&)> add_kernels_;
  GraphTransformer transform_;
  kernels::FaultOr<Success> added_ = Success();  // the fault if `add_kernels_` failed
  kernels::KernelRegistry kernels_;
  std::unique_ptr<cache::PlanCache> cache_;  // null: disabled
  mutable cache::WeightCache weights_{cache_.get()};
  std::unique_ptr<cache::Tuner> tuner_;  // null: factories choose
  mutable std::mutex mutex_;
  mutable std::list<std::shared_ptr<const plan::Plan>> plans_;  // most recently used first
  mutable std::atomic<bool> has_reported_onednn_ = false;
};

}  // namespace nnefc::runtime::engine

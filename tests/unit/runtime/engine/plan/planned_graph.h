#pragma once

// A graph planned without running it, with kernels and hooks that a test adds to the fast backend.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/plan/plan.h"
#include "runtime/kernels/registry.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::plan {

// A layout that only the kernels of a test can read. Layouts of the same name are equal.
class NamedLayout final : public tensor::OpaqueLayout {
 public:
  NamedLayout(std::string name, size_t bytes) : name_(std::move(name)), bytes_(bytes) {}

  size_t byte_size() const override { return bytes_; }
  bool Equals(const OpaqueLayout& other) const override {
    const auto* named = dynamic_cast<const NamedLayout*>(&other);
    return named != nullptr && named->name_ == name_;
  }
  std::string ToString() const override { return name_; }

 private:
  std::string name_;
  size_t bytes_;
};

inline tensor::Layout LayoutNamed(std::string name, size_t bytes) {
  return std::make_shared<NamedLayout>(std::move(name), bytes);
}

// A kernel that is planned and never run.
class PlannedKernel final : public kernels::Kernel {
 public:
  std::string implementation() const override { return "planned"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& /*run*/) const override { return Success(); }
};

// Returns a kernel with row-major operands and results.
inline kernels::PreparedKernel PreparedFor(const kernels::KernelRequest& request) {
  kernels::PreparedKernel prepared{.kernel = std::make_shared<PlannedKernel>()};
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(request.outputs.size());
  return prepared;
}

// Reorders from and to any layout.
inline std::shared_ptr<const kernels::Kernel> ReorderAnything(ElementType /*type*/,
                                                              llvm::ArrayRef<int64_t> /*shape*/,
                                                              const tensor::Layout& /*from*/,
                                                              const tensor::Layout& /*to*/) {
  return std::make_shared<PlannedKernel>();
}

class PlannedGraph {
 public:
  using AddKernels = std::function<void(kernels::KernelRegistry&)>;

  explicit PlannedGraph(const TestGraph& graph, bool fuse = true) {
    Make(graph, kernels::Backend::kReference, fuse);
    Require();
  }
  // Plans for the fast backend, whose kernels and hooks are those of `add`.
  PlannedGraph(const TestGraph& graph, const AddKernels& add, bool fuse = true) {
    add(kernels_);
    Make(graph, kernels::Backend::kFast, fuse);
    Require();
  }
  // Returns the messages of a plan for the fast backend that cannot be made, or "" if it can.
  static std::string FaultOf(const TestGraph& graph, const AddKernels& add,
                             const GraphTransformer& transform = StandardTransformer()) {
    PlannedGraph planned;
    add(planned.kernels_);
    planned.Make(graph, kernels::Backend::kFast, true, transform);
    return planned.plan_ == nullptr ? "no plan: " + planned.messages_ : "";
  }

  const Plan& plan() const { return *plan_; }
  // Returns the operations of all steps in order: "Exp reorder Concat".
  std::string Steps() const {
    std::string text;
    for (const Step& step : plan_->steps) text += (text.empty() ? "" : " ") + step.operation;
    return text;
  }
  const Step& StepOf(std::string_view operation) const {
    const auto found = std::find_if(plan_->steps.begin(), plan_->steps.end(),
                                    [&](const Step& step) { return step.operation == operation; });
    EXPECT_NE(found, plan_->steps.end()) << operation << " in " << Steps();
    return found == plan_->steps.end() ? plan_->steps.front() : *found;
  }
  const PlanValue& value(ValueId id) const { return plan_->values[static_cast<size_t>(id)]; }
  // The buffer of a value, and the offset in it.
  struct Place {
    ValueId root;
    size_t offset;
    bool operator==(const Place&) const = default;
  };
  Place PlaceOf(ValueId id) const {
    Place place{id, 0};
    for (; value(place.root).root != place.root; place.root = value(place.root).root)
      place.offset += value(place.root).offset;
    return place;
  }
  Place InputOf(std::string_view operation, size_t index = 0) const {
    return PlaceOf(StepOf(operation).inputs[index]);
  }
  Place OutputOf(std::string_view operation, size_t index = 0) const {
    return PlaceOf(StepOf(operation).outputs[index]);
  }
  // Returns true if the result of the step is stored in place of its input.
  bool Overwrites(std::string_view operation, size_t input = 0) const {
    return OutputOf(operation) == InputOf(operation, input);
  }

 private:
  PlannedGraph() = default;
  void Make(const TestGraph& graph, kernels::Backend backend, bool fuse,
            const GraphTransformer& transform = StandardTransformer()) {
    kernels::RegisterReferenceKernels(kernels_);
    std::vector<Shape> shapes;
    for (ir::NodeId id : graph.graph->parameters())
      shapes.push_back(graph.graph->node(id).output().shape.known_extents());
    Emitter emitter;
    plan_ = MakePlan(*graph.graph, {.shapes = shapes},
                     {.backend = backend,
                      .precision = kernels::Precision::kF32,
                      .kernels = &kernels_,
                      .transform = &transform,
                      .weights = &weights_,
                      .limits = {.bytes = SIZE_MAX},
                      .fuse = fuse},
                     emitter);
    messages_ = Messages(emitter);
  }
  void Require() {
    EXPECT_NE(plan_, nullptr) << messages_;
    if (plan_ == nullptr) plan_ = std::make_shared<Plan>();
  }

  kernels::KernelRegistry kernels_;
  std::string messages_;
  cache::WeightCache weights_;
  std::shared_ptr<const Plan> plan_;
};

// Builders of frequent nodes.
inline ir::OutputPort Sliced(TestGraph& g, ir::OutputPort x, int64_t axis, int64_t begin, int64_t end,
                             int64_t step = 1) {
  return g.Op("opset8", "Slice", {x, g.Ints({begin}), g.Ints({end}), g.Ints({step}), g.Ints({axis})});
}
inline ir::OutputPort Transposed(TestGraph& g, ir::OutputPort x, std::vector<int64_t> order) {
  return g.Op("Transpose", {x, g.Ints(std::move(order))});
}
inline ir::OutputPort Reshaped(TestGraph& g, ir::OutputPort x, std::vector<int64_t> shape) {
  return g.Op("Reshape", {x, g.Ints(std::move(shape))}, With("special_zero", false));
}
inline ir::OutputPort Concatenated(TestGraph& g, std::vector<ir::OutputPort> parts, int64_t axis) {
  return g.Op("Concat", std::move(parts), With("axis", axis));
}
inline ir::OutputPort Gathered(TestGraph& g, ir::OutputPort x, ir::OutputPort indices, int64_t axis) {
  return g.Op("opset8", "Gather", {x, indices, g.Const(TensorValue::FromInts({}, {axis}))},
              With("batch_dims", int64_t{0}));
}
inline ir::OutputPort Number(TestGraph& g, int64_t value) {
  return g.Const(TensorValue::FromInts({}, {value}));
}

}  // namespace nnefc::runtime::engine::plan

#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/plan_values.h"

namespace nnefc::runtime::engine {

// Converts a prepared graph into steps, node by node in topological order.
class PlanBuilder {
 public:
  PlanBuilder(Plan& plan, const UnjudgedInputs& unjudged, const PlanOptions& options, Emitter& emitter)
      : plan_(plan),
        graph_(*plan.graph),
        concat_(graph_.registry().Find("opset1", "Concat")),
        unjudged_(unjudged),
        options_(options),
        emitter_(emitter),
        values_(&plan.values) {}

  // Creates steps, values and results. Returns false if an error was emitted.
  bool Build();

 private:
  // A step under construction: a node and the nodes fused to it.
  struct Work {
    const ir::Node* main;
    std::vector<const ir::Node*> posts;
    std::optional<size_t> second = std::nullopt;  // FusionGroup::second

    const ir::Node& last() const { return posts.empty() ? *main : *posts.back(); }
  };
  // A request and the storage that it refers to.
  struct Request {
    kernels::KernelRequest request;
    std::vector<kernels::PostOperation> posts;
    llvm::SmallVector<ValueId, 4> input_values;
    llvm::SmallVector<kernels::ValueInfo, 4> inputs;
    llvm::SmallVector<kernels::ValueInfo, 1> outputs;
    std::vector<kernels::RejectedImplementation> rejected;
  };

  void FindGroups();
  bool AddNode(const ir::Node& node);
  bool AddSource(const ir::Node& node);
  bool AddGroup(const Work& work);
  bool AddSingle(const ir::Node& node);
  // Adds steps that check the nodes of a step whose output shapes are static but whose shape functions needed
  // values that are only known at run time.
  bool AddShapeCheckSteps(const Work& work);
  bool AddShapeCheckStep(const ir::Node& node);
  bool AddStateStep(const ir::Node& node);
  bool AddDynamicStep(const ir::Node& node);
  bool AddControlStep(const ir::Node& node);
  // Plans the bodies of a step whose inputs have known shapes.
  bool PlanBodies(Step& step);
  bool AddView(const ir::Node& node);
  // Adds a view of a value in a backend layout that keeps the order of its elements.
  bool AddViewOfLayout(const ir::Node& node, const Shape& shape);
  // Makes the outputs strided views of the first input (plan_views.cpp). Returns false, without an error, if
  // they are not views of it or a reader does not accept their strides.
  bool AddViewsOfElements(const ir::Node& node);
  // The same for a first input in a backend layout, if the outputs are parts of it.
  bool AddPartsOfLayout(const ir::Node& node);
  std::optional<tensor::ElementsView> ElementsOf(const ir::Node& node, int32_t output,
                                                 const tensor::ElementsView& source) const;
  // Returns true if all readers of the output accept these strides. Follows up to `depth` further views.
  bool AreReadAs(ir::OutputPort port, const tensor::ElementsView& view, int depth) const;
  // Returns true if the kernels of one of these backends accept strides.
  bool AcceptsStrides(const ir::Node& node, int32_t input, llvm::ArrayRef<kernels::Backend> backends) const;
  // Returns true if an input has strides that kernels of the selected backend accept.
  bool ReadsStridesOf(const Work& work, const Request& request) const;
  // The backends to try, in order.
  std::array<kernels::Backend, 2> Backends() const {
    return {options_.backend, kernels::Backend::kReference};
  }
  // Returns the output layout whose Transpose, if that is its only reader, would be row-major.
  tensor::Layout WantedOutput(const ir::Node& node) const;
  ValueId AddViewOf(ValueId source, const tensor::ElementsView& view);
  bool TryJoin(const ir::Node& node);
  bool AddResult(const ir::Node& node);
  // Lets the caller of the plan place the buffers of results.
  void OpenResults();

  // `strided_by`: the backends whose kernels may read strided inputs.
  Request MakeRequest(const Work& work, llvm::ArrayRef<kernels::Backend> strided_by);
  std::optional<kernels::PreparedKernel> Prepare(kernels::Backend backend, const Work& work,
                                                 Request& request) const;
  StepWork WorkOf(const Work& work, const Request& request) const;
  void AddOperations(const ir::Node& node, StepWork& sum) const;
  bool AddKernelStep(const Work& work, const Request& request, kernels::PreparedKernel prepared);

  // Returns the value in the layout and adds a reorder step if needed. `own` requests a private copy. Returns
  // -1 after an error was emitted.
  ValueId InLayout(ValueId id, const tensor::Layout& layout, bool own = false);
  ValueId ConstantInLayout(ValueId id, const tensor::Layout& layout);
  ValueId AddArenaValue(ElementType type, const Shape& shape, const tensor::Layout& layout);
  ValueId AddHeapValue(ElementType type);
  void SetValue(ir::OutputPort port, ValueId id);
  ValueId ValueOf(ir::OutputPort port) const { return by_port_.at({port.node.index, port.index}); }
  // Counts one read of each input of the step's nodes.
  void CountReads(const Work& work);
  bool IsHeap(ValueId id) const { return values_[id].storage == PlanValue::Storage::kHeap; }
  bool Fail(const Rule& rule, const ir::Node& node, std::string message);

  Plan& plan_;
  const ir::Graph& graph_;
  const ir::OpId concat_;
  const UnjudgedInputs& unjudged_;
  const PlanOptions& options_;
  Emitter& emitter_;
  PlanValues values_;
  std::map<std::pair<int32_t, int32_t>, ValueId> by_port_;
  std::map<ValueId, std::vector<ValueId>> reordered_;
  // Groups by their last node; other nodes of a group are only in `in_group_`.
  llvm::DenseMap<ir::NodeId, Work> groups_;
  llvm::DenseMap<ir::NodeId, bool> in_group_;
  kernels::QuantizedNodes codes_;
  // Constant values and views of them.
  std::map<ValueId, TensorValue> constants_;
};

}  // namespace nnefc::runtime::engine

#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "runtime/engine/plan.h"
#include "runtime/engine/plan_values.h"

namespace nnefc::runtime {

// Turns a prepared graph into steps, node by node in topological order.
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

  // Makes steps, values and results; false if a mistake was emitted.
  bool Build();

 private:
  // A step to be made: a node and what is fused to it.
  struct Work {
    const ir::Node* main;
    std::vector<const ir::Node*> posts;
    std::optional<size_t> second = std::nullopt;  // FusionGroup::second

    const ir::Node& last() const { return posts.empty() ? *main : *posts.back(); }
  };
  // A request with the storage it points into.
  struct Request {
    KernelRequest request;
    std::vector<PostOperation> posts;
    llvm::SmallVector<ValueId, 4> input_values;
    llvm::SmallVector<ValueInfo, 4> inputs;
    llvm::SmallVector<ValueInfo, 1> outputs;
  };

  void FindGroups();
  bool AddNode(const ir::Node& node);
  bool AddSource(const ir::Node& node);
  bool AddGroup(const Work& work);
  bool AddSingle(const ir::Node& node);
  // Steps that judge the nodes of one whose output shapes are known before it
  // runs, where their shape functions asked for values that are not.
  bool AddJudgeSteps(const Work& work);
  bool AddJudgeStep(const ir::Node& node);
  bool AddStateStep(const ir::Node& node);
  bool AddDynamicStep(const ir::Node& node);
  bool AddControlStep(const ir::Node& node);
  // Plans the bodies of a step whose inputs have known shapes.
  bool PlanBodies(Step& step);
  bool AddView(const ir::Node& node);
  // Of elements that lie in a layout of the backend in their order.
  bool AddViewOfLayout(const ir::Node& node, const Shape& shape);
  // plan_views.cpp. False, without a mistake, where the outputs are no views of the first input, or whoever
  // reads them cannot take them so.
  bool AddViewsOfElements(const ir::Node& node);
  // The same of a first input in a layout of the backend, of which the outputs are parts.
  bool AddPartsOfLayout(const ir::Node& node);
  std::optional<ElementsView> ElementsOf(const ir::Node& node, int32_t output,
                                         const ElementsView& source) const;
  // True if all who read the output can read its elements so. It looks at what follows on `depth` views of
  // it.
  bool AreReadAs(ir::OutputPort port, const ElementsView& view, int depth) const;
  // True if the kernels of one of these backends do.
  bool AcceptsStrides(const ir::Node& node, int32_t input, llvm::ArrayRef<Backend> backends) const;
  // True if an input lies in strides that kernels of the backend that is asked for read.
  bool ReadsStridesOf(const Work& work, const Request& request) const;
  // Whose kernels are asked for, in that order.
  std::array<Backend, 2> Backends() const { return {options_.backend, Backend::kReference}; }
  // In which a Transpose of the output, which alone reads it, has its elements in row-major order.
  Layout WantedOutput(const ir::Node& node) const;
  ValueId AddViewOf(ValueId source, const ElementsView& view);
  bool TryJoin(const ir::Node& node);
  bool AddResult(const ir::Node& node);
  // Lets who runs the plan place the buffers of results.
  void OpenResults();

  // `strided_by`: whose kernels are to read strides, if they can.
  Request MakeRequest(const Work& work, llvm::ArrayRef<Backend> strided_by);
  std::optional<PreparedKernel> Prepare(Backend backend, const Work& work, Request& request) const;
  StepWork WorkOf(const Work& work, const Request& request) const;
  void AddOperations(const ir::Node& node, StepWork& sum) const;
  bool AddKernelStep(const Work& work, const Request& request, PreparedKernel prepared);

  // The value in the layout; a reordering step is added where it lies
  // otherwise. `own` asks for a copy that nobody else will read. -1 after an
  // emitted mistake.
  ValueId InLayout(ValueId id, const Layout& layout, bool own = false);
  ValueId ConstantInLayout(ValueId id, const Layout& layout);
  ValueId AddArenaValue(ElementType type, const Shape& shape, const Layout& layout);
  ValueId AddHeapValue(ElementType type);
  void SetValue(ir::OutputPort port, ValueId id);
  ValueId ValueOf(ir::OutputPort port) const { return by_port_.at({port.node.index, port.index}); }
  // Counts the inputs of the nodes of a step as read.
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
  // By the last node of each group: the group. Others of a group have none.
  llvm::DenseMap<ir::NodeId, Work> groups_;
  llvm::DenseMap<ir::NodeId, bool> in_group_;
  CodedNodes codes_;
  // By the constant values and views of them.
  std::map<ValueId, TensorValue> constants_;
};

}  // namespace nnefc::runtime

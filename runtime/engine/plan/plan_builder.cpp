#include "runtime/engine/plan/plan_builder.h"

#include "compiler/support/tensor/packed_elements.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/engine/plan/join_parts.h"
#include "runtime/engine/plan/plan_bodies.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine::plan {

using kernels::kRuntimeMemory;

namespace {

bool HasViews(ElementType type) {
  return BitWidth(type) > 0;
}

std::string NotRunnable(ElementType type) {
  return fmt::format("elements of type {} cannot be run", Name(type));
}

}  // namespace

bool PlanBuilder::Build(llvm::ArrayRef<ir::NodeId> order) {
  const ir::Graph& graph = draft_.graph();
  if (!AddParameters()) return false;
  for (ir::NodeId id : order) {
    if (!AddNode(graph.node(id))) return false;
  }
  for (ir::NodeId id : graph.results()) {
    if (!AddResult(graph.node(id))) return false;
  }
  OpenResults();
  return true;
}

bool PlanBuilder::AddParameters() {
  const ir::Graph& graph = draft_.graph();
  for (size_t i = 0; i < graph.parameters().size(); ++i) {
    const ir::Node& node = graph.node(graph.parameters()[i]);
    const ElementType type = node.output().type;
    if (!HasViews(type)) return draft_.Fail(kernels::kRuntimeElementType, node, NotRunnable(type));
    const Shape& shape = draft_.plan().input_shapes[i];
    draft_.SetValue(node.port(), draft_.values().Add(
                                     {.storage = PlanValue::Storage::kInput,
                                      .type = type,
                                      .shape = shape,
                                      .bytes = tensor::ViewBytes(type, Volume(shape).value_or(0)).value_or(0),
                                      .input = static_cast<int32_t>(i)}));
  }
  return true;
}

bool PlanBuilder::AddNode(const ir::Node& node) {
  if (node.Is(ir::OpRole::kParameter) || node.Is(ir::OpRole::kResult)) return true;
  if (node.info().is_source) return AddSource(node);
  if (const FusedNodes* chain = fusions_.EndingAt(node.id())) return AddChain(*chain);
  // Other nodes of a chain run at the position of its last node: all operands are available by then, and
  // their results have no other readers.
  if (fusions_.Contains(node.id())) return true;
  if (!node.bodies().empty()) return AddControlStep(draft_, node);
  if (node.Is(ir::OpRole::kReadValue) || node.Is(ir::OpRole::kAssign)) return AddStateStep(node);
  return AddSingle(node);
}

bool PlanBuilder::AddSource(const ir::Node& node) {
  if (!node.output().value) return draft_.Fail(kernels::kConstantWithoutData, node, "it has no data");
  const ElementType type = node.output().value->type();
  if (!HasViews(type)) return draft_.Fail(kernels::kRuntimeElementType, node, NotRunnable(type));
  const TensorValue value = IsPacked(type) ? CodesOf(*node.output().value) : *node.output().value;
  const ValueId id = draft_.values().Add({.storage = PlanValue::Storage::kConstant,
                                          .type = type,
                                          .shape = value.shape(),
                                          .bytes = value.byte_size(),
                                          .data = value.buffer()});
  draft_.AddConstant(id, value);
  draft_.SetValue(node.port(), id);
  return true;
}

bool PlanBuilder::AddChain(const FusedNodes& chain) {
  FusedNodes part = chain;
  for (; !part.posts.empty(); part.posts.pop_back()) {
    if (const std::optional<KernelChoice> choice = kernels_.ChooseFused(part)) {
      if (!AddShapeCheckSteps(part) || !kernels_.AddStep(part, *choice)) return false;
      break;
    }
  }
  if (part.posts.empty() && !AddSingle(*chain.main)) return false;
  const llvm::ArrayRef<const ir::Node*> posts = chain.posts;
  for (size_t i = part.posts.size(); i < posts.size(); ++i) {
    if (i == chain.second) return AddChain({.main = posts[i], .posts = posts.drop_front(i + 1).vec()});
    if (!AddSingle(*posts[i])) return false;
  }
  return true;
}

bool PlanBuilder::AddSingle(const ir::Node& node) {
  bool dynamic =
      llvm::any_of(node.inputs(), [&](ir::OutputPort port) { return draft_.IsHeap(draft_.ValueOf(port)); });
  for (const ir::Output& output : node.outputs()) {
    dynamic |= !output.shape.known() || output.type == ElementType::kDynamic;
    if (!dynamic && !HasViews(output.type))
      return draft_.Fail(kernels::kRuntimeElementType, node, NotRunnable(output.type));
  }
  if (dynamic) return AddDynamicStep(node);
  const FusedNodes alone{.main = &node};
  if (!AddShapeCheckSteps(alone)) return false;
  if (views_.TryViews(node) || views_.TryTransposedLayout(node)) return true;
  if (node.Is(ir::OpRole::kView)) return views_.AddReshape(node);
  if (node.op() == concat_ && draft_.options().fuse && TryJoin(draft_, node)) return true;
  if (const std::optional<KernelChoice> choice = kernels_.ChooseSingle(node))
    return kernels_.AddStep(alone, *choice);
  return draft_.Fail(kernels::kNoKernel, node,
                     fmt::format("there is no kernel for `{}.{}`", node.set(), node.type()));
}

bool PlanBuilder::AddDenseInputs(const ir::Node& node, Step& step) {
  for (ir::OutputPort port : node.inputs()) {
    const ValueId id = draft_.InLayout(draft_.ValueOf(port), nullptr);
    if (id < 0) return draft_.Fail(kRuntimeMemory, node, "its inputs cannot be laid out");
    step.inputs.push_back(id);
  }
  draft_.CountReads(node);
  return true;
}

bool PlanBuilder::AddStateStep(const ir::Node& node) {
  const bool reads = node.Is(ir::OpRole::kReadValue);
  Step step{.kind = reads ? Step::Kind::kReadState : Step::Kind::kWriteState,
            .node = &node,
            .name = node.name(),
            .operation = node.type()};
  if (!AddDenseInputs(node, step)) return false;
  if (reads) {
    const ir::Output& output = node.output();
    const std::optional<Shape> shape = output.shape.extents();
    const ValueId id =
        shape ? draft_.AddArenaValue(output.type, *shape, nullptr) : draft_.AddHeapValue(output.type);
    if (id < 0) return draft_.Fail(kRuntimeMemory, node, "its result does not fit into memory");
    step.outputs.push_back(id);
    draft_.SetValue(node.port(), id);
  } else if (node.num_outputs() > 0) {
    // Assign passes on its input.
    draft_.SetValue(node.port(), step.inputs[0]);
  }
  draft_.AddStep(std::move(step));
  return true;
}

bool PlanBuilder::AddShapeCheckSteps(const FusedNodes& nodes) {
  return AddShapeCheckStep(*nodes.main) &&
         llvm::all_of(nodes.posts, [&](const ir::Node* post) { return AddShapeCheckStep(*post); });
}

bool PlanBuilder::AddShapeCheckStep(const ir::Node& node) {
  const auto unchecked = unchecked_.find(node.id());
  if (unchecked == unchecked_.end()) return true;
  Step step{.kind = Step::Kind::kShapeCheck,
            .node = &node,
            .name = node.name(),
            .operation = node.type(),
            .checked = unchecked->second};
  for (int32_t input : step.checked) {
    const ValueId id = draft_.InLayout(draft_.ValueOf(node.input(input)), nullptr);
    if (id < 0) return draft_.Fail(kRuntimeMemory, node, "its inputs cannot be laid out");
    step.inputs.push_back(id);
  }
  draft_.AddStep(std::move(step));
  return true;
}

bool PlanBuilder::AddDynamicStep(const ir::Node& node) {
  const kernels::KernelRegistry& registry = *draft_.options().kernels;
  if (registry.Find(kernels::Backend::kReference, node.set(), node.type()) == nullptr) {
    return draft_.Fail(kernels::kNoKernel, node,
                       fmt::format("there is no kernel for `{}.{}`", node.set(), node.type()));
  }
  Step step{.kind = Step::Kind::kDynamic, .node = &node, .name = node.name(), .operation = node.type()};
  if (!AddDenseInputs(node, step)) return false;
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    const ValueId id = draft_.AddHeapValue(node.output(i).type);
    step.outputs.push_back(id);
    draft_.SetValue(node.port(i), id);
  }
  draft_.AddStep(std::move(step));
  return true;
}

bool PlanBuilder::AddResult(const ir::Node& node) {
  const ValueId id = draft_.InLayout(draft_.ValueOf(node.input(0)), nullptr);
  if (id < 0) return draft_.Fail(kRuntimeMemory, node, "it cannot be laid out");
  draft_.plan().results.push_back({.value = id});
  return true;
}

void PlanBuilder::OpenResults() {
  Plan& plan = draft_.plan();
  for (PlanResult& result : plan.results) {
    const PlanValues::Place place = draft_.values().Find(result.value);
    result.root = place.root;
    result.offset = place.offset;
    PlanValue& root = draft_.values()[place.root];
    if (root.storage != PlanValue::Storage::kArena) continue;
    root.storage = PlanValue::Storage::kOutput;
    root.output = static_cast<int32_t>(plan.outputs.size());
    plan.outputs.push_back(place.root);
  }
}

}  // namespace nnefc::runtime::engine::plan

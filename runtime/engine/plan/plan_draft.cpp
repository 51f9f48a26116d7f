#include "runtime/engine/plan/plan_draft.h"

#include <memory>
#include <optional>

#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine::plan {

namespace {

// A copy of strided elements to row-major order.
class ElementsCopy final : public kernels::Kernel {
 public:
  std::string implementation() const override { return "engine"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    tensor::CopyElements(run.input(0), run.output());
    return Success();
  }
};

}  // namespace

void PlanDraft::SetValue(ir::OutputPort port, ValueId id) {
  by_port_[{port.node.index, port.index}] = id;
  values_.ExpectReads(id, static_cast<int64_t>(graph().node(port.node).uses(port.index).size()));
}

void PlanDraft::CountReads(const ir::Node& node) {
  for (ir::OutputPort port : node.inputs()) values_.CountRead(ValueOf(port));
}

const TensorValue* PlanDraft::ConstantOf(ValueId id) const {
  const auto found = constants_.find(id);
  return found == constants_.end() ? nullptr : &found->second;
}

ValueId PlanDraft::AddArenaValue(ElementType type, const Shape& shape, const tensor::Layout& layout) {
  const std::optional<int64_t> volume = Volume(shape);
  const std::optional<size_t> bytes = volume ? tensor::ViewBytes(type, *volume) : std::nullopt;
  if (!bytes) return -1;
  return values_.Add({.type = type,
                      .shape = shape,
                      .layout = layout,
                      .bytes = layout != nullptr ? layout->byte_size() : *bytes});
}

ValueId PlanDraft::AddHeapValue(ElementType type) {
  return values_.Add({.storage = PlanValue::Storage::kHeap, .type = type});
}

ValueId PlanDraft::AddViewOf(ValueId source, const tensor::ElementsView& view) {
  PlanValue value = values_[source];
  const size_t width = tensor::ViewBytesOf(value.type);
  value.shape = view.shape;
  value.layout = tensor::LayoutOf(view, width);
  value.bytes =
      value.layout != nullptr ? value.layout->byte_size() : static_cast<size_t>(*Volume(view.shape)) * width;
  value.root = source;
  value.offset = static_cast<size_t>(view.offset) * width;
  return values_.Add(value);
}

ValueId PlanDraft::InLayout(ValueId id, const tensor::Layout& layout, bool own) {
  if (tensor::SameLayout(values_[id].layout, layout)) return id;
  if (values_[id].storage == PlanValue::Storage::kConstant) return ConstantInLayout(id, layout);
  if (!own) {
    for (ValueId other : reordered_[id]) {
      if (tensor::SameLayout(values_[other].layout, layout)) return other;
    }
  }
  const bool has_strides = tensor::StridesOf(values_[id].layout) != nullptr;
  if (has_strides && layout != nullptr) return InLayout(InLayout(id, nullptr), layout, own);
  const kernels::ReorderFactory reorder = hooks().make_reorder;
  std::shared_ptr<const kernels::Kernel> kernel =
      has_strides          ? std::make_shared<ElementsCopy>()
      : reorder == nullptr ? nullptr
                           : reorder(values_[id].type, values_[id].shape, values_[id].layout, layout);
  if (kernel == nullptr) return -1;
  const ValueId result = AddArenaValue(values_[id].type, values_[id].shape, layout);
  if (result < 0) return -1;
  // Later steps may also read the copy, so it stays alive during planning.
  values_.ExpectReads(result, 1);
  if (!own) reordered_[id].push_back(result);
  AddStep({.name = "", .operation = "reorder", .kernel = kernel, .inputs = {id}, .outputs = {result}});
  return result;
}

ValueId PlanDraft::ConstantInLayout(ValueId id, const tensor::Layout& layout) {
  for (ValueId other : reordered_[id]) {
    if (tensor::SameLayout(values_[other].layout, layout)) return other;
  }
  kernels::FaultOr<std::shared_ptr<const Buffer>> data =
      options_.weights->Get(constants_.at(id), layout, hooks().make_reorder);
  if (!data) return -1;
  const ValueId result = values_.Add({.storage = PlanValue::Storage::kConstant,
                                      .type = values_[id].type,
                                      .shape = values_[id].shape,
                                      .layout = layout,
                                      .bytes = layout->byte_size(),
                                      .data = *data});
  reordered_[id].push_back(result);
  return result;
}

bool PlanDraft::Fail(const Rule& rule, const ir::Node& node, std::string message) {
  emitter_.Emit(rule, node.origin().range, "`{}` ({}): {}", node.name(), node.type(), message)
      .Notes(ir::StackNotes(node.origin().frame));
  return false;
}

}  // namespace nnefc::runtime::engine::plan

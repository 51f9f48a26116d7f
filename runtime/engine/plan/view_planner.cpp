#include "runtime/engine/plan/view_planner.h"

#include <exception>
#include <new>

#include "llvm/ADT/STLExtras.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine::plan {

using tensor::ElementsView;

namespace {

constexpr int kMaxViews = 6;        // in a chain of views to a reader
constexpr size_t kMaxReads = 8;     // readers of a view
constexpr int32_t kMaxParts = 256;  // outputs of a split

// Calls a view function. If that of a plug-in throws, the kernel runs and reports the exception.
kernels::FaultOr<ElementsView> SeenBy(kernels::ViewFunction view, const kernels::ViewRequest& request) {
  try {
    return view(request);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return kernels::KernelFault("{}", error.what());
  } catch (...) {
    return kernels::KernelFault("it threw something other than a std::exception");
  }
}

bool IsPositive(const ElementsView& view) {
  return llvm::all_of(view.strides, [](int64_t stride) { return stride > 0; });
}

}  // namespace

bool AcceptsStrides(const PlanOptions& options, const ir::Node& node, int32_t input,
                    llvm::ArrayRef<kernels::Backend> backends) {
  return options.fuse && llvm::any_of(backends, [&](kernels::Backend backend) {
           return options.kernels->AcceptsStrides(backend, node, input);
         });
}

std::optional<ElementsView> ViewPlanner::ElementsOf(const ir::Node& node, int32_t output,
                                                    const ElementsView& source) const {
  const std::optional<Shape> shape = node.output(output).shape.extents();
  if (!shape || Volume(*shape).value_or(0) == 0) return std::nullopt;
  if (node.Is(ir::OpRole::kView)) return tensor::Reshaped(source, *shape);
  const kernels::ViewFunction view = draft_.options().kernels->FindView(node.set(), node.type());
  if (view == nullptr) return std::nullopt;
  llvm::SmallVector<tensor::TensorView, 4> values;
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    const std::optional<TensorValue>& value = draft_.graph().output(node.input(i)).value;
    if (i > 0 && (!value || BitWidth(value->type()) < 8)) return std::nullopt;
    values.push_back(i > 0 ? tensor::TensorView(*value) : tensor::TensorView());
  }
  llvm::SmallVector<const tensor::TensorView*, 4> inputs;
  for (const tensor::TensorView& value : values) inputs.push_back(&value);
  llvm::SmallVector<Shape, 2> outputs;
  for (const ir::Output& each : node.outputs()) {
    const std::optional<Shape> extents = each.shape.extents();
    if (!extents) return std::nullopt;
    outputs.push_back(*extents);
  }
  const kernels::FaultOr<ElementsView> seen = SeenBy(view, {.node = node,
                                                            .source = source,
                                                            .inputs = inputs,
                                                            .outputs = outputs,
                                                            .output = static_cast<size_t>(output)});
  if (!seen || seen->shape != *shape || !IsPositive(*seen)) return std::nullopt;
  return *seen;
}

bool ViewPlanner::AreReadAs(ir::OutputPort port, const ElementsView& view, int depth) const {
  const llvm::ArrayRef<ir::InputPort> uses = draft_.graph().node(port.node).uses(port.index);
  if (uses.size() > kMaxReads) return false;
  return llvm::all_of(uses, [&](const ir::InputPort& use) {
    const ir::Node& reader = draft_.graph().node(use.node);
    if (fusions_.Contains(use.node)) return false;
    if (!view.shape.empty() && view.strides.back() == 1 &&
        AcceptsStrides(draft_.options(), reader, use.index, draft_.backends()))
      return true;
    if (use.index != 0 || depth == 0 || reader.num_outputs() > kMaxParts) return false;
    for (int32_t i = 0; i < reader.num_outputs(); ++i) {
      const std::optional<ElementsView> seen = ElementsOf(reader, i, view);
      if (!seen || (!tensor::IsDense(*seen) && !AreReadAs(reader.port(i), *seen, depth - 1))) return false;
    }
    return reader.num_outputs() > 0;
  });
}

bool ViewPlanner::TryViews(const ir::Node& node) {
  if (!draft_.options().fuse || node.num_inputs() == 0 || node.num_outputs() > kMaxParts) return false;
  const bool is_reshaped = node.Is(ir::OpRole::kView);
  if (!is_reshaped && draft_.options().kernels->FindView(node.set(), node.type()) == nullptr) return false;
  const ValueId source = draft_.ValueOf(node.input(0));
  const PlanValue& value = draft_.values()[source];
  const tensor::Strides* strides = tensor::StridesOf(value.layout);
  if (value.storage == PlanValue::Storage::kConstant) return false;
  if (value.layout != nullptr && strides == nullptr) return !is_reshaped && TryPartsOfLayout(node);
  if (is_reshaped && strides == nullptr) return false;  // see AddReshape
  const ElementsView elements{.shape = value.shape,
                              .strides = strides != nullptr ? *strides : tensor::DenseStrides(value.shape)};
  llvm::SmallVector<ElementsView, 2> views;
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    const std::optional<ElementsView> view = ElementsOf(node, i, elements);
    if (!view) return false;
    const auto is_result = [&](const ir::InputPort& use) {
      return draft_.graph().node(use.node).Is(ir::OpRole::kResult);
    };
    // A graph result that is a view would keep the whole source alive.
    if (llvm::any_of(node.uses(i), is_result)) return false;
    if (!tensor::IsDense(*view) && !AreReadAs(node.port(i), *view, kMaxViews)) return false;
    views.push_back(*view);
  }
  for (int32_t i = 0; i < node.num_outputs(); ++i)
    draft_.SetValue(node.port(i), draft_.AddViewOf(source, views[static_cast<size_t>(i)]));
  draft_.CountReads(node);
  return true;
}

bool ViewPlanner::TryPartsOfLayout(const ir::Node& node) {
  const kernels::PartOfLayout part_of = draft_.hooks().part;
  const ValueId source = draft_.ValueOf(node.input(0));
  const PlanValue whole = draft_.values()[source];
  if (part_of == nullptr || whole.type != ElementType::kF32) return false;
  const ElementsView elements{.shape = whole.shape, .strides = tensor::DenseStrides(whole.shape)};
  const kernels::ValueInfo info{.type = whole.type, .shape = whole.shape, .layout = whole.layout};
  llvm::SmallVector<PlanValue, 2> parts;
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    const std::optional<ElementsView> view = ElementsOf(node, i, elements);
    const std::optional<kernels::LayoutPart> part = view ? part_of(info, *view) : std::nullopt;
    if (!part) return false;
    PlanValue value = whole;
    value.shape = view->shape;
    value.layout = part->layout;
    value.bytes = part->layout != nullptr ? part->layout->byte_size()
                                          : static_cast<size_t>(*Volume(view->shape)) * sizeof(float);
    value.root = source;
    value.offset = part->offset;
    parts.push_back(value);
  }
  for (int32_t i = 0; i < node.num_outputs(); ++i)
    draft_.SetValue(node.port(i), draft_.values().Add(parts[static_cast<size_t>(i)]));
  draft_.CountReads(node);
  return true;
}

bool ViewPlanner::TryTransposedLayout(const ir::Node& node) {
  const kernels::TransposedLayout transpose = draft_.hooks().transpose;
  if (!draft_.options().fuse || transpose == nullptr || !node.Is(ir::Rearrangement::kTranspose)) return false;
  const std::optional<TensorValue>& order = draft_.graph().output(node.input(1)).value;
  const ValueId source = draft_.ValueOf(node.input(0));
  const PlanValue& given = draft_.values()[source];
  if (!order || given.layout != nullptr || given.type != ElementType::kF32 ||
      given.storage == PlanValue::Storage::kConstant || Volume(given.shape).value_or(0) == 0)
    return false;
  // Other readers may require the layout that the Transpose has anyway. A FakeQuantize accepts any.
  const llvm::ArrayRef<ir::InputPort> uses = node.uses(0);
  if (uses.size() != 1 || uses[0].index != 0 ||
      !draft_.graph().node(uses[0].node).Is(ir::Quantizer::kFakeQuantize))
    return false;
  llvm::SmallVector<int64_t, 8> axes;
  for (int64_t i = 0; i < order->volume(); ++i) axes.push_back(order->ElementAsInt(i));
  std::optional<tensor::Layout> layout = transpose(node.output().shape.known_extents(), axes);
  if (!layout) return false;
  SetViewInLayout(node, source, node.output().shape.known_extents(), std::move(*layout));
  return true;
}

bool ViewPlanner::AddReshape(const ir::Node& node) {
  const Shape shape = node.output().shape.known_extents();
  if (TryReshapedLayout(node, shape)) return true;
  const ValueId source = draft_.InLayout(draft_.ValueOf(node.input(0)), nullptr);
  if (source < 0) return draft_.Fail(kernels::kRuntimeMemory, node, "its input cannot be laid out");
  if (Volume(shape) != Volume(draft_.values()[source].shape)) {
    return draft_.Fail(kernels::kRuntimeMemory, node, "its result has another number of elements");
  }
  const ValueId id = draft_.AddViewOf(source, {.shape = shape, .strides = tensor::DenseStrides(shape)});
  if (const TensorValue* constant = draft_.ConstantOf(source))
    draft_.AddConstant(id, constant->Reshaped(shape));
  draft_.SetValue(node.port(), id);
  draft_.CountReads(node);
  return true;
}

bool ViewPlanner::TryReshapedLayout(const ir::Node& node, const Shape& shape) {
  const kernels::ReshapedLayout reshape = draft_.hooks().reshape;
  const ValueId source = draft_.ValueOf(node.input(0));
  const PlanValue& given = draft_.values()[source];
  if (reshape == nullptr || given.layout == nullptr || draft_.ConstantOf(source) != nullptr) return false;
  if (given.type != ElementType::kF32 || tensor::StridesOf(given.layout) != nullptr) return false;
  if (Volume(shape) != Volume(given.shape)) return false;
  std::optional<tensor::Layout> layout = reshape(given.layout, given.shape, shape);
  if (!layout) return false;
  SetViewInLayout(node, source, shape, std::move(*layout));
  return true;
}

void ViewPlanner::SetViewInLayout(const ir::Node& node, ValueId source, const Shape& shape,
                                  tensor::Layout layout) {
  PlanValue value = draft_.values()[source];
  value.shape = shape;
  value.layout = std::move(layout);
  value.root = source;
  value.offset = 0;
  draft_.SetValue(node.port(), draft_.values().Add(value));
  draft_.CountReads(node);
}

tensor::Layout ViewPlanner::WantedOutput(const ir::Node& node) const {
  if (!draft_.options().fuse || node.num_outputs() != 1 || node.uses(0).size() != 1) return nullptr;
  const ir::InputPort use = node.uses(0)[0];
  const std::optional<Shape> shape = node.output().shape.extents();
  if (use.index != 0 || fusions_.Contains(use.node) || !shape) return nullptr;
  const ir::Node& reader = draft_.graph().node(use.node);
  // Gives axis i the stride i + 1, so that the strides of the view identify the source axes.
  ElementsView numbered{.shape = *shape, .strides = {}};
  for (size_t axis = 0; axis < shape->size(); ++axis)
    numbered.strides.push_back(static_cast<int64_t>(axis) + 1);
  if (reader.Is(ir::OpRole::kView) || reader.num_outputs() != 1) return nullptr;
  const std::optional<ElementsView> moved = ElementsOf(reader, 0, numbered);
  if (!moved || moved->offset != 0 || moved->shape.size() != shape->size()) return nullptr;
  const tensor::Strides dense = tensor::DenseStrides(moved->shape);
  ElementsView wanted{.shape = *shape, .strides = tensor::Strides(shape->size(), 0)};
  for (size_t axis = 0; axis < dense.size(); ++axis) {
    const auto from = static_cast<size_t>(moved->strides[axis]) - 1;
    if (from >= dense.size() || (*shape)[from] != moved->shape[axis]) return nullptr;
    wanted.strides[from] = dense[axis];
  }
  if (!IsPositive(wanted) || wanted.strides.back() != 1) return nullptr;
  return tensor::LayoutOf(wanted, tensor::ViewBytesOf(node.output().type));
}

}  // namespace nnefc::runtime::engine::plan

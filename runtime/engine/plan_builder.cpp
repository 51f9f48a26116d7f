#include "runtime/engine/plan_builder.h"

#include <new>

#include "compiler/support/tensor/packed_elements.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/engine/prepare_graph.h"
#include "runtime/engine/tuner.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine {

using kernels::kRuntimeMemory;

namespace {

bool HasViews(ElementType type) {
  return BitWidth(type) > 0;
}

// Returns the number of multiply-adds of a node, or 0 if a plug-in's function throws.
double ProductsOf(const ir::Node& node, llvm::ArrayRef<Shape> inputs, llvm::ArrayRef<Shape> outputs) {
  try {
    return node.info().products(node, inputs, outputs);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    return 0;
  }
}

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

bool PlanBuilder::Fail(const Rule& rule, const ir::Node& node, std::string message) {
  emitter_.Emit(rule, node.origin().range, "`{}` ({}): {}", node.name(), node.type(), message)
      .Notes(ir::StackNotes(node.origin().frame));
  return false;
}

bool PlanBuilder::Build() {
  FindGroups();
  const std::optional<std::vector<ir::NodeId>> order = graph_.TopologicalOrder();
  NNEFC_CHECK(order.has_value());
  for (size_t i = 0; i < graph_.parameters().size(); ++i) {
    const ir::Node& node = graph_.node(graph_.parameters()[i]);
    if (!HasViews(node.output().type)) {
      return Fail(kernels::kRuntimeElementType, node,
                  fmt::format("elements of type {} cannot be run", Name(node.output().type)));
    }
    const Shape& shape = plan_.input_shapes[i];
    SetValue(
        node.port(),
        values_.Add({.storage = PlanValue::Storage::kInput,
                     .type = node.output().type,
                     .shape = shape,
                     .bytes = tensor::ViewBytes(node.output().type, Volume(shape).value_or(0)).value_or(0),
                     .input = static_cast<int32_t>(i)}));
  }
  for (ir::NodeId id : *order) {
    if (!AddNode(graph_.node(id))) return false;
  }
  for (ir::NodeId id : graph_.results()) {
    if (!AddResult(graph_.node(id))) return false;
  }
  OpenResults();
  return true;
}

void PlanBuilder::FindGroups() {
  const kernels::KernelRegistry::BackendHooks hooks = options_.kernels->hooks(options_.backend);
  if (hooks.find_codes != nullptr && options_.precision != kernels::Precision::kExact) {
    codes_ = hooks.find_codes(graph_, *options_.weights);
  }
  if (hooks.find_fusions == nullptr || !options_.fuse) return;
  for (const kernels::FusionGroup& group : hooks.find_fusions(graph_, codes_.results)) {
    Work work{.main = &graph_.node(group.main), .posts = {}, .second = group.second};
    in_group_[group.main] = true;
    for (ir::NodeId post : group.posts) {
      work.posts.push_back(&graph_.node(post));
      in_group_[post] = true;
    }
    groups_[work.last().id()] = work;
  }
}

bool PlanBuilder::AddNode(const ir::Node& node) {
  if (node.Is(ir::OpRole::kParameter) || node.Is(ir::OpRole::kResult)) return true;
  if (node.info().is_source) return AddSource(node);
  if (auto group = groups_.find(node.id()); group != groups_.end()) return AddGroup(group->second);
  // Other nodes of a group run at the position of its last node: all operands are available by then, and
  // their results have no other readers.
  if (in_group_.count(node.id()) > 0) return true;
  if (!node.bodies().empty()) return AddControlStep(node);
  if (node.Is(ir::OpRole::kReadValue) || node.Is(ir::OpRole::kAssign)) return AddStateStep(node);
  return AddSingle(node);
}

bool PlanBuilder::AddSource(const ir::Node& node) {
  if (!node.output().value) return Fail(kernels::kConstantWithoutData, node, "it has no data");
  const ElementType type = node.output().value->type();
  if (!HasViews(type))
    return Fail(kernels::kRuntimeElementType, node,
                fmt::format("elements of type {} cannot be run", Name(type)));
  const TensorValue value = IsPacked(type) ? CodesOf(*node.output().value) : *node.output().value;
  const ValueId id = values_.Add({.storage = PlanValue::Storage::kConstant,
                                  .type = type,
                                  .shape = value.shape(),
                                  .bytes = value.byte_size(),
                                  .data = value.buffer()});
  constants_.emplace(id, value);
  SetValue(node.port(), id);
  return true;
}

// Makes one step of the longest prefix of the group that has a kernel.
bool PlanBuilder::AddGroup(const Work& work) {
  Work part = work;
  for (; !part.posts.empty(); part.posts.pop_back()) {
    Request request = MakeRequest(part, {});
    if (llvm::any_of(request.input_values, [&](ValueId id) { return IsHeap(id); })) continue;
    if (std::optional<kernels::PreparedKernel> prepared = Prepare(options_.backend, part, request)) {
      if (!AddShapeCheckSteps(part) || !AddKernelStep(part, request, std::move(*prepared))) return false;
      break;
    }
  }
  if (part.posts.empty() && !AddSingle(*work.main)) return false;
  const llvm::ArrayRef<const ir::Node*> posts = work.posts;
  for (size_t i = part.posts.size(); i < posts.size(); ++i) {
    if (i == work.second) return AddGroup({.main = posts[i], .posts = posts.drop_front(i + 1).vec()});
    if (!AddSingle(*posts[i])) return false;
  }
  return true;
}

bool PlanBuilder::AddSingle(const ir::Node& node) {
  bool dynamic = false;
  for (ir::OutputPort port : node.inputs()) dynamic |= IsHeap(ValueOf(port));
  for (const ir::Output& output : node.outputs()) {
    dynamic |= !output.shape.known() || output.type == ElementType::kDynamic;
    if (!dynamic && !HasViews(output.type)) {
      return Fail(kernels::kRuntimeElementType, node,
                  fmt::format("elements of type {} cannot be run", Name(output.type)));
    }
  }
  if (dynamic) return AddDynamicStep(node);
  const Work work{.main = &node, .posts = {}};
  if (!AddShapeCheckSteps(work)) return false;
  if (AddViewsOfElements(node)) return true;
  if (node.Is(ir::OpRole::kView)) return AddView(node);
  if (node.op() == concat_ && options_.fuse && TryJoin(node)) return true;
  Request request = MakeRequest(work, Backends());
  std::optional<kernels::PreparedKernel> prepared = Prepare(options_.backend, work, request);
  if (!prepared && ReadsStridesOf(work, request)) {
    // The backend may have kernels without stride support that still beat the reference kernel.
    request = MakeRequest(work, {});
    prepared = Prepare(options_.backend, work, request);
  }
  if (!prepared) {
    std::vector<kernels::RejectedImplementation> rejected = std::move(request.rejected);
    request = MakeRequest(work, kernels::Backend::kReference);
    prepared = Prepare(kernels::Backend::kReference, work, request);
    request.rejected = std::move(rejected);
  }
  if (!prepared)
    return Fail(kernels::kNoKernel, node,
                fmt::format("there is no kernel for `{}.{}`", node.set(), node.type()));
  return AddKernelStep(work, request, std::move(*prepared));
}

PlanBuilder::Request PlanBuilder::MakeRequest(const Work& work, llvm::ArrayRef<kernels::Backend> strided_by) {
  Request request;
  const auto in_place_of_strides = [&](ValueId id) {
    return tensor::StridesOf(values_[id].layout) == nullptr ? id : InLayout(id, nullptr);
  };
  for (int32_t i = 0; i < work.main->num_inputs(); ++i) {
    const ValueId id = ValueOf(work.main->input(i));
    request.input_values.push_back(AcceptsStrides(*work.main, i, strided_by) ? id : in_place_of_strides(id));
  }
  ir::NodeId chained = work.main->id();
  for (const ir::Node* post : work.posts) {
    kernels::PostOperation operation{.node = post,
                                     .first_operand = static_cast<int>(request.input_values.size())};
    for (int32_t i = 0; i < post->num_inputs(); ++i) {
      if (post->input(i).node == chained) {
        operation.chained_input = i;
      } else {
        request.input_values.push_back(in_place_of_strides(ValueOf(post->input(i))));
      }
    }
    request.posts.push_back(operation);
    chained = post->id();
  }
  // While this step is planned, its own reads do not keep its inputs alive.
  for (ValueId id : request.input_values) values_.CountRead(id);
  for (ValueId id : request.input_values) {
    const PlanValue& value = values_[id];
    int64_t uses = 0;
    for (ValueId other : request.input_values) uses += values_.Find(other).root == values_.Find(id).root;
    const auto constant = constants_.find(id);
    request.inputs.push_back({.type = value.type,
                              .shape = value.shape,
                              .layout = value.layout,
                              .constant = constant == constants_.end() ? nullptr : &constant->second,
                              .overwritable = options_.fuse && uses == 1 && values_.IsDead(id) &&
                                              tensor::StridesOf(value.layout) == nullptr});
  }
  for (ValueId id : request.input_values) values_.ExpectReads(id, 1);
  for (const ir::Output& output : work.last().outputs()) {
    request.outputs.push_back({.type = output.type, .shape = output.shape.extents().value_or(Shape())});
  }
  return request;
}

std::optional<kernels::PreparedKernel> PlanBuilder::Prepare(kernels::Backend backend, const Work& work,
                                                            Request& request) const {
  const kernels::KernelFactory* factory =
      options_.kernels->Find(backend, work.main->set(), work.main->type());
  if (factory == nullptr) return std::nullopt;
  request.request = {.node = work.main,
                     .posts = request.posts,
                     .inputs = request.inputs,
                     .outputs = request.outputs,
                     .precision = options_.precision,
                     .as_codes = codes_.results.contains(work.last().id()),
                     .wanted_output = WantedOutput(work.last()),
                     .rejected = options_.explains ? &request.rejected : nullptr};
  if (const auto codes = codes_.filters.find(work.main->id()); codes != codes_.filters.end()) {
    request.request.filter_scales = codes->second.scales;
    request.request.filter_magnitude = codes->second.max_magnitude;
  }
  const bool is_tuned = options_.tuner != nullptr && backend == options_.backend;
  return is_tuned ? options_.tuner->Prepare(request.request) : (*factory)(request.request);
}

StepWork PlanBuilder::WorkOf(const Work& work, const Request& request) const {
  StepWork sum;
  const auto add_bytes = [&](llvm::ArrayRef<kernels::ValueInfo> values) {
    for (const kernels::ValueInfo& value : values)
      sum.bytes += static_cast<double>(ByteSize(value.type, Volume(value.shape).value_or(0)).value_or(0));
  };
  add_bytes(request.inputs);
  add_bytes(request.outputs);
  AddOperations(*work.main, sum);
  for (const ir::Node* post : work.posts) AddOperations(*post, sum);
  return sum;
}

// Adds multiply-adds for nodes that have them, and one operation per result element for others.
void PlanBuilder::AddOperations(const ir::Node& node, StepWork& sum) const {
  const auto shape_of = [](const ir::Output& output) { return output.shape.extents().value_or(Shape()); };
  llvm::SmallVector<Shape, 4> inputs, outputs;
  for (ir::OutputPort port : node.inputs()) inputs.push_back(shape_of(graph_.output(port)));
  for (const ir::Output& output : node.outputs()) outputs.push_back(shape_of(output));
  if (node.info().products != nullptr) {
    sum.operations += 2 * ProductsOf(node, inputs, outputs);
  } else if (node.info().work != ir::Work::kNone) {
    for (const Shape& output : outputs) sum.operations += static_cast<double>(Volume(output).value_or(0));
  }
}

bool PlanBuilder::AddKernelStep(const Work& work, const Request& request, kernels::PreparedKernel prepared) {
  Step step{.node = work.main,
            .name = work.last().name(),
            .operation = work.main->type(),
            .kernel = prepared.kernel,
            .implementation = prepared.implementation,
            .rejected = request.rejected};
  for (const ir::Node* post : work.posts) step.operation += "+" + post->type();
  step.work = WorkOf(work, request);
  const int in_place = prepared.in_place;
  bool overwrites = prepared.in_place_required;
  for (size_t i = 0; i < request.input_values.size(); ++i) {
    const ValueId original = request.input_values[i];
    const bool own = prepared.in_place_required && static_cast<int>(i) == in_place;
    const ValueId id = InLayout(original, prepared.inputs[i], own);
    if (id < 0) return Fail(kRuntimeMemory, *work.main, "its inputs cannot be laid out for its kernel");
    step.inputs.push_back(id);
    if (static_cast<int>(i) == in_place && id == original) overwrites |= request.inputs[i].overwritable;
  }
  CountReads(work);
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    const ValueId id = AddArenaValue(request.outputs[i].type, request.outputs[i].shape, prepared.outputs[i]);
    if (id < 0) return Fail(kRuntimeMemory, *work.main, "its result does not fit into memory");
    if (i == 0 && in_place >= 0 && overwrites) {
      const ValueId input = step.inputs[static_cast<size_t>(in_place)];
      // Quantized values of another type have the same order, as required by kernels that accumulate in
      // place.
      const bool is_same_order =
          prepared.in_place_required || tensor::SameLayout(values_[input].layout, values_[id].layout);
      const bool fits = values_[input].bytes == values_[id].bytes && is_same_order;
      NNEFC_CHECK(fits || !prepared.in_place_required);
      if (fits) values_.Join(id, input, 0);
    }
    step.outputs.push_back(id);
    SetValue(work.last().port(static_cast<int32_t>(i)), id);
  }
  if (prepared.scratch_bytes > 0)
    step.scratch = values_.Add({.type = ElementType::kU8, .bytes = prepared.scratch_bytes});
  plan_.steps.push_back(std::move(step));
  return true;
}

void PlanBuilder::CountReads(const Work& work) {
  for (ir::OutputPort port : work.main->inputs()) values_.CountRead(ValueOf(port));
  ir::NodeId chained = work.main->id();
  for (const ir::Node* post : work.posts) {
    for (ir::OutputPort port : post->inputs()) {
      if (port.node != chained) values_.CountRead(ValueOf(port));
    }
    chained = post->id();
  }
}

bool PlanBuilder::AddView(const ir::Node& node) {
  const Shape shape = node.output().shape.known_extents();
  if (AddViewOfLayout(node, shape)) return true;
  const ValueId source = InLayout(ValueOf(node.input(0)), nullptr);
  if (source < 0) return Fail(kRuntimeMemory, node, "its input cannot be laid out");
  if (Volume(shape) != Volume(values_[source].shape)) {
    return Fail(kRuntimeMemory, node, "its result has another number of elements");
  }
  const ValueId id = AddViewOf(source, {.shape = shape, .strides = tensor::DenseStrides(shape)});
  if (auto constant = constants_.find(source); constant != constants_.end()) {
    constants_.emplace(id, constant->second.Reshaped(shape));
  }
  SetValue(node.port(), id);
  CountReads({.main = &node, .posts = {}});
  return true;
}

bool PlanBuilder::AddViewOfLayout(const ir::Node& node, const Shape& shape) {
  const kernels::ReshapedLayout reshape = options_.kernels->hooks(options_.backend).reshape;
  const ValueId source = ValueOf(node.input(0));
  const PlanValue& given = values_[source];
  if (reshape == nullptr || given.layout == nullptr || constants_.count(source) > 0) return false;
  if (given.type != ElementType::kF32 || tensor::StridesOf(given.layout) != nullptr) return false;
  if (Volume(shape) != Volume(given.shape)) return false;
  std::optional<tensor::Layout> layout = reshape(given.layout, given.shape, shape);
  if (!layout) return false;
  PlanValue value = given;
  value.shape = shape;
  value.layout = std::move(*layout);
  value.root = source;
  value.offset = 0;
  SetValue(node.port(), values_.Add(value));
  CountReads({.main = &node, .posts = {}});
  return true;
}

// Joins parts of a Concat that are contiguous in the result: they are computed at their offset in it, without
// a step. Parts that were joined before count as one if all of them appear in order, as in DenseNet-like
// networks.
bool PlanBuilder::TryJoin(const ir::Node& node) {
  const Shape shape = node.output().shape.known_extents();
  const int64_t axis = kernels::NormalAxis(node.Int("axis"), static_cast<int64_t>(shape.size()));
  kernels::ValueInfo whole{.type = node.output().type, .shape = shape};
  llvm::SmallVector<kernels::ValueInfo, 4> parts;
  llvm::SmallVector<ValueId, 4> roots;
  bool plain = true;
  size_t filled = 0;  // bytes of the last root
  for (ir::OutputPort port : node.inputs()) {
    const ValueId id = ValueOf(port);
    const PlanValues::Place place = values_.Find(id);
    if (values_[place.root].storage != PlanValue::Storage::kArena) return false;
    const bool begins = roots.empty() || filled == values_[roots.back()].bytes;
    if (place.offset != (begins ? 0 : filled)) return false;
    if (begins ? llvm::is_contained(roots, place.root) : place.root != roots.back()) return false;
    if (begins) roots.push_back(place.root);
    filled = place.offset + values_[id].bytes;
    parts.push_back({.type = values_[id].type, .shape = values_[id].shape, .layout = values_[id].layout});
    plain &= values_[id].layout == nullptr;
  }
  if (roots.empty() || filled != values_[roots.back()].bytes) return false;
  if (plain) {
    for (int64_t i = 0; i < axis; ++i) {
      if (shape[static_cast<size_t>(i)] != 1) return false;
    }
  } else {
    const kernels::JoinedLayout join = options_.kernels->hooks(options_.backend).join;
    std::optional<tensor::Layout> layout = join == nullptr ? std::nullopt : join(parts, whole, axis);
    if (!layout) return false;
    whole.layout = *layout;
  }
  const ValueId id = AddArenaValue(whole.type, shape, whole.layout);
  size_t bytes = 0;
  for (ValueId root : roots) bytes += values_[root].bytes;
  if (id < 0 || bytes != values_[id].bytes) return false;
  size_t offset = 0;
  for (ValueId root : roots) {
    values_.Join(root, id, offset);
    offset += values_[root].bytes;
  }
  SetValue(node.port(), id);
  CountReads({.main = &node, .posts = {}});
  return true;
}

bool PlanBuilder::AddStateStep(const ir::Node& node) {
  const bool reads = node.Is(ir::OpRole::kReadValue);
  Step step{.kind = reads ? Step::Kind::kReadState : Step::Kind::kWriteState,
            .node = &node,
            .name = node.name(),
            .operation = node.type()};
  for (ir::OutputPort port : node.inputs()) {
    const ValueId id = InLayout(ValueOf(port), nullptr);
    if (id < 0) return Fail(kRuntimeMemory, node, "its input cannot be laid out");
    step.inputs.push_back(id);
  }
  CountReads({.main = &node, .posts = {}});
  if (reads) {
    const std::optional<Shape> shape = node.output().shape.extents();
    const ValueId id =
        shape ? AddArenaValue(node.output().type, *shape, nullptr) : AddHeapValue(node.output().type);
    if (id < 0) return Fail(kRuntimeMemory, node, "its result does not fit into memory");
    step.outputs.push_back(id);
    SetValue(node.port(), id);
  } else if (node.num_outputs() > 0) {
    // Assign passes on its input.
    SetValue(node.port(), step.inputs[0]);
  }
  plan_.steps.push_back(std::move(step));
  return true;
}

bool PlanBuilder::AddShapeCheckSteps(const Work& work) {
  return AddShapeCheckStep(*work.main) &&
         llvm::all_of(work.posts, [&](const ir::Node* post) { return AddShapeCheckStep(*post); });
}

bool PlanBuilder::AddShapeCheckStep(const ir::Node& node) {
  const auto unjudged = unjudged_.find(node.id());
  if (unjudged == unjudged_.end()) return true;
  Step step{.kind = Step::Kind::kShapeCheck,
            .node = &node,
            .name = node.name(),
            .operation = node.type(),
            .checked = unjudged->second};
  for (int32_t input : step.checked) {
    const ValueId id = InLayout(ValueOf(node.input(input)), nullptr);
    if (id < 0) return Fail(kRuntimeMemory, node, "its inputs cannot be laid out");
    step.inputs.push_back(id);
  }
  plan_.steps.push_back(std::move(step));
  return true;
}

bool PlanBuilder::AddDynamicStep(const ir::Node& node) {
  if (options_.kernels->Find(kernels::Backend::kReference, node.set(), node.type()) == nullptr) {
    return Fail(kernels::kNoKernel, node,
                fmt::format("there is no kernel for `{}.{}`", node.set(), node.type()));
  }
  Step step{.kind = Step::Kind::kDynamic, .node = &node, .name = node.name(), .operation = node.type()};
  for (ir::OutputPort port : node.inputs()) {
    const ValueId id = InLayout(ValueOf(port), nullptr);
    if (id < 0) return Fail(kRuntimeMemory, node, "its inputs cannot be laid out");
    step.inputs.push_back(id);
  }
  CountReads({.main = &node, .posts = {}});
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    const ValueId id = AddHeapValue(node.output(i).type);
    step.outputs.push_back(id);
    SetValue(node.port(i), id);
  }
  plan_.steps.push_back(std::move(step));
  return true;
}

bool PlanBuilder::AddResult(const ir::Node& node) {
  const ValueId id = InLayout(ValueOf(node.input(0)), nullptr);
  if (id < 0) return Fail(kRuntimeMemory, node, "it cannot be laid out");
  plan_.results.push_back({.value = id});
  return true;
}

void PlanBuilder::OpenResults() {
  for (PlanResult& result : plan_.results) {
    const PlanValues::Place place = values_.Find(result.value);
    result.root = place.root;
    result.offset = place.offset;
    PlanValue& root = values_[place.root];
    if (root.storage != PlanValue::Storage::kArena) continue;
    root.storage = PlanValue::Storage::kOutput;
    root.output = static_cast<int32_t>(plan_.outputs.size());
    plan_.outputs.push_back(place.root);
  }
}

ValueId PlanBuilder::InLayout(ValueId id, const tensor::Layout& layout, bool own) {
  if (tensor::SameLayout(values_[id].layout, layout)) return id;
  if (values_[id].storage == PlanValue::Storage::kConstant) return ConstantInLayout(id, layout);
  if (!own) {
    for (ValueId other : reordered_[id]) {
      if (tensor::SameLayout(values_[other].layout, layout)) return other;
    }
  }
  const bool has_strides = tensor::StridesOf(values_[id].layout) != nullptr;
  if (has_strides && layout != nullptr) return InLayout(InLayout(id, nullptr), layout, own);
  const kernels::ReorderFactory reorder = options_.kernels->hooks(options_.backend).make_reorder;
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
  plan_.steps.push_back(
      {.name = "", .operation = "reorder", .kernel = kernel, .inputs = {id}, .outputs = {result}});
  return result;
}

ValueId PlanBuilder::ConstantInLayout(ValueId id, const tensor::Layout& layout) {
  for (ValueId other : reordered_[id]) {
    if (tensor::SameLayout(values_[other].layout, layout)) return other;
  }
  kernels::FaultOr<std::shared_ptr<const Buffer>> data = options_.weights->Get(
      constants_.at(id), layout, options_.kernels->hooks(options_.backend).make_reorder);
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

ValueId PlanBuilder::AddArenaValue(ElementType type, const Shape& shape, const tensor::Layout& layout) {
  const std::optional<int64_t> volume = Volume(shape);
  const std::optional<size_t> bytes = volume ? tensor::ViewBytes(type, *volume) : std::nullopt;
  if (!bytes) return -1;
  return values_.Add({.type = type,
                      .shape = shape,
                      .layout = layout,
                      .bytes = layout != nullptr ? layout->byte_size() : *bytes});
}

ValueId PlanBuilder::AddHeapValue(ElementType type) {
  return values_.Add({.storage = PlanValue::Storage::kHeap, .type = type});
}

void PlanBuilder::SetValue(ir::OutputPort port, ValueId id) {
  by_port_[{port.node.index, port.index}] = id;
  values_.ExpectReads(id, static_cast<int64_t>(graph_.node(port.node).uses(port.index).size()));
}

}  // namespace nnefc::runtime::engine

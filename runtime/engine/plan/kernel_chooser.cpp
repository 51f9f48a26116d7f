#include "runtime/engine/plan/kernel_chooser.h"

#include <new>
#include <utility>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "compiler/ir/ops/arithmetic/stored_images.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/engine/cache/tuner.h"
#include "runtime/kernels/rules.h"

namespace nnefc::runtime::engine::plan {

using kernels::kRuntimeMemory;

namespace {

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

}  // namespace

std::optional<KernelChoice> KernelChooser::ChooseFused(const FusedNodes& nodes) {
  StepOperands operands = OperandsOf(nodes, {});
  if (llvm::any_of(operands.input_values, [&](ValueId id) { return draft_.IsHeap(id); })) return std::nullopt;
  std::optional<kernels::PreparedKernel> prepared = Prepare(draft_.options().backend, nodes, operands);
  if (!prepared) return std::nullopt;
  return KernelChoice{std::move(operands), std::move(*prepared)};
}

std::optional<KernelChoice> KernelChooser::ChooseSingle(const ir::Node& node) {
  const FusedNodes nodes{.main = &node};
  const kernels::Backend backend = draft_.options().backend;
  StepOperands operands = OperandsOf(nodes, draft_.backends());
  std::optional<kernels::PreparedKernel> prepared = Prepare(backend, nodes, operands);
  if (!prepared && ReadsStrides(node, operands)) {
    // The backend may have kernels without stride support that still beat the reference kernel.
    operands = OperandsOf(nodes, {});
    prepared = Prepare(backend, nodes, operands);
  }
  if (!prepared) {
    std::vector<kernels::RejectedImplementation> rejected = std::move(operands.rejected);
    operands = OperandsOf(nodes, kernels::Backend::kReference);
    prepared = Prepare(kernels::Backend::kReference, nodes, operands);
    operands.rejected = std::move(rejected);
  }
  if (!prepared) return std::nullopt;
  return KernelChoice{std::move(operands), std::move(*prepared)};
}

void KernelChooser::AddInputValues(const FusedNodes& nodes, llvm::ArrayRef<kernels::Backend> strided_by,
                                   StepOperands& operands) {
  const auto in_place_of_strides = [&](ValueId id) {
    return tensor::StridesOf(draft_.values()[id].layout) == nullptr ? id : draft_.InLayout(id, nullptr);
  };
  for (int32_t i = 0; i < nodes.main->num_inputs(); ++i) {
    const ValueId id = draft_.ValueOf(nodes.main->input(i));
    operands.input_values.push_back(
        AcceptsStrides(draft_.options(), *nodes.main, i, strided_by) ? id : in_place_of_strides(id));
  }
  ir::NodeId chained = nodes.main->id();
  for (const ir::Node* post : nodes.posts) {
    kernels::PostOperation operation{.node = post,
                                     .first_operand = static_cast<int>(operands.input_values.size())};
    for (int32_t i = 0; i < post->num_inputs(); ++i) {
      if (post->input(i).node == chained) {
        operation.chained_input = i;
      } else {
        operands.input_values.push_back(in_place_of_strides(draft_.ValueOf(post->input(i))));
      }
    }
    operands.posts.push_back(operation);
    chained = post->id();
  }
}

StepOperands KernelChooser::OperandsOf(const FusedNodes& nodes, llvm::ArrayRef<kernels::Backend> strided_by) {
  StepOperands operands;
  AddInputValues(nodes, strided_by, operands);
  PlanValues& values = draft_.values();
  // While this step is planned, its own reads do not keep its inputs alive.
  for (ValueId id : operands.input_values) values.CountRead(id);
  for (ValueId id : operands.input_values) {
    const PlanValue& value = values[id];
    int64_t uses = 0;
    for (ValueId other : operands.input_values) uses += values.Find(other).root == values.Find(id).root;
    operands.inputs.push_back({.type = value.type,
                               .shape = value.shape,
                               .layout = value.layout,
                               .constant = draft_.ConstantOf(id),
                               .overwritable = draft_.options().fuse && uses == 1 && values.IsDead(id) &&
                                               tensor::StridesOf(value.layout) == nullptr});
  }
  for (ValueId id : operands.input_values) values.ExpectReads(id, 1);
  for (const ir::Output& output : nodes.last().outputs()) {
    operands.outputs.push_back({.type = output.type, .shape = output.shape.extents().value_or(Shape())});
  }
  return operands;
}

std::optional<kernels::PreparedKernel> KernelChooser::Prepare(kernels::Backend backend,
                                                              const FusedNodes& nodes,
                                                              StepOperands& operands) const {
  const PlanOptions& options = draft_.options();
  const kernels::KernelFactory* factory =
      options.kernels->Find(backend, nodes.main->set(), nodes.main->type());
  if (factory == nullptr) return std::nullopt;
  kernels::KernelRequest request = {.node = nodes.main,
                                    .posts = operands.posts,
                                    .inputs = operands.inputs,
                                    .outputs = operands.outputs,
                                    .precision = options.precision,
                                    .has_f32_images = ir::ops::HasF32Images(*nodes.main),
                                    .as_codes = ir::ops::HasQuantizedResult(nodes.last()),
                                    .wanted_output = views_.WantedOutput(nodes.last()),
                                    .rejected = options.explains ? &operands.rejected : nullptr};
  const ir::FilterQuantization* filter = fusions_.FilterOf(nodes.main->id());
  if (filter == nullptr && !nodes.posts.empty()) filter = fusions_.FilterOf(nodes.posts.front()->id());
  if (filter != nullptr) {
    request.filter_scales = filter->scales;
    request.filter_magnitude = filter->max_magnitude;
  }
  const bool is_tuned = options.tuner != nullptr && backend == options.backend;
  return is_tuned ? options.tuner->Prepare(request) : (*factory)(request);
}

bool KernelChooser::ReadsStrides(const ir::Node& node, const StepOperands& operands) const {
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    if (tensor::StridesOf(operands.inputs[static_cast<size_t>(i)].layout) != nullptr &&
        AcceptsStrides(draft_.options(), node, i, draft_.options().backend))
      return true;
  }
  return false;
}

StepWork KernelChooser::WorkOf(const FusedNodes& nodes, const StepOperands& operands) const {
  StepWork sum;
  const auto add_bytes = [&](llvm::ArrayRef<kernels::ValueInfo> values) {
    for (const kernels::ValueInfo& value : values)
      sum.bytes += static_cast<double>(ByteSize(value.type, Volume(value.shape).value_or(0)).value_or(0));
  };
  add_bytes(operands.inputs);
  add_bytes(operands.outputs);
  AddOperations(*nodes.main, sum);
  for (const ir::Node* post : nodes.posts) AddOperations(*post, sum);
  return sum;
}

void KernelChooser::AddOperations(const ir::Node& node, StepWork& sum) const {
  const auto shape_of = [](const ir::Output& output) { return output.shape.extents().value_or(Shape()); };
  llvm::SmallVector<Shape, 4> inputs, outputs;
  for (ir::OutputPort port : node.inputs()) inputs.push_back(shape_of(draft_.graph().output(port)));
  for (const ir::Output& output : node.outputs()) outputs.push_back(shape_of(output));
  if (node.info().products != nullptr) {
    sum.operations += 2 * ProductsOf(node, inputs, outputs);
  } else if (node.info().work != ir::Work::kNone) {
    for (const Shape& output : outputs) sum.operations += static_cast<double>(Volume(output).value_or(0));
  }
}

bool KernelChooser::AddStep(const FusedNodes& nodes, const KernelChoice& choice) {
  const auto& [operands, prepared] = choice;
  Step step{.node = nodes.main,
            .name = nodes.last().name(),
            .operation = nodes.main->type(),
            .kernel = prepared.kernel,
            .implementation = prepared.implementation,
            .rejected = operands.rejected};
  for (const ir::Node* post : nodes.posts) step.operation += "+" + post->type();
  step.work = WorkOf(nodes, operands);
  const std::optional<bool> overwrites = AddInputs(nodes, choice, step);
  if (!overwrites) return false;
  // Reads of the chain are counted node by node; its inner values are not in the plan.
  draft_.CountReads(*nodes.main);
  ir::NodeId chained = nodes.main->id();
  for (const ir::Node* post : nodes.posts) {
    for (ir::OutputPort port : post->inputs()) {
      if (port.node != chained) draft_.values().CountRead(draft_.ValueOf(port));
    }
    chained = post->id();
  }
  for (size_t i = 0; i < operands.outputs.size(); ++i) {
    const ValueId id =
        draft_.AddArenaValue(operands.outputs[i].type, operands.outputs[i].shape, prepared.outputs[i]);
    if (id < 0) return draft_.Fail(kRuntimeMemory, *nodes.main, "its result does not fit into memory");
    if (i == 0 && prepared.in_place >= 0 && *overwrites)
      Overwrite(step.inputs[static_cast<size_t>(prepared.in_place)], id, prepared.in_place_required);
    step.outputs.push_back(id);
    draft_.SetValue(nodes.last().port(static_cast<int32_t>(i)), id);
  }
  if (prepared.scratch_bytes > 0)
    step.scratch = draft_.values().Add({.type = ElementType::kU8, .bytes = prepared.scratch_bytes});
  draft_.AddStep(std::move(step));
  return true;
}

std::optional<bool> KernelChooser::AddInputs(const FusedNodes& nodes, const KernelChoice& choice,
                                             Step& step) {
  const auto& [operands, prepared] = choice;
  bool overwrites = prepared.in_place_required;
  for (size_t i = 0; i < operands.input_values.size(); ++i) {
    const bool is_in_place = static_cast<int>(i) == prepared.in_place;
    const ValueId original = operands.input_values[i];
    const bool own = prepared.in_place_required && is_in_place;
    const ValueId id = draft_.InLayout(original, prepared.inputs[i], own);
    if (id < 0) {
      draft_.Fail(kRuntimeMemory, *nodes.main, "its inputs cannot be laid out for its kernel");
      return std::nullopt;
    }
    step.inputs.push_back(id);
    if (is_in_place && id == original) overwrites |= operands.inputs[i].overwritable;
  }
  return overwrites;
}

void KernelChooser::Overwrite(ValueId input, ValueId result, bool is_required) {
  PlanValues& values = draft_.values();
  // Quantized values of another type have the same order, as required by kernels that accumulate in place.
  const bool is_same_order = is_required || tensor::SameLayout(values[input].layout, values[result].layout);
  const bool fits = values[input].bytes == values[result].bytes && is_same_order;
  NNEFC_CHECK(fits || !is_required);
  if (fits) values.Join(result, input, 0);
}

}  // namespace nnefc::runtime::engine::plan

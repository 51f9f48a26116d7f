// Slices of a loop's inputs, and the concatenation of its outputs.

#include "runtime/engine/run/loop_outputs.h"

#include <algorithm>
#include <cstring>

#include "compiler/ir/ops/opset/control_flow/iterations.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::engine::run {

using kernels::FaultOr;
using tensor::MutableTensorView;
using tensor::TensorView;

namespace {

// Returns true if parts along `axis` are contiguous in the whole.
bool IsOutermost(const Shape& shape, int64_t axis) {
  return std::all_of(shape.begin(), shape.begin() + axis, [](int64_t extent) { return extent == 1; });
}

const std::byte* PartBytes(const TensorView& whole, int64_t axis, int64_t offset) {
  const int64_t elements = offset * whole.strides()[static_cast<size_t>(axis)];
  return whole.bytes() + static_cast<size_t>(elements) * whole.element_bytes();
}

// Returns the shape of `count` concatenated parts. Scalars form a list.
Shape WholeShape(const Shape& part, int64_t axis, int64_t part_size, int64_t count) {
  if (part.empty()) return {count};
  Shape shape = part;
  shape[static_cast<size_t>(axis)] = count * part_size;
  return shape;
}

std::optional<size_t> BytesOf(ElementType type, const Shape& shape) {
  const std::optional<int64_t> volume = Volume(shape);
  return volume ? tensor::ViewBytes(type, *volume) : std::nullopt;
}

}  // namespace

FaultOr<HeldBytes> SliceOf(const TensorView& input, const ir::InputMapping& mapping, const Shape& shape,
                           int64_t iteration, BufferPool& pool) {
  const int64_t axis = *mapping.axis;
  const int64_t offset = ir::ops::opset::PartOffset(
      {mapping.start, mapping.end, mapping.stride, mapping.part_size}, input.extent(axis), iteration);
  const std::byte* bytes = PartBytes(input, axis, offset);
  if (IsOutermost(input.shape(), axis)) return HeldBytes{bytes, nullptr};
  const TensorView slice(input.type(), shape, input.strides(), bytes);
  const std::shared_ptr<Buffer> buffer = pool.Take(slice.byte_size());
  if (buffer == nullptr) return BeyondBudget();
  tensor::CopyElements(slice, MutableTensorView(input.type(), shape, buffer->mutable_data()));
  return HeldBytes{buffer->data(), buffer};
}

LoopOutputs::LoopOutputs(const plan::Step& step, Frame& outer, std::optional<int64_t> count)
    : step_(step), outer_(outer), count_(count), gathered_(outer.memory().Reserve()) {
  for (const ir::OutputMapping& mapping : step.node->bodies()[0].outputs) {
    if (mapping.external < 0 || !mapping.axis) continue;
    wholes_.push_back({.mapping = &mapping, .output = step.outputs[static_cast<size_t>(mapping.external)]});
  }
}

LoopOutputs::Whole& LoopOutputs::WholeOf(const ir::OutputMapping& mapping) {
  const auto found = std::find_if(wholes_.begin(), wholes_.end(),
                                  [&](const Whole& whole) { return whole.mapping == &mapping; });
  NNEFC_CHECK(found != wholes_.end());
  return *found;
}

kernels::Fault LoopOutputs::TooLarge() {
  return kernels::FaultOf(kernels::kRuntimeMemory,
                          "its outputs take more memory than is allowed; `--max-memory` raises the limit");
}

FaultOr<Success> LoopOutputs::CheckPart(const Whole& whole, ElementType type, const Shape& part) const {
  const ir::OutputMapping& mapping = *whole.mapping;
  const auto rank = static_cast<int64_t>(part.size());
  const bool fits = rank == 0 ? *mapping.axis == 0 && mapping.part_size == 1
                              : *mapping.axis >= 0 && *mapping.axis < rank &&
                                    part[static_cast<size_t>(*mapping.axis)] == mapping.part_size;
  if (!fits) {
    return kernels::KernelFault("output {} concatenates parts of {} along axis {}; the body gives {}",
                                mapping.external, mapping.part_size, *mapping.axis, ToString(part));
  }
  if (whole.open && (type != whole.type || part != whole.part)) {
    return kernels::KernelFault("output {} is {}{}; it was {}{} before", mapping.external, Name(type),
                                ToString(part), Name(whole.type), ToString(whole.part));
  }
  return Success();
}

FaultOr<Success> LoopOutputs::Open(Whole& whole, ElementType type, const Shape& part) {
  if (FaultOr<Success> checked = CheckPart(whole, type, part); !checked) return checked.error();
  whole.open = true;
  whole.type = type;
  whole.part = part;
  if (!outer_.IsHeap(whole.output)) {
    whole.known = true;
    whole.view = outer_.view(whole.output);
    const ir::OutputMapping& mapping = *whole.mapping;
    Shape expected = whole.view.shape();
    if (!part.empty() && expected.size() == part.size())
      expected[static_cast<size_t>(*mapping.axis)] = mapping.part_size;
    if (whole.view.type() == type && (part.empty() ? expected.size() == 1 : expected == part))
      return Success();
    return kernels::KernelFault("output {} gets parts of {}{}; expected parts of {}{}", mapping.external,
                                Name(type), ToString(part), Name(whole.view.type()), ToString(expected));
  }
  if (!count_) return Success();
  whole.known = true;
  const std::optional<size_t> part_bytes = BytesOf(type, part);
  if (part_bytes && *part_bytes > 0 && static_cast<size_t>(*count_) > outer_.memory().left() / *part_bytes)
    return TooLarge();
  const Shape shape = WholeShape(part, *whole.mapping->axis, whole.mapping->part_size, *count_);
  const std::optional<size_t> bytes = BytesOf(type, shape);
  whole.buffer = bytes ? outer_.memory().Allocate(*bytes) : nullptr;
  if (whole.buffer == nullptr) return TooLarge();
  whole.view = MutableTensorView(type, shape, whole.buffer->mutable_data());
  return Success();
}

FaultOr<MutableTensorView> LoopOutputs::PlaceOf(const Whole& whole, const MutableTensorView& view,
                                                int64_t iteration, int64_t iterations) const {
  const ir::OutputMapping& mapping = *whole.mapping;
  const int64_t place = mapping.stride < 0 ? iterations - 1 - iteration : iteration;
  const int64_t offset = place * mapping.part_size;
  if (offset < 0 || offset + mapping.part_size > view.extent(*mapping.axis))
    return kernels::KernelFault("output {} has the shape {} and no room for iteration {}", mapping.external,
                                ToString(view.shape()), iteration);
  auto* bytes = const_cast<std::byte*>(PartBytes(view, *mapping.axis, offset));
  const Shape shape = whole.part.empty() ? Shape{1} : whole.part;
  return MutableTensorView(whole.type, shape, view.strides(), bytes);
}

FaultOr<Success> LoopOutputs::Place(const plan::Plan& plan, int64_t iteration,
                                    std::vector<HeldBytes>& places) {
  for (Whole& whole : wholes_) {
    const auto result = static_cast<size_t>(whole.mapping->internal);
    const plan::PlanValue& value = plan.values[static_cast<size_t>(plan.results[result].value)];
    if (value.storage == plan::PlanValue::Storage::kHeap) continue;
    FaultOr<Success> fits =
        whole.open ? CheckPart(whole, value.type, value.shape) : Open(whole, value.type, value.shape);
    if (!fits) return fits.error();
    if (!whole.known || !IsOutermost(whole.view.shape(), *whole.mapping->axis)) continue;
    const int32_t output = WholeOutput(plan, result, value.bytes);
    if (output < 0 || places[static_cast<size_t>(output)].bytes != nullptr) continue;
    const FaultOr<MutableTensorView> place = PlaceOf(whole, whole.view, iteration, *count_);
    if (!place) return place.error();
    places[static_cast<size_t>(output)] = {place->bytes(), whole.buffer};
  }
  return Success();
}

FaultOr<Success> LoopOutputs::Add(const ir::OutputMapping& mapping, const TensorView& part,
                                  int64_t iteration) {
  Whole& whole = WholeOf(mapping);
  FaultOr<Success> fits =
      whole.open ? CheckPart(whole, part.type(), part.shape()) : Open(whole, part.type(), part.shape());
  if (!fits) return fits.error();
  if (!whole.known) return Gather(whole, part);
  const FaultOr<MutableTensorView> place = PlaceOf(whole, whole.view, iteration, *count_);
  if (!place) return place.error();
  if (place->bytes() == part.bytes()) return Success();
  tensor::CopyElements(TensorView(part.type(), place->shape(), part.bytes()), *place);
  return Success();
}

FaultOr<Success> LoopOutputs::Gather(Whole& whole, const TensorView& part) {
  if (!gathered_.Grow(part.byte_size())) return TooLarge();
  whole.gathered.insert(whole.gathered.end(), part.bytes(), part.bytes() + part.byte_size());
  return Success();
}

FaultOr<Success> LoopOutputs::PutTogether(Whole& whole, int64_t iterations) {
  const ir::OutputMapping& mapping = *whole.mapping;
  const Shape shape = WholeShape(whole.part, *mapping.axis, mapping.part_size, iterations);
  const std::optional<size_t> bytes = BytesOf(whole.type, shape);
  whole.buffer = bytes ? outer_.memory().Allocate(*bytes) : nullptr;
  if (whole.buffer == nullptr) return TooLarge();
  whole.view = MutableTensorView(whole.type, shape, whole.buffer->mutable_data());
  for (int64_t k = 0; k < iterations; ++k) {
    const FaultOr<MutableTensorView> place = PlaceOf(whole, whole.view, k, iterations);
    if (!place) return place.error();
    const std::byte* part = whole.gathered.data() + static_cast<size_t>(k) * place->byte_size();
    tensor::CopyElements(TensorView(whole.type, place->shape(), part), *place);
  }
  return Success();
}

// Creates an output with extent 0 along its axis for a loop without iterations. Extents that only the body
// knows come from inference, or are 0.
FaultOr<Success> LoopOutputs::OpenEmpty(Whole& whole) const {
  const ir::Output& output = step_.node->output(whole.mapping->external);
  Shape shape = {0};
  if (output.shape.rank_known()) {
    shape.clear();
    for (int64_t i = 0; i < output.shape.rank(); ++i)
      shape.push_back(output.shape[i].known() ? output.shape[i].value() : 0);
    if (*whole.mapping->axis < static_cast<int64_t>(shape.size()))
      shape[static_cast<size_t>(*whole.mapping->axis)] = 0;
  }
  if (output.type == ElementType::kDynamic) return kernels::KernelFault("the type of an output is not known");
  whole.buffer = Buffer::Allocate(0);
  if (whole.buffer == nullptr) return kernels::OutOfMemory();
  whole.view = MutableTensorView(output.type, shape, whole.buffer->mutable_data());
  return Success();
}

FaultOr<Success> LoopOutputs::Deliver(const ir::OutputMapping& mapping, int64_t iterations) {
  Whole& whole = WholeOf(mapping);
  FaultOr<Success> made = Success();
  if (iterations == 0) {
    made = OpenEmpty(whole);
  } else if (!whole.known) {
    made = PutTogether(whole, iterations);
  }
  if (!made) return made.error();
  return run::Deliver(outer_, whole.output, whole.view, {whole.view.bytes(), whole.buffer});
}

}  // namespace nnefc::runtime::engine::run

// Slice, StridedSlice and SliceScatter: views with an offset and a stride per axis.

#include <algorithm>
#include <cstring>

#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

using tensor::ElementsView;

namespace {

// Returns the start position of a slice. A negative start counts from the end. Positions outside are clamped
// to the nearest one from which `step` enters the tensor.
int64_t FirstPosition(int64_t start, int64_t step, int64_t extent) {
  if (start < 0) start += extent;
  return step > 0 ? std::clamp<int64_t>(start, 0, extent) : std::clamp<int64_t>(start, -1, extent - 1);
}

// Returns stride * step, or the stride alone for a single element, because its step may be as large as int64
// allows.
int64_t Stepped(int64_t stride, int64_t step, int64_t extent) {
  return extent > 1 ? stride * step : stride;
}

// Returns the slice for start, stop, step and optional axes, in the inputs starting at `first`.
FaultOr<ElementsView> SliceOf(const ElementsView& input, llvm::ArrayRef<const tensor::TensorView*> inputs,
                              size_t first, const Shape& shape) {
  const auto rank = static_cast<int64_t>(input.shape.size());
  const llvm::SmallVector<int64_t, 8> starts = tensor::ElementsAsInts(*inputs[first]);
  const llvm::SmallVector<int64_t, 8> steps = tensor::ElementsAsInts(*inputs[first + 2]);
  llvm::SmallVector<int64_t, 8> axes;
  if (inputs.size() > first + 3) {
    axes = tensor::ElementsAsInts(*inputs[first + 3]);
  } else {
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.size() != starts.size() || steps.size() != starts.size()) {
    return KernelFault("`start`, `step` and `axes` have {}, {} and {} items", starts.size(), steps.size(),
                       axes.size());
  }
  ElementsView view{.shape = shape, .strides = input.strides, .offset = input.offset};
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(NormalAxis(axes[i], rank));
    view.offset += FirstPosition(starts[i], steps[i], input.shape[axis]) * input.strides[axis];
    view.strides[axis] = Stepped(input.strides[axis], steps[i], view.shape[axis]);
  }
  return view;
}

// Slice-8 (data, start, stop, step, axes).
FaultOr<ElementsView> Slice(const ViewRequest& run) {
  return SliceOf(run.source, run.inputs, 1, run.outputs[0]);
}

// SliceScatter-15 (data, updates, start, stop, step, axes): replaces a slice of the data by the updates.
FaultOr<Success> SliceScatter(const ReferenceRun& run) {
  const tensor::MutableTensorView& output = run.output();
  std::memcpy(output.mutable_bytes(), run.input(0).bytes(), run.input(0).byte_size());
  const tensor::TensorView& updates = run.input(1);
  if (updates.volume() == 0) return Success();
  const ElementsView whole{.shape = output.shape(), .strides = output.strides()};
  const FaultOr<ElementsView> slice = SliceOf(whole, run.run.inputs, 2, updates.shape());
  if (!slice) return slice.error();
  const int64_t offset = slice->offset * static_cast<int64_t>(output.element_bytes());
  tensor::CopyElements(updates, tensor::MutableTensorView(output.type(), slice->shape, slice->strides,
                                                          output.mutable_bytes() + offset));
  return Success();
}

// Returns bit `i` of a mask, or false past its end.
bool MaskBit(const std::vector<int64_t>& mask, size_t i) {
  return i < mask.size() && mask[i] != 0;
}

// StridedSlice-1 (data, begin, end, strides): items of begin correspond to axes. Masks make an item cover
// several axes (ellipsis), insert an axis (new axis) or remove one (shrink).
FaultOr<ElementsView> StridedSlice(const ViewRequest& run) {
  const ElementsView& input = run.source;
  const llvm::SmallVector<int64_t, 8> begin = tensor::ElementsAsInts(run.input(1));
  llvm::SmallVector<int64_t, 8> steps(begin.size(), 1);
  if (run.inputs.size() > 3) steps = tensor::ElementsAsInts(run.input(3));
  if (steps.size() != begin.size())
    return KernelFault("`strides` has {} items; `begin` has {}", steps.size(), begin.size());
  const auto mask = [&](std::string_view name) { return run.node.Ints(name); };
  const std::vector<int64_t> begin_mask = mask("begin_mask"), new_axis = mask("new_axis_mask"),
                             shrink = mask("shrink_axis_mask"), ellipsis = mask("ellipsis_mask");

  size_t real_items = 0;  // items that consume an axis of the input
  for (size_t i = 0; i < begin.size(); ++i) real_items += !MaskBit(ellipsis, i) && !MaskBit(new_axis, i);
  const size_t rank = input.shape.size();
  if (real_items > rank) return KernelFault("`begin` has {} items for {} axes", real_items, rank);

  tensor::Strides strides;
  int64_t offset = input.offset;
  size_t axis = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (MaskBit(ellipsis, i)) {
      for (size_t end = axis + rank - real_items; axis < end && axis < rank; ++axis)
        strides.push_back(input.strides[axis]);
      continue;
    }
    if (MaskBit(new_axis, i)) {
      strides.push_back(0);
      continue;
    }
    if (axis >= rank) return KernelFault("`begin` has more items than there are axes");
    const int64_t extent = input.shape[axis];
    const int64_t stride = input.strides[axis++];
    if (MaskBit(shrink, i)) {
      const int64_t at = begin[i] < 0 ? begin[i] + extent : begin[i];
      if (at < 0 || at >= extent)
        return KernelFault("`begin` has {} for an axis of extent {}", begin[i], extent);
      offset += at * stride;
      continue;
    }
    const int64_t whole = steps[i] > 0 ? 0 : extent - 1;
    offset += (MaskBit(begin_mask, i) ? whole : FirstPosition(begin[i], steps[i], extent)) * stride;
    const size_t made = strides.size();
    if (made == run.outputs[0].size()) return KernelFault("the masks do not fit the result's rank");
    strides.push_back(Stepped(stride, steps[i], run.outputs[0][made]));
  }
  for (; axis < rank; ++axis) strides.push_back(input.strides[axis]);
  if (strides.size() != run.outputs[0].size()) return KernelFault("the masks do not fit the result's rank");
  return ElementsView{.shape = run.outputs[0], .strides = strides, .offset = offset};
}

}  // namespace

void RegisterSlice(KernelRegistry& registry) {
  registry.AddCopiedView<Slice>({"opset8"}, "Slice");
  registry.AddCopiedView<StridedSlice>({"opset1"}, "StridedSlice");
  registry.AddReference({"opset15"}, "SliceScatter", SliceScatter);
}

}  // namespace nnefc::runtime::kernels

// Gather, GatherElements and ScatterElementsUpdate.

#include <cstring>
#include <utility>

#include "compiler/support/tensor/element_visitor.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"

namespace nnefc::runtime::kernels {

using tensor::TensorView;

namespace {

// `count` of `extent` elements are gathered from each line; a batch has `outer` lines.
struct GatheredLines {
  int64_t lines, outer, count, extent;
};

// out[line, i] = data[line, indices[batch, i]], for elements without inner axes.
template <typename T>
FaultOr<Success> GatherElementsOfLines(const ReferenceRun& run, const GatheredLines& of,
                                       const std::vector<int64_t>& positions) {
  tensor::ParallelFor(of.lines, of.count, [&](int64_t line) {
    const int64_t* position = positions.data() + line / of.outer * of.count;
    const T* data = run.input(0).data<T>() + line * of.extent;
    T* out = run.output().mutable_data<T>() + line * of.count;
    for (int64_t i = 0; i < of.count; ++i) out[i] = data[position[i]];
  });
  return Success();
}

// out[batch, outer, i, inner] = data[batch, outer, indices[batch, i], inner]
FaultOr<Success> Gather(const ReferenceRun& run) {
  const TensorView& data = run.input(0);
  const TensorView& indices = run.input(1);
  const size_t axis = static_cast<size_t>(NormalAxis(tensor::ElementsAsInts(run.input(2))[0], data.rank()));
  const size_t batch_dims = static_cast<size_t>(NormalAxis(run.node.Int("batch_dims"), indices.rank()));
  const llvm::ArrayRef<int64_t> shape = data.shape();
  const int64_t extent = shape[axis];
  const int64_t batches = VolumeOf(shape.take_front(batch_dims));
  const int64_t outer = VolumeOf(shape.slice(batch_dims, axis - batch_dims));
  const int64_t inner_bytes =
      VolumeOf(shape.drop_front(axis + 1)) * static_cast<int64_t>(data.element_bytes());
  FaultOr<std::vector<int64_t>> positions = Positions(indices, extent);
  if (!positions) return positions.error();
  const int64_t count = batches == 0 ? 0 : indices.volume() / batches;
  const GatheredLines lines{batches * outer, outer, count, extent};
  if (inner_bytes == 4) return GatherElementsOfLines<uint32_t>(run, lines, *positions);
  if (inner_bytes == 8) return GatherElementsOfLines<uint64_t>(run, lines, *positions);
  tensor::ParallelFor(batches * outer * count, inner_bytes, [&](int64_t row) {
    const int64_t i = row % count;
    const int64_t line = row / count;  // batch * outer
    const int64_t position = (*positions)[static_cast<size_t>(line / outer * count + i)];
    std::memcpy(run.output().mutable_bytes() + row * inner_bytes,
                data.bytes() + (line * extent + position) * inner_bytes, static_cast<size_t>(inner_bytes));
  });
  return Success();
}

// Returns the view selected by a single index.
FaultOr<tensor::ElementsView> GatherOne(const ViewRequest& run) {
  const TensorView& indices = run.input(1);
  const auto rank = static_cast<int64_t>(run.source.shape.size());
  const int64_t axis = NormalAxis(tensor::ElementsAsInts(run.input(2))[0], rank);
  if (indices.volume() != 1 || NormalAxis(run.node.Int("batch_dims"), indices.rank()) != 0)
    return KernelFault("several indices");
  const FaultOr<std::vector<int64_t>> position =
      Positions(indices, run.source.shape[static_cast<size_t>(axis)]);
  if (!position) return position.error();
  tensor::ElementsView view = run.source;
  view.offset += position->front() * view.strides[static_cast<size_t>(axis)];
  view.shape.erase(view.shape.begin() + axis);
  view.strides.erase(view.strides.begin() + axis);
  view.shape.insert(view.shape.begin() + axis, static_cast<size_t>(indices.rank()), 1);
  view.strides.insert(view.strides.begin() + axis, static_cast<size_t>(indices.rank()), 1);
  return view;
}

// Returns the offset of each element of `indices`, in row-major order, in a tensor with these strides. Along
// `axis` it is that of the element's position.
std::vector<int64_t> ElementOffsets(const TensorView& indices, std::vector<int64_t> positions,
                                    llvm::ArrayRef<int64_t> strides, size_t axis) {
  const llvm::ArrayRef<int64_t> shape = indices.shape();
  std::vector<int64_t> offsets = std::move(positions);
  if (offsets.empty()) return offsets;
  // Lines of elements with adjacent offsets, of the axes after `axis`, or elements of the axis itself.
  const int64_t of_axis = strides[axis];
  size_t last = shape.size() - 1;
  int64_t inner = shape[last];
  const int64_t of_inner = last == axis ? 0 : strides[last];
  for (; last > axis + 1 && strides[last - 1] == inner; --last) inner *= shape[last - 1];
  Shape index(shape.size(), 0);
  int64_t begin = 0;  // of a line, and its first element
  for (size_t i = 0; i < offsets.size(); i += static_cast<size_t>(inner)) {
    for (int64_t k = 0; k < inner; ++k) {
      int64_t& offset = offsets[i + static_cast<size_t>(k)];
      offset = begin + k * of_inner + offset * of_axis;
    }
    for (size_t outer = last; outer-- > 0;) {
      const int64_t stride = outer == axis ? 0 : strides[outer];
      begin += stride;
      if (++index[outer] < shape[outer]) break;
      begin -= stride * shape[outer];
      index[outer] = 0;
    }
  }
  return offsets;
}

// out[.., i, ..] = data[.., indices[.., i, ..], ..], for elements of the size of T.
template <typename T, typename Index>
void GatherElementsOf(const ReferenceRun& run, size_t axis) {
  const TensorView& data = run.input(0);
  const TensorView& indices = run.input(1);
  const llvm::ArrayRef<int64_t> shape = indices.shape();
  const int64_t count = shape[axis], inner = VolumeOf(shape.drop_front(axis + 1)),
                extent = data.shape()[axis];
  tensor::ParallelFor(VolumeOf(shape.take_front(axis)), count * inner, [&](int64_t outer) {
    const T* from = data.data<T>() + outer * extent * inner;
    const Index* index = indices.data<Index>() + outer * count * inner;
    T* out = run.output().mutable_data<T>() + outer * count * inner;
    if (inner == 1) {
      for (int64_t i = 0; i < count; ++i) out[i] = from[PositionOf(index[i], extent)];
      return;
    }
    for (int64_t i = 0; i < count; ++i, index += inner, out += inner) {
      for (int64_t k = 0; k < inner; ++k) out[k] = from[PositionOf(index[k], extent) * inner + k];
    }
  });
}

FaultOr<Success> GatherElements(const ReferenceRun& run) {
  const TensorView& data = run.input(0);
  const TensorView& indices = run.input(1);
  const size_t axis = static_cast<size_t>(NormalAxis(run.node.Int("axis"), data.rank()));
  if (const FaultOr<Success> checked = CheckIndices(indices, data.shape()[axis]); !checked)
    return checked.error();
  VisitIntegerType(indices.type(), [&]<typename Index>(TypeTag<Index>) {
    switch (data.element_bytes()) {
      case 1:
        return GatherElementsOf<uint8_t, Index>(run, axis);
      case 2:
        return GatherElementsOf<uint16_t, Index>(run, axis);
      case 4:
        return GatherElementsOf<uint32_t, Index>(run, axis);
      default:
        return GatherElementsOf<uint64_t, Index>(run, axis);
    }
  });
  return Success();
}

enum class Combine : uint8_t { kReplace, kSum, kProduct, kMin, kMax, kMean };

Combine ParseCombine(const std::string& reduction) {
  if (reduction == "sum") return Combine::kSum;
  if (reduction == "prod") return Combine::kProduct;
  if (reduction == "min") return Combine::kMin;
  if (reduction == "max") return Combine::kMax;
  if (reduction == "mean") return Combine::kMean;
  return Combine::kReplace;
}

template <typename C>
C Combined(Combine combine, C a, C b) {
  switch (combine) {
    case Combine::kReplace:
      return b;
    case Combine::kSum:
    case Combine::kMean:
      return static_cast<C>(a + b);
    case Combine::kProduct:
      return static_cast<C>(a * b);
    case Combine::kMin:
      return b < a ? b : a;
    case Combine::kMax:
      return a < b ? b : a;
  }
  return b;
}

// out = data; then out[.., indices[.., i, ..], ..] is combined with updates[.., i, ..] sequentially, since
// indices may repeat.
template <typename T>
void ScatterAs(const ReferenceRun& run, std::vector<int64_t> positions, size_t axis) {
  using C = ComputeType<T>;
  const TensorView& indices = run.input(1);
  const tensor::MutableTensorView& output = run.output();
  const Combine combine = ParseCombine(run.node.String("reduction"));
  const bool use_initial = run.node.Bool("use_init_val") || combine == Combine::kReplace;
  T* out = output.mutable_data<T>();
  std::vector<int64_t> counts;  // number of values in the mean of each element
  if (combine == Combine::kMean || !use_initial)
    counts.assign(static_cast<size_t>(output.volume()), use_initial ? 1 : 0);
  const std::vector<int64_t> offsets = ElementOffsets(indices, std::move(positions), output.strides(), axis);
  const T* updates = run.input(2).data<T>();
  const auto combine_all = [&](const auto& combined) {
    for (size_t i = 0; i < offsets.size(); ++i) {
      const int64_t at = offsets[i];
      out[at] = T(combined(static_cast<C>(out[at]), static_cast<C>(updates[i])));
    }
  };
  // The most frequent ones, without a choice for each element.
  if (counts.empty() && combine == Combine::kReplace) return combine_all([](C, C update) { return update; });
  if (counts.empty() && combine == Combine::kSum)
    return combine_all([](C sum, C update) { return static_cast<C>(sum + update); });
  for (size_t i = 0; i < offsets.size(); ++i) {
    const int64_t at = offsets[i];
    const C update = static_cast<C>(updates[i]);
    const bool first = !use_initial && counts[static_cast<size_t>(at)] == 0;
    out[at] = T(first ? update : Combined(combine, static_cast<C>(out[at]), update));
    if (!counts.empty()) ++counts[static_cast<size_t>(at)];
  }
  if (combine != Combine::kMean) return;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 1) out[i] = T(static_cast<C>(static_cast<C>(out[i]) / static_cast<C>(counts[i])));
  }
}

FaultOr<Success> ScatterElementsUpdate(const ReferenceRun& run) {
  const TensorView& data = run.input(0);
  const FaultOr<size_t> given = AxisOf(run.input(3), data.rank());
  if (!given) return given.error();
  const size_t axis = *given;
  const TensorView& indices = run.input(1);
  for (size_t i = 0; i < indices.shape().size(); ++i) {
    const bool fits = indices.rank() == data.rank() && (i == axis || indices.shape()[i] <= data.shape()[i]);
    if (!fits)
      return KernelFault("indices of shape {} reach beyond {}", ToString(indices.shape()),
                         ToString(data.shape()));
  }
  FaultOr<std::vector<int64_t>> positions = Positions(indices, data.shape()[axis]);
  if (!positions) return positions.error();
  if (data.bytes() != run.output().bytes())
    std::memcpy(run.output().mutable_bytes(), data.bytes(), data.byte_size());
  const bool known = VisitNumericType(
      data.type(), [&]<typename T>(TypeTag<T>) { ScatterAs<T>(run, std::move(*positions), axis); });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterGather(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset7", "opset8"}, "Gather", Gather);
  registry.AddView({"opset1", "opset7", "opset8"}, "Gather", GatherOne);
  registry.AddReference({"opset6"}, "GatherElements", GatherElements);
  registry.AddReference({"opset3", "opset12"}, "ScatterElementsUpdate", ScatterElementsUpdate);
}

}  // namespace nnefc::runtime::kernels

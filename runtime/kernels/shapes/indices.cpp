// Axes and indices in input tensors, with range checks.

#include "runtime/kernels/shapes/indices.h"

#include <algorithm>

#include "compiler/support/tensor/element_visitor.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/wide.h"

namespace nnefc::runtime::kernels {

int64_t VolumeOf(llvm::ArrayRef<int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents) product *= extent;
  return product;
}

FaultOr<std::vector<int64_t>> IndexElements(const tensor::TensorView& indices) {
  std::vector<int64_t> elements(static_cast<size_t>(indices.volume()));
  const bool known = VisitIntegerType(indices.type(), [&]<typename T>(TypeTag<T>) {
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int64_t>(indices.data<T>()[i]);
  });
  if (!known) return KernelFault("indices have the element type {}", Name(indices.type()));
  return elements;
}

FaultOr<Success> CheckIndices(const tensor::TensorView& indices, int64_t extent) {
  bool has_outside = false;
  const bool known = VisitIntegerType(indices.type(), [&]<typename T>(TypeTag<T>) {
    // One loop without branches, for vectors.
    tensor::Wide([&, given = indices.data<T>(), count = indices.volume()] {
      uint64_t outside = 0;
      const auto begin = static_cast<uint64_t>(extent), range = 2 * begin;
      for (int64_t i = 0; i < count; ++i)
        outside |=
            static_cast<uint64_t>(static_cast<uint64_t>(static_cast<int64_t>(given[i])) + begin >= range);
      has_outside = outside != 0;
    });
  });
  if (known && !has_outside) return Success();
  const FaultOr<std::vector<int64_t>> elements = IndexElements(indices);
  if (!elements) return elements.error();
  const auto outside = std::find_if(elements->begin(), elements->end(), [=](int64_t position) {
    return position < -extent || position >= extent;
  });
  return KernelFault("index {} is outside an axis of extent {}", *outside, extent);
}

FaultOr<std::vector<int64_t>> Positions(const tensor::TensorView& indices, int64_t extent) {
  if (const FaultOr<Success> checked = CheckIndices(indices, extent); !checked) return checked.error();
  std::vector<int64_t> positions(static_cast<size_t>(indices.volume()));
  VisitIntegerType(indices.type(), [&]<typename T>(TypeTag<T>) {
    tensor::Wide([given = indices.data<T>(), out = positions.data(), count = positions.size(), extent] {
      for (size_t i = 0; i < count; ++i) out[i] = PositionOf(given[i], extent);
    });
  });
  return positions;
}

FaultOr<llvm::SmallVector<int64_t, 8>> AxesOf(const tensor::TensorView& axes, int64_t rank) {
  llvm::SmallVector<int64_t, 8> list = tensor::ElementsAsInts(axes);
  for (int64_t& axis : list) {
    if (axis < -rank || axis >= rank) return KernelFault("axis {} of a tensor of rank {}", axis, rank);
    axis = NormalAxis(axis, rank);
  }
  return list;
}

FaultOr<size_t> AxisOf(const tensor::TensorView& axis, int64_t rank) {
  if (axis.volume() != 1) return KernelFault("{} axes; expected 1", axis.volume());
  const FaultOr<llvm::SmallVector<int64_t, 8>> list = AxesOf(axis, rank);
  if (!list) return list.error();
  return static_cast<size_t>((*list)[0]);
}

}  // namespace nnefc::runtime::kernels

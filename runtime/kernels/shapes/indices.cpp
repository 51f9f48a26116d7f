// Axes and indices in input tensors, with range checks.

#include "runtime/kernels/shapes/indices.h"

#include "compiler/support/tensor/element_visitor.h"
#include "runtime/kernels/attributes.h"

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

FaultOr<std::vector<int64_t>> Positions(const tensor::TensorView& indices, int64_t extent) {
  FaultOr<std::vector<int64_t>> positions = IndexElements(indices);
  if (!positions) return positions;
  for (int64_t& position : *positions) {
    if (position < -extent || position >= extent) {
      return KernelFault("index {} is outside an axis of extent {}", position, extent);
    }
    position = NormalAxis(position, extent);
  }
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

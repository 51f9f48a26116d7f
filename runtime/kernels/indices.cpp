#include "runtime/kernels/indices.h"

#include "runtime/kernels/attributes.h"
#include "runtime/tensor/element_visitor.h"

namespace nnefc::runtime {

ErrorOr<std::vector<int64_t>> IndexElements(const TensorView& indices) {
  std::vector<int64_t> elements(static_cast<size_t>(indices.volume()));
  const bool known = VisitIntegerType(indices.type(), [&]<typename T>(TypeTag<T>) {
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int64_t>(indices.data<T>()[i]);
  });
  if (!known) return KernelError("indices have the element type {}", Name(indices.type()));
  return elements;
}

ErrorOr<std::vector<int64_t>> Positions(const TensorView& indices, int64_t extent) {
  ErrorOr<std::vector<int64_t>> positions = IndexElements(indices);
  if (!positions) return positions;
  for (int64_t& position : *positions) {
    if (position < -extent || position >= extent) {
      return KernelError("index {} is outside an axis of extent {}", position, extent);
    }
    position = NormalAxis(position, extent);
  }
  return positions;
}

}  // namespace nnefc::runtime

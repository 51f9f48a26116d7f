#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compiler/support/tensor/element_type.h"
#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::runtime {

// Distances between neighbours along each axis, in elements; may be 0
// (broadcast) or negative (reversed).
using Strides = llvm::SmallVector<int64_t, 4>;

// The strides of a dense row-major tensor.
Strides DenseStrides(llvm::ArrayRef<int64_t> shape);

// Elements of a tensor, seen as another with other extents and strides: its first one is `offset` elements
// behind that of the tensor.
struct ElementsView {
  Shape shape;
  Strides strides;
  int64_t offset = 0;
};

// True if the elements lie behind one another, in row-major order.
bool IsDense(const ElementsView& view);

// The same elements in the same order with other extents; nothing where they have no such strides.
std::optional<ElementsView> Reshaped(const ElementsView& view, llvm::ArrayRef<int64_t> shape);

// The bytes of an element as kernels see it: elements of less than a byte have one of their own, with their
// code in its low bits.
inline size_t ViewBytesOf(ElementType type) {
  return (static_cast<size_t>(BitWidth(type)) + 7) / 8;
}
// The bytes of a dense view of `volume` elements; nothing on overflow.
std::optional<size_t> ViewBytes(ElementType type, int64_t volume);

// Elements in memory that another owns, seen with a shape and strides.
class TensorView {
 public:
  TensorView() = default;
  // A dense row-major view.
  TensorView(ElementType type, Shape shape, const std::byte* data);
  TensorView(ElementType type, Shape shape, Strides strides, const std::byte* data);
  // `value` must outlive the view. Of elements of whole bytes; for others see CodesOf.
  explicit TensorView(const TensorValue& value);

  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  const Strides& strides() const { return strides_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t extent(int64_t axis) const { return shape_[static_cast<size_t>(axis)]; }
  int64_t volume() const { return volume_; }
  size_t element_bytes() const { return ViewBytesOf(type_); }
  size_t byte_size() const { return static_cast<size_t>(volume_) * element_bytes(); }
  const std::byte* bytes() const { return data_; }
  // The first element; T has the width of the element type.
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(data_);
  }
  void set_bytes(const std::byte* data) { data_ = data; }

 protected:
  ElementType type_ = ElementType::kDynamic;
  Shape shape_;
  Strides strides_;
  int64_t volume_ = 0;
  const std::byte* data_ = nullptr;
};

// A view that may be written through.
class MutableTensorView : public TensorView {
 public:
  MutableTensorView() = default;
  MutableTensorView(ElementType type, Shape shape, std::byte* data)
      : TensorView(type, std::move(shape), data) {}
  MutableTensorView(ElementType type, Shape shape, Strides strides, std::byte* data)
      : TensorView(type, std::move(shape), std::move(strides), data) {}

  std::byte* mutable_bytes() const { return const_cast<std::byte*>(data_); }
  template <typename T>
  T* mutable_data() const {
    return reinterpret_cast<T*>(const_cast<std::byte*>(data_));
  }
};

// Copies element by element; equal shapes and widths, disjoint memory.
void CopyElements(const TensorView& from, const MutableTensorView& to);

// The elements of an integer or boolean tensor as integers; floats truncate.
llvm::SmallVector<int64_t, 8> ElementsAsInts(const TensorView& view);
llvm::SmallVector<double, 8> ElementsAsDoubles(const TensorView& view);

}  // namespace nnefc::runtime

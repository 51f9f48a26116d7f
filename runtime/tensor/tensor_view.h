#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compiler/support/tensor/element_type.h"
#include "compiler/support/tensor/tensor_value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::runtime::tensor {

// The distances between neighbours along each axis, in elements. A stride may be 0 (broadcast) or negative
// (reversed).
using Strides = llvm::SmallVector<int64_t, 4>;

// Returns the strides of a dense row-major tensor.
Strides DenseStrides(llvm::ArrayRef<int64_t> shape);

// A view of a tensor with its own extents and strides. Its first element is `offset` elements after that of
// the tensor.
struct ElementsView {
  Shape shape;
  Strides strides;
  int64_t offset = 0;
};

// Returns true if the elements are contiguous in row-major order.
bool IsDense(const ElementsView& view);

// Returns the same elements in the same order with other extents, or nothing if no strides express that.
std::optional<ElementsView> Reshaped(const ElementsView& view, llvm::ArrayRef<int64_t> shape);

// Returns the bytes per element in kernels. A sub-byte element is stored in the low bits of one byte.
inline size_t ViewBytesOf(ElementType type) {
  return (static_cast<size_t>(BitWidth(type)) + 7) / 8;
}
// Returns the bytes of a dense view of `volume` elements, or nothing on overflow.
std::optional<size_t> ViewBytes(ElementType type, int64_t volume);

// A non-owning view of elements with a shape and strides.
class TensorView {
 public:
  TensorView() = default;
  // Creates a dense row-major view.
  TensorView(ElementType type, Shape shape, const std::byte* data);
  TensorView(ElementType type, Shape shape, Strides strides, const std::byte* data);
  // Creates a view of `value`, which must outlive it. The elements must occupy whole bytes; see CodesOf for
  // others.
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
  // Returns the first element. T must have the width of the element type.
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

// A view that permits writing.
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

// Copies element by element. The views must have equal shapes and element widths, and must not overlap.
void CopyElements(const TensorView& from, const MutableTensorView& to);

// Returns the elements of a tensor as integers (floats are truncated), or as doubles.
llvm::SmallVector<int64_t, 8> ElementsAsInts(const TensorView& view);
llvm::SmallVector<double, 8> ElementsAsDoubles(const TensorView& view);

}  // namespace nnefc::runtime::tensor

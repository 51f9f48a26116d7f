#include "runtime/tensor/tensor_view.h"

#include <cstring>

#include "runtime/tensor/element_visitor.h"
#include "runtime/tensor/strided_loop.h"

namespace nnefc::runtime {

namespace {

int64_t CheckedVolume(llvm::ArrayRef<int64_t> shape) {
  std::optional<int64_t> volume = Volume(shape);
  NNEFC_CHECK(volume.has_value());
  return *volume;
}

template <typename T>
void CopyAs(const TensorView& from, const MutableTensorView& to) {
  const T* source = from.data<T>();
  T* target = to.mutable_data<T>();
  StridedLoop<2> loop(from.shape(), {from.strides(), to.strides()});
  const auto [source_stride, target_stride] = loop.row_strides();
  loop.Run([&](const std::array<int64_t, 2>& offsets, int64_t length) {
    const T* row = source + offsets[0];
    T* out = target + offsets[1];
    if (source_stride == 1 && target_stride == 1) {
      std::memcpy(out, row, static_cast<size_t>(length) * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < length; ++i) out[i * target_stride] = row[i * source_stride];
  });
}

template <typename To>
llvm::SmallVector<To, 8> ElementsAs(const TensorView& view) {
  llvm::SmallVector<To, 8> result(static_cast<size_t>(view.volume()));
  VisitAnyType(view.type(), [&]<typename T>(TypeTag<T>) {
    const T* data = view.data<T>();
    for (size_t i = 0; i < result.size(); ++i) result[i] = ConvertElement<To>(data[i]);
  });
  return result;
}

}  // namespace

Strides DenseStrides(llvm::ArrayRef<int64_t> shape) {
  Strides strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

TensorView::TensorView(ElementType type, Shape shape, const std::byte* data)
    : type_(type),
      shape_(std::move(shape)),
      strides_(DenseStrides(shape_)),
      volume_(CheckedVolume(shape_)),
      data_(data) {}

TensorView::TensorView(ElementType type, Shape shape, Strides strides, const std::byte* data)
    : type_(type),
      shape_(std::move(shape)),
      strides_(std::move(strides)),
      volume_(CheckedVolume(shape_)),
      data_(data) {
  NNEFC_CHECK(shape_.size() == strides_.size());
}

TensorView::TensorView(const TensorValue& value) : TensorView(value.type(), value.shape(), value.bytes()) {}

void CopyElements(const TensorView& from, const MutableTensorView& to) {
  NNEFC_CHECK(from.shape() == to.shape() && from.element_bytes() == to.element_bytes());
  switch (from.element_bytes()) {
    case 1:
      return CopyAs<uint8_t>(from, to);
    case 2:
      return CopyAs<uint16_t>(from, to);
    case 4:
      return CopyAs<uint32_t>(from, to);
    case 8:
      return CopyAs<uint64_t>(from, to);
    default:
      NNEFC_CHECK(false);
  }
}

llvm::SmallVector<int64_t, 8> ElementsAsInts(const TensorView& view) {
  return ElementsAs<int64_t>(view);
}

llvm::SmallVector<double, 8> ElementsAsDoubles(const TensorView& view) {
  return ElementsAs<double>(view);
}

}  // namespace nnefc::runtime

// Views of tensors with strides.

#include "runtime/tensor/tensor_view.h"

#include <algorithm>
#include <cstring>

#include "compiler/support/tensor/element_visitor.h"
#include "compiler/support/tensor/packed_elements.h"
#include "runtime/tensor/strided_loop.h"

namespace nnefc::runtime::tensor {

namespace {

int64_t CheckedVolume(llvm::ArrayRef<int64_t> shape) {
  std::optional<int64_t> volume = Volume(shape);
  NNEFC_CHECK(volume.has_value());
  return *volume;
}

// An axis of a copy, with its strides in the source and target.
struct CopiedAxis {
  int64_t extent, from, to;
};

// Transposes in tiles, so that the cache lines of both tensors stay cached. Returns false if the axes have
// another arrangement.
template <typename T>
bool CopyTransposed(const TensorView& from, const MutableTensorView& to) {
  constexpr int64_t kTile = 16;
  llvm::SmallVector<CopiedAxis, 6> others;
  CopiedAxis rows{}, columns{};  // contiguous in the target, in the source
  for (size_t axis = 0; axis < from.shape().size(); ++axis) {
    const CopiedAxis it{from.shape()[axis], from.strides()[axis], to.strides()[axis]};
    if (it.extent == 1) continue;
    if (it.to == 1 && rows.extent == 0) {
      rows = it;
    } else if (it.from == 1 && columns.extent == 0) {
      columns = it;
    } else {
      others.push_back(it);
    }
  }
  if (rows.from == 1 || rows.extent < kTile / 2 || columns.extent < kTile / 2) return false;
  Shape shape;
  Strides from_strides, to_strides;
  for (const CopiedAxis& it : others) {
    shape.push_back(it.extent);
    from_strides.push_back(it.from);
    to_strides.push_back(it.to);
  }
  const int64_t bands = (columns.extent + kTile - 1) / kTile;
  shape.push_back(bands);
  from_strides.push_back(kTile);
  to_strides.push_back(kTile * columns.to);
  const int64_t count = *Volume(shape);
  ParallelFor(count, kTile * rows.extent, [&](int64_t task) {
    const int64_t height = std::min(kTile, columns.extent - task % bands * kTile);
    const T* source = from.data<T>();
    T* target = to.mutable_data<T>();
    for (size_t axis = shape.size(); axis-- > 0; task /= shape[axis]) {
      source += task % shape[axis] * from_strides[axis];
      target += task % shape[axis] * to_strides[axis];
    }
    for (int64_t first = 0; first < rows.extent; first += kTile) {
      const int64_t last = std::min(rows.extent, first + kTile);
      for (int64_t i = 0; i < height; ++i) {
        for (int64_t j = first; j < last; ++j) target[i * columns.to + j] = source[i + j * rows.from];
      }
    }
  });
  return true;
}

template <typename T>
void CopyAs(const TensorView& from, const MutableTensorView& to) {
  if (from.volume() == 0 || CopyTransposed<T>(from, to)) return;
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
    if (source_stride == 0 && target_stride == 1) {
      std::fill(out, out + length, *row);
      return;
    }
    if (source_stride == 2 && target_stride == 1) {  // vectorized: a constant stride
      for (int64_t i = 0; i < length; ++i) out[i] = row[2 * i];
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

bool IsDense(const ElementsView& view) {
  int64_t stride = 1;
  for (size_t axis = view.shape.size(); axis-- > 0;) {
    if (view.shape[axis] != 1 && view.strides[axis] != stride) return false;
    stride *= view.shape[axis];
  }
  return true;
}

// Matches the smallest groups of source and target axes with equal element counts. The source axes of a group
// must be contiguous.
std::optional<ElementsView> Reshaped(const ElementsView& view, llvm::ArrayRef<int64_t> shape) {
  if (Volume(view.shape) != Volume(shape) || Volume(shape).value_or(0) == 0) return std::nullopt;
  Shape from;
  Strides strides;
  for (size_t axis = 0; axis < view.shape.size(); ++axis) {
    if (view.shape[axis] == 1) continue;
    from.push_back(view.shape[axis]);
    strides.push_back(view.strides[axis]);
  }
  ElementsView made{
      .shape = Shape(shape.begin(), shape.end()), .strides = Strides(shape.size(), 1), .offset = view.offset};
  size_t begin = 0, to_begin = 0;
  while (begin < from.size() && to_begin < shape.size()) {
    size_t end = begin + 1, to_end = to_begin + 1;
    int64_t count = from[begin], to_count = shape[to_begin];
    while (count != to_count) {
      if (count < to_count) {
        count *= from[end++];
      } else {
        to_count *= shape[to_end++];
      }
    }
    for (size_t axis = begin; axis + 1 < end; ++axis) {
      if (strides[axis] != from[axis + 1] * strides[axis + 1]) return std::nullopt;
    }
    int64_t stride = strides[end - 1];
    for (size_t axis = to_end; axis-- > to_begin; stride *= shape[axis]) made.strides[axis] = stride;
    begin = end;
    to_begin = to_end;
  }
  return made;
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

TensorView::TensorView(const TensorValue& value) : TensorView(value.type(), value.shape(), value.bytes()) {
  NNEFC_CHECK(!IsPacked(value.type()));
}

std::optional<size_t> ViewBytes(ElementType type, int64_t volume) {
  return IsPacked(type) ? ByteSize(ElementType::kU8, volume) : ByteSize(type, volume);
}

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

}  // namespace nnefc::runtime::tensor

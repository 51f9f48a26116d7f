// Properties of blocked formats.

#include "runtime/fast/memory/blocked_format.h"

#include <algorithm>
#include <utility>

#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::memory {

namespace {

constexpr size_t kMinImageRank = 3, kMaxImageRank = 5;

// Returns a format without strides.
BlockedFormat FormatOfShape(llvm::ArrayRef<int64_t> shape, StorageType type) {
  BlockedFormat format;
  format.type = type;
  if (shape.empty()) {
    format.rank = 1;
    format.extents[0] = format.padded_extents[0] = 1;
    return format;
  }
  format.rank = static_cast<int>(shape.size());
  std::copy(shape.begin(), shape.end(), format.extents.begin());
  std::copy(shape.begin(), shape.end(), format.padded_extents.begin());
  return format;
}

bool IsImage(const BlockedFormat& format) {
  const auto rank = static_cast<size_t>(format.rank);
  return format.is_blocked() && rank >= kMinImageRank && rank <= kMaxImageRank;
}

bool AreSameFormats(const BackendFormat* a, const BackendFormat* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a == b || (!a->Key().empty() && a->Key() == b->Key());
}

}  // namespace

size_t BlockedFormat::byte_size() const {
  if (backend != nullptr) return backend->byte_size();
  std::array<int64_t, kMaxRank> block_sizes;
  block_sizes.fill(1);
  int64_t block_elements = 1;
  for (int i = 0; i < num_blocks; ++i) {
    const Block& block = blocks[static_cast<size_t>(i)];
    block_sizes[static_cast<size_t>(block.axis)] *= block.size;
    block_elements *= block.size;
  }
  int64_t elements = rank == 0 ? 0 : block_elements;
  int64_t sums = sum_axes == 0 ? 0 : 1;
  for (size_t axis = 0; axis < shape().size(); ++axis) {
    const int64_t count = padded_extents[axis] / block_sizes[axis];
    elements = std::max(elements, count * (count == 1 ? 1 : strides[axis]));
    if ((sum_axes & 1 << axis) != 0) sums *= padded_extents[axis];
  }
  if (std::find(shape().begin(), shape().end(), 0) != shape().end()) elements = sums = 0;
  const size_t bytes =
      static_cast<size_t>(elements) * BytesOf(type) + static_cast<size_t>(sums) * sizeof(int32_t);
  return std::max(bytes, min_bytes);
}

bool BlockedFormat::operator==(const BlockedFormat& other) const {
  if (type != other.type || is_any != other.is_any || shape() != other.shape()) return false;
  if (is_any) return true;
  if (backend != nullptr || other.backend != nullptr)
    return AreSameFormats(backend.get(), other.backend.get());
  if (padded_extents != other.padded_extents || num_blocks != other.num_blocks || blocks != other.blocks ||
      sum_axes != other.sum_axes)
    return false;
  for (size_t axis = 0; axis < shape().size(); ++axis) {
    const bool has_stride = extents[axis] != 1 || padded_extents[axis] != 1;
    if (has_stride && strides[axis] != other.strides[axis]) return false;
  }
  return true;
}

AxisOrder SwappedOrder(size_t rank, size_t first, size_t second) {
  AxisOrder order;
  for (size_t axis = 0; axis < rank; ++axis) order.push_back(axis);
  std::swap(order[first], order[second]);
  return order;
}

BlockedFormat RowMajorFormat(llvm::ArrayRef<int64_t> shape, StorageType type) {
  return OrderedFormat(shape, {}, type);
}

BlockedFormat OrderedFormat(llvm::ArrayRef<int64_t> extents, const AxisOrder& order, StorageType type) {
  BlockedFormat format = FormatOfShape(extents, type);
  int64_t stride = 1;
  for (size_t i = format.shape().size(); i-- > 0;) {
    const size_t axis = order.empty() ? i : order[i];
    format.strides[axis] = stride;
    stride *= format.extents[axis];
  }
  return format;
}

BlockedFormat StridedFormat(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> strides,
                            StorageType type) {
  BlockedFormat format = FormatOfShape(extents, type);
  std::copy(strides.begin(), strides.end(), format.strides.begin());
  return format;
}

BlockedFormat StackedFormat(const BlockedFormat& matrix, int64_t count) {
  BlockedFormat stacked = matrix;
  stacked.rank = 3;
  for (auto* numbers : {&stacked.extents, &stacked.padded_extents, &stacked.strides})
    std::copy_backward(numbers->begin(), numbers->begin() + 2, numbers->begin() + 3);
  stacked.extents[0] = stacked.padded_extents[0] = count;
  stacked.strides[0] = stacked.padded_extents[1] * stacked.padded_extents[2];
  for (int i = 0; i < stacked.num_blocks; ++i) ++stacked.blocks[static_cast<size_t>(i)].axis;
  return stacked;
}

BlockedFormat AnyFormat(llvm::ArrayRef<int64_t> shape, StorageType type) {
  BlockedFormat format = FormatOfShape(shape, type);
  format.is_any = true;
  return format;
}

BlockedFormat AxisBlockedFormat(llvm::ArrayRef<int64_t> shape, size_t axis, int64_t block, StorageType type) {
  BlockedFormat format = FormatOfShape(shape, type);
  SetBlock(format, axis, block);
  int64_t stride = block;
  for (size_t i = shape.size(); i-- > 0;) {
    format.strides[i] = stride;
    stride *= i == axis ? format.padded_extents[i] / block : format.extents[i];
  }
  return format;
}

BlockedFormat ChannelBlockedFormat(llvm::ArrayRef<int64_t> shape) {
  return AxisBlockedFormat(shape, 1, kChannelBlock);
}

BlockedFormat ChannelsLastFormat(llvm::ArrayRef<int64_t> shape, StorageType type) {
  AxisOrder order = {0};
  for (size_t axis = 2; axis < shape.size(); ++axis) order.push_back(axis);
  order.push_back(1);
  return OrderedFormat(shape, order, type);
}

BlockedFormat ScalarFormat(size_t rank) {
  return RowMajorFormat(llvm::SmallVector<int64_t, 6>(std::max<size_t>(rank, 1), 1));
}

BlockedFormat QuantizedFormat(const BlockedFormat& format) {
  BlockedFormat quantized = format;
  quantized.type = StorageType::kU8;
  return quantized;
}

void SetBlock(BlockedFormat& format, size_t axis, int64_t block) {
  format.padded_extents[axis] = tensor::RoundUp(format.extents[axis], block);
  format.num_blocks = 1;
  format.blocks[0] = {static_cast<int64_t>(axis), block};
}

std::vector<int64_t> PlacesOfAxis(const BlockedFormat& format, size_t axis) {
  std::vector<int64_t> places;
  for (int64_t index = 0; index < format.extents[axis]; ++index) {
    int64_t rest = index, place = 0, stride = 1;
    for (int i = format.num_blocks; i-- > 0;) {
      const BlockedFormat::Block& block = format.blocks[static_cast<size_t>(i)];
      if (block.axis == static_cast<int64_t>(axis)) {
        place += rest % block.size * stride;
        rest /= block.size;
      }
      stride *= block.size;
    }
    places.push_back(place + rest * format.strides[axis]);
  }
  return places;
}

bool IsRowMajor(const BlockedFormat& format) {
  if (!format.is_blocked() || format.num_blocks > 1 || format.sum_axes != 0) return false;
  const auto rank = static_cast<size_t>(format.rank);
  size_t blocked_axis = rank;
  int64_t block = 1;
  if (format.num_blocks == 1) {
    blocked_axis = static_cast<size_t>(format.blocks[0].axis);
    block = format.blocks[0].size;
    // All axes after the blocked one must have extent 1.
    for (size_t axis = blocked_axis + 1; axis < rank; ++axis) {
      if (format.extents[axis] != 1) return false;
    }
  }
  int64_t expected = 1;
  for (size_t axis = rank; axis-- > 0;) {
    if (format.padded_extents[axis] != format.extents[axis]) return false;
    if (axis == blocked_axis) {
      if (format.extents[axis] > block && format.strides[axis] != block) return false;
    } else if (format.extents[axis] != 1 && format.strides[axis] != expected) {
      return false;
    }
    expected *= format.extents[axis];
  }
  return true;
}

bool IsPadded(const BlockedFormat& format) {
  size_t bytes = BytesOf(format.type);
  for (int64_t extent : format.shape()) bytes *= static_cast<size_t>(extent);
  return format.byte_size() != bytes;
}

bool IsChannelsLast(const BlockedFormat& format) {
  return IsImage(format) && format == ChannelsLastFormat(format.shape(), format.type);
}

int64_t ChannelBlockOf(const BlockedFormat& format) {
  constexpr int64_t kBlocks[] = {kChannelBlock, 8};
  if (!IsImage(format)) return 0;
  for (int64_t block : kBlocks) {
    if (format == AxisBlockedFormat(format.shape(), 1, block, format.type)) return block;
  }
  return 0;
}

}  // namespace nnefc::runtime::fast::memory

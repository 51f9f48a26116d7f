// The arrangement of a value's elements in memory. Plain data, which also crosses the boundary to the library
// of runtime/onednn.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::runtime::fast::memory {

// The type of stored elements. An f32 value may be stored as bf16, or quantized to 8 bits.
enum class StorageType : uint8_t { kNone, kF32, kBf16, kS32, kS8, kU8 };

constexpr size_t BytesOf(StorageType type) {
  switch (type) {
    case StorageType::kF32:
    case StorageType::kS32:
      return 4;
    case StorageType::kBf16:
      return 2;
    case StorageType::kS8:
    case StorageType::kU8:
      return 1;
    case StorageType::kNone:
      break;
  }
  return 0;
}

// An arrangement that only another backend can interpret, such as transformed Winograd filters.
class BackendFormat {
 public:
  virtual ~BackendFormat() = default;
  virtual size_t byte_size() const = 0;
  // Returns a key that is equal for equal formats only, or an empty one if there is none.
  virtual std::string Key() const = 0;
};

// Elements with one stride per axis. An axis may be divided into blocks: its stride is then that between
// blocks, and the inner blocks of all axes are stored together, the last one innermost.
struct BlockedFormat {
  static constexpr size_t kMaxRank = 12, kMaxBlocks = 6;
  struct Block {
    int64_t axis = 0, size = 1;

    bool operator==(const Block&) const = default;
  };

  StorageType type = StorageType::kNone;
  bool is_any = false;  // the backend that receives it chooses the order
  int rank = 0;
  int num_blocks = 0;
  std::array<int64_t, kMaxRank> extents = {}, padded_extents = {}, strides = {};
  std::array<Block, kMaxBlocks> blocks = {};
  // The axes of i32 compensation sums that follow the elements, one bit per axis: minus the sum of the
  // elements per index of these axes. 0 if there are none.
  int sum_axes = 0;
  size_t min_bytes = 0;  // bytes that a backend reserves in any case
  // Not null if only this backend can interpret the memory. Of the other members, `type`, `rank` and
  // `extents` are still valid.
  std::shared_ptr<const BackendFormat> backend = nullptr;

  llvm::ArrayRef<int64_t> shape() const { return {extents.data(), static_cast<size_t>(rank)}; }
  // Returns true if the members describe the memory completely.
  bool is_blocked() const { return rank > 0 && !is_any && backend == nullptr; }
  // Returns the size including padding and sums.
  size_t byte_size() const;
  // Ignores the strides of axes with a single element.
  bool operator==(const BlockedFormat& other) const;
};

// The order of axes in dense memory, outermost first; empty for row-major.
using AxisOrder = llvm::SmallVector<size_t, 6>;
// Returns row-major order with two axes swapped.
AxisOrder SwappedOrder(size_t rank, size_t first, size_t second);

// Returns the row-major format. Scalars have rank 1.
BlockedFormat RowMajorFormat(llvm::ArrayRef<int64_t> shape, StorageType type = StorageType::kF32);
// Returns a dense format with any axis order.
BlockedFormat OrderedFormat(llvm::ArrayRef<int64_t> extents, const AxisOrder& order,
                            StorageType type = StorageType::kF32);
// Returns a format with these strides.
BlockedFormat StridedFormat(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> strides,
                            StorageType type);
// Returns the format of `count` consecutive matrices.
BlockedFormat StackedFormat(const BlockedFormat& matrix, int64_t count);
// Returns a format whose order the receiving backend chooses.
BlockedFormat AnyFormat(llvm::ArrayRef<int64_t> shape, StorageType type = StorageType::kF32);
// Returns the format with one axis innermost in blocks, padded to a multiple of the block size. The other
// axes, and the blocks, are in row-major order.
BlockedFormat AxisBlockedFormat(llvm::ArrayRef<int64_t> shape, size_t axis, int64_t block,
                                StorageType type = StorageType::kF32);
// The block size and format of nChw16c images with ranks 3 to 5.
inline constexpr int64_t kChannelBlock = 16;
BlockedFormat ChannelBlockedFormat(llvm::ArrayRef<int64_t> shape);
// Returns the format of NHWC images with ranks 3 to 5.
BlockedFormat ChannelsLastFormat(llvm::ArrayRef<int64_t> shape, StorageType type);
// Returns the f32 format of a scalar with the given rank.
BlockedFormat ScalarFormat(size_t rank);
// Returns the format with 8-bit elements.
BlockedFormat QuantizedFormat(const BlockedFormat& format);

// Divides an axis into blocks, innermost in memory, and pads it to a multiple of the block size. The caller
// sets the strides.
void SetBlock(BlockedFormat& format, size_t axis, int64_t block);

// Returns, per index along an axis of a blocked format, its contribution to an element's offset, which is the
// sum of these over all axes.
std::vector<int64_t> PlacesOfAxis(const BlockedFormat& format, size_t axis);

// Returns true if the memory order is row-major: no padding, and at most one blocked axis, with all later
// axes of extent 1.
bool IsRowMajor(const BlockedFormat& format);
// Returns true if the format has padding, such as a partial channel block.
bool IsPadded(const BlockedFormat& format);
bool IsChannelsLast(const BlockedFormat& format);
// Returns the block size (16 or 8) of a format [N, C/b, spatial.., b], or 0 for other formats and ranks.
int64_t ChannelBlockOf(const BlockedFormat& format);

}  // namespace nnefc::runtime::fast::memory

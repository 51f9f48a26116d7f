#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/support/check.h"
#include "compiler/support/digest.h"
#include "compiler/support/file.h"
#include "compiler/support/tensor/compressed_floats.h"
#include "compiler/support/tensor/element_type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc {

// Extents of a tensor, outermost first. Rank 0 is a single element.
using Shape = llvm::SmallVector<int64_t, 4>;

// The number of elements, or nothing where it does not fit 63 bits or an
// extent is negative.
std::optional<int64_t> Volume(llvm::ArrayRef<int64_t> shape);
// "[1,3,224,224]".
std::string ToString(llvm::ArrayRef<int64_t> shape);
// The bytes of `volume` elements, sub-byte types packed; nothing on overflow.
std::optional<size_t> ByteSize(ElementType type, int64_t volume);

// Bytes that several values may share: owned, or a part of a mapped file, of
// another buffer or of what somebody else holds; or those of compressed floats and what
// else is computed, which take memory once they are asked for. Owned and computed bytes are
// aligned to 64 bytes, the others to nothing.
class Buffer {
 public:
  // Zero-filled; nothing if memory is short.
  static std::shared_ptr<Buffer> Allocate(size_t size);
  static std::shared_ptr<const Buffer> Map(std::shared_ptr<const MappedFile> file, size_t offset,
                                           size_t size);
  // Bytes [offset, offset + size) of `whole`, which stays alive with them.
  static std::shared_ptr<const Buffer> Slice(std::shared_ptr<const Buffer> whole, size_t offset, size_t size);
  // Bytes that `owner`, which is not null, keeps alive and unchanged.
  static std::shared_ptr<const Buffer> Borrow(std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> owner);
  // The floats unpacked, when data() is called first: std::bad_alloc if memory is
  // short then.
  static std::shared_ptr<const Buffer> Unpacked(CompressedFloats floats);
  // What `compute` writes, when data() is called first, as above. It writes the same `size` bytes each time,
  // in any thread, and throws nothing else.
  using Compute = std::function<void(std::byte* out)>;
  // What is computed of which bytes, to know it without computing it.
  struct Recipe {
    Digest what;
    std::vector<std::shared_ptr<const Buffer>> from;
  };
  // Writes `out.size()` of these bytes, from `begin` on, without the others.
  using ComputePart = std::function<void(std::span<std::byte> out, size_t begin)>;
  static std::shared_ptr<const Buffer> Computed(size_t size, Compute compute,
                                                std::optional<Recipe> recipe = std::nullopt,
                                                ComputePart part = nullptr);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const std::byte* data() const {
    const std::byte* data = data_.load(std::memory_order_acquire);
    return data != nullptr || compute_ == nullptr ? data : ComputeOnce();
  }
  // Only for owned buffers.
  std::byte* mutable_data() {
    NNEFC_CHECK(owned());
    return const_cast<std::byte*>(data_.load(std::memory_order_relaxed));
  }
  size_t size() const { return size_; }
  bool mapped() const { return file_ != nullptr; }
  // Which file has the bytes; null if none has.
  const std::shared_ptr<const MappedFile>& file() const { return file_; }
  // Takes no memory any more until it is read again, where a file has the bytes.
  void LetGo() const {
    if (mapped()) MappedFile::LetGo({data(), size()});
  }
  // True if data() would compute the bytes.
  bool IsToCompute() const { return compute_ != nullptr && data_.load(std::memory_order_acquire) == nullptr; }
  // Such bytes in memory of their own, which this does not keep; std::bad_alloc if it is short.
  std::shared_ptr<const Buffer> ComputeCopy() const;
  // Copies `out.size()` bytes from `begin` on. Of those that are to be computed it keeps none; where they are
  // not computed in parts, it computes all of them.
  void CopyPart(std::span<std::byte> out, size_t begin) const;
  // Of bytes that are computed, if it was told; null of others.
  const Recipe* recipe() const { return recipe_ ? &*recipe_ : nullptr; }
  // What the bytes are unpacked from; null of others.
  const CompressedFloats* compressed() const { return compressed_.get(); }

 private:
  Buffer(const std::byte* data, size_t size, std::shared_ptr<const MappedFile> file,
         std::shared_ptr<const void> owner)
      : data_(data), size_(size), file_(std::move(file)), owner_(std::move(owner)) {}

  bool owned() const { return file_ == nullptr && owner_ == nullptr && compute_ == nullptr; }
  const std::byte* ComputeOnce() const;
  std::byte* ComputeBytes() const;

  mutable std::atomic<const std::byte*> data_;  // null: not computed yet
  size_t size_;
  std::shared_ptr<const MappedFile> file_;
  std::shared_ptr<const void> owner_;  // of bytes that are neither ours nor a file's
  Compute compute_;                    // null of bytes that are there
  ComputePart compute_part_;           // may be null
  std::optional<Recipe> recipe_;
  std::unique_ptr<const CompressedFloats> compressed_;
  mutable std::mutex computing_;
};

// A dense row-major tensor whose bytes are immutable and shared: constants,
// .dat files, .npz members, inputs and outputs of a run.
class TensorValue {
 public:
  TensorValue() = default;
  // `buffer` must hold ByteSize(type, Volume(shape)) bytes.
  TensorValue(ElementType type, Shape shape, std::shared_ptr<const Buffer> buffer);

  static TensorValue Scalar(float value);  // f32, shape []
  static TensorValue FromFloats(Shape shape, llvm::ArrayRef<float> values);
  static TensorValue FromInts(Shape shape, llvm::ArrayRef<int64_t> values);   // i64
  static TensorValue FromBools(Shape shape, llvm::ArrayRef<uint8_t> values);  // boolean
  // A tensor whose elements all equal `value` converted to `type`.
  static TensorValue Filled(ElementType type, Shape shape, double value);
  // Makes a tensor with a fresh zeroed buffer and lets `fill` write it.
  template <typename T, typename Fill>
  static TensorValue Make(ElementType type, Shape shape, Fill fill) {
    std::optional<int64_t> volume = Volume(shape);
    NNEFC_CHECK(volume.has_value());
    auto buffer = Buffer::Allocate(static_cast<size_t>(*volume) * sizeof(T));
    NNEFC_CHECK(buffer != nullptr);
    fill(std::span<T>(reinterpret_cast<T*>(buffer->mutable_data()), static_cast<size_t>(*volume)));
    return TensorValue(type, std::move(shape), std::move(buffer));
  }

  bool valid() const { return buffer_ != nullptr; }
  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t volume() const { return volume_; }
  size_t byte_size() const { return byte_size_; }
  const std::byte* bytes() const { return buffer_->data(); }
  const std::shared_ptr<const Buffer>& buffer() const { return buffer_; }
  // The floats of f32 that bytes() would unpack; null where they lie as they are.
  const CompressedFloats* compressed() const { return buffer_ == nullptr ? nullptr : buffer_->compressed(); }
  // True if bytes() is aligned to T.
  template <typename T>
  bool aligned() const {
    return reinterpret_cast<uintptr_t>(bytes()) % alignof(T) == 0;
  }
  // The elements as T; the type's width must be sizeof(T) and the bytes
  // aligned (make it so with `Aligned`).
  template <typename T>
  llvm::ArrayRef<T> elements() const {
    NNEFC_CHECK(aligned<T>() && byte_size_ == static_cast<size_t>(volume_) * sizeof(T));
    return llvm::ArrayRef<T>(reinterpret_cast<const T*>(bytes()), static_cast<size_t>(volume_));
  }
  // The same tensor in an aligned buffer: itself, or a copy.
  TensorValue Aligned(size_t alignment) const;
  // The same, to what one element takes: those of a file may lie anywhere.
  TensorValue AlignedToElements() const;
  // The same tensor with its bytes in memory: those that are to be computed, in some that the
  // result alone keeps. std::bad_alloc if it is short.
  TensorValue Loaded() const;
  // Rows [begin, end) of the outermost axis, of whole bytes each, in memory: those that are to be computed,
  // as above, others where they are. std::bad_alloc if it is short.
  TensorValue LoadedRows(int64_t begin, int64_t end) const;
  // The same bytes seen with another shape of the same volume.
  TensorValue Reshaped(Shape shape) const;
  // Element `index` as double (exact for all types but 64-bit integers).
  double ElementAsDouble(int64_t index) const;
  int64_t ElementAsInt(int64_t index) const;
  // Converts element by element: float to integer truncates toward zero and saturates, but keeps the low bits
  // for 2 and 4 bits, as OpenVINO and ONNX do; to boolean and to u1 is "!= 0".
  TensorValue ConvertedTo(ElementType type) const;

  // Equal type, shape and bytes.
  friend bool operator==(const TensorValue& a, const TensorValue& b);

 private:
  ElementType type_ = ElementType::kDynamic;
  Shape shape_;
  int64_t volume_ = 0;
  size_t byte_size_ = 0;
  std::shared_ptr<const Buffer> buffer_;
};

}  // namespace nnefc

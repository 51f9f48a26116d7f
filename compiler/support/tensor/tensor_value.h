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
#include "compiler/support/files/digest.h"
#include "compiler/support/tensor/element_type.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc {

class CompressedFloats;
class MappedFile;

// The extents of a tensor, outermost first. Rank 0 is a single element.
using Shape = llvm::SmallVector<int64_t, 4>;

// Returns the number of elements, or nothing if it exceeds 63 bits or an extent is negative.
std::optional<int64_t> Volume(llvm::ArrayRef<int64_t> shape);
// Formats a shape: "[1,3,224,224]".
std::string ToString(llvm::ArrayRef<int64_t> shape);
// Returns the bytes of `volume` elements, with sub-byte types packed; nothing on overflow.
std::optional<size_t> ByteSize(ElementType type, int64_t volume);

// Immutable bytes that several values can share. They are owned, part of a mapped file, part of another
// buffer, borrowed from another owner, or computed on first access (compressed floats, for example) and
// without memory until then. Owned and computed bytes are aligned to 64 bytes, the others have no alignment.
class Buffer {
 public:
  // Allocates zero-filled bytes; null if memory is short.
  static std::shared_ptr<Buffer> Allocate(size_t size);
  // Returns bytes [offset, offset + size) of a mapped file and keeps it open.
  static std::shared_ptr<const Buffer> Map(std::shared_ptr<const MappedFile> file, size_t offset,
                                           size_t size);
  // Returns bytes [offset, offset + size) of `whole` and keeps it alive.
  static std::shared_ptr<const Buffer> Slice(std::shared_ptr<const Buffer> whole, size_t offset, size_t size);
  // Returns bytes that `owner`, which is not null, keeps alive and unchanged.
  static std::shared_ptr<const Buffer> Borrow(std::span<const std::byte> bytes,
                                              std::shared_ptr<const void> owner);
  // Returns the decompressed floats, computed by the first call of data(), which throws std::bad_alloc if
  // memory is short.
  static std::shared_ptr<const Buffer> Unpacked(CompressedFloats floats);
  // A function that writes the bytes of a buffer, run by the first call of data(). It writes the same
  // `size` bytes each time and in any thread, and throws nothing but std::bad_alloc.
  using Compute = std::function<void(std::byte* out)>;
  // An identity for computed bytes: a digest of the computation, and its inputs. It compares results without
  // computing them.
  struct Recipe {
    Digest what;
    std::vector<std::shared_ptr<const Buffer>> from;
  };
  // A function that writes only `out.size()` of these bytes, starting at `begin`.
  using ComputePart = std::function<void(std::span<std::byte> out, size_t begin)>;
  // Returns `size` bytes that `compute` writes on first access, and `part` if only some are read.
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
  // Returns writable bytes; only for owned buffers.
  std::byte* mutable_data() {
    NNEFC_CHECK(owned());
    return const_cast<std::byte*>(data_.load(std::memory_order_relaxed));
  }
  size_t size() const { return size_; }
  bool mapped() const { return file_ != nullptr; }
  // Returns the file that backs the bytes, or null.
  const std::shared_ptr<const MappedFile>& file() const { return file_; }
  // Releases the memory of bytes that a file backs; the next access reads them again.
  void Release() const;
  // Returns true if data() would have to compute the bytes.
  bool IsToCompute() const { return compute_ != nullptr && data_.load(std::memory_order_acquire) == nullptr; }
  // Computes the bytes into separate memory that this buffer does not retain. Throws std::bad_alloc if memory
  // is short.
  std::shared_ptr<const Buffer> ComputeCopy() const;
  // Copies `out.size()` bytes starting at `begin`. Bytes that are still to be computed are not retained;
  // without a ComputePart all of them are computed.
  void CopyPart(std::span<std::byte> out, size_t begin) const;
  // Returns the recipe of computed bytes if one was passed, otherwise null.
  const Recipe* recipe() const { return recipe_ ? &*recipe_ : nullptr; }
  // Returns the compressed form of the bytes, or null.
  const CompressedFloats* compressed() const { return compressed_.get(); }

 private:
  Buffer(const std::byte* data, size_t size, std::shared_ptr<const MappedFile> file,
         std::shared_ptr<const void> owner);

  bool owned() const { return file_ == nullptr && owner_ == nullptr && compute_ == nullptr; }
  const std::byte* ComputeOnce() const;
  std::byte* ComputeBytes() const;

  mutable std::atomic<const std::byte*> data_;  // null until computed
  size_t size_;
  std::shared_ptr<const MappedFile> file_;
  std::shared_ptr<const void> owner_;  // keeps borrowed bytes alive
  Compute compute_;                    // null unless computed
  ComputePart compute_part_;           // may be null
  std::optional<Recipe> recipe_;
  std::unique_ptr<const CompressedFloats> compressed_;
  mutable std::mutex computing_;
};

// A dense row-major tensor with immutable, shared bytes: constants, .dat files, .npz members, inputs and
// outputs of a run.
class TensorValue {
 public:
  TensorValue() = default;
  // Requires that `buffer` has at least ByteSize(type, Volume(shape)) bytes.
  TensorValue(ElementType type, Shape shape, std::shared_ptr<const Buffer> buffer);

  // Return copies of values as tensors of one type.
  static TensorValue Scalar(float value);  // f32, shape []
  static TensorValue FromFloats(Shape shape, llvm::ArrayRef<float> values);
  static TensorValue FromInts(Shape shape, llvm::ArrayRef<int64_t> values);   // i64
  static TensorValue FromBools(Shape shape, llvm::ArrayRef<uint8_t> values);  // boolean
  // Returns a tensor whose elements all equal `value` converted to `type`.
  static TensorValue Filled(ElementType type, Shape shape, double value);
  // Creates a tensor in a new zeroed buffer that `fill` writes.
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
  // Returns the compressed f32 values that bytes() would decompress; null if the tensor is not compressed.
  const CompressedFloats* compressed() const { return buffer_ == nullptr ? nullptr : buffer_->compressed(); }
  // Returns true if bytes() is aligned for T.
  template <typename T>
  bool aligned() const {
    return reinterpret_cast<uintptr_t>(bytes()) % alignof(T) == 0;
  }
  // Returns the elements as T. The element width must be sizeof(T) and the bytes aligned (see `Aligned`).
  template <typename T>
  llvm::ArrayRef<T> elements() const {
    NNEFC_CHECK(aligned<T>() && byte_size_ == static_cast<size_t>(volume_) * sizeof(T));
    return llvm::ArrayRef<T>(reinterpret_cast<const T*>(bytes()), static_cast<size_t>(volume_));
  }
  // Returns this tensor if it is aligned, otherwise an aligned copy.
  TensorValue Aligned(size_t alignment) const;
  // Returns the tensor aligned to its element size; bytes of a file may have any offset.
  TensorValue AlignedToElements() const;
  // Returns the tensor with its bytes in memory. Bytes that are to be computed are owned by the result alone.
  // Throws std::bad_alloc if memory is short.
  TensorValue Loaded() const;
  // Returns rows [begin, end) of the outermost axis, each of whole bytes, in memory. Computed rows are owned
  // by the result, others are views. Throws std::bad_alloc if memory is short.
  TensorValue LoadedRows(int64_t begin, int64_t end) const;
  // Returns the same bytes with another shape of the same volume.
  TensorValue Reshaped(Shape shape) const;
  // Returns element `index` as double (exact for all types except 64-bit integers).
  double ElementAsDouble(int64_t index) const;
  // Returns element `index` converted to i64, as ConvertedTo does.
  int64_t ElementAsInt(int64_t index) const;
  // Converts element by element. Float to integer truncates toward zero and saturates, except that 2-bit and
  // 4-bit types retain the low bits, as in OpenVINO and ONNX. To boolean and to u1 is "!= 0".
  TensorValue ConvertedTo(ElementType type) const;

  // Compares type, shape and bytes.
  friend bool operator==(const TensorValue& a, const TensorValue& b);

 private:
  ElementType type_ = ElementType::kDynamic;
  Shape shape_;
  int64_t volume_ = 0;
  size_t byte_size_ = 0;
  std::shared_ptr<const Buffer> buffer_;
};

}  // namespace nnefc

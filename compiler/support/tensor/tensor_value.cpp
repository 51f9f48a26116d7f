// Buffers and dense tensors.

#include "compiler/support/tensor/tensor_value.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "compiler/support/allocation.h"
#include "compiler/support/files/file.h"
#include "compiler/support/tensor/compressed_floats.h"
#include "compiler/support/tensor/element_visitor.h"
#include "compiler/support/tensor/packed_elements.h"
#include "fmt/format.h"

namespace nnefc {
namespace {

template <typename T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T>
void Store(std::byte* bytes, int64_t index, T value) {
  std::memcpy(bytes + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

void StoreDouble(std::byte* bytes, int64_t index, ElementType type, double value) {
  const bool stored = VisitAnyType(
      type, [&](auto tag) { Store(bytes, index, ConvertElement<typename decltype(tag)::Type>(value)); });
  if (stored) return;
  NNEFC_CHECK(IsStorageOnly(type));
  StorePacked(bytes, index, type, CodeOf(type, value));
}

bool IsWideInteger(ElementType type) {
  return type == ElementType::kI64 || type == ElementType::kU64;
}

}  // namespace

std::optional<int64_t> Volume(llvm::ArrayRef<int64_t> shape) {
  int64_t volume = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(volume, extent, &volume)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : volume;
}

std::string ToString(llvm::ArrayRef<int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

std::optional<size_t> ByteSize(ElementType type, int64_t volume) {
  int64_t bits = 0;
  if (volume < 0 || __builtin_mul_overflow(volume, static_cast<int64_t>(BitWidth(type)), &bits))
    return std::nullopt;
  return static_cast<size_t>(bits / 8 + (bits % 8 != 0 ? 1 : 0));
}

std::shared_ptr<Buffer> Buffer::Allocate(size_t size) {
  size_t rounded = (size / kTensorAlignment + 1) * kTensorAlignment;
  void* data = AllocateAligned(rounded);
  if (data == nullptr) return nullptr;
  std::memset(data, 0, rounded);
  return std::shared_ptr<Buffer>(new Buffer(static_cast<const std::byte*>(data), size, nullptr, nullptr));
}

std::shared_ptr<const Buffer> Buffer::Map(std::shared_ptr<const MappedFile> file, size_t offset,
                                          size_t size) {
  NNEFC_CHECK(offset <= file->size() && size <= file->size() - offset);
  const std::byte* data = file->data() + offset;
  return std::shared_ptr<const Buffer>(new Buffer(data, size, std::move(file), nullptr));
}

std::shared_ptr<const Buffer> Buffer::Slice(std::shared_ptr<const Buffer> whole, size_t offset, size_t size) {
  NNEFC_CHECK(offset <= whole->size() && size <= whole->size() - offset);
  const std::byte* data = whole->data() + offset;
  std::shared_ptr<const MappedFile> file = whole->file_;
  if (file != nullptr) whole = nullptr;
  return std::shared_ptr<const Buffer>(new Buffer(data, size, std::move(file), std::move(whole)));
}

std::shared_ptr<const Buffer> Buffer::Borrow(std::span<const std::byte> bytes,
                                             std::shared_ptr<const void> owner) {
  NNEFC_CHECK(owner != nullptr);
  return std::shared_ptr<const Buffer>(new Buffer(bytes.data(), bytes.size(), nullptr, std::move(owner)));
}

std::shared_ptr<const Buffer> Buffer::Unpacked(CompressedFloats floats) {
  const size_t size = static_cast<size_t>(floats.count()) * sizeof(float);
  auto buffer = std::shared_ptr<Buffer>(new Buffer(nullptr, size, nullptr, nullptr));
  buffer->compressed_ = std::make_unique<const CompressedFloats>(std::move(floats));
  buffer->compute_ = [floats = buffer->compressed_.get()](std::byte* out) {
    floats->Unpack(0, floats->count(), reinterpret_cast<float*>(out));
    floats->data()->Release();
  };
  return buffer;
}

std::shared_ptr<const Buffer> Buffer::Computed(size_t size, Compute compute, std::optional<Recipe> recipe,
                                               ComputePart part) {
  NNEFC_CHECK(compute != nullptr);
  auto buffer = std::shared_ptr<Buffer>(new Buffer(nullptr, size, nullptr, nullptr));
  buffer->compute_ = std::move(compute);
  buffer->compute_part_ = std::move(part);
  buffer->recipe_ = std::move(recipe);
  return buffer;
}

Buffer::Buffer(const std::byte* data, size_t size, std::shared_ptr<const MappedFile> file,
               std::shared_ptr<const void> owner)
    : data_(data), size_(size), file_(std::move(file)), owner_(std::move(owner)) {}

void Buffer::Release() const {
  if (mapped()) MappedFile::Release({data(), size()});
}

std::byte* Buffer::ComputeBytes() const {
  std::unique_ptr<void, decltype(&std::free)> bytes(
      AllocateAligned((size_ / kTensorAlignment + 1) * kTensorAlignment), &std::free);
  if (bytes == nullptr) throw std::bad_alloc();
  compute_(static_cast<std::byte*>(bytes.get()));
  return static_cast<std::byte*>(bytes.release());
}

const std::byte* Buffer::ComputeOnce() const {
  const std::lock_guard lock(computing_);
  if (const std::byte* done = data_.load(std::memory_order_acquire)) return done;
  const std::byte* bytes = ComputeBytes();
  data_.store(bytes, std::memory_order_release);
  return bytes;
}

// Large copies are short-lived. A heap could not return their memory to the system, because small allocations
// follow them by then; hence mmap.
std::shared_ptr<const Buffer> Buffer::ComputeCopy() const {
  constexpr size_t kLarge = size_t{1} << 20;
  if (size_ < kLarge)
    return std::shared_ptr<const Buffer>(new Buffer(ComputeBytes(), size_, nullptr, nullptr));
  void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  const std::shared_ptr<std::byte> bytes(static_cast<std::byte*>(mapped),
                                         [size = size_](std::byte* data) { ::munmap(data, size); });
  // A failure costs only time.
  (void)::madvise(mapped, size_, MADV_HUGEPAGE);
  compute_(bytes.get());
  return Borrow({bytes.get(), size_}, bytes);
}

void Buffer::CopyPart(std::span<std::byte> out, size_t begin) const {
  NNEFC_CHECK(begin <= size_ && out.size() <= size_ - begin);
  if (out.empty()) return;
  if (IsToCompute()) {
    if (compute_part_ != nullptr) return compute_part_(out, begin);
    return ComputeCopy()->CopyPart(out, begin);
  }
  std::memcpy(out.data(), data() + begin, out.size());
}

Buffer::~Buffer() {
  const std::byte* data = data_.load(std::memory_order_relaxed);
  if (owned() || (compute_ != nullptr && data != nullptr)) std::free(const_cast<std::byte*>(data));
}

TensorValue::TensorValue(ElementType type, Shape shape, std::shared_ptr<const Buffer> buffer)
    : type_(type), shape_(std::move(shape)), buffer_(std::move(buffer)) {
  std::optional<int64_t> volume = Volume(shape_);
  NNEFC_CHECK(volume.has_value());
  volume_ = *volume;
  std::optional<size_t> byte_size = ByteSize(type_, volume_);
  NNEFC_CHECK(byte_size.has_value() && buffer_ != nullptr && buffer_->size() >= *byte_size);
  byte_size_ = *byte_size;
}

TensorValue TensorValue::Scalar(float value) {
  return FromFloats({}, value);
}

TensorValue TensorValue::FromFloats(Shape shape, llvm::ArrayRef<float> values) {
  return Make<float>(ElementType::kF32, std::move(shape), [&](std::span<float> out) {
    NNEFC_CHECK(out.size() == values.size());
    std::copy(values.begin(), values.end(), out.begin());
  });
}

TensorValue TensorValue::FromInts(Shape shape, llvm::ArrayRef<int64_t> values) {
  return Make<int64_t>(ElementType::kI64, std::move(shape), [&](std::span<int64_t> out) {
    NNEFC_CHECK(out.size() == values.size());
    std::copy(values.begin(), values.end(), out.begin());
  });
}

TensorValue TensorValue::FromBools(Shape shape, llvm::ArrayRef<uint8_t> values) {
  return Make<uint8_t>(ElementType::kBoolean, std::move(shape), [&](std::span<uint8_t> out) {
    NNEFC_CHECK(out.size() == values.size());
    std::copy(values.begin(), values.end(), out.begin());
  });
}

TensorValue TensorValue::Filled(ElementType type, Shape shape, double value) {
  std::optional<int64_t> volume = Volume(shape);
  NNEFC_CHECK(volume.has_value());
  std::optional<size_t> size = ByteSize(type, *volume);
  NNEFC_CHECK(size.has_value());
  auto buffer = Buffer::Allocate(*size);
  NNEFC_CHECK(buffer != nullptr);
  for (int64_t i = 0; i < *volume; ++i) StoreDouble(buffer->mutable_data(), i, type, value);
  return TensorValue(type, std::move(shape), std::move(buffer));
}

TensorValue TensorValue::Aligned(size_t alignment) const {
  NNEFC_CHECK(alignment <= kTensorAlignment);
  if (buffer_->IsToCompute()) return *this;  // computed bytes are aligned
  if (reinterpret_cast<uintptr_t>(bytes()) % alignment == 0) return *this;
  auto copy = Buffer::Allocate(byte_size_);
  NNEFC_CHECK(copy != nullptr);
  std::memcpy(copy->mutable_data(), bytes(), byte_size_);
  return TensorValue(type_, shape_, std::move(copy));
}

TensorValue TensorValue::AlignedToElements() const {
  return Aligned(std::max<size_t>(static_cast<size_t>(BitWidth(type_)) / 8, 1));
}

TensorValue TensorValue::Loaded() const {
  if (!buffer_->IsToCompute()) return *this;
  return TensorValue(type_, shape_, buffer_->ComputeCopy());
}

TensorValue TensorValue::LoadedRows(int64_t begin, int64_t end) const {
  NNEFC_CHECK(rank() > 0 && begin >= 0 && begin <= end && end <= shape_[0] && BitWidth(type_) % 8 == 0);
  Shape shape = shape_;
  shape[0] = end - begin;
  const size_t row = shape_[0] == 0 ? 0 : byte_size_ / static_cast<size_t>(shape_[0]);
  const size_t offset = static_cast<size_t>(begin) * row, size = static_cast<size_t>(end - begin) * row;
  if (!buffer_->IsToCompute()) return TensorValue(type_, shape, Buffer::Slice(buffer_, offset, size));
  void* data = AllocateAligned((size / kTensorAlignment + 1) * kTensorAlignment);
  if (data == nullptr) throw std::bad_alloc();
  const std::shared_ptr<std::byte> bytes(static_cast<std::byte*>(data), &std::free);
  buffer_->CopyPart({bytes.get(), size}, offset);
  return TensorValue(type_, shape, Buffer::Borrow({bytes.get(), size}, bytes));
}

TensorValue TensorValue::Reshaped(Shape shape) const {
  NNEFC_CHECK(Volume(shape) == volume_);
  TensorValue result = *this;
  result.shape_ = std::move(shape);
  return result;
}

double TensorValue::ElementAsDouble(int64_t index) const {
  NNEFC_CHECK(index >= 0 && index < volume_);
  if (IsNarrowFloat(type_)) return NarrowToFloat(type_, LoadPacked(bytes(), index, type_));
  double element = 0;
  const bool loaded = VisitAnyType(type_, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    element = ConvertElement<double>(Load<T>(bytes() + index * static_cast<int64_t>(sizeof(T))));
  });
  return loaded ? element : static_cast<double>(ElementAsInt(index));
}

int64_t TensorValue::ElementAsInt(int64_t index) const {
  NNEFC_CHECK(index >= 0 && index < volume_);
  int64_t element = 0;
  const bool loaded = VisitAnyType(type_, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const T stored = Load<T>(bytes() + index * static_cast<int64_t>(sizeof(T)));
    if constexpr (std::is_same_v<T, uint64_t>) {
      element = static_cast<int64_t>(std::min<uint64_t>(stored, std::numeric_limits<int64_t>::max()));
    } else {
      element = ConvertElement<int64_t>(stored);
    }
  });
  if (loaded) return element;
  if (IsNarrowFloat(type_)) return ConvertElement<int64_t>(ElementAsDouble(index));
  NNEFC_CHECK(IsInteger(type_));
  return static_cast<int64_t>(NumberOf(type_, LoadPacked(bytes(), index, type_)));
}

TensorValue TensorValue::ConvertedTo(ElementType type) const {
  if (type == type_) return *this;
  std::optional<size_t> size = ByteSize(type, volume_);
  NNEFC_CHECK(size.has_value());
  auto buffer = Buffer::Allocate(*size);
  NNEFC_CHECK(buffer != nullptr);
  std::byte* out = buffer->mutable_data();
  bool exact_integers = IsWideInteger(type) && !IsFloat(type_);
  const bool is_code = IsPacked(type) && !IsFloat(type_);
  for (int64_t i = 0; i < volume_; ++i) {
    if (is_code) {
      StorePacked(out, i, type, CodeOf(type, ElementAsInt(i)));
    } else if (!exact_integers) {
      StoreDouble(out, i, type, ElementAsDouble(i));
    } else if (type_ == ElementType::kU64 || (type == ElementType::kI64) || ElementAsInt(i) >= 0) {
      Store<int64_t>(out, i, ElementAsInt(i));
    } else {
      Store<uint64_t>(out, i, 0);
    }
  }
  return TensorValue(type, shape_, std::move(buffer));
}

bool operator==(const TensorValue& a, const TensorValue& b) {
  if (!a.valid() || !b.valid()) return a.valid() == b.valid();
  return a.type_ == b.type_ && a.shape_ == b.shape_ && std::memcmp(a.bytes(), b.bytes(), a.byte_size_) == 0;
}

}  // namespace nnefc

#include "compiler/support/tensor/tensor_value.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "fmt/format.h"

namespace nnefc {
namespace {

constexpr size_t kAlignment = 64;

template <typename T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// Where packed elements stand in OpenVINO: from the low bits up, single bits from
// the high one down. Elements of a byte are the whole of it.
int PackedShift(int64_t index, int bits) {
  const auto place = static_cast<int>(index % (8 / bits)) * bits;
  return bits == 1 ? 7 - place : place;
}

uint8_t LoadPacked(const std::byte* bytes, int64_t index, ElementType type) {
  const int bits = BitWidth(type);
  const auto byte = static_cast<unsigned>(bytes[index / (8 / bits)]);
  return static_cast<uint8_t>((byte >> PackedShift(index, bits)) & ((1U << bits) - 1));
}

template <typename T>
T Saturate(double value) {
  if (std::isnan(value)) return 0;
  // 2^63 and 2^64 are exact in double while the largest integers are not.
  constexpr double lowest = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double past_highest =
      std::is_signed_v<T> ? -lowest
                          : 2.0 * static_cast<double>(uint64_t{1} << (std::numeric_limits<T>::digits - 1));
  if (value < lowest) return std::numeric_limits<T>::min();
  if (value >= past_highest) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

template <typename T>
void Store(std::byte* bytes, int64_t index, T value) {
  std::memcpy(bytes + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

void StorePacked(std::byte* bytes, int64_t index, ElementType type, uint8_t value) {
  const int bits = BitWidth(type);
  const unsigned code = value & ((1U << bits) - 1);
  bytes[index / (8 / bits)] |= static_cast<std::byte>(code << PackedShift(index, bits));
}

void StoreDouble(std::byte* bytes, int64_t index, ElementType type, double value) {
  switch (type) {
    case ElementType::kBoolean:
      return Store<uint8_t>(bytes, index, value != 0 ? 1 : 0);
    case ElementType::kBF16:
      return Store(bytes, index, FloatToBFloat(static_cast<float>(value)));
    case ElementType::kF16:
      return Store(bytes, index, FloatToHalf(static_cast<float>(value)));
    case ElementType::kF32:
      return Store(bytes, index, static_cast<float>(value));
    case ElementType::kF64:
      return Store(bytes, index, value);
    case ElementType::kI8:
      return Store(bytes, index, Saturate<int8_t>(value));
    case ElementType::kI16:
      return Store(bytes, index, Saturate<int16_t>(value));
    case ElementType::kI32:
      return Store(bytes, index, Saturate<int32_t>(value));
    case ElementType::kI64:
      return Store(bytes, index, Saturate<int64_t>(value));
    case ElementType::kU8:
      return Store(bytes, index, Saturate<uint8_t>(value));
    case ElementType::kU16:
      return Store(bytes, index, Saturate<uint16_t>(value));
    case ElementType::kU32:
      return Store(bytes, index, Saturate<uint32_t>(value));
    case ElementType::kU64:
      return Store(bytes, index, Saturate<uint64_t>(value));
    case ElementType::kI4: {
      double clamped = std::isnan(value) ? 0 : std::min(7.0, std::max(-8.0, value));
      return StorePacked(bytes, index, type, static_cast<uint8_t>(static_cast<int>(clamped) & 0xf));
    }
    case ElementType::kU4: {
      double clamped = std::isnan(value) ? 0 : std::min(15.0, std::max(0.0, value));
      return StorePacked(bytes, index, type, static_cast<uint8_t>(clamped));
    }
    case ElementType::kU2: {
      double clamped = std::isnan(value) ? 0 : std::min(3.0, std::max(0.0, value));
      return StorePacked(bytes, index, type, static_cast<uint8_t>(clamped));
    }
    case ElementType::kU1:
      return StorePacked(bytes, index, type, value != 0 ? 1 : 0);
    case ElementType::kNF4:
    case ElementType::kF4E2M1:
    case ElementType::kF8E4M3:
    case ElementType::kF8E5M2:
    case ElementType::kF8E8M0:
      return StorePacked(bytes, index, type, FloatToNarrow(type, static_cast<float>(value)));
    case ElementType::kDynamic:
    case ElementType::kString:
      break;
  }
  NNEFC_CHECK(!"an element type that holds numbers");
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
  size_t rounded = (size / kAlignment + 1) * kAlignment;
  void* data = std::aligned_alloc(kAlignment, rounded);
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

Buffer::~Buffer() {
  if (owned()) std::free(const_cast<std::byte*>(data_));
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
  NNEFC_CHECK(alignment <= kAlignment);
  if (reinterpret_cast<uintptr_t>(bytes()) % alignment == 0) return *this;
  auto copy = Buffer::Allocate(byte_size_);
  NNEFC_CHECK(copy != nullptr);
  std::memcpy(copy->mutable_data(), bytes(), byte_size_);
  return TensorValue(type_, shape_, std::move(copy));
}

TensorValue TensorValue::Reshaped(Shape shape) const {
  NNEFC_CHECK(Volume(shape) == volume_);
  TensorValue result = *this;
  result.shape_ = std::move(shape);
  return result;
}

double TensorValue::ElementAsDouble(int64_t index) const {
  NNEFC_CHECK(index >= 0 && index < volume_);
  const std::byte* at = bytes() + index * (BitWidth(type_) / 8);
  switch (type_) {
    case ElementType::kBoolean:
      return Load<uint8_t>(at) != 0 ? 1 : 0;
    case ElementType::kBF16:
      return BFloatToFloat(Load<uint16_t>(at));
    case ElementType::kF16:
      return HalfToFloat(Load<uint16_t>(at));
    case ElementType::kF32:
      return Load<float>(at);
    case ElementType::kF64:
      return Load<double>(at);
    case ElementType::kU64:
      return static_cast<double>(Load<uint64_t>(at));
    case ElementType::kNF4:
    case ElementType::kF4E2M1:
    case ElementType::kF8E4M3:
    case ElementType::kF8E5M2:
    case ElementType::kF8E8M0:
      return NarrowToFloat(type_, LoadPacked(bytes(), index, type_));
    default:
      return static_cast<double>(ElementAsInt(index));
  }
}

int64_t TensorValue::ElementAsInt(int64_t index) const {
  NNEFC_CHECK(index >= 0 && index < volume_);
  const std::byte* at = bytes() + index * (BitWidth(type_) / 8);
  switch (type_) {
    case ElementType::kBoolean:
      return Load<uint8_t>(at) != 0 ? 1 : 0;
    case ElementType::kI8:
      return Load<int8_t>(at);
    case ElementType::kI16:
      return Load<int16_t>(at);
    case ElementType::kI32:
      return Load<int32_t>(at);
    case ElementType::kI64:
      return Load<int64_t>(at);
    case ElementType::kU8:
      return Load<uint8_t>(at);
    case ElementType::kU16:
      return Load<uint16_t>(at);
    case ElementType::kU32:
      return Load<uint32_t>(at);
    case ElementType::kU64:
      return static_cast<int64_t>(
          std::min<uint64_t>(Load<uint64_t>(at), std::numeric_limits<int64_t>::max()));
    case ElementType::kI4: {
      int value = LoadPacked(bytes(), index, type_);
      return value >= 8 ? value - 16 : value;
    }
    case ElementType::kU1:
    case ElementType::kU2:
    case ElementType::kU4:
      return LoadPacked(bytes(), index, type_);
    default:
      return Saturate<int64_t>(ElementAsDouble(index));
  }
}

TensorValue TensorValue::ConvertedTo(ElementType type) const {
  if (type == type_) return *this;
  std::optional<size_t> size = ByteSize(type, volume_);
  NNEFC_CHECK(size.has_value());
  auto buffer = Buffer::Allocate(*size);
  NNEFC_CHECK(buffer != nullptr);
  std::byte* out = buffer->mutable_data();
  bool exact_integers = IsWideInteger(type) && !IsFloat(type_);
  for (int64_t i = 0; i < volume_; ++i) {
    if (!exact_integers) {
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

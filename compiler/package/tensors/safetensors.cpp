// The reader of safetensors files.

#include "compiler/package/tensors/safetensors.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "compiler/package/rules.h"
#include "compiler/support/diagnostics/suggest.h"
#include "compiler/support/tensor/compressed_floats.h"
#include "compiler/support/text/json_value.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::package {
namespace {

constexpr uint64_t kSizeBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";

struct ItemType {
  std::string_view name;
  ElementType type;
  DatItems items;
};
constexpr ItemType kItemTypes[] = {
    {"F64", ElementType::kF64, DatItems::kFloat},    {"F32", ElementType::kF32, DatItems::kFloat},
    {"F16", ElementType::kF16, DatItems::kFloat},    {"BF16", ElementType::kBF16, DatItems::kFloat},
    {"I64", ElementType::kI64, DatItems::kSigned},   {"I32", ElementType::kI32, DatItems::kSigned},
    {"I16", ElementType::kI16, DatItems::kSigned},   {"I8", ElementType::kI8, DatItems::kSigned},
    {"U64", ElementType::kU64, DatItems::kUnsigned}, {"U32", ElementType::kU32, DatItems::kUnsigned},
    {"U16", ElementType::kU16, DatItems::kUnsigned}, {"U8", ElementType::kU8, DatItems::kUnsigned},
    {"BOOL", ElementType::kBoolean, DatItems::kBool}};

uint64_t StatedSize(std::span<const std::byte> start) {
  uint64_t size = 0;
  for (size_t i = kSizeBytes; i-- > 0;) size = size << 8 | std::to_integer<uint64_t>(start[i]);
  return size;
}

class IndexReader {
 public:
  IndexReader(const DataSource& start, uint64_t size, Emitter& emitter)
      : start_(start), size_(size), emitter_(emitter) {}

  std::optional<SafetensorsIndex> Read() {
    const std::span<const std::byte> bytes(start_.bytes->data(), start_.bytes->size());
    if (bytes.size() < kSizeBytes) {
      Fail(kSafetensorsHeader, ByteRange(start_.file, 0, bytes.size()),
           "the file has {} bytes; it begins with the size of its header in eight", bytes.size());
      return std::nullopt;
    }
    const uint64_t stated = StatedSize(bytes);
    const SourceRange place = ByteRange(start_.file, 0, kSizeBytes);
    if (stated > size_ - kSizeBytes) {
      Fail(kSafetensorsHeader, place, "the header is said to have {} bytes; {} are left in the file", stated,
           size_ - kSizeBytes);
      return std::nullopt;
    }
    if (stated > kLongestSafetensorsHeader - kSizeBytes) {
      Fail(kSafetensorsHeader, place, "the header is said to have {} bytes; {} are read at most", stated,
           kLongestSafetensorsHeader - kSizeBytes);
      return std::nullopt;
    }
    data_at_ = kSizeBytes + stated;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kSizeBytes,
                                static_cast<size_t>(stated));
    const JsonFormat format{&kSafetensorsHeader, &kSafetensorsHeader,
                            "eight bytes, the size of a header, and the header, an object with `dtype`, "
                            "`shape` and `data_offsets` of each tensor"};
    const std::optional<JsonValue> json = ReadJson(text, start_.file, kSizeBytes, format, emitter_);
    if (!json) return std::nullopt;
    const auto* members = json->get<JsonValue::Members>();
    if (members == nullptr) {
      Fail(kSafetensorsHeader, json->range, "the header must be an object");
      return std::nullopt;
    }
    for (const JsonValue::Member& member : *members) {
      if (member.key != kMetadata && !ReadTensor(member)) return std::nullopt;
    }
    if (!CheckOrder()) return std::nullopt;
    return std::move(index_);
  }

 private:
  template <typename... Args>
  bool Fail(const Rule& rule, SourceRange range, fmt::format_string<Args...> format, Args&&... args) {
    emitter_.Emit(rule, range, format, std::forward<Args>(args)...);
    return false;
  }

  const JsonValue* Field(const JsonValue::Member& tensor, std::string_view name) {
    const JsonValue* field = tensor.value.Find(name);
    if (field == nullptr) {
      Fail(kSafetensorsHeader, tensor.key_range, "the tensor `{}` has no `{}`", ShownText(tensor.key), name);
    }
    return field;
  }

  // Returns a list of non-negative integers.
  std::optional<std::vector<int64_t>> Sizes(const JsonValue::Member& tensor, std::string_view name) {
    const JsonValue* field = Field(tensor, name);
    if (field == nullptr) return std::nullopt;
    std::vector<int64_t> sizes;
    const auto* items = field->get<JsonValue::Items>();
    bool ok = items != nullptr;
    for (size_t i = 0; ok && i < items->size(); ++i) {
      const auto* value = (*items)[i].get<int64_t>();
      ok = value != nullptr && *value >= 0;
      if (ok) sizes.push_back(*value);
    }
    if (ok) return sizes;
    Fail(kSafetensorsHeader, field->range, "`{}` of the tensor `{}` must be a list of integers from 0 on",
         name, ShownText(tensor.key));
    return std::nullopt;
  }

  const ItemType* FindType(const JsonValue::Member& tensor) {
    const JsonValue* field = Field(tensor, "dtype");
    if (field == nullptr) return nullptr;
    const auto* name = field->get<std::string>();
    const auto* found = llvm::find_if(
        kItemTypes, [&](const ItemType& type) { return name != nullptr && type.name == *name; });
    if (found != std::end(kItemTypes)) return found;
    Fail(kSafetensorsType, field->range, "the tensor `{}` has the data type {}; expected {}",
         ShownText(tensor.key), name == nullptr ? "of no name" : fmt::format("`{}`", ShownText(*name)),
         "`F64`, `F32`, `F16`, `BF16`, `I8` to `I64`, `U8` to `U64` or `BOOL`");
    return nullptr;
  }

  bool ReadTensor(const JsonValue::Member& tensor) {
    const ItemType* type = FindType(tensor);
    const auto shape = type == nullptr ? std::nullopt : Sizes(tensor, "shape");
    const auto offsets = shape ? Sizes(tensor, "data_offsets") : std::nullopt;
    if (!offsets) return false;
    const SourceRange place = tensor.value.Find("data_offsets")->range;
    const uint64_t available = size_ - data_at_;
    if (offsets->size() != 2 || (*offsets)[0] > (*offsets)[1] ||
        static_cast<uint64_t>((*offsets)[1]) > available) {
      return Fail(kSafetensorsSize, place,
                  "the items of the tensor `{}` must lie between two offsets into the {} bytes of data",
                  ShownText(tensor.key), available);
    }
    const Shape extents(shape->begin(), shape->end());
    const auto volume = extents.size() <= kMaxExtents ? Volume(extents) : std::nullopt;
    const auto wanted = volume ? ByteSize(type->type, *volume) : std::nullopt;
    const auto size = static_cast<uint64_t>((*offsets)[1] - (*offsets)[0]);
    if (!wanted || *wanted != size) {
      return Fail(kSafetensorsSize, place,
                  "the tensor `{}` of shape {} and type `{}` has {} bytes of data; expected {}",
                  ShownText(tensor.key), ToString(extents), type->name, size,
                  wanted ? fmt::format("{}", *wanted) : "a shape that memory can hold");
    }
    SafetensorsEntry entry;
    entry.type = type->type;
    entry.size = size;
    entry.header = {.file = start_.file,
                    .shape = extents,
                    .items = type->items,
                    .bits = type->type == ElementType::kBoolean ? 8 : BitWidth(type->type),
                    .type_offset = tensor.value.Find("dtype")->range.begin,
                    .data_offset = data_at_ + static_cast<uint64_t>((*offsets)[0])};
    ends_.push_back({entry.header.data_offset, entry.header.data_offset + size, place});
    index_.emplace(tensor.key, std::move(entry));
    return true;
  }

  // Checks that tensors neither overlap nor have gaps between them.
  bool CheckOrder() {
    llvm::sort(ends_, [](const Extent& a, const Extent& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    uint64_t reached = data_at_;
    for (const Extent& extent : ends_) {
      if (extent.begin != reached) {
        return Fail(kSafetensorsSize, extent.place,
                    "these items begin at byte {} of the data, where those before them end at {}",
                    extent.begin - data_at_, reached - data_at_);
      }
      reached = extent.end;
    }
    if (reached == size_) return true;
    return Fail(kSafetensorsSize, ByteRange(start_.file, reached, size_ - reached),
                "{} bytes follow the items of the last tensor", size_ - reached);
  }

  struct Extent {
    uint64_t begin;
    uint64_t end;
    SourceRange place;
  };
  static constexpr size_t kMaxExtents = 64;

  const DataSource& start_;
  uint64_t size_;
  Emitter& emitter_;
  uint64_t data_at_ = 0;
  std::vector<Extent> ends_;
  SafetensorsIndex index_;
};

bool CheckBools(const TensorValue& value, const SafetensorsEntry& entry, Emitter& emitter) {
  const std::byte* end = value.bytes() + value.byte_size();
  const std::byte* wrong =
      std::find_if(value.bytes(), end, [](std::byte item) { return item > std::byte{1}; });
  if (wrong == end) return true;
  const auto at = static_cast<uint64_t>(wrong - value.bytes());
  emitter.Emit(kSafetensorsValue, ByteRange(entry.header.file, entry.header.data_offset + at, 1),
               "item {} of type `BOOL` is {}; expected 0 or 1", at, std::to_integer<int>(*wrong));
  return false;
}

}  // namespace

uint64_t SafetensorsHeaderSize(std::span<const std::byte> start) {
  if (start.size() < kSizeBytes) return start.size();
  return kSizeBytes + std::min(StatedSize(start), kLongestSafetensorsHeader - kSizeBytes);
}

std::optional<SafetensorsIndex> ReadSafetensorsIndex(const DataSource& start, uint64_t size,
                                                     Emitter& emitter) {
  return IndexReader(start, size, emitter).Read();
}

std::optional<DatFile> ReadSafetensorsEntry(const DataSource& file, const SafetensorsEntry& entry,
                                            Emitter& emitter) {
  const DatHeader& header = entry.header;
  if (header.data_offset + entry.size > file.bytes->size()) {
    emitter.Emit(kSafetensorsSize, ByteRange(file.file, file.bytes->size(), 0),
                 "the file was changed while it was read; run the command once more");
    return std::nullopt;
  }
  auto bytes =
      Buffer::Slice(file.bytes, static_cast<size_t>(header.data_offset), static_cast<size_t>(entry.size));
  TensorValue value(entry.type, header.shape, std::move(bytes));
  if (entry.type == ElementType::kBoolean && !CheckBools(value, entry, emitter)) return std::nullopt;
  if (entry.type == ElementType::kBF16) {
    value = TensorValue(ElementType::kF32, header.shape,
                        Buffer::Unpacked({CompressedFloats::Form::kBfloat, value.buffer(), value.volume()}));
  }
  return DatFile{header, std::move(value)};
}

}  // namespace nnefc::package

// The reader of headers of tensor files, in the ratified and the provisional format.

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "compiler/package/rules.h"
#include "compiler/package/tensors/dat.h"
#include "compiler/support/tensor/compressed_floats.h"

namespace nnefc::package {
namespace {

constexpr uint64_t kRatifiedHeader = 128;
constexpr uint64_t kStrayBytes = 4;
constexpr uint32_t kRatifiedMaxRank = 8;
// The provisional format has no limit; arrays of other tools have at most this rank.
constexpr uint32_t kProvisionalMaxRank = 32;
constexpr uint64_t kProvisionalHeader = 16;  // without extents and text
static_assert(kLongestDatHeader == kProvisionalHeader + 4 * kProvisionalMaxRank + 0xffff);

// Offsets in the headers.
constexpr uint64_t kVersionAt = 2;
constexpr uint64_t kLengthAt = 4;  // length of the data in R, of the header in P
constexpr uint64_t kRankAt = 8;
constexpr uint64_t kExtentsAt = 12;
constexpr uint64_t kRatifiedBitsAt = 44;
constexpr uint64_t kRatifiedTypeAt = 48;
constexpr uint64_t kRatifiedParametersAt = 52;

std::optional<uint64_t> PlainBytes(llvm::ArrayRef<int64_t> shape, int bits) {
  std::optional<int64_t> volume = Volume(shape);
  int64_t total = 0;
  if (!volume || __builtin_mul_overflow(*volume, int64_t{bits}, &total)) return std::nullopt;
  return static_cast<uint64_t>(total / 8 + (total % 8 != 0 ? 1 : 0));
}

bool BitsFit(DatItems items, uint32_t bits) {
  switch (items) {
    case DatItems::kFloat:
      return bits == 16 || bits == 32 || bits == 64;
    case DatItems::kBool:
      return bits == 1 || bits == 8;
    case DatItems::kUnsigned:
    case DatItems::kSigned:
      return bits >= 1 && bits <= 64;
  }
  return false;
}

std::string_view ExpectedBits(DatItems items) {
  switch (items) {
    case DatItems::kFloat:
      return "floats have 16, 32 or 64";
    case DatItems::kBool:
      return "bools have 1 or 8";
    case DatItems::kUnsigned:
    case DatItems::kSigned:
      return "integers have 1 to 64";
  }
  return "";
}

// Item types of the ratified format: R 5.2, and those of versions 1.0 to 1.0.2, two of them in hexadecimal.
struct RatifiedType {
  uint32_t code;
  DatItems items;
  DatCoding coding;
};
constexpr uint32_t kIntegerCode = 1;  // a flag in the deprecated parameters makes it signed
constexpr RatifiedType kRatifiedTypes[] = {
    {0, DatItems::kFloat, DatCoding::kPlain},        {kIntegerCode, DatItems::kUnsigned, DatCoding::kPlain},
    {2, DatItems::kUnsigned, DatCoding::kQuantized}, {3, DatItems::kSigned, DatCoding::kQuantized},
    {4, DatItems::kSigned, DatCoding::kPlain},       {5, DatItems::kBool, DatCoding::kPlain},
    {0x10, DatItems::kUnsigned, DatCoding::kLinear}, {0x11, DatItems::kUnsigned, DatCoding::kLogarithmic},
};

// Item types of a vendor (R 5.2: its code is the upper half), without a number of bits.
struct VendorType {
  uint32_t code;
  DatBlocks blocks;
};
constexpr VendorType kVendorTypes[] = {{0x54523040, DatBlocks::kHalves}, {0x54522040, DatBlocks::kPairs}};
constexpr uint32_t kVendorBits = 0xffffffff;

// Accessors for the bytes of a little-endian header.
class HeaderBytes {
 public:
  explicit HeaderBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint8_t U8(uint64_t at) const { return static_cast<uint8_t>(bytes_[at]); }
  uint16_t U16(uint64_t at) const { return static_cast<uint16_t>(U8(at) | U8(at + 1) << 8); }
  uint32_t U32(uint64_t at) const { return U16(at) | static_cast<uint32_t>(U16(at + 2)) << 16; }
  float F32(uint64_t at) const { return std::bit_cast<float>(U32(at)); }

 private:
  std::span<const std::byte> bytes_;
};

uint64_t ProvisionalTypeAt(HeaderBytes header) {
  return kExtentsAt + uint64_t{4} * header.U32(kRankAt);
}

// Returns true if the header of a file of `size` bytes states the length of a provisional header.
bool StatesProvisionalLength(HeaderBytes header, uint64_t size) {
  const uint64_t type_at = ProvisionalTypeAt(header);
  const uint64_t length = header.U32(kLengthAt);
  if (type_at + 4 > size || length < type_at + 4) return false;
  const uint64_t text = length - type_at - 4;
  // Headers with a rejected rank are not read further.
  if (header.U32(kRankAt) > kProvisionalMaxRank) return text <= std::numeric_limits<uint16_t>::max();
  return text == header.U16(type_at + 2);
}

class DatReader {
 public:
  // `source` has at least the header of a file of `size` bytes.
  DatReader(const DataSource& source, uint64_t size, Emitter& emitter)
      : source_(source),
        header_({source.bytes->data(), source.bytes->size()}),
        emitter_(emitter),
        size_(size) {
    dat_.file = source.file;
  }

  std::optional<DatHeader> ReadHeader() {
    if (!ReadAny()) return std::nullopt;
    return std::move(static_cast<DatHeader&>(dat_));
  }
  std::optional<DatFile> Read() {
    if (!ReadAny() || !Unpack()) return std::nullopt;
    return std::move(dat_);
  }

 private:
  template <typename... Args>
  bool Fail(const Rule& rule, uint64_t at, uint64_t size, fmt::format_string<Args...> format,
            Args&&... args) {
    emitter_.Emit(rule, ByteRange(source_.file, at, size), format, std::forward<Args>(args)...);
    return false;
  }
  bool FailTruncated(std::string_view where) {
    return Fail(kDatTruncated, size_, 0, "the file ends after {} byte{}, within {}", size_,
                size_ == 1 ? "" : "s", where);
  }

  bool ReadAny() { return CheckMagic() && (IsProvisional() ? ReadProvisional() : ReadRatified()); }
  bool CheckMagic();
  bool IsProvisional() const;
  bool ReadProvisional();
  bool ReadRatified();
  bool ReadRatifiedType();
  bool ReadVendorType(uint32_t code);
  bool CheckBits(uint32_t bits, uint64_t at, uint64_t size);
  void ReadExtents(uint32_t rank);
  std::optional<uint64_t> DataBytes() const;
  std::string Layout() const;
  std::optional<uint64_t> CheckedDataBytes();
  bool CheckDataSize(uint64_t expected);

  bool Unpack();
  template <typename T>
  bool UnpackItems(ElementType type);
  bool UnpackBlocks();
  bool FailMemory() {
    return Fail(kDataTooLarge, dat_.data_offset, 0, "there is no memory for {} items of {} bits",
                *Volume(dat_.shape), dat_.bits);
  }

  const DataSource& source_;
  HeaderBytes header_;
  Emitter& emitter_;
  uint64_t size_;
  DatFile dat_;
};

bool DatReader::CheckMagic() {
  for (uint64_t at = 0; at < std::min<uint64_t>(size_, 2); ++at) {
    if (header_.U8(at) == (at == 0 ? 0x4e : 0xef)) continue;
    return Fail(kDatMagic, 0, 2, "invalid tensor file: it starts with `{:02X} {:02X}`, not with `4E EF`",
                header_.U8(0), size_ > 1 ? header_.U8(1) : 0);
  }
  if (size_ < kProvisionalHeader) return FailTruncated("the header");
  if (header_.U8(kVersionAt) == 1 && header_.U8(kVersionAt + 1) == 0) return true;
  return Fail(kDatVersion, kVersionAt, 2, "version {}.{} of the tensor format is not known; expected 1.0",
              header_.U8(kVersionAt), header_.U8(kVersionAt + 1));
}

// Distinguishes the formats, since they share magic and version. A provisional header states its own length,
// 16 + 4 * rank + the length of its text. A ratified one states the length of the data after its 128 bytes. A
// file can satisfy both. A provisional tensor of 128 bytes has that size. In a ratified tensor of shape [1,6]
// the data length 24 equals that of a provisional header of rank 2. The bits per item at the provisional
// offset decide: a ratified file has zero there, after its last extent.
bool DatReader::IsProvisional() const {
  if (!StatesProvisionalLength(header_, size_)) return false;
  return header_.U32(kRankAt) > kProvisionalMaxRank || header_.U8(ProvisionalTypeAt(header_) + 1) != 0;
}

void DatReader::ReadExtents(uint32_t rank) {
  for (uint32_t i = 0; i < rank; ++i) dat_.shape.push_back(header_.U32(kExtentsAt + uint64_t{4} * i));
}

bool DatReader::CheckBits(uint32_t bits, uint64_t at, uint64_t size) {
  if (!BitsFit(dat_.items, bits)) {
    return Fail(kDatBits, at, size, "{} bits per item; {}", bits, ExpectedBits(dat_.items));
  }
  dat_.bits = static_cast<int>(bits);
  return true;
}

// Returns the size of the data in bytes; nothing on overflow.
std::optional<uint64_t> DatReader::DataBytes() const {
  if (dat_.blocks == DatBlocks::kNone) return PlainBytes(dat_.shape, dat_.bits);
  const std::optional<int64_t> volume = Volume(dat_.shape);
  // A block has fewer than 32 bits per item, so this bounds its bytes.
  if (!volume || !PlainBytes(dat_.shape, 32)) return std::nullopt;
  return static_cast<uint64_t>(*volume / CompressedFloats::kBlockItems * CompressedFloats::kBlockBytes);
}

std::string DatReader::Layout() const {
  if (dat_.blocks == DatBlocks::kNone)
    return fmt::format("{} with {} bits per item", ToString(dat_.shape), dat_.bits);
  return fmt::format("{} in blocks of {} items", ToString(dat_.shape), CompressedFloats::kBlockItems);
}

std::optional<uint64_t> DatReader::CheckedDataBytes() {
  std::optional<uint64_t> bytes = DataBytes();
  if (!bytes) {
    Fail(kDatExtents, kExtentsAt, 4 * dat_.shape.size(), "a tensor of shape {} is too large", Layout());
    return std::nullopt;
  }
  if (dat_.blocks != DatBlocks::kNone && *Volume(dat_.shape) % CompressedFloats::kBlockItems != 0) {
    Fail(kDatExtents, kExtentsAt, 4 * dat_.shape.size(),
         "the items of shape {} fill no whole number of blocks of {}", ToString(dat_.shape),
         CompressedFloats::kBlockItems);
    return std::nullopt;
  }
  return bytes;
}

// Checks that exactly `expected` bytes follow data_offset.
bool DatReader::CheckDataSize(uint64_t expected) {
  uint64_t present = size_ - dat_.data_offset;
  if (present < expected) {
    return Fail(kDatTruncated, size_, 0, "the file ends after {} of {} bytes of data ({})", present, expected,
                Layout());
  }
  if (present > expected) {
    return Fail(kDatSize, dat_.data_offset + expected, present - expected, "{} byte{} follow{} the data ({})",
                present - expected, present - expected == 1 ? "" : "s", present - expected == 1 ? "s" : "",
                Layout());
  }
  return true;
}

bool DatReader::ReadProvisional() {
  dat_.format = DatFile::Format::kProvisional;
  uint32_t rank = header_.U32(kRankAt);
  if (rank > kProvisionalMaxRank) {
    return Fail(kDatRank, kRankAt, 4, "rank {}; tensors of rank 0 to {} can be read", rank,
                kProvisionalMaxRank);
  }
  ReadExtents(rank);
  dat_.type_offset = kExtentsAt + uint64_t{4} * rank;
  uint8_t type = header_.U8(dat_.type_offset);
  constexpr DatItems kItems[] = {DatItems::kFloat, DatItems::kUnsigned, DatItems::kSigned,
                                 DatItems::kUnsigned};
  constexpr uint8_t kQuantizedType = 1;
  if (type >= std::size(kItems)) {
    return Fail(kDatItemType, dat_.type_offset, 1,
                "item type {}; expected 0 (float), 1 (quantized), 2 (signed) or 3 (unsigned)", type);
  }
  dat_.items = kItems[type];
  if (!CheckBits(header_.U8(dat_.type_offset + 1), dat_.type_offset + 1, 1)) return false;

  dat_.data_offset = header_.U32(kLengthAt);
  if (dat_.data_offset > size_) return FailTruncated("the header");
  dat_.algorithm_offset = dat_.type_offset + 4;
  uint64_t text_size = dat_.data_offset - dat_.algorithm_offset;
  if (type != kQuantizedType && text_size != 0) {
    return Fail(kDatAlgorithm, dat_.algorithm_offset, text_size,
                "a quantization algorithm is given for items that are not quantized");
  }
  if (type == kQuantizedType) dat_.coding = text_size != 0 ? DatCoding::kAlgorithm : DatCoding::kQuantized;
  dat_.algorithm.assign(reinterpret_cast<const char*>(source_.bytes->data()) + dat_.algorithm_offset,
                        text_size);

  std::optional<uint64_t> expected = CheckedDataBytes();
  return expected && CheckDataSize(*expected);
}

bool DatReader::ReadRatifiedType() {
  dat_.type_offset = kRatifiedTypeAt;
  uint32_t code = header_.U32(kRatifiedTypeAt);
  if (code >> 16 != 0) return ReadVendorType(code);
  for (const RatifiedType& type : kRatifiedTypes) {
    if (type.code != code) continue;
    dat_.items = type.items;
    dat_.coding = type.coding;
    if (code == kIntegerCode && header_.U32(kRatifiedParametersAt) != 0) dat_.items = DatItems::kSigned;
    if (type.coding == DatCoding::kPlain) return true;
    dat_.min = header_.F32(kRatifiedParametersAt);
    dat_.max = header_.F32(kRatifiedParametersAt + 4);
    dat_.has_range = dat_.min != 0 || dat_.max != 0;
    return true;
  }
  return Fail(kDatItemType, kRatifiedTypeAt, 4,
              "item type {}; expected 0 (float), 1 (unsigned), 2 or 3 (quantized), 4 (signed) or 5 (bool)",
              code);
}

bool DatReader::ReadVendorType(uint32_t code) {
  for (const VendorType& type : kVendorTypes) {
    if (type.code != code) continue;
    dat_.blocks = type.blocks;
    dat_.bits = 4;
    const uint32_t bits = header_.U32(kRatifiedBitsAt);
    if (bits == kVendorBits) return true;
    return Fail(kDatBits, kRatifiedBitsAt, 4,
                "{} bits per item; items of type 0x{:08x} lie in blocks, which 0xffffffff says here", bits,
                code);
  }
  return Fail(kDatVendorType, kRatifiedTypeAt, 4,
              "item type 0x{:08x} is of vendor 0x{:04x}; known are Khronos' item types, of vendor 0, and "
              "tract's blocks of 4 bits (Q4_0)",
              code, code >> 16);
}

bool DatReader::ReadRatified() {
  if (size_ < kRatifiedHeader) return FailTruncated("the header");
  uint32_t rank = header_.U32(kRankAt);
  if (rank > kRatifiedMaxRank) {
    return Fail(kDatRank, kRankAt, 4, "rank {}; expected 0 to {}", rank, kRatifiedMaxRank);
  }
  ReadExtents(rank);
  if (!ReadRatifiedType()) return false;
  if (dat_.blocks == DatBlocks::kNone && !CheckBits(header_.U32(kRatifiedBitsAt), kRatifiedBitsAt, 4))
    return false;
  std::optional<uint64_t> expected = CheckedDataBytes();
  if (!expected) return false;
  if (*expected != header_.U32(kLengthAt)) {
    return Fail(kDatSize, kLengthAt, 4, "the header says {} bytes of data, but shape {} takes {}",
                header_.U32(kLengthAt), Layout(), *expected);
  }
  dat_.data_offset = kRatifiedHeader;
  if (size_ == kRatifiedHeader + kStrayBytes + *expected) {
    dat_.data_offset += kStrayBytes;
    emitter_.Emit(kDatStrayBytes, ByteRange(source_.file, kRatifiedHeader, kStrayBytes),
                  "{} stray bytes between header and data, as an old exporter wrote them, are skipped",
                  kStrayBytes);
  }
  if (!CheckDataSize(*expected)) return false;
  for (uint32_t i = rank; i < kRatifiedMaxRank; ++i) {
    uint64_t at = kExtentsAt + uint64_t{4} * i;
    if (header_.U32(at) == 0) continue;
    emitter_.Emit(kDatStrayExtents, ByteRange(source_.file, at, 4),
                  "extent {} behind the last of a tensor of rank {} is ignored; it should be 0",
                  header_.U32(at), rank);
    break;
  }
  return true;
}

ElementType NativeType(DatItems items, int bits) {
  switch (items) {
    case DatItems::kFloat:
      return bits == 16 ? ElementType::kF16 : bits == 32 ? ElementType::kF32 : ElementType::kF64;
    case DatItems::kBool:
      return ElementType::kBoolean;
    case DatItems::kUnsigned:
      return bits <= 8    ? ElementType::kU8
             : bits <= 16 ? ElementType::kU16
             : bits <= 32 ? ElementType::kU32
                          : ElementType::kU64;
    case DatItems::kSigned:
      return bits <= 8    ? ElementType::kI8
             : bits <= 16 ? ElementType::kI16
             : bits <= 32 ? ElementType::kI32
                          : ElementType::kI64;
  }
  return ElementType::kDynamic;
}

// A stream of items of any bit width: whole bytes are little-endian (R 5.2: "all data"), other widths are
// packed with the most significant bit first.
class BitStream {
 public:
  BitStream(const std::byte* bytes, int bits) : at_(bytes), bits_(bits) {}

  uint64_t Next() {
    if (bits_ % 8 == 0) {
      uint64_t value = 0;
      for (int shift = 0; shift < bits_; shift += 8) value |= static_cast<uint64_t>(*at_++) << shift;
      return value;
    }
    while (held_ < bits_) {
      window_ = window_ << 8 | static_cast<unsigned>(*at_++);
      held_ += 8;
    }
    held_ -= bits_;
    uint64_t mask = (uint64_t{1} << bits_) - 1;
    return static_cast<uint64_t>(window_ >> held_) & mask;
  }

 private:
  const std::byte* at_;
  int bits_;
  int held_ = 0;                  // unread bits in the window
  unsigned __int128 window_ = 0;  // up to 63 + 8 bits
};

template <typename T>
bool DatReader::UnpackItems(ElementType type) {
  auto volume = static_cast<uint64_t>(*Volume(dat_.shape));
  std::optional<size_t> size = ByteSize(type, static_cast<int64_t>(volume));
  auto buffer = size ? Buffer::Allocate(*size) : nullptr;
  if (buffer == nullptr) return FailMemory();
  auto* out = reinterpret_cast<T*>(buffer->mutable_data());
  BitStream stream(source_.bytes->data() + dat_.data_offset, dat_.bits);
  int unused = 64 - dat_.bits;
  for (uint64_t i = 0; i < volume; ++i) {
    uint64_t item = stream.Next();
    if (dat_.items == DatItems::kBool) {
      item = item != 0 ? 1 : 0;
    } else if (dat_.items == DatItems::kSigned) {
      item = static_cast<uint64_t>(static_cast<int64_t>(item << unused) >> unused);
    }
    out[i] = static_cast<T>(item);
  }
  dat_.value = TensorValue(type, dat_.shape, std::move(buffer));
  return true;
}

// Creates f32 values that stay compressed until their first access.
bool DatReader::UnpackBlocks() {
  using Form = CompressedFloats::Form;
  const auto size = static_cast<size_t>(*DataBytes());
  CompressedFloats floats(dat_.blocks == DatBlocks::kPairs ? Form::kBlocksOfPairs : Form::kBlocksOfHalves,
                          Buffer::Slice(source_.bytes, dat_.data_offset, size), *Volume(dat_.shape));
  dat_.value = TensorValue(ElementType::kF32, dat_.shape, Buffer::Unpacked(std::move(floats)));
  return true;
}

bool DatReader::Unpack() {
  if (dat_.blocks != DatBlocks::kNone) return UnpackBlocks();
  ElementType type = NativeType(dat_.items, dat_.bits);
  if (dat_.items != DatItems::kBool && BitWidth(type) == dat_.bits) {
    auto size = static_cast<size_t>(*DataBytes());
    dat_.value = TensorValue(type, dat_.shape, Buffer::Slice(source_.bytes, dat_.data_offset, size));
    return true;
  }
  switch (BitWidth(type)) {
    case 8:
      return UnpackItems<uint8_t>(type);
    case 16:
      return UnpackItems<uint16_t>(type);
    case 32:
      return UnpackItems<uint32_t>(type);
    default:
      return UnpackItems<uint64_t>(type);
  }
}

}  // namespace

std::optional<DatFile> ReadDat(const DataSource& source, Emitter& emitter) {
  return DatReader(source, source.bytes->size(), emitter).Read();
}

uint64_t DatHeaderSize(std::span<const std::byte> start) {
  if (start.size() < kProvisionalHeader) return kRatifiedHeader;
  const HeaderBytes header(start);
  if (header.U32(kRankAt) > kProvisionalMaxRank) return kRatifiedHeader;
  uint64_t size = std::max(kRatifiedHeader, ProvisionalTypeAt(header) + 4);
  if (StatesProvisionalLength(header, start.size())) size = std::max<uint64_t>(size, header.U32(kLengthAt));
  return size;
}

std::optional<DatHeader> ReadDatHeader(const DataSource& start, uint64_t size, Emitter& emitter) {
  const Buffer& bytes = *start.bytes;
  NNEFC_CHECK(bytes.size() >= std::min(size, DatHeaderSize({bytes.data(), bytes.size()})));
  return DatReader(start, size, emitter).ReadHeader();
}

}  // namespace nnefc::package

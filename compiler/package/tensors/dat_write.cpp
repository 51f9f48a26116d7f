// The writer of tensor files.

#include <limits>
#include <vector>

#include "compiler/package/tensors/dat.h"
#include "compiler/support/files/file.h"

namespace nnefc::package {
namespace {

// The item type codes for a type: R 5.2, P 5.2.
struct ItemCode {
  uint8_t ratified;
  uint8_t provisional;
};

ItemCode CodeOf(ElementType type) {
  if (IsFloat(type)) return {0, 0};
  if (type == ElementType::kBoolean) return {5, 3};
  return IsSigned(type) ? ItemCode{4, 2} : ItemCode{1, 3};
}

class Header {
 public:
  void U8(uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void U32(uint64_t value) {
    for (int shift = 0; shift < 32; shift += 8) U8(static_cast<uint8_t>(value >> shift));
  }
  void PadTo(size_t size) { bytes_.resize(size); }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Returns sub-byte items packed with the most significant bit first, as in the file format but unlike in
// memory.
std::vector<std::byte> Packed(const TensorValue& value) {
  const int bits = BitWidth(value.type());
  std::vector<std::byte> packed(value.byte_size());
  for (int64_t i = 0; i < value.volume(); ++i) {
    unsigned item = static_cast<unsigned>(value.ElementAsInt(i)) & ((1u << bits) - 1);
    int64_t at = i * bits;
    packed[static_cast<size_t>(at / 8)] |= static_cast<std::byte>(item << (8 - bits - at % 8));
  }
  return packed;
}

}  // namespace

ErrorOr<Success> WriteDat(const std::string& path, const TensorValue& value, DatFile::Format format) {
  NNEFC_CHECK(value.valid() && BitWidth(value.type()) > 0);
  if (value.type() == ElementType::kBF16 || IsNarrowFloat(value.type()))
    return WriteDat(path, value.ConvertedTo(ElementType::kF32), format);

  const bool ratified = format == DatFile::Format::kRatified;
  constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();
  constexpr size_t kRatifiedMaxRank = 8;
  if (ratified && value.shape().size() > kRatifiedMaxRank) {
    return SystemError{fmt::format("cannot write `{}`: a tensor file has at most {} extents, not {}", path,
                                   kRatifiedMaxRank, value.shape().size())};
  }
  bool too_large = ratified && value.byte_size() > kMax32;
  for (int64_t extent : value.shape()) too_large |= static_cast<uint64_t>(extent) > kMax32;
  if (too_large) {
    return SystemError{fmt::format("cannot write `{}`: a tensor of shape {} is too large for a tensor file",
                                   path, ToString(value.shape()))};
  }

  Header header;
  for (uint8_t byte : {0x4e, 0xef, 1, 0}) header.U8(byte);
  header.U32(ratified ? value.byte_size() : 16 + 4 * value.shape().size());
  header.U32(value.shape().size());
  for (int64_t extent : value.shape()) header.U32(static_cast<uint64_t>(extent));
  auto bits = static_cast<uint8_t>(BitWidth(value.type()));
  ItemCode code = CodeOf(value.type());
  if (ratified) {
    header.PadTo(44);
    header.U32(bits);
    header.U32(code.ratified);
    header.PadTo(128);
  } else {
    header.U8(code.provisional);
    header.U8(bits);
    header.U8(0);
    header.U8(0);
  }

  auto file = OutputFile::Create(path);
  if (!file) return file.error();
  if (auto written = file->Write(header.bytes()); !written) return written;
  std::span<const std::byte> data(value.bytes(), value.byte_size());
  std::vector<std::byte> packed;
  if (bits < 8) {
    packed = Packed(value);
    data = packed;
  }
  if (auto written = file->Write(data); !written) return written;
  return file->Commit();
}

}  // namespace nnefc::package

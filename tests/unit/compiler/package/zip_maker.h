#pragma once

#include <zlib.h>

#include <optional>
#include <string>

#include "tests/unit/compiler/package/testing.h"

namespace nnefc::package {

// Makes zip archives, valid and invalid ones.
class ZipMaker {
 public:
  struct Entry {
    std::string name = {};
    std::string data = {};  // as stored in the archive
    uint16_t flags = 0;
    uint16_t method = 0;
    std::optional<uint32_t> unpacked = {};  // bytes, if they differ from those of the data
    std::optional<uint32_t> checksum = {};  // if it differs from that of the data
    std::optional<std::string> local_name = {};
    bool large = false;  // sizes and offset in a 64-bit extra field
  };

  ZipMaker& Add(const Entry& entry) {
    const auto place = static_cast<uint32_t>(files_.text().size());
    const auto packed = static_cast<uint32_t>(entry.data.size());
    const uint32_t unpacked = entry.unpacked.value_or(packed);
    const uint32_t kSeeExtra = 0xffffffff;
    const std::string local_name = entry.local_name.value_or(entry.name);
    Bytes begin;  // common to both headers
    begin.U16(20).U16(entry.flags).U16(entry.method).U16(0).U16(33);
    begin.U32(entry.checksum.value_or(Checksum(entry.data)));
    files_.Text("PK\3\4").Text(begin.text()).U32(packed).U32(unpacked);
    files_.U16(static_cast<uint16_t>(local_name.size())).U16(0).Text(local_name).Text(entry.data);
    directory_.Text("PK\1\2").U16(3 << 8 | 20).Text(begin.text());
    directory_.U32(entry.large ? kSeeExtra : packed).U32(entry.large ? kSeeExtra : unpacked);
    directory_.U16(static_cast<uint16_t>(entry.name.size()))
        .U16(entry.large ? 4 + 28 : 0)
        .U16(0)
        .U16(0)
        .U16(0);
    directory_.U32(0100644u << 16).U32(entry.large ? kSeeExtra : place).Text(entry.name);
    // After a field of another kind.
    if (entry.large) {
      directory_.U16(0x5455).U16(0).U16(1).U16(24);
      directory_.Add<uint64_t>(unpacked).Add<uint64_t>(packed).Add<uint64_t>(place);
    }
    ++count_;
    return *this;
  }
  // Includes the record of 64-bit sizes that NumPy writes for large archives.
  std::string Zip(bool large = false, const std::string& comment = "") const {
    const auto size = static_cast<uint32_t>(directory_.text().size());
    const auto place = static_cast<uint32_t>(files_.text().size());
    Bytes bytes;
    bytes.Text(files_.text()).Text(directory_.text());
    if (large) {
      bytes.Text("PK\6\6").Add<uint64_t>(44).U16(45).U16(45).U32(0).U32(0);
      bytes.Add<uint64_t>(count_).Add<uint64_t>(count_).Add<uint64_t>(size).Add<uint64_t>(place);
      bytes.Text("PK\6\7").U32(0).Add<uint64_t>(place + size).U32(1);
    }
    bytes.Text("PK\5\6").U32(0).U16(count_).U16(count_);
    bytes.U32(large ? 0xffffffff : size).U32(large ? 0xffffffff : place);
    return bytes.U16(static_cast<uint16_t>(comment.size())).Text(comment).text();
  }

  static uint32_t Checksum(const std::string& data) {
    return static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
  }

 private:
  Bytes files_, directory_;
  uint16_t count_ = 0;
};

// Compresses by deflate, without a header.
inline std::string Deflate(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace nnefc::package

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/package/data_source.h"

namespace nnefc::package {

// A file in a zip archive, as described by its central directory.
struct ZipMember {
  std::string_view name;     // any bytes; a view of the archive
  uint64_t name_offset = 0;  // offset in the archive
  uint16_t flags = 0;
  uint16_t method = 0;         // of compression: 0 (stored) or 8 (deflated)
  uint32_t checksum = 0;       // CRC-32 of the unpacked data
  uint64_t packed_size = 0;    // bytes
  uint64_t unpacked_size = 0;  // bytes
  uint64_t header_offset = 0;  // offset of the local file header in the archive
};

// A reader of an in-memory zip archive: members are stored or deflated, sizes may have 64 bits (Zip64), and
// bytes may precede the archive. The caller validates names. Corrupt or encrypted members, and more than
// `max_bytes` unpacked in total, are errors with a byte offset. Memory grows with the available data, never
// by the sizes stated in headers.
class ZipReader {
 public:
  // Requires that `source` and `emitter` outlive the reader.
  ZipReader(const DataSource& source, uint64_t max_bytes, Emitter& emitter);

  // Returns the members in the order of the central directory; nothing after a reported error.
  std::optional<std::vector<ZipMember>> Members();
  // Returns the content of a member, whose checksum is verified: a slice of the archive if it is stored.
  // Returns null after a reported error. Each call counts towards `max_bytes`.
  [[nodiscard]] std::shared_ptr<const Buffer> Read(const ZipMember& member);

 private:
  // The location of the central directory and the base of its offsets.
  struct Directory {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t leading_bytes = 0;  // before the archive; offsets in the directory exclude them
  };

  template <typename... Args>
  void Fail(const Rule& rule, uint64_t at, fmt::format_string<Args...> format, Args&&... args);
  template <typename T>
  T Number(uint64_t at) const;
  bool HasSignature(uint64_t at, std::string_view signature, uint64_t size) const;
  std::optional<uint64_t> FindEnd() const;
  std::optional<Directory> FindDirectory();
  [[nodiscard]] bool ReadEntry(const Directory& directory, uint64_t& at, ZipMember& member);
  bool ReadZip64Sizes(uint64_t extra, uint64_t end, ZipMember& member) const;
  std::optional<uint64_t> FindData(const ZipMember& member);
  std::shared_ptr<const Buffer> Inflate(const ZipMember& member, uint64_t data);

  const DataSource& source_;
  std::string_view bytes_;
  uint64_t max_bytes_;
  uint64_t total_ = 0;  // unpacked bytes of all calls of Read
  Emitter& emitter_;
};

}  // namespace nnefc::package

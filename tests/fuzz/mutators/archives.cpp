#include "tests/fuzz/mutators/archives.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nnefc::fuzz {
namespace {

constexpr size_t kBlock = 512;
constexpr int kGzipWindow = 15 + 16;
constexpr int kRawWindow = -15;

uint64_t Number(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size && at + i < bytes.size(); ++i)
    value |= uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

void Put(std::string& out, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
}

// Returns the text of a field up to a zero byte.
std::string Field(std::string_view block, size_t at, size_t size) {
  const std::string_view field = block.substr(at, size);
  return std::string(field.substr(0, std::min(field.find('\0'), field.size())));
}

std::string Inflate(std::string_view packed, int window, size_t max_size) {
  z_stream stream = {};
  if (inflateInit2(&stream, window) != Z_OK) return "";
  std::string out(max_size, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

std::string Deflate(std::string_view bytes, int window) {
  z_stream stream = {};
  constexpr int kMemoryLevel = 8;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, window, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
    return "";
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void PutField(std::string& header, size_t at, size_t size, std::string_view text) {
  std::memcpy(header.data() + at, text.data(), std::min(text.size(), size));
}

}  // namespace

std::vector<ArchiveMember> ReadTar(std::string_view archive, size_t max_size) {
  constexpr size_t kSizeAt = 124;
  constexpr size_t kTypeAt = 156;
  constexpr size_t kLinkAt = 157;
  std::vector<ArchiveMember> members;
  size_t total = 0;
  size_t at = 0;
  while (at + kBlock <= archive.size() && archive[at] != '\0') {
    const std::string_view header = archive.substr(at, kBlock);
    const size_t size = std::strtoul(Field(header, kSizeAt, 12).c_str(), nullptr, 8);
    at += kBlock;
    const size_t read = std::min(size, archive.size() - at);
    total += read;
    if (total > max_size) break;
    members.push_back({.name = Field(header, 0, 100),
                       .content = std::string(archive.substr(at, read)),
                       .type = header[kTypeAt],
                       .link = Field(header, kLinkAt, 100)});
    at += (read + kBlock - 1) / kBlock * kBlock;
  }
  return members;
}

std::string WriteTar(const std::vector<ArchiveMember>& members) {
  constexpr size_t kChecksumAt = 148;
  std::string out;
  for (const ArchiveMember& member : members) {
    std::string header(kBlock, '\0');
    char size[16];
    std::snprintf(size, sizeof size, "%011zo", member.content.size());
    PutField(header, 0, 100, member.name);
    PutField(header, 100, 8, "0000644");
    PutField(header, 108, 8, "0000000");
    PutField(header, 116, 8, "0000000");
    PutField(header, 124, 12, size);
    PutField(header, 136, 12, "00000000000");
    PutField(header, kChecksumAt, 8, "        ");
    header[156] = member.type;
    PutField(header, 157, 100, member.link);
    PutField(header, 257, 8, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (char c : header) sum += static_cast<unsigned char>(c);
    char checksum[8];
    std::snprintf(checksum, sizeof checksum, "%06o", sum & 0777777u);
    PutField(header, kChecksumAt, 7, std::string_view(checksum, 7));
    out += header;
    out += member.content;
    out.resize((out.size() + kBlock - 1) / kBlock * kBlock);
  }
  out.resize(out.size() + 2 * kBlock);
  return out;
}

// Returns the members by their local headers, which have the sizes in the archives that are mutated.
std::vector<ArchiveMember> ReadZip(std::string_view archive, size_t max_size) {
  constexpr std::string_view kLocal("PK\3\4", 4);
  constexpr size_t kLocalSize = 30;
  std::vector<ArchiveMember> members;
  size_t total = 0;
  for (size_t at = archive.find(kLocal); at != std::string_view::npos && at + kLocalSize <= archive.size();
       at = archive.find(kLocal, at)) {
    const int method = static_cast<int>(Number(archive, at + 8, 2));
    const size_t name_size = Number(archive, at + 26, 2);
    const size_t extra = Number(archive, at + 28, 2);
    const size_t packed = Number(archive, at + 18, 4);
    const size_t begin = at + kLocalSize + name_size + extra;
    if (begin > archive.size()) break;
    const std::string_view bytes = archive.substr(begin, std::min(packed, archive.size() - begin));
    ArchiveMember member{.name = std::string(archive.substr(at + kLocalSize, name_size)), .method = method};
    member.content = method == 0 ? std::string(bytes) : Inflate(bytes, kRawWindow, max_size);
    total += member.content.size();
    if (total > max_size) break;
    members.push_back(std::move(member));
    at = begin + bytes.size();
  }
  return members;
}

std::string WriteZip(const std::vector<ArchiveMember>& members) {
  std::string out;
  std::string directory;
  for (const ArchiveMember& member : members) {
    const std::string packed = member.method == 8 ? Deflate(member.content, kRawWindow) : member.content;
    std::string common;  // of both headers
    Put(common, 20, 2);
    Put(common, 0, 2);
    Put(common, static_cast<uint64_t>(member.method), 2);
    Put(common, 0x00210000, 4);  // 1980-01-01
    Put(common,
        crc32(0, reinterpret_cast<const Bytef*>(member.content.data()),
              static_cast<uInt>(member.content.size())),
        4);
    Put(common, packed.size(), 4);
    Put(common, member.content.size(), 4);
    Put(common, member.name.size(), 2);
    Put(common, 0, 2);
    const size_t header = out.size();
    out.append("PK\3\4", 4).append(common).append(member.name).append(packed);
    directory += std::string("PK\1\2", 4);
    Put(directory, 20, 2);
    directory += common;
    Put(directory, 0, 2 + 2 + 2);
    Put(directory, 0, 4);
    Put(directory, header, 4);
    directory += member.name;
  }
  const size_t begin = out.size();
  out += directory + std::string("PK\5\6", 4);
  Put(out, 0, 4);
  Put(out, members.size(), 2);
  Put(out, members.size(), 2);
  Put(out, directory.size(), 4);
  Put(out, begin, 4);
  Put(out, 0, 2);
  return out;
}

std::string Gunzip(std::string_view packed, size_t max_size) {
  return Inflate(packed, kGzipWindow, max_size);
}

std::string Gzip(std::string_view bytes) {
  return Deflate(bytes, kGzipWindow);
}

}  // namespace nnefc::fuzz

// The reader of zip archives.

#include "compiler/package/containers/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "compiler/package/rules.h"
#include "llvm/ADT/ScopeExit.h"

namespace nnefc::package {
namespace {

// The signatures of the format's records, and their sizes without variable parts.
constexpr std::string_view kFile = "PK\3\4";
constexpr uint64_t kFileSize = 30;
constexpr std::string_view kEntry = "PK\1\2";
constexpr uint64_t kEntrySize = 46;
constexpr std::string_view kEnd = "PK\5\6";
constexpr uint64_t kEndSize = 22;
constexpr std::string_view kZip64EndLocator = "PK\6\7";
constexpr uint64_t kZip64EndLocatorSize = 20;
constexpr std::string_view kZip64End = "PK\6\6";
constexpr uint64_t kZip64EndSize = 56;

constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint16_t kEncryptedFlag = 1;      // bit of ZipMember::flags
constexpr uint16_t kZip64Field = 1;         // kind of the extra field with 64-bit sizes
constexpr uint32_t kSeeZip64 = 0xffffffff;  // a size that is stored in that field instead
constexpr uint64_t kMaxInflation = 1032;    // maximum output bytes per byte of deflate

// Maximum bytes per call of zlib, which counts in 32 bits.
constexpr uint64_t kMaxBlock = uint64_t{1} << 30;

uint32_t Checksum(const std::byte* data, uint64_t size) {
  uLong sum = crc32(0, nullptr, 0);
  while (size > 0) {
    const uint64_t block = std::min(size, kMaxBlock);
    sum = crc32(sum, reinterpret_cast<const Bytef*>(data), static_cast<uInt>(block));
    data += block;
    size -= block;
  }
  return static_cast<uint32_t>(sum);
}

}  // namespace

ZipReader::ZipReader(const DataSource& source, uint64_t max_bytes, Emitter& emitter)
    : source_(source),
      bytes_(reinterpret_cast<const char*>(source.bytes->data()), source.bytes->size()),
      max_bytes_(max_bytes),
      emitter_(emitter) {}

template <typename... Args>
void ZipReader::Fail(const Rule& rule, uint64_t at, fmt::format_string<Args...> format, Args&&... args) {
  emitter_.Emit(rule, ByteRange(source_.file, at, 1), format, std::forward<Args>(args)...);
}

// Returns the little-endian number at an offset in the archive.
template <typename T>
T ZipReader::Number(uint64_t at) const {
  NNEFC_CHECK(at <= bytes_.size() && bytes_.size() - at >= sizeof(T));
  T value;
  std::memcpy(&value, bytes_.data() + at, sizeof value);
  return value;
}

// Returns whether a record of `size` bytes with `signature` is at offset `at`.
bool ZipReader::HasSignature(uint64_t at, std::string_view signature, uint64_t size) const {
  return at <= bytes_.size() && bytes_.size() - at >= size && bytes_.substr(at).starts_with(signature);
}

// Returns the offset of the record that ends the archive; a comment of up to 64 KiB may follow it.
std::optional<uint64_t> ZipReader::FindEnd() const {
  constexpr uint64_t kLongestComment = 0xffff;
  if (bytes_.size() < kEndSize) return std::nullopt;
  const uint64_t last = bytes_.size() - kEndSize;
  const uint64_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (uint64_t at = last + 1; at-- > first;) {
    if (HasSignature(at, kEnd, kEndSize) && Number<uint16_t>(at + 20) <= last - at) return at;
  }
  return std::nullopt;
}

std::optional<ZipReader::Directory> ZipReader::FindDirectory() {
  const std::optional<uint64_t> end = FindEnd();
  if (!end) {
    Fail(kArchiveFormat, 0, "invalid zip archive: the end of its directory is missing");
    return std::nullopt;
  }
  uint64_t size = Number<uint32_t>(*end + 12);
  uint64_t offset = Number<uint32_t>(*end + 16);
  Directory directory{.end = *end};
  if (*end >= kZip64EndLocatorSize + kZip64EndSize &&
      HasSignature(*end - kZip64EndLocatorSize, kZip64EndLocator, kZip64EndLocatorSize)) {
    const uint64_t at = *end - kZip64EndLocatorSize - kZip64EndSize;
    if (HasSignature(at, kZip64End, kZip64EndSize)) {
      size = Number<uint64_t>(at + 40);
      offset = Number<uint64_t>(at + 48);
      directory.end = at;
    }
  }
  if (size > directory.end || offset > directory.end - size) {
    Fail(kArchiveDamaged, *end, "the archive is damaged: its directory of {} bytes at {} does not fit", size,
         offset);
    return std::nullopt;
  }
  directory.begin = directory.end - size;
  directory.leading_bytes = directory.begin - offset;
  return directory;
}

std::optional<std::vector<ZipMember>> ZipReader::Members() {
  const std::optional<Directory> directory = FindDirectory();
  if (!directory) return std::nullopt;
  std::vector<ZipMember> members;
  for (uint64_t at = directory->begin; at < directory->end;) {
    if (!ReadEntry(*directory, at, members.emplace_back())) return std::nullopt;
  }
  return members;
}

// Reads the directory entry at `at` and advances `at` past it. Returns false after a reported error.
bool ZipReader::ReadEntry(const Directory& directory, uint64_t& at, ZipMember& member) {
  const uint64_t begin = at;
  if (directory.end - begin < kEntrySize || !HasSignature(begin, kEntry, kEntrySize)) {
    Fail(kArchiveDamaged, begin, "the archive is damaged: expected an entry of its directory");
    return false;
  }
  member.flags = Number<uint16_t>(begin + 8);
  member.method = Number<uint16_t>(begin + 10);
  member.checksum = Number<uint32_t>(begin + 16);
  member.packed_size = Number<uint32_t>(begin + 20);
  member.unpacked_size = Number<uint32_t>(begin + 24);
  const uint64_t name_size = Number<uint16_t>(begin + 28);
  const uint64_t extra_size = Number<uint16_t>(begin + 30);
  const uint64_t comment_size = Number<uint16_t>(begin + 32);
  member.header_offset = Number<uint32_t>(begin + 42);
  member.name_offset = begin + kEntrySize;
  at = member.name_offset + name_size + extra_size + comment_size;
  if (at > directory.end) {
    Fail(kArchiveDamaged, begin, "the archive is damaged: an entry of its directory does not fit");
    return false;
  }
  member.name = bytes_.substr(member.name_offset, name_size);
  const uint64_t extra = member.name_offset + name_size;
  if (!ReadZip64Sizes(extra, extra + extra_size, member) ||
      member.header_offset > directory.begin - directory.leading_bytes) {
    Fail(kArchiveDamaged, begin, "the archive is damaged: the sizes of `{}` do not fit",
         ShownText(member.name));
    return false;
  }
  member.header_offset += directory.leading_bytes;
  return true;
}

// Replaces sizes and offsets of kSeeZip64 by those in the Zip64 field among the extra fields at [extra, end).
// Returns false if they are missing.
bool ZipReader::ReadZip64Sizes(uint64_t extra, uint64_t end, ZipMember& member) const {
  uint64_t* const sizes[] = {&member.unpacked_size, &member.packed_size, &member.header_offset};
  if (std::none_of(std::begin(sizes), std::end(sizes), [](uint64_t* size) { return *size == kSeeZip64; }))
    return true;
  while (end - extra >= 4) {
    const uint16_t kind = Number<uint16_t>(extra);
    const uint64_t size = Number<uint16_t>(extra + 2);
    extra += 4;
    if (size > end - extra) return false;
    if (kind != kZip64Field) {
      extra += size;
      continue;
    }
    const uint64_t last = extra + size;
    for (uint64_t* value : sizes) {
      if (*value != kSeeZip64) continue;
      if (last - extra < sizeof(uint64_t)) return false;
      *value = Number<uint64_t>(extra);
      extra += sizeof(uint64_t);
    }
    return true;
  }
  return false;
}

// Returns the offset of a member's data, all of which is present; nothing after a reported error.
std::optional<uint64_t> ZipReader::FindData(const ZipMember& member) {
  const std::string shown = ShownText(member.name);
  if ((member.flags & kEncryptedFlag) != 0) {
    Fail(kArchiveFormat, member.name_offset, "`{}` is encrypted; only plain members are read", shown);
    return std::nullopt;
  }
  if (member.method != kStored && member.method != kDeflated) {
    Fail(kArchiveFormat, member.name_offset,
         "`{}` is compressed by method {}; expected 0 (stored) or 8 (deflated)", shown, member.method);
    return std::nullopt;
  }
  if (!HasSignature(member.header_offset, kFile, kFileSize)) {
    Fail(kArchiveDamaged, member.header_offset, "the archive is damaged: expected the header of `{}`", shown);
    return std::nullopt;
  }
  const uint64_t name_size = Number<uint16_t>(member.header_offset + 26);
  const uint64_t data =
      member.header_offset + kFileSize + name_size + uint64_t{Number<uint16_t>(member.header_offset + 28)};
  if (data > bytes_.size() || bytes_.size() - data < member.packed_size) {
    Fail(kArchiveDamaged, member.header_offset,
         "the archive is damaged: `{}` has {} bytes, of which {} are there", shown, member.packed_size,
         data > bytes_.size() ? 0 : bytes_.size() - data);
    return std::nullopt;
  }
  if (bytes_.substr(member.header_offset + kFileSize, name_size) != member.name) {
    Fail(kArchiveDamaged, member.header_offset,
         "the archive is damaged: the directory calls the file here `{}`", shown);
    return std::nullopt;
  }
  return data;
}

std::shared_ptr<const Buffer> ZipReader::Read(const ZipMember& member) {
  const std::optional<uint64_t> data = FindData(member);
  if (!data) return nullptr;
  if (member.unpacked_size > max_bytes_ || total_ > max_bytes_ - member.unpacked_size) {
    Fail(kArchiveTooLarge, member.name_offset,
         "the archive unpacks to more than {} bytes; raise the bound with `--max-bytes`", max_bytes_);
    return nullptr;
  }
  total_ += member.unpacked_size;
  const uint64_t max_size =
      member.method == kStored ? member.packed_size : kMaxInflation * member.packed_size + 64;
  if (member.unpacked_size > max_size || (member.method == kStored && member.unpacked_size != max_size)) {
    Fail(kArchiveSize, member.name_offset, "`{}` cannot have {} bytes: its data are {}",
         ShownText(member.name), member.unpacked_size, member.packed_size);
    return nullptr;
  }
  std::shared_ptr<const Buffer> content = member.method == kStored
                                              ? Buffer::Slice(source_.bytes, *data, member.packed_size)
                                              : Inflate(member, *data);
  if (content == nullptr) return nullptr;
  if (Checksum(content->data(), content->size()) != member.checksum) {
    Fail(kArchiveDamaged, *data, "the archive is damaged: the checksum of `{}` does not fit its data",
         ShownText(member.name));
    return nullptr;
  }
  return content;
}

// Decompresses a member whose data begin at the offset `data`. Returns null after a reported error.
std::shared_ptr<const Buffer> ZipReader::Inflate(const ZipMember& member, uint64_t data) {
  std::shared_ptr<Buffer> content = Buffer::Allocate(member.unpacked_size);
  if (content == nullptr) {
    Fail(kDataTooLarge, member.name_offset, "there is no memory for the {} bytes of `{}`",
         member.unpacked_size, ShownText(member.name));
    return nullptr;
  }
  z_stream stream{};
  NNEFC_CHECK(inflateInit2(&stream, -MAX_WBITS) == Z_OK);  // without a zlib header
  const auto cleanup = llvm::make_scope_exit([&] { inflateEnd(&stream); });
  uint64_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const auto in = static_cast<uInt>(std::min(member.packed_size - read, kMaxBlock));
    const auto out = static_cast<uInt>(std::min(member.unpacked_size - written, kMaxBlock));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes_.data() + data + read));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(content->mutable_data() + written);
    stream.avail_out = out;
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += out - stream.avail_out;
  }
  if (status == Z_STREAM_END && written == member.unpacked_size && read == member.packed_size) return content;
  Fail(kArchiveDamaged, data + read, "the archive is damaged: `{}` does not unpack to {} bytes",
       ShownText(member.name), member.unpacked_size);
  return nullptr;
}

}  // namespace nnefc::package

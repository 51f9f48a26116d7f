// The reader of the files of a tar archive with any compression.

#include "compiler/package/containers/archive_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "compiler/package/containers/filter_stream.h"
#include "compiler/package/containers/gzip_stream.h"
#include "compiler/package/containers/libarchive.h"
#include "compiler/package/containers/utf8_locale.h"
#include "compiler/package/rules.h"
#include "compiler/support/files/contained_path.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::package {
namespace {

constexpr size_t kMaxEntries = 100'000;

// A buffer for a file that arrives in blocks.
class GrowingBuffer {
 public:
  // `trusted` bytes may be allocated immediately; `expected` limits the growth.
  GrowingBuffer(uint64_t trusted, std::optional<uint64_t> expected)
      : trusted_(trusted), expected_(expected) {}

  // Returns false if memory is short.
  bool Append(const void* data, size_t size) {
    size_t capacity = buffer_ == nullptr ? 0 : buffer_->size();
    if (capacity - used_ < size) {
      uint64_t wanted = std::max<uint64_t>({used_ + size, uint64_t{2} * capacity, trusted_});
      if (expected_) wanted = std::max<uint64_t>(used_ + size, std::min(wanted, *expected_));
      auto grown = Buffer::Allocate(wanted);
      if (grown == nullptr) return false;
      if (used_ > 0) std::memcpy(grown->mutable_data(), buffer_->data(), used_);
      buffer_ = std::move(grown);
    }
    if (size > 0) std::memcpy(buffer_->mutable_data() + used_, data, size);
    used_ += size;
    return true;
  }

  std::shared_ptr<const Buffer> Take() {
    if (buffer_ == nullptr) return Buffer::Allocate(0);
    if (used_ == buffer_->size()) return std::move(buffer_);
    return Buffer::Slice(std::move(buffer_), 0, used_);
  }

 private:
  uint64_t trusted_;
  std::optional<uint64_t> expected_;
  std::shared_ptr<Buffer> buffer_;
  size_t used_ = 0;
};

std::string_view OrEmpty(const char* text) {
  return text == nullptr ? "" : text;
}

}  // namespace

ArchiveReader::ArchiveReader(const DataSource& source, uint64_t max_bytes, Emitter& emitter)
    : source_(source), max_bytes_(max_bytes), emitter_(emitter) {}

ArchiveReader::~ArchiveReader() {
  if (archive_ != nullptr) functions_->archive_read_free(archive_);
}

template <typename... Args>
void ArchiveReader::Fail(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
  failed_ = true;
  emitter_.Emit(rule, ByteRange(source_.file, 0, 0), format, std::forward<Args>(args)...);
}

void ArchiveReader::FailDamaged(std::string_view fallback) {
  std::string_view reason = OrEmpty(functions_->archive_error_string(archive_));
  if (stream_ != nullptr && !stream_->error().empty()) reason = stream_->error();
  if (reason.empty()) reason = fallback;
  if (current_.empty()) return Fail(kArchiveDamaged, "the archive is damaged: {}", ShownText(reason));
  Fail(kArchiveDamaged, "the archive is damaged at or after `{}`: {}", ShownText(current_),
       ShownText(reason));
}

ssize_t ArchiveReader::ReadUnpacked(archive* handle, void* self, const void** block) {
  auto* reader = static_cast<ArchiveReader*>(self);
  auto bytes = reader->stream_->Next();
  if (!bytes) {
    reader->functions_->archive_set_error(handle, EILSEQ, "%s",
                                          std::string(reader->stream_->error()).c_str());
    return ARCHIVE_FATAL;
  }
  reader->unpacked_ += bytes->size();
  *block = bytes->data();
  return static_cast<ssize_t>(bytes->size());
}

bool ArchiveReader::Open() {
  opened_ = true;
  const ErrorOr<const ArchiveFunctions*> functions = LoadArchiveFunctions();
  if (!functions) {
    Fail(kArchiveFormat, "archives cannot be read: {}", functions.error().message);
    return false;
  }
  functions_ = *functions;
  archive_ = functions_->archive_read_new();
  NNEFC_CHECK(archive_ != nullptr);
  const std::span<const std::byte> bytes(source_.bytes->data(), source_.bytes->size());
  int status = ARCHIVE_OK;
  functions_->archive_read_support_format_tar(archive_);
  if (IsGzip(bytes)) {
    stream_ = std::make_unique<GzipStream>(PackedBytes(source_.bytes));
  } else if (IsCompressed(bytes)) {
    stream_ = std::make_unique<FilterStream>(PackedBytes(source_.bytes));
  }
  if (stream_ != nullptr) {
    status = functions_->archive_read_open(archive_, this, nullptr, ReadUnpacked, nullptr);
  } else {
    // Compressions that are not recognised by the first bytes are supported as well.
    SupportFilters(*functions_, archive_);
    status = functions_->archive_read_open_memory(archive_, bytes.data(), bytes.size());
  }
  if (status == ARCHIVE_OK && !IsLayered(*functions_, archive_)) return true;
  if (stream_ != nullptr && !stream_->error().empty()) {
    FailDamaged("");
  } else {
    Fail(kArchiveFormat, "invalid tar archive: {}",
         ShownText(OrEmpty(functions_->archive_error_string(archive_))));
  }
  return false;
}

bool ArchiveReader::CheckTotal() {
  uint64_t total =
      std::max<uint64_t>(unpacked_, static_cast<uint64_t>(functions_->archive_filter_bytes(archive_, 0)));
  if (total <= max_bytes_) return true;
  Fail(kArchiveTooLarge, "the archive unpacks to more than {} bytes; raise the bound with `--max-bytes`",
       max_bytes_);
  return false;
}

template <typename Consume>
bool ArchiveReader::ReadBlocks(Consume consume) {
  unread_ = false;
  uint64_t received = 0;
  while (true) {
    const void* block = nullptr;
    size_t size = 0;
    int64_t offset = 0;
    int status = functions_->archive_read_data_block(archive_, &block, &size, &offset);
    if (status == ARCHIVE_EOF) break;
    if (status != ARCHIVE_OK) {
      FailDamaged("its data cannot be read");
      return false;
    }
    if (static_cast<uint64_t>(offset) != received) {
      Fail(kArchiveSize, "`{}` has holes; sparse files are not read", ShownText(current_));
      return false;
    }
    received += size;
    if (!CheckTotal()) return false;
    if (!consume(block, size)) {
      Fail(kDataTooLarge, "there is no memory for the {} bytes of `{}`", received, ShownText(current_));
      return false;
    }
  }
  if (!current_size_ || received == *current_size_) return true;
  Fail(kArchiveSize, "`{}` has {} bytes, but its header says {}", ShownText(current_), received,
       *current_size_);
  return false;
}

// Validates the header of an entry; returns true for a regular file.
bool ArchiveReader::Accept(archive_entry* entry, std::string& path) {
  const char* name = functions_->archive_entry_pathname(entry);
  if (name == nullptr) name = functions_->archive_entry_pathname_utf8(entry);
  current_ = std::string(OrEmpty(name));
  if (name == nullptr) {
    Fail(kArchiveName, "the name of an entry cannot be read: {}",
         OrEmpty(functions_->archive_error_string(archive_)));
    return false;
  }
  std::optional<std::string> contained = ContainedPath(current_);
  if (!contained) {
    Fail(kArchiveOutside, "the entry `{}` leads out of the archive", ShownText(current_));
    return false;
  }
  const auto type = functions_->archive_entry_filetype(entry);
  const char* target = functions_->archive_entry_hardlink(entry);
  if (target == nullptr && type == AE_IFLNK) target = functions_->archive_entry_symlink(entry);
  if (target != nullptr || type == AE_IFLNK) {
    Fail(kArchiveLink, "the entry `{}` is a link to `{}`; links are refused", ShownText(current_),
         ShownText(OrEmpty(target)));
    return false;
  }
  if (type == AE_IFDIR) return false;
  if (type != AE_IFREG) {
    Fail(kArchiveDevice, "the entry `{}` is not a regular file", ShownText(current_));
    return false;
  }
  if (functions_->archive_entry_sparse_count(entry) > 0) {
    Fail(kArchiveSize, "`{}` has holes; sparse files are not read", ShownText(current_));
    return false;
  }
  if (contained->empty()) return false;
  if (!seen_.insert(*contained).second) {
    Fail(kArchiveDuplicate, "the archive holds `{}` twice", ShownText(*contained));
    return false;
  }
  current_size_.reset();
  if (functions_->archive_entry_size_is_set(entry))
    current_size_ = static_cast<uint64_t>(functions_->archive_entry_size(entry));
  if (current_size_ && *current_size_ > max_bytes_) {
    Fail(kArchiveTooLarge, "`{}` says that it has {} bytes; the bound of `--max-bytes` is {}",
         ShownText(current_), *current_size_, max_bytes_);
    return false;
  }
  path = std::move(*contained);
  return true;
}

std::optional<std::string> ArchiveReader::Next() {
  if (failed_ || (!opened_ && !Open())) return std::nullopt;
  const Utf8Locale utf8;
  for (size_t entries = 0; entries < kMaxEntries; ++entries) {
    // Skipped files count against the limit, too.
    if (unread_ && !ReadBlocks([](const void*, size_t) { return true; })) return std::nullopt;
    archive_entry* entry = nullptr;
    int status = functions_->archive_read_next_header(archive_, &entry);
    if (status == ARCHIVE_EOF) {
      Finish();
      return std::nullopt;
    }
    // Warnings concern characters of names or times and are irrelevant.
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) {
      FailDamaged("an entry cannot be read");
      return std::nullopt;
    }
    if (!CheckTotal()) return std::nullopt;
    std::string path;
    unread_ = Accept(entry, path);
    if (failed_) return std::nullopt;
    if (seen_.size() > kMaxEntries) break;
    if (unread_) return path;
  }
  Fail(kArchiveTooLarge, "the archive has more than {} entries", kMaxEntries);
  return std::nullopt;
}

std::shared_ptr<const Buffer> ArchiveReader::Stored(const void* block, size_t size) const {
  const auto* data = static_cast<const std::byte*>(block);
  const std::byte* begin = source_.bytes->data();
  const std::byte* end = begin + source_.bytes->size();
  // libarchive returns memory of the archive itself if possible.
  const bool inside = !std::less<>()(data, begin) && std::less<>()(data, end);
  if (!inside || !current_size_ || size != *current_size_) return nullptr;
  return Buffer::Slice(source_.bytes, static_cast<size_t>(data - begin), size);
}

std::shared_ptr<const Buffer> ArchiveReader::Read() {
  if (failed_ || !unread_) return nullptr;
  constexpr uint64_t kFirst = uint64_t{1} << 20;
  constexpr uint64_t kUsualRatio = 4;
  GrowingBuffer buffer(std::max(kFirst, kUsualRatio * source_.bytes->size()), current_size_);
  std::shared_ptr<const Buffer> stored;
  bool read = ReadBlocks([&](const void* block, size_t size) {
    if (auto part = Stored(block, size)) {
      stored = std::move(part);
      return true;
    }
    return buffer.Append(block, size);
  });
  if (!read) return nullptr;
  return stored != nullptr ? stored : buffer.Take();
}

std::optional<ArchivedFile> ArchiveReader::ReadStart(uint64_t max_size) {
  if (failed_ || !unread_) return std::nullopt;
  GrowingBuffer start(0, max_size);
  std::shared_ptr<const Buffer> stored;
  uint64_t received = 0;
  const bool read = ReadBlocks([&](const void* block, size_t size) {
    const uint64_t wanted = std::min<uint64_t>(size, max_size - std::min(max_size, received));
    received += size;
    if (auto part = Stored(block, size)) {
      stored = std::move(part);
      return true;
    }
    return start.Append(block, wanted);
  });
  if (!read) return std::nullopt;
  if (stored == nullptr) stored = start.Take();
  return ArchivedFile{.bytes = std::move(stored), .size = received};
}

// Reads to the end of the file, so that its checksum is verified.
void ArchiveReader::Finish() {
  while (stream_ != nullptr) {
    auto bytes = stream_->Next();
    if (!bytes) return FailDamaged("");
    if (bytes->empty()) return;
    unpacked_ += bytes->size();
    if (!CheckTotal()) return;
  }
}

}  // namespace nnefc::package

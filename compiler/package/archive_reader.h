#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/package/data_source.h"
#include "compiler/package/unpacked_stream.h"
#include "llvm/ADT/StringSet.h"

struct archive;
struct archive_entry;

namespace nnefc {

struct ArchiveFunctions;

// A file of an archive, or the beginning of it.
struct ArchivedFile {
  std::shared_ptr<const Buffer> bytes;
  uint64_t size = 0;  // of all of it

  bool is_whole() const { return bytes->size() == size; }
};

// Walks through the files of a tar, with any compression. Everything that could
// harm is refused with an error: names that lead out of the archive, links,
// devices, entries given twice, sizes that do not fit, and more than `max_bytes`
// in all. Memory grows with the data that arrive, never with a size that a
// header states.
class ArchiveReader {
 public:
  // `source` and `emitter` must outlive the reader.
  ArchiveReader(const DataSource& source, uint64_t max_bytes, Emitter& emitter);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // Goes to the next regular file and returns its path, without `./` and empty
  // parts; nothing at the end or after an error, see failed().
  std::optional<std::string> Next();
  // The content of the current file: a part of the archive where it lies there
  // unpacked. Null after an error.
  [[nodiscard]] std::shared_ptr<const Buffer> Read();
  // The first `most` bytes of the current file, all of it where it lies
  // unpacked; the rest is read and not kept. Nothing after an error.
  [[nodiscard]] std::optional<ArchivedFile> ReadStart(uint64_t most);
  // True if an error was emitted.
  bool failed() const { return failed_; }

 private:
  template <typename... Args>
  void Fail(const Rule& rule, fmt::format_string<Args...> format, Args&&... args);
  void FailDamaged(std::string_view fallback);
  [[nodiscard]] bool Open();
  bool Accept(archive_entry* entry, std::string& path);
  template <typename Consume>
  [[nodiscard]] bool ReadBlocks(Consume consume);
  [[nodiscard]] bool CheckTotal();
  void Finish();
  static ssize_t ReadUnpacked(archive* handle, void* reader, const void** block);
  // The bytes of the current file, if `block` is all of it and a part of an
  // archive that is not compressed; otherwise null.
  std::shared_ptr<const Buffer> Stored(const void* block, size_t size) const;

  const DataSource& source_;
  uint64_t max_bytes_;
  Emitter& emitter_;
  const ArchiveFunctions* functions_ = nullptr;
  archive* archive_ = nullptr;              // once it is opened
  std::unique_ptr<UnpackedStream> stream_;  // of a compressed archive
  uint64_t unpacked_ = 0;                   // by stream_
  llvm::StringSet<> seen_;
  std::string current_;
  std::optional<uint64_t> current_size_;
  bool unread_ = false;
  bool opened_ = false;
  bool failed_ = false;
};

}  // namespace nnefc

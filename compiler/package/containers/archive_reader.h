#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/package/containers/unpacked_stream.h"
#include "compiler/package/data_source.h"
#include "llvm/ADT/StringSet.h"

struct archive;
struct archive_entry;

namespace nnefc::package {

struct ArchiveFunctions;

// A file of an archive, or its first bytes.
struct ArchivedFile {
  std::shared_ptr<const Buffer> bytes;
  uint64_t size = 0;  // size of the whole file

  bool is_whole() const { return bytes->size() == size; }
};

// A reader of the files of a tar with any compression. Harmful content is rejected with an error: paths that
// leave the archive, links, devices, duplicate entries, inconsistent sizes, and more than `max_bytes` in
// total. Memory grows with the data received, never by the sizes stated in headers.
class ArchiveReader {
 public:
  // Requires that `source` and `emitter` outlive the reader.
  ArchiveReader(const DataSource& source, uint64_t max_bytes, Emitter& emitter);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // Advances to the next regular file and returns its path, without `./` and empty parts. Returns nothing at
  // the end or after an error, see failed().
  std::optional<std::string> Next();
  // Returns the content of the current file: a slice of the archive if it is stored uncompressed there.
  // Returns null after an error.
  [[nodiscard]] std::shared_ptr<const Buffer> Read();
  // Returns the first `max_size` bytes of the current file, or all of it if it is stored uncompressed; the
  // remainder is read and discarded. Returns nothing after an error.
  [[nodiscard]] std::optional<ArchivedFile> ReadStart(uint64_t max_size);
  // Returns true if an error was emitted.
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
  // Returns the bytes of the current file if `block` is all of it and part of an uncompressed archive;
  // otherwise null.
  std::shared_ptr<const Buffer> Stored(const void* block, size_t size) const;

  const DataSource& source_;
  uint64_t max_bytes_;
  Emitter& emitter_;
  const ArchiveFunctions* functions_ = nullptr;
  archive* archive_ = nullptr;              // null until opened
  std::unique_ptr<UnpackedStream> stream_;  // null unless compressed
  uint64_t unpacked_ = 0;                   // bytes from stream_
  llvm::StringSet<> seen_;
  std::string current_;
  std::optional<uint64_t> current_size_;
  bool unread_ = false;
  bool opened_ = false;
  bool failed_ = false;
};

}  // namespace nnefc::package

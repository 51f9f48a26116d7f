#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/support/error_or.h"

namespace nnefc {

// The identity of a file and of its last change. `changed` also changes when somebody sets the file's times.
struct FileIdentity {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified = 0, changed = 0;  // nanoseconds since the epoch

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
// Returns the identity in a result of stat().
FileIdentity IdentityOf(const struct ::stat& status);

// A file mapped read-only into memory for as long as the object lives.
class MappedFile {
 public:
  // Maps a regular file; an empty one has no data. Returns the system's error for other files and if the file
  // cannot be opened or mapped.
  static ErrorOr<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::string& path() const { return path_; }
  // Returns the identity that the file had when it was opened.
  const FileIdentity& identity() const { return identity_; }
  // Releases the memory of the whole pages within `bytes` of a mapped file; the next access reads them again.
  static void Release(std::span<const std::byte> bytes);

 private:
  MappedFile(const std::byte* data, size_t size, std::string path, const FileIdentity& identity)
      : data_(data), size_(size), path_(std::move(path)), identity_(identity) {}

  const std::byte* data_;
  size_t size_;
  std::string path_;
  FileIdentity identity_;
};

// A file that is written under a temporary name in the same folder and renamed by `Commit`, so that a failed
// run leaves no partial output. Without `Commit` the temporary file is removed. Errors are those of the
// system, with the path.
class OutputFile {
 public:
  // Creates the temporary file. Follows symbolic links and preserves the permissions of an existing file. An
  // existing path that is not a regular file (`/dev/null`, a pipe) is written directly.
  static ErrorOr<OutputFile> Create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Append bytes or a text.
  ErrorOr<Success> Write(std::span<const std::byte> bytes);
  ErrorOr<Success> Write(std::string_view text);
  // Closes the file and renames it to its path. Call it once, and write nothing after it. After an error the
  // temporary file is removed.
  ErrorOr<Success> Commit();
  // Returns the path of the temporary file, for libraries that write by name; empty if the path is written
  // directly.
  const std::string& temporary_path() const { return temporary_; }

 private:
  OutputFile(std::string path, std::string temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

// Writes a small file through OutputFile.
ErrorOr<Success> WriteFile(const std::string& path, std::string_view content);

// Returns the system's text for an errno value, starting in lower case: "no such file or directory".
std::string SystemErrorText(int error_number);

}  // namespace nnefc

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

// Which file it is and when it was changed last: by its content, or by who wrote its times, which changes
// `changed`.
struct FileIdentity {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified = 0, changed = 0;  // in nanoseconds

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
FileIdentity IdentityOf(const struct ::stat& status);

// A file mapped read-only into memory for as long as the object lives.
class MappedFile {
 public:
  static ErrorOr<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::string& path() const { return path_; }
  // What it was when it was opened.
  const FileIdentity& identity() const { return identity_; }
  // Lets go of the whole pages within `bytes` of a file: when they are looked at once more, they are read
  // again.
  static void LetGo(std::span<const std::byte> bytes);

 private:
  MappedFile(const std::byte* data, size_t size, std::string path, const FileIdentity& identity)
      : data_(data), size_(size), path_(std::move(path)), identity_(identity) {}

  const std::byte* data_;
  size_t size_;
  std::string path_;
  FileIdentity identity_;
};

// Writes a file beside its final place and renames it on `Commit`, so that a
// failed run leaves no partial output. What was not committed is removed.
class OutputFile {
 public:
  static ErrorOr<OutputFile> Create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  ErrorOr<Success> Write(std::span<const std::byte> bytes);
  ErrorOr<Success> Write(std::string_view text);
  ErrorOr<Success> Commit();
  // The path of the file that is being written, for libraries that write by
  // name.
  const std::string& temporary_path() const { return temporary_; }

 private:
  OutputFile(std::string path, std::string temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

// Writes the whole of a small file through OutputFile.
ErrorOr<Success> WriteFile(const std::string& path, std::string_view content);

// "no such file or directory" for the current errno, in lower case.
std::string SystemErrorText(int error_number);

}  // namespace nnefc

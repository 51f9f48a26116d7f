#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/support/files/digest.h"
#include "compiler/support/files/file.h"

namespace nnefc::runtime::engine::cache {

// Returns true if users other than this process's own and root may write the file. The content of such a file
// cannot be trusted.
bool MayOthersWrite(const struct stat& status);

// The content digests of files, remembered across processes without rereading the files. A table on disk has
// one line per file: the digest of the file's identity and the digest of its content.
//
// A modified file has a new identity even if it was changed in place, because its ctime cannot be set by
// users. This is reliable only if
// - the file system is a local one that updates the ctime at each write, and at the first write through a
//   mapping to a clean page;
// - all pages of the file were written back before it was read, so that later writes through a mapping are
//   noticed;
// - the file was last changed at least `kMinAge` before it was read, because timestamps have limited
//   resolution.
// All other files are read in each process, as are files whose line is missing or damaged.
class FileDigests {
 public:
  using Seconds = std::chrono::duration<double>;
  // The minimum age of a file's last change for it to be known by its identity.
  static constexpr Seconds kMinAge{10};

  explicit FileDigests(std::string table, Seconds least_age = kMinAge);

  // Returns the digest of a file's content.
  Digest Of(const MappedFile& file);
  // Returns the digest that Note recorded for a file.
  std::optional<Digest> Find(const FileIdentity& identity) const;
  // Returns the digest that `read` computes from a file's content, and records it if the file can be
  // recognised by `identity`.
  template <typename Read>
  Digest Note(const std::string& path, const FileIdentity& identity, Read read) {
    const bool settled = IsSettled(path, identity);
    const Digest digest = read();
    if (settled && IsStill(path, identity)) Append(identity, digest);
    return digest;
  }
  // The number of files that were read.
  int num_read() const { return num_read_; }

 private:
  static Digest KeyOf(const FileIdentity& identity);
  static bool IsStill(const std::string& path, const FileIdentity& identity);
  bool IsSettled(const std::string& path, const FileIdentity& identity) const;
  void Load();
  void Append(const FileIdentity& identity, const Digest& digest);

  const std::string table_;
  const Seconds least_age_;
  std::map<Digest, Digest> known_;  // keyed by the digest of the identity
  int num_read_ = 0;
};

}  // namespace nnefc::runtime::engine::cache

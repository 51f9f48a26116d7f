#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/support/digest.h"
#include "compiler/support/file.h"

namespace nnefc::runtime {

// Whoever may write what a process relies on decides what a model computes.
bool MayOthersWrite(const struct stat& status);

// What files hold, known from process to process without reading them: a table in a file, a line for each
// that was read once, which has the file's identity and the digest of its content.
//
// A file that was changed since, in place too, has another identity: the system notes the time of the last
// change in it, which nobody can set. That holds where
// - its file system is one of the machine's own that does so at each write, and at the first one through a
//   mapping to a page that the disk has;
// - all its pages were on the disk before it was read, so that writing through a mapping is noticed;
// - it was not changed within the seconds before that, since times have steps.
// Any other file is read in every process. So is one whose line is lost or damaged.
class FileDigests {
 public:
  using Seconds = std::chrono::duration<double>;
  // So long a file has stayed as it is before it is known by its identity.
  static constexpr Seconds kLeastAge{10};

  explicit FileDigests(std::string table, Seconds least_age = kLeastAge);

  // The digest of a file's content.
  Digest Of(const MappedFile& file);
  // What was noted of a file by Note.
  std::optional<Digest> Find(const FileIdentity& identity) const;
  // Notes what `read` makes of the content of a file that is `identity`, where it can be known by that.
  template <typename Read>
  Digest Note(const std::string& path, const FileIdentity& identity, Read read) {
    const bool settled = IsSettled(path, identity);
    const Digest digest = read();
    if (settled && IsStill(path, identity)) Append(identity, digest);
    return digest;
  }
  // How many files were read.
  int num_read() const { return num_read_; }

 private:
  static Digest KeyOf(const FileIdentity& identity);
  static bool IsStill(const std::string& path, const FileIdentity& identity);
  bool IsSettled(const std::string& path, const FileIdentity& identity) const;
  void Load();
  void Append(const FileIdentity& identity, const Digest& digest);

  const std::string table_;
  const Seconds least_age_;
  std::map<Digest, Digest> known_;  // by the digest of the identity
  int num_read_ = 0;
};

}  // namespace nnefc::runtime

// Digests of the contents of files, remembered across processes by the files' identity.

#include "runtime/engine/cache/file_digests.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>

#include "fmt/core.h"

namespace nnefc::runtime::engine::cache {

namespace {

// Table size beyond which the older half of the lines is dropped.
constexpr size_t kMaxBytes = size_t{4} << 20;
constexpr long kXfs = 0x58465342;  // defined only in an internal kernel header

bool NotesEachChange(int descriptor) {
  struct statfs status {};
  if (::fstatfs(descriptor, &status) != 0) return false;
  switch (static_cast<long>(status.f_type)) {
    case EXT4_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case kXfs:
      return true;
    default:
      return false;
  }
}

std::optional<uint64_t> ParseHex(std::string_view digits) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::optional<Digest> ParseDigest(std::string_view digits) {
  if (digits.size() != 32) return std::nullopt;
  const auto high = ParseHex(digits.substr(0, 16)), low = ParseHex(digits.substr(16));
  if (!high || !low) return std::nullopt;
  return Digest{.low = *low, .high = *high};
}

// Reads the table while other processes may append to it. Returns an empty string if it cannot be read.
std::string ReadTable(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  std::string text;
  struct stat status {};
  if (descriptor < 0) return text;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && !MayOthersWrite(status)) {
    text.resize(std::min(static_cast<size_t>(status.st_size), 2 * kMaxBytes));
    const ssize_t count = ::read(descriptor, text.data(), text.size());
    text.resize(count < 0 ? 0 : static_cast<size_t>(count));
  }
  ::close(descriptor);
  return text;
}

// Formats a line "IDENTITY CONTENT CHECK"; CHECK is the digest of the other two.
std::string LineOf(const Digest& identity, const Digest& content) {
  const Digest check = FieldDigest().Add(identity).Add(content).Finish();
  return fmt::format("{} {} {}\n", ToHex(identity), ToHex(content), ToHex(check));
}
constexpr size_t kLineBytes = 3 * 33;

}  // namespace

bool MayOthersWrite(const struct stat& status) {
  return (status.st_uid != ::geteuid() && status.st_uid != 0) || (status.st_mode & S_IWOTH) != 0;
}

FileDigests::FileDigests(std::string table, Seconds least_age)
    : table_(std::move(table)), least_age_(least_age) {
  Load();
}

Digest FileDigests::KeyOf(const FileIdentity& identity) {
  return FieldDigest()
      .Add(identity.device)
      .Add(identity.inode)
      .Add(identity.size)
      .Add(identity.modified)
      .Add(identity.changed)
      .Finish();
}

// Reads the table and skips lines that are incomplete or damaged.
void FileDigests::Load() {
  const std::string table = ReadTable(table_);
  std::string_view text = table;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.size() != kLineBytes - 1) continue;
    const auto identity = ParseDigest(line.substr(0, 32)), content = ParseDigest(line.substr(33, 32)),
               check = ParseDigest(line.substr(66));
    if (identity && content && check == FieldDigest().Add(*identity).Add(*content).Finish())
      known_[*identity] = *content;
  }
}

std::optional<Digest> FileDigests::Find(const FileIdentity& identity) const {
  const auto found = known_.find(KeyOf(identity));
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

Digest FileDigests::Of(const MappedFile& file) {
  if (const std::optional<Digest> known = Find(file.identity())) return *known;
  return Note(file.path(), file.identity(), [&] {
    ++num_read_;
    const Digest digest = DigestOf(file.bytes());
    MappedFile::Release(file.bytes());
    return digest;
  });
}

bool FileDigests::IsStill(const std::string& path, const FileIdentity& identity) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && IdentityOf(status) == identity;
}

bool FileDigests::IsSettled(const std::string& path, const FileIdentity& identity) const {
  struct timespec now {};
  if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
  const double age = static_cast<double>(now.tv_sec) +
                     1e-9 * static_cast<double>(now.tv_nsec - identity.changed % 1'000'000'000) -
                     static_cast<double>(identity.changed / 1'000'000'000);
  if (age < least_age_.count() || !IsStill(path, identity)) return false;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  // Clean pages fault on the next write, so the change is noticed.
  const bool settled = NotesEachChange(descriptor) && ::fdatasync(descriptor) == 0;
  ::close(descriptor);
  return settled;
}

void FileDigests::Append(const FileIdentity& identity, const Digest& digest) {
  const Digest key = KeyOf(identity);
  known_[key] = digest;
  struct stat status {};
  if (::stat(table_.c_str(), &status) == 0 && static_cast<size_t>(status.st_size) > kMaxBytes) {
    const std::string text = ReadTable(table_);
    (void)WriteFile(table_, std::string_view(text).substr(text.size() / 2 / kLineBytes * kLineBytes));
  }
  // A process that cannot append leaves the next one to read the file again.
  const int descriptor =
      ::open(table_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (descriptor < 0) return;
  const std::string line = LineOf(key, digest);
  if (::write(descriptor, line.data(), line.size()) < static_cast<ssize_t>(line.size())) {
    // Terminates the partial line.
    (void)!::write(descriptor, "\n", 1);
  }
  ::close(descriptor);
}

}  // namespace nnefc::runtime::engine::cache

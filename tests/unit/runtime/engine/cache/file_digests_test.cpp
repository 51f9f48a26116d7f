#include "runtime/engine/cache/file_digests.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <span>
#include <utility>

#include "tests/unit/other_user.h"
#include "tests/unit/runtime/engine/cache/plan_cache_test.h"

namespace nnefc::runtime::engine::cache {
namespace {

class FileDigestsTest : public PlanCacheTest {
 protected:
  FileDigestsTest() : file_(folder_ / "weights.bin") { Write(std::string(100'000, 'a')); }

  void Write(const std::string& bytes) const {
    const std::ofstream emptied(file_, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc);
    std::ofstream(file_, std::ios::binary | std::ios::in) << bytes;
    ::usleep(20'000);  // file times have a coarse resolution
  }
  // Returns the digest in a new process, and whether the file was read for it.
  std::pair<Digest, bool> Look(double age = 0.01) const {
    FileDigests digests((folder_ / "files").string(), FileDigests::Seconds(age));
    const auto file = MappedFile::Open(file_.string());
    const Digest digest = digests.Of(**file);
    return {digest, digests.num_read() > 0};
  }
  bool IsKnown() const {
    Look();
    return !Look().second;
  }

  Digest Content() const {
    const std::string bytes = ReadAll(file_);
    return DigestOf(std::as_bytes(std::span(bytes)));
  }

  fs::path file_;
};

// Only the owner may write the table, and nobody may run it.
TEST_F(FileDigestsTest, PermissionsOfTheTable) {
  const mode_t mask = ::umask(0);
  const bool is_written = IsKnown();
  ::umask(mask);
  if (!is_written) GTEST_SKIP() << "this file system does not note each change";
  EXPECT_EQ(fs::status(folder_ / "files").permissions(), fs::perms(0644));
}

// Files of local file systems that note each change are recognised.
TEST_F(FileDigestsTest, AFileIsReadOnce) {
  struct statfs system {};
  ASSERT_EQ(::statfs(folder_.c_str(), &system), 0);
  constexpr long kXfs = 0x58465342;
  const std::set<long> noting = {EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC,
                                 kXfs};
  const bool is_noted = noting.contains(static_cast<long>(system.f_type));
  EXPECT_EQ(IsKnown(), is_noted);
  EXPECT_EQ(Look().first, Content());
  // In one process, too.
  FileDigests digests((folder_ / "others").string(), FileDigests::Seconds(0.01));
  const auto file = MappedFile::Open(file_.string());
  EXPECT_EQ(digests.num_read(), 0);
  EXPECT_EQ(digests.Of(**file), Content());
  EXPECT_EQ(digests.num_read(), 1);
  EXPECT_EQ(digests.Of(**file), Content());
  EXPECT_EQ(digests.num_read(), is_noted ? 1 : 2);
}

// No file stays open after a digest, read or known.
TEST_F(FileDigestsTest, FilesAreClosed) {
  const auto open_files = [] {
    using Entries = fs::directory_iterator;
    return std::distance(Entries("/proc/self/fd"), Entries());
  };
  const auto before = open_files();
  for (int i = 0; i < 3; ++i) {
    Write(std::string(1000, static_cast<char>('a' + i)));
    for (int process = 0; process < 2; ++process) Look();
  }
  EXPECT_EQ(open_files(), before);
}

TEST_F(FileDigestsTest, CountsTheFilesThatItReads) {
  FileDigests digests((folder_ / "files").string(), FileDigests::Seconds(1000));
  EXPECT_EQ(digests.num_read(), 0);
  const auto file = MappedFile::Open(file_.string());
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(digests.Of(**file), Content());
    EXPECT_EQ(digests.num_read(), i);
  }
}

TEST_F(FileDigestsTest, AYoungFileIsReadEachTime) {
  EXPECT_TRUE(Look(1000).second);
  EXPECT_TRUE(Look(1000).second);
}

// Ages have fractions of seconds, whatever the fraction of the time of the last change.
TEST_F(FileDigestsTest, AgesAreFractionsOfSeconds) {
  for (const double fraction : {0.2, 0.7}) {
    struct timespec now {};
    ASSERT_EQ(::clock_gettime(CLOCK_REALTIME, &now), 0);
    const double waits = fraction - 1e-9 * static_cast<double>(now.tv_nsec);
    ::usleep(static_cast<useconds_t>(1e6 * (waits < 0 ? waits + 1 : waits)));
    const auto begin = std::chrono::steady_clock::now();
    Write("changed at " + std::to_string(fraction));
    const bool are_read = Look(0.8).second && Look(0.8).second;
    const FileDigests::Seconds age = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(are_read || age.count() > 0.7) << fraction;
  }
}

// A digest is not recorded if the file changes while it is read.
TEST_F(FileDigestsTest, ChangesDuringTheReadAreNoticed) {
  const bool is_noted = IsKnown();
  for (const bool changes : {false, true}) {
    FileDigests digests((folder_ / "others").string(), FileDigests::Seconds(0.01));
    const FileIdentity identity = (*MappedFile::Open(file_.string()))->identity();
    digests.Note(file_.string(), identity, [&] {
      if (changes) Write("other");
      return Digest{.low = 1, .high = 2};
    });
    EXPECT_EQ(digests.Find(identity).has_value(), is_noted && !changes);
    Write("another");
  }
}

TEST_F(FileDigestsTest, ChangesInPlaceAreNoticed) {
  const Digest before = Look().first;
  const fs::file_time_type time = fs::last_write_time(file_);
  {
    std::fstream file(file_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(50'000);
    file << "b";
  }
  fs::last_write_time(file_, time);
  ::usleep(20'000);
  const auto [after, was_read] = Look();
  EXPECT_TRUE(was_read);
  EXPECT_NE(after, before);
  EXPECT_EQ(after, Content());
}

TEST_F(FileDigestsTest, ADamagedTableIsNoHelp) {
  const bool known = IsKnown();
  const std::string table = ReadAll(folder_ / "files");
  const Digest expected = Look().first;
  for (size_t at = 0; at < table.size(); at += 3) {
    std::string changed = table;
    changed[at] = changed[at] == '0' ? '1' : '0';
    std::ofstream(folder_ / "files", std::ios::binary) << changed;
    const auto [digest, was_read] = Look();
    EXPECT_EQ(digest, expected);
    EXPECT_TRUE(was_read);
  }
  EXPECT_EQ(IsKnown(), known);
}

// Digests are 32 hexadecimal digits; each half is read apart.
TEST_F(FileDigestsTest, OtherCharactersThanDigitsAreNoDigests) {
  const bool known = IsKnown();
  const std::string table = ReadAll(folder_ / "files");
  const Digest expected = Look().first;
  for (size_t digest = 0; digest < 3 && known; ++digest) {
    for (const size_t at : {0, 15, 16, 31}) {
      std::string changed = table;
      changed[33 * digest + at] = 'g';
      std::ofstream(folder_ / "files", std::ios::binary) << changed;
      EXPECT_EQ(Look(), std::pair(expected, true)) << digest << " " << at;
    }
  }
}

// The table may be the first file that a process without standard input opens.
TEST_F(FileDigestsTest, TheTableIsReadAsDescriptor0) {
  const bool known = IsKnown();
  const int input = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  const FileDigests digests((folder_ / "files").string(), FileDigests::Seconds(0.01));
  ::dup2(input, STDIN_FILENO);
  ::close(input);
  const auto file = MappedFile::Open(file_.string());
  EXPECT_EQ(digests.Find((*file)->identity()).has_value(), known);
}

// Such a process appends to the table, too.
TEST_F(FileDigestsTest, TheTableIsWrittenAsDescriptor0) {
  const bool known = IsKnown();
  const std::string table = (folder_ / "others").string();
  FileDigests digests(table, FileDigests::Seconds(0.01));
  const auto file = MappedFile::Open(file_.string());
  const int input = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  digests.Of(**file);
  ::dup2(input, STDIN_FILENO);
  ::close(input);
  const FileDigests others(table, FileDigests::Seconds(0.01));
  EXPECT_EQ(others.Find((*file)->identity()).has_value(), known);
}

// The owner of the process and the administrator are trusted, unless everybody may write the file.
TEST_F(FileDigestsTest, FilesOfOthersAreNotTrusted) {
  const uid_t own = ::geteuid();
  const auto may_others_write = [](uid_t owner, mode_t mode) {
    struct stat status {};
    status.st_uid = owner;
    status.st_mode = mode;
    return MayOthersWrite(status);
  };
  EXPECT_FALSE(may_others_write(own, 0644));
  EXPECT_FALSE(may_others_write(0, 0644));
  EXPECT_TRUE(may_others_write(own + 1, 0644));
  EXPECT_TRUE(may_others_write(own, 0646));
  EXPECT_TRUE(may_others_write(0, 0646));
  const OtherUser user;
  if (!user.is_active()) GTEST_SKIP() << "not the administrator";
  EXPECT_FALSE(may_others_write(OtherUser::kId, 0644));
  EXPECT_FALSE(may_others_write(0, 0644));
  EXPECT_TRUE(may_others_write(OtherUser::kId - 1, 0644));
}

// Appending to a table of more than 4 MiB first drops the older half of its lines.
TEST_F(FileDigestsTest, ALongTableLosesItsOlderHalf) {
  if (!IsKnown()) GTEST_SKIP() << "this file system does not note each change";
  constexpr size_t kMaxBytes = size_t{4} << 20;
  const std::string line = ReadAll(folder_ / "files");
  const fs::path other = folder_ / "other.bin";
  for (size_t bytes : {kMaxBytes - 1, kMaxBytes, kMaxBytes + 1, kMaxBytes + kMaxBytes / 2}) {
    for (bool is_oldest : {false, true}) {
      const std::string filler = std::string(bytes - line.size() - 1, '-') + '\n';
      std::ofstream(folder_ / "files", std::ios::binary) << (is_oldest ? line + filler : filler + line);
      std::ofstream(other, std::ios::binary) << bytes << is_oldest;
      ::usleep(20'000);
      FileDigests digests((folder_ / "files").string(), FileDigests::Seconds(0.01));
      digests.Of(**MappedFile::Open(other.string()));
      const bool is_halved = bytes > kMaxBytes;
      const size_t remaining = fs::file_size(folder_ / "files") - line.size();
      EXPECT_GE(remaining, is_halved ? bytes / 2 : bytes);
      EXPECT_LE(remaining, is_halved ? bytes / 2 + line.size() : bytes);
      EXPECT_EQ(Look().second, is_oldest && is_halved) << bytes;
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine::cache

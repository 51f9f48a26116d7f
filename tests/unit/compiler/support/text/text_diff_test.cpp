#include "compiler/support/text/text_diff.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "compiler/support/files/replace_file.h"
#include "fmt/core.h"
#include "gtest/gtest.h"

namespace nnefc {
namespace {

namespace fs = std::filesystem;

void Write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string Read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A dedicated folder of the test, removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "nnefc.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

TEST(UnifiedDiff, IsEmptyForEqualTexts) {
  EXPECT_EQ(UnifiedDiff("a\nb\n", "a\nb\n", "x", "y"), "");
}

TEST(UnifiedDiff, HasThreeLinesOfContext) {
  EXPECT_EQ(UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nfive\n6\n7\n8\n", "old", "new"),
            "--- old\n+++ new\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, TellsWhereALineEndIsMissing) {
  EXPECT_EQ(UnifiedDiff("a", "a\n", "old", "new"),
            "--- old\n+++ new\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
  EXPECT_EQ(UnifiedDiff("", "a\n", "old", "new"), "--- old\n+++ new\n@@ -0,0 +1 @@\n+a\n");
}

// Equal lines at both ends are no part of the edits, whether the lines between are matched or are too many.
TEST(UnifiedDiff, KeepsEqualEnds) {
  const auto lines = [](std::string_view name, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{}\n", name, i);
    return text;
  };
  for (const int count : {1, 4, 999, 1001, 3000}) {
    for (const int ends : {0, 1, 2, 3, 4}) {
      const std::string head = lines("h", ends), tail = lines("t", ends);
      const std::string diff =
          UnifiedDiff(fmt::format("{}{}{}", head, lines("a", count), tail),
                      fmt::format("{}{}{}", head, lines("b", count), tail), "old", "new");
      EXPECT_EQ(std::count(diff.begin(), diff.end(), '-'), count + 3 + 1) << count << ' ' << ends;
      for (const char* wrong : {"\n-h", "\n+h", "\n-t", "\n+t"})
        EXPECT_EQ(diff.find(wrong), std::string::npos) << diff;
    }
  }
  // A line more or less at the end of equal ones.
  EXPECT_EQ(UnifiedDiff("a\na\n", "a\na\na\n", "old", "new"),
            "--- old\n+++ new\n@@ -1,2 +1,3 @@\n a\n a\n+a\n");
  EXPECT_EQ(UnifiedDiff("a\na\na\n", "a\na\n", "old", "new"),
            "--- old\n+++ new\n@@ -1,3 +1,2 @@\n a\n a\n-a\n");
}

// patch(1) is the oracle.
TEST(UnifiedDiff, IsWhatPatchTakes) {
  if (std::system("patch --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no patch(1)";
  const Folder folder;
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    // The last rounds differ by more lines than the diff matches.
    const size_t lines = round < 55 ? random() % 60 : 3000;
    std::string before;
    std::string after;
    for (size_t i = 0; i < lines; ++i) {
      const std::string line = std::to_string(random() % 8) + "\n";
      if (random() % 5 != 0) before += line;
      if (random() % 5 != 0) after += random() % 9 == 0 ? "changed\n" : line;
    }
    if (round % 3 == 0) after += "no line end";
    if (before == after || before.empty() || after.empty()) continue;
    Write(folder / "text", before);
    Write(folder / "diff", UnifiedDiff(before, after, "text", "text"));
    const std::string command = "patch --fuzz=0 -s '" + (folder / "text").string() + "' '" +
                                (folder / "diff").string() + "' > /dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << round;
    EXPECT_EQ(Read(folder / "text"), after) << round;
  }
}

// Applies line edits from the last to the first.
std::string ApplyEdits(const std::string& before, const std::vector<LineEdit>& edits) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < before.size();) {
    const size_t end = std::min(before.find('\n', at), before.size() - 1) + 1;
    lines.push_back(before.substr(at, end - at));
    at = end;
  }
  for (size_t i = edits.size(); i > 0; --i) {
    const auto begin = lines.begin() + static_cast<ptrdiff_t>(edits[i - 1].begin);
    const auto end = lines.begin() + static_cast<ptrdiff_t>(edits[i - 1].end);
    lines.insert(lines.erase(begin, end), edits[i - 1].text);
  }
  std::string after;
  for (const std::string& line : lines) after += line;
  return after;
}

// An edit script of up to 2,000 lines is searched for; beyond it all lines between equal ends are replaced.
TEST(UnifiedDiff, LongEdits) {
  for (const int pairs : {1000, 1001, 1500}) {
    // Every other line is common.
    std::string before = "first\n", after = "first\n", expected, removed, inserted;
    for (int i = 0; i < pairs; ++i) {
      const std::string old_line = fmt::format("old {}\n", i), new_line = fmt::format("new {}\n", i);
      const std::string both = fmt::format("both {}\n", i);
      before += old_line + both;
      after += new_line + both;
      expected += fmt::format("-{}+{} {}", old_line, new_line, both);
      removed += "-" + old_line;
      inserted += "+" + new_line;
      if (i + 1 == pairs) continue;  // the last one belongs to the equal end
      removed += "-" + both;
      inserted += "+" + both;
    }
    if (pairs > 1000) expected = removed + inserted + fmt::format(" both {}\n", pairs - 1);
    EXPECT_EQ(UnifiedDiff(before + "last\n", after + "last\n", "a", "b"),
              fmt::format("--- a\n+++ b\n@@ -1,{0} +1,{0} @@\n first\n{1} last\n", 2 * pairs + 2, expected))
        << pairs;
  }
}

TEST(LineEdits, ChangeTheTextsLineByLine) {
  EXPECT_TRUE(LineEdits("a\nb\n", "a\nb\n").empty());
  const std::vector<LineEdit> edits = LineEdits("a\nb\nc\nd\n", "a\nB\nc\n");
  ASSERT_EQ(edits.size(), 2u);
  EXPECT_EQ(edits[0].begin, 1u);
  EXPECT_EQ(edits[0].end, 2u);
  EXPECT_EQ(edits[0].text, "B\n");
  EXPECT_EQ(edits[1].begin, 3u);
  EXPECT_EQ(edits[1].end, 4u);
  EXPECT_EQ(edits[1].text, "");
  for (const std::string before : {"", "a", "a\n", "a\nb", "a\nb\nc\n", "\n\n"}) {
    for (const std::string after : {"", "a", "b\n", "a\nc\nb", "x\na\nb\nc\ny\n", "\n"})
      EXPECT_EQ(ApplyEdits(before, LineEdits(before, after)), after);
  }
}

TEST(ReplaceFile, KeepsLinksAndPermissions) {
  const Folder folder;
  Write(folder / "file", "before");
  fs::permissions(folder / "file", fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_exec);
  const fs::perms permissions = fs::status(folder / "file").permissions();
  fs::create_symlink("file", folder / "link");
  ASSERT_TRUE(ReplaceFile((folder / "link").string(), "after").ok());
  EXPECT_EQ(Read(folder / "file"), "after");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(fs::status(folder / "file").permissions(), permissions);
  EXPECT_EQ(std::distance(fs::directory_iterator((folder / "file").parent_path()), {}), 2);
}

// All names of a file have the new content.
TEST(ReplaceFile, WritesOverAFileOfSeveralNames) {
  constexpr const char* kNames[] = {"first", "second", "third"};
  for (const size_t count : {2, 3}) {
    const Folder folder;
    Write(folder / kNames[0], "before");
    for (size_t i = 1; i < count; ++i) fs::create_hard_link(folder / kNames[0], folder / kNames[i]);
    ASSERT_TRUE(ReplaceFile((folder / kNames[0]).string(), "new").ok());
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(Read(folder / kNames[i]), "new") << kNames[i];
  }
}

// A reader of a file with one name reads the content that it opened.
TEST(ReplaceFile, ReadersKeepTheFormerContent) {
  const Folder folder;
  Write(folder / "file", "before");
  std::ifstream reader(folder / "file");
  ASSERT_TRUE(ReplaceFile((folder / "file").string(), "after").ok());
  std::string text;
  reader >> text;
  EXPECT_EQ(text, "before");
  EXPECT_EQ(Read(folder / "file"), "after");
}

// Returns true if every user may pass through the folders above a file's own.
bool MayAllEnter(const fs::path& path) {
  fs::path folder = path.parent_path().parent_path();
  while ((fs::status(folder).permissions() & fs::perms::others_exec) != fs::perms::none) {
    if (folder == folder.parent_path()) return true;
    folder = folder.parent_path();
  }
  return false;
}

// What the owner may not write stays, even where the folder or others could change it.
TEST(ReplaceFile, RespectsWriteProtection) {
  for (const mode_t mode : {mode_t{0444}, mode_t{0555}, mode_t{0466}}) {
    const Folder folder;
    const bool is_of_others = mode == 0466;
    if (is_of_others && ::geteuid() == 0 && !MayAllEnter(folder / "file")) continue;
    const std::string path = (folder / "file").string();
    Write(path, "before");
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EXIT(
        {
          // The administrator may write everything that has a bit of writing.
          constexpr uid_t kNobody = 65534;
          const bool is_administrator = ::geteuid() == 0 && is_of_others;
          if (is_administrator &&
              (::chown(path.c_str(), kNobody, static_cast<gid_t>(-1)) != 0 ||
               ::chmod(fs::path(path).parent_path().c_str(), 0777) != 0 || ::setuid(kNobody) != 0)) {
            ::_exit(1);
          }
          const auto replaced = ReplaceFile(path, "after");
          std::fputs(replaced.ok() ? "replaced" : replaced.error().message.c_str(), stderr);
          ::_exit(0);
        },
        testing::ExitedWithCode(0), fmt::format("^cannot write `{}`: it is read-only$", path));
    EXPECT_EQ(Read(path), "before");
  }
}

TEST(ReplaceFile, ReadsTheContentOnly) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* memory = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(memory) + page, page, PROT_NONE), 0);
  const std::string_view content(static_cast<char*>(memory), page);
  const Folder folder;
  Write(folder / "first", "before");
  fs::create_hard_link(folder / "first", folder / "second");
  EXPECT_TRUE(ReplaceFile((folder / "first").string(), content).ok());
  EXPECT_EQ(Read(folder / "second"), content);
  ::munmap(memory, 2 * page);
}

// Without a free descriptor no file can be opened.
TEST(ReplaceFile, TellsWhyAFileOfSeveralNamesCannotBeWritten) {
  const Folder folder;
  Write(folder / "first", "before");
  fs::create_hard_link(folder / "first", folder / "second");
  const std::string path = fs::canonical(folder / "first").string();
  struct rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto replaced = ReplaceFile(path, "after");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_FALSE(replaced.ok());
  EXPECT_EQ(replaced.error().message, fmt::format("cannot write `{}`: too many open files", path));
}

// A file that cannot take the content is not written without a reason.
TEST(ReplaceFile, TellsWhyTheContentDoesNotFit) {
  const Folder folder;
  Write(folder / "first", "before");
  fs::create_hard_link(folder / "first", folder / "second");
  const std::string path = fs::canonical(folder / "first").string();
  EXPECT_EXIT(
      {
        std::signal(SIGXFSZ, SIG_IGN);
        struct rlimit small = {};
        small.rlim_cur = small.rlim_max = 4;
        if (::setrlimit(RLIMIT_FSIZE, &small) != 0) ::_exit(1);
        const auto replaced = ReplaceFile(path, "longer than four bytes");
        const std::string message = replaced.ok() ? "replaced" : replaced.error().message;
        ::_exit(message == fmt::format("cannot write `{}`: file too large", path) ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST(ReplaceFile, TellsOfAMissingFile) {
  const Folder folder;
  EXPECT_FALSE(ReplaceFile((folder / "nothing").string(), "text").ok());
}

}  // namespace
}  // namespace nnefc

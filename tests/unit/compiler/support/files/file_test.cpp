#include "compiler/support/files/file.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/support/files/temporary_files.h"

namespace nnefc {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "nnefc_file_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(FileTest, WritesAllOrNothing) {
  ASSERT_TRUE(WriteFile(Path("a"), "old").ok());
  {
    auto file = OutputFile::Create(Path("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("half of it").ok());
  }
  auto mapped = MappedFile::Open(Path("a"));
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ((*mapped)->text(), "old");
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++entries;
  EXPECT_EQ(entries, 1u);
}

// Descriptors begin at 0, which is free where standard input is closed.
TEST_F(FileTest, IsRemovedWithEachDescriptor) {
  const int input = ::dup(0);
  ::close(0);
  {
    auto file = OutputFile::Create(Path("a"));
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(file->Write("half of it").ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_EQ(::fcntl(0, F_GETFD), -1) << "it is still open";
  ::dup2(input, 0);
  ::close(input);
}

TEST_F(FileTest, FollowsLinksAndKeepsPermissions) {
  namespace fs = std::filesystem;
  ASSERT_TRUE(WriteFile(Path("real"), "old").ok());
  fs::permissions(Path("real"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(Path("real"), Path("link"));
  ASSERT_TRUE(WriteFile(Path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ((*MappedFile::Open(Path("real")))->text(), "new");
  EXPECT_EQ(fs::status(Path("real")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, WritesToDevicesWithoutReplacingThem) {
  namespace fs = std::filesystem;
  fs::create_symlink("/dev/full", Path("full"));
  auto full = WriteFile(Path("full"), "text");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().message, "cannot write `" + Path("full") + "`: no space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_TRUE(WriteFile("/dev/null", "text").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_FALSE(WriteFile(folder_, "text").ok());
}

TEST_F(FileTest, TellsWhyAFileCannotBeOpened) {
  auto missing = MappedFile::Open(Path("missing"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "cannot open `" + Path("missing") + "`: no such file or directory");
  auto folder = MappedFile::Open(folder_);
  ASSERT_FALSE(folder.ok());
  auto unwritable = OutputFile::Create(Path("no/such/folder"));
  EXPECT_FALSE(unwritable.ok());
}

TEST_F(FileTest, MapsEmptyFiles) {
  ASSERT_TRUE(WriteFile(Path("empty"), "").ok());
  auto mapped = MappedFile::Open(Path("empty"));
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ((*mapped)->size(), 0u);
}

// An interrupted program removes the files that are still registered.
TEST(TemporaryFilesTest, ForgottenFilesStay) {
  std::string folder = (std::filesystem::temp_directory_path() / "nnefc_temporary_XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string removed = folder + "/removed", kept = folder + "/kept", other = folder + "/other";
  for (const std::string& path : {removed, kept, other}) std::ofstream(path) << "x";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    AddTemporaryFile(removed);
    AddTemporaryFile(kept);
    ForgetTemporaryFile(kept);
    RemoveTemporaryFiles();
    ::_exit(0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(removed));
  EXPECT_TRUE(std::filesystem::exists(kept));
  EXPECT_TRUE(std::filesystem::exists(other));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace nnefc

#include "compiler/support/files/file.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/support/files/temporary_files.h"
#include "fmt/format.h"

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

TEST_F(FileTest, IsReadWithEachDescriptor) {
  ASSERT_TRUE(WriteFile(Path("a"), "text").ok());
  const int input = ::dup(0);
  ::close(0);
  const auto mapped = MappedFile::Open(Path("a"));
  const bool is_device_open = OutputFile::Create("/dev/null").ok();
  ::dup2(input, 0);
  ::close(input);
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ((*mapped)->text(), "text");
  EXPECT_TRUE(is_device_open);
}

// The number of an earlier error does not count where a write succeeds.
TEST_F(FileTest, WritesOnceAfterAnInterruption) {
  int pipe[2] = {};
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  auto file = OutputFile::Create(fmt::format("/proc/self/fd/{}", pipe[1]));
  ASSERT_TRUE(file.ok());
  errno = EINTR;
  EXPECT_TRUE(file->Write("text").ok());
  char read[16];
  EXPECT_EQ(::read(pipe[0], read, sizeof(read)), 4);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

// A write that a signal interrupts before it has written a byte begins again.
TEST_F(FileTest, WritesAfterSignals) {
  struct sigaction ignoring = {}, before = {};
  ignoring.sa_handler = [](int) {};  // without SA_RESTART
  ASSERT_EQ(::sigaction(SIGUSR1, &ignoring, &before), 0);
  int pipe[2] = {};
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const std::string text(200'000, 'x');  // more than a pipe has room for
  auto file = OutputFile::Create(fmt::format("/proc/self/fd/{}", pipe[1]));
  ASSERT_TRUE(file.ok());
  ::close(pipe[1]);
  std::string message;
  std::thread writer([&] {
    OutputFile output = std::move(*file);  // closed at the end
    const ErrorOr<Success> written = output.Write(text);
    if (!written) message = written.error().message;
  });
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::pthread_kill(writer.native_handle(), SIGUSR1);
  }
  size_t count = 0;
  char read[4096];
  for (ssize_t size = 0; (size = ::read(pipe[0], read, sizeof(read))) > 0;)
    count += static_cast<size_t>(size);
  writer.join();
  ::close(pipe[0]);
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(message, "");
  EXPECT_EQ(count, text.size());
}

// A file that cannot take the place of its path leaves no temporary file.
TEST_F(FileTest, LeavesNothingInPlaceOfAFolder) {
  auto file = OutputFile::Create(Path("a"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Write("text").ok());
  std::filesystem::create_directories(Path("a/b"));
  const ErrorOr<Success> written = file->Commit();
  ASSERT_FALSE(written.ok());
  EXPECT_TRUE(written.error().message.starts_with("cannot write `" + Path("a") + "`: "));
  size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++entries;
  EXPECT_EQ(entries, 1U);
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

// Neither a failure nor a success leaves a file open.
TEST_F(FileTest, ClosesItsDescriptors) {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  ASSERT_TRUE(WriteFile(Path("a"), "text").ok());
  ASSERT_TRUE(WriteFile(Path("empty"), "").ok());
  const auto before = count();
  for (const std::string& path : {folder_, std::string("/dev/null")}) {
    const auto mapped = MappedFile::Open(path);
    ASSERT_FALSE(mapped.ok());
    EXPECT_EQ(mapped.error().message, fmt::format("cannot read `{}`: not a regular file", path));
  }
  EXPECT_FALSE(MappedFile::Open(Path("none")).ok());
  EXPECT_TRUE(MappedFile::Open(Path("a")).ok());
  EXPECT_TRUE(MappedFile::Open(Path("empty")).ok());
  const auto held = MappedFile::Open(Path("a"));
  EXPECT_EQ((*held)->text(), "text");
  EXPECT_TRUE(WriteFile(Path("b"), "text").ok());
  EXPECT_TRUE(WriteFile("/dev/null", "text").ok());
  const auto folder = OutputFile::Create(folder_);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().message, fmt::format("cannot write `{}`: is a directory", folder_));
  EXPECT_EQ(count(), before);
}

// A file is in the memory of the process while it is held.
TEST_F(FileTest, UnmapsWhatIsReleased) {
  ASSERT_TRUE(WriteFile(Path("mapped"), "text").ok());
  const auto is_mapped = [&] {
    std::ifstream maps("/proc/self/maps");
    const std::string text{std::istreambuf_iterator<char>(maps), {}};
    return text.find("/mapped\n") != std::string::npos;
  };
  {
    const auto held = MappedFile::Open(Path("mapped"));
    ASSERT_TRUE(held.ok());
    EXPECT_TRUE(is_mapped());
  }
  EXPECT_FALSE(is_mapped());
}

// The permissions of a new file are those that the program's mask permits; the mask stays.
TEST_F(FileTest, RespectsTheMaskOfPermissions) {
  namespace fs = std::filesystem;
  for (const mode_t mask : {0027, 0022, 0000}) {
    const mode_t before = ::umask(mask);
    const std::string path = Path(fmt::format("a{}", mask));
    EXPECT_TRUE(WriteFile(path, "text").ok());
    EXPECT_EQ(::umask(before), mask);
    EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0666 & ~mask));
  }
}

// A file in memory can have a size that no address space holds.
TEST_F(FileTest, TellsWhyAFileCannotBeMapped) {
  const int descriptor = ::memfd_create("huge", MFD_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(::ftruncate(descriptor, off_t{1} << 62), 0);
  const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
  const int next = ::dup(descriptor);
  ::close(next);
  const auto mapped = MappedFile::Open(path);
  ASSERT_FALSE(mapped.ok());
  EXPECT_EQ(mapped.error().message, fmt::format("cannot map `{}`: cannot allocate memory", path));
  const int same = ::dup(descriptor);
  EXPECT_EQ(same, next) << "the file is still open";
  ::close(same);
  ::close(descriptor);
}

TEST(FileIdentityTest, IsZerosWithoutAFile) {
  EXPECT_EQ(FileIdentity(), IdentityOf({}));
}

// Whole pages of a range are given back to the system, and no others.
TEST(MappedFileTest, ReleasesWholePages) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  constexpr size_t kPages = 8;
  void* memory = ::mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* bytes = static_cast<std::byte*>(memory);
  struct Range {
    size_t begin, end;             // bytes
    size_t first_page, last_page;  // released: [first_page, last_page)
  };
  for (const Range& range : {Range{2 * page, 5 * page, 2, 5}, Range{2 * page + 1, 5 * page, 3, 5},
                             Range{3 * page - 1, 5 * page, 3, 5}, Range{2 * page, 5 * page - 1, 2, 4},
                             Range{2 * page, 4 * page + 1, 2, 4}, Range{2 * page + 1, 4 * page - 1, 3, 3},
                             Range{2 * page + 1, 3 * page - 1, 3, 3}, Range{3 * page, 3 * page, 3, 3}}) {
    // Released pages of anonymous memory are zeros.
    std::memset(memory, 1, kPages * page);
    MappedFile::Release(std::span<const std::byte>(bytes + range.begin, range.end - range.begin));
    for (size_t i = 0; i < kPages; ++i) {
      const bool is_released = i >= range.first_page && i < range.last_page;
      EXPECT_EQ(bytes[i * page] == std::byte{0}, is_released)
          << range.begin << ".." << range.end << ": page " << i;
    }
  }
  ::munmap(memory, kPages * page);
}

TEST_F(FileTest, MapsEmptyFiles) {
  ASSERT_TRUE(WriteFile(Path("empty"), "").ok());
  auto mapped = MappedFile::Open(Path("empty"));
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ((*mapped)->size(), 0u);
}

// An interrupted program removes the files that are still registered.
class TemporaryFilesTest : public FileTest {
 protected:
  // Returns the path of a file that exists.
  std::string MakeFile(const std::string& name) const {
    std::ofstream(Path(name)) << "x";
    return Path(name);
  }
  // Runs the steps of an interrupted program in a process of its own.
  template <typename Steps>
  static void Interrupt(const Steps& steps) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      steps();
      ::_exit(0);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  size_t CountOfFiles() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }
};

TEST_F(TemporaryFilesTest, ForgottenFilesStay) {
  const std::string removed = MakeFile("removed"), kept = MakeFile("kept"), other = MakeFile("other");
  Interrupt([&] {
    AddTemporaryFile(removed);
    AddTemporaryFile(kept);
    ForgetTemporaryFile(kept);
    RemoveTemporaryFiles();
  });
  EXPECT_FALSE(std::filesystem::exists(removed));
  EXPECT_TRUE(std::filesystem::exists(kept));
  EXPECT_TRUE(std::filesystem::exists(other));
}

// A file that is being written is registered until it is complete or given up: then its name may be
// another's.
TEST_F(TemporaryFilesTest, HoldFilesThatAreBeingWritten) {
  Interrupt([&] {
    const auto begun = OutputFile::Create(Path("begun"));
    RemoveTemporaryFiles();
    ::_exit(0);
  });
  EXPECT_EQ(CountOfFiles(), 0u);
  Interrupt([&] {
    std::string names[2];
    for (const bool is_complete : {false, true}) {
      auto file = OutputFile::Create(Path("given up"));
      names[is_complete] = file->temporary_path();
      if (is_complete && !file->Commit().ok()) ::_exit(1);
    }
    for (const std::string& name : names) std::ofstream(name) << "x";
    RemoveTemporaryFiles();
  });
  EXPECT_EQ(CountOfFiles(), 3u);
}

TEST_F(TemporaryFilesTest, NoneIsCreatedAfterTheRemoval) {
  Interrupt([&] {
    RemoveTemporaryFiles();
    std::thread([&] {
      const auto late = OutputFile::Create(Path("late"));
      std::this_thread::sleep_for(std::chrono::minutes(1));
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (CountOfFiles() != 0) ::_exit(1);
  });
}

}  // namespace
}  // namespace nnefc

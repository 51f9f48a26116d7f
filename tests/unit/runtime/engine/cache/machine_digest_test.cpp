// The digest of the build and the processor: equal in each process of one build, different for another.

#include "runtime/engine/cache/machine_digest.h"

#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/unit/runtime/engine/cache/plan_cache_test.h"

namespace nnefc::runtime::engine::cache {
namespace {

// Prints the digest for the test below, which runs it in other processes.
TEST(MachineDigestTest, Prints) {
  std::printf("digest %s\n", ToHex(DigestOfMachine()).c_str());
}

// Returns the digest that a test program prints, or "".
std::string DigestFrom(const std::string& program) {
  const std::string command = "'" + program + "' --gtest_filter=MachineDigestTest.Prints 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
  ::pclose(pipe);
  const std::string mark = "digest ";
  const size_t begin = text.find(mark);
  if (begin == std::string::npos) return "";
  return text.substr(begin + mark.size(), text.find('\n', begin) - begin - mark.size());
}

// Returns the offset of the build ID in an ELF file, or npos.
size_t FindBuildId(const std::string& file) {
  const std::string note = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};  // an ID of 20 bytes
  const size_t at = file.find(note);
  return at == std::string::npos ? at : at + note.size();
}

TEST(MachineDigestTest, BuildsDiffer) {
  std::string folder = (fs::temp_directory_path() / "machine_digest.XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::string text = ReadAll("/proc/self/exe");
  const size_t id = FindBuildId(text);
  if (id == std::string::npos) {
    fs::remove_all(folder);
    GTEST_SKIP() << "the program has no build ID";
  }
  const auto write = [&](const std::string& name) {
    const fs::path path = fs::path(folder) / name;
    std::ofstream(path, std::ios::binary) << text;
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  };
  const std::string own = ToHex(DigestOfMachine());
  EXPECT_EQ(own, ToHex(DigestOfMachine()));
  const std::string same = write("same");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(DigestFrom(same), own);
  for (const size_t byte : {0, 19}) {
    text[id + byte] ^= 1;
    const std::string other = DigestFrom(write("other" + std::to_string(byte)));
    EXPECT_EQ(other.size(), own.size());
    EXPECT_NE(other, own) << byte;
    text[id + byte] ^= 1;
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace nnefc::runtime::engine::cache

// Written archives, compared with the format ustar (POSIX.1-1988).
#include "compiler/package/containers/tar_writer.h"

#include <zlib.h>

#include <sstream>

#include "tests/unit/compiler/package/testing.h"
#include "tests/unit/other_user.h"

namespace nnefc::package {
namespace {

class TarWriterTest : public PackageTest {
 protected:
  std::string WriteAndRead() {
    const auto written = WriteArchive(Path("m"), Path("m.tar"));
    if (!written) return written.error().message;
    std::stringstream text;
    text << std::ifstream(Path("m.tar"), std::ios::binary).rdbuf();
    return text.str();
  }
};

// Each number is of octal digits up to a NUL byte; the owner and the time are 0.
TEST_F(TarWriterTest, FieldsOfAHeader) {
  Write("m/block/w.dat", std::string(513, 'w'));
  const std::string archive = WriteAndRead();
  ASSERT_EQ(archive.size() % 512, 0U);
  ASSERT_GE(archive.size(), 512U + 1024 + 1024);
  const auto field = [&](size_t begin, size_t size) { return archive.substr(begin, size); };
  using namespace std::string_literals;
  EXPECT_EQ(field(0, 100), "block/w.dat" + std::string(89, '\0'));
  EXPECT_EQ(field(100, 8), "0000644\0"s);
  EXPECT_EQ(field(108, 8), "0000000\0"s);
  EXPECT_EQ(field(116, 8), "0000000\0"s);
  EXPECT_EQ(field(124, 12), "00000001001\0"s);
  EXPECT_EQ(field(136, 12), "00000000000\0"s);
  EXPECT_EQ(field(156, 1), "0");
  EXPECT_EQ(field(157, 100), std::string(100, '\0'));
  EXPECT_EQ(field(257, 8), "ustar\00000"s);
  EXPECT_EQ(field(265, 247), std::string(247, '\0'));
  unsigned sum = 8 * ' ';
  for (size_t i = 0; i < 512; ++i) sum += i < 148 || i >= 156 ? static_cast<unsigned char>(archive[i]) : 0;
  EXPECT_EQ(field(148, 8), fmt::format("{:06o}", sum) + "\0 "s) << "the checksum, a NUL byte, a blank";
  EXPECT_EQ(field(512, 1024), std::string(513, 'w') + std::string(511, '\0'));
  EXPECT_EQ(archive.substr(1536), std::string(archive.size() - 1536, '\0'));
}

// A name of up to 100 bytes is whole; a longer one is divided at a slash, with up to 155 bytes before it.
TEST_F(TarWriterTest, LengthsOfNames) {
  const auto name = [](size_t before, size_t after) {
    std::string text(before, 'p');
    if (before > 0) text += "/";
    return text + std::string(after - 4, 'n') + ".dat";
  };
  struct Case {
    size_t before, after;
    bool is_whole, fits;
  };
  for (const Case& each : {Case{0, 99, true, true}, Case{0, 100, true, true}, Case{0, 101, false, false},
                           Case{49, 50, true, true}, Case{50, 50, false, true}, Case{50, 100, false, true},
                           Case{50, 101, false, false}, Case{154, 100, false, true},
                           Case{155, 100, false, true}, Case{156, 100, false, false}}) {
    std::filesystem::remove_all(Path("m"));
    Write("m/" + name(each.before, each.after), "w");
    const std::string archive = WriteAndRead();
    SCOPED_TRACE(fmt::format("{} bytes, {} bytes", each.before, each.after));
    if (!each.fits) {
      EXPECT_TRUE(archive.ends_with("its name is too long for an archive")) << archive;
      continue;
    }
    ASSERT_GT(archive.size(), 512U);
    const std::string whole = name(each.before, each.after);
    const std::string first = archive.substr(345, 155), last = archive.substr(0, 100);
    const std::string prefix = each.is_whole ? "" : whole.substr(0, each.before);
    EXPECT_EQ(first, prefix + std::string(155 - prefix.size(), '\0'));
    const std::string rest = each.is_whole ? whole : whole.substr(each.before + 1);
    EXPECT_EQ(last, rest + std::string(100 - rest.size(), '\0'));
  }
}

// A compressed archive unpacks to the bytes of the other one, of more data than are compressed at once.
TEST_F(TarWriterTest, CompressedArchives) {
  std::string noise(300'000, '\0');
  uint32_t state = 1;
  for (char& byte : noise) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  Write("m/a.dat", noise);
  Write("m/b.dat", "b");
  const std::string plain = WriteAndRead();
  for (const char* name : {"m.tgz", "m.tar.gz"}) {
    ASSERT_TRUE(WriteArchive(Path("m"), Path(name)).ok());
    std::string unpacked(plain.size() + 1, '\0');
    gzFile file = gzopen(Path(name).c_str(), "rb");
    ASSERT_NE(file, nullptr);
    const int size = gzread(file, unpacked.data(), static_cast<unsigned>(unpacked.size()));
    EXPECT_EQ(gzclose(file), Z_OK);
    ASSERT_EQ(size, static_cast<int>(plain.size()));
    EXPECT_TRUE(unpacked.starts_with(plain));
    EXPECT_LT(std::filesystem::file_size(Path(name)), plain.size());
  }
}

// The end of a path decides if a model is written as an archive.
TEST_F(TarWriterTest, NamesOfArchives) {
  for (const char* path : {"m.tar", "m.tgz", "m.tar.gz", "f/m.nnef.tar", "m.nnef.tgz", ".tar"})
    EXPECT_TRUE(IsArchiveName(path)) << path;
  for (const char* path :
       {"", "m", "tar", "tgz", "m.gz", "m.tar.xz", "m.tar/m", "m.TAR", "m.tarx", "mtar.gz"})
    EXPECT_FALSE(IsArchiveName(path)) << path;
}

// A file that cannot be read leaves no archive.
TEST_F(TarWriterTest, FilesThatCannotBeRead) {
  Write("m/a.dat", "a");
  std::filesystem::permissions(folder_, std::filesystem::perms(0777));
  std::filesystem::permissions(Path("m/a.dat"), std::filesystem::perms(0));
  {
    const OtherUser user;
    if (!user.Reaches(folder_)) GTEST_SKIP() << "not the administrator, or a private folder";
    const auto written = WriteArchive(Path("m"), Path("m.tar"));
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message.find("a.dat"), std::string::npos) << written.error().message;
  }
  EXPECT_FALSE(std::filesystem::exists(Path("m.tar")));
}

}  // namespace
}  // namespace nnefc::package

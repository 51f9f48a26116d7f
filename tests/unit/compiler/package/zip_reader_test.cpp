#include "compiler/package/zip_reader.h"

#include "tests/unit/compiler/package/testing.h"
#include "tests/unit/compiler/package/zip_maker.h"

namespace nnefc {
namespace {

class ZipReaderTest : public PackageTest {
 protected:
  // "name=content" of every member, or what is wrong.
  std::string Read(const std::string& bytes, uint64_t max_bytes = 1000) {
    const DataSource source = Source(bytes);
    ZipReader reader(source, max_bytes, context_.emitter);
    const auto members = reader.Members();
    std::string text;
    if (!members) return Messages();
    for (const ZipMember& member : *members) {
      const auto content = reader.Read(member);
      if (content == nullptr) return Messages();
      EXPECT_EQ(bytes.substr(member.name_place, member.name.size()), member.name);
      text += fmt::format("{}={};", member.name,
                          std::string_view(reinterpret_cast<const char*>(content->data()), content->size()));
    }
    EXPECT_EQ(Messages(), "");
    return text;
  }
};

TEST_F(ZipReaderTest, ReadsStoredAndDeflatedMembers) {
  const std::string zeros(900, 'z');
  const std::string packed = Deflate(zeros);
  ASSERT_LT(packed.size(), 50u);
  ZipMaker zip;
  zip.Add({.name = "a", .data = "1"}).Add({.name = "", .data = ""});
  zip.Add({.name = "b/../c\\d",
           .data = packed,
           .method = 8,
           .unpacked = 900,
           .checksum = ZipMaker::Checksum(zeros)});
  zip.Add({.name = "a", .data = "23", .large = true});
  const std::string expected = "a=1;=;b/../c\\d=" + zeros + ";a=23;";
  EXPECT_EQ(Read(zip.Zip()), expected);
  EXPECT_EQ(Read(zip.Zip(/*large=*/true)), expected);
  EXPECT_EQ(Read(zip.Zip(false, "a comment")), expected);
  EXPECT_EQ(Read("before" + zip.Zip()), expected);
  EXPECT_EQ(Read("before" + zip.Zip(/*large=*/true)), expected);
  EXPECT_EQ(Read(ZipMaker().Zip()), "");
}

TEST_F(ZipReaderTest, HoldsTheBoundAtItsValue) {
  const std::string bytes =
      ZipMaker().Add({.name = "a", .data = "12"}).Add({.name = "b", .data = "345"}).Zip();
  EXPECT_EQ(Read(bytes, 5), "a=12;b=345;");
  EXPECT_EQ(
      Read(bytes, 4),
      "x: error: at byte 160: the archive unpacks to more than 4 bytes; raise the bound with `--max-bytes` "
      "[archive.too-large]\n");
}

TEST_F(ZipReaderTest, RefusesWhatIsWrong) {
  const auto one = [](ZipMaker::Entry entry) { return ZipMaker().Add(entry).Zip(); };
  EXPECT_EQ(Read(""),
            "x: error: at byte 0: this is no zip archive: the end of its directory is missing "
            "[archive.format]\n");
  EXPECT_EQ(Read(one({.name = "a", .data = "1", .flags = 1})),
            "x: error: at byte 78: `a` is encrypted; only plain members are read [archive.format]\n");
  EXPECT_EQ(Read(one({.name = "a", .data = "1", .method = 12})),
            "x: error: at byte 78: `a` is compressed by method 12; expected 0 (stored) or 8 (deflated) "
            "[archive.format]\n");
  EXPECT_EQ(Read(one({.name = "a", .data = "1", .unpacked = 2})),
            "x: error: at byte 78: `a` cannot have 2 bytes: its data are 1 [archive.size]\n");
  EXPECT_EQ(Read(one({.name = "a", .data = "1", .checksum = 7})),
            "x: error: at byte 31: the archive is damaged: the checksum of `a` does not fit its data "
            "[archive.damaged]\n");
  EXPECT_EQ(Read(one({.name = "a", .data = "1", .local_name = "b"})),
            "x: error: at byte 0: the archive is damaged: the directory calls the file here `a` "
            "[archive.damaged]\n");
  const std::string packed = Deflate("12345678");
  const uint32_t checksum = ZipMaker::Checksum("12345678");
  for (uint32_t size : {7u, 9u}) {
    EXPECT_NE(Read(one({.name = "a", .data = packed, .method = 8, .unpacked = size, .checksum = checksum}))
                  .find(fmt::format("`a` does not unpack to {} bytes [archive.damaged]\n", size)),
              std::string::npos);
  }
  // More than deflate can make of so few bytes is not even tried.
  EXPECT_EQ(Read(one({.name = "a", .data = "1", .method = 8, .unpacked = 2000}), 3000),
            "x: error: at byte 78: `a` cannot have 2000 bytes: its data are 1 [archive.size]\n");
  for (const std::string& cut : {packed.substr(0, packed.size() - 1), packed + "more"}) {
    EXPECT_NE(Read(one({.name = "a", .data = cut, .method = 8, .unpacked = 8, .checksum = checksum}))
                  .find("unpack"),
              std::string::npos);
  }
}

// Any byte changed, any byte missing: read, or told.
TEST_F(ZipReaderTest, BearsDamage) {
  const std::string packed = Deflate("12345678");
  const std::string good = ZipMaker()
                               .Add({.name = "a", .data = "1", .large = true})
                               .Add({.name = "b", .data = packed, .method = 8, .unpacked = 8})
                               .Zip(/*large=*/true, "end");
  for (size_t i = 0; i < good.size(); ++i) {
    EXPECT_NE(Read(good.substr(0, i)), "") << i;
    for (int change : {0x01, 0x80, 0xff}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      EXPECT_NE(Read(bytes), "") << i;
    }
  }
}

}  // namespace
}  // namespace nnefc

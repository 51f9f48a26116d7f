#include "compiler/package/containers/zip_reader.h"

#include "tests/unit/compiler/package/testing.h"
#include "tests/unit/compiler/package/zip_maker.h"

namespace nnefc::package {
namespace {

class ZipReaderTest : public PackageTest {
 protected:
  // Returns "name=content" of every member, or the diagnostics.
  std::string Read(const std::string& bytes, uint64_t max_bytes = 1000) {
    const DataSource source = Source(bytes);
    ZipReader reader(source, max_bytes, context_.emitter);
    const auto members = reader.Members();
    std::string text;
    if (!members) return Messages();
    for (const ZipMember& member : *members) {
      const auto content = reader.Read(member);
      if (content == nullptr) return Messages();
      EXPECT_EQ(bytes.substr(member.name_offset, member.name.size()), member.name);
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
            "x: error: at byte 0: invalid zip archive: the end of its directory is missing "
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
  // A size that deflate cannot reach from these bytes is rejected without unpacking.
  EXPECT_EQ(Read(one({.name = "a", .data = "1", .method = 8, .unpacked = 2000}), 3000),
            "x: error: at byte 78: `a` cannot have 2000 bytes: its data are 1 [archive.size]\n");
  const auto of_one_byte = [&](uint32_t unpacked) {
    return Read(one({.name = "a", .data = "1", .method = 8, .unpacked = unpacked}), 3000);
  };
  EXPECT_EQ(of_one_byte(1032 + 64).find("cannot have"), std::string::npos);
  EXPECT_NE(of_one_byte(1032 + 65).find("cannot have 1097 bytes"), std::string::npos);
  for (const std::string& cut : {packed.substr(0, packed.size() - 1), packed + "more"}) {
    EXPECT_NE(Read(one({.name = "a", .data = cut, .method = 8, .unpacked = 8, .checksum = checksum}))
                  .find("unpack"),
              std::string::npos);
  }
}

// Any byte changed, any byte missing: read, or reported.
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

// Each number of the records at its bound, and one beyond.
// A file without bytes may stand at the end of the archive, but not beyond it.
TEST_F(ZipReaderTest, EmptyFilesAtTheEnd) {
  const std::string whole = ZipMaker().Add({.name = "a"}).Zip();
  const auto with_extra_field = [&](size_t size) {
    std::string changed = whole;
    changed[28] = static_cast<char>(size);
    return Read(changed);
  };
  ASSERT_LT(whole.size(), 128u);
  EXPECT_EQ(with_extra_field(whole.size() - 31), "a=;");
  EXPECT_NE(with_extra_field(whole.size() - 30).find("`a` has 0 bytes, of which 0 are there"),
            std::string::npos);
}

TEST_F(ZipReaderTest, NumbersOfTheRecords) {
  const std::string whole = ZipMaker().Add({.name = "a", .data = "12345"}).Zip();
  ASSERT_EQ(Read(whole), "a=12345;");
  const uint32_t directory = 30 + 1 + 5, end = directory + 46 + 1;  // start offsets
  const auto with = [&](size_t at, uint64_t value, size_t bytes) {
    std::string changed = whole;
    for (size_t i = 0; i < bytes; ++i) changed[at + i] = static_cast<char>(value >> (8 * i));
    return Read(changed);
  };
  const auto expect = [&](size_t at, std::initializer_list<uint32_t> values, size_t bytes,
                          std::string_view message) {
    for (uint32_t value : values)
      EXPECT_NE(with(at, value, bytes).find(message), std::string::npos)
          << value << " at " << at << with(at, value, bytes);
  };
  // The directory: its size, its offset, and the comment after it.
  expect(end + 12, {end + 1, 0x7fffffff, 0xffffffff}, 4, "does not fit [archive.damaged]");
  expect(end + 16, {directory + 1, end, 0x7fffffff, 0xffffffff}, 4, "does not fit [archive.damaged]");
  expect(end + 20, {1, 2, 0xffff}, 2, "the end of its directory is missing [archive.format]");
  // The entry: sizes, lengths of its fields, and the offset of the file.
  const auto left = static_cast<uint32_t>(whole.size() - 31);
  expect(directory + 20, {left + 1, 0x7fffffff, 0xfffffffe}, 4, "of which");
  expect(directory + 20, {0, 4, 6, left}, 4, "`a` cannot have 5 bytes");
  expect(directory + 24, {0, 4, 6, 999}, 4, "cannot have");
  for (size_t field : {28, 30, 32})
    expect(directory + field, {2 + (field == 28 ? 0U : 1U), 0xffff}, 2, "[archive.damaged]");
  expect(directory + 42, {1, 30, directory}, 4, "expected the header of `a`");
  expect(directory + 42, {directory + 1, 0x7fffffff, 0xffffffff}, 4, "the sizes of `a` do not fit");
  // The header of the file: lengths of its fields.
  expect(26, {0, 2, 0xffff}, 2, "[archive.damaged]");
  expect(28, {1, 0xffff}, 2, "[archive.damaged]");
}

// Entries of the directory have at least 46 bytes within it.
TEST_F(ZipReaderTest, EntriesEndWithTheDirectory) {
  // The smallest entry has an empty name.
  EXPECT_EQ(Read(ZipMaker().Add({.name = "a", .data = "1"}).Add({.name = "", .data = "2"}).Zip()), "a=1;=2;");
  const std::string whole = ZipMaker().Add({.name = "a", .data = "12345"}).Zip();
  const uint32_t directory = 30 + 1 + 5, size = 46 + 1;
  for (uint32_t more : {1, 4, 45}) {
    std::string cut = whole;
    cut.insert(directory + size, (std::string("PK\1\2") + std::string(more, '\0')).substr(0, more));
    const uint32_t larger = size + more;
    std::memcpy(cut.data() + directory + larger + 12, &larger, sizeof larger);
    // A comment of 100 bytes has room for a whole entry; without one, the file ends first.
    for (const uint16_t comment : {uint16_t{0}, uint16_t{100}}) {
      std::memcpy(cut.data() + directory + larger + 20, &comment, sizeof comment);
      EXPECT_EQ(Read(cut + std::string(comment, '\0')),
                "x: error: at byte 83: the archive is damaged: expected an entry of its directory "
                "[archive.damaged]\n")
          << more;
    }
  }
}

// Each byte of the signature of an entry counts.
TEST_F(ZipReaderTest, SignaturesOfEntries) {
  const std::string whole =
      ZipMaker().Add({.name = "a", .data = "12345"}).Add({.name = "b", .data = "6"}).Zip();
  ASSERT_EQ(Read(whole), "a=12345;b=6;");
  const size_t first = (30 + 1 + 5) + (30 + 1 + 1), second = first + 46 + 1;
  for (const size_t entry : {first, second}) {
    for (size_t i = 0; i < 4; ++i) {
      std::string damaged = whole;
      damaged[entry + i] = static_cast<char>(damaged[entry + i] ^ 0x40);
      EXPECT_EQ(Read(damaged),
                fmt::format("x: error: at byte {}: the archive is damaged: expected an entry of "
                            "its directory [archive.damaged]\n",
                            entry))
          << i;
    }
  }
}

// A field of 64-bit sizes has those numbers, in order, that the entry lacks.
TEST_F(ZipReaderTest, FieldsOfLargeSizes) {
  const std::string whole = ZipMaker().Add({.name = "a", .data = "12345", .large = true}).Zip();
  EXPECT_EQ(Read(whole), "a=12345;");
  // With a size of its own for the packed data, the second number is the offset of the file.
  const uint32_t directory = 30 + 1 + 5, numbers = directory + 46 + 1 + 8, packed = 5, offset = 0;
  std::string changed = whole;
  std::memcpy(changed.data() + directory + 20, &packed, sizeof packed);
  EXPECT_EQ(Read(changed),
            "x: error: at byte 5: the archive is damaged: expected the header of `a` [archive.damaged]\n");
  std::memcpy(changed.data() + numbers + 8, &offset, sizeof offset);
  EXPECT_EQ(Read(changed), "a=12345;");
}

// The message about missing data states the bytes after the header of the file.
TEST_F(ZipReaderTest, BytesOfMissingData) {
  const std::string whole = ZipMaker().Add({.name = "a", .data = "12345"}).Zip();
  const uint32_t directory = 30 + 1 + 5;
  const auto read = [&](uint32_t packed, uint16_t extra) {
    std::string changed = whole;
    std::memcpy(changed.data() + directory + 20, &packed, sizeof packed);
    std::memcpy(changed.data() + 28, &extra, sizeof extra);
    return Read(changed);
  };
  const auto left = static_cast<uint32_t>(whole.size() - 31);
  const auto expected = [&](uint32_t packed, uint32_t present) {
    return fmt::format(
        "x: error: at byte 0: the archive is damaged: `a` has {} bytes, of which {} are there "
        "[archive.damaged]\n",
        packed, present);
  };
  EXPECT_EQ(read(left + 1, 0), expected(left + 1, left));
  EXPECT_EQ(read(left + 1, 7), expected(left + 1, left - 7));
  EXPECT_EQ(read(5, static_cast<uint16_t>(left - 4)), expected(5, 4));
  EXPECT_EQ(read(5, static_cast<uint16_t>(left)), expected(5, 0));
  EXPECT_EQ(read(5, static_cast<uint16_t>(left + 1)), expected(5, 0));
  EXPECT_EQ(read(5, 0xffff), expected(5, 0));
}

// Members are unpacked within their bytes and into their size, whatever their data state.
TEST_F(ZipReaderTest, DataBeyondTheirSizes) {
  const auto read = [&](const std::string& packed, uint32_t unpacked) {
    const ZipMaker zip =
        ZipMaker().Add({.name = "a", .data = packed, .method = 8, .unpacked = unpacked, .checksum = 0});
    return Read(zip.Zip(), 100'000'000);
  };
  const auto expected = [](uint64_t at, uint32_t unpacked) {
    return fmt::format(
        "x: error: at byte {}: the archive is damaged: `a` does not unpack to {} bytes [archive.damaged]\n",
        at, unpacked);
  };
  // 4 MiB of output for at most 8 bytes; the decompressor stops in the middle of the data.
  const std::string large = Deflate(std::string(1 << 22, 'z'));
  for (uint32_t unpacked : {0, 8}) {
    const std::string message = read(large, unpacked);
    EXPECT_NE(message.find(fmt::format("`a` does not unpack to {} bytes", unpacked)), std::string::npos);
  }
  // A stored block of 60,000 bytes, of which 95 are in the archive.
  const std::string block = std::string("\x01\x60\xea\x9f\x15") + std::string(95, 'y');
  EXPECT_EQ(read(block, 60'000), expected(31 + 100, 60'000));
  // Data that miss their end, and data with more after their end.
  const std::string packed = Deflate("12345678");
  EXPECT_EQ(read(packed.substr(0, packed.size() - 1), 8), expected(31 + packed.size() - 1, 8));
  EXPECT_EQ(read(packed + "more", 8), expected(31 + packed.size(), 8));
}

// Offsets count from the first file, whatever stands before it.
TEST_F(ZipReaderTest, OffsetsAfterOtherBytes) {
  const std::string before(100, 'b'), whole = before + ZipMaker().Add({.name = "a", .data = "12345"}).Zip();
  ASSERT_EQ(Read(whole), "a=12345;");
  const uint32_t directory = 30 + 1 + 5;
  for (const uint32_t offset : {directory - 1, directory, directory + 1, directory + 100, directory + 101}) {
    std::string changed = whole;
    std::memcpy(changed.data() + before.size() + directory + 42, &offset, sizeof offset);
    const std::string_view message =
        offset <= directory ? "expected the header of `a`" : "the sizes of `a` do not fit";
    EXPECT_NE(Read(changed).find(message), std::string::npos) << offset << ": " << Read(changed);
  }
}

// 64-bit sizes: each at its offset, all present.
TEST_F(ZipReaderTest, NumbersOfLargeSizes) {
  const std::string whole = ZipMaker().Add({.name = "a", .data = "12345", .large = true}).Zip();
  ASSERT_EQ(Read(whole), "a=12345;");
  const size_t field = 30 + 1 + 5 + 46 + 1 + 4;  // after a field of another kind
  for (size_t number : {0, 1, 2}) {
    for (uint64_t wrong : {uint64_t{4}, uint64_t{6}, uint64_t{1} << 40, uint64_t{1} << 63, ~uint64_t{0}}) {
      std::string changed = whole;
      std::memcpy(changed.data() + field + 4 + 8 * number, &wrong, sizeof wrong);
      const std::string read = Read(changed);
      EXPECT_TRUE(read.find("[archive.") != std::string::npos) << number << " " << wrong << read;
    }
  }
  for (uint16_t size : {0, 8, 16, 23, 25, 0xffff}) {
    std::string changed = whole;
    std::memcpy(changed.data() + field + 2, &size, sizeof size);
    EXPECT_NE(Read(changed).find("the sizes of `a` do not fit"), std::string::npos) << size;
  }
}

// A placeholder of a size needs its 64-bit field, however many other fields there are.
TEST_F(ZipReaderTest, LargeSizesAreMissing) {
  const std::string whole = ZipMaker().Add({.name = "a", .data = "12345"}).Zip();
  const size_t directory = 30 + 1 + 5;
  for (const size_t number : {20, 24, 42}) {
    std::string changed = whole;
    std::memset(changed.data() + directory + number, 0xff, 4);
    EXPECT_EQ(Read(changed),
              "x: error: at byte 36: the archive is damaged: the sizes of `a` do not fit [archive.damaged]\n")
        << number;
  }
  std::string other = ZipMaker().Add({.name = "a", .data = "12345", .large = true}).Zip();
  other[directory + 46 + 1 + 4] = 2;
  EXPECT_EQ(Read(other),
            "x: error: at byte 36: the archive is damaged: the sizes of `a` do not fit [archive.damaged]\n");
}

// 64-bit sizes of the directory are those between both records, each of which has its signature.
TEST_F(ZipReaderTest, RecordsOfLargeDirectories) {
  // The name ends where the records of a large archive would.
  std::string name = "PK\6\6" + std::string(52, 'n') + "PK\6\7" + std::string(16, 'l');
  ASSERT_EQ(name.size(), 56u + 20u);
  for (const bool has_record : {true, false}) {
    for (const bool has_locator : {true, false}) {
      if (!has_record) name[0] = 'x';
      name[56] = has_locator ? 'P' : 'x';
      const std::string read = Read(ZipMaker().Add({.name = name, .data = "1"}).Zip());
      EXPECT_EQ(read == name + "=1;", !has_record || !has_locator) << name << read;
    }
  }
}

// The length of the comment up to the maximum.
TEST_F(ZipReaderTest, Comments) {
  const ZipMaker zip = ZipMaker().Add({.name = "a", .data = "1"});
  EXPECT_EQ(Read(zip.Zip(false, std::string(0xffff, 'c'))), "a=1;");
  const std::string cut = zip.Zip(false, "comment");
  EXPECT_NE(Read(cut.substr(0, cut.size() - 1)).find("[archive.format]"), std::string::npos);
}

}  // namespace
}  // namespace nnefc::package

// The numbers of a safetensors file, each at its bound and one beyond.

#include "compiler/package/tensors/safetensors.h"

#include "tests/unit/compiler/package/testing.h"

namespace nnefc::package {
namespace {

class SafetensorsTest : public PackageTest {
 protected:
  static std::string File(const std::string& header, const std::string& data,
                          std::optional<uint64_t> stated = std::nullopt) {
    return Bytes().Add<uint64_t>(stated.value_or(header.size())).Text(header).Text(data).text();
  }
  // Returns "name offset+size;" of each tensor, or the labels of the errors.
  std::string Read(const std::string& bytes) {
    const auto index = ReadSafetensorsIndex(Source(bytes), bytes.size(), context_.emitter);
    std::string text;
    if (index) {
      for (const auto& [name, entry] : *index)
        text += fmt::format("{} {}+{};", name, entry.header.data_offset, entry.size);
    }
    for (const Diagnostic& diagnostic : context_.emitter.diagnostics()) text += diagnostic.rule->label;
    context_.emitter.Clear();
    return text;
  }
  static std::string Tensor(const std::string& name, const std::string& shape, const std::string& offsets) {
    return fmt::format(R"("{}": {{"dtype": "F32", "shape": [{}], "data_offsets": [{}]}})", name, shape,
                       offsets);
  }
  // A file of one tensor, with data of the given number of bytes.
  std::string ReadOne(const std::string& shape, const std::string& offsets, size_t bytes) {
    const std::string header = "{" + Tensor("a", shape, offsets) + "}";
    const std::string read = Read(File(header, std::string(bytes, '\0')));
    return read == fmt::format("a {}+{};", 8 + header.size(), bytes) ? "fits" : read;
  }
};

// The size of the header is in the first eight bytes.
TEST_F(SafetensorsTest, BytesOfTheSize) {
  for (const uint64_t stated : {uint64_t{3}, uint64_t{1} << 40, ~uint64_t{0}}) {
    const std::string bytes = File("{}", "", stated);
    EXPECT_FALSE(ReadSafetensorsIndex(Source(bytes), bytes.size(), context_.emitter));
    ASSERT_EQ(context_.emitter.diagnostics().size(), 1u);
    EXPECT_EQ(context_.emitter.diagnostics()[0].range.begin, 0u);
    EXPECT_EQ(context_.emitter.diagnostics()[0].range.end, 8u);
    context_.emitter.Clear();
  }
}

TEST_F(SafetensorsTest, OffsetsOfATensor) {
  EXPECT_EQ(ReadOne("2", "0, 8", 8), "fits");
  EXPECT_EQ(ReadOne("", "0, 4", 4), "fits");
  EXPECT_EQ(ReadOne("0", "0, 0", 0), "fits");
  for (const char* wrong :
       {"", "0", "0, 8, 8", "8, 0", "0, 7", "0, 9", "1, 8", "1, 9", "0, 0", "8, 8", "8, 16", "9, 17",
        "0, 9223372036854775807", "9223372036854775807, 9223372036854775807",
        "9223372036854775799, 9223372036854775807"})
    EXPECT_EQ(ReadOne("2", wrong, 8), "safetensors.size") << wrong;
  for (const char* wrong : {"-1, 7", "0, 18446744073709551615", "0.0, 8.0", "\"0\", 8"})
    EXPECT_EQ(ReadOne("2", wrong, 8), "safetensors.header") << wrong;
}

// Offsets beyond the data are wrong in themselves, whatever the shape.
TEST_F(SafetensorsTest, OffsetsLieInTheData) {
  const auto message = [&](const std::string& offsets) {
    const std::string bytes = File("{" + Tensor("a", "2", offsets) + "}", std::string(8, '\0'));
    (void)ReadSafetensorsIndex(Source(bytes), bytes.size(), context_.emitter);
    std::string text =
        context_.emitter.diagnostics().empty() ? "" : context_.emitter.diagnostics().front().message;
    context_.emitter.Clear();
    return text;
  };
  EXPECT_EQ(message("0, 8"), "");
  for (const char* wrong : {"1, 9", "8, 16", "9, 17", "0, 9", "8, 0", "0", "0, 8, 8"})
    EXPECT_EQ(message(wrong),
              "the items of the tensor `a` must lie between two offsets into the 8 bytes of data")
        << wrong;
}

TEST_F(SafetensorsTest, ShapesOfATensor) {
  for (const char* wrong : {"1", "3", "", "0", "2, 2", "4294967296, 4294967296", "9223372036854775807",
                            "9223372036854775807, 9223372036854775807"})
    EXPECT_EQ(ReadOne(wrong, "0, 8", 8), "safetensors.size") << wrong;
  EXPECT_EQ(ReadOne("-2", "0, 8", 8), "safetensors.header");
  std::string ones = "2";
  for (int i = 1; i < 64; ++i) ones += ", 1";
  EXPECT_EQ(ReadOne(ones, "0, 8", 8), "fits");
  EXPECT_EQ(ReadOne(ones + ", 1", "0, 8", 8), "safetensors.size");
}

// Tensors do not overlap and cover all bytes, in whichever order they are listed.
TEST_F(SafetensorsTest, TensorsFillTheData) {
  const auto read = [&](const std::string& first, const std::string& second, size_t bytes) {
    const std::string header = "{" + Tensor("a", "1", first) + ", " + Tensor("b", "1", second) + "}";
    const std::string text = Read(File(header, std::string(bytes, '\0')));
    return text.find(';') != std::string::npos ? "fits" : text;
  };
  EXPECT_EQ(read("0, 4", "4, 8", 8), "fits");
  EXPECT_EQ(read("4, 8", "0, 4", 8), "fits");
  EXPECT_EQ(read("0, 4", "0, 4", 4), "safetensors.size");
  EXPECT_EQ(read("0, 4", "0, 4", 8), "safetensors.size");
  EXPECT_EQ(read("0, 4", "3, 7", 7), "safetensors.size");
  EXPECT_EQ(read("3, 7", "0, 4", 7), "safetensors.size");
  EXPECT_EQ(read("0, 4", "5, 9", 9), "safetensors.size");
  EXPECT_EQ(read("1, 5", "5, 9", 9), "safetensors.size");
  EXPECT_EQ(read("0, 4", "4, 8", 9), "safetensors.size");
  EXPECT_EQ(read("0, 4", "4, 8", 7), "safetensors.size");
  EXPECT_EQ(Read(File("{}", "")), "");
  EXPECT_EQ(Read(File("{}", "1")), "safetensors.size");
}

TEST_F(SafetensorsTest, PlacesOfMistakes) {
  const auto place = [&](const std::string& bytes) {
    (void)ReadSafetensorsIndex(Source(bytes), bytes.size(), context_.emitter);
    const SourceRange range = context_.emitter.diagnostics().front().range;
    context_.emitter.Clear();
    return std::pair(range.begin, range.end);
  };
  const std::string header = "{" + Tensor("a", "1", "0, 4") + "}";
  const auto data = static_cast<uint32_t>(8 + header.size());
  EXPECT_EQ(place(File(header, "12345")), (std::pair(data + 4, data + 5)));
  EXPECT_EQ(place(File(header, "1234567")), (std::pair(data + 4, data + 7)));
  // Of two tensors with the same items, the later one is wrong.
  const std::string twice = "{" + Tensor("a", "1", "0, 4") + ", " + Tensor("b", "1", "0, 4") + "}";
  const auto second = static_cast<uint32_t>(8 + twice.rfind("[0, 4]"));
  EXPECT_EQ(place(File(twice, "1234")).first, second);
  const std::string bools = R"({"a": {"dtype": "BOOL", "shape": [3], "data_offsets": [0, 3]}})";
  const auto at = static_cast<uint32_t>(8 + bools.size());
  for (const uint32_t wrong : {0U, 1U, 2U}) {
    std::string items(3, '\1');
    items[wrong] = '\2';
    const std::string bytes = File(bools, items);
    const auto index = ReadSafetensorsIndex(Source(bytes), bytes.size(), context_.emitter);
    ASSERT_TRUE(index);
    EXPECT_FALSE(ReadSafetensorsEntry(Source(bytes), index->at("a"), context_.emitter).has_value());
    const Diagnostic& diagnostic = context_.emitter.diagnostics().front();
    EXPECT_EQ(diagnostic.message, fmt::format("item {} of type `BOOL` is 2; expected 0 or 1", wrong));
    EXPECT_EQ(diagnostic.range.begin, at + wrong);
    EXPECT_EQ(diagnostic.range.end, at + wrong + 1);
    context_.emitter.Clear();
  }
  for (const char* items : {"\0\0\1", "\1\1\1"}) {
    const std::string bytes = File(bools, std::string(items, 3));
    const auto index = ReadSafetensorsIndex(Source(bytes), bytes.size(), context_.emitter);
    EXPECT_TRUE(ReadSafetensorsEntry(Source(bytes), index->at("a"), context_.emitter).has_value());
  }
}

TEST_F(SafetensorsTest, SizesOfTheHeader) {
  const std::string header = "{" + Tensor("a", "0", "0, 0") + "}";
  for (uint64_t wrong : {header.size() + 1, header.size() - 1, size_t{0}, size_t{1} << 62, size_t{1} << 63,
                         ~size_t{0}, ~size_t{0} - 7})
    EXPECT_NE(Read(File(header, "", wrong)).find("safetensors.header"), std::string::npos) << wrong;
  for (size_t size = 0; size < 8; ++size)
    EXPECT_EQ(Read(File(header, "").substr(0, size)), "safetensors.header") << size;
  // Blanks may follow the object.
  constexpr size_t kLongest = size_t{16} << 20;
  EXPECT_EQ(Read(File("{}" + std::string(kLongest - 2, ' '), "")), "");
  EXPECT_EQ(Read(File("{}" + std::string(kLongest - 1, ' '), "")), "safetensors.header");
}

// The bytes to keep of a file whose data are read later.
TEST_F(SafetensorsTest, BytesOfTheHeader) {
  const auto size = [](const std::string& start) {
    return SafetensorsHeaderSize({reinterpret_cast<const std::byte*>(start.data()), start.size()});
  };
  for (size_t bytes = 0; bytes < 8; ++bytes) EXPECT_EQ(size(std::string(bytes, '\1')), bytes);
  EXPECT_EQ(size(File("{}", "")), 10u);
  EXPECT_EQ(size(File("{}", "data")), 10u);
  EXPECT_EQ(size(File("", "", 0)), 8u);
  for (const uint64_t stated : {(uint64_t{16} << 20) - 1, uint64_t{16} << 20})
    EXPECT_EQ(size(File("", "", stated)), 8 + stated);
  for (const uint64_t stated : {(uint64_t{16} << 20) + 1, ~uint64_t{0}})
    EXPECT_EQ(size(File("", "", stated)), kLongestSafetensorsHeader);
}

// The file may have become shorter since its header was read.
TEST_F(SafetensorsTest, EntriesOfAChangedFile) {
  const std::string bytes = File("{" + Tensor("a", "2", "0, 8") + "}", std::string(8, '\0'));
  const auto index = ReadSafetensorsIndex(Source(bytes), bytes.size(), context_.emitter);
  ASSERT_TRUE(index);
  const SafetensorsEntry& entry = index->at("a");
  EXPECT_TRUE(ReadSafetensorsEntry(Source(bytes), entry, context_.emitter).has_value());
  EXPECT_TRUE(ReadSafetensorsEntry(Source(bytes + "more"), entry, context_.emitter).has_value());
  EXPECT_EQ(Messages(), "");
  for (const size_t size : {bytes.size() - 1, bytes.size() - 8, size_t{8}}) {
    EXPECT_FALSE(ReadSafetensorsEntry(Source(bytes.substr(0, size)), entry, context_.emitter).has_value());
    EXPECT_EQ(
        Messages(),
        fmt::format("x: error: at byte {}: the file was changed while it was read; run the command once more "
                    "[safetensors.size]\n",
                    size));
  }
}

}  // namespace
}  // namespace nnefc::package

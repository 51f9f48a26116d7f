#include "compiler/package/tensors/npy.h"

#include <filesystem>
#include <span>

#include "compiler/package/tensors/npz.h"
#include "fmt/format.h"
#include "tests/unit/compiler/package/testing.h"
#include "tests/unit/compiler/package/zip_maker.h"

namespace nnefc::package {
namespace {

using namespace std::string_literals;

std::string Npy(std::string dictionary, const std::string& data, uint8_t version = 1) {
  Bytes bytes;
  bytes.Text("\x93NUMPY"s).U8(version).U8(0);
  dictionary += '\n';
  if (version == 1)
    bytes.U16(static_cast<uint16_t>(dictionary.size()));
  else
    bytes.U32(static_cast<uint32_t>(dictionary.size()));
  return bytes.Text(dictionary).Text(data).text();
}

class NpyTest : public PackageTest {
 protected:
  std::string Read(const std::string& bytes) {
    auto value = ReadNpy(Source(bytes), context_.emitter);
    if (!value) return Messages();
    std::string text = fmt::format("{}{}", Name(value->type()), ToString(value->shape()));
    for (int64_t i = 0; i < value->volume(); ++i) text += fmt::format(" {}", value->ElementAsDouble(i));
    return text;
  }
};

TEST_F(NpyTest, ReadsVersionsTypesAndOrders) {
  std::string floats = Bytes().F32(1).F32(2).F32(3).F32(4).F32(5).F32(6).text();
  std::string c_order = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  for (uint8_t version : {1, 2, 3}) EXPECT_EQ(Read(Npy(c_order, floats, version)), "f32[2,3] 1 2 3 4 5 6");
  EXPECT_EQ(Read(Npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", floats)),
            "f32[2,3] 1 3 5 2 4 6");
  for (const auto& [shape, read] :
       {std::pair("(3, 2)", "f32[3,2] "), std::pair("(3, 1, 2)", "f32[3,1,2] ")}) {
    const std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': True, 'shape': {}, }}", shape);
    EXPECT_EQ(Read(Npy(header, floats)), read + "1 4 2 5 3 6"s);
  }
  EXPECT_EQ(Read(Npy("{\"shape\":(2,1,3L),\"descr\":\"<f4\",\"fortran_order\":True}", floats)),
            "f32[2,1,3] 1 3 5 2 4 6");
  EXPECT_EQ(Read(Npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }", "\x01\x02\xff\xfe"s)),
            "i16[2] 258 -2");
  EXPECT_EQ(Read(Npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\x01\x00\x02"s)),
            "boolean[3] 1 0 1");
  EXPECT_EQ(
      Read(Npy("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", Bytes().Add<double>(0.1).text())),
      "f64[] 0.1");
  EXPECT_EQ(Read(Npy("{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", "\x00\x3c"s)), "f16[1] 1");
  EXPECT_EQ(Read(Npy("{'descr': '|u1', 'fortran_order': True, 'shape': (0, 4), }", "")), "u8[0,4]");
}

TEST_F(NpyTest, RefusesWhatItCannotRead) {
  std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  EXPECT_EQ(Read("PK"), "x: error: at byte 0: invalid NumPy array file [npy.magic]\n");
  EXPECT_EQ(
      Read(Npy(good, "1234", 4)),
      "x: error: at byte 6: version 4 of NumPy's array format is not known; expected 1 to 3 [npy.version]\n");
  EXPECT_EQ(Read(Npy(good, "123")),
            "x: error: at byte 71: the file ends after 3 of 4 bytes of data ([1] of f32) [npy.size]\n");
  EXPECT_EQ(Read(Npy(good, "12345")),
            "x: error: at byte 72: 1 bytes follow the data ([1] of f32) [npy.size]\n");
  EXPECT_EQ(Read(Npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "1234")),
            "x: error: at byte 10: items of type `|O` cannot be read; expected booleans, integers or floats "
            "[npy.type]\n");
  EXPECT_EQ(Read(Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234")),
            "x: error: at byte 20: expected a type such as `'<f4'`; arrays of records cannot be read "
            "[npy.header]\n");
  EXPECT_EQ(Read(Npy("{'descr': '<f4', 'shape': (1,), }", "1234")),
            "x: error: at byte 44: the header has no `fortran_order` [npy.header]\n");
  EXPECT_NE(
      Read(Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }",
               ""))
          .find("too large"),
      std::string::npos);
  for (const char* text :
       {"", "{", "}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'fortran_order': False, 'shape': (1,), }",
        "{xdescrx: '<f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': x<f4x, 'fortran_order': False, 'shape': (1,), }", "{'descr'",
        "{'descr':", "{'descr': '<f4'", "{'a': 1}", "{'shape': (-1,)}", "{'shape': (1 2)}",
        "{'shape': (99999999999999999999,)}", "{'fortran_order': Maybe}",
        "{'descr': '<f4', 'descr': '<f4'}"}) {
    EXPECT_NE(Read(Npy(text, "1234")).find("error"), std::string::npos) << text;
  }
}

// Messages about the types and the shape cover the header, those about the data none or the superfluous
// bytes.
TEST_F(NpyTest, RangesOfMistakes) {
  const auto range = [&](const std::string& bytes) {
    EXPECT_FALSE(ReadNpy(Source(bytes), context_.emitter));
    const SourceRange found = context_.emitter.diagnostics().front().range;
    context_.emitter.Clear();
    return std::pair(found.begin, found.end);
  };
  const auto npy = [](const char* type, const char* shape, const char* data) {
    return Npy(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape), data);
  };
  using Range = std::pair<uint32_t, uint32_t>;
  const auto data = [](const std::string& bytes, size_t size) {
    return static_cast<uint32_t>(bytes.size() - size);
  };
  const std::string objects = npy("|O", "(1,)", "1234"), cut = npy("<f4", "(1,)", "123"),
                    longer = npy("<f4", "(1,)", "1234567"),
                    large = npy("<f4", "(4294967296, 4294967296)", "");
  EXPECT_EQ(range(objects), Range(10, data(objects, 4)));
  EXPECT_EQ(range(large), Range(10, data(large, 0)));
  EXPECT_EQ(range(cut), Range(cut.size(), cut.size()));
  EXPECT_EQ(range(longer), Range(longer.size() - 3, longer.size()));
}

// The header and the file end before characters that would continue them.
TEST_F(NpyTest, NothingAfterTheEndCounts) {
  for (const auto& [dictionary, data, message] :
       {std::tuple("{'descr'", ": '<i4', 'fortran_order': False, 'shape': (1,)}",
                   "expected `:` in the header"),
        {"{'shape':", "(1,)}", "expected `(` in the header"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,", ")}", "expected an extent"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1", ")}", "expected `)` in the header"},
        {"", "{}", "expected `{` in the header"},
        {"{'descr':", "'<i4'}", "expected a type such as"},
        {"{", "'descr'}", "expected a key in the header"},
        {"{'fortran_order':", "True}", "expected `True` or `False`"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,)", "}", "expected `}` in the header"}}) {
    const std::string read = Read(Npy(dictionary, data));
    EXPECT_NE(read.find(message), std::string::npos) << dictionary << ": " << read;
  }
  // Whatever follows in the file, a header without its last brace has no value.
  for (const char* end : {"", " ", "\n"}) {
    const std::string cut =
        Npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)" + std::string(end), "1234");
    EXPECT_FALSE(ReadNpy(Source(cut), context_.emitter));
    EXPECT_EQ(context_.emitter.diagnostics().size(), 1U) << Messages();
    context_.emitter.Clear();
  }
  const std::string whole = Npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}", "1234");
  const DataSource source = Source(whole);
  for (const size_t size : {0, 1, 5}) {
    (void)ReadNpy({source.file, Buffer::Slice(source.bytes, 0, size)}, context_.emitter);
    EXPECT_EQ(Messages(), "x: error: at byte 0: invalid NumPy array file [npy.magic]\n") << size;
  }
}

TEST_F(NpyTest, KeysOfTheHeader) {
  const auto read = [&](const char* dictionary) {
    std::string text = Read(Npy(dictionary, "1234"));
    const size_t at = text.find(": ", text.find("at byte"));
    return at == std::string::npos ? text : text.substr(at + 2, text.find(" [npy") - at - 2);
  };
  const std::string one = "i32[1] 875770417";
  EXPECT_EQ(read("{'descr': '<i4', 'fortran_order': False, 'shape': (1,)}"), one);
  EXPECT_EQ(read("{'descr':\t'<i4' , 'fortran_order' :False,'shape':( 1 , ) , } "), one);
  EXPECT_EQ(read("{descr: '<i4', 'fortran_order': False, 'shape': (1,)}"), "expected a key in the header");
  EXPECT_EQ(read("{xdescrx: '<i4', 'fortran_order': False, 'shape': (1,)}"), "expected a key in the header");
  EXPECT_EQ(read("{'descr"), "expected a key in the header");
  EXPECT_EQ(read("{'descr\": '<i4'"), "expected `:` in the header");
  EXPECT_EQ(read("{'descr' '<i4'"), "expected `:` in the header");
  EXPECT_EQ(read("{'descr': <i4<, 'fortran_order': False, 'shape': (1,)}"),
            "expected a type such as `'<f4'`; arrays of records cannot be read");
  EXPECT_EQ(read("{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,)}"),
            "the key `descr` is unknown or given twice");
  EXPECT_EQ(read("{'fortran_order': True, 'fortran_order': True, 'descr': '<i4', 'shape': (1,)}"),
            "the key `fortran_order` is unknown or given twice");
  EXPECT_EQ(read("{'shape': (1,), 'shape': (1,), 'descr': '<i4', 'fortran_order': False}"),
            "the key `shape` is unknown or given twice");
  EXPECT_EQ(read("{'other': 1}"), "the key `other` is unknown or given twice");
  EXPECT_EQ(read("{'descr': '<i4', 'fortran_order': false, 'shape': (1,)}"), "expected `True` or `False`");
  EXPECT_EQ(read("{'descr': '<i4', 'fortran_order': False, 'shape': 1}"), "expected `(` in the header");
  EXPECT_EQ(read("{'descr': '<i4', 'fortran_order': False, 'shape': (-1,)}"), "expected an extent");
  EXPECT_EQ(read("{'descr': '<i4', 'fortran_order': False, 'shape': (,)}"), "expected an extent");
  EXPECT_EQ(read("{'descr': '<i4', 'fortran_order': False, 'shape': (1 1)}"), "expected `)` in the header");
}

TEST_F(NpyTest, WritesWhatItReads) {
  for (const TensorValue& value :
       {TensorValue::FromFloats({2, 2}, {1, 2, 3, 4}), TensorValue::FromInts({2}, {-1, 5}),
        TensorValue::FromBools({2}, {0, 1}), TensorValue::Scalar(3),
        TensorValue::Filled(ElementType::kF16, {3}, 2), TensorValue::Filled(ElementType::kU64, {1}, 2),
        TensorValue::Filled(ElementType::kI8, {0}, 2)}) {
    ASSERT_TRUE(WriteNpy(Path("x.npy"), value).ok());
    auto source = OpenData(Path("x.npy"), context_);
    ASSERT_TRUE(source);
    auto read = ReadNpy(*source, context_.emitter);
    ASSERT_TRUE(read) << Messages();
    EXPECT_EQ(*read, value);
    EXPECT_EQ(read->buffer()->mapped(), value.type() != ElementType::kBoolean);
  }
  EXPECT_EQ(NpyHeader(TensorValue::Filled(ElementType::kBF16, {1}, 1)).size() % 64, 0u);
  EXPECT_NE(NpyHeader(TensorValue::Filled(ElementType::kBF16, {1}, 1)).find("<f4"), std::string::npos);
  EXPECT_FALSE(WriteNpy(Path("none/x.npy"), TensorValue::Scalar(1)).ok());
}

TEST_F(NpyTest, WritesAndReadsArchives) {
  std::vector<NamedTensor> tensors = {{"output", TensorValue::FromFloats({1, 3}, {1, 2, 3})},
                                      {"a/mask", TensorValue::FromBools({2}, {0, 1})},
                                      {"empty", TensorValue::FromFloats({0}, {})}};
  ASSERT_TRUE(WriteNpz(Path("x.npz"), tensors).ok());
  ASSERT_TRUE(WriteNpz(Path("y.npz"), tensors).ok());
  EXPECT_EQ(Slurp(Path("x.npz")), Slurp(Path("y.npz")));
  auto source = OpenData(Path("x.npz"), context_);
  ASSERT_TRUE(source);
  auto read = ReadNpz(*source, context_);
  ASSERT_TRUE(read) << Messages();
  ASSERT_EQ(read->size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ((*read)[i].name, tensors[i].name);
    EXPECT_EQ((*read)[i].value, tensors[i].value);
  }
  EXPECT_TRUE((*read)[0].value.buffer()->mapped());
  // The folder has no other files.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
  EXPECT_FALSE(ReadNpz(*source, context_, {.max_bytes = 64}));
  EXPECT_NE(Messages().find("archive.too-large"), std::string::npos);
  EXPECT_FALSE(WriteNpz(Path("none/x.npz"), tensors).ok());
}

// Archive tools restore arrays as files that their owner writes and all others read.
TEST_F(NpyTest, PermissionsInArchives) {
  std::vector<NamedTensor> tensors = {{"x", TensorValue::Scalar(1)}, {"y/z", TensorValue::Scalar(2)}};
  ASSERT_TRUE(WriteNpz(Path("x.npz"), tensors).ok());
  const std::string bytes = Slurp(Path("x.npz"));
  size_t count = 0;
  for (size_t at = bytes.find("PK\1\2"); at != std::string::npos; at = bytes.find("PK\1\2", at + 4)) {
    uint32_t attributes = 0;
    std::memcpy(&attributes, bytes.data() + at + 38, sizeof attributes);
    EXPECT_EQ(static_cast<int>(bytes[at + 5]), 3) << "Unix";
    EXPECT_EQ(attributes >> 16, 0100644u);
    ++count;
  }
  EXPECT_EQ(count, 2u);
}

// A zip file in which every name has the same array.
std::string Zip(std::span<const std::string> names, const std::string& array, bool utf8_flag) {
  ZipMaker zip;
  for (const std::string& name : names) {
    zip.Add({.name = name, .data = array, .flags = static_cast<uint16_t>(utf8_flag ? 0x800 : 0)});
  }
  return zip.Zip();
}

// Keys of a mapping, not paths: NumPy also accepts all of these.
const std::vector<std::string> kUnusualNames = {
    "",           "/conv/out", "..x",       "a//b",         "./a",
    "a/",         "a\\b",

    "a\nb\t",     "\x1b[31m",  "café",      "\x7f",         "\u2028",
    "\U0001f600", "x.npy",     " ",         "..",           ".",
    "a b",        "a:0,1",     "x\xcc\x81", "%s{}\"'`$(x)", std::string(65'531, 'n')};

TEST_F(NpyTest, KeepsUnusualNames) {
  std::vector<NamedTensor> tensors;
  std::vector<std::string> members;
  for (const std::string& name : kUnusualNames) {
    tensors.push_back({name, TensorValue::Scalar(static_cast<float>(tensors.size()))});
    members.push_back(name + ".npy");
  }
  auto written = WriteNpz(Path("x.npz"), tensors);
  ASSERT_TRUE(written.ok()) << written.error().message;
  const std::string array = NpyHeader(TensorValue::Scalar(1)) + Bytes().F32(1).text();
  // Written by nnefc, and by others with and without the UTF-8 flag.
  for (const std::string& bytes :
       {Slurp(Path("x.npz")), Zip(members, array, true), Zip(members, array, false)}) {
    auto read = ReadNpz(Source(bytes), context_);
    ASSERT_TRUE(read) << Messages();
    ASSERT_EQ(read->size(), tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) EXPECT_EQ((*read)[i].name, tensors[i].name);
  }
}

TEST_F(NpyTest, RefusesNamesThatLeadOutOfAFolder) {
  for (const char* name : {"../x", "a/../x", "a\\..\\x", "..\\x", "/../x"}) {
    const NamedTensor tensor{name, TensorValue::Scalar(1)};
    const auto written = WriteNpz(Path("x.npz"), std::span(&tensor, 1));
    ASSERT_FALSE(written.ok()) << name;
    EXPECT_NE(written.error().message.find("lead out of a folder"), std::string::npos)
        << written.error().message;
    EXPECT_FALSE(std::filesystem::exists(Path("x.npz"))) << name;
  }
}

TEST_F(NpyTest, RefusesNamesThatAreNoText) {
  const std::string array = NpyHeader(TensorValue::Scalar(1)) + Bytes().F32(1).text();
  struct Case {
    std::string name;
    std::string shown;
    size_t place;
    std::string byte;
  };
  for (const Case& wrong :
       std::vector<Case>{{"a\xff", "a.", 1, "0xff"},
                         {"\xc0\x80", "..", 0, "0xc0"},            // an overlong encoding
                         {"ab\xed\xa0\x80", "ab...", 2, "0xed"},   // half of a surrogate pair
                         {"\xf4\x90\x80\x80", "....", 0, "0xf4"},  // above U+10FFFF
                         {"é\xc3", "...", 2, "0xc3"},              // truncated
                         {"a\0b"s, "a.b", 1, "0x00"}}) {
    for (bool utf8_flag : {false, true}) {
      const std::vector<std::string> members = {"b.npy", wrong.name + ".npy"};
      const std::string bytes = Zip(members, array, utf8_flag);
      EXPECT_FALSE(ReadNpz(Source(bytes), context_));
      EXPECT_EQ(Messages(),
                fmt::format("x: error: at byte {}: the name `{}.npy` is not UTF-8 text: it holds the "
                            "byte {}; rename the array [archive.name]\n",
                            bytes.rfind(members.back()) + wrong.place, wrong.shown, wrong.byte));
    }
    const std::vector<NamedTensor> tensors = {{wrong.name, TensorValue::Scalar(1)}};
    const auto written = WriteNpz(Path("x.npz"), tensors);
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().message,
              fmt::format("cannot write `{}`: the name `{}` of a tensor is not UTF-8 text: its byte {} is {}",
                          Path("x.npz"), wrong.shown, wrong.place, wrong.byte));
  }
  EXPECT_FALSE(std::filesystem::exists(Path("x.npz")));
}

TEST_F(NpyTest, RefusesToWriteWhatWouldNotBeReadAgain) {
  const TensorValue one = TensorValue::Scalar(1);
  const auto message = [&](const std::vector<NamedTensor>& tensors) {
    const auto written = WriteNpz(Path("x.npz"), tensors);
    return written.ok() ? "written" : written.error().message;
  };
  EXPECT_EQ(message({{"a", one}, {"b", one}, {"a", one}}),
            fmt::format("cannot write `{}`: two tensors have the name `a`", Path("x.npz")));
  EXPECT_EQ(
      message({{std::string(65'532, 'n'), one}}),
      fmt::format("cannot write `{}`: the name `{}..` of a tensor has 65532 bytes; at most 65531 can be "
                  "written",
                  Path("x.npz"), std::string(80, 'n')));
  EXPECT_FALSE(std::filesystem::exists(Path("x.npz")));
}

TEST_F(NpyTest, ReadsArraysAloneAndEachOnce) {
  const std::string array = NpyHeader(TensorValue::Scalar(1)) + Bytes().F32(1).text();
  const std::vector<std::string> members = {"a", "a.npy", "b.NPY", "c.npy.bak", "npy", "d/"};
  auto read = ReadNpz(Source(Zip(members, array, false)), context_);
  ASSERT_TRUE(read) << Messages();
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(read->front().name, "a");
  EXPECT_FALSE(ReadNpz(Source(Zip(std::vector<std::string>{"a.npy", "a.npy"}, array, false)), context_));
  EXPECT_NE(Messages().find("the archive holds `a.npy` twice [archive.duplicate]\n"), std::string::npos);
  // Offsets are relative to the start of the archive.
  read =
      ReadNpz(Source("before" + Zip(std::vector<std::string>{"a.npy", "b/c.npy"}, array, false)), context_);
  ASSERT_TRUE(read) << Messages();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].name, "a");
  EXPECT_EQ((*read)[1].name, "b/c");
}

TEST_F(NpyTest, RefusesDamagedArchives) {
  std::vector<NamedTensor> tensors = {{"output", TensorValue::FromFloats({1, 3}, {1, 2, 3})}};
  ASSERT_TRUE(WriteNpz(Path("x.npz"), tensors).ok());
  std::string bytes = Slurp(Path("x.npz"));
  size_t data = bytes.find("\x93NUMPY") + 128;
  bytes[data] ^= 1;
  EXPECT_FALSE(ReadNpz(Source(bytes), context_));
  EXPECT_NE(Messages().find("damaged"), std::string::npos);
  EXPECT_FALSE(ReadNpz(Source("no archive"), context_));
  EXPECT_NE(Messages().find("invalid zip archive"), std::string::npos);
}

// Each number at its bound, and one beyond.
TEST_F(NpyTest, BoundsOfTheFormat) {
  const std::string rest = "'descr': '<f4', 'fortran_order': False, ";
  const auto of_rank = [&](int rank) {
    std::string shape;
    for (int i = 0; i < rank; ++i) shape += "1, ";
    return Read(Npy("{" + rest + "'shape': (" + shape + ")}", Bytes().F32(3).text()));
  };
  EXPECT_TRUE(of_rank(64).ends_with("] 3"));
  EXPECT_NE(of_rank(65).find("[npy.header]"), std::string::npos);
  const std::string dictionary = "{" + rest + "'shape': (1,), }";
  const auto of_length = [&](size_t length) {
    return Read(Npy(dictionary + std::string(length - 1 - dictionary.size(), ' '), Bytes().F32(3).text(), 2));
  };
  EXPECT_EQ(of_length(size_t{1} << 20), "f32[1] 3");
  EXPECT_NE(of_length((size_t{1} << 20) + 1).find("a header of 1048577 bytes; expected at most 1048576"),
            std::string::npos);
  const std::string longest(size_t{1} << 20, ' ');
  EXPECT_FALSE(ReadNpy(Source(Npy(longest, "", 2)), context_.emitter));
  EXPECT_EQ(context_.emitter.diagnostics().front().range.begin, 8U);
  EXPECT_EQ(context_.emitter.diagnostics().front().range.end, 12U);
  context_.emitter.Clear();
  for (uint8_t version : {0, 4, 255}) {
    EXPECT_NE(Read(Npy(dictionary, Bytes().F32(3).text(), version)).find("[npy.version]"), std::string::npos);
  }
  // A file that is truncated at any position.
  for (uint8_t version : {1, 2}) {
    const std::string whole = Npy(dictionary, Bytes().F32(3).text(), version);
    for (size_t size = 7; size < whole.size(); ++size) {
      const std::string within = size < whole.size() - 4 ? "bytes, within the header" : "of 4 bytes of data";
      const size_t seen = size < whole.size() - 4 ? size : size - (whole.size() - 4);
      EXPECT_NE(Read(whole.substr(0, size)).find(fmt::format("the file ends after {} {}", seen, within)),
                std::string::npos)
          << size;
    }
  }
}

}  // namespace
}  // namespace nnefc::package

// Every file format of the package, truncated at every length and with every byte of its header changed: a
// message or success, never a crash.

#include "compiler/package/containers/archive_reader.h"
#include "compiler/package/model.h"
#include "compiler/package/tensors/dat.h"
#include "compiler/package/tensors/npz.h"
#include "compiler/package/tensors/safetensors.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/unit/compiler/package/tar_maker.h"
#include "tests/unit/compiler/package/testing.h"

namespace nnefc::package {
namespace {

class DamageTest : public PackageTest {
 protected:
  // Calls `read` with every damaged form of `bytes`; the first `header` bytes are changed one by one. `read`
  // returns true on success.
  template <typename Read>
  void Sweep(const std::string& bytes, size_t header, Read read) {
    auto expect = [&](const std::string& damaged, std::string_view how, size_t at) {
      bool success = read(damaged);
      std::string messages = Messages();
      EXPECT_TRUE(success || messages.find("error: ") != std::string::npos) << how << " " << at;
      EXPECT_FALSE(success && messages.find("error: ") != std::string::npos) << how << " " << at << messages;
    };
    expect(bytes, "whole", 0);
    for (size_t size = 0; size < bytes.size(); ++size) expect(bytes.substr(0, size), "cut at", size);
    for (size_t at = 0; at < std::min(header, bytes.size()); ++at) {
      for (int change : {0x01, 0x02, 0x10, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ change);
        expect(damaged, "changed", at);
      }
    }
  }

  bool ReadAs(const std::string& bytes, ElementType type) {
    auto dat = ReadDat(Source(bytes), context_.emitter);
    ExpectHeader(bytes, dat ? &*dat : nullptr);
    return dat && DecodeDat(*dat, type, context_.emitter);
  }

  // Expects the same result from the header alone as from the file, which was read as `dat`.
  void ExpectHeader(const std::string& bytes, const DatFile* dat) {
    const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
    const uint64_t size = DatHeaderSize({data, std::min<size_t>(bytes.size(), kLongestDatHeader)});
    ASSERT_LE(size, kLongestDatHeader);
    const DataSource start = Source(std::string_view(bytes).substr(0, size));
    Emitter emitter;
    const std::optional<DatHeader> header = ReadDatHeader(start, bytes.size(), emitter);
    ASSERT_EQ(header.has_value(), dat != nullptr);
    const auto& told = context_.emitter.diagnostics();
    ASSERT_EQ(emitter.diagnostics().size(), told.size());
    for (size_t i = 0; i < told.size(); ++i) EXPECT_EQ(emitter.diagnostics()[i].message, told[i].message);
    if (dat == nullptr) return;
    EXPECT_EQ(header->shape, dat->value.shape());
    EXPECT_EQ(DescribeItems(*header), DescribeItems(*dat));
    EXPECT_EQ(header->algorithm, dat->algorithm);
  }
};

TEST_F(DamageTest, Dat) {
  std::vector<std::string> files;
  for (auto format : {DatFile::Format::kRatified, DatFile::Format::kProvisional}) {
    for (const TensorValue& value :
         {TensorValue::FromFloats({2, 3}, {1, 2, 3, 4, 5, 6}), TensorValue::FromInts({1, 2}, {1, -1}),
          TensorValue::FromBools({3}, {1, 0, 1}), TensorValue::Filled(ElementType::kI4, {3}, -3)}) {
      ASSERT_TRUE(WriteDat(Path("x.dat"), value, format).ok());
      files.push_back(Slurp(Path("x.dat")));
    }
  }
  std::string text = "linear_quantize(min = -1.0, max = 1.0, bits = 8)";
  Bytes quantized;
  quantized.U8(0x4e).U8(0xef).U8(1).U8(0).U32(20 + static_cast<uint32_t>(text.size())).U32(1).U32(3);
  files.push_back(
      quantized.U8(1).U8(8).U16(static_cast<uint16_t>(text.size())).Text(text).Text("abc").text());
  for (uint32_t code : {2, 3, 0x10, 0x11}) {
    Bytes legacy;
    legacy.U8(0x4e).U8(0xef).U8(1).U8(0).U32(2).U32(1).U32(5).PadTo(44).U32(3).U32(code).F32(-1).F32(1).PadTo(
        128);
    files.push_back(legacy.Text("ab").text());
  }
  for (uint32_t code : {0x54523040U, 0x54522040U}) {
    Bytes blocks;
    blocks.U8(0x4e)
        .U8(0xef)
        .U8(1)
        .U8(0)
        .U32(18)
        .U32(1)
        .U32(32)
        .PadTo(44)
        .U32(0xffffffff)
        .U32(code)
        .PadTo(128);
    files.push_back(blocks.Text(std::string(18, '\x35')).text());
  }
  for (const std::string& file : files) {
    for (ElementType type : {ElementType::kF32, ElementType::kI64, ElementType::kBoolean}) {
      Sweep(file, file.size(), [&](const std::string& bytes) { return ReadAs(bytes, type); });
    }
  }
}

TEST_F(DamageTest, Safetensors) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[3],"data_offsets":[0,6]},)"
      R"("b":{"dtype":"BOOL","shape":[1,2],"data_offsets":[6,8]},"c":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})";
  Bytes file;
  file.Add<uint64_t>(header.size())
      .Text(header)
      .Text(std::string("\x80\x3f\0\0\x80\xff\1\0", 8))
      .Text(std::string(8, '\0'));
  // The header alone yields the same result as the file.
  Sweep(file.text(), file.text().size(), [&](const std::string& bytes) {
    const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
    const uint64_t size = SafetensorsHeaderSize({data, bytes.size()});
    const auto index =
        ReadSafetensorsIndex(Source(std::string_view(bytes).substr(0, size)), bytes.size(), context_.emitter);
    if (!index) return false;
    const DataSource source = Source(bytes);
    return llvm::all_of(*index, [&](const auto& entry) {
      const auto dat = ReadSafetensorsEntry(source, entry.second, context_.emitter);
      return dat && DecodeDat(*dat,
                              dat->items == DatItems::kFloat  ? ElementType::kF32
                              : dat->items == DatItems::kBool ? ElementType::kBoolean
                                                              : ElementType::kI64,
                              context_.emitter);
    });
  });
}

TEST_F(DamageTest, Npy) {
  for (const TensorValue& value :
       {TensorValue::FromFloats({2, 3}, {1, 2, 3, 4, 5, 6}), TensorValue::FromBools({1}, {1})}) {
    ASSERT_TRUE(WriteNpy(Path("x.npy"), value).ok());
    std::string bytes = Slurp(Path("x.npy"));
    Sweep(bytes, bytes.size(),
          [&](const std::string& damaged) { return ReadNpy(Source(damaged), context_.emitter).has_value(); });
  }
}

TEST_F(DamageTest, Npz) {
  std::vector<NamedTensor> tensors = {{"a", TensorValue::FromFloats({2}, {1, 2})},
                                      {"b", TensorValue::Scalar(1)}};
  ASSERT_TRUE(WriteNpz(Path("x.npz"), tensors).ok());
  std::string bytes = Slurp(Path("x.npz"));
  Sweep(bytes, bytes.size(),
        [&](const std::string& damaged) { return ReadNpz(Source(damaged), context_).has_value(); });
}

TEST_F(DamageTest, Archives) {
  ASSERT_TRUE(WriteDat(Path("x.dat"), TensorValue::FromFloats({2}, {1, 2})).ok());
  std::string tar =
      TarMaker().File("graph.nnef", "version 1.0;").File("conv1/filter.dat", Slurp(Path("x.dat"))).Tar();
  auto read = [&](const std::string& path, bool reads_data) {
    const ModelOpenOptions options{.max_bytes = 1 << 20, .reads_data = reads_data};
    auto model = ModelContainer::Open(path, context_, options).model;
    if (model == nullptr || !model->HasVariable("conv1/filter")) return model != nullptr;
    return model->ReadVariable("conv1/filter", ElementType::kF32, context_.emitter).has_value();
  };
  // In one pass or in two.
  auto open = [&](const std::string& damaged) {
    const std::string path = Write("x.tar", damaged);
    const bool success = read(path, /*reads_data=*/false);
    const std::string messages = Messages();
    EXPECT_EQ(read(path, /*reads_data=*/true), success);
    EXPECT_EQ(ReportText(), messages);
    return success;
  };
  Sweep(tar, 512, open);
  std::string packed = Gzip(tar);
  Sweep(packed, packed.size(), open);
}

// A file that ends early is reported once, and no part of it is returned.
TEST_F(DamageTest, DataOfArchivesThatEndEarly) {
  const std::string data(100'000, 'x');
  const std::string tar = TarMaker().File("a", data).File("b", "b").Tar();
  constexpr size_t kHeader = 512;
  for (const size_t size : {size_t{0}, size_t{1}, data.size() / 2, data.size() - 1}) {
    SCOPED_TRACE(size);
    const DataSource source = Source(tar.substr(0, kHeader + size));
    const auto expect_failure = [&](const ArchiveReader& reader, bool is_empty) {
      EXPECT_TRUE(is_empty);
      EXPECT_TRUE(reader.failed());
      EXPECT_EQ(llvm::StringRef(Messages()).count("error: "), 1u);
    };
    ArchiveReader whole(source, 1 << 20, context_.emitter);
    ASSERT_EQ(whole.Next(), "a");
    expect_failure(whole, whole.Read() == nullptr);
    ArchiveReader start(source, 1 << 20, context_.emitter);
    ASSERT_EQ(start.Next(), "a");
    expect_failure(start, !start.ReadStart(10));
    ArchiveReader skipped(source, 1 << 20, context_.emitter);
    ASSERT_EQ(skipped.Next(), "a");
    expect_failure(skipped, !skipped.Next());
  }
}

// Only the file that was found last has bytes to read, once.
TEST_F(DamageTest, FilesOfArchivesAreReadOnce) {
  const DataSource source = Source(TarMaker().File("a", "of a").File("b", "of b").Tar());
  ArchiveReader reader(source, 1 << 20, context_.emitter);
  const auto expect_nothing = [&] {
    EXPECT_EQ(reader.Read(), nullptr);
    EXPECT_FALSE(reader.ReadStart(10).has_value());
    EXPECT_FALSE(reader.failed());
  };
  expect_nothing();
  ASSERT_EQ(reader.Next(), "a");
  const auto whole = reader.Read();
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(whole->size(), 4u);
  expect_nothing();
  ASSERT_EQ(reader.Next(), "b");
  const auto start = reader.ReadStart(10);
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->size, 4u);
  expect_nothing();
  EXPECT_EQ(reader.Next(), std::nullopt);
  expect_nothing();
  EXPECT_EQ(Messages(), "");
}

}  // namespace
}  // namespace nnefc::package

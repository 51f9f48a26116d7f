// Archives as models: how they are recognised, and how often they may be compressed.

#include "compiler/package/foreign_format.h"
#include "compiler/package/model.h"
#include "tests/unit/compiler/package/tar_maker.h"
#include "tests/unit/compiler/package/testing.h"
#include "tests/unit/other_user.h"

namespace nnefc::package {
namespace {

const char kDocument[] = "version 1.0;\n";

class ArchiveModelTest : public PackageTest {
 protected:
  std::unique_ptr<ModelContainer> Open(const std::string& path) {
    ModelOpenResult result = ModelContainer::Open(path, context_, {});
    environment_failed_ = result.environment_failed;
    return std::move(result.model);
  }
  // Returns the messages about an archive that cannot be opened, without its path.
  std::string OpenFails(std::string_view name, std::string_view bytes) {
    EXPECT_EQ(Open(Write(name, bytes)), nullptr);
    const std::string text = Messages();
    return text.substr(std::min(text.size(), Path(name).size()));
  }

  bool environment_failed_ = false;
};

std::string OfHex(std::string_view hex) {
  std::string bytes;
  for (; !hex.empty(); hex.remove_prefix(2))
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(0, 2)), nullptr, 16));
  return bytes;
}

// Returns a zstd frame (RFC 8878) with the bytes in one raw block.
std::string Zstd(const std::string& bytes) {
  const auto size = static_cast<uint32_t>(bytes.size());
  Bytes frame;
  frame.U32(0xfd2fb528).U8(0xa0).U32(size);  // one segment, with its size in 4 bytes
  const uint32_t block = size << 3 | 1;      // the last one, raw
  frame.U8(block & 0xff).U8(block >> 8 & 0xff).U8(block >> 16 & 0xff);
  return frame.Text(bytes).text();
}

// A tar is recognised by its magic whatever the name of the file; other files are documents.
TEST_F(ArchiveModelTest, TarsOfAnyName) {
  const std::string tar = TarMaker().File("graph.nnef", kDocument).File("w.dat", "").Tar();
  const auto archive = Open(Write("net.model", tar));
  ASSERT_NE(archive, nullptr) << Messages();
  EXPECT_TRUE(archive->is_bundle());
  EXPECT_EQ(context_.sources.Text(archive->graph_text()), kDocument);
  // The magic ends at byte 262.
  const auto document = Open(Write("cut.model", tar.substr(0, 261)));
  ASSERT_NE(document, nullptr) << Messages();
  EXPECT_FALSE(document->is_bundle());
}

// An archive is compressed at most once, whether or not its first bytes show the compression.
TEST_F(ArchiveModelTest, CompressedSeveralTimes) {
  const std::string tar = TarMaker().File("graph.nnef", kDocument).Tar();
  EXPECT_NE(Open(Write("once.tar.zst", Zstd(tar))), nullptr) << Messages();
  EXPECT_EQ(OpenFails("twice.tar.zst", Zstd(Zstd(tar))),
            ": error: the archive is damaged: it is compressed several times [archive.damaged]\n");
  // A tar in xz in lzma whose first byte, 5c, states two literal context bits instead of three.
  const std::string lzma = OfHex(
      "5c00008000ffffffffffffffff007e8dcacb56e0bbfe32d551df9668e6846bf4247250c05183b5022ae06caf8be783e3"
      "f3d121d8ebccfec4ed234107e46e88d7b25e5a05c6963844b1883877719fff252bc39b0f57180387c01031d52b07cf2a"
      "c2e90474278c76ae32aef9572c5eee6dcd988f3df0ef072615dd0537899e5fdf52d449817fbe70d48334aa8caf6f0fe2"
      "ff6687d56e49794e24bca1af534f271559d2bfd4d39485b74effffd0a40000");
  EXPECT_NE(OpenFails("twice.tar.lzma", lzma).find("[archive.format]"), std::string::npos);
}

// The bytes that an unusual compression unpacks to are bounded as well, not those of the file.
TEST_F(ArchiveModelTest, BoundOfUnusualCompressions) {
  // A tar of 40,960 bytes with a document and twice 15,000 zeros, in lzma with two literal context bits.
  const std::string lzma = OfHex(
      "5c00000100ffffffffffffffff00339c8846bc2b6bc086de0e9e69bb12fec07b397cc3d397f24e2a2414a5219e72c56a"
      "2c3779e814409f3afac6cb37fcbddecb66afda1f6cf1afc133c04f42a14d624f82fb88c1fef3dd804d84830db5086cbe"
      "89af2baf2562842d9483d330bf01cab4ca2a18fb39b95444f22bfb54388902a18fac9e4377e683997cd171e9ecfb1d65"
      "1137cb89cffd827c291b78cf7626140f351e3c415ddd14bc23e048898f8cd465154db249bc4b17f10d5aef2dedffff85"
      "575ab0");
  const std::string path = Write("zeros.tar.lzma", lzma);
  EXPECT_NE(ModelContainer::Open(path, context_, {.max_bytes = 40'960}).model, nullptr) << Messages();
  EXPECT_EQ(ModelContainer::Open(path, context_, {.max_bytes = 20'000}).model, nullptr);
  EXPECT_NE(ReportText().find("the archive unpacks to more than 20000 bytes"), std::string::npos)
      << ReportText();
  ASSERT_EQ(context_.emitter.diagnostics().size(), 1U);
  EXPECT_EQ(context_.emitter.diagnostics().front().range.end, 0U);
}

// libarchive undoes at most 25 compressions, and its own reason for that is reported.
TEST_F(ArchiveModelTest, CompressedTooOften) {
  std::string bytes = TarMaker().File("graph.nnef", kDocument).Tar();
  for (int i = 0; i < 26; ++i) bytes = Zstd(bytes);
  EXPECT_EQ(OpenFails("often.tar.zst", bytes),
            ": error: the archive is damaged: Input requires too many filters for decoding "
            "[archive.damaged]\n");
}

// Data whose unpacking fails in their middle are damaged: nothing of them is used.
TEST_F(ArchiveModelTest, DamagedWithinTheData) {
  constexpr uint32_t kItems = 500'000;  // more bytes than are unpacked at once
  Bytes large;
  large.U8(0x4e).U8(0xef).U8(1).U8(0).U32(4 * kItems).U32(1).U32(kItems).PadTo(44).U32(32).U32(0);
  large.PadTo(128 + size_t{4} * kItems);
  const std::string bytes =
      Gzip(TarMaker().File("graph.nnef", kDocument).File("a.dat", large.text()).Tar(), /*level=*/0);
  const auto model = Open(Write("m.tgz", bytes));
  ASSERT_NE(model, nullptr) << Messages();
  {
    // Stored blocks have at most 65,535 bytes, so that the header of one is among these.
    std::fstream file(Path("m.tgz"), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(1'500'000);
    file << std::string(70'000, '\7');
  }
  EXPECT_FALSE(model->ReadVariable("a", ElementType::kF32, context_.emitter));
  EXPECT_NE(ReportText().find("the archive is damaged at or after `a.dat`"), std::string::npos)
      << ReportText();
  EXPECT_EQ(context_.emitter.diagnostics().size(), 1U) << ReportText();
}

// Damage of an archive ends its reading: it is the only mistake, whatever libarchive reports then.
TEST_F(ArchiveModelTest, DamagedUnusualCompressions) {
  // A tar with a document and 60,000 zeros of shape [60000], in lzma with two literal context bits.
  const std::string lzma = OfHex(
      "5c00000100ffffffffffffffff00339c8846bc2b6bc086de0e9e69bb12fec07b397cc3d397f24e2a2414a5219e72c56a"
      "2c3779e814409f3afac6cb37fcbddecb66afda1f6cf1afc133c04f42a14d624f82fb88c1fee02108ed8fcde6d8617ceb"
      "cf82a5144cd55b14ae2b66f209be2f7e5cb98f43eabb2669ebe209e4c27d4f02151eb005bedce15480f8e486af1efa24"
      "8a93c068ceed7640883c85735212841ffd50e6a964c6beeac95bca6c3aaa14e53423a488f483321f250eda2b0b3ccfb5"
      "9f4ad81dc744db77b1acf0193ba58f62b4ecca7cdefb9a2e49e9476e60ffffbd77db60");
  const auto model = Open(Write("m.tar.lzma", lzma));
  ASSERT_NE(model, nullptr) << Messages();
  {
    std::fstream file(Path("m.tar.lzma"), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(200);  // of the code for the zeros
    file << std::string(lzma.size() - 200, '\xff');
  }
  EXPECT_FALSE(model->ReadVariable("a", ElementType::kF32, context_.emitter));
  ASSERT_EQ(context_.emitter.diagnostics().size(), 1U) << ReportText();
  EXPECT_NE(ReportText().find("the archive is damaged at or after `a.dat`"), std::string::npos)
      << ReportText();
}

// A header whose checksum is wrong is the only mistake, and the file before it is named.
TEST_F(ArchiveModelTest, DamagedHeaders) {
  std::string tar = TarMaker().File("graph.nnef", kDocument).File("a.dat", "").Tar();
  tar[1024] = 'b';  // the name of the second file, after the header and the data of the first one
  for (const std::string& bytes : {tar, Gzip(tar)}) {
    EXPECT_EQ(
        OpenFails("damaged.tar", bytes),
        ": error: the archive is damaged at or after `graph.nnef`: Damaged tar archive [archive.damaged]\n");
  }
}

// Files that were read whole when the archive was opened are not read again with the data.
TEST_F(ArchiveModelTest, ChangesOfOtherFiles) {
  constexpr uint32_t kItems = 100'000;
  Bytes large;
  large.U8(0x4e).U8(0xef).U8(1).U8(0).U32(4 * kItems).U32(1).U32(kItems).PadTo(44).U32(32).U32(0);
  large.PadTo(128 + size_t{4} * kItems);
  const auto packed = [&](const std::string& resource) {
    return Gzip(TarMaker()
                    .File("graph.nnef", kDocument)
                    .File("words.json", resource)
                    .File("a.dat", large.text())
                    .Tar(),
                /*level=*/0);
  };
  const auto model = Open(Write("m.tgz", packed("[1]")));
  ASSERT_NE(model, nullptr) << Messages();
  {
    std::fstream file(Path("m.tgz"), std::ios::binary | std::ios::in | std::ios::out);
    file << packed("[2]");
  }
  EXPECT_TRUE(model->ReadVariable("a", ElementType::kF32, context_.emitter)) << Messages();
  const auto words = model->OpenResource("words", context_.emitter);
  ASSERT_TRUE(words) << Messages();
  EXPECT_EQ(context_.sources.Text(*words), "[1]");
}

// The root folder has one slash as its name, which is not removed as at the end of others.
TEST_F(ArchiveModelTest, TheRootIsAFolder) {
  if (std::filesystem::exists("/graph.nnef")) GTEST_SKIP() << "the root is a model";
  for (const char* path : {"/", "//"}) {
    EXPECT_EQ(Open(path), nullptr);
    EXPECT_FALSE(environment_failed_);
    const std::string message = Messages();
    EXPECT_TRUE(message.starts_with("/: error: there is no `graph.nnef` in the folder")) << message;
  }
}

// A document in a folder that cannot be listed is a document alone, even if a tensor file is next to it.
TEST_F(ArchiveModelTest, FoldersThatCannotBeListed) {
  namespace fs = std::filesystem;
  const std::string path = Write("m/graph.nnef", kDocument);
  Write("m/a.dat", "");
  EXPECT_TRUE(Open(path)->is_bundle());
  fs::permissions(folder_, fs::perms(0711));
  fs::permissions(Path("m"), fs::perms(0711));
  Write("models/hidden/graph.nnef", kDocument);
  Write("models/other/graph.nnef", kDocument);
  fs::permissions(Path("models/hidden"), fs::perms(0711));
  std::unique_ptr<ModelContainer> model;
  {
    const OtherUser user;
    if (!user.Reaches(folder_)) GTEST_SKIP() << "not the administrator, or a private folder";
    model = Open(path);
    EXPECT_EQ(Open(Path("models")), nullptr);
  }
  // The search of models goes on after such a folder.
  const std::string messages = Messages();
  EXPECT_NE(messages.find("the folders below hold models, such as `other`"), std::string::npos) << messages;
  ASSERT_NE(model, nullptr) << Messages();
  EXPECT_FALSE(model->is_bundle());
  EXPECT_FALSE(model->HasVariable("a"));
}

// A closed folder within a model hides no files but its own.
TEST_F(ArchiveModelTest, ClosedFoldersWithinAModel) {
  namespace fs = std::filesystem;
  constexpr size_t kFiles = 16;
  const std::string path = Write("m/graph.nnef", kDocument);
  for (size_t i = 0; i < kFiles; ++i) {
    Write(fmt::format("m/{}.dat", i), "");
    Write(fmt::format("m/closed{}/a.dat", i), "");
    fs::permissions(Path(fmt::format("m/closed{}", i)), fs::perms(0700));
  }
  fs::permissions(folder_, fs::perms(0711));
  const OtherUser user;
  if (!user.Reaches(path)) GTEST_SKIP() << "not the administrator, or a private folder";
  for (const std::string& opened : {path, Path("m")}) {
    const auto model = Open(opened);
    ASSERT_NE(model, nullptr) << Messages();
    EXPECT_EQ(model->Labels().size(), kFiles) << opened;
  }
}

// A sparse file of GNU's tar, whose data begin after its first byte, is refused: also one that no model
// needs.
TEST_F(ArchiveModelTest, SparseFiles) {
  for (const char* name : {"w.dat", "notes.txt"}) {
    for (const int hole : {0, 512, 4096}) {
      const std::string size = fmt::format("{:011o}", hole + 512) + '\0';
      const std::string fields =
          fmt::format("{:011o}", hole) + '\0' + "00000001000" + '\0' + std::string(73, '\0') + size;
      const std::string tar = TarMaker()
                                  .File("graph.nnef", kDocument)
                                  .Add({.name = name,
                                        .data = std::string(512, 'w'),
                                        .type = 'S',
                                        .magic = std::string_view("ustar  \0", 8),
                                        .fields = fields})
                                  .Tar();
      for (const std::string& path : {Write("m.tar", tar), Write("m.tgz", Gzip(tar))}) {
        EXPECT_EQ(Open(path) != nullptr, hole == 0) << path << hole;
        EXPECT_EQ(Messages(), hole == 0 ? ""
                                        : fmt::format("{}: error: `{}` has holes; sparse files are not read "
                                                      "[archive.size]\n",
                                                      path, name));
      }
    }
  }
}

// An archive that holds no document but one of NNEF 2.0 is reported as a model of that version.
TEST_F(ArchiveModelTest, ModelsOfNnef2) {
  const std::string second = "net" + std::string(kSkriptNdSuffix);
  EXPECT_EQ(OpenFails("m.tar", TarMaker().File(second, "").File("a.dat", "").Tar()),
            fmt::format(": error: `{}` is a model of NNEF 2.0 (SkriptND); nnefc reads NNEF 1.0 "
                        "[container.foreign-format]\n",
                        second));
  EXPECT_NE(Open(Write("n.tar", TarMaker().File(second, "").File("graph.nnef", kDocument).Tar())), nullptr)
      << Messages();
}

// What exceeds the bound within the data of a file is reported once and ends the reading.
TEST_F(ArchiveModelTest, BoundWithinTheData) {
  constexpr uint64_t kBytes = 300'000, kMax = 400'000;
  const std::string tar = TarMaker()
                              .File("graph.nnef", kDocument)
                              .File("a.dat", std::string(kBytes, 'a'))
                              .File("b.dat", std::string(kBytes, 'b'))
                              .Tar();
  for (const bool reads_data : {false, true}) {
    const std::string path = Write("m.tgz", Gzip(tar));
    const auto opened = ModelContainer::Open(path, context_, {.max_bytes = kMax, .reads_data = reads_data});
    EXPECT_EQ(opened.model, nullptr);
    EXPECT_EQ(Messages(), fmt::format("{}: error: the archive unpacks to more than {} bytes; raise the bound "
                                      "with `--max-bytes` [archive.too-large]\n",
                                      path, kMax));
  }
}

// A tensor file that another process removes after the model was opened is reported without a position in it.
TEST_F(ArchiveModelTest, FilesThatDisappear) {
  Write("m/graph.nnef", kDocument);
  Write("m/a.dat", "");
  const auto model = Open(Path("m"));
  ASSERT_NE(model, nullptr) << Messages();
  EXPECT_TRUE(model->HasVariable("a"));
  std::filesystem::remove(Path("m/a.dat"));
  for (const bool is_header : {false, true}) {
    if (is_header) {
      EXPECT_FALSE(model->ReadVariableHeader("a", context_.emitter));
    } else {
      EXPECT_FALSE(model->ReadVariable("a", ElementType::kF32, context_.emitter));
    }
    ASSERT_EQ(context_.emitter.diagnostics().size(), 1U);
    const SourceRange range = context_.emitter.diagnostics().front().range;
    EXPECT_EQ(std::pair(range.begin, range.end), std::pair(0U, 0U));
    const std::string text = Messages();
    EXPECT_NE(text.find("no such file or directory [container.unreadable]"), std::string::npos) << text;
  }
}

// A document that cannot be read is a fault of the environment.
TEST_F(ArchiveModelTest, DocumentsThatAreFolders) {
  Write("m/graph.nnef/net.nnef", kDocument);
  EXPECT_EQ(Open(Path("m")), nullptr);
  EXPECT_TRUE(environment_failed_);
  ASSERT_EQ(context_.emitter.diagnostics().size(), 1U);
  const SourceRange range = context_.emitter.diagnostics().front().range;
  EXPECT_EQ(std::pair(range.begin, range.end), std::pair(0U, 0U));
  EXPECT_NE(ReportText().find("[container.unreadable]"), std::string::npos) << ReportText();
}

}  // namespace
}  // namespace nnefc::package

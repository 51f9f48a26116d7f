#include "compiler/package/model.h"

#include <filesystem>

#include "compiler/package/foreign_format.h"
#include "compiler/package/members.h"
#include "tests/unit/compiler/package/tar_maker.h"
#include "tests/unit/compiler/package/testing.h"

namespace nnefc::package {
namespace {

const char kGraph[] = "version 1.0;\n";

// A ratified tensor file of shape [2].
std::string Dat(float first, float second) {
  Bytes bytes;
  bytes.U8(0x4e).U8(0xef).U8(1).U8(0).U32(8).U32(1).U32(2).PadTo(44).U32(32).U32(0).PadTo(128);
  return bytes.F32(first).F32(second).text();
}

// The header of one of shape [extent].
std::string LargeDat(uint32_t extent) {
  Bytes bytes;
  bytes.U8(0x4e).U8(0xef).U8(1).U8(0).U32(4 * extent).U32(1).U32(extent).PadTo(44).U32(32).U32(0);
  return bytes.PadTo(128).text();
}

class ModelTest : public PackageTest {
 protected:
  // Changes a file in place.
  static void Overwrite(const std::string& path, std::streamoff at, std::string_view bytes) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(at);
    file << bytes;
  }
  std::unique_ptr<ModelContainer> Open(const std::string& path, const ModelOpenOptions& options = {}) {
    ModelOpenResult result = ModelContainer::Open(path, context_, options);
    environment_failed_ = result.environment_failed;
    return std::move(result.model);
  }
  // Returns the diagnostics for an archive with these bytes.
  std::string OpenFails(const std::string& bytes, const ModelOpenOptions& options = {}) {
    EXPECT_EQ(Open(Write("x.tar", bytes), options), nullptr);
    EXPECT_FALSE(environment_failed_);
    std::string text = Messages();
    EXPECT_TRUE(text.starts_with(Path("x.tar") + ": error: ")) << text;
    return text.substr(std::min(text.size(), Path("x.tar: error: ").size()));
  }
  std::string Text(FileId file) { return std::string(context_.sources.Text(file)); }
  void ExpectModel(const ModelContainer& model) {
    EXPECT_EQ(Text(model.graph_text()), kGraph);
    ASSERT_TRUE(model.quantization_text());
    EXPECT_EQ(Text(*model.quantization_text()), "quant");
    EXPECT_TRUE(model.has_weights());
    EXPECT_EQ(model.Labels(), (std::vector<std::string>{"conv1/bias", "conv1/filter"}));
    EXPECT_TRUE(model.HasVariable("//conv1/filter"));
    EXPECT_FALSE(model.HasVariable("conv1"));
    auto value = model.ReadVariable("/conv1/filter", ElementType::kF32, context_.emitter);
    ASSERT_TRUE(value) << Messages();
    EXPECT_EQ(*value, TensorValue::FromFloats({2}, {1, 2}));
    EXPECT_EQ(Messages(), "");
  }

  bool environment_failed_ = false;
};

TEST_F(ModelTest, OpensFolders) {
  Write("m/graph.nnef", kGraph);
  Write("m/graph.quant", "quant");
  Write("m/conv1/filter.dat", Dat(1, 2));
  Write("m/conv1/filter.dat.int8", "other");
  Write("m/conv1/bias.dat", Dat(3, 4));
  Write("m/notes.txt", "other");
  auto model = Open(Path("m/"));
  ASSERT_NE(model, nullptr) << Messages();
  ExpectModel(*model);
  EXPECT_EQ(model->name(), Path("m"));
  EXPECT_EQ(context_.sources.Name(model->graph_text()), Path("m/graph.nnef"));
  EXPECT_TRUE(model->ReadVariable("conv1/bias", ElementType::kF32, context_.emitter)->buffer()->mapped());
}

// A folder is no file, whatever its name.
// Without `--max-bytes` an archive may unpack to 16 GiB.
TEST_F(ModelTest, ArchivesAreBoundedByDefault) {
  EXPECT_EQ(ModelOpenOptions().max_bytes, uint64_t{1} << 34);
  EXPECT_FALSE(ModelOpenOptions().reads_data);
}

TEST_F(ModelTest, FoldersNamedLikeFiles) {
  Write("m/graph.nnef", kGraph);
  Write("m/conv1/filter.dat", Dat(1, 2));
  Write("m/weights.safetensors/notes.txt", "other");
  Write("m/conv1/bias.dat/notes.txt", "other");
  std::filesystem::create_directory(Path("m/more.safetensors"));
  std::filesystem::create_directory(Path("m/more.dat"));
  auto model = Open(Path("m"));
  ASSERT_NE(model, nullptr) << Messages();
  EXPECT_EQ(model->Labels(), (std::vector<std::string>{"conv1/filter"}));
  EXPECT_TRUE(model->HasVariable("conv1/filter"));
  for (const char* label : {"conv1/bias", "more", "weights.safetensors/notes"})
    EXPECT_FALSE(model->HasVariable(label)) << label;
  EXPECT_EQ(Messages(), "");
}

// A resource has at most 16 MiB, in a folder as in an archive; it is read whole.
TEST_F(ModelTest, SizesOfResources) {
  constexpr size_t kMost = size_t{16} << 20;
  for (const size_t size : {kMost - 1, kMost, kMost + 1}) {
    const std::string text(size, 'r');
    Write("m/graph.nnef", kGraph);
    Write("m/words" + std::string(kResourceSuffix), text);
    const std::string tar =
        TarMaker().File("graph.nnef", kGraph).File("words" + std::string(kResourceSuffix), text).Tar();
    Write("m.tar", tar);
    Write("m.tgz", Gzip(tar, 1));
    for (const char* path : {"m", "m.tar", "m.tgz"}) {
      auto model = Open(Path(path));
      ASSERT_NE(model, nullptr) << Messages();
      EXPECT_TRUE(model->HasResource("words"));
      const std::optional<FileId> file = model->OpenResource("words", context_.emitter);
      ASSERT_EQ(file.has_value(), size <= kMost) << path << " " << size;
      EXPECT_EQ(file ? context_.sources.Text(*file).size() : size, size) << path;
    }
  }
}

// The list excludes files in linked folders and files that are added later to empty folders; lookups by label
// find both.
TEST_F(ModelTest, FindsVariablesOfFoldersBesideWhatItListed) {
  namespace fs = std::filesystem;
  Write("m/graph.nnef", kGraph);
  Write("m/conv1/filter.dat", Dat(1, 2));
  Write("elsewhere/bias.dat", Dat(3, 4));
  Write("elsewhere/inside/bias.dat", Dat(5, 6));
  fs::create_directory_symlink(Path("elsewhere"), Path("m/link"));
  fs::create_symlink(Path("elsewhere/bias.dat"), Path("m/conv1/bias.dat"));
  fs::create_directory(Path("m/conv1/folder.dat"));
  fs::create_directory(Path("m/later"));
  auto model = Open(Path("m"));
  ASSERT_NE(model, nullptr) << Messages();
  EXPECT_EQ(model->Labels(), (std::vector<std::string>{"conv1/bias", "conv1/filter"}));
  Write("m/later/filter.dat", Dat(7, 8));
  for (const char* label : {"conv1/filter", "conv1/bias", "link/bias", "link/inside/bias", "later/filter"}) {
    EXPECT_TRUE(model->HasVariable(label)) << label;
    EXPECT_TRUE(model->ReadVariable(label, ElementType::kF32, context_.emitter)) << label << Messages();
  }
  for (const char* label :
       {"conv1", "conv1/folder", "conv1/other", "link", "link/other", "later/other", "none/x"})
    EXPECT_FALSE(model->HasVariable(label)) << label;
  // A folder is listed once, so that a file that is added to it later belongs to another reading.
  Write("m/conv1/new.dat", Dat(1, 2));
  EXPECT_FALSE(model->HasVariable("conv1/new"));
  EXPECT_EQ(model->Labels(), (std::vector<std::string>{"conv1/bias", "conv1/filter"}));
  EXPECT_EQ(Open(Path("m"))->Labels().size(), 4u);
}

// A folder of 10,000 entries or more is listed again. The folder of a document, which may be unrelated, is
// searched for up to 10,000 entries.
TEST_F(ModelTest, ListsLargeFoldersAgain) {
  Write("m/graph.nnef", kGraph);
  for (size_t i = 1; i < 9'998; ++i) Write(fmt::format("m/{}.dat", i), "");
  size_t files = 9'998;
  for (const bool is_large : {false, true}) {
    Write(is_large ? "m/b.dat" : "m/a.dat", "");
    const auto model = Open(Path("m"));
    ASSERT_NE(model, nullptr) << Messages();
    EXPECT_EQ(model->Labels().size(), files++);
    Write("m/later.dat", "");
    EXPECT_EQ(model->HasVariable("later"), is_large);
    std::filesystem::remove(Path("m/later.dat"));
  }
  for (int i = 0; i < 9; ++i) Write(fmt::format("m/more{}.dat", i), "");
  EXPECT_EQ(Open(Path("m"))->Labels().size(), 10'008U);
  // The document itself is among the entries or after them.
  const size_t found = Open(Path("m/graph.nnef"))->Labels().size();
  EXPECT_TRUE(found == 9'999 || found == 10'000) << found;
}

TEST_F(ModelTest, OpensArchives) {
  for (std::string folder : {"", "./", "model/", "a/b/"}) {
    TarMaker tar;
    if (!folder.empty()) tar.Add({.name = folder, .type = '5'});
    tar.File(folder + "graph.quant", "quant").File(folder + "graph.nnef", kGraph);
    tar.File(folder + "conv1/filter.dat", Dat(1, 2)).File(folder + "conv1/bias.dat", Dat(3, 4));
    tar.File(folder + "conv1/bias.dat.int8", "x").File(folder + "more.txt", "x");
    for (const auto& [packed, reads_data] : {std::pair(false, false), {true, false}, {true, true}}) {
      std::string path = packed ? Write("m.tgz", Gzip(tar.Tar())) : Write("m.tar", tar.Tar());
      auto model = Open(path, {.reads_data = reads_data});
      ASSERT_NE(model, nullptr) << Messages();
      ExpectModel(*model);
      EXPECT_EQ(context_.sources.Name(model->graph_text()),
                path + ":" + (folder == "./" ? "" : folder) + "graph.nnef");
      // A tar without compression is not copied.
      auto value = model->ReadVariable("conv1/filter", ElementType::kF32, context_.emitter);
      EXPECT_EQ(value->buffer()->mapped(), !packed);
    }
  }
}

// Tensor files of a compressed archive are read in a second pass.
TEST_F(ModelTest, ReadsHeadersOfArchivesWithoutTheirData) {
  const std::string large = Bytes().Text(LargeDat(100'000)).Text(std::string(400'000, '\1')).text();
  TarMaker tar;
  tar.File("graph.nnef", kGraph)
      .File("a.dat", large)
      .File("b.dat", Dat(1, 2))
      .File("c.dat", large.substr(0, 9));
  auto model = Open(Write("m.tgz", Gzip(tar.Tar())));
  ASSERT_NE(model, nullptr) << Messages();
  const std::optional<DatHeader> header = model->ReadVariableHeader("a", context_.emitter);
  ASSERT_TRUE(header) << Messages();
  EXPECT_EQ(header->shape, Shape({100'000}));
  EXPECT_FALSE(model->ReadVariableHeader("c", context_.emitter));
  EXPECT_NE(Messages().find("c.dat: error: at byte 9: the file ends after 9 bytes"), std::string::npos);
  // The damage shows that only the header was stored.
  Overwrite(Path("m.tgz"), 40, "damage");
  EXPECT_TRUE(model->ReadVariableHeader("a", context_.emitter));
  EXPECT_FALSE(model->ReadVariable("a", ElementType::kF32, context_.emitter));
  EXPECT_NE(Messages().find("the archive is damaged"), std::string::npos);
  // Reported once.
  EXPECT_FALSE(model->ReadVariable("b", ElementType::kF32, context_.emitter));
  EXPECT_EQ(Messages(), "");
}

TEST_F(ModelTest, RefusesArchivesThatChangeMeanwhile) {
  const auto packed = [](const std::string& data, const std::string& name) {
    // Not compressed, so that each has the same size.
    return Gzip(TarMaker().File("graph.nnef", kGraph).File(name, data).Tar(), /*level=*/0);
  };
  const std::string before = packed(LargeDat(1) + "\1\1\1\1", "a.dat");
  for (const std::string& after :
       {packed(LargeDat(2) + "\1\1\1\1", "a.dat"), packed(LargeDat(1) + "\1\1\1", "a.dat"),
        packed(LargeDat(1) + "\1\1\1\1", "b.dat")}) {
    ASSERT_EQ(after.size(), before.size());
    auto model = Open(Write("m.tgz", before));
    ASSERT_NE(model, nullptr) << Messages();
    Overwrite(Path("m.tgz"), 0, after);
    EXPECT_FALSE(model->ReadVariable("a", ElementType::kF32, context_.emitter));
    EXPECT_EQ(Messages(), Path("m.tgz") +
                              ": error: the archive was changed while it was read; run the command once more "
                              "[archive.damaged]\n");
  }
}

// Damage to one part of a compressed archive after it was opened is reported once.
TEST_F(ModelTest, RefusesArchivesThatAreDamagedMeanwhile) {
  const std::string bytes =
      Gzip(TarMaker().File("graph.nnef", kGraph).File("a.dat", Dat(1, 2)).Tar(), /*level=*/0);
  // The header, the texts, and the checksum after all data.
  for (const size_t place : {size_t{0}, size_t{30}, bytes.size() - 8}) {
    auto model = Open(Write("m.tgz", bytes));
    ASSERT_NE(model, nullptr) << Messages();
    Overwrite(Path("m.tgz"), static_cast<std::streamoff>(place),
              std::string(1, static_cast<char>(~bytes[place])));
    EXPECT_FALSE(model->ReadVariable("a", ElementType::kF32, context_.emitter)) << place;
    EXPECT_EQ(context_.emitter.diagnostics().size(), 1u) << ReportText();
    Messages();
  }
}

// A document with data files next to it is a model of several files; a document without them is not.
TEST_F(ModelTest, BundlesOfFiles) {
  EXPECT_FALSE(Open(Write("alone/graph.nnef", kGraph))->is_bundle());
  Write("alone/notes.txt", "");
  EXPECT_FALSE(Open(Path("alone/graph.nnef"))->is_bundle());
  EXPECT_TRUE(Open(Path("alone"))->is_bundle());
  Write("alone/a.dat", Dat(1, 2));
  EXPECT_TRUE(Open(Path("alone/graph.nnef"))->is_bundle());
  EXPECT_TRUE(Open(Write("m.tar", TarMaker().File("graph.nnef", kGraph).Tar()))->is_bundle());
  EXPECT_EQ(Messages(), "");
}

// A tar of `graph.nnef` with the line `version 1.0;`, compressed by each tool.
TEST_F(ModelTest, CompressedArchives) {
  struct Packed {
    const char* tool;
    const char* bytes;  // hexadecimal
  };
  const Packed archives[] = {
      {"bzip2",
       "425a683931415926535912c2de8b00003b7b90ca90004040017788010063e1df00040004082000543527a8640327a87a"
       "8036883251ea7a80d06400d0111954bf1143000b96d41746ca6720203090f0fddec4119b4101c56ba35dad8112586e21"
       "047af538aab4d6e15088547e0d9385f299b19f8bb9229c284809616f4580"},
      {"xz",
       "fd377a585a0000016922de36020021011c00000010cf58cce007ff005a5d00339c8846bc2b6bb69606551b903ef33b98"
       "d87e5b48223f180e2ef75f0bc47e0823b1c0294b1cef4f8d50a8de3ba6a452f4b406fb3bae6d01ea826037b1b93f4f9f"
       "da8db1eec018761346bd3bfa77a3df270cafd3913cb58c3e00000000ad3ac7e200017280100000001a9f40643e300d8b"
       "020000000001595a"},
      {"lzma",
       "5d00000004ffffffffffffffff00339c8846bc2b6bb69606551b903ef33b98d87e5b48223f180e2ef75f0bc47e0823b1"
       "c0294b1cef4f8d50a8de3ba6a452f4b406fb3bae6d01ea826037b1b93f4f9fda8db1eec018761346bd3bfa77a3df270c"
       "afd3913cb695c5f7ffff9c64ff00"},
      {"lz4",
       "04224d186440a76d000000bf67726170682e6e6e6566000100469230303030363434003001000c080046303031350c00"
       "0018009f313237363200203000010050cf7573746172003030726f6f742800090f20000d0cdd000f010094ef76657273"
       "696f6e20312e303b0a000100ffffffffffdf500000000000000000007576d5ed"},
      {"zstd",
       "28b52ffd04689d0200d2c30c10a02f06c0026f3d559d5fc4361a4098a506e96204181f9debbac6387f4f55a9f583c941"
       "64dcb719ff5dcab9d9825038a9660b0b202035320eeff995c4290007810107861f9c3ce012018302cc263e07e609e9d8"}};
  for (const Packed& packed : archives) {
    std::string bytes;
    for (std::string_view hex = packed.bytes; !hex.empty(); hex.remove_prefix(2))
      bytes += static_cast<char>(std::stoi(std::string(hex.substr(0, 2)), nullptr, 16));
    const auto model = Open(Write(fmt::format("m.tar.{}", packed.tool), bytes));
    ASSERT_NE(model, nullptr) << packed.tool << Messages();
    EXPECT_EQ(Text(model->graph_text()), kGraph) << packed.tool;
    // The bytes show the format as the name does, except those of `lzma`, which have no mark.
    if (std::string_view(packed.tool) == "lzma") continue;
    const auto unnamed = Open(Write(packed.tool, bytes));
    ASSERT_NE(unnamed, nullptr) << packed.tool << Messages();
    EXPECT_EQ(Text(unnamed->graph_text()), kGraph) << packed.tool;
  }
}

// Folders in an archive are no files, whatever their names.
TEST_F(ModelTest, FoldersOfArchives) {
  const auto model = Open(Write("m.tar", TarMaker()
                                             .Add({.name = "a.dat/", .type = '5'})
                                             .Add({.name = "graph.quant", .type = '5'})
                                             .File("graph.nnef", kGraph)
                                             .Add({.name = "b.dat", .type = '5'})
                                             .Tar()));
  ASSERT_NE(model, nullptr) << Messages();
  EXPECT_FALSE(model->quantization_text());
  EXPECT_FALSE(model->HasVariable("a"));
  EXPECT_FALSE(model->HasVariable("b"));
  EXPECT_FALSE(model->has_weights());
  EXPECT_EQ(model->Labels(), std::vector<std::string>());
}

// The first model below a folder without one, in the order of names.
TEST_F(ModelTest, ModelsBelowAFolder) {
  const auto message = [&] {
    EXPECT_EQ(Open(Path("m")), nullptr);
    return Messages();
  };
  const auto expected = [&](std::string_view below) {
    return fmt::format(
        "{}: error: there is no `graph.nnef` in the folder; the folders below hold models, such as `{}` "
        "[container.no-graph]\nnnefc: note: `check`, `lint` and `fmt` search folders with `--recursive`\n",
        Path("m"), below);
  };
  Write("m/b/graph.nnef", kGraph);
  EXPECT_EQ(message(), expected("b"));
  Write("m/c/graph.nnef", kGraph);
  EXPECT_EQ(message(), expected("b"));
  Write("m/a/x/net.nnef", kGraph);
  EXPECT_EQ(message(), expected("a/x/net.nnef"));
  Write("m/a/notes.txt", "");
  EXPECT_EQ(message(), expected("a/x/net.nnef"));
}

// Messages about a file in an archive state the byte.
TEST_F(ModelTest, BytesOfFilesInArchives) {
  const auto model = Open(
      Write("m.tar", TarMaker().File("graph.nnef", kGraph).File("a.dat", Dat(1, 2).substr(0, 130)).Tar()));
  ASSERT_NE(model, nullptr);
  EXPECT_FALSE(model->ReadVariable("a", ElementType::kF32, context_.emitter));
  EXPECT_EQ(Messages(),
            Path("m.tar:a.dat") +
                ": error: at byte 130: the file ends after 2 of 8 bytes of data ([2] with 32 bits per "
                "item) [dat.truncated]\n");
}

// Messages about an archive as a whole have no bytes.
// Messages about a folder name it, but none of its lines.
TEST_F(ModelTest, FilesOfMessagesAboutFolders) {
  Write("m/graph.nnef", kGraph);
  Write("m/a.dat", Dat(1, 2));
  for (const char* path : {"m", "m/graph.nnef"}) {
    const auto model = Open(Path(path));
    ASSERT_NE(model, nullptr) << Messages();
    EXPECT_FALSE(model->ReadVariable("b", ElementType::kF32, context_.emitter));
    ASSERT_EQ(context_.emitter.diagnostics().size(), 1U);
    const FileId file = context_.emitter.diagnostics().front().range.file;
    EXPECT_EQ(context_.sources.Kind(file), FileKind::kNamed);
    EXPECT_EQ(context_.sources.Name(file), Path(path));
    context_.emitter.Clear();
  }
}

TEST_F(ModelTest, PlacesOfMessagesAboutArchives) {
  EXPECT_EQ(Open(Write("m.tar", TarMaker().File("a.dat", Dat(1, 2)).Tar())), nullptr);
  ASSERT_EQ(context_.emitter.diagnostics().size(), 1u);
  const Diagnostic& diagnostic = context_.emitter.diagnostics()[0];
  EXPECT_EQ(diagnostic.rule->label, "container.no-graph");
  EXPECT_EQ(diagnostic.range.begin, 0u);
  EXPECT_EQ(diagnostic.range.end, 0u);
  context_.emitter.Clear();
}

TEST_F(ModelTest, OpensBareDocuments) {
  auto model = Open(Write("net.nnef", kGraph));
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(Text(model->graph_text()), kGraph);
  EXPECT_FALSE(model->quantization_text());
  EXPECT_FALSE(model->has_weights());
  EXPECT_FALSE(model->HasVariable("conv1/filter"));
}

TEST_F(ModelTest, TellsTheEnvironmentFromTheModel) {
  EXPECT_EQ(Open(Path("none")), nullptr);
  EXPECT_TRUE(environment_failed_);
  EXPECT_EQ(Messages(),
            fmt::format("nnefc: error: cannot open `{}`: no such file or directory [container.unreadable]\n",
                        Path("none")));
  Write("m/other.txt", "");
  EXPECT_EQ(Open(Path("m")), nullptr);
  EXPECT_FALSE(environment_failed_);
  EXPECT_EQ(Messages(), Path("m") + ": error: there is no `graph.nnef` in the folder [container.no-graph]\n");
  Write("m/b.nnef", "");
  Write("m/a.nnef", "");
  EXPECT_EQ(Open(Path("m")), nullptr);
  EXPECT_EQ(Messages(),
            Path("m") +
                ": error: there is no `graph.nnef` in the folder; it holds `a.nnef`, `b.nnef`, which can "
                "be opened by name [container.no-graph]\n");
}

// The first model in a folder below is named, and the first document of NNEF 2.0, in the order of names.
TEST_F(ModelTest, NamesModelsOfOtherFolders) {
  for (const char* name : {"m/c/graph.nnef", "m/b/x/other.nnef", "m/b/y/graph.nnef", "m/d/graph.nnef"}) {
    Write(name, "");
    EXPECT_EQ(Open(Path("m")), nullptr);
    const bool is_first = std::string_view(name) == "m/c/graph.nnef";
    EXPECT_NE(Messages().find(fmt::format("there is no `graph.nnef` in the folder; the folders below hold "
                                          "models, such as `{}` [container.no-graph]",
                                          is_first ? "c" : "b/x/other.nnef")),
              std::string::npos)
        << name;
  }
  for (const char* name : {"second/b", "second/c", "second/a"}) {
    Write(name + std::string(kSkriptNdSuffix), "");
    EXPECT_EQ(Open(Path("second") + "/"), nullptr);
    EXPECT_EQ(context_.emitter.diagnostics().front().range.end, 0U);
    EXPECT_EQ(Messages(),
              fmt::format("{}: error: `{}{}` is a model of NNEF 2.0 (SkriptND); nnefc reads NNEF 1.0 "
                          "[container.foreign-format]\n",
                          Path("second"), std::string_view(name) == "second/a" ? "a" : "b", kSkriptNdSuffix));
  }
}

TEST_F(ModelTest, TellsMissingAndDamagedVariables) {
  Write("m/graph.nnef", kGraph);
  Write("m/a.dat", Dat(1, 2).substr(0, 130));
  auto model = Open(Path("m"));
  auto read = [&](std::string_view label) {
    EXPECT_FALSE(model->ReadVariable(label, ElementType::kF32, context_.emitter));
    // Labels have no place in the model.
    const SourceRange range = context_.emitter.diagnostics().front().range;
    EXPECT_EQ(std::pair(range.begin, range.end), label == "a" ? std::pair(130U, 130U) : std::pair(0U, 0U));
    return Messages();
  };
  EXPECT_EQ(read("a"),
            Path("m/a.dat") +
                ": error: at byte 130: the file ends after 2 of 8 bytes of data ([2] with 32 bits per item) "
                "[dat.truncated]\n");
  EXPECT_EQ(read("b/c"),
            Path("m") + ": error: there is no `b/c.dat` for the variable `b/c` [container.no-variable]\n");
  Write("secret.dat", Dat(1, 2));
  for (std::string_view label : {"../secret", "x/../../secret", "/..", "", "/"}) {
    EXPECT_FALSE(model->HasVariable(label));
    EXPECT_EQ(read(label), fmt::format("{}: error: the label `{}` leads out of the model [container.label]\n",
                                       Path("m"), label));
  }
}

TEST_F(ModelTest, RefusesHarmfulEntries) {
  auto with = [](const TarMaker::Entry& entry) {
    return TarMaker().File("graph.nnef", kGraph).Add(entry).Tar();
  };
  EXPECT_EQ(OpenFails(with({.name = "../x.dat"})),
            "the entry `../x.dat` leads out of the archive [archive.outside]\n");
  EXPECT_EQ(OpenFails(with({.name = "/etc/x"})),
            "the entry `/etc/x` leads out of the archive [archive.outside]\n");
  EXPECT_EQ(OpenFails(with({.name = "a/../../x"})),
            "the entry `a/../../x` leads out of the archive [archive.outside]\n");
  EXPECT_EQ(OpenFails(with({.name = "x.dat", .type = '2', .target = "/etc/passwd"})),
            "the entry `x.dat` is a link to `/etc/passwd`; links are refused [archive.link]\n");
  EXPECT_EQ(OpenFails(with({.name = "x.dat", .type = '1', .target = "graph.nnef"})),
            "the entry `x.dat` is a link to `graph.nnef`; links are refused [archive.link]\n");
  EXPECT_EQ(OpenFails(with({.name = "x.dat", .type = '3'})),
            "the entry `x.dat` is not a regular file [archive.device]\n");
  EXPECT_EQ(OpenFails(with({.name = "x.dat", .type = '6'})),
            "the entry `x.dat` is not a regular file [archive.device]\n");
  EXPECT_EQ(OpenFails(with({.name = "./graph.nnef"})),
            "the archive holds `graph.nnef` twice [archive.duplicate]\n");
}

// The names in a tar are bytes, as those of a folder's files are.
TEST_F(ModelTest, FindsFilesByNamesOfAnyBytes) {
  const std::vector<std::string> labels = {"a\xff",        "caf\xc3\xa9", "a\nb", "a\\b",
                                           "\xed\xa0\x80", "..x",         "a.dat"};
  TarMaker tar;
  tar.File("graph.nnef", kGraph);
  for (const std::string& label : labels) tar.File(label + ".dat", Dat(1, 2));
  // A longer name in an extended header, which must be UTF-8 by POSIX.
  tar.Add({.name = "x", .data = "15 path=b\xff.dat\n", .type = 'x'}).File("short.dat", Dat(1, 2));
  const auto model = Open(Write("names.tar", tar.Tar()));
  ASSERT_NE(model, nullptr) << Messages();
  for (const std::string& label : labels) {
    EXPECT_TRUE(model->ReadVariable(label, ElementType::kF32, context_.emitter)) << label;
  }
  EXPECT_TRUE(model->HasVariable("b\xff"));
  EXPECT_EQ(model->Labels().size(), labels.size() + 1);
}

TEST_F(ModelTest, RefusesSizesThatDoNotFit) {
  auto with = [](const TarMaker::Entry& entry) {
    return TarMaker().File("graph.nnef", kGraph).Add(entry).Tar();
  };
  EXPECT_EQ(OpenFails(with({.name = "x.dat", .data = "abc", .size = 100'000})),
            "the archive is damaged at or after `x.dat`: Truncated tar archive [archive.damaged]\n");
  // The data of another file also count.
  EXPECT_NE(
      OpenFails(with({.name = "x.txt", .data = "abc", .size = uint64_t{1} << 32})).find("archive.damaged"),
      std::string::npos);
  EXPECT_EQ(OpenFails(with({.name = "x.dat", .data = std::string(5000, 'x')}), {.max_bytes = 4096}),
            "`x.dat` says that it has 5000 bytes; the bound of `--max-bytes` is 4096 [archive.too-large]\n");
  std::string bomb = TarMaker().File("graph.nnef", kGraph).File("x.txt", std::string(1 << 22, '\0')).Tar();
  EXPECT_NE(OpenFails(Gzip(bomb), {.max_bytes = 1 << 20}).find("archive.too-large"), std::string::npos);
  // So do bytes after the last entry.
  std::string tail = TarMaker().File("graph.nnef", kGraph).Tar() + std::string(1 << 22, '\0');
  EXPECT_EQ(OpenFails(Gzip(tail), {.max_bytes = 1 << 20}),
            "the archive unpacks to more than 1048576 bytes; raise the bound with `--max-bytes` "
            "[archive.too-large]\n");
}

// What a packed archive unpacks to may be as many bytes as the bound, and not one more; so may one entry.
TEST_F(ModelTest, HoldsTheBoundAtItsValue) {
  const std::string tar = TarMaker().File("graph.nnef", kGraph).File("x.txt", std::string(5000, 'x')).Tar();
  EXPECT_NE(Open(Write("x.tar", Gzip(tar)), {.max_bytes = tar.size()}), nullptr) << Messages();
  EXPECT_EQ(OpenFails(Gzip(tar), {.max_bytes = tar.size() - 1}),
            fmt::format("the archive unpacks to more than {} bytes; raise the bound with `--max-bytes` "
                        "[archive.too-large]\n",
                        tar.size() - 1));
  EXPECT_NE(Open(Write("x.tar", tar), {.max_bytes = 5000}), nullptr) << Messages();
  EXPECT_EQ(OpenFails(tar, {.max_bytes = 4999}),
            "`x.txt` says that it has 5000 bytes; the bound of `--max-bytes` is 4999 [archive.too-large]\n");
}

TEST_F(ModelTest, RefusesTooManyEntries) {
  TarMaker tar;
  tar.File("graph.nnef", kGraph);
  for (int i = 0; i < 100'000; ++i) tar.File(fmt::format("{}.txt", i), "");
  EXPECT_EQ(OpenFails(Gzip(tar.Tar())), "the archive has more than 100000 entries [archive.too-large]\n");
}

// Folders count as entries, too.
TEST_F(ModelTest, RefusesTooManyFolders) {
  for (const int folders : {99'999, 100'000}) {
    TarMaker tar;
    for (int i = 0; i < folders; ++i) tar.Add({.name = "f", .type = '5'});
    const std::string bytes = Gzip(tar.File("graph.nnef", kGraph).Tar());
    if (folders == 100'000) {
      EXPECT_EQ(OpenFails(bytes), "the archive has more than 100000 entries [archive.too-large]\n");
    } else {
      EXPECT_NE(Open(Write("m.tgz", bytes)), nullptr) << Messages();
    }
  }
}

TEST_F(ModelTest, RefusesDamagedStreams) {
  std::string packed = Gzip(TarMaker().File("graph.nnef", kGraph).File("x.dat", Dat(1, 2)).Tar());
  EXPECT_EQ(OpenFails(packed.substr(0, packed.size() - 1)),
            "the archive is damaged: the gzip stream is truncated [archive.damaged]\n");
  std::string checksum = packed;
  checksum[checksum.size() - 6] ^= 1;
  EXPECT_EQ(OpenFails(checksum), "the archive is damaged: incorrect data check [archive.damaged]\n");
  std::string size = packed;  // the last byte of the stream
  size.back() ^= 1;
  EXPECT_EQ(OpenFails(size), "the archive is damaged: incorrect length check [archive.damaged]\n");
  EXPECT_NE(OpenFails(Gzip(packed)).find("invalid tar archive"), std::string::npos);
  EXPECT_NE(OpenFails("no archive").find("invalid tar archive"), std::string::npos);
  EXPECT_NE(OpenFails("").find("invalid tar archive"), std::string::npos);
}

TEST_F(ModelTest, ChoosesTheGraphOfAnArchive) {
  EXPECT_EQ(OpenFails(TarMaker().File("x.txt", "").Tar()),
            "there is no `graph.nnef` in the archive [container.no-graph]\n");
  EXPECT_EQ(OpenFails(TarMaker().File("net.nnef", "").Tar()),
            "there is no `graph.nnef` in the archive; it holds `net.nnef` [container.no-graph]\n");
  EXPECT_EQ(OpenFails(TarMaker().File("a/graph.nnef", "").File("b/graph.nnef", "").Tar()),
            "the archive holds several models: `a/graph.nnef`, `b/graph.nnef` [container.several-graphs]\n");
  auto model = Open(Write("y.tar", TarMaker().File("old/graph.nnef", "no").File("graph.nnef", kGraph).Tar()));
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(Text(model->graph_text()), kGraph);
}

}  // namespace
}  // namespace nnefc::package

// Models in archives within a model: labels with the path of the archive lead into it.
#include "compiler/package/members.h"
#include "compiler/package/model.h"
#include "fmt/format.h"
#include "tests/unit/compiler/package/tar_maker.h"
#include "tests/unit/compiler/package/testing.h"

namespace nnefc::package {
namespace {

constexpr std::string_view kDocument = "version 1.0;\n";

// A ratified tensor file of shape [2] with the items 1 and 2.
std::string PairOfFloats() {
  Bytes bytes;
  bytes.U8(0x4e).U8(0xef).U8(1).U8(0).U32(8).U32(1).U32(2).PadTo(44).U32(32).U32(0).PadTo(128);
  return bytes.F32(1).F32(2).text();
}

class InnerModelsTest : public PackageTest {
 protected:
  std::unique_ptr<ModelContainer> Open(const std::string& path) {
    return ModelContainer::Open(path, context_, {}).model;
  }
  std::string Part() const {
    return TarMaker()
        .File("graph.nnef", std::string(kDocument))
        .File("w.dat", PairOfFloats())
        .File("words" + std::string(kResourceSuffix), "text")
        .Tar();
  }
  // Expects that the model has the variable, resource and document of Part() below `part`.
  void ExpectPart(const ModelContainer& model) {
    EXPECT_TRUE(model.has_weights());
    EXPECT_TRUE(model.HasVariable("part/w"));
    EXPECT_FALSE(model.HasVariable("part/v"));
    EXPECT_FALSE(model.HasVariable("w"));
    const auto header = model.ReadVariableHeader("part/w", context_.emitter);
    ASSERT_TRUE(header) << Messages();
    EXPECT_EQ(header->shape, Shape{2});
    const auto value = model.ReadVariable("part/w", ElementType::kF32, context_.emitter);
    ASSERT_TRUE(value) << Messages();
    EXPECT_EQ(*value, TensorValue::FromFloats({2}, {1, 2}));
    EXPECT_TRUE(model.HasResource("part/words"));
    EXPECT_FALSE(model.HasResource("part/others"));
    EXPECT_FALSE(model.HasResource("words"));
    const std::optional<FileId> words = model.OpenResource("part/words", context_.emitter);
    ASSERT_TRUE(words) << Messages();
    EXPECT_EQ(context_.sources.Text(*words), "text");
    EXPECT_TRUE(model.HasSubmodel("part"));
    EXPECT_FALSE(model.HasSubmodel("other"));
    const std::optional<FileId> document = model.OpenSubmodel("part", context_.emitter);
    ASSERT_TRUE(document) << Messages();
    EXPECT_EQ(context_.sources.Text(*document), kDocument);
    EXPECT_EQ(Messages(), "");
  }
};

TEST_F(InnerModelsTest, LabelsLeadIntoArchives) {
  for (const std::string_view suffix : kInnerSuffixes) {
    const std::string name = "part" + std::string(suffix),
                      part = suffix.ends_with(".tar") ? Part() : Gzip(Part());
    const std::string folder = "of" + std::string(suffix);
    Write(fmt::format("{}/graph.nnef", folder), kDocument);
    Write(fmt::format("{}/{}", folder, name), part);
    const std::string tar = TarMaker().File("graph.nnef", std::string(kDocument)).File(name, part).Tar();
    for (const std::string& path : {Path(folder), Write("m.tar", tar), Write("m.tgz", Gzip(tar))}) {
      const auto model = Open(path);
      ASSERT_NE(model, nullptr) << Messages();
      ExpectPart(*model);
    }
  }
}

// The content of an archive that cannot be read is unknown: everything may be there, and nothing can be read.
TEST_F(InnerModelsTest, ArchivesThatCannotBeRead) {
  Write("m/graph.nnef", kDocument);
  Write("m/part.nnef.tgz", Gzip(Part()).substr(0, 60));
  const auto model = Open(Path("m"));
  ASSERT_NE(model, nullptr) << Messages();
  EXPECT_TRUE(model->HasVariable("part/w"));
  EXPECT_NE(Messages().find("[archive.damaged]"), std::string::npos);
  EXPECT_TRUE(model->HasVariable("part/any"));
  EXPECT_TRUE(model->HasResource("part/any"));
  EXPECT_TRUE(model->HasSubmodel("part"));
  EXPECT_TRUE(model->HasSubmodel("part/any"));
  EXPECT_FALSE(model->HasVariable("w"));
  EXPECT_EQ(Messages(), "");
  const std::string lost =
      Path("m") + ": error: the archive that holds `part/w` cannot be read [container.no-variable]\n";
  EXPECT_FALSE(model->ReadVariableHeader("part/w", context_.emitter));
  EXPECT_EQ(Messages(), lost);
  EXPECT_FALSE(model->ReadVariable("part/w", ElementType::kF32, context_.emitter));
  EXPECT_EQ(Messages(), lost);
  EXPECT_FALSE(model->OpenResource("part/words", context_.emitter));
  EXPECT_FALSE(model->OpenSubmodel("part", context_.emitter));
  EXPECT_FALSE(model->OpenSubmodel("part/any", context_.emitter));
  EXPECT_EQ(Messages(), "");
}

// All archives within a model unpack to at most the bound in all, also those in other ones.
TEST_F(InnerModelsTest, BoundOfNestedArchives) {
  const auto archive = [](const std::string& name, const std::string& content) {
    return TarMaker().File("graph.nnef", std::string(kDocument)).File(name, content).Tar();
  };
  const auto dat = [&](std::string_view label, ModelContainer& model) {
    return model.ReadVariable(label, ElementType::kF32, context_.emitter).has_value();
  };
  const std::string part = TarMaker()
                               .File("graph.nnef", std::string(kDocument))
                               .File("w.dat", PairOfFloats())
                               .File("large.dat", std::string(100'000, 'x'))
                               .Tar();
  const std::string outer = archive("b.nnef.tgz", Gzip(part));
  Write("m/graph.nnef", kDocument);
  Write("m/a.nnef.tgz", Gzip(outer));
  Write("m/d.nnef.tgz", Gzip(part));
  const uint64_t all = outer.size() + 2 * part.size();
  for (const uint64_t max_bytes : {all, all - 50'000}) {
    const auto model = ModelContainer::Open(Path("m"), context_, {.max_bytes = max_bytes}).model;
    ASSERT_NE(model, nullptr) << Messages();
    EXPECT_TRUE(dat("a/b/w", *model)) << Messages();
    EXPECT_EQ(dat("d/w", *model), max_bytes == all) << Messages();
    EXPECT_EQ(Messages().find("[archive.too-large]") != std::string::npos, max_bytes != all);
  }
}

// Other files of an archive do not count when an inner one is unpacked later.
TEST_F(InnerModelsTest, BoundOfOtherFiles) {
  const std::string bytes = TarMaker()
                                .File("graph.nnef", std::string(kDocument))
                                .File("notes.txt", std::string(100'000, 'x'))
                                .File("part.nnef.tgz", Gzip(Part()))
                                .Tar();
  const std::string path = Write("m.tar", bytes);
  const auto model = ModelContainer::Open(path, context_, {.max_bytes = bytes.size()}).model;
  ASSERT_NE(model, nullptr) << Messages();
  ExpectPart(*model);
}

// Two forms of an inner model are reported for the model, without a part of its file.
TEST_F(InnerModelsTest, SeveralFormsOfOneModel) {
  Write("m/graph.nnef", kDocument);
  Write("m/part.nnef.tar", Part());
  Write("m/part.nnef.tgz", Gzip(Part()));
  const auto model = Open(Path("m"));
  ASSERT_NE(model, nullptr) << Messages();
  EXPECT_FALSE(model->ReadVariable("part/w", ElementType::kF32, context_.emitter));
  ASSERT_FALSE(context_.emitter.diagnostics().empty());
  const Diagnostic& first = context_.emitter.diagnostics().front();
  EXPECT_EQ(first.message, "`part.nnef.tgz` and `part.nnef.tar` are one model by their names; remove one");
  EXPECT_EQ(first.range.begin, 0U);
  EXPECT_EQ(first.range.end, 0U);
}

// Headers of tensors in a file of safetensors, and of those in the folder of a sub-model, whose path counts.
TEST_F(InnerModelsTest, HeadersOfSafetensors) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"F16","shape":[3],"data_offsets":[8,14]}})";
  const std::string file =
      Bytes().Add<uint64_t>(header.size()).Text(header).F32(1).F32(2).Text(std::string(6, '\0')).text();
  Write("m/graph.nnef", kDocument);
  Write("m/w.safetensors", file);
  Write("m/part/graph.nnef", kDocument);
  Write("m/part/w.safetensors", file);
  const auto model = Open(Path("m"));
  ASSERT_NE(model, nullptr) << Messages();
  for (const std::string prefix : {"", "part/"}) {
    const auto a = model->ReadVariableHeader(prefix + "a", context_.emitter);
    ASSERT_TRUE(a) << Messages();
    EXPECT_EQ(a->shape, (Shape{2, 1}));
    EXPECT_EQ(a->bits, 32);
    const auto b = model->ReadVariableHeader(prefix + "b", context_.emitter);
    ASSERT_TRUE(b) << Messages();
    EXPECT_EQ(b->shape, Shape{3});
    EXPECT_EQ(b->bits, 16);
    const auto value = model->ReadVariable(prefix + "a", ElementType::kF32, context_.emitter);
    ASSERT_TRUE(value) << Messages();
    EXPECT_EQ(*value, TensorValue::FromFloats({2, 1}, {1, 2}));
  }
  EXPECT_EQ(Messages(), "");
}

}  // namespace
}  // namespace nnefc::package

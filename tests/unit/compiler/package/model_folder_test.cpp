#include "compiler/package/model_folder.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/package/members.h"
#include "gtest/gtest.h"

namespace nnefc::package {
namespace {

namespace fs = std::filesystem;

class ModelFolderTest : public ::testing::Test {
 protected:
  ModelFolderTest() {
    root_ = fs::path(::testing::TempDir()) /
            ("model_folder_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "model");
    fs::create_directories(root_ / "victim");
    std::ofstream(root_ / "victim" / "v.dat") << "precious";
  }
  ~ModelFolderTest() override { fs::remove_all(root_); }

  // Returns "" if it was written.
  std::string Write(std::string_view label) {
    const auto written = folder().WriteVariable(label, TensorValue::FromFloats({1}, {1.0F}));
    return written ? "" : written.error().message;
  }
  ModelFolder folder() const { return ModelFolder((root_ / "model").string()); }
  bool IsFile(const std::string& path) const { return fs::is_regular_file(root_ / path); }
  std::string Victim() const {
    std::stringstream text;
    text << std::ifstream(root_ / "victim" / "v.dat").rdbuf();
    return text.str();
  }
  // Expects that the files and folders outside of the model are unchanged.
  void ExpectUntouched() const {
    EXPECT_EQ(Victim(), "precious");
    EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "victim"), fs::directory_iterator()), 1);
    EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 2);
  }

  fs::path root_;
};

TEST_F(ModelFolderTest, FilesAreWrittenWhereModelsReadThem) {
  EXPECT_EQ(Write("w"), "");
  EXPECT_EQ(Write("/block//conv/w/"), "");
  EXPECT_EQ(Write("x/../u"), "");
  EXPECT_TRUE(IsFile("model/w.dat"));
  EXPECT_TRUE(IsFile("model/block/conv/w.dat"));
  EXPECT_TRUE(IsFile("model/u.dat"));
  EXPECT_TRUE(folder().WriteText(kGraphFile, "version 1.0;").ok());
  EXPECT_TRUE(IsFile("model/graph.nnef"));
  EXPECT_EQ(Write("w"), "");  // overwrites the existing file
}

TEST_F(ModelFolderTest, NothingOutsideIsWritten) {
  for (const char* label : {"../victim/v", "/../victim/v", "a/../../victim/v",
                            "../../../../../../../../tmp/v", "..", ".", "", "/", "..\\victim\\v"}) {
    EXPECT_NE(Write(label).find("names no file in the model's folder"), std::string::npos) << label;
    ExpectUntouched();
  }
  EXPECT_NE(Write(std::string_view("v\0w", 3)), "");
}

TEST_F(ModelFolderTest, LinksAreNotFollowed) {
  fs::create_directory_symlink(root_ / "victim", root_ / "model" / "part");
  fs::create_symlink(root_ / "victim" / "v.dat", root_ / "model" / "w.dat");
  fs::create_symlink(root_ / "victim" / "new.dat", root_ / "model" / "dangling.dat");
  fs::create_symlink(root_ / "victim" / "v.dat", root_ / "model" / "graph.nnef");
  for (const char* label : {"part/v", "part/new", "w", "dangling", "a/../w"})
    EXPECT_NE(Write(label).find("is a symbolic link"), std::string::npos) << label;
  const auto text = folder().WriteText(kGraphFile, "version 1.0;");
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().message.find("is a symbolic link"), std::string::npos);
  EXPECT_EQ(Write("u"), "");
  for (const auto& [before, after] : {std::pair("part/v", "t"), {"u", "part/u"}, {"w", "t"}, {"u", "w"}}) {
    const auto renamed = folder().RenameVariable(before, after);
    ASSERT_FALSE(renamed.ok()) << before;
    EXPECT_NE(renamed.error().message.find("is a symbolic link"), std::string::npos) << before;
  }
  ExpectUntouched();
}

TEST_F(ModelFolderTest, WhatIsInTheWay) {
  EXPECT_EQ(Write("a"), "");
  EXPECT_NE(Write("a.dat/b").find("a.dat` is not a folder"), std::string::npos);
  fs::create_directory(root_ / "model" / "c.dat");
  EXPECT_NE(Write("c").find("c.dat` is not a regular file"), std::string::npos);
  EXPECT_NE(Write(std::string(300, 'n')).find("file name too long"), std::string::npos);
  EXPECT_NE(Write(std::string(300, 'n') + "/w").find("file name too long"), std::string::npos);
  EXPECT_EQ(Write(std::string(200, 'n')), "");
}

// The tensor file of a label has a new name, and so do its variants.
TEST_F(ModelFolderTest, VariablesAreRenamedWithTheirVariants) {
  const auto make = [&](const std::string& name) {
    fs::create_directories((root_ / "model" / name).parent_path());
    std::ofstream(root_ / "model" / name) << name;
  };
  for (const char* name : {"a b.dat", "a b.dat.int8", "a b.data", "a b", "a bc.dat", "part/c.dat"})
    make(name);
  const auto renamed = [&](std::string_view before, std::string_view after) -> std::string {
    const ErrorOr<bool> result = folder().RenameVariable(before, after);
    return !result ? result.error().message : *result ? "renamed" : "none";
  };
  EXPECT_EQ(renamed("a b", "a_b"), "renamed");
  for (const char* name : {"a_b.dat", "a_b.dat.int8", "a b.data", "a b", "a bc.dat"})
    EXPECT_TRUE(IsFile("model/" + std::string(name))) << name;
  for (const char* name : {"a b.dat", "a b.dat.int8", "a_b.data", "a_bc.dat"})
    EXPECT_FALSE(IsFile("model/" + std::string(name))) << name;
  EXPECT_EQ(renamed("a b", "d"), "none");
  EXPECT_EQ(renamed("/part/c", "new/folder/c"), "renamed");
  EXPECT_TRUE(IsFile("model/new/folder/c.dat"));
  // Neither a file that exists nor one outside of the folder is written or read.
  EXPECT_NE(renamed("new/folder/c", "a_b").find("a_b.dat`: it exists, and `"), std::string::npos);
  EXPECT_TRUE(IsFile("model/new/folder/c.dat"));
  std::ofstream(root_ / "model" / "link.dat") << "";
  fs::create_symlink(root_ / "victim" / "v.dat", root_ / "model" / "taken.dat");
  EXPECT_NE(renamed("link", "taken"), "renamed");
  for (const auto& [before, after] :
       {std::pair("../victim/v", "stolen"), {"a_b", "../victim/w"}, {"", "e"}, {"a_b", ""}})
    EXPECT_EQ(renamed(before, after), "none") << before;
  EXPECT_TRUE(IsFile("model/a_b.dat"));
  ExpectUntouched();
}

}  // namespace
}  // namespace nnefc::package

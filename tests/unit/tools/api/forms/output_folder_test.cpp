#include "tools/api/forms/output_folder.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"

namespace nnefc::api {
namespace {

namespace fs = std::filesystem;

class OutputFolderTest : public testing::Test {
 protected:
  OutputFolderTest() : root_(fs::path(testing::TempDir()) / "nnefc_output_folder") {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~OutputFolderTest() override { fs::remove_all(root_); }

  static void WriteFile(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  static std::string ReadFile(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Writes a document to the folder `name`.
  ErrorOr<bool> Write(const std::string& name, Existing existing, bool is_complete = true) {
    return WriteFolder((root_ / name).string(), existing, [&](const std::string& folder) -> ErrorOr<bool> {
      WriteFile(fs::path(folder) / "graph.nnef", "new");
      return is_complete;
    });
  }
  // Returns the names in the folder of the test.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(root_))
      names.push_back(entry.path().filename().string());
    return names;
  }

  fs::path root_;
};

TEST_F(OutputFolderTest, AppearsOnlyWhenComplete) {
  ErrorOr<bool> written = Write("model", Existing::kRefuse, /*is_complete=*/false);
  ASSERT_TRUE(written);
  EXPECT_FALSE(*written);
  EXPECT_TRUE(Names().empty());
  written = WriteFolder((root_ / "model").string(), Existing::kRefuse,
                        [](const std::string&) -> ErrorOr<bool> { return SystemError{"disk full"}; });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "disk full");
  EXPECT_TRUE(Names().empty());
  written = Write("model", Existing::kRefuse);
  ASSERT_TRUE(written);
  EXPECT_TRUE(*written);
  EXPECT_EQ(Names(), std::vector<std::string>{"model"});
  EXPECT_EQ(ReadFile(root_ / "model/graph.nnef"), "new");
}

TEST_F(OutputFolderTest, UsesEmptyFolders) {
  fs::create_directories(root_ / "model");
  EXPECT_TRUE(Write("model/", Existing::kRefuse));
  EXPECT_EQ(ReadFile(root_ / "model/graph.nnef"), "new");
}

TEST_F(OutputFolderTest, RefusesFoldersWithFiles) {
  WriteFile(root_ / "model/graph.nnef", "old");
  const std::string refused =
      "`" + (root_ / "model").string() + "` exists; name a folder that is new or empty";
  ErrorOr<bool> written = Write("model", Existing::kRefuse);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, refused);
  written = Write("model", Existing::kRefuseModel);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, refused + ", or replace the model in it with `--force`");
  EXPECT_EQ(ReadFile(root_ / "model/graph.nnef"), "old");
  WriteFile(root_ / "other/notes.txt", "old");
  written = Write("other", Existing::kReplaceModel);
  ASSERT_FALSE(written);
  EXPECT_TRUE(written.error().message.ends_with("`--force` replaces only folders with a `graph.nnef`"));
}

TEST_F(OutputFolderTest, KeepsOtherFilesOfAReplacedModel) {
  WriteFile(root_ / "model/graph.nnef", "old");
  WriteFile(root_ / "model/graph.quant", "old");
  WriteFile(root_ / "model/conv/filter.dat", "old");
  WriteFile(root_ / "model/docs/notes.txt", "notes");
  const ErrorOr<bool> written = Write("model", Existing::kReplaceModel);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(ReadFile(root_ / "model/graph.nnef"), "new");
  EXPECT_EQ(ReadFile(root_ / "model/docs/notes.txt"), "notes");
  EXPECT_FALSE(fs::exists(root_ / "model/graph.quant"));
  EXPECT_FALSE(fs::exists(root_ / "model/conv/filter.dat"));
  EXPECT_EQ(Names(), std::vector<std::string>{"model"});
}

}  // namespace
}  // namespace nnefc::api

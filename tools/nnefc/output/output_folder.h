#pragma once

#include <string>
#include <string_view>

namespace nnefc::cli {

// A folder that is written under a temporary name next to its path and renamed by Commit. Without Commit, the
// destructor deletes it. Failures throw MisuseError.
class OutputFolder {
 public:
  // Handling of a path that exists and is not an empty folder.
  enum class Existing {
    kRefuse,        // an error
    kRefuseModel,   // an error, whose message proposes `--force` for a folder with a `graph.nnef`
    kReplaceModel,  // replaces a folder with a `graph.nnef` atomically; an error for others
  };
  // Creates the temporary folder. Throws if `path` exists and must not be replaced.
  explicit OutputFolder(std::string path, Existing existing = Existing::kRefuse);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Returns the path of the temporary folder; empty after Commit.
  const std::string& path() const { return temporary_; }
  // Writes a text of the model, kGraphFile or kQuantizationFile.
  void Write(std::string_view name, std::string_view text) const;
  // Moves the folder to its path. A replaced folder's files other than documents and tensor files are copied
  // to the new one unless it has files of these names.
  void Commit();

 private:
  void CarryOver() const;

  std::string path_;
  std::string temporary_;
  bool replaces_ = false;
};

}  // namespace nnefc::cli

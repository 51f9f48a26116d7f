#pragma once

#include <string>
#include <string_view>

namespace nnefc::cli {

// A folder that is written under a temporary name next to its path and renamed when complete.
// Failures throw MisuseError.
class OutputFolder {
 public:
  // Handling of a folder that exists and is not empty. `kRefuseModel` names `--force` as the way to replace
  // it. `kReplaceModel` replaces a model folder in one step; files in it that are neither documents nor
  // tensor files, and that the new folder does not have, are carried over.
  enum class Existing { kRefuse, kRefuseModel, kReplaceModel };
  explicit OutputFolder(std::string path, Existing existing = Existing::kRefuse);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // The path of the temporary folder until Commit.
  const std::string& path() const { return temporary_; }
  void Write(std::string_view name, std::string_view text) const;
  void Commit();

 private:
  void CarryOver() const;

  std::string path_;
  std::string temporary_;
  bool replaces_ = false;
};

}  // namespace nnefc::cli

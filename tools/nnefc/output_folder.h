#pragma once

#include <string>
#include <string_view>

namespace nnefc::cli {

// Throws MisuseError for a path that names a file by its extension; `what` says
// what is written there instead: "the upgraded model is a folder".
void RequireFolderName(const std::string& path, std::string_view what);

// A folder that is made beside its final place and renamed when complete.
// Failures throw MisuseError.
class OutputFolder {
 public:
  // The place must be free, or an empty folder.
  explicit OutputFolder(std::string path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Where it is until it is complete.
  const std::string& path() const { return temporary_; }
  void Write(std::string_view name, std::string_view text) const;
  void Commit();

 private:
  std::string path_;
  std::string temporary_;
};

}  // namespace nnefc::cli

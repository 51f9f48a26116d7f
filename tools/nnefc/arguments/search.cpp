// The search for models in folders.

#include "tools/nnefc/arguments/search.h"

#include <algorithm>
#include <filesystem>

#include "fmt/core.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {
namespace {

namespace fs = std::filesystem;

bool IsModel(const std::string& name) {
  for (std::string_view end : {".nnef", ".nnef.tar", ".nnef.tgz", ".nnef.tar.gz"}) {
    if (name.size() > end.size() && name.ends_with(end)) return true;
  }
  return false;
}

void Search(const fs::path& folder, std::vector<std::string>& found) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator();
       it.increment(error))
    entries.push_back(*it);
  std::sort(entries.begin(), entries.end());
  for (const fs::directory_entry& entry : entries) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.')) continue;
    if (entry.is_directory(ignored)) {
      if (!entry.is_symlink(ignored)) Search(entry.path(), found);
    } else if (name == "graph.nnef") {
      found.push_back(folder.string());
    } else if (IsModel(name)) {
      found.push_back(entry.path().string());
    }
  }
}

}  // namespace

std::vector<std::string> SearchFolders(const std::vector<std::string>& paths) {
  std::vector<std::string> found;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      found.push_back(path);
      continue;
    }
    const size_t before = found.size();
    Search(path, found);
    if (found.size() == before) throw MisuseError(fmt::format("there is no model in `{}`", path));
  }
  return found;
}

}  // namespace nnefc::cli

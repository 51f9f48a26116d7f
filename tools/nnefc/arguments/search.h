#pragma once

#include <string>
#include <vector>

namespace nnefc::cli {

// Returns the models in folders, sorted by path, and the elements of `paths` that are not folders. Hidden
// folders and symbolic links to folders are skipped. Throws MisuseError for a folder without models.
std::vector<std::string> SearchFolders(const std::vector<std::string>& paths);

}  // namespace nnefc::cli

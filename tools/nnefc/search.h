#pragma once

#include <string>
#include <vector>

namespace nnefc::cli {

// The models that lie in folders, in the order of their paths, and what of
// `paths` is no folder. Hidden folders are passed over, and so are folders
// behind links. Throws MisuseError for a folder that holds none.
std::vector<std::string> SearchFolders(const std::vector<std::string>& paths);

}  // namespace nnefc::cli

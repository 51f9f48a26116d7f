// Files that are embedded in the nnefc binary.

#include "compiler/explain/embedded_file.h"

#include "llvm/ADT/STLExtras.h"

namespace nnefc::explain {

std::optional<std::string_view> FindText(const std::vector<EmbeddedFile>& files, std::string_view name) {
  const auto found = llvm::find_if(files, [&](const EmbeddedFile& file) { return file.name == name; });
  return found == files.end() ? std::nullopt : std::optional(found->text);
}

}  // namespace nnefc::explain

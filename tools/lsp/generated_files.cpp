// Generated documents that editors open as files.

#include "tools/lsp/generated_files.h"

#include <cstdlib>
#include <filesystem>

#include "compiler/support/files/file.h"
#include "tools/lsp/protocol.h"

namespace nnefc::lsp {
namespace {

namespace fs = std::filesystem;

// Returns the folder of an environment variable if it is absolute.
fs::path FolderFrom(const char* variable) {
  const char* value = std::getenv(variable);
  const fs::path path = value == nullptr ? fs::path() : fs::path(value);
  return path.is_absolute() ? path : fs::path();
}

// Returns the cache folder of nnefc; empty without a home folder.
const fs::path& Folder() {
  static const fs::path folder = [] {
    const fs::path cache = FolderFrom("XDG_CACHE_HOME");
    if (!cache.empty()) return cache / "nnefc";
    const fs::path home = FolderFrom("HOME");
    return home.empty() ? fs::path() : home / ".cache" / "nnefc";
  }();
  return folder;
}

}  // namespace

std::optional<std::string> WriteGenerated(std::string_view name, std::string_view content) {
  if (Folder().empty()) return std::nullopt;
  const fs::path path = Folder() / name;
  const std::string uri = UriOf(path.string());
  if (const auto existing = MappedFile::Open(path.string()); existing && (*existing)->text() == content)
    return uri;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error || !WriteFile(path.string(), content)) return std::nullopt;
  return uri;
}

std::string EditorUri(const language::LanguageService& service, const std::string& uri) {
  const std::string library = language::LanguageService::LibraryUri("");
  // A text of the editor may have any name, with `..` too.
  if (!uri.starts_with(library) || service.Version(uri)) return uri;
  return WriteGenerated("stdlib/" + uri.substr(library.size()), service.Text(uri)).value_or(uri);
}

bool IsGenerated(std::string_view uri) {
  return !Folder().empty() && uri.starts_with(UriOf(Folder().string()) + "/");
}

}  // namespace nnefc::lsp

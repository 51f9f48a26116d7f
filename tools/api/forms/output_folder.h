#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compiler/package/model_folder.h"
#include "compiler/support/error_or.h"

namespace nnefc::api {

// Handling of a path that exists and is not an empty folder.
enum class Existing : uint8_t {
  kRefuse,        // an error
  kRefuseModel,   // an error, whose message proposes `--force` for a folder with a `graph.nnef`
  kReplaceModel,  // replaces a folder with a `graph.nnef` atomically; an error for others
};

// Writes a folder under a temporary name next to `path`, and renames it when it is complete. `write` returns
// false or an error to abandon it; the temporary folder is then deleted. Files of a replaced folder that are
// neither documents nor tensor files are copied to the new one unless it has files of these names. Returns
// whether the folder was written.
ErrorOr<bool> WriteFolder(const std::string& path, Existing existing,
                          const std::function<ErrorOr<bool>(const std::string& folder)>& write);

// Writes an archive of the files, if `path` is the name of one (package::IsArchiveName), or a folder as
// WriteFolder does. An existing archive is replaced; `existing` applies to a folder.
ErrorOr<bool> WriteFolderOrArchive(const std::string& path, Existing existing,
                                   const std::function<ErrorOr<bool>(const std::string& folder)>& write);

}  // namespace nnefc::api

#pragma once

#include <string>

#include "compiler/support/error_or.h"

namespace nnefc::package {

// Writes the files of a folder to an archive `path`, in the order of their names, without times and owners:
// equal folders make equal archives. The archive is compressed by gzip unless `path` ends in `.tar`. It is
// written under a temporary name and renamed.
ErrorOr<Success> WriteArchive(const std::string& folder, const std::string& path);

// True for the names of such archives: `.tar`, `.tgz`, `.tar.gz`.
bool IsArchiveName(const std::string& path);

}  // namespace nnefc::package

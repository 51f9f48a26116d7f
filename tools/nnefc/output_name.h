#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "tools/nnefc/common.h"

namespace nnefc::cli {

// Checks of the names of files and folders that a command is to write. Each throws MisuseError for a name
// that promises another format than the one written, before anything is computed. Standard output, devices
// and pipes are accepted.

// `extensions` are those of the format, such as ".xml"; "" accepts names without an extension. `what` names
// the format: "`compile` writes OpenVINO IR to `.xml`".
void RequireExtension(const std::string& path, std::initializer_list<std::string_view> extensions,
                      std::string_view what);

// A report, which is text, JSON or SARIF.
void RequireReportName(const std::string& path, Format format);

// `what` says what is written: "the upgraded model is a folder".
void RequireFolderName(const std::string& path, std::string_view what);

// The output is not the file or folder of a model that is read, unless `force` is set.
void RequireOtherFile(const CommonOptions& options, bool force);

}  // namespace nnefc::cli

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "tools/nnefc/common.h"

namespace nnefc::cli {

// Checks of output names. Each throws MisuseError before anything is computed if the name suggests another
// format than the one written. Standard output, devices and pipes are accepted.

// `extensions` are those of the format, such as ".xml"; "" accepts names without an extension. `what` names
// the format: "`compile` writes OpenVINO IR to `.xml`".
void RequireExtension(const std::string& path, std::initializer_list<std::string_view> extensions,
                      std::string_view what);

// Checks the name of a report in text, JSON or SARIF.
void RequireReportName(const std::string& path, Format format);

// Checks the name of a folder. `what` describes the output: "the upgraded model is a folder".
void RequireFolderName(const std::string& path, std::string_view what);

// Rejects an output path that is an input model, unless `force` is set.
void RequireOtherFile(const CommonOptions& options, bool force);

// Throws MisuseError if the path of an archive is a folder, or exists and `force` is not set.
void RequireArchiveName(const std::string& path, bool force);

}  // namespace nnefc::cli

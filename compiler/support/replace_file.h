#pragma once

#include <string>
#include <string_view>

#include "compiler/support/error_or.h"

namespace nnefc {

// Replaces the content of a file that exists: written beside it, then renamed.
// Follows symbolic links, so that the link stays one, and keeps permissions; a
// file that has several names is written where it is, one that may not be
// written is not replaced.
ErrorOr<Success> ReplaceFile(const std::string& path, std::string_view content);

}  // namespace nnefc

#pragma once

#include <string>
#include <string_view>

#include "compiler/support/error_or.h"

namespace nnefc {

// Replaces the content of an existing file through a temporary file in the same folder, which is then
// renamed. Follows symbolic links and preserves permissions. A file with several hard links is overwritten in
// place. A read-only file is an error.
ErrorOr<Success> ReplaceFile(const std::string& path, std::string_view content);

}  // namespace nnefc

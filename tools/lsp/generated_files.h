#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/language/language_service.h"

namespace nnefc::lsp {

// Texts that editors open as files: documents of the standard library and expansions. They are stored in
// `nnefc` in the user's cache folder, and are not checked.

// Writes a file unless it has that content, and returns its uri; nothing if it cannot be written. `name` is a
// relative path.
std::optional<std::string> WriteGenerated(std::string_view name, std::string_view content);

// Returns the uri that an editor opens: for documents of the standard library that of a generated file.
std::string EditorUri(const language::LanguageService& service, const std::string& uri);

// Returns true for the uri of such a file.
bool IsGenerated(std::string_view uri);

}  // namespace nnefc::lsp

#pragma once

#include <string>

#include "compiler/driver/compilation.h"
#include "compiler/support/context.h"

namespace nnefc::api {

// A document in canonical style.
struct FormattedDocument {
  bool is_complete = false;  // false after a syntax error
  std::string text;
  bool reads_same = false;  // true if the text parses to the same document
};

// Formats a document or, if `is_quantization`, a `graph.quant`. Emits syntax errors to `context`.
FormattedDocument FormatDocument(FileId file, bool is_quantization, const driver::CompileOptions& options,
                                 Context& context);

// Returns the expanded graph of a compilation as a flat ratified document in canonical style.
std::string FlatText(const driver::Compilation& compilation, const Limits& limits);

}  // namespace nnefc::api

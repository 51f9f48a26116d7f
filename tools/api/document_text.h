#pragma once

#include <string>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/support/context.h"

namespace nnefc::api {

// A text of a model: `graph.nnef`, a document of another name, or `graph.quant`.
struct ModelText {
  std::string name;          // its path, or the name of a member of an archive
  bool is_writable = false;  // it is a file
  bool is_quantization = false;
  FileId file;
};

// Returns the texts of a folder or archive (`graph.nnef`, then `graph.quant`), or of a single document or
// graph.quant file; with CompileOptions::document that text, of the kind of its name. Returns an empty
// list after an error was emitted; `environment_failed` is set for system errors.
std::vector<ModelText> OpenTexts(const std::string& path, const driver::CompileOptions& options,
                                 Context& context, bool& environment_failed);

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

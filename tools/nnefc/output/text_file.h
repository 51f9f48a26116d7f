#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/package/model.h"
#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc::cli {

// A document of a model, or standard input, for commands that modify documents.
struct TextFile {
  std::string path;  // name in messages
  bool writable = false;
  bool is_quantization = false;
  FileId file;
};

// Returns the content of standard input, read once. Throws MisuseError if it is too large.
const std::string& StandardInput();

// Returns the texts of a folder or archive (`graph.nnef`, then `graph.quant`), of a single document or
// graph.quant file, or of standard input (`-`). Returns an empty list after an error was emitted;
// `environment_failed` is set for system errors. `name` is the name of standard input in messages; it decides
// whether that is a graph.quant file.
std::vector<TextFile> OpenTexts(const std::string& path, const std::string& name,
                                const package::ModelOpenOptions& options, Context& context,
                                bool& environment_failed);

}  // namespace nnefc::cli

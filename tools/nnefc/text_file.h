#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/package/model.h"
#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc::cli {

// A document of a model, or standard input, as the commands that change
// documents see it.
struct TextFile {
  std::string path;  // told to the user; "" of standard input is "<stdin>"
  bool writable = false;
  bool is_quantization = false;
  FileId file;
};

// All of standard input, which is read once. Throws MisuseError if it is too large.
const std::string& StandardInput();

// The texts of a folder or archive (`graph.nnef`, then `graph.quant`), one document, also
// of a folder, a graph.quant file, or standard input (`-`). Empty if they
// cannot be opened, which was emitted; `environment_failed` tells why.
std::vector<TextFile> OpenTexts(const std::string& path, const ModelOpenOptions& options, Context& context,
                                bool& environment_failed);

}  // namespace nnefc::cli

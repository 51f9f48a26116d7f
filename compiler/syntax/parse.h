#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc {

enum class DocumentKind : uint8_t {
  kModel,         // version, fragments, one graph
  kLibrary,       // stdlib: version, fragments; primitives end with `;` in both dialects; no graph
  kQuantization,  // graph.quant
};

struct ParseOptions {
  // Nothing: told by the text.
  std::optional<ast::Dialect> dialect;
  DocumentKind kind = DocumentKind::kModel;
  // The generated parser reads every statement, flat ones too: slower, with the same document.
  bool by_grammar_alone = false;
};

// Parses a text of either dialect. Total: always returns a document; what
// could not be read is an Error node, and each mistake was emitted, local to
// its statement. `complete` tells that there were none.
[[nodiscard]] std::unique_ptr<ast::Document> ParseDocument(FileId file, const ParseOptions& options,
                                                           Context& context);

// True for what names are without quotes: letters, digits and `_`, no digit first, and no
// keyword of both dialects.
bool IsPlainName(std::string_view text);
// The name of such characters that is nearest to `text`; plain unless it is a keyword.
std::string NearestName(std::string_view text);

}  // namespace nnefc

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc::ast {

enum class DocumentKind : uint8_t {
  kModel,         // version, fragments, one graph
  kLibrary,       // stdlib: version, fragments; primitives end with `;` in both dialects; no graph
  kQuantization,  // graph.quant
};

struct ParseOptions {
  // The dialect; nothing: detected from the text.
  std::optional<Dialect> dialect;
  DocumentKind kind = DocumentKind::kModel;
  // Parses every statement with the generated parser, flat ones too: slower, with the same result.
  bool by_grammar_alone = false;
};

// Parses a text of either dialect. Total: always returns a document. Unreadable parts become Error nodes;
// each mistake is reported once, within its statement. `complete` is true if there were none.
[[nodiscard]] std::unique_ptr<ast::Document> ParseDocument(FileId file, const ParseOptions& options,
                                                           Context& context);

// Returns true if `text` is a valid name without quotes: letters, digits and `_`, not starting with a digit,
// and not a keyword of both dialects.
bool IsPlainName(std::string_view text);
// Returns the nearest name with only these characters; plain unless it is a keyword.
std::string NearestName(std::string_view text);

}  // namespace nnefc::ast

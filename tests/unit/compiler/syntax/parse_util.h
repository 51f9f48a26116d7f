#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/context.h"
#include "compiler/syntax/parse.h"

namespace nnefc::ast {

// A parsed text with its diagnostics.
struct Parsed {
  std::unique_ptr<Context> context = std::make_unique<Context>();
  std::unique_ptr<Document> document;

  // "LINE:COL: message [rule]", in document order.
  std::vector<std::string> Messages() const;
  const Assignment& Statement(size_t index) const;
  // Returns the expression with every operator in parentheses: `(a + (b * c))`.
  std::string Tree(ExprId expr) const;
  // Returns the trees of both sides of an assignment, `left = right`.
  std::string Tree(const Assignment& assignment) const;
};

Parsed Parse(std::string text, ParseOptions options = {}, int64_t nesting = 1000);
// Parses `statements` as the body of a graph of that dialect.
Parsed ParseRatified(std::string_view statements);
Parsed ParseProvisional(std::string_view statements);
// Returns the tree of an expression on the right of `y =`, or the messages.
std::string RatifiedTree(std::string_view expr);
std::string ProvisionalTree(std::string_view expr);

// The expected list of messages or trees.
template <typename... Text>
std::vector<std::string> Lines(Text... lines) {
  return {std::string(lines)...};
}

// Returns the text of a file, or nothing.
std::string ReadText(const std::string& path);
// Returns the documents of the repository and, if present, of the shared data next to it.
std::vector<std::string> CorpusPaths();

}  // namespace nnefc::ast

#pragma once

#include <string>
#include <vector>

#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc {

// The text of an expression in canonical style, such as
// `conv(x, filter, stride = [2, 2])`. With `max_length` > 0 a longer text is
// cut and ends in `..`, for messages. Parsed back it gives the same AST; what
// could not be parsed is printed as it was written.
std::string PrintExpr(const ast::Document& document, ast::ExprId expr, const Context& context,
                      size_t max_length = 0);

// The text of a type as written, such as `(integer, tensor<?>[])`.
std::string PrintType(const ast::Document& document, ast::TypeId type);

// The text of a document in canonical style: lines of at most 100 columns where
// names and strings allow it, four blanks of indentation, single blank lines
// kept, numbers as they were written, no optional `;`. A comment stays before
// what follows it, or behind what it trails.
std::string PrintDocument(const ast::Document& document, const Context& context);
// The same with more lines of comments: those of `before`, by statement of the
// first graph's body, stand between the statement and its own comments.
std::string PrintDocument(const ast::Document& document, const Context& context,
                          llvm::ArrayRef<std::vector<std::string>> before);

// Tokens as they were written, on one line: single blanks for blanks and breaks of lines,
// without comments.
std::string OnOneLine(std::string_view tokens);

// A string literal with that value: in `'`, with the quote and `\` escaped.
std::string QuoteString(std::string_view value);
// A name as a document has it: in `i".."` unless it is plain.
std::string SpellName(std::string_view name);
// Returns the shortest literal that reads back as `value`, never that of an integer. An infinity is printed
// as a number above the greatest one of f32, which becomes an infinity there; NaN has no literal and is
// printed as `nan`.
std::string PrintScalar(double value);

}  // namespace nnefc

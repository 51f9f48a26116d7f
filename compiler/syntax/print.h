#pragma once

#include <string>
#include <vector>

#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"

namespace nnefc::ast {

// Returns an expression in canonical style, such as `conv(x, filter, stride = [2, 2])`. With `max_length` >
// 0, a longer text is truncated and ends in `..`, for messages. Parsing the text returns the same AST;
// unparsed source is printed as written.
std::string PrintExpr(const ast::Document& document, ExprId expr, const Context& context,
                      size_t max_length = 0);

// Returns a type as written, such as `(integer, tensor<?>[])`.
std::string PrintType(const ast::Document& document, TypeId type);

// Returns a document in canonical style: lines of at most 100 columns where names and strings allow it, four
// blanks of indentation, at most one blank line in a row, numbers as written, no optional `;`. A comment
// stays before the code that follows it, or after the code that it trails.
std::string PrintDocument(const ast::Document& document, const Context& context);
// Same, with additional comment lines: `before[i]` is printed between statement i of the first graph's body
// and its own comments.
std::string PrintDocument(const ast::Document& document, const Context& context,
                          llvm::ArrayRef<std::vector<std::string>> before);

// Returns the tokens as written on one line: single blanks replace blanks and line breaks; comments are
// dropped.
std::string OnOneLine(std::string_view tokens);

// Returns a string literal with that value: in `'`, with the quote and `\` escaped.
std::string QuoteString(std::string_view value);
// Returns a name as spelled in a document: in `i".."` unless it is plain.
std::string SpellName(std::string_view name);
// Returns the shortest literal that reads back as `value`, never that of an integer. An infinity is printed
// as a number above the f32 maximum, so it reads back as an f32 infinity. NaN has no literal and is printed
// as `nan`.
std::string PrintScalar(double value);

}  // namespace nnefc::ast

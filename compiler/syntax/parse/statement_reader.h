#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/parse/mistakes/unusual_names.h"
#include "compiler/syntax/parse/scanner.h"

namespace nnefc::ast::parse {

// The tokens of one statement, for one rule of NnefParser.g4.
struct Statement {
  // Ends with a kSemicolon, or with a zero-length kStatementEnd after the last written token.
  std::vector<Token> tokens;
  // The token after the statement; it belongs to the next one.
  Token next;
  // The statement has an invalid character or string; reported.
  bool has_lexical_error = false;
  // The statement nests deeper than the limit; reported. Only the first tokens are stored.
  bool too_deep = false;

  bool empty() const { return tokens.size() <= 1; }
  bool has_semicolon() const { return tokens.back().kind == TokenKind::kSemicolon; }
};

// The text of a document as tokens spell it, and its lines.
class TokenText {
 public:
  TokenText(const ast::Document& document, std::string_view text) : document_(document), text_(text) {}

  const Dialect& dialect() const { return document_.dialect; }
  std::string_view Text(Token token) const { return document_.Spelling(token.begin, token.Text(text_)); }
  SourceRange Range(Token token) const { return {document_.file, token.begin, token.end}; }
  // Returns the range from the token to the end of its line.
  SourceRange LineOf(Token token) const {
    const size_t end = std::min(text_.find('\n', token.begin), text_.size());
    return {document_.file, token.begin, static_cast<uint32_t>(end)};
  }
  bool BeginsLine(Token token) const { return token.begin == 0 || text_[token.begin - 1] == '\n'; }
  bool EndsWithLine() const { return text_.ends_with('\n'); }
  // Returns true if a line break is between the two tokens.
  bool OnLaterLine(Token first, Token second) const;

 private:
  const ast::Document& document_;
  std::string_view text_;
};

// Splits a document into statements. Makes the decisions that LL(1) cannot: the end of an assignment without
// `;`, the `<` of `name<type>`, and the `>=` that ends a type before a default. Limits errors to their
// statement: a `;`, a brace, and the keywords `fragment` and `graph` end a statement at any bracket depth.
// Reports invalid characters and too deep nesting.
class StatementReader : public TokenText {
 public:
  // Appends comments to `document`.
  StatementReader(ast::Document& document, Context& context);

  // Returns the first token of the next statement.
  Token Peek() { return At(0); }
  // Returns the token after that of Peek().
  Token PeekSecond() { return At(1); }
  // Consumes and returns the token of Peek().
  Token Take();
  // Changes the kind of the token of Peek(); the caller reports that.
  void Retype(TokenKind kind);

  // Each of these reads one statement and advances past it. Consumes at least one token unless at the end of
  // the text.
  void ReadVersion(Statement& statement);
  void ReadExtension(Statement& statement);
  // Reads `fragment .. -> (..)` or `graph .. -> (..)`, up to but excluding `{` or `;`.
  void ReadDeclaration(Statement& statement);
  void ReadAssignment(Statement& statement);
  void ReadQuantization(Statement& statement);

 private:
  // Returns the token at `index`, counted from the first of the statement.
  Token At(size_t index) {
    while (buffer_.size() <= start_ + index) Fetch();
    return buffer_[start_ + index];
  }
  void Fetch();
  size_t Indentation(Token token) const;
  bool ReplaceForeign(Token& token);
  void ReplaceLookalike(Token& token);
  bool Replace(Token& token);
  void CloseString(Token& token);
  void ReplaceUnusualUse(Token& token);
  // Joins names of a left side or declaration that are valid only in other formats, from token `index` on.
  void ReplaceUnusualNames(size_t index, bool is_left_side);
  void ReplaceUnusualName(size_t index, const UnusualName& name);
  bool ReplaceShape(Token dot);
  bool ReplaceQualified(Token dot);
  bool ReplaceVersion(Token dot);
  bool ReportFormat(Token percent);
  void FixMatrixProduct(Token at, DiagnosticBuilder& report);
  void KeepComment(Token comment);
  void ReportUnexpected(Token token);
  void Finish(Statement& statement, size_t count, bool with_semicolon);
  void FinishTooDeep(Statement& statement, size_t count);

  // Updates the open brackets for the token at `index`; returns false once too deep.
  [[nodiscard]] bool Nest(size_t index);
  void RetypeTypeArgument(size_t index);
  bool RetypeWrongType(size_t close);
  void RetypeArgumentName(size_t index);
  void RetypeYield(size_t index);
  void SplitGreaterEqual(size_t index);
  // Returns the number of tokens before the left side whose `=` is at `index`.
  size_t LeftSideStart(size_t index);
  bool IsWrongBefore(size_t index);
  bool BeginsAssignment(size_t index, bool seen_assign, size_t& start);
  TokenKind KindBefore(size_t index, size_t distance) {
    return index >= distance ? At(index - distance).kind : TokenKind::kEndOfText;
  }

  ast::Document& document_;
  Context& context_;
  FileId file_;
  std::string_view text_;
  Scanner scanner_;
  // Lookahead buffer; tokens before start_ belong to finished statements.
  std::vector<Token> buffer_;
  size_t start_ = 0;
  // Open `(`, `[` and `if` at the current token; kFor represents a `[` followed by `for`.
  std::vector<TokenKind> open_;
  // Replacements of later tokens, by the offsets where those begin.
  std::map<uint32_t, Token> replacements_;
  // Replaced names as written, mapped to their replacements; empty if the text already has that name.
  std::map<std::string_view, std::string> unusual_names_;
  // Offsets of reported characters that are not assigned to a statement yet.
  std::vector<uint32_t> lexical_errors_;
  Token last_;  // the last token fetched, comments included
};

}  // namespace nnefc::ast::parse

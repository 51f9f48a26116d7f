#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/context.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/parse/odd_names.h"
#include "compiler/syntax/parse/scanner.h"

namespace nnefc::parse {

// The tokens of one statement, as one rule of NnefParser.g4 reads them.
struct Statement {
  // The last is a kSemicolon, or a kStatementEnd of zero length behind the
  // last token that is spelled.
  std::vector<Token> tokens;
  // The token that follows the statement; it belongs to the next one.
  Token next;
  // A character or string inside is wrong, and that was reported.
  bool has_lexical_error = false;
  // Nests deeper than the limit, reported; only the first tokens are kept.
  bool too_deep = false;

  bool empty() const { return tokens.size() <= 1; }
  bool has_semicolon() const { return tokens.back().kind == TokenKind::kSemicolon; }
};

// Cuts a document into statements. What LL(1) cannot see is decided here: the
// end of an assignment that has no `;`, the `<` of `name<type>`, and the `>=`
// that ends a type before a default. Keeps errors local to their statement: a
// `;` ends one at any depth of brackets, and so do braces and the keywords
// `fragment` and `graph`. Reports wrong characters and too deep nesting.
class StatementReader {
 public:
  // Comments go to `document`.
  StatementReader(ast::Document& document, Context& context);

  // The first token of the next statement.
  Token Peek() { return At(0); }
  // The token behind that of Peek().
  Token PeekSecond() { return At(1); }
  // Skips the token of Peek().
  Token Take();
  // Makes the token of Peek() another one, which was reported.
  void Retype(TokenKind kind);

  // Each reads one statement and leaves the reader behind it. Every one takes
  // at least one token unless at the end of the text.
  void ReadVersion(Statement& statement);
  void ReadExtension(Statement& statement);
  // `fragment .. -> (..)` or `graph .. -> (..)` up to `{` or `;`, which are
  // left.
  void ReadDeclaration(Statement& statement);
  void ReadAssignment(Statement& statement);
  void ReadQuantization(Statement& statement);

  const ast::Dialect& dialect() const { return document_.dialect; }
  std::string_view Text(Token token) const { return document_.Spelling(token.begin, token.Text(text_)); }
  SourceRange Range(Token token) const { return {file_, token.begin, token.end}; }
  // From the token to the end of its line.
  SourceRange LineOf(Token token) const {
    const size_t end = std::min(text_.find('\n', token.begin), text_.size());
    return {file_, token.begin, static_cast<uint32_t>(end)};
  }
  bool BeginsLine(Token token) const { return token.begin == 0 || text_[token.begin - 1] == '\n'; }
  bool EndsWithLine() const { return text_.ends_with('\n'); }
  // True if a new line stands between the two.
  bool OnLaterLine(Token first, Token second) const;

 private:
  // The token `index` behind the first of the statement.
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
  void ReplaceOddUse(Token& token);
  // The names of a left side or of a declaration that would be names in other
  // formats, from the token `index` on.
  void ReplaceOddNames(size_t index, bool is_left_side);
  void ReplaceOddName(size_t index, const OddName& name);
  bool ReplaceShape(Token dot);
  bool ReplaceQualified(Token dot);
  bool ReplaceVersion(Token dot);
  bool ReportFormat(Token percent);
  void FixMatrixProduct(Token at, DiagnosticBuilder& report);
  void KeepComment(Token comment);
  void ReportUnexpected(Token token);
  void Finish(Statement& statement, size_t count, bool with_semicolon);
  void FinishTooDeep(Statement& statement, size_t count);

  // Follows the brackets of the token at `index`; false once too deep.
  [[nodiscard]] bool Nest(size_t index);
  void RetypeTypeArgument(size_t index);
  bool RetypeWrongType(size_t close);
  void RetypeArgumentName(size_t index);
  void RetypeYield(size_t index);
  void SplitGreaterEqual(size_t index);
  // The number of tokens before the left side whose `=` is at `index`.
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
  // Tokens read ahead; those before start_ belong to statements that are over.
  std::vector<Token> buffer_;
  size_t start_ = 0;
  // `(`, `[` and `if` that are open at the token being looked at; kFor stands
  // for a `[` that `for` follows.
  std::vector<TokenKind> open_;
  // Tokens in the place of later ones, by the offsets where these begin.
  std::map<uint32_t, Token> replacements_;
  // The names that were replaced, as they are written.
  // With what they become; empty if the text has that name already.
  std::map<std::string_view, std::string> odd_names_;
  // Offsets of reported characters that no statement was charged with yet.
  std::vector<uint32_t> lexical_errors_;
  Token last_;  // the last token fetched, comments included
};

}  // namespace nnefc::parse

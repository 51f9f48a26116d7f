#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/syntax/parse/error_strategy.h"
#include "compiler/syntax/rules.h"

namespace nnefc::ast::parse {

// Base of classes that describe a syntax error: the statement, the unexpected token `at_`, and shared
// queries.
class SyntaxFinder {
 public:
  SyntaxFinder(const antlr4::ParserRuleContext& rule, const StatementReader& reader,
               const Statement& statement, size_t found)
      : rule_(rule.getRuleIndex()),
        reader_(reader),
        tokens_(statement.tokens),
        at_(std::min(found, statement.tokens.size() - 1)) {}

 protected:
  using NnefParser = grammar::NnefParser;

  TokenKind Kind(size_t index) const {
    return index < tokens_.size() ? tokens_[index].kind : TokenKind::kEndOfText;
  }
  TokenKind Found() const { return Kind(at_); }
  TokenKind Before() const { return at_ > 0 ? Kind(at_ - 1) : TokenKind::kEndOfText; }
  std::string_view Text(size_t index) const { return reader_.Text(tokens_[index]); }
  bool IsName(size_t index) const {
    return Kind(index) == TokenKind::kIdentifier || Kind(index) == TokenKind::kArgumentName;
  }
  bool BeginsOperand(size_t index) const { return parse::BeginsOperand(Kind(index)); }
  bool EndsOperand(size_t index) const { return parse::EndsOperand(Kind(index)); }
  // Returns true where the parser is inside a list.
  bool InList() const {
    switch (rule_) {
      case NnefParser::RuleInvocation:
      case NnefParser::RuleArrayRvalueExpr:
      case NnefParser::RuleArrayLiteralExpr:
      case NnefParser::RuleTupleRvalueExpr:
      case NnefParser::RuleTupleLiteralExpr:
      case NnefParser::RuleFragmentDeclaration:
      case NnefParser::RuleGraphDeclaration:
      case NnefParser::RuleIdentifierList:
      case NnefParser::RuleArrayLvalueExpr:
      case NnefParser::RuleTupleLvalueExpr:
        return true;
      default:
        return false;
    }
  }

  // Returns the number of open brackets before the token found.
  int Depth() const {
    int depth = 0;
    for (size_t i = 0; i < at_; ++i) depth += IsOpening(Kind(i)) ? 1 : IsClosing(Kind(i)) ? -1 : 0;
    return depth;
  }

  // Returns the index of the first token from `index` on that satisfies `is_end` outside inner brackets, or
  // the number of tokens.
  template <typename IsEnd>
  size_t Until(size_t index, IsEnd is_end) const {
    int depth = 0;
    for (; index < tokens_.size(); ++index) {
      if (depth == 0 && is_end(Kind(index))) return index;
      if (IsOpening(Kind(index))) ++depth;
      if (IsClosing(Kind(index))) --depth;
    }
    return index;
  }
  std::string_view TextFrom(size_t begin, size_t end) const {
    return reader_.Text({TokenKind::kUnexpected, tokens_[begin].begin, tokens_[end - 1].end});
  }
  SyntaxError Error(std::string message) const {
    return {&kUnexpectedToken, std::move(message), {}, {}, {}, {}};
  }
  // Returns an error with a fix-it that replaces tokens [first, last) by `text`.
  SyntaxError Replace(std::string message, size_t first, size_t last, std::string text) const {
    SyntaxError error = Error(std::move(message));
    error.edits.push_back(
        {{TokenKind::kUnexpected, tokens_[first].begin, tokens_[last - 1].end}, std::move(text)});
    return error;
  }
  // Returns an error with a fix-it that removes tokens [first, last) and the blanks after them.
  SyntaxError Remove(std::string message, size_t first, size_t last) const {
    SyntaxError error = Error(std::move(message));
    const uint32_t end = last < tokens_.size() && tokens_[last].kind != TokenKind::kStatementEnd
                             ? tokens_[last].begin
                             : tokens_[last - 1].end;
    error.edits.push_back({{TokenKind::kUnexpected, tokens_[first].begin, end}, ""});
    return error;
  }

  const size_t rule_;
  const StatementReader& reader_;
  const std::vector<Token>& tokens_;
  const size_t at_;
};

// Describes an unambiguous slip in NNEF's own syntax; nothing if there is none.
std::optional<SyntaxError> DescribeSlip(const antlr4::ParserRuleContext& rule, const StatementReader& reader,
                                        const Statement& statement, size_t found);

}  // namespace nnefc::ast::parse

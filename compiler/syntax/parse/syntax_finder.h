#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/syntax/parse/error_strategy.h"
#include "compiler/syntax/rules.h"
#include "fmt/format.h"

namespace nnefc::parse {

// The statement whose token `at_` the parser did not expect, with the questions
// and answers that classes of messages share.
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
  // True where the parser reads the items of a list.
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

  // The index behind the tokens from `index` on up to one of `ends` that stands
  // in no brackets of theirs.
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
  // With what makes the text right: tokens [first, last) become `text`.
  SyntaxError Replace(std::string message, size_t first, size_t last, std::string text) const {
    SyntaxError error = Error(std::move(message));
    error.edits.push_back(
        {{TokenKind::kUnexpected, tokens_[first].begin, tokens_[last - 1].end}, std::move(text)});
    return error;
  }
  // As Replace with nothing, the blanks that follow too.
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

// Words a slip of NNEF's own syntax that leaves no doubt; nothing if it is none.
std::optional<SyntaxError> DescribeSlip(const antlr4::ParserRuleContext& rule, const StatementReader& reader,
                                        const Statement& statement, size_t found);

}  // namespace nnefc::parse

#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "compiler/syntax/parse/antlr_stream.h"
#include "grammar/NnefParser.h"

namespace nnefc::ast::parse {

// Exception that unwinds the parser's rules after a statement's first error. Never leaves this folder.
struct StatementAbandoned {};

// An error handler for ANTLR. Reports the first error of a statement in NNEF's terms instead of ANTLR's, and
// abandons the statement by throwing StatementAbandoned; later statements are unaffected.
class ErrorStrategy final : public antlr4::ANTLRErrorStrategy {
 public:
  ErrorStrategy(const StatementReader& reader, Context& context) : reader_(reader), context_(context) {}

  // Starts a statement. `silent` suppresses errors that follow from one already reported.
  void Begin(const Statement& statement, bool silent);
  // Returns the parse tree of the abandoned statement: the context of its outermost rule, with the parts
  // before the error. Null if there was no error.
  antlr4::ParserRuleContext* abandoned_root() const { return root_; }

  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& e) override;
  void recover(antlr4::Parser* parser, std::exception_ptr e) override;
  void reset(antlr4::Parser* parser) override {}
  void sync(antlr4::Parser* parser) override {}
  bool inErrorRecoveryMode(antlr4::Parser* parser) override { return false; }
  void reportMatch(antlr4::Parser* parser) override {}

 private:
  void Report(antlr4::Parser* parser);

  const StatementReader& reader_;
  Context& context_;
  const Statement* statement_ = nullptr;
  antlr4::ParserRuleContext* root_ = nullptr;
  bool silent_ = false;
};

// A syntax error where ANTLR's parser stopped.
struct SyntaxError {
  const Rule* rule = nullptr;
  std::string message;
  // Position of the message: after the previous token, or at the token found.
  bool after_previous = false;
  std::string insertion;         // inserted after the previous token by a fix-it, if not empty
  std::optional<Token> opening;  // the unclosed bracket
  struct Edit {
    Token place;  // replaced by `text`
    std::string text;
  };
  std::vector<Edit> edits;  // fix-its
  Applicability applicability = Applicability::kSafe;
};

// Returns true if a binary operator occurs between operands of tokens [begin, end); the position of a missing
// bracket is then a guess.
bool HasBinaryOperator(llvm::ArrayRef<Token> tokens);

// Describes the error of a parser that stopped inside `rule` at the token `statement.tokens[found]`.
SyntaxError DescribeSyntaxError(const antlr4::Parser& parser, const antlr4::ParserRuleContext& rule,
                                const StatementReader& reader, const Statement& statement, size_t found);

// Describes syntax of another language at that token, or an unambiguous slip; nothing if it is neither.
std::optional<SyntaxError> DescribeForeignSyntax(const antlr4::ParserRuleContext& rule,
                                                 const StatementReader& reader, const Statement& statement,
                                                 size_t found);

}  // namespace nnefc::ast::parse

#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "compiler/syntax/parse/antlr_stream.h"
#include "grammar/NnefParser.h"

namespace nnefc::parse {

// Leaves the rules of a statement after its first mistake. Never leaves this
// room.
struct StatementAbandoned {};

// Tells the first mistake of a statement in NNEF's words and gives the
// statement up; later statements are not touched by it.
class ErrorStrategy final : public antlr4::ANTLRErrorStrategy {
 public:
  ErrorStrategy(const StatementReader& reader, Context& context) : reader_(reader), context_(context) {}

  // Before each statement. `silent` if mistakes follow from one that was told.
  void Begin(const Statement& statement, bool silent);
  // The context of the rule that was called first, or nullptr if there was no
  // mistake: its labels hold what was read.
  antlr4::ParserRuleContext* abandoned_root() const { return root_; }
  bool failed() const { return failed_; }

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
  bool failed_ = false;
};

// A mistake where ANTLR's parser stopped.
struct SyntaxError {
  const Rule* rule = nullptr;
  std::string message;
  // Where the message stands: behind the token before, or at the token found.
  bool after_previous = false;
  std::string insertion;         // a fix-it behind the token before, if not empty
  std::optional<Token> opening;  // the bracket that is not closed
  struct Edit {
    Token place;  // the bytes that become `text`
    std::string text;
  };
  std::vector<Edit> edits;  // fix-its
  Applicability applicability = Applicability::kSafe;
};

// True if an operator is between two operands of tokens [begin, end): where a bracket belongs is a guess
// there.
bool HasBinaryOperator(llvm::ArrayRef<Token> tokens);

// Words the mistake of a parser that stopped inside `rule` at `found`.
SyntaxError DescribeSyntaxError(const antlr4::Parser& parser, const antlr4::ParserRuleContext& rule,
                                const StatementReader& reader, const Statement& statement, size_t found);

// Words what another language writes at that place, or a slip that leaves no
// doubt; nothing if it is neither.
std::optional<SyntaxError> DescribeForeignSyntax(const antlr4::ParserRuleContext& rule,
                                                 const StatementReader& reader, const Statement& statement,
                                                 size_t found);

}  // namespace nnefc::parse

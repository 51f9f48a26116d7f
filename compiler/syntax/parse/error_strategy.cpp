// The reaction to syntax errors: the first one of a statement is described, and the statement is abandoned.

#include "compiler/syntax/parse/error_strategy.h"

#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ast::parse {

void ErrorStrategy::Begin(const Statement& statement, bool silent) {
  statement_ = &statement;
  silent_ = silent;
  root_ = nullptr;
}

antlr4::Token* ErrorStrategy::recoverInline(antlr4::Parser* parser) {
  Report(parser);
  throw StatementAbandoned();
}

void ErrorStrategy::reportError(antlr4::Parser* parser, const antlr4::RecognitionException& e) {
  Report(parser);
}

void ErrorStrategy::recover(antlr4::Parser* parser, std::exception_ptr e) {
  throw StatementAbandoned();
}

void ErrorStrategy::Report(antlr4::Parser* parser) {
  antlr4::ParserRuleContext* rule = parser->getContext();
  root_ = rule;
  while (root_->parent != nullptr) root_ = static_cast<antlr4::ParserRuleContext*>(root_->parent);
  if (silent_) return;

  const size_t found = parser->getTokenStream()->index();
  const std::optional<SyntaxError> foreign = DescribeForeignSyntax(*rule, reader_, *statement_, found);
  const SyntaxError error =
      foreign ? *foreign : DescribeSyntaxError(*parser, *rule, reader_, *statement_, found);
  const std::vector<Token>& tokens = statement_->tokens;
  SourceRange range = reader_.Range(tokens[std::min(found, tokens.size() - 1)]);
  SourceRange behind = range;
  if (found > 0) behind.begin = behind.end = tokens[found - 1].end;
  if (error.after_previous) range = behind;
  auto report = context_.emitter.Emit(*error.rule, range, "{}", error.message);
  if (error.opening) report.Note(reader_.Range(*error.opening), "opened here");
  if (!error.insertion.empty()) report.Fix(behind, error.insertion, error.applicability);
  for (const SyntaxError::Edit& edit : error.edits)
    report.Fix(reader_.Range(edit.place), edit.text, error.applicability);
}

bool HasBinaryOperator(llvm::ArrayRef<Token> tokens) {
  for (size_t i = 1; i < tokens.size(); ++i) {
    const bool is_operator = tokens[i].kind >= TokenKind::kPlus && tokens[i].kind <= TokenKind::kOr;
    if (is_operator && EndsOperand(tokens[i - 1].kind)) return true;
  }
  return false;
}

}  // namespace nnefc::ast::parse

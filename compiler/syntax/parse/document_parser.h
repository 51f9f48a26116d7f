#pragma once

#include "compiler/syntax/parse.h"
#include "compiler/syntax/parse/ast_builder.h"
#include "compiler/syntax/parse/error_strategy.h"

namespace nnefc::ast::parse {

// Returns true if `word` begins an import line in other languages.
bool IsImport(std::string_view word);

// The parser of documents and quantization files. Splits the text into statements, passes each to the parser
// generated from NnefParser.g4, and the resulting contexts to the AST builder, which fills `document`.
// Continues after errors with the next statement.
class DocumentParser {
 public:
  DocumentParser(Document& document, const ParseOptions& options, Context& context);

  // Parse the whole text of a document or library, or of a quantization file. Call one of them once.
  void ParseModel();
  void ParseQuantization();

 private:
  using Parser = grammar::NnefParser;

  // Parses statement_ with one rule. Returns the rule's context, or nullptr after an error.
  template <typename RuleContext>
  RuleContext* Run(RuleContext* (Parser::*rule)());
  template <typename RuleContext>
  struct Declaration {
    RuleContext* context = nullptr;
    bool broken = false;
  };
  template <typename RuleContext>
  Declaration<RuleContext> RunDeclaration(RuleContext* (Parser::*rule)());
  bool ExpectBody(std::string_view expected, Name name);
  // Frees the contexts of the statement.
  void Release() { parser_.getTreeTracker().reset(); }

  // document_header.cpp
  void ChooseDialect(bool has_version, uint32_t offset);
  std::optional<Statement> FindLateVersion();
  void ParseVersion();
  void ReadVersion();
  void ReadWithoutVersion();
  bool ReportLateVersion();
  bool ReportWordBeforeVersion();
  void CheckVersion(Token number);
  void ParseExtension();
  void ParseFragment();
  void ParseGraph();
  llvm::ArrayRef<Assignment> ParseBody(std::string_view what, Name name, SourceRange& range);
  Assignment ParseAssignment();
  void ReportOrder(std::string_view what, std::string_view where);
  bool ReplaceKeyword(std::string_view keyword);
  void SkipTopLevel();
  void ReportMissingSemicolon(std::string_view what);
  // Reports a missing `;` in the ratified dialect, or a superfluous one in the provisional dialect.
  void ReportSemicolon(std::string_view what, const Rule& superfluous);
  SourceRange StatementRange() const;
  std::string Describe(Token token) const;
  bool AtKeyword(std::string_view word);

  Document& document_;
  const ParseOptions& options_;
  Context& context_;
  StatementReader reader_;
  AstBuilder builder_;
  Statement statement_;
  AntlrStream stream_;
  Parser parser_;
  std::shared_ptr<ErrorStrategy> errors_;
  bool is_last_broken_ = false;  // the last assignment could not be parsed
  bool skipped_text_ = false;    // text was skipped or unreadable, so a missing part may be in it
  // Offset of a version after other statements: `begin` of its first token.
  std::optional<uint32_t> late_version_;
  bool skips_silently_ = false;  // text outside declarations is skipped; already reported
};

template <typename RuleContext>
RuleContext* DocumentParser::Run(RuleContext* (Parser::*rule)()) {
  errors_->Begin(statement_, statement_.has_lexical_error);
  if (statement_.too_deep) return nullptr;
  stream_.Load(statement_);
  try {
    return (parser_.*rule)();
  } catch (const StatementAbandoned&) {
    return nullptr;
  }
}

}  // namespace nnefc::ast::parse

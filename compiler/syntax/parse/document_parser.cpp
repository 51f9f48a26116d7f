// The parser of documents: splits a text into statements and declarations, runs the grammar for each, and
// recovers from errors.

#include "compiler/syntax/parse/document_parser.h"

#include <algorithm>
#include <utility>

#include "compiler/support/diagnostics/suggest.h"
#include "compiler/syntax/parse/mistakes/other_formats.h"
#include "compiler/syntax/rules.h"
#include "fmt/core.h"

namespace nnefc::ast::parse {
namespace {

// The likelihood that a word was meant as a keyword.
enum class Meaning : uint8_t { kOther, kLikely, kCertain };

// Returns kCertain for the equivalents of `keyword` in other languages and for one typo, kLikely for other
// similar words.
Meaning MeaningOf(std::string_view word, std::string_view keyword) {
  constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
      {"def", "fragment"},         {"func", "fragment"},      {"function", "fragment"}, {"fn", "fragment"},
      {"op", "fragment"},          {"operation", "fragment"}, {"macro", "fragment"},    {"frag", "fragment"},
      {"network", "graph"},        {"net", "graph"},          {"model", "graph"},       {"module", "graph"},
      {"extensions", "extension"}, {"enable", "extension"},   {"using", "extension"},
  };
  for (const auto& [theirs, ours] : kForeign) {
    if (word == theirs) return keyword == ours ? Meaning::kCertain : Meaning::kOther;
  }
  Suggestion suggestion(word);
  for (const std::string_view known : {"version", "extension", "fragment", "graph"}) suggestion.Offer(known);
  if (suggestion.best() != keyword) return Meaning::kOther;
  return suggestion.is_typo() ? Meaning::kCertain : Meaning::kLikely;
}

}  // namespace

bool IsImport(std::string_view word) {
  return word == "import" || word == "from" || word == "include" || word == "using" || word == "require";
}

DocumentParser::DocumentParser(Document& document, const ParseOptions& options, Context& context)
    : document_(document),
      options_(options),
      context_(context),
      reader_(document, context),
      builder_(document, context),
      parser_(&stream_),
      errors_(std::make_shared<ErrorStrategy>(reader_, context)) {
  parser_.setBuildParseTree(false);
  parser_.removeErrorListeners();
  parser_.setErrorHandler(errors_);
}

SourceRange DocumentParser::StatementRange() const {
  return Cover(reader_.Range(statement_.tokens.front()), reader_.Range(statement_.tokens.back()));
}

std::string DocumentParser::Describe(Token token) const {
  if (token.kind == TokenKind::kEndOfText) return "the end of the text";
  const std::string_view text = reader_.Text(token);
  return fmt::format("`{}{}`", text.substr(0, 40), text.size() > 40 ? ".." : "");
}

bool DocumentParser::AtKeyword(std::string_view word) {
  const Token token = reader_.Peek();
  return token.kind == TokenKind::kIdentifier && reader_.Text(token) == word;
}

void DocumentParser::ReportMissingSemicolon(std::string_view what) {
  if (!document_.dialect.semicolons || statement_.has_semicolon()) return;
  const SourceRange end = reader_.Range(statement_.tokens.back());
  context_.emitter.Emit(kMissingSemicolon, end, "expected `;` after {}", what).Fix(end, ";");
}

void DocumentParser::ReportSemicolon(std::string_view what, const Rule& superfluous) {
  if (document_.dialect.semicolons == statement_.has_semicolon()) return;
  const SourceRange end = reader_.Range(statement_.tokens.back());
  auto report =
      document_.dialect.semicolons
          ? context_.emitter.Emit(kMissingSemicolon, end, "expected `;` after {}", what)
          : context_.emitter.Emit(superfluous, end, "`;` after {} belongs to the ratified dialect", what);
  report.Fix(end, document_.dialect.semicolons ? ";" : "");
  if (!document_.reading.empty()) report.Note(document_.version_range, "{}", document_.reading);
}

// ---- documents ----

void DocumentParser::ParseModel() {
  ParseVersion();
  while (!context_.emitter.exhausted()) {
    switch (reader_.Peek().kind) {
      case TokenKind::kFragment:
        ParseFragment();
        break;
      case TokenKind::kGraph:
        ParseGraph();
        break;
      case TokenKind::kEndOfText: {
        const bool wants_graph =
            options_.kind == DocumentKind::kModel && document_.graphs.empty() && !skipped_text_;
        if (wants_graph) {
          context_.emitter.Emit(kMissingGraph, reader_.Range(reader_.Peek()), "the document has no graph");
        }
        return;
      }
      default:
        if (AtKeyword("version") && reader_.Peek().begin == late_version_) {
          reader_.ReadVersion(statement_);  // reported
        } else if (AtKeyword("extension") || ReplaceKeyword("extension")) {
          ParseExtension();
        } else if (!ReplaceKeyword("fragment") && !ReplaceKeyword("graph")) {
          SkipTopLevel();
        }
    }
  }
}

void DocumentParser::ReportOrder(std::string_view what, std::string_view where) {
  context_.emitter.Emit(kDocumentOrder, reader_.Range(reader_.Peek()), "{} must stand before {}", what,
                        where);
}

// Reports a misspelt or foreign word for `keyword` at the current position and continues as if it were
// correct. Returns true if there was one.
bool DocumentParser::ReplaceKeyword(std::string_view keyword) {
  const Token token = reader_.Peek();
  if (token.kind != TokenKind::kIdentifier) return false;
  const TokenKind second = reader_.PeekSecond().kind;
  const bool fits =
      keyword == "version" ? second == TokenKind::kNumericLiteral : second == TokenKind::kIdentifier;
  const Meaning meaning = MeaningOf(reader_.Text(token), keyword);
  if (!fits || meaning == Meaning::kOther) return false;
  {
    auto report = context_.emitter.Emit(kUnexpectedToken, reader_.Range(token), "expected `{}`, found {}",
                                        keyword, Describe(token));
    if (meaning == Meaning::kCertain) report.Fix(reader_.Range(token), std::string(keyword));
  }
  if (keyword == "fragment") reader_.Retype(TokenKind::kFragment);
  if (keyword == "graph") reader_.Retype(TokenKind::kGraph);
  return true;
}

// Reports and skips text outside declarations, up to the next declaration.
void DocumentParser::SkipTopLevel() {
  skipped_text_ = true;
  const Token first = reader_.Peek();
  if (!document_.graphs.empty()) {
    auto report =
        context_.emitter.Emit(kTrailingText, reader_.Range(first),
                              "expected the end of the text after the graph, found {}", Describe(first));
    const bool is_closing = first.kind == TokenKind::kRightBrace || first.kind == TokenKind::kSemicolon;
    if (reader_.PeekSecond().kind == TokenKind::kEndOfText)
      report.Fix(reader_.Range(first), "", is_closing ? Applicability::kSafe : Applicability::kUnsafe);
  } else if (!std::exchange(skips_silently_, false)) {
    auto report = context_.emitter.Emit(kUnexpectedToken, reader_.Range(first),
                                        "expected `fragment` or `graph`, found {}{}", Describe(first),
                                        IsImport(reader_.Text(first)) ? "; a document stands alone" : "");
    if (IsImport(reader_.Text(first))) report.Fix(reader_.LineOf(first), "");
  }
  do {
    reader_.Take();
    const TokenKind kind = reader_.Peek().kind;
    if (kind == TokenKind::kEndOfText || kind == TokenKind::kFragment || kind == TokenKind::kGraph) return;
  } while (!AtKeyword("extension"));
}

// ---- extensions ----

void DocumentParser::ParseExtension() {
  if (!document_.graphs.empty()) {
    ReportOrder("extensions", "the graph");
  } else if (!document_.fragments.empty()) {
    ReportOrder("extensions", "fragments");
  }
  reader_.ReadExtension(statement_);
  if (const auto* extension = Run(&Parser::extension)) {
    document_.extensions.push_back(builder_.BuildExtension(*extension));
    ReportMissingSemicolon("the extension");
  }
  Release();
}

// ---- fragments and graphs ----

// Parses a declaration with `rule`. If it is broken, the context has the part before the error, or is
// nullptr.
template <typename RuleContext>
DocumentParser::Declaration<RuleContext> DocumentParser::RunDeclaration(RuleContext* (Parser::*rule)()) {
  reader_.ReadDeclaration(statement_);
  Declaration<RuleContext> declaration;
  declaration.context = Run(rule);
  declaration.broken = declaration.context == nullptr;
  if (!declaration.broken) return declaration;
  skipped_text_ = true;
  declaration.context = static_cast<RuleContext*>(errors_->abandoned_root());
  return declaration;
}

// Returns true if `{`, or `;` where allowed, follows the declaration; reports an error otherwise.
bool DocumentParser::ExpectBody(std::string_view expected, Name name) {
  Token found = Unwrap(stream_.LT(1));
  if (found.kind == TokenKind::kStatementEnd) {
    found = reader_.Peek();
    if (found.kind == TokenKind::kLeftBrace) return true;
    if (found.kind == TokenKind::kSemicolon && expected.find(';') != std::string_view::npos) return true;
  }
  if (!statement_.has_lexical_error) {
    auto report = context_.emitter.Emit(kUnexpectedToken, reader_.Range(found),
                                        "expected {} after the declaration of `{}`, found {}", expected,
                                        context_.symbols.Text(name.symbol), Describe(found));
    const bool is_alone =
        reader_.Peek().kind == TokenKind::kLeftBrace && found.end == statement_.tokens.back().end;
    if (found.kind == TokenKind::kColon && is_alone) report.Fix(reader_.Range(found), "");
  }
  skipped_text_ = true;
  return false;
}

void DocumentParser::ParseFragment() {
  if (!document_.graphs.empty()) ReportOrder("fragments", "the graph");
  const auto declaration = RunDeclaration(&Parser::fragmentDeclaration);
  Fragment fragment;
  fragment.keyword_range = reader_.Range(statement_.tokens.front());
  fragment.range = StatementRange();
  fragment.has_error = true;
  if (declaration.context != nullptr)
    fragment = builder_.BuildFragment(*declaration.context, declaration.broken);
  if (!declaration.broken && !ExpectBody("`{` or `;`", fragment.name)) fragment.has_error = true;
  Release();
  const Token next = reader_.Peek();
  if (next.kind == TokenKind::kSemicolon) fragment.semicolon_range = reader_.Range(reader_.Take());
  fragment.has_body = next.kind == TokenKind::kLeftBrace;
  if (fragment.semicolon_range.valid()) fragment.range.end = fragment.semicolon_range.end;
  if (fragment.has_body) {
    const std::string_view name =
        fragment.name.symbol.valid() ? context_.symbols.Text(fragment.name.symbol) : "";
    builder_.ReadProperties(name == "tract_core_properties");
    fragment.body = ParseBody("fragment", fragment.name, fragment.body_range);
    builder_.ReadProperties(false);
    fragment.range.end = fragment.body_range.end;
  }
  document_.fragments.Add(fragment);
}

void DocumentParser::ParseGraph() {
  if (options_.kind == DocumentKind::kLibrary) {
    context_.emitter.Emit(kDocumentOrder, reader_.Range(reader_.Peek()), "a library has no graph");
  }
  const auto declaration = RunDeclaration(&Parser::graphDeclaration);
  Graph graph;
  graph.keyword_range = reader_.Range(statement_.tokens.front());
  graph.range = StatementRange();
  graph.has_error = true;
  if (declaration.context != nullptr) graph = builder_.BuildGraph(*declaration.context, declaration.broken);
  if (!declaration.broken && !ExpectBody("`{`", graph.name)) graph.has_error = true;
  Release();
  if (reader_.Peek().kind == TokenKind::kSemicolon) reader_.Take();
  if (reader_.Peek().kind == TokenKind::kLeftBrace) {
    graph.body = ParseBody("graph", graph.name, graph.body_range);
    graph.range.end = graph.body_range.end;
  }
  document_.graphs.push_back(graph);
}

// Parses a body from `{` to `}` and stores its range in `range`.
llvm::ArrayRef<Assignment> DocumentParser::ParseBody(std::string_view what, Name name, SourceRange& range) {
  const Token open = reader_.Take();
  range = reader_.Range(open);
  std::vector<Assignment> body;
  const std::string title = name.range.valid()
                                ? fmt::format("the {} `{}`", what, context_.symbols.Text(name.symbol))
                                : fmt::format("the {}", what);
  bool any = false;
  while (!context_.emitter.exhausted()) {
    const Token token = reader_.Peek();
    switch (token.kind) {
      case TokenKind::kRightBrace:
        range.end = token.end;
        reader_.Take();
        if (!any) {
          context_.emitter.Emit(kEmptyBody, Cover(reader_.Range(open), reader_.Range(token)),
                                "expected at least one assignment in the body of {}", title);
        }
        return document_.Keep(llvm::ArrayRef<Assignment>(body));
      case TokenKind::kEndOfText:
      case TokenKind::kFragment:
      case TokenKind::kGraph:
        range.end = token.begin;
        // Report the end of the text only once.
        if (token.kind == TokenKind::kEndOfText) {
          skipped_text_ = true;
          if (any && is_last_broken_) return document_.Keep(llvm::ArrayRef<Assignment>(body));
        }
        {
          auto report = context_.emitter.Emit(kUnclosedBody, reader_.Range(token),
                                              "expected `}}` to close the body of {}, found {}", title,
                                              Describe(token));
          report.Note(reader_.Range(open), "opened here");
          const SourceRange at = {document_.file, token.begin, token.begin};
          const bool on_own_line = token.kind != TokenKind::kEndOfText || reader_.EndsWithLine();
          const bool is_indented = token.kind != TokenKind::kEndOfText && !reader_.BeginsLine(token);
          if (any && !is_indented) report.Fix(at, on_own_line ? "}\n" : "\n}\n");
        }
        return document_.Keep(llvm::ArrayRef<Assignment>(body));
      case TokenKind::kSemicolon:
        context_.emitter
            .Emit(kUnexpectedToken, reader_.Range(token), "expected an assignment, found {}{}",
                  Describe(token), any ? "; one `;` ends an assignment" : "")
            .Fix(reader_.Range(token), "");
        reader_.Take();
        break;
      case TokenKind::kLeftBrace:
        context_.emitter.Emit(kUnexpectedToken, reader_.Range(token), "expected an assignment, found {}",
                              Describe(token));
        reader_.Take();
        break;
      default:
        body.push_back(ParseAssignment());
    }
    any = true;
  }
  return document_.Keep(llvm::ArrayRef<Assignment>(body));
}

Assignment DocumentParser::ParseAssignment() {
  reader_.ReadAssignment(statement_);
  if (!options_.by_grammar_alone && !statement_.has_lexical_error && !statement_.too_deep) {
    if (const std::optional<Assignment> flat = builder_.BuildFlat(statement_.tokens)) {
      is_last_broken_ = false;
      ReportMissingSemicolon("the assignment");
      return *flat;
    }
  }
  const auto* context = Run(&Parser::assignment);
  is_last_broken_ = context == nullptr || statement_.has_lexical_error;
  Assignment assignment;
  if (context != nullptr) {
    assignment = builder_.BuildAssignment(*context);
    if (!statement_.has_lexical_error) ReportMissingSemicolon("the assignment");
  } else {
    const auto* root = statement_.too_deep ? nullptr : errors_->abandoned_root();
    const bool is_name = statement_.tokens.size() == 2 && statement_.tokens[0].kind == TokenKind::kIdentifier;
    assignment = builder_.BuildBrokenAssignment(static_cast<const Parser::AssignmentContext*>(root),
                                                StatementRange(), is_name);
    assignment.has_semicolon = statement_.has_semicolon();
  }
  Release();
  return assignment;
}

// ---- quantization files ----

void DocumentParser::ParseQuantization() {
  bool first = !options_.dialect.has_value();
  if (options_.dialect) document_.dialect = *options_.dialect;
  while (reader_.Peek().kind != TokenKind::kEndOfText && !context_.emitter.exhausted()) {
    reader_.ReadQuantization(statement_);
    // Detected from the first entry: only the ratified dialect ends it with `;`.
    if (first && !statement_.has_semicolon()) document_.dialect = Dialect::kProvisional;
    first = false;
    if (const auto* entry = Run(&Parser::quantization)) {
      document_.quantizations.push_back(builder_.BuildQuantization(*entry));
      ReportSemicolon("the quantization", kQuantizationSemicolon);
    }
    Release();
  }
}

}  // namespace nnefc::ast::parse

namespace nnefc::ast {
namespace {

// Reports a binary file, recognized by its beginning: one error instead of one per run of bytes.
bool ReportBinary(FileId file, Context& context) {
  const std::string_view start = context.sources.Text(file).substr(0, 1024);
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < '\t' || (byte > '\r' && byte < ' ') || byte == 0x7F;
  };
  constexpr ptrdiff_t kFewest = 8, kOneIn = 16;
  const ptrdiff_t controls = std::count_if(start.begin(), start.end(), is_control);
  if (controls < kFewest || controls * kOneIn < static_cast<ptrdiff_t>(start.size())) return false;
  const bool is_utf16 = start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF");
  const std::string_view kind = start.starts_with("\x4E\xEF") ? "this is a tensor file"
                                : is_utf16                    ? "the text is in UTF-16"
                                                              : "this file is in a binary format";
  const auto at = static_cast<uint32_t>(std::find_if(start.begin(), start.end(), is_control) - start.begin());
  context.emitter.Emit(kInvalidCharacter, {file, at, at}, "{}; expected an NNEF document, a text in ASCII",
                       kind);
  return true;
}

// Reports a text in another format as one error.
bool ReportOtherFormat(FileId file, Context& context) {
  const auto format = parse::FindOtherFormat(context.sources.Text(file));
  if (!format) return false;
  context.emitter.Emit(kOtherFormat, {file, format->offset, format->offset + 1}, "{}", format->message);
  return true;
}

}  // namespace

std::unique_ptr<Document> ParseDocument(FileId file, const ParseOptions& options, Context& context) {
  auto document = std::make_unique<Document>();
  document->file = file;
  if (options.dialect) document->dialect = *options.dialect;  // also for a text that is not parsed
  // About nine bytes of a network become one expression. Reserve, because growing a list of a million of them
  // by copying costs more than parsing some.
  constexpr size_t kBytesPerExpr = 8;
  constexpr size_t kMaxReserved = size_t{1} << 22;
  document->exprs.reserve(std::min(context.sources.Text(file).size() / kBytesPerExpr, kMaxReserved));
  Context own(context, context.emitter.room());
  const bool is_model = options.kind == DocumentKind::kModel;
  if (!ReportBinary(file, own) && !(is_model && ReportOtherFormat(file, own))) {
    parse::DocumentParser parser(*document, options, own);
    if (options.kind == DocumentKind::kQuantization) {
      parser.ParseQuantization();
    } else {
      parser.ParseModel();
    }
  }
  document->complete = !own.emitter.has_errors();
  context.emitter.Take(std::move(own.emitter));
  return document;
}

}  // namespace nnefc::ast

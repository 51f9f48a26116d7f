// Parses a document's version and chooses its dialect.

#include <algorithm>
#include <charconv>

#include "compiler/syntax/parse/document_parser.h"
#include "compiler/syntax/parse/mistakes/dialect_marks.h"
#include "compiler/syntax/rules.h"
#include "fmt/core.h"

namespace nnefc::ast::parse {
namespace {

// Maximum number of bytes that are searched for a version after the start.
constexpr uint32_t kMaxHeader = 64U << 10;

}  // namespace

// Chooses the dialect by the marks of both dialects in the text from `offset` on.
void DocumentParser::ChooseDialect(bool has_version, uint32_t offset) {
  if (options_.dialect) {
    document_.dialect = *options_.dialect;
    return;
  }
  DialectMarks marks(context_.sources.Text(document_.file), offset);
  const Token first = statement_.tokens.front();
  if (has_version) marks.AddVersion(statement_.has_semicolon(), first.begin);
  const bool is_ratified = marks.IsRatified();
  document_.dialect = is_ratified ? Dialect::kRatified : Dialect::kProvisional;
  if (marks.agree() || options_.kind != DocumentKind::kModel) return;
  const Dialect& other = Other(document_.dialect);
  document_.reading = fmt::format("read as {} because of {}; `--dialect {}` reads it otherwise",
                                  document_.dialect.title, marks.Text(is_ratified), other.name);
  if (marks.is_clear()) return;
  document_.reading.clear();
  context_.emitter.Emit(kMixedDialects, {document_.file, first.begin, first.end},
                        "the document mixes both dialects: read as {} because of {}; the {} dialect has {}; "
                        "`--dialect {}` reads it otherwise",
                        document_.dialect.title, marks.Text(is_ratified), other.name,
                        marks.Text(!is_ratified), other.name);
}

void DocumentParser::ParseVersion() {
  if (!AtKeyword("version") && !ReportWordBeforeVersion() && !ReplaceKeyword("version")) {
    if (!ReportLateVersion()) ReadWithoutVersion();
    return;
  }
  ReadVersion();
}

void DocumentParser::ReadVersion() {
  reader_.ReadVersion(statement_);
  ChooseDialect(true, statement_.next.begin);
  document_.version_range = StatementRange();
  if (const auto* version = Run(&Parser::version)) {
    document_.has_version = true;
    CheckVersion(Unwrap(version->number));
    ReportSemicolon("the version", kVersionSemicolon);
  }
  Release();
}

// Handles `NNEF version 1.0;`: reports and skips a word before the version; returns true if there was one.
bool DocumentParser::ReportWordBeforeVersion() {
  const Token word = reader_.Peek();
  const Token keyword = reader_.PeekSecond();
  if (word.kind != TokenKind::kIdentifier || keyword.kind != TokenKind::kIdentifier) return false;
  if (reader_.Text(keyword) != "version" || reader_.OnLaterLine(word, keyword)) return false;
  context_.emitter
      .Emit(kUnexpectedToken, reader_.Range(word), "a document begins with `version`; remove `{}`",
            reader_.Text(word))
      .Fix({document_.file, word.begin, keyword.begin}, "");
  reader_.Take();
  return true;
}

// Returns the version of a document that starts with another statement; nothing if no line before the first
// declaration begins with `version` and a number.
std::optional<Statement> DocumentParser::FindLateVersion() {
  const std::string_view text = context_.sources.Text(document_.file);
  const uint32_t begin = reader_.Peek().begin;
  Scanner scanner(text, begin);
  Token before;
  for (Token token = scanner.Next(); token.begin < begin + kMaxHeader;
       before = token, token = scanner.Next()) {
    if (token.kind == TokenKind::kEndOfText || token.kind == TokenKind::kFragment ||
        token.kind == TokenKind::kGraph) {
      return std::nullopt;
    }
    const bool begins_line = before.end == 0 || reader_.OnLaterLine(before, token);
    if (token.kind != TokenKind::kIdentifier || reader_.Text(token) != "version" || !begins_line) continue;
    Scanner behind = scanner;
    const Token number = behind.Next();
    if (number.kind != TokenKind::kNumericLiteral) continue;
    const Token end = behind.Next();
    Statement version;
    version.tokens = {token, number};
    version.tokens.push_back(
        end.kind == TokenKind::kSemicolon ? end : Token{TokenKind::kStatementEnd, number.end, number.end});
    return version;
  }
  return std::nullopt;
}

// Reports a version after other statements, if there is one. Extensions before it are read after it; other
// text is skipped.
bool DocumentParser::ReportLateVersion() {
  const std::optional<Statement> version = FindLateVersion();
  if (!version) return false;
  const Token first = reader_.Peek();
  const Token keyword = version->tokens.front();
  if (!AtKeyword("extension")) {
    {
      auto report = context_.emitter.Emit(kUnexpectedToken, reader_.Range(first),
                                          "a document begins with its version, found {}", Describe(first));
      if (IsImport(reader_.Text(first))) {
        report.Fix({document_.file, first.begin, std::min(reader_.LineOf(first).end + 1, keyword.begin)}, "");
      }
    }
    while (reader_.Peek().begin < keyword.begin && reader_.Peek().kind != TokenKind::kEndOfText)
      reader_.Take();
    ReadVersion();
    return true;
  }
  const SourceRange range = Cover(reader_.Range(keyword), reader_.Range(version->tokens.back()));
  statement_ = *version;
  ChooseDialect(true, first.begin);
  document_.has_version = true;
  document_.version_range = range;
  late_version_ = keyword.begin;
  const std::string_view text = context_.sources.Text(document_.file);
  const std::string_view written = text.substr(range.begin, range.end - range.begin);
  auto report =
      context_.emitter.Emit(kDocumentOrder, reader_.Range(keyword),
                            "the version must be the first statement; move `{}` to the start", written);
  // Remove its line, too, if that becomes empty.
  const size_t line_end = std::min(text.find('\n', range.end), text.size());
  const bool is_alone =
      text.substr(range.end, line_end - range.end).find_first_not_of(" \t\r") == std::string_view::npos;
  const auto end = static_cast<uint32_t>(is_alone ? std::min(line_end + 1, text.size()) : range.end);
  report.Fix({document_.file, first.begin, first.begin}, fmt::format("{}\n", written));
  report.Fix({document_.file, range.begin, end}, "");
  return true;
}

// Reports a missing version, with a fix-it if the text otherwise begins like a document. If it does not, text
// is skipped without further reports.
void DocumentParser::ReadWithoutVersion() {
  const Token first = reader_.Peek();
  statement_.next = first;
  statement_.tokens.assign(1, {TokenKind::kStatementEnd, first.begin, first.begin});
  ChooseDialect(false, first.begin);
  const SourceRange at{document_.file, first.begin, first.begin};
  const bool is_document =
      first.kind == TokenKind::kFragment || first.kind == TokenKind::kGraph || AtKeyword("extension");
  if (first.kind == TokenKind::kEndOfText) {
    skipped_text_ = true;
    context_.emitter.Emit(kMissingVersion, at, "the document is empty; expected `version 1.0;` and a graph");
    return;
  }
  auto report = context_.emitter.Emit(
      kMissingVersion, at, "expected `version 1.0` at the start of the document, found {}", Describe(first));
  if (is_document) report.Fix(at, document_.dialect.semicolons ? "version 1.0;\n" : "version 1.0\n");
  skips_silently_ = !is_document;
}

void DocumentParser::CheckVersion(Token number) {
  const std::string_view text = reader_.Text(number);
  const char* end = text.data() + text.size();
  std::from_chars(text.data(), end, document_.version_major);
  const size_t point = text.find('.');
  if (point != std::string_view::npos) std::from_chars(text.data() + point + 1, end, document_.version_minor);
  // The point of `1.` was reported, with a fix that adds a digit.
  const bool lacks_digit = context_.sources.Text(document_.file).substr(number.end).starts_with('.');
  if (text == "1.0" || (text == "1" && lacks_digit)) return;
  auto report = context_.emitter.Emit(kUnsupportedVersion, reader_.Range(number),
                                      "version `{}` is not supported; expected `1.0`", text.substr(0, 40));
  // The meaning of later versions is unknown.
  if (text.starts_with('1') && !lacks_digit)
    report.Fix(reader_.Range(number), "1.0", text == "1" ? Applicability::kSafe : Applicability::kUnsafe);
}

}  // namespace nnefc::ast::parse

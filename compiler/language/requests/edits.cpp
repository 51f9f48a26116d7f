// Edits of a document: formatting of all or a part of it, and application of all fixes.

#include <algorithm>

#include "compiler/driver/fix.h"
#include "compiler/language/code_text.h"
#include "compiler/language/queries.h"
#include "compiler/lint/lint_model.h"
#include "compiler/support/text/text_diff.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"

namespace nnefc::language {
namespace {

constexpr std::string_view kIndentation = "    ";

// The lines of a text that is open in a source manager.
class TextLines {
 public:
  TextLines(const SourceManager& sources, FileId file, PositionEncoding encoding)
      : sources_(sources), file_(file), encoding_(encoding) {}

  // Returns the 0-based line of an offset.
  size_t LineOf(uint32_t offset) const {
    const auto size = static_cast<uint32_t>(sources_.Text(file_).size());
    return static_cast<size_t>(sources_.Position({file_, std::min(offset, size)}).line) - 1;
  }
  uint32_t StartOf(size_t line) const {
    const auto size = static_cast<uint32_t>(sources_.Text(file_).size());
    return line <= LineOf(size) ? sources_.LineStart(file_, static_cast<int>(line) + 1) : size;
  }
  TextEdit ToEdit(const LineEdit& edit) const {
    return {RangeOf(StartOf(edit.begin), StartOf(edit.end)), edit.text};
  }
  TextRange RangeOf(uint32_t begin, uint32_t end) const {
    return {begin, end, PositionAt(sources_, file_, begin, encoding_),
            PositionAt(sources_, file_, end, encoding_)};
  }

 private:
  const SourceManager& sources_;
  FileId file_;
  PositionEncoding encoding_;
};

TextLines LinesOf(const Analysis& analysis) {
  return {analysis.context().sources, analysis.file(), analysis.options().encoding};
}

// Returns the formatted text; nothing if it has syntax errors, or if its formatted form would be parsed
// differently.
std::optional<std::string> Format(std::string_view text, const ast::ParseOptions& options,
                                  const Limits& limits) {
  Context context;
  context.limits = limits;
  const auto document =
      ast::ParseDocument(context.sources.AddText("document", std::string(text)), options, context);
  if (!document->complete) return std::nullopt;
  std::string formatted = ast::PrintDocument(*document, context);
  const auto again = ast::ParseDocument(context.sources.AddText("formatted", formatted), options, context);
  if (!again->complete || again->exprs.size() != document->exprs.size()) return std::nullopt;
  return formatted;
}

// Divides each edit that does not change the number of lines into edits of single lines.
std::vector<LineEdit> ByLine(const std::vector<LineEdit>& edits) {
  std::vector<LineEdit> divided;
  for (const LineEdit& edit : edits) {
    const auto lines = static_cast<size_t>(std::ranges::count(edit.text, '\n'));
    if (lines != edit.end - edit.begin || !edit.text.ends_with('\n')) {
      divided.push_back(edit);
      continue;
    }
    std::string_view rest = edit.text;
    for (size_t line = edit.begin; line < edit.end; ++line) {
      const size_t length = rest.find('\n') + 1;
      divided.push_back({line, line + 1, std::string(rest.substr(0, length))});
      rest.remove_prefix(length);
    }
  }
  return divided;
}

std::optional<std::vector<LineEdit>> FormattingOf(const Analysis& analysis) {
  const ast::ParseOptions options{.dialect = analysis.options().dialect};
  const std::optional<std::string> formatted = Format(analysis.text(), options, analysis.options().limits);
  if (!formatted) return std::nullopt;
  return ByLine(LineEdits(analysis.text(), *formatted));
}

// Returns the edits that touch the lines [first, last].
std::vector<TextEdit> Within(const TextLines& lines, const std::vector<LineEdit>& edits, size_t first,
                             size_t last) {
  std::vector<TextEdit> within;
  for (const LineEdit& edit : edits) {
    const size_t last_changed = std::max(edit.end, edit.begin + 1) - 1;
    if (edit.begin <= last && last_changed >= first) within.push_back(lines.ToEdit(edit));
  }
  return within;
}

// Returns the range of the assignment that covers an offset.
std::optional<SourceRange> StatementAt(const ast::Document& document, uint32_t offset) {
  auto find = [&](llvm::ArrayRef<ast::Assignment> body) -> std::optional<SourceRange> {
    for (const ast::Assignment& assignment : body) {
      if (assignment.range.begin <= offset && offset < assignment.range.end) return assignment.range;
    }
    return std::nullopt;
  };
  for (const ast::Fragment& fragment : document.fragments) {
    if (auto found = find(fragment.body)) return found;
  }
  for (const ast::Graph& graph : document.graphs) {
    if (auto found = find(graph.body)) return found;
  }
  return std::nullopt;
}

// Returns the number of indentation steps of a line that begins after `code`.
size_t DepthAfter(std::string_view code) {
  size_t closed = 0;
  size_t depth = 0;
  for (size_t i = code.size(); i > 0; --i) {
    const char c = code[i - 1];
    if (c == ')' || c == ']' || c == '}') ++closed;
    if (c != '(' && c != '[' && c != '{') continue;
    if (closed > 0) {
      --closed;
    } else {
      ++depth;
      if (c == '{') break;
    }
  }
  return std::min<size_t>(depth, 2);
}

}  // namespace

std::optional<std::vector<TextEdit>> FormatDocument(const Analysis& analysis) {
  return FormatRange(analysis, 0, static_cast<uint32_t>(analysis.text().size()));
}

std::optional<std::vector<TextEdit>> FormatRange(const Analysis& analysis, uint32_t begin, uint32_t end) {
  const std::optional<std::vector<LineEdit>> edits = FormattingOf(analysis);
  if (!edits) return std::nullopt;
  const TextLines lines = LinesOf(analysis);
  return Within(lines, *edits, lines.LineOf(begin), lines.LineOf(end));
}

std::vector<TextEdit> FormatTyped(const Analysis& analysis, uint32_t offset, char typed) {
  const std::string_view text = analysis.text();
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  if (typed != '\n') {
    const uint32_t last = offset > 0 ? offset - 1 : 0;
    const std::optional<SourceRange> statement = StatementAt(analysis.ast(), last);
    return FormatRange(analysis, statement ? statement->begin : last, last).value_or(std::vector<TextEdit>());
  }
  const TextLines lines = LinesOf(analysis);
  const uint32_t start = lines.StartOf(lines.LineOf(offset));
  const Code code = CodeBefore(text, start);
  const size_t content = std::min(text.find_first_not_of(" \t", start), text.size());
  const bool closes = content < text.size() && text[content] == '}';
  std::string indentation;
  for (size_t i = closes ? 1 : 0; i < DepthAfter(code.text); ++i) indentation += kIndentation;
  if (text.substr(start, content - start) == indentation) return {};
  return {{lines.RangeOf(start, static_cast<uint32_t>(content)), indentation}};
}

std::optional<std::vector<TextEdit>> FormatQuantization(std::string_view text, PositionEncoding encoding,
                                                        const Limits& limits) {
  const ast::ParseOptions options{.dialect = ast::Dialect::kRatified,
                                  .kind = ast::DocumentKind::kQuantization};
  const std::optional<std::string> formatted = Format(text, options, limits);
  if (!formatted) return std::nullopt;
  SourceManager sources;
  const TextLines lines(sources, sources.AddText("graph.quant", std::string(text)), encoding);
  return Within(lines, LineEdits(text, *formatted), 0, SIZE_MAX);
}

std::vector<TextEdit> FixAll(const Analysis& analysis) {
  const AnalysisOptions& options = analysis.options();
  const driver::FixReport report =
      driver::FixModel(analysis.uri(),
                       {.dialect = options.dialect,
                        .purpose = expand::Purpose::kValidate,
                        .document = std::string(analysis.text()),
                        .quantization = options.quantization,
                        .limits = options.limits},
                       Applicability::kSafe, [&](driver::Compilation& compilation) {
                         if (options.lint != nullptr) lint::LintModel(compilation, *options.lint);
                       });
  const auto change = report.changes.find(analysis.uri());
  if (change == report.changes.end()) return {};
  return Within(LinesOf(analysis), LineEdits(analysis.text(), change->second.after), 0, SIZE_MAX);
}

}  // namespace nnefc::language

// Diagnostics as workflow commands of GitHub Actions.

#include "compiler/support/diagnostics/render_github.h"

#include "fmt/core.h"

namespace nnefc {
namespace {

// Escapes characters that would end a message or, with `is_property`, a property value.
std::string Escaped(std::string_view text, bool is_property) {
  std::string escaped;
  for (char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
    escaped += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return escaped;
}

// Returns the name of the workflow command.
std::string_view CommandOf(Severity severity) {
  return severity == Severity::kError ? "error" : severity == Severity::kWarning ? "warning" : "notice";
}

// Returns the properties of a command, "file=net.nnef,line=4,endLine=4,col=9,endColumn=13,": only the file if
// it is binary, and columns only if the range is within one line, because GitHub accepts them only then.
std::string Properties(SourceRange range, const SourceManager& sources) {
  if (!range.valid()) return "";
  std::string text = fmt::format("file={},", Escaped(sources.Name(range.file), /*is_property=*/true));
  if (sources.Kind(range.file) != FileKind::kText) return text;
  const LineColumn begin = sources.Position(range.start());
  const LineColumn end = sources.Position({range.file, range.end});
  text += fmt::format("line={},endLine={},", begin.line, end.line);
  if (begin.line == end.line) text += fmt::format("col={},endColumn={},", begin.column, end.column);
  return text;
}

// Returns the start of a range in parentheses, " (net.nnef:3:5)", only the file's name if it is binary, or ""
// for an invalid range.
std::string LocationText(SourceRange range, const SourceManager& sources) {
  if (!range.valid()) return "";
  if (sources.Kind(range.file) != FileKind::kText) return fmt::format(" ({})", sources.Name(range.file));
  const LineColumn at = sources.Position(range.start());
  return fmt::format(" ({}:{}:{})", sources.Name(range.file), at.line, at.column);
}

}  // namespace

std::string RenderGithub(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) {
    std::string message = diagnostic.message;
    if (diagnostic.range.valid() && sources.Kind(diagnostic.range.file) == FileKind::kBinary)
      message = fmt::format("at byte {}: {}", diagnostic.range.begin, message);
    for (const FixIt& fix : diagnostic.fixes) {
      message += fix.text.empty() ? fmt::format("\nfix: remove this{}", LocationText(fix.range, sources))
                                  : fmt::format("\nfix: `{}`{}", fix.text, LocationText(fix.range, sources));
    }
    for (const DiagnosticNote& note : diagnostic.notes)
      message += fmt::format("\nnote: {}{}", note.message, LocationText(note.range, sources));
    out += fmt::format(
        "::{} {}title={}::{}\n", CommandOf(diagnostic.severity), Properties(diagnostic.range, sources),
        Escaped(diagnostic.rule->label, /*is_property=*/true), Escaped(message, /*is_property=*/false));
  }
  return out;
}

}  // namespace nnefc

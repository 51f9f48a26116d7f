#include <algorithm>

#include "compiler/support/severity_name.h"
#include "fmt/color.h"

namespace nnefc {
namespace {

constexpr size_t kMaxExcerpt = 160;  // bytes of a source line that are shown

fmt::color ColorOf(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return fmt::color::crimson;
    case Severity::kWarning:
      return fmt::color::orange;
    case Severity::kNote:
      return fmt::color::steel_blue;
  }
  return fmt::color::white;
}

// Bytes that would confuse a terminal are shown as `.`; UTF-8 passes.
std::string Printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    auto byte = static_cast<unsigned char>(c);
    if (byte == '\t')
      c = ' ';
    else if (byte < 0x20 || byte == 0x7f)
      c = '.';
  }
  return result;
}

class TextRenderer {
 public:
  TextRenderer(const SourceManager& sources, const RenderOptions& options)
      : sources_(sources), options_(options) {}

  void Message(Severity severity, SourceRange range, std::string_view message, std::string_view label) {
    std::string place = Place(range);
    std::string kind = fmt::format("{}: ", SeverityName(severity));
    if (options_.color) {
      kind = fmt::format(fmt::fg(ColorOf(severity)) | fmt::emphasis::bold, "{}", kind);
      place = fmt::format(fmt::emphasis::bold, "{}", place);
    }
    out_ += place + kind + std::string(message);
    if (!label.empty()) out_ += fmt::format(" [{}]", label);
    out_ += '\n';
    if (options_.excerpts) Excerpt(severity, range);
  }

  std::string Take() { return std::move(out_); }

  // "FILE:LINE:COL: ", or what the file's kind can tell; a binary file's
  // place goes behind the severity.
  std::string Place(SourceRange range) const {
    if (!range.valid()) return "nnefc: ";
    if (sources_.Kind(range.file) != FileKind::kText) return fmt::format("{}: ", sources_.Name(range.file));
    LineColumn at = sources_.Position(range.start());
    return fmt::format("{}:{}:{}: ", sources_.Name(range.file), at.line, at.column);
  }

 private:
  void Excerpt(Severity severity, SourceRange range) {
    if (!range.valid() || sources_.Kind(range.file) != FileKind::kText) return;
    LineColumn at = sources_.Position(range.start());
    std::string_view line = sources_.Line(range.file, at.line);
    auto column = static_cast<size_t>(at.column) - 1;
    if (column > line.size()) return;
    // A long line is shown around the place.
    size_t skipped = column > kMaxExcerpt / 2 ? column - kMaxExcerpt / 2 : 0;
    if (line.size() <= kMaxExcerpt) skipped = 0;
    std::string shown = Printable(line.substr(skipped, kMaxExcerpt));
    size_t width = range.end > range.begin ? range.end - range.begin : 1;
    width = std::max<size_t>(
        1, std::min(width, shown.size() > column - skipped ? shown.size() - (column - skipped) : 1));
    std::string gutter = fmt::format("{:>5} | ", at.line);
    std::string mark = "^" + std::string(width - 1, '~');
    if (options_.color) mark = fmt::format(fmt::fg(ColorOf(severity)) | fmt::emphasis::bold, "{}", mark);
    out_ += gutter + shown + '\n';
    out_ += std::string(gutter.size() - 2, ' ') + "| " + std::string(column - skipped, ' ') + mark + '\n';
  }

  const SourceManager& sources_;
  const RenderOptions& options_;
  std::string out_;
};

}  // namespace

std::string RenderText(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                       const RenderOptions& options) {
  TextRenderer renderer(sources, options);
  for (const Diagnostic& diagnostic : diagnostics) {
    std::string message = diagnostic.message;
    if (diagnostic.range.valid() && sources.Kind(diagnostic.range.file) == FileKind::kBinary) {
      message = fmt::format("at byte {}: {}", diagnostic.range.begin, message);
    }
    renderer.Message(diagnostic.severity, diagnostic.range, message, diagnostic.rule->label);
    for (const FixIt& fix : diagnostic.fixes) {
      // A line of its own is told without its line ends.
      std::string_view lines = fix.text;
      while (!lines.empty() && lines.front() == '\n') lines.remove_prefix(1);
      while (!lines.empty() && lines.back() == '\n') lines.remove_suffix(1);
      std::string text(lines);
      std::replace(text.begin(), text.end(), '\n', ' ');
      std::string what = fix.text.empty()                   ? "remove this"
                         : fix.range.begin == fix.range.end ? fmt::format("insert `{}` here", text)
                                                            : fmt::format("replace this by `{}`", text);
      renderer.Message(Severity::kNote, fix.range, what, {});
    }
    for (const DiagnosticNote& note : diagnostic.notes) {
      renderer.Message(Severity::kNote, note.range, note.message, {});
    }
  }
  return renderer.Take();
}

}  // namespace nnefc

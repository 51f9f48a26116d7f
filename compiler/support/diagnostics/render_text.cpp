// The form of diagnostics for terminals, with excerpts of the source.

#include <algorithm>

#include "compiler/support/diagnostics/severity_name.h"
#include "fmt/color.h"

namespace nnefc {
namespace {

constexpr size_t kMaxExcerpt = 160;       // maximum bytes of a source line to show
constexpr std::string_view kCut = "...";  // marks the omitted part of a line

// Returns one of the sixteen standard terminal colours, whose shades follow the user's theme.
fmt::terminal_color ColorOf(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return fmt::terminal_color::red;
    case Severity::kWarning:
      return fmt::terminal_color::yellow;
    case Severity::kNote:
      return fmt::terminal_color::blue;
  }
  return fmt::terminal_color::white;
}

// Replaces control characters by `.` to protect the terminal; UTF-8 is unchanged.
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

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// Returns the width of a UTF-8 text in terminal columns.
size_t WidthOf(std::string_view text) {
  struct Range {
    uint32_t first;
    uint32_t last;
  };
  static constexpr Range kWide[] = {
      {0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
      {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
  static constexpr Range kNone[] = {{0x300, 0x36f}, {0x200b, 0x200f}, {0xfe00, 0xfe0f}};
  size_t width = 0;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    uint32_t point = lead < 0x80 ? lead : lead & (lead >= 0xf0 ? 0x07 : lead >= 0xe0 ? 0x0f : 0x1f);
    for (++i; i < text.size() && IsContinuation(text[i]); ++i)
      point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
    const auto holds = [point](const Range& range) { return point >= range.first && point <= range.last; };
    if (std::any_of(std::begin(kNone), std::end(kNone), holds)) continue;
    width += std::any_of(std::begin(kWide), std::end(kWide), holds) ? 2 : 1;
  }
  return width;
}

// The visible part of a source line.
struct Excerpt {
  std::string text;
  size_t begin = 0;  // byte range of `line` that is visible
  size_t end = 0;
  std::string_view line;

  bool Holds(size_t from, size_t to) const { return from >= begin && to <= end && from <= to; }
  // Returns the number of columns before byte `at`.
  size_t ColumnOf(size_t at) const {
    return (begin > 0 ? kCut.size() : 0) + WidthOf(line.substr(begin, at - begin));
  }
};

// Returns an excerpt. A long line is cut around byte `column`, with marks at the cuts.
Excerpt ExcerptOf(std::string_view line, size_t column) {
  Excerpt excerpt{.text = "", .begin = 0, .end = line.size(), .line = line};
  if (line.size() > kMaxExcerpt) {
    if (column > kMaxExcerpt / 2)
      excerpt.begin = std::min(column - kMaxExcerpt / 2, line.size() - kMaxExcerpt);
    while (excerpt.begin < column && IsContinuation(line[excerpt.begin])) ++excerpt.begin;
    excerpt.end = std::min(excerpt.begin + kMaxExcerpt, line.size());
    while (excerpt.end > excerpt.begin + 1 && excerpt.end < line.size() && IsContinuation(line[excerpt.end]))
      --excerpt.end;
  }
  if (excerpt.begin > 0) excerpt.text = kCut;
  excerpt.text += Printable(line.substr(excerpt.begin, excerpt.end - excerpt.begin));
  if (excerpt.end < line.size()) excerpt.text += kCut;
  return excerpt;
}

// Returns the mark of a fix that `--fix` alone does not apply.
std::string_view MarkOf(Applicability applicability) {
  return applicability == Applicability::kUnsafe ? "  (unsafe fix)" : "";
}

class TextRenderer {
 public:
  TextRenderer(const SourceManager& sources, const RenderOptions& options)
      : sources_(sources), options_(options) {}

  // Prints a message with its source line and the fixes that can be shown below it. The remaining fixes stay
  // in `fixes`.
  void Message(Severity severity, SourceRange range, std::string_view message, std::string_view label,
               std::vector<FixIt>& fixes, Applicability applicability) {
    std::string place = Place(range);
    std::string kind = fmt::format("{}: ", SeverityName(severity));
    if (options_.color) {
      kind = fmt::format(fmt::fg(ColorOf(severity)) | fmt::emphasis::bold, "{}", kind);
      place = fmt::format(fmt::emphasis::bold, "{}", place);
    }
    out_ += place + kind + std::string(message);
    if (!label.empty()) out_ += fmt::format(" [{}]", label);
    out_ += '\n';
    if (options_.excerpts) ShowLine(severity, range, fixes, applicability);
  }

  std::string Take() { return std::move(out_); }

  // Returns "FILE:LINE:COL: ", or less if the file's kind lacks it; the offset in a binary file follows the
  // severity.
  std::string Place(SourceRange range) const {
    if (!range.valid()) return "nnefc: ";
    if (sources_.Kind(range.file) != FileKind::kText) return fmt::format("{}: ", sources_.Name(range.file));
    LineColumn at = sources_.Position(range.start());
    return fmt::format("{}:{}:{}: ", sources_.Name(range.file), at.line, at.column);
  }

 private:
  void ShowLine(Severity severity, SourceRange range, std::vector<FixIt>& fixes,
                Applicability applicability) {
    if (!range.valid() || sources_.Kind(range.file) != FileKind::kText) return;
    const LineColumn at = sources_.Position(range.start());
    const std::string_view line = sources_.Line(range.file, at.line);
    const size_t column = static_cast<size_t>(at.column) - 1;
    if (column > line.size()) return;
    const Excerpt excerpt = ExcerptOf(line, column);
    const size_t end = std::clamp<size_t>(column + (range.end > range.begin ? range.end - range.begin : 0),
                                          column, excerpt.end);
    const size_t width = std::max<size_t>(1, WidthOf(line.substr(column, end - column)));
    const std::string gutter = fmt::format("{:>5} | ", at.line);
    const std::string margin = std::string(gutter.size() - 2, ' ') + "| ";
    out_ += gutter + excerpt.text + '\n';
    out_ += margin + std::string(excerpt.ColumnOf(column), ' ') +
            Colored(ColorOf(severity), "^" + std::string(width - 1, '~')) + '\n';
    const std::string repair =
        TakeFixes(excerpt, range.begin - static_cast<uint32_t>(column), range.file, fixes);
    if (!repair.empty())
      out_ +=
          margin + Colored(fmt::terminal_color::green, repair) + std::string(MarkOf(applicability)) + '\n';
  }

  // A replacement of bytes [from, to) of a line; an empty text is a removal.
  struct Repair {
    size_t from;
    size_t to;
    std::string text;
  };

  // Renders the new texts of fixes below the excerpt; removals are marked by `-`. Texts that would touch are
  // merged, including the source between them. `line_start` is the offset of the line in the file.
  static std::string TakeFixes(const Excerpt& excerpt, uint32_t line_start, FileId file,
                               std::vector<FixIt>& fixes) {
    std::vector<FixIt> sorted = fixes;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const FixIt& a, const FixIt& b) { return a.range.begin < b.range.begin; });
    std::vector<Repair> repairs;
    for (const FixIt& fix : sorted) {
      if (fix.range.file != file || fix.range.begin < line_start || fix.text.find('\n') != std::string::npos)
        return "";
      size_t from = fix.range.begin - line_start;
      size_t to = fix.range.end - line_start;
      if (fix.text.empty()) {  // the line end and indentation need no mark
        while (from < excerpt.line.size() && from < to && excerpt.line[from] == ' ') ++from;
        if (to == excerpt.line.size() + 1) --to;
      }
      if (!excerpt.Holds(from, to) || (fix.text.empty() && from == to)) return "";
      Repair* last = repairs.empty() ? nullptr : &repairs.back();
      if (last != nullptr && from < last->to) return "";
      if (last == nullptr || excerpt.ColumnOf(from) > EndOf(excerpt, *last)) {
        repairs.push_back({from, to, fix.text});
        continue;
      }
      last->text += std::string(excerpt.line.substr(last->to, from - last->to)) + fix.text;
      last->to = to;
    }
    std::string shown;
    for (const Repair& repair : repairs) {
      shown += std::string(excerpt.ColumnOf(repair.from) - WidthOf(shown), ' ');
      shown += repair.text.empty() ? std::string(EndOf(excerpt, repair) - excerpt.ColumnOf(repair.from), '-')
                                   : Printable(repair.text);
    }
    // The fixes of a diagnostic are shown all or none.
    fixes.clear();
    while (shown.ends_with(' ')) shown.pop_back();
    return shown;
  }

  // Returns the column after the rendered repair.
  static size_t EndOf(const Excerpt& excerpt, const Repair& repair) {
    return repair.text.empty() ? excerpt.ColumnOf(repair.to)
                               : excerpt.ColumnOf(repair.from) + WidthOf(Printable(repair.text));
  }

  std::string Colored(fmt::terminal_color color, const std::string& text) const {
    return options_.color ? fmt::format(fmt::fg(color) | fmt::emphasis::bold, "{}", text) : text;
  }

  const SourceManager& sources_;
  const RenderOptions& options_;
  std::string out_;
};

// Describes a fix in words.
std::string FixText(const FixIt& fix, Applicability applicability) {
  const std::string_view mark = MarkOf(applicability);
  if (fix.text.empty()) return fmt::format("remove this{}", mark);
  // A whole inserted line is shown without its line ends.
  std::string_view lines = fix.text;
  while (!lines.empty() && lines.front() == '\n') lines.remove_prefix(1);
  while (!lines.empty() && lines.back() == '\n') lines.remove_suffix(1);
  std::string text(lines);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return fix.range.begin == fix.range.end ? fmt::format("insert `{}` here{}", text, mark)
                                          : fmt::format("replace this by `{}`{}", text, mark);
}

}  // namespace

std::string RenderText(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                       const RenderOptions& options) {
  TextRenderer renderer(sources, options);
  for (const Diagnostic& diagnostic : diagnostics) {
    std::string message = diagnostic.message;
    if (diagnostic.range.valid() && sources.Kind(diagnostic.range.file) == FileKind::kBinary) {
      message = fmt::format("at byte {}: {}", diagnostic.range.begin, message);
    }
    std::vector<FixIt> fixes = diagnostic.fixes;
    std::vector<FixIt> none;
    renderer.Message(diagnostic.severity, diagnostic.range, message, diagnostic.rule->label, fixes,
                     diagnostic.applicability);
    for (const FixIt& fix : fixes)
      renderer.Message(Severity::kNote, fix.range, FixText(fix, diagnostic.applicability), {}, none,
                       Applicability::kSafe);
    for (const DiagnosticNote& note : diagnostic.notes)
      renderer.Message(Severity::kNote, note.range, note.message, {}, none, Applicability::kSafe);
  }
  return renderer.Take();
}

}  // namespace nnefc

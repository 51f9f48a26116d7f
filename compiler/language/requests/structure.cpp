// Foldable ranges, and nested ranges for expanding a selection.

#include <algorithm>

#include "compiler/language/queries.h"

namespace nnefc::language {
namespace {

bool Covers(SourceRange range, uint32_t offset) {
  return range.valid() && range.begin <= offset && offset <= range.end;
}

// Collects foldable ranges by the lines of their ends.
class FoldingFinder {
 public:
  explicit FoldingFinder(const Analysis& analysis) : analysis_(analysis) {}

  std::vector<FoldingRange> Run() {
    const ast::Document& document = analysis_.ast();
    for (const ast::Fragment& fragment : document.fragments) {
      if (fragment.has_body) AddBody(fragment.range, fragment.body_range, fragment.body);
    }
    for (const ast::Graph& graph : document.graphs) AddBody(graph.range, graph.body_range, graph.body);
    AddComments(document);
    std::ranges::stable_sort(foldings_, {}, &FoldingRange::first);
    return std::move(foldings_);
  }

 private:
  int32_t LineOf(uint32_t offset) const {
    return analysis_.RangeOf({analysis_.file(), offset, offset}).start.line;
  }

  void Add(int32_t first, int32_t last, FoldingKind kind) {
    if (last > first) foldings_.push_back({first, last, kind});
  }

  // The line of the closing brace remains visible.
  void AddBody(SourceRange declaration, SourceRange body, llvm::ArrayRef<ast::Assignment> assignments) {
    const SourceRange whole = body.valid() ? body : declaration;
    if (whole.end > whole.begin)
      Add(LineOf(declaration.begin), LineOf(whole.end - 1) - 1, FoldingKind::kRegion);
    for (const ast::Assignment& assignment : assignments) {
      if (assignment.range.end > assignment.range.begin)
        Add(LineOf(assignment.range.begin), LineOf(assignment.range.end - 1), FoldingKind::kRegion);
    }
  }

  // Folds comments on consecutive lines.
  void AddComments(const ast::Document& document) {
    int32_t first = -1;
    int32_t last = -2;
    for (const ast::Comment& comment : document.comments) {
      if (comment.trailing) continue;
      const int32_t line = LineOf(comment.range.begin);
      if (line != last + 1) {
        Add(first, last, FoldingKind::kComment);
        first = line;
      }
      last = line;
    }
    Add(first, last, FoldingKind::kComment);
  }

  const Analysis& analysis_;
  std::vector<FoldingRange> foldings_;
};

}  // namespace

std::vector<FoldingRange> FindFoldings(const Analysis& analysis) {
  return FoldingFinder(analysis).Run();
}

std::vector<TextRange> FindSelections(const Analysis& analysis, uint32_t offset) {
  const ast::Document& document = analysis.ast();
  const auto size = static_cast<uint32_t>(analysis.text().size());
  offset = std::min(offset, size);
  std::vector<SourceRange> ranges{{analysis.file(), 0, size}};
  auto add = [&](SourceRange range) {
    if (Covers(range, offset)) ranges.push_back(range);
  };
  auto add_body = [&](SourceRange declaration, SourceRange body,
                      llvm::ArrayRef<ast::Assignment> assignments) {
    add(declaration);
    add(body);
    for (const ast::Assignment& assignment : assignments) add(assignment.range);
  };
  for (const ast::Fragment& fragment : document.fragments)
    add_body(fragment.range, fragment.body_range, fragment.body);
  for (const ast::Graph& graph : document.graphs) add_body(graph.range, graph.body_range, graph.body);
  for (const ast::Expr& expr : document.exprs) add(expr.range);
  if (const Occurrence* occurrence = analysis.names().At(offset)) add(occurrence->range);
  std::ranges::stable_sort(ranges, {}, [](SourceRange range) { return range.end - range.begin; });
  // Two neighbours that meet at the offset do not contain each other.
  std::vector<TextRange> selections;
  for (SourceRange range : ranges) {
    const bool is_first = selections.empty();
    if (!is_first && (range.begin > selections.back().begin || range.end < selections.back().end)) continue;
    if (!is_first && range.begin == selections.back().begin && range.end == selections.back().end) continue;
    selections.push_back(analysis.RangeOf(range));
  }
  return selections;
}

}  // namespace nnefc::language

// The lint check of comments that state shapes which differ from the inferred ones.

#include <charconv>
#include <map>

#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

// A parser of comments that are only a list of shapes, as exporters write them after a statement:
// `scalar[1, 3], integer[2]`, `[1, 3]`, `scalar(1,)`.
class ShapeList {
 public:
  // Returns the shapes; empty for any other text.
  static std::vector<Shape> Read(std::string_view text) {
    ShapeList list(text);
    std::vector<Shape> shapes;
    do {
      std::optional<Shape> shape = list.ReadShape();
      if (!shape) return {};
      shapes.push_back(std::move(*shape));
    } while (list.Take(","));
    list.SkipBlanks();
    if (!list.rest_.empty()) return {};
    return shapes;
  }

 private:
  explicit ShapeList(std::string_view text) : rest_(text) {}

  void SkipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(ast::kBlanks), rest_.size())); }
  bool Take(std::string_view text) {
    SkipBlanks();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  std::optional<Shape> ReadShape() {
    const bool has_type = Take("scalar") || Take("integer") || Take("logical");
    std::string_view close = "]";
    if (!Take("[")) {
      // Parentheses without a type may have any meaning.
      if (!has_type || !Take("(")) return std::nullopt;
      close = ")";
    }
    Shape shape;
    while (!Take(close)) {
      int64_t extent = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc()) return std::nullopt;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      shape.push_back(extent);
      if (Take(",")) continue;
      if (!Take(close)) return std::nullopt;
      break;
    }
    return shape;
  }

  std::string_view rest_;
};

// A comparison of the shapes in comments with those of the graph.
class ShapeComments {
 public:
  explicit ShapeComments(Subject& subject) : subject_(subject), document_(subject.document) {}

  void Find() {
    // Fragments have different shapes in each instantiation, and only one of several graphs is expanded.
    if (document_.graphs.size() != 1 || document_.comments.empty()) return;
    for (ir::NodeId id : subject_.graph.nodes()) {
      for (const ir::Output& output : subject_.graph.node(id).outputs()) {
        for (const std::string& name : output.names) shapes_.emplace(name, &output.shape);
      }
    }
    const llvm::ArrayRef<ast::Assignment> body = document_.graphs.front().body;
    for (const ast::Comment& comment : document_.comments) {
      if (!comment.trailing) continue;
      const auto* after = llvm::partition_point(
          body, [&](const ast::Assignment& statement) { return statement.range.end <= comment.range.begin; });
      if (after == body.begin()) continue;
      const ast::Assignment& statement = *(after - 1);
      const SourceRange between{document_.file, statement.range.end, comment.range.begin};
      if (subject_.SourceText(between).find('\n') != std::string_view::npos) continue;
      Compare(comment, statement);
    }
  }

 private:
  void Compare(const ast::Comment& comment, const ast::Assignment& statement) {
    const std::vector<Shape> reported = ShapeList::Read(subject_.SourceText(comment.range).substr(1));
    std::vector<std::string_view> names;
    if (reported.empty() || !AddNames(statement.left, names) || names.size() != reported.size()) return;
    for (size_t i = 0; i < names.size(); ++i) {
      const auto found = shapes_.find(names[i]);
      if (found == shapes_.end() || !found->second->known()) continue;
      const Shape actual = found->second->known_extents();
      if (actual == reported[i]) continue;
      subject_.Report(kShapeComment, comment.range, "the comment says that `{}` has shape {}; it has {}",
                      names[i], ToString(reported[i]), ToString(actual));
    }
  }

  // Adds the names of a left-hand side in order; returns false for anything else.
  bool AddNames(ast::ExprId left, std::vector<std::string_view>& names) const {
    if (!left.valid()) return false;
    const ast::ExprNode& node = document_.exprs[left].node;
    if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&node)) {
      names.push_back(subject_.Text(identifier->name));
      return true;
    }
    llvm::ArrayRef<ast::ExprId> items;
    if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) items = array->items;
    if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) items = tuple->items;
    for (ast::ExprId item : items) {
      // Such comments do not describe nested lists.
      if (!std::holds_alternative<ast::IdentifierExpr>(document_.exprs[item].node)) return false;
      AddNames(item, names);
    }
    return !items.empty();
  }

  Subject& subject_;
  const ast::Document& document_;
  std::map<std::string, const ir::PartialShape*, std::less<>> shapes_;
};

}  // namespace

void LintComments(Subject& subject) {
  if (subject.enabled(kShapeComment) && !subject.has_trial_extents) ShapeComments(subject).Find();
}

}  // namespace nnefc::lint

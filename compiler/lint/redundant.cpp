// The lint checks of transpositions and reshapes without effect.

#include <numeric>

#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

using Permutation = std::vector<int64_t>;

// Returns the `axes` of a transposition of a tensor of that rank; missing axes are unchanged.
Permutation AxesOf(const ir::Node& transpose, int64_t rank) {
  Permutation axes = transpose.attribute("axes").AsInts();
  for (auto axis = static_cast<int64_t>(axes.size()); axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

// A redundant node; `other` is the second node of a pair, for a note.
struct Finding {
  enum class Kind : uint8_t { kNone, kIdentity, kInverse, kOverwritten } kind = Kind::kNone;
  ir::NodeId other = {};
};

// A search for transpositions and reshapes without effect, alone or together with the preceding one. In a
// fragment all instantiations must be redundant.
class Redundant {
 public:
  explicit Redundant(Subject& subject)
      : subject_(subject),
        graph_(subject.graph),
        transpose_(graph_.registry().Find(ir::kNnefSet, "transpose")),
        reshape_(graph_.registry().Find(ir::kNnefSet, "reshape")) {}

  void Find() {
    const ast::Document& document = subject_.document;
    for (size_t i = 0; i < document.exprs.size(); ++i) {
      const ast::ExprId id(static_cast<int32_t>(i));
      const std::string_view callee = subject_.StandardCallee(id);
      if (callee != "transpose" && callee != "reshape" && callee != "squeeze" && callee != "unsqueeze")
        continue;
      Look(id, *ast::Find<ast::InvocationExpr>(document.exprs[id].node), callee);
    }
  }

 private:
  void Look(ast::ExprId expr, const ast::InvocationExpr& invocation, std::string_view callee) {
    const SourceRange site = subject_.document.exprs[expr].range;
    const ir::OpId wanted = graph_.registry().Find(ir::kNnefSet, callee);
    const bool is_transpose = wanted == transpose_;
    Finding finding;
    std::vector<ir::NodeId> later_nodes;  // one per instantiation
    for (ir::NodeId id : subject_.NodesAt(site)) {
      const ir::Node& node = graph_.node(id);
      if (node.op() != wanted) continue;
      const Finding next = is_transpose ? VisitTranspose(node) : VisitReshape(node);
      if (next.kind == Finding::Kind::kNone) return;
      if (finding.kind == Finding::Kind::kNone) finding = next;
      if (finding.kind != next.kind) return;
      later_nodes.push_back(next.other);
    }
    if (finding.kind == Finding::Kind::kNone) return;
    const Rule& rule = is_transpose ? kRedundantTranspose : kRedundantReshape;
    const SourceRange name_range = invocation.callee.range;
    switch (finding.kind) {
      case Finding::Kind::kIdentity:
        FixIdentity(subject_.Report(rule, name_range, "this `{}` changes nothing; use its input", callee),
                    expr);
        break;
      case Finding::Kind::kInverse:
        FixInverse(subject_.Report(rule, name_range,
                                   "this `{}` undoes the one before; use what that one takes", callee),
                   expr, graph_.node(finding.other));
        break;
      case Finding::Kind::kOverwritten:
        FixOverwritten(
            subject_.Report(rule, name_range,
                            "this `{}` is for nothing: the `reshape` of its result gives the shape; "
                            "reshape the input of this one there",
                            callee),
            expr, later_nodes);
        break;
      case Finding::Kind::kNone:
        break;
    }
  }

  ast::ExprId InputOf(ast::ExprId expr) const {
    const ast::ExprId input = subject_.ArgumentOf(expr, "input");
    return input.valid() ? input : subject_.ArgumentOf(expr, "x");
  }

  void FixByCopy(DiagnosticBuilder& builder, ast::ExprId expr, ast::ExprId from) const {
    const ast::Document& document = subject_.document;
    builder.Fix(document.exprs[expr].range, fmt::format("{}({})", document.dialect.copy,
                                                        subject_.SourceText(document.exprs[from].range)));
  }

  // Replaces a node that returns its input by a copy.
  void FixIdentity(DiagnosticBuilder&& builder, ast::ExprId expr) const {
    const ast::ExprId from = InputOf(expr);
    if (from.valid()) FixByCopy(builder, expr, from);
  }

  // Replaces a node that inverts the preceding one by a copy of the latter's input, if that has a name or is
  // nested in this expression.
  void FixInverse(DiagnosticBuilder&& builder, ast::ExprId expr, const ir::Node& before) const {
    const ast::ExprId first = ExprAt(subject_.SiteOf(before), InputOf(expr));
    const ast::ExprId from = first.valid() ? InputOf(first) : first;
    const bool is_nested = first == InputOf(expr);
    // A name may have another value here than there if it can be assigned twice.
    const bool is_named = from.valid() && IsIdentifier(from) && !subject_.checked.dialect().reassignment;
    if (from.valid() && (is_nested || is_named)) FixByCopy(builder, expr, from);
    builder.Note(subject_.SiteOf(before), "the one before");
  }

  // Replaces a reshape by a copy if none of the later shapes depends on it.
  void FixOverwritten(DiagnosticBuilder&& builder, ast::ExprId expr, llvm::ArrayRef<ir::NodeId> later) const {
    const bool is_overwritten = llvm::all_of(later, [&](ir::NodeId id) {
      const ir::Node& after = graph_.node(id);
      const bool is_whole = after.Int("axis_start") == 0 && after.Int("axis_count") == -1;
      return is_whole && !llvm::is_contained(after.attribute("shape").AsInts(), 0);
    });
    const ast::ExprId from = InputOf(expr);
    if (is_overwritten && from.valid()) FixByCopy(builder, expr, from);
    builder.Note(subject_.SiteOf(graph_.node(later.front())), "reshaped here");
  }

  bool IsIdentifier(ast::ExprId expr) const {
    return std::holds_alternative<ast::IdentifierExpr>(subject_.document.exprs[expr].node);
  }

  // Returns the invocation at `site` if it is `use`, or is assigned to the name `use` in the enclosing body.
  ast::ExprId ExprAt(SourceRange site, ast::ExprId use) const {
    const ast::Document& document = subject_.document;
    if (!use.valid()) return {};
    const SourceRange use_range = document.exprs[use].range;
    if (use_range == site) return use;
    const auto* name = std::get_if<ast::IdentifierExpr>(&document.exprs[use].node);
    if (name == nullptr) return {};
    const auto find = [&](llvm::ArrayRef<ast::Assignment> body) -> ast::ExprId {
      const bool is_around = !body.empty() && body.front().range.begin <= use_range.begin &&
                             use_range.end <= body.back().range.end;
      if (!is_around) return {};
      for (const ast::Assignment& assignment : body) {
        const auto* left = std::get_if<ast::IdentifierExpr>(&document.exprs[assignment.left].node);
        if (left != nullptr && left->name == name->name && document.exprs[assignment.right].range == site)
          return assignment.right;
      }
      return {};
    };
    for (const ast::Graph& graph : document.graphs) {
      if (const ast::ExprId found = find(graph.body); found.valid()) return found;
    }
    for (const ast::Fragment& fragment : document.fragments) {
      if (const ast::ExprId found = find(fragment.body); found.valid()) return found;
    }
    return {};
  }

  Finding VisitTranspose(const ir::Node& node) {
    const ir::PartialShape& shape = node.output().shape;
    if (!shape.rank_known()) return {};
    const Permutation axes = AxesOf(node, shape.rank());
    if (llvm::is_sorted(axes)) return {Finding::Kind::kIdentity};
    const ir::Node& before = graph_.node(node.input(0).node);
    if (before.op() != transpose_ || !subject_.SiteOf(before).valid()) return {};
    const Permutation first = AxesOf(before, shape.rank());
    Permutation both;
    for (int64_t axis : axes) both.push_back(first[static_cast<size_t>(axis)]);
    if (llvm::is_sorted(both)) return {Finding::Kind::kInverse, before.id()};
    return {};
  }

  Finding VisitReshape(const ir::Node& node) {
    const ir::OutputPort input = node.input(0);
    const std::optional<Shape> shape = node.output().shape.extents();
    if (!shape) return {};
    if (graph_.output(input).shape.extents() == shape) return {Finding::Kind::kIdentity};
    const ir::Node& before = graph_.node(input.node);
    if (before.Is(ir::OpRole::kNnefView) && subject_.SiteOf(before).valid() &&
        graph_.output(before.input(0)).shape.extents() == shape) {
      return {Finding::Kind::kInverse, before.id()};
    }
    // A reshape whose only consumer is another reshape.
    llvm::ArrayRef<ir::InputPort> uses = node.uses();
    if (node.op() != reshape_ || uses.size() != 1) return {};
    const ir::Node& after = graph_.node(uses.front().node);
    if (after.op() != reshape_ || !subject_.SiteOf(after).valid()) return {};
    // The later node reports the inverse, or that it changes nothing. The one after it reports that it
    // restores this shape.
    const auto restores = [&](ir::InputPort use) {
      const ir::Node& last = graph_.node(use.node);
      return last.Is(ir::OpRole::kNnefView) && last.output().shape.extents() == shape;
    };
    const std::optional<Shape> later = after.output().shape.extents();
    if (later == graph_.output(input).shape.extents() || later == shape ||
        llvm::any_of(after.uses(), restores))
      return {};
    return {Finding::Kind::kOverwritten, after.id()};
  }

  Subject& subject_;
  const ir::Graph& graph_;
  const ir::OpId transpose_, reshape_;
};

}  // namespace

void LintRedundant(Subject& subject) {
  // Uses and instantiations may be missing, or extents may be equal by chance.
  if (!subject.is_right || subject.has_trial_extents) return;
  Redundant(subject).Find();
}

}  // namespace nnefc::lint

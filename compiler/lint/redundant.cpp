#include <numeric>

#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

using Permutation = std::vector<int64_t>;

// `axes` of a transposition of a tensor of that rank; those it does not name
// stay.
Permutation AxesOf(const ir::Node& transpose, int64_t rank) {
  Permutation axes = transpose.attribute("axes").AsInts();
  for (auto axis = static_cast<int64_t>(axes.size()); axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

bool IsIdentity(const Permutation& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// What a node does for nothing; the other node, of a pair, is where a note
// points to.
struct Finding {
  enum class Kind : uint8_t { kNone, kIdentity, kInverse, kOverwritten } kind = Kind::kNone;
  ir::NodeId other = {};
};

// Finds transpositions and reshapes without effect: alone, or with the one
// before. In a fragment that is instantiated several times all of them have to
// be.
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
      Look(id, std::get<ast::InvocationExpr>(document.exprs[id].node), callee);
    }
  }

 private:
  void Look(ast::ExprId expr, const ast::InvocationExpr& invocation, std::string_view callee) {
    const SourceRange site = subject_.document.exprs[expr].range;
    const ir::OpId wanted = graph_.registry().Find(ir::kNnefSet, callee);
    const bool is_transpose = wanted == transpose_;
    Finding finding;
    for (ir::NodeId id : subject_.NodesAt(site)) {
      const ir::Node& node = graph_.node(id);
      if (node.op() != wanted) continue;
      const Finding next = is_transpose ? LookAtTranspose(node) : LookAtReshape(node);
      if (next.kind == Finding::Kind::kNone) return;
      if (finding.kind == Finding::Kind::kNone) finding = next;
      if (finding.kind != next.kind) return;
    }
    if (finding.kind == Finding::Kind::kNone) return;
    const Rule& rule = is_transpose ? kRedundantTranspose : kRedundantReshape;
    const SourceRange place = invocation.callee.range;
    switch (finding.kind) {
      case Finding::Kind::kIdentity:
        FixIdentity(subject_.Report(rule, place, "this `{}` changes nothing; use its input", callee), expr);
        break;
      case Finding::Kind::kInverse:
        subject_.Report(rule, place, "this `{}` undoes the one before; use what that one takes", callee)
            .Note(subject_.SiteOf(graph_.node(finding.other)), "the one before");
        break;
      case Finding::Kind::kOverwritten:
        subject_
            .Report(rule, place,
                    "this `{}` is for nothing: the `reshape` of its result gives the shape; "
                    "reshape the input of this one there",
                    callee)
            .Note(subject_.SiteOf(graph_.node(finding.other)), "reshaped here");
        break;
      case Finding::Kind::kNone:
        break;
    }
  }

  // What passes its input on becomes a copy of it.
  void FixIdentity(DiagnosticBuilder&& builder, ast::ExprId expr) const {
    const ast::ExprId input = subject_.ArgumentOf(expr, "input");
    const ast::Document& document = subject_.document;
    const ast::ExprId from = input.valid() ? input : subject_.ArgumentOf(expr, "x");
    if (from.valid())
      builder.Fix(document.exprs[expr].range,
                  fmt::format("copy({})", subject_.SourceText(document.exprs[from].range)));
  }

  Finding LookAtTranspose(const ir::Node& node) {
    const ir::PartialShape& shape = node.output().shape;
    if (!shape.rank_known()) return {};
    const Permutation axes = AxesOf(node, shape.rank());
    if (IsIdentity(axes)) return {Finding::Kind::kIdentity};
    const ir::Node& before = graph_.node(node.input(0).node);
    if (before.op() != transpose_ || !subject_.SiteOf(before).valid()) return {};
    const Permutation first = AxesOf(before, shape.rank());
    Permutation both;
    for (int64_t axis : axes) both.push_back(first[static_cast<size_t>(axis)]);
    if (IsIdentity(both)) return {Finding::Kind::kInverse, before.id()};
    return {};
  }

  Finding LookAtReshape(const ir::Node& node) {
    const ir::OutputPort input = node.input(0);
    const std::optional<Shape> shape = node.output().shape.extents();
    if (!shape) return {};
    if (graph_.output(input).shape.extents() == shape) return {Finding::Kind::kIdentity};
    const ir::Node& before = graph_.node(input.node);
    if (before.Is(ir::OpRole::kNnefView) && subject_.SiteOf(before).valid() &&
        graph_.output(before.input(0)).shape.extents() == shape) {
      return {Finding::Kind::kInverse, before.id()};
    }
    // A reshape all of whose uses are others: none of them sees its shape.
    llvm::ArrayRef<ir::InputPort> uses = node.uses();
    if (node.op() != reshape_ || uses.size() != 1) return {};
    const ir::Node& after = graph_.node(uses.front().node);
    if (after.op() != reshape_ || !subject_.SiteOf(after).valid()) return {};
    // The inverse is told there.
    if (graph_.output(node.input(0)).shape.extents() == after.output().shape.extents()) return {};
    return {Finding::Kind::kOverwritten, after.id()};
  }

  Subject& subject_;
  const ir::Graph& graph_;
  const ir::OpId transpose_, reshape_;
};

}  // namespace

void LintRedundant(Subject& subject) {
  if (!subject.is_right) return;  // uses and instantiations may be missing
  Redundant(subject).Find();
}

}  // namespace nnefc::lint

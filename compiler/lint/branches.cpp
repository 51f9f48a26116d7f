// The lint checks of branches with different shapes: of `select`, and of operations with bodies.

#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "compiler/support/tensor/trailing_ones.h"

namespace nnefc::lint {
namespace {

// Returns a result of a node's body, a branch of the node.
const ir::Output& ResultOf(const ir::Graph& body, size_t index) {
  return body.output(body.node(body.results()[index]).input(0));
}

// A search for branches with different shapes: broadcast operands of `select`, and bodies with extents that
// are only known at run time.
class Branches {
 public:
  explicit Branches(Subject& subject) : subject_(subject), graph_(subject.graph) {}

  void Find() {
    const ir::OpId select = graph_.registry().Find(ir::kNnefSet, "select");
    for (const auto& [range, nodes] : subject_.sites()) {
      for (ir::NodeId id : nodes) {
        const ir::Node& node = graph_.node(id);
        const bool is_found = node.op() == select ? VisitSelect(node) : VisitBodies(node);
        if (is_found) break;  // once for all instantiations
      }
    }
  }

 private:
  bool VisitSelect(const ir::Node& node) {
    if (subject_.SiteOf(node) != node.origin().range) return false;  // belongs to a compound of the library
    const std::optional<Shape> first = graph_.output(node.input(1)).shape.extents();
    const std::optional<Shape> second = graph_.output(node.input(2)).shape.extents();
    if (!first || !second) return false;
    const llvm::ArrayRef<int64_t> a = WithoutTrailingOnes(*first), b = WithoutTrailingOnes(*second);
    if (a == b || a.empty() || b.empty()) return false;
    subject_.Report(kBranchShapes, subject_.SiteOf(node),
                    "the branches of `select` have the shapes {} and {}; one is broadcast to the other where "
                    "it is chosen",
                    ToString(*first), ToString(*second));
    return true;
  }

  bool VisitBodies(const ir::Node& node) {
    const llvm::ArrayRef<ir::Body> bodies = node.bodies();
    if (bodies.size() != 2) return false;  // an `If`, whose bodies have the same number of results
    for (size_t i = 0; i < bodies[0].graph->results().size(); ++i) {
      const ir::PartialShape& first = ResultOf(*bodies[0].graph, i).shape;
      const ir::PartialShape& second = ResultOf(*bodies[1].graph, i).shape;
      if (!first.extents() || !second.extents() || first.extents() == second.extents()) continue;
      subject_.Report(
          kBranchShapes, subject_.SiteOf(node),
          "result {} of the branches of `{}` has the shapes {} and {}; what differs is known at run "
          "time alone",
          i, node.type(), ir::ToString(first), ir::ToString(second));
      return true;
    }
    return false;
  }

  Subject& subject_;
  const ir::Graph& graph_;
};

}  // namespace

void LintBranches(Subject& subject) {
  if (!subject.is_right) return;  // shapes may be missing
  Branches(subject).Find();
}

}  // namespace nnefc::lint

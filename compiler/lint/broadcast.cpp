#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

bool IsBinary(const ir::Node& node) {
  return node.set() == ir::kNnefSet && node.info().is_elementwise && node.num_inputs() == 2;
}

// Finds operands of rank 1 that are repeated along the batch, where NumPy would
// align them with the last dimension, and others with the channels.
class Broadcast {
 public:
  explicit Broadcast(Subject& subject) : subject_(subject), graph_(subject.graph) {}

  void Find() {
    for (const auto& [place, nodes] : subject_.sites()) {
      for (ir::NodeId id : nodes) {
        const ir::Node& node = graph_.node(id);
        if (IsBinary(node) && (Look(node, 0, 1) || Look(node, 1, 0))) break;  // once for all instantiations
      }
    }
  }

 private:
  // Whether the operand `narrow` was reported beside `wide`.
  bool Look(const ir::Node& node, int32_t narrow, int32_t wide) {
    const std::optional<Shape> small = graph_.output(node.input(narrow)).shape.extents();
    const std::optional<Shape> large = graph_.output(node.input(wide)).shape.extents();
    if (!small || !large || small->size() != 1 || large->size() < 2) return false;
    const int64_t extent = small->front();
    if (extent == 1 || large->front() != 1) return false;
    const auto meant = llvm::find(llvm::drop_begin(*large), extent);
    if (meant == large->end()) return false;
    // The last dimension is what NumPy takes.
    const auto axis =
        large->back() == extent ? large->size() - 1 : static_cast<size_t>(meant - large->begin());
    Shape right(axis + 1, 1);
    right.back() = extent;
    subject_.Report(
        kBatchBroadcast, subject_.SiteOf(node),
        "shapes align at their first dimension, so that {} is repeated along the batch of {} and the "
        "result has the shape {}; {} aligns with dimension {}",
        ToString(*small), ToString(*large), ToString(node.output().shape), ToString(right), axis);
    return true;
  }

  Subject& subject_;
  const ir::Graph& graph_;
};

}  // namespace

void LintBroadcast(Subject& subject) {
  if (!subject.is_right) return;  // shapes may be missing
  Broadcast(subject).Find();
}

}  // namespace nnefc::lint

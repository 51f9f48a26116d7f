// The lint checks of broadcasting between operands of equal role.

#include "compiler/ir/ops/adjusting_inputs.h"
#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

// Returns whether a node broadcasts several operands of equal role. Inputs that adjust channels have separate
// rules.
bool IsBroadcast(const ir::Node& node) {
  const bool adjusts = llvm::any_of(
      node.info().inputs, [](const ir::InputInfo& input) { return input.adjusts != ir::Adjusts::kNothing; });
  return node.set() == ir::kNnefSet && node.info().is_elementwise && node.num_inputs() > 1 && !adjusts;
}

// A search for misaligned operands. Rank-1 operands broadcast along the batch, where NumPy would align them
// with the last dimension and other frameworks with the channels. Per-channel values may be along a different
// dimension.
class Broadcast {
 public:
  explicit Broadcast(Subject& subject) : subject_(subject), graph_(subject.graph) {}

  void Find() {
    for (const auto& [range, nodes] : subject_.sites()) {
      for (ir::NodeId id : nodes) {
        const ir::Node& node = graph_.node(id);
        // Reported once for all instantiations.
        if ((IsBroadcast(node) && VisitOperands(node)) || VisitAdjusting(node)) break;
      }
    }
  }

 private:
  bool VisitOperands(const ir::Node& node) {
    for (int32_t narrow = 0; narrow < node.num_inputs(); ++narrow) {
      for (int32_t wide = 0; wide < node.num_inputs(); ++wide) {
        if (narrow != wide && Look(node, narrow, wide)) return true;
      }
    }
    return false;
  }

  // Reports an input with per-channel values along the wrong axis; returns whether it did.
  bool VisitAdjusting(const ir::Node& node) {
    for (size_t i = 0; i < node.info().inputs.size(); ++i) {
      const ir::InputInfo& input = node.info().inputs[i];
      const auto misplaced = input.adjusts == ir::Adjusts::kNothing ? std::optional<ir::ops::MisplacedInput>()
                                                                    : ir::ops::FindMisplaced(graph_, node, i);
      if (!misplaced) continue;
      const ir::PartialShape& shape = graph_.output(node.segment(static_cast<int32_t>(i)).front()).shape;
      Shape right(static_cast<size_t>(misplaced->meant) + 1, 1);
      right.back() = shape[misplaced->found].min;
      subject_.Report(
          kChannelAxis, subject_.SiteOf(node),
          "`{}` of `{}` has shape {}, whose numbers are for the items of axis {} of {}, and not for "
          "the {} at axis {}; if those are meant, give it the shape {}",
          input.name, node.type(), ir::ToString(shape), misplaced->found,
          ir::ToString(ir::ops::AdjustedShape(graph_, node)),
          input.adjusts == ir::Adjusts::kColumns ? "columns" : "channels", misplaced->meant, ToString(right));
      return true;
    }
    return false;
  }

  // Reports the operand `narrow` against `wide`, if suspicious; returns whether it did.
  bool Look(const ir::Node& node, int32_t narrow, int32_t wide) {
    const std::optional<Shape> small = graph_.output(node.input(narrow)).shape.extents();
    const std::optional<Shape> large = graph_.output(node.input(wide)).shape.extents();
    if (!small || !large || small->size() != 1 || large->size() < 2) return false;
    const int64_t extent = small->front();
    if (extent == 1 || large->front() != 1) return false;
    const auto meant = llvm::find(llvm::drop_begin(*large), extent);
    if (meant == large->end()) return false;
    // NumPy would align with the last dimension.
    const auto axis =
        large->back() == extent ? large->size() - 1 : static_cast<size_t>(meant - large->begin());
    Shape right(axis + 1, 1);
    right.back() = extent;
    subject_.Report(
        kBatchBroadcast, subject_.SiteOf(node),
        "shapes align at their first dimension, so that {} is repeated along the batch of {} and the "
        "result has the shape {}; {} aligns with dimension {}",
        ToString(*small), ToString(*large), ir::ToString(node.output().shape), ToString(right), axis);
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

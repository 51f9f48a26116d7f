// The lint checks of arguments that repeat or change defaults.

#include "compiler/ir/ops/windows/sliding_window_shape.h"
#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "compiler/lower/facts.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

bool IsPadded(const ir::ops::Padding& padding) {
  return llvm::any_of(padding, [](auto pair) { return pair.first > 0 || pair.second > 0; });
}

// Returns text such as "[(1,1), (0,1)]".
std::string PaddingText(const ir::ops::Padding& padding) {
  std::string text;
  for (auto [before, after] : padding)
    text += fmt::format("{}({}, {})", text.empty() ? "" : ", ", before, after);
  return "[" + text + "]";
}

// A search for defaults that are rarely intended: zeros at the border of a pooling window, and automatic
// padding.
class Defaults {
 public:
  explicit Defaults(Subject& subject) : subject_(subject), document_(subject.document) {}

  void Find() {
    FindNonNegative();
    for (size_t i = 0; i < document_.exprs.size(); ++i) {
      const ast::ExprId id(static_cast<int32_t>(i));
      const auto* invocation = ast::Find<ast::InvocationExpr>(document_.exprs[id].node);
      if (invocation == nullptr) continue;
      const ir::OpId op = subject_.graph.registry().Find(ir::kNnefSet, subject_.StandardCallee(id));
      if (op.valid() && subject_.graph.registry().Info(op).window != ir::WindowKind::kNone)
        Look(id, *invocation, op);
    }
  }

 private:
  void FindNonNegative() {
    non_negative_.assign(subject_.graph.node_bound(), false);
    const auto order = ir::TopologicalOrder(subject_.graph);
    if (!order) return;
    for (ir::NodeId id : *order) {
      non_negative_[static_cast<size_t>(id.index)] =
          lower::IsNonNegative(subject_.graph, subject_.graph.node(id), non_negative_);
    }
  }

  // Returns the padding of a node of the operation; nothing if it is unknown.
  std::optional<ir::ops::Padding> PaddingOf(const ir::Node& node) {
    const ir::WindowKind window = node.info().window;
    const ir::PartialShape& shape =
        window == ir::WindowKind::kScatter ? node.output().shape : subject_.graph.output(node.input(0)).shape;
    const std::optional<Shape> extents = shape.extents();
    if (!extents || subject_.has_trial_extents) return std::nullopt;
    llvm::ArrayRef<int64_t> upscaled = *extents;
    std::vector<int64_t> size;
    if (window == ir::WindowKind::kFilter || window == ir::WindowKind::kScatter) {
      const std::optional<Shape> filter = subject_.graph.output(node.input(1)).shape.extents();
      if (!filter || filter->size() < 2 || upscaled.size() < 2) return std::nullopt;
      size.assign(filter->begin() + 2, filter->end());
      upscaled = upscaled.drop_front(2);
    } else {
      size = node.attribute("size").AsInts();
    }
    if (size.size() != upscaled.size()) return std::nullopt;
    return ir::ops::ResolvedPaddings(ir::ops::WindowOf(node, size), upscaled);
  }

  void Look(ast::ExprId id, const ast::InvocationExpr& invocation, ir::OpId wanted) {
    const bool border_written = subject_.ArgumentOf(id, "border").valid();
    const bool padding_written = subject_.ArgumentOf(id, "padding").valid();
    if (border_written && padding_written) return;
    for (ir::NodeId node_id : subject_.NodesAt(document_.exprs[id].range)) {
      const ir::Node& node = subject_.graph.node(node_id);
      if (node.op() != wanted) continue;
      const std::optional<ir::ops::Padding> padding = PaddingOf(node);
      if (!padding || !IsPadded(*padding)) continue;
      if (!border_written) VisitBorder(node, invocation, *padding);
      if (padding_written) continue;
      subject_.Report(kAutomaticPadding, invocation.callee.range,
                      "`{}` is given no `padding`, which stands for as much as keeps the extent at stride 1: "
                      "here {}; write it, or `(0, 0)` for each dimension if none is meant",
                      node.type(), PaddingText(*padding));
    }
  }

  void VisitBorder(const ir::Node& node, const ast::InvocationExpr& invocation,
                   const ir::ops::Padding& padding) {
    const ir::WindowKind window = node.info().window;
    const bool averages = window == ir::WindowKind::kAverage ||
                          (window == ir::WindowKind::kSum && node.attribute("normalize").AsBool());
    if (window == ir::WindowKind::kMax && !non_negative_[static_cast<size_t>(node.input(0).node.index)]) {
      subject_.Report(kPoolBorder, invocation.callee.range,
                      "`{0}` pads with zeros, its default border 'constant', and a zero is above negative "
                      "values (padding is {1}); write `border = 'ignore'`, or `border = 'constant'` if zeros "
                      "are meant",
                      node.type(), PaddingText(padding));
    } else if (averages) {
      subject_.Report(kPoolBorder, invocation.callee.range,
                      "`{0}` counts the zeros of its padding {1} in the average, as its default border is "
                      "'constant'; write `border = 'ignore'`, or `border = 'constant'` if zeros are meant",
                      node.type(), PaddingText(padding));
    }
  }

  Subject& subject_;
  const ast::Document& document_;
  std::vector<bool> non_negative_;  // indexed by node
};

}  // namespace

void LintDefaults(Subject& subject) {
  Defaults(subject).Find();
}

}  // namespace nnefc::lint

#include "compiler/ir/ops/sliding_window_shape.h"
#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "compiler/lower/facts.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

struct WindowedOperation {
  std::string_view name;
  bool filter;     // the window is that of an input, not of `size`
  bool selects;    // the largest under the window
  bool averages;   // always; `box` if it normalizes
  bool backwards;  // automatic padding is told by what it scales up to
};

constexpr WindowedOperation kWindowed[] = {
    {"conv", true, false, false, false},
    {"deconv", true, false, false, true},
    {"box", false, false, false, false},
    {"argmax_pool", false, true, false, false},
    {"max_pool_with_index", false, true, false, false},
    {"max_pool", false, true, false, false},
    {"avg_pool", false, false, true, false},
    {"rms_pool", false, false, true, false},
};

const WindowedOperation* FindWindowed(std::string_view name) {
  const auto* found =
      llvm::find_if(kWindowed, [&](const WindowedOperation& row) { return row.name == name; });
  return found == std::end(kWindowed) ? nullptr : found;
}

bool IsPadded(const ir::nnef::Padding& padding) {
  return llvm::any_of(padding, [](auto pair) { return pair.first > 0 || pair.second > 0; });
}

// "[(1,1), (0,1)]"
std::string PaddingText(const ir::nnef::Padding& padding) {
  std::string text;
  for (auto [before, after] : padding)
    text += fmt::format("{}({}, {})", text.empty() ? "" : ", ", before, after);
  return "[" + text + "]";
}

// Finds defaults that do what is seldom meant: zeros at the border of a pooling
// window, padding that is added where none was written.
class Defaults {
 public:
  explicit Defaults(Subject& subject) : subject_(subject), document_(subject.document) {}

  void Find() {
    FindNonNegative();
    for (size_t i = 0; i < document_.exprs.size(); ++i) {
      const ast::ExprId id(static_cast<int32_t>(i));
      const auto* invocation = std::get_if<ast::InvocationExpr>(&document_.exprs[id].node);
      if (invocation == nullptr) continue;
      const WindowedOperation* operation = FindWindowed(subject_.StandardCallee(id));
      if (operation != nullptr) Look(id, *invocation, *operation);
    }
  }

 private:
  void FindNonNegative() {
    non_negative_.assign(subject_.graph.node_bound(), false);
    const auto order = subject_.graph.TopologicalOrder();
    if (!order) return;
    for (ir::NodeId id : *order) {
      non_negative_[static_cast<size_t>(id.index)] =
          lower::IsNonNegative(subject_.graph, subject_.graph.node(id), non_negative_);
    }
  }

  // The padding of a node that was made for the operation; nothing if it is
  // not known.
  std::optional<ir::nnef::Padding> PaddingOf(const ir::Node& node, const WindowedOperation& operation) {
    const ir::PartialShape& shape =
        operation.backwards ? node.output().shape : subject_.graph.output(node.input(0)).shape;
    const std::optional<Shape> extents = shape.extents();
    if (!extents) return std::nullopt;
    llvm::ArrayRef<int64_t> upscaled = *extents;
    std::vector<int64_t> size;
    if (operation.filter) {
      const std::optional<Shape> filter = subject_.graph.output(node.input(1)).shape.extents();
      if (!filter || filter->size() < 2 || upscaled.size() < 2) return std::nullopt;
      size.assign(filter->begin() + 2, filter->end());
      upscaled = upscaled.drop_front(2);
    } else {
      size = node.attribute("size").AsInts();
    }
    if (size.size() != upscaled.size()) return std::nullopt;
    return ir::nnef::ResolvedPaddings(ir::nnef::WindowOf(node, size), upscaled);
  }

  void Look(ast::ExprId id, const ast::InvocationExpr& invocation, const WindowedOperation& operation) {
    const bool border_written = subject_.ArgumentOf(id, "border").valid();
    const bool padding_written = subject_.ArgumentOf(id, "padding").valid();
    if (border_written && padding_written) return;
    const ir::OpId wanted = subject_.graph.registry().Find(ir::kNnefSet, operation.name);
    for (ir::NodeId node_id : subject_.NodesAt(document_.exprs[id].range)) {
      const ir::Node& node = subject_.graph.node(node_id);
      if (node.op() != wanted) continue;
      const std::optional<ir::nnef::Padding> padding = PaddingOf(node, operation);
      if (!padding || !IsPadded(*padding)) continue;
      if (!border_written) LookAtBorder(node, invocation, operation, *padding);
      if (padding_written) continue;
      subject_.Report(kAutomaticPadding, invocation.callee.range,
                      "`{}` is given no `padding`, which stands for as much as keeps the extent at stride 1: "
                      "here {}; write it, or `(0, 0)` for each dimension if none is meant",
                      operation.name, PaddingText(*padding));
    }
  }

  void LookAtBorder(const ir::Node& node, const ast::InvocationExpr& invocation,
                    const WindowedOperation& operation, const ir::nnef::Padding& padding) {
    const bool averages =
        operation.averages || (operation.name == "box" && node.attribute("normalize").AsBool());
    if (operation.selects && !non_negative_[static_cast<size_t>(node.input(0).node.index)]) {
      subject_.Report(kPoolBorder, invocation.callee.range,
                      "`{0}` pads with zeros, its default border 'constant', and a zero is above negative "
                      "values (padding is {1}); write `border = 'ignore'`, or `border = 'constant'` if zeros "
                      "are meant",
                      operation.name, PaddingText(padding));
    } else if (averages) {
      subject_.Report(kPoolBorder, invocation.callee.range,
                      "`{0}` counts the zeros of its padding {1} in the average, as its default border is "
                      "'constant'; write `border = 'ignore'`, or `border = 'constant'` if zeros are meant",
                      operation.name, PaddingText(padding));
    }
  }

  Subject& subject_;
  const ast::Document& document_;
  std::vector<bool> non_negative_;  // by node
};

}  // namespace

void LintDefaults(Subject& subject) {
  Defaults(subject).Find();
}

}  // namespace nnefc::lint

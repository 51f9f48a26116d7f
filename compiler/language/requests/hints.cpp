// Inlay hints: inferred shapes and names of positional arguments.

#include "compiler/language/queries.h"
#include "compiler/syntax/walk.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::language {
namespace {

class HintFinder {
 public:
  HintFinder(const Analysis& analysis, uint32_t begin, uint32_t end)
      : analysis_(analysis), begin_(begin), end_(end) {}

  std::vector<InlayHint> Run() {
    const ast::Document& document = analysis_.ast();
    for (const ast::Fragment& fragment : document.fragments) AddShapes(fragment.body);
    for (const ast::Graph& graph : document.graphs) AddShapes(graph.body);
    for (size_t i = 0; i < document.exprs.size(); ++i) {
      const ast::ExprId id(static_cast<int32_t>(i));
      const auto* invocation = ast::Find<ast::InvocationExpr>(document.exprs[id].node);
      if (invocation != nullptr) AddInvocation(id, *invocation);
    }
    llvm::stable_sort(hints_, [](const InlayHint& a, const InlayHint& b) { return a.offset < b.offset; });
    return std::move(hints_);
  }

 private:
  void Add(uint32_t offset, std::string label, HintKind kind) {
    if (offset < begin_ || offset >= end_) return;
    hints_.push_back(
        {analysis_.RangeOf({analysis_.file(), offset, offset}).start, offset, std::move(label), kind});
  }

  void AddShapes(llvm::ArrayRef<ast::Assignment> body) {
    for (const ast::Assignment& assignment : body) {
      if (assignment.range.end < begin_ || assignment.range.begin >= end_ || !assignment.left.valid())
        continue;
      ast::ForEachTarget(analysis_.ast(), assignment.left, [&](const ast::Name& name) {
        const Occurrence* occurrence = analysis_.names().At(name.range.begin);
        if (occurrence == nullptr || occurrence->range != name.range) return;
        const std::string shape = analysis_.ShapeOf(analysis_.names().entity(occurrence->entity));
        if (!shape.empty()) Add(name.range.end, ": " + shape, HintKind::kShape);
      });
    }
  }

  void AddInvocation(ast::ExprId id, const ast::InvocationExpr& invocation) {
    const SourceRange range = analysis_.ast().exprs[id].range;
    if (range.file != analysis_.file() || range.end <= begin_ || range.begin >= end_) return;
    const semantics::Binding* binding = analysis_.checked().binding(id);
    if (binding == nullptr) return;
    if (!invocation.type_argument && binding->generic.valid()) {
      const std::string type = analysis_.TypeText(binding->generic);
      if (!type.empty()) Add(invocation.callee.range.end, fmt::format("<{}>", type), HintKind::kType);
    }
    const semantics::Signature& signature = binding->callee.document->signature(binding->callee.fragment);
    std::string defaults;
    for (size_t i = 0; i < signature.parameters.size(); ++i) {
      if (binding->arguments[i].valid()) continue;
      const std::string value = analysis_.DefaultText(binding->callee, i);
      if (value.empty()) continue;
      const bool is_first = invocation.arguments.empty() && defaults.empty();
      defaults += fmt::format("{}{} = {}", is_first ? "" : ", ",
                              analysis_.Text(signature.parameters[i].name.symbol), value);
    }
    const bool is_closed = range.end > range.begin && analysis_.text()[range.end - 1] == ')';
    if (!defaults.empty() && is_closed) Add(range.end - 1, std::move(defaults), HintKind::kDefault);
  }

  const Analysis& analysis_;
  uint32_t begin_;
  uint32_t end_;
  std::vector<InlayHint> hints_;
};

}  // namespace

std::vector<InlayHint> FindHints(const Analysis& analysis, uint32_t begin, uint32_t end) {
  return HintFinder(analysis, begin, end).Run();
}

}  // namespace nnefc::language

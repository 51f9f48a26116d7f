// The lint checks of deprecated operations and attributes.

#include "compiler/ir/ops/shapes/slice_shape.h"
#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "compiler/syntax/walk.h"

namespace nnefc::lint {
namespace {

// Reports linear_quantize (4.9.5): the same operation has a more specific name with explicit values of the
// implied attributes.
void ReportLinearQuantize(Subject& subject, const ast::InvocationExpr& invocation, SourceRange range) {
  const SourceRange close{range.file, range.end - 1, range.end - 1};
  subject
      .Report(kLinearQuantize, invocation.callee.range,
              "`linear_quantize` is deprecated; write `min_max_linear_quantize` with `signed = false, "
              "symmetric = false`")
      .Fix(invocation.callee.range, "min_max_linear_quantize")
      .Fix(close, ", signed = false, symmetric = false");
}

// A search for constructs that are deprecated, or tolerated although the specification does not define them.
class Deprecated {
 public:
  explicit Deprecated(Subject& subject) : subject_(subject), document_(subject.document) {}

  void Find() {
    for (size_t i = 0; i < document_.exprs.size(); ++i) {
      const ast::ExprId id(static_cast<int32_t>(i));
      const ast::Expr& expr = document_.exprs[id];
      if (const auto* builtin = ast::Find<ast::BuiltinExpr>(expr.node)) {
        VisitBuiltin(*builtin);
      } else if (const auto* binary = ast::Find<ast::BinaryExpr>(expr.node)) {
        VisitPower(*binary);
      } else if (const auto* invocation = ast::Find<ast::InvocationExpr>(expr.node)) {
        VisitInvocation(id, *invocation);
      }
    }
  }

 private:
  // Reports `shape_of` (3.3.3).
  void VisitBuiltin(const ast::BuiltinExpr& builtin) {
    if (builtin.builtin != ast::Builtin::kShapeOf || !subject_.checked.dialect().deprecations) return;
    subject_.Report(
        kShapeOf, builtin.name_range,
        "`shape_of` is deprecated, and Khronos' parser refuses it; pass what is needed of the shape "
        "as an attribute of the fragment");
  }

  // Reports `a ^ b ^ c`: it means `(a ^ b) ^ c`, but `a ^ (b ^ c)` in mathematics and most languages.
  void VisitPower(const ast::BinaryExpr& power) {
    if (power.op != ast::BinaryOperator::kPow || !power.left.valid()) return;
    const ast::Expr& left = document_.exprs[power.left];
    const auto* inner = ast::Find<ast::BinaryExpr>(left.node);
    if (inner == nullptr || inner->op != ast::BinaryOperator::kPow) return;
    constexpr size_t kMaxFixBytes = 200;
    const std::string_view text = subject_.SourceText(left.range);
    DiagnosticBuilder builder = subject_.Report(
        kChainedPower, power.op_range,
        "`^` associates to the left: this is `(a ^ b) ^ c`, not `a ^ (b ^ c)`; write the parentheses");
    if (text.size() <= kMaxFixBytes) builder.Fix(left.range, fmt::format("({})", text));
  }

  void VisitInvocation(ast::ExprId id, const ast::InvocationExpr& invocation) {
    const semantics::Binding* binding = subject_.checked.binding(id);
    if (binding == nullptr) return;
    const semantics::Signature& signature = binding->callee.document->signature(binding->callee.fragment);
    if (subject_.checked.dialect().deprecations) {
      VisitNamedTensors(invocation, signature);
      if (subject_.StandardCallee(id) == "linear_quantize")
        ReportLinearQuantize(subject_, invocation, document_.exprs[id].range);
      if (subject_.StandardCallee(id) == "slice") VisitSlice(id);
    } else if (binding->callee.document != &subject_.checked ||
               subject_.IsReadable(document_.fragments[binding->callee.fragment].range)) {
      VisitPositionalAttributes(invocation, signature);
    }
  }

  // Reports named tensor arguments. 3.3.2: tensors should be positional, attributes named.
  void VisitNamedTensors(const ast::InvocationExpr& invocation, const semantics::Signature& signature) {
    bool in_order = true;  // all arguments so far are at their parameter's position
    for (size_t i = 0; i < invocation.arguments.size(); ++i) {
      const ast::Argument& argument = invocation.arguments[i];
      if (!argument.name) continue;
      size_t index = 0;
      while (index < signature.parameters.size() &&
             signature.parameters[index].name.symbol != argument.name->symbol)
        ++index;
      const bool is_tensor = index < signature.parameters.size() &&
                             subject_.checked.types().ContainsTensor(signature.parameters[index].type);
      in_order = in_order && index == i && is_tensor;
      if (!is_tensor) continue;
      SourceRange name = argument.name->range;
      name.end = document_.exprs[argument.value].range.begin;
      DiagnosticBuilder builder =
          subject_.Report(kNamedTensorArgument, argument.name->range,
                          "naming the argument of the tensor parameter `{}` is deprecated; {}",
                          subject_.Text(argument.name->symbol),
                          in_order ? "pass it by position"
                                   : fmt::format("pass it by position, as argument {} of `{}`", index + 1,
                                                 subject_.Text(signature.name.symbol)));
      if (in_order) builder.Fix(name, "");
    }
  }

  // Reports attributes passed by position in the provisional dialect, which reserves it for tensors
  // (P 3.3.1).
  void VisitPositionalAttributes(const ast::InvocationExpr& invocation,
                                 const semantics::Signature& signature) {
    for (size_t i = 0; i < invocation.arguments.size() && i < signature.parameters.size(); ++i) {
      const ast::Argument& argument = invocation.arguments[i];
      if (argument.name || subject_.checked.types().ContainsTensor(signature.parameters[i].type)) continue;
      const SourceRange value = document_.exprs[argument.value].range;
      const SourceRange before{value.file, value.begin, value.begin};
      const std::string_view name = subject_.Text(signature.parameters[i].name.symbol);
      subject_
          .Report(
              kPositionalAttribute, value,
              "attribute `{}` of `{}` is given by its position, which the specification keeps for tensors; "
              "write `{} = ..`",
              name, subject_.Text(signature.name.symbol), name)
          .Fix(before, fmt::format("{} = ", name));
    }
  }

  // Reports the first `end` of 0 that means the end of the axis (R 4.5.4).
  void VisitSlice(ast::ExprId id) {
    const ir::OpId wanted = subject_.graph.registry().Find(ir::kNnefSet, "slice");
    for (ir::NodeId node : subject_.NodesAt(document_.exprs[id].range)) {
      const ir::Node& slice = subject_.graph.node(node);
      if (slice.op() != wanted) continue;
      const std::vector<ir::ops::SliceAxis> axes = ir::ops::SliceAxesOf(slice);
      const ir::PartialShape& shape = subject_.graph.output(slice.input(0)).shape;
      const std::vector<int64_t> axis_numbers = slice.attribute("axes").AsInts();
      for (size_t i = 0; i < axes.size(); ++i) {
        if (!axes[i].to_end) continue;
        const bool is_known =
            shape.rank_known() && shape[axis_numbers[i]].known() && !subject_.has_trial_extents;
        ast::ExprId end = subject_.ArgumentOf(id, "end");
        const auto* list = end.valid() ? std::get_if<ast::ArrayExpr>(&document_.exprs[end].node) : nullptr;
        if (list != nullptr && list->items.size() == axes.size()) end = list->items[i];
        subject_.Report(
            kSliceEndZero, document_.exprs[end.valid() ? end : id].range,
            "an end of 0 for up to the end is deprecated since version 1.0.4; write {}",
            is_known ? fmt::format("the extent, {}", shape[axis_numbers[i]].value()) : "the extent");
        return;
      }
    }
  }

  Subject& subject_;
  const ast::Document& document_;
};

}  // namespace

void LintDeprecated(Subject& subject) {
  Deprecated(subject).Find();
}

void LintQuantizationFile(const ast::Document& quantization, Subject& subject) {
  if (!quantization.dialect.deprecations) return;
  for (const ast::Quantization& entry : quantization.quantizations) {
    if (!entry.invocation.valid()) continue;
    const ast::Expr& expr = quantization.exprs[entry.invocation];
    const auto* invocation = ast::Find<ast::InvocationExpr>(expr.node);
    if (invocation == nullptr || subject.Text(invocation->callee.symbol) != "linear_quantize") continue;
    ReportLinearQuantize(subject, *invocation, expr.range);
  }
}

}  // namespace nnefc::lint

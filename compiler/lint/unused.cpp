// The lint checks of unused tensors, parameters, fragments and variables.

#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "compiler/syntax/walk.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

// A search for unused values and declarations. In a document with mistakes it checks only declarations
// without hidden names, and treats invalid statements as used.
class Unused {
 public:
  explicit Unused(Subject& subject) : subject_(subject), document_(subject.document) {}

  void Find() {
    FindBodies();
    FindEffects();
    for (const ast::Fragment& fragment : document_.fragments) {
      if (!fragment.has_body || !subject_.IsReadable(fragment.range)) continue;
      VisitBody(fragment.body, ResultNames(fragment), false);
      if (MayBeBody(fragment.name.symbol)) continue;  // another body may use them
      for (const ast::Parameter& parameter : fragment.parameters) {
        if (used_.contains(parameter.name.symbol)) continue;
        subject_
            .Report(kUnusedParameter, parameter.name.range, "parameter `{}` of `{}` is never used; remove it",
                    subject_.Text(parameter.name.symbol), subject_.Text(fragment.name.symbol))
            .Note(fragment.name.range, "declared here");
      }
    }
    for (const ast::Graph& graph : document_.graphs) {
      if (subject_.checked.graph() != &graph || !subject_.IsReadable(graph.range)) continue;
      VisitBody(graph.body, graph.results, true);
    }
    FindFragments();
  }

 private:
  static llvm::SmallVector<ast::Name, 4> ResultNames(const ast::Fragment& fragment) {
    llvm::SmallVector<ast::Name, 4> names;
    for (const ast::Result& result : fragment.results) names.push_back(result.name);
    return names;
  }

  // Calls `use` for the fragments that an invocation names as bodies.
  void ForEachBody(const semantics::Binding& binding, llvm::function_ref<void(Symbol)> use) {
    if (!binding.callee.document->signature(binding.callee.fragment).runs_bodies) return;
    for (ast::ExprId argument : binding.arguments) {
      while (argument.valid()) {
        const ast::ExprNode& node = document_.exprs[argument].node;
        if (const auto* literal = std::get_if<ast::StringLiteral>(&node)) use(literal->value);
        const auto* paren = std::get_if<ast::ParenExpr>(&node);
        argument = paren != nullptr ? paren->inner : ast::ExprId();
      }
    }
  }

  bool MayBeBody(Symbol name) const {
    return bodies_.contains(name) || (!subject_.is_right && subject_.checked.may_run_bodies());
  }

  void FindBodies() {
    if (!subject_.checked.may_run_bodies()) return;
    for (size_t i = 0; i < document_.exprs.size(); ++i) {
      const semantics::Binding* binding = subject_.checked.binding(ast::ExprId(static_cast<int32_t>(i)));
      if (binding != nullptr) ForEachBody(*binding, [&](Symbol name) { bodies_.insert(name); });
    }
  }

  // Calls `use` for the fragment of an invalid invocation.
  void ForWrongCallee(ast::ExprId id, llvm::function_ref<void(ast::FragmentId)> use) {
    const auto* invocation = ast::Find<ast::InvocationExpr>(document_.exprs[id].node);
    if (invocation == nullptr || !invocation->callee.symbol.valid()) return;
    const semantics::Callee callee = subject_.checked.Find(invocation->callee.symbol);
    if (callee.valid() && callee.document == &subject_.checked) use(callee.fragment);
  }

  // Calls `use` for the document's fragments that an expression invokes or has as bodies.
  void ForEachCallee(ast::ExprId root, llvm::function_ref<void(ast::FragmentId)> use) {
    ast::WalkExprs(document_, root, [&](ast::ExprId id, const ast::Expr&) {
      const semantics::Binding* binding = subject_.checked.binding(id);
      if (binding == nullptr) return ForWrongCallee(id, use);
      if (binding->callee.document == &subject_.checked) use(binding->callee.fragment);
      ForEachBody(*binding, [&](Symbol name) {
        const semantics::Callee body = subject_.checked.Find(name);
        if (body.document == &subject_.checked) use(body.fragment);
      });
    });
  }

  bool Updates(ast::ExprId root) {
    bool found = false;
    ast::WalkExprs(document_, root, [&](ast::ExprId id, const ast::Expr&) {
      found |= subject_.StandardCallee(id) == "update";
    });
    return found;
  }

  // Determines the fragments with an effect: those that update a variable, directly or through another
  // fragment. Their results may be unused.
  void FindEffects() {
    const size_t count = document_.fragments.size();
    std::vector<std::vector<int32_t>> callers(count);
    std::vector<int32_t> pending;
    has_effect_.assign(count, false);
    for (size_t i = 0; i < count; ++i) {
      for (const ast::Assignment& statement : document_.fragments[Id(i)].body) {
        ForEachCallee(statement.right, [&](ast::FragmentId callee) {
          callers[static_cast<size_t>(callee.index)].push_back(static_cast<int32_t>(i));
        });
        if (!has_effect_[i] && Updates(statement.right)) {
          has_effect_[i] = true;
          pending.push_back(static_cast<int32_t>(i));
        }
      }
    }
    while (!pending.empty()) {
      const auto callee = static_cast<size_t>(pending.back());
      pending.pop_back();
      for (int32_t caller : callers[callee]) {
        if (has_effect_[static_cast<size_t>(caller)]) continue;
        has_effect_[static_cast<size_t>(caller)] = true;
        pending.push_back(caller);
      }
    }
  }

  bool HasEffect(ast::ExprId right) {
    bool found = Updates(right) || subject_.HasMistake(document_.exprs[right].range);
    ForEachCallee(right,
                  [&](ast::FragmentId callee) { found |= has_effect_[static_cast<size_t>(callee.index)]; });
    return found;
  }

  // Processes statements from last to first. A statement is live if it assigns a result or a value that a
  // live statement uses, or if it has an effect.
  void VisitBody(llvm::ArrayRef<ast::Assignment> body, llvm::ArrayRef<ast::Name> results, bool is_graph) {
    used_.clear();
    live_.clear();
    for (const ast::Name& result : results) live_.insert(result.symbol);
    for (const ast::Assignment& statement : llvm::reverse(body)) {
      llvm::SmallVector<ast::Name, 4> targets;
      bool is_live = false;
      bool is_used = false;
      ast::ForEachTarget(document_, statement.left, [&](const ast::Name& name) {
        targets.push_back(name);
        is_live |= live_.contains(name.symbol);
        is_used |= used_.contains(name.symbol);
      });
      is_live = is_live || HasEffect(statement.right);
      if (!is_live && !targets.empty()) dead_.push_back({&statement, targets, is_used});
      ast::WalkExprs(document_, statement.right, [&](ast::ExprId, const ast::Expr& expr) {
        const auto* identifier = std::get_if<ast::IdentifierExpr>(&expr.node);
        if (identifier == nullptr) return;
        used_.insert(identifier->name);
        if (is_live) live_.insert(identifier->name);
      });
    }
    for (const Dead& dead : llvm::reverse(dead_)) ReportDead(dead, is_graph);
    dead_.clear();
  }

  struct Dead {
    const ast::Assignment* statement;
    llvm::SmallVector<ast::Name, 4> targets;
    bool is_used;
  };

  void ReportDead(const Dead& dead, bool is_graph) {
    const std::string_view callee = subject_.StandardCallee(dead.statement->right);
    const ast::Name& first = dead.targets.front();
    const std::string_view name = subject_.Text(first.symbol);
    if (is_graph && callee == "external") {
      subject_.Report(kUnusedInput, first.range,
                      "input `{}` is never used: no result depends on it; remove it and its `external`",
                      name);
      return;
    }
    if (callee == "variable") {
      subject_.Report(kUnusedVariable, first.range,
                      "variable `{}` is never used: no result depends on it; remove it and its data", name);
      return;
    }
    const SourceRange left = document_.exprs[dead.statement->left].range;
    if (dead.is_used) {
      subject_.Report(kUnusedTensor, left, "{} used only for what is never used itself; remove the statement",
                      dead.targets.size() == 1 ? fmt::format("`{}` is", name) : "these are");
    } else if (dead.targets.size() == 1) {
      subject_.Report(kUnusedTensor, left, "`{}` is never used; remove the statement", name)
          .Fix(LinesOf(dead.statement->range), "");
    } else {
      subject_.Report(kUnusedTensor, left, "none of these is ever used; remove the statement")
          .Fix(LinesOf(dead.statement->range), "");
    }
  }

  // Returns the lines that only a statement occupies, including trailing comments.
  SourceRange LinesOf(SourceRange range) const {
    const std::string_view text = subject_.context.sources.Text(range.file);
    uint32_t begin = range.begin;
    while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
    uint32_t end = range.end;
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == ';')) ++end;
    if (end < text.size() && text[end] == '#')
      end = static_cast<uint32_t>(std::min(text.find('\n', end), text.size()));
    if ((begin > 0 && text[begin - 1] != '\n') || (end < text.size() && text[end] != '\n')) return range;
    return {range.file, begin, std::min(end + 1, static_cast<uint32_t>(text.size()))};
  }

  // Returns true if the callees of all invocations are known.
  bool KnowsCallees() {
    if (subject_.is_right) return true;
    if (document_.graphs.empty() || subject_.checked.may_run_bodies() ||
        !subject_.IsReadable({document_.file, 0, UINT32_MAX}))
      return false;
    return llvm::all_of(document_.exprs, [&](const ast::Expr& expr) {
      const auto* invocation = ast::Find<ast::InvocationExpr>(expr.node);
      return invocation == nullptr || subject_.checked.Find(invocation->callee.symbol).valid();
    });
  }

  // Reports fragments that no graph reaches.
  void FindFragments() {
    if (!KnowsCallees()) return;
    std::vector<bool> reached(document_.fragments.size());
    std::vector<ast::FragmentId> pending;
    auto reach = [&](ast::FragmentId id) {
      if (reached[static_cast<size_t>(id.index)]) return;
      reached[static_cast<size_t>(id.index)] = true;
      pending.push_back(id);
    };
    for (const ast::Graph& graph : document_.graphs) {
      for (const ast::Assignment& statement : graph.body) ForEachCallee(statement.right, reach);
    }
    while (!pending.empty()) {
      const ast::FragmentId id = pending.back();
      pending.pop_back();
      for (const ast::Assignment& statement : document_.fragments[id].body)
        ForEachCallee(statement.right, reach);
    }
    for (size_t i = 0; i < reached.size(); ++i) {
      const ast::Fragment& fragment = document_.fragments[Id(i)];
      if (reached[i]) continue;
      subject_.Report(kUnusedFragment, fragment.name.range,
                      "fragment `{}` is never used: the graph does not reach it; remove it",
                      subject_.Text(fragment.name.symbol));
    }
  }

  static ast::FragmentId Id(size_t index) { return ast::FragmentId(static_cast<int32_t>(index)); }

  Subject& subject_;
  const ast::Document& document_;
  llvm::DenseSet<Symbol> bodies_;  // names of fragments used as bodies
  std::vector<bool> has_effect_;   // indexed by FragmentId
  // The state of the current body.
  llvm::DenseSet<Symbol> used_;
  llvm::DenseSet<Symbol> live_;
  std::vector<Dead> dead_;
};

}  // namespace

void LintUnused(Subject& subject) {
  Unused(subject).Find();
}

}  // namespace nnefc::lint

// The lint checks of portability: constructs that other tools do not read.

#include <map>

#include "compiler/lint/rules.h"
#include "compiler/lint/subject.h"
#include "compiler/semantics/check_document.h"
#include "compiler/semantics/extensions.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/walk.h"
#include "llvm/ADT/DenseSet.h"

namespace nnefc::lint {
namespace {

// Reports the errors that a tool for the ratified dialect finds in a provisional document, by running that
// dialect's parser and checker.
void LintProvisional(Subject& subject) {
  if (!subject.checked.dialect().translated || !subject.enabled(kNotRatified) || !subject.is_right) return;
  constexpr size_t kMaxMistakes = 100;
  Context other(subject.context, kMaxMistakes);
  auto document = ast::ParseDocument(subject.document.file, {.dialect = ast::Dialect::kRatified}, other);
  const auto checked =
      semantics::CheckDocument(std::move(document), semantics::StandardLibrary::Shared(), {}, other);
  // The first diagnostic of each broken rule, and their number.
  std::map<const Rule*, size_t> counts;
  std::vector<const Diagnostic*> firsts;
  for (const Diagnostic& diagnostic : other.emitter.diagnostics()) {
    if (diagnostic.severity != Severity::kError) continue;
    if (counts[diagnostic.rule]++ == 0) firsts.push_back(&diagnostic);
  }
  SourceRange range = subject.document.version_range;
  if (!range.valid()) range = {subject.document.file, 0, 0};
  DiagnosticBuilder builder =
      subject.Report(kNotRatified, range,
                     "the document is of the provisional dialect, which tools for the ratified one refuse; "
                     "`nnefc upgrade` makes a ratified one");
  for (const Diagnostic* diagnostic : firsts) {
    const size_t others = counts[diagnostic->rule] - 1;
    builder.Note(diagnostic->range, "{}{}", diagnostic->message,
                 others == 0 ? "" : fmt::format(" (and {} more of this kind)", others));
  }
}

// Reports fragments of implicit extensions (other tools need not support them) at the first invocation of
// each.
void LintImplicit(Subject& subject) {
  llvm::DenseSet<Symbol> reported;
  for (const ast::Expr& expr : subject.document.exprs) {
    const auto* invocation = ast::Find<ast::InvocationExpr>(expr.node);
    if (invocation == nullptr || !invocation->callee.symbol.valid()) continue;
    for (const semantics::ExtensionLibrary& extension : subject.checked.extensions()) {
      if (extension.extension->activation != semantics::Activation::kImplicit) continue;
      const semantics::Callee callee = subject.checked.Find(invocation->callee.symbol);
      if (callee.document != extension.library || !reported.insert(invocation->callee.symbol).second)
        continue;
      const bool is_plugin = !extension.extension->text.empty();
      subject
          .Report(kUndefinedLayer, invocation->callee.range,
                  "`{}` is not defined here; it is taken from {}{}, {}",
                  subject.Text(invocation->callee.symbol), is_plugin ? "the plug-in library " : "",
                  extension.extension->name,
                  is_plugin
                      ? "which other tools do not have"
                      : "whose fragments are examples that no tool has to know, so define it in the document")
          .Note(callee.document->signature(callee.fragment).name.range, "the definition that is taken");
    }
  }
}

// A search for constructs of valid ratified documents that Khronos' own parser (NNEF-Tools, the PyPI package
// `nnef`) rejects or misinterprets. tests/interop/messages/test_lint_khronos.py verifies them with the
// package.
class KhronosParser {
 public:
  explicit KhronosParser(Subject& subject)
      : subject_(subject),
        document_(subject.document),
        text_(subject.context.sources.Text(subject.document.file)) {}

  void Find() {
    VisitText();
    VisitExtensions();
    VisitFragments();
    for (size_t i = 0; i < document_.exprs.size(); ++i)
      VisitExpr(document_.exprs[ast::ExprId(static_cast<int32_t>(i))]);
  }

 private:
  DiagnosticBuilder Report(SourceRange range, std::string_view what, std::string_view instead) {
    return subject_.Report(kKhronosParser, range, "Khronos' parser {}; {}", what, instead);
  }

  void VisitText() {
    if (text_.starts_with("\xEF\xBB\xBF"))
      Report({document_.file, 0, 3}, "refuses a byte order mark", "remove it")
          .Fix({document_.file, 0, 3}, "");
    for (const ast::Comment& comment : document_.comments) {
      if (comment.range.end >= text_.size() || text_[comment.range.end] != '\f') continue;
      const SourceRange feed{document_.file, comment.range.end, comment.range.end + 1};
      Report(feed, "does not end a comment at a form feed, and swallows what follows on the line",
             "end the line")
          .Fix(feed, "\n");
    }
  }

  void VisitExtensions() {
    for (const ast::Extension& extension : document_.extensions) {
      if (extension.names.size() < 2) continue;
      std::string lines;
      for (const ast::Name& name : extension.names)
        lines += fmt::format("{}extension {};", lines.empty() ? "" : "\n", subject_.Text(name.symbol));
      Report(extension.range,
             "wants a comma between the names of extensions, which the specification does not have",
             "give each name a line of its own")
          .Fix(extension.range, lines);
    }
  }

  // Reports fragments used before their definition, and `tensor<scalar>= 0.0` without a blank.
  void VisitFragments() {
    llvm::DenseSet<Symbol> defined;
    for (const ast::Fragment& fragment : document_.fragments) {
      if (!subject_.IsReadable(fragment.range)) {
        defined.insert(fragment.name.symbol);
        continue;
      }
      for (const ast::Assignment& statement : fragment.body) {
        ast::WalkExprs(document_, statement.right, [&](ast::ExprId id, const ast::Expr& expr) {
          const semantics::Binding* binding = subject_.checked.binding(id);
          if (binding == nullptr || binding->callee.document != &subject_.checked) return;
          const auto* invocation = ast::Find<ast::InvocationExpr>(expr.node);
          const Symbol callee = invocation->callee.symbol;
          if (defined.contains(callee) || callee == fragment.name.symbol) return;
          Report(invocation->callee.range, "knows a fragment only behind its definition",
                 fmt::format("define `{}` before `{}`", subject_.Text(callee),
                             subject_.Text(fragment.name.symbol)));
        });
      }
      defined.insert(fragment.name.symbol);
      for (const ast::Parameter& parameter : fragment.parameters) {
        const SourceRange type = document_.types[parameter.type].range;
        if (type.end >= text_.size() || text_[type.end] != '=' || text_[type.end - 1] != '>') continue;
        const SourceRange gap{document_.file, type.end, type.end};
        Report({document_.file, type.end - 1, type.end + 1}, "reads `>=` here as one operator",
               "put a blank between")
            .Fix(gap, " ");
      }
    }
  }

  void VisitExpr(const ast::Expr& expr) {
    if (const auto* integer = std::get_if<ast::IntegerLiteral>(&expr.node)) {
      if (integer->value > INT32_MAX)
        Report(expr.range, "keeps the low 32 bits of an integer", "keep integers below 2147483648");
    } else if (const auto* builtin = ast::Find<ast::BuiltinExpr>(expr.node)) {
      if (builtin->builtin == ast::Builtin::kShapeOf)
        Report(builtin->name_range, "refuses the deprecated `shape_of`", "pass the shape as an attribute");
    } else if (const auto* binary = ast::Find<ast::BinaryExpr>(expr.node)) {
      VisitSign(*binary);
    }
  }

  // Reports signs: the parser applies a sign to everything after it, `-1.0 + 3.0` is -4.
  void VisitSign(const ast::BinaryExpr& binary) {
    if (!binary.left.valid()) return;
    const ast::Expr* left = &document_.exprs[binary.left];
    // The sign may be at the end of the left operand: `2.0 * -1.0 + 3.0`.
    for (const ast::BinaryExpr* inner = nullptr;
         (inner = ast::Find<ast::BinaryExpr>(left->node)) != nullptr && inner->right.valid();)
      left = &document_.exprs[inner->right];
    if (!std::holds_alternative<ast::UnaryExpr>(left->node)) return;
    Report(left->range, "takes what follows a sign as its operand too",
           fmt::format("write `({})`", subject_.SourceText(left->range).substr(0, 80)))
        .Fix(left->range, fmt::format("({})", subject_.SourceText(left->range)));
  }

  Subject& subject_;
  const ast::Document& document_;
  std::string_view text_;
};

}  // namespace

void LintPortability(Subject& subject) {
  LintProvisional(subject);
  LintImplicit(subject);
  if (!subject.checked.dialect().translated && subject.enabled(kKhronosParser)) KhronosParser(subject).Find();
}

}  // namespace nnefc::lint

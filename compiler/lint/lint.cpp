#include "compiler/lint/lint.h"

#include "compiler/lint/allow.h"
#include "compiler/lint/subject.h"
#include "compiler/syntax/parse.h"

namespace nnefc::lint {

Subject::Subject(Compilation& compilation, const Settings& settings)
    : compilation(compilation),
      checked(*compilation.checked()),
      document(checked.ast()),
      graph(*compilation.expanded()),
      context(compilation.context()),
      settings_(settings) {
  for (ir::NodeId id : graph.nodes()) {
    const SourceRange site = SiteOf(graph.node(id));
    if (site.valid()) sites_[{site.begin, site.end}].push_back(id);
  }
}

std::string_view Subject::StandardCallee(ast::ExprId expr) const {
  const Binding* binding = checked.binding(expr);
  if (binding == nullptr || !binding->callee.document->is_library()) return {};
  return Text(binding->callee.document->signature(binding->callee.fragment).name.symbol);
}

ast::ExprId Subject::ArgumentOf(ast::ExprId invocation, std::string_view parameter) const {
  const Binding* binding = checked.binding(invocation);
  if (binding == nullptr) return {};
  const Signature& signature = binding->callee.document->signature(binding->callee.fragment);
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (Text(signature.parameters[i].name.symbol) == parameter) return binding->arguments[i];
  }
  return {};
}

SourceRange Subject::SiteOf(const ir::Node& node) const {
  const ir::Origin& origin = node.origin();
  if (origin.range.file == document.file) return origin.range;
  for (const ir::Frame* frame = origin.frame.get(); frame != nullptr; frame = frame->parent.get()) {
    if (frame->call_site.file == document.file) return frame->call_site;
  }
  return {};
}

const std::vector<ir::NodeId>& Subject::NodesAt(SourceRange range) const {
  static const std::vector<ir::NodeId> kNone;
  auto found = sites_.find({range.begin, range.end});
  return found == sites_.end() ? kNone : found->second;
}

namespace {

// The quantization file of a model, parsed once more: what was wrong with it
// was told.
std::unique_ptr<const ast::Document> ParseQuantization(const Compilation& compilation, Context& context) {
  const ModelContainer* model = compilation.model();
  if (model == nullptr || !model->quantization_text()) return nullptr;
  Emitter told = std::exchange(context.emitter, Emitter());
  auto document = ParseDocument(
      *model->quantization_text(),
      {.dialect = compilation.checked()->dialect(), .kind = DocumentKind::kQuantization}, context);
  context.emitter = std::move(told);
  return document;
}

void RunFamilies(Subject& subject, const ast::Document* quantization) {
  LintUnused(subject);
  LintDeprecated(subject);
  if (quantization != nullptr) LintQuantizationFile(*quantization, subject);
  LintDefaults(subject);
  LintData(subject);
  LintRedundant(subject);
  LintPortability(subject);
}

void Settle(const Settings& settings, AllowComments& allowed, Context& context) {
  std::vector<Diagnostic> said = context.emitter.diagnostics();
  const auto kept = llvm::count_if(said, [](const Diagnostic& d) { return d.severity == Severity::kError; });
  // With more errors than are kept their number must not change.
  if (context.emitter.error_count() > static_cast<size_t>(kept)) return;
  context.emitter.Clear();
  // Each family went through the document: what they found stands in its order.
  llvm::stable_sort(said, [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.range.file.index, a.range.begin) < std::pair(b.range.file.index, b.range.begin);
  });
  for (Diagnostic& diagnostic : said) {
    if (diagnostic.rule->severity != Severity::kError || Settings::Find(diagnostic.rule->label) != nullptr) {
      if (!settings.enabled(*diagnostic.rule)) continue;
      if (allowed.Allows(*diagnostic.rule, diagnostic.range)) continue;
      diagnostic.severity = settings.level(*diagnostic.rule);
    }
    context.emitter.Add(std::move(diagnostic));
  }
}

}  // namespace

void Lint(Compilation& compilation, const Settings& settings) {
  Context& context = compilation.context();
  AllowComments allowed;
  const bool is_right = compilation.expanded() != nullptr && !context.emitter.has_errors();
  std::unique_ptr<const ast::Document> quantization;
  if (is_right) {
    quantization = ParseQuantization(compilation, context);
    Subject subject(compilation, settings);
    RunFamilies(subject, quantization.get());
  }
  if (compilation.checked() != nullptr) allowed.Add(compilation.checked()->ast(), context);
  if (quantization != nullptr) allowed.Add(*quantization, context);
  Settle(settings, allowed, context);
  if (!is_right) return;
  const size_t before = context.emitter.diagnostics().size();
  allowed.ReportUnused(settings, context);
  if (context.emitter.diagnostics().size() != before) {
    AllowComments nothing;
    Settle(settings, nothing, context);
  }
}

}  // namespace nnefc::lint

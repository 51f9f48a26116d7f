// The checks of lint in their order.

#include "compiler/lint/lint.h"

#include <algorithm>

#include "compiler/lint/allow.h"
#include "compiler/lint/subject.h"
#include "compiler/semantics/rules.h"
#include "compiler/syntax/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lint {
namespace {

const ir::Graph& NoGraph() {
  static const ir::OpRegistry kNoOperations;
  static const ir::Graph kNone(&kNoOperations);
  return kNone;
}

// Returns whether a mistake may hide a name from readers of the tree: a use, or the target of an assignment.
bool HidesNames(const Rule& rule) {
  const Rule* const read_all_the_same[] = {
      &ast::kMissingSemicolon,   &ast::kMissingVersion, &ast::kVersionSemicolon, &ast::kQuantizationSemicolon,
      &ast::kUnsupportedVersion, &ast::kNumberRange,    &ast::kMissingGraph};
  if (llvm::is_contained(ast::kSyntaxRules, &rule)) return !llvm::is_contained(read_all_the_same, &rule);
  const Rule* const names[] = {&semantics::kUndefined,      &semantics::kResultNotAssigned,
                               &semantics::kGraphParameter, &semantics::kUnboundResult,
                               &semantics::kDuplicateName,  &semantics::kDuplicateFragment};
  return llvm::is_contained(names, &rule);
}

}  // namespace

Subject::Subject(const LintInput& input, const Settings& settings, Context& context)
    : checked(input.checked),
      document(checked.ast()),
      graph(input.expanded.graph != nullptr ? *input.expanded.graph : NoGraph()),
      model(input.model),
      context(context),
      is_right(input.expanded.complete),
      has_trial_extents(input.expanded.is_trial()),
      settings_(settings),
      dropped_count_(context.emitter.exhausted()) {
  for (const Diagnostic& diagnostic : context.emitter.diagnostics()) {
    if (diagnostic.severity != Severity::kError || diagnostic.range.file != document.file) continue;
    mistakes_.emplace_back(diagnostic.range.begin, HidesNames(*diagnostic.rule));
  }
  // Errors in values also affect the invocations of their fragments.
  for (const Diagnostic& diagnostic : input.expanded.diagnostics) {
    if (diagnostic.severity != Severity::kError) continue;
    for (const DiagnosticNote& note : diagnostic.notes) {
      if (note.range.file == document.file) mistakes_.emplace_back(note.range.begin, false);
    }
  }
  llvm::sort(mistakes_);
  for (ir::NodeId id : graph.nodes()) {
    const SourceRange site = SiteOf(graph.node(id));
    if (site.valid()) sites_[{site.begin, site.end}].push_back(id);
  }
}

std::string_view Subject::StandardCallee(ast::ExprId expr) const {
  const semantics::Binding* binding = checked.binding(expr);
  if (binding == nullptr || !binding->callee.document->is_library()) return {};
  return Text(binding->callee.document->signature(binding->callee.fragment).name.symbol);
}

ast::ExprId Subject::ArgumentOf(ast::ExprId invocation, std::string_view parameter) const {
  const semantics::Binding* binding = checked.binding(invocation);
  if (binding == nullptr) return {};
  const semantics::Signature& signature = binding->callee.document->signature(binding->callee.fragment);
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
  // Rejected nodes may violate the requirements of their operation.
  if (HasMistake(range)) return kNone;
  auto found = sites_.find({range.begin, range.end});
  return found == sites_.end() ? kNone : found->second;
}

bool Subject::HasMistake(SourceRange range) const {
  if (is_right) return false;
  auto first = llvm::lower_bound(mistakes_, std::pair(range.begin, false));
  return dropped_count_ || (first != mistakes_.end() && first->first <= range.end);
}

bool Subject::IsReadable(SourceRange range) const {
  if (is_right) return true;
  if (dropped_count_) return false;
  auto first = llvm::lower_bound(mistakes_, std::pair(range.begin, false));
  return std::none_of(first, mistakes_.end(),
                      [&](const auto& mistake) { return mistake.first <= range.end && mistake.second; });
}

namespace {

void RunFamilies(Subject& subject, const semantics::CheckedDocument* quantization) {
  LintUnused(subject);
  LintDeprecated(subject);
  if (quantization != nullptr) LintQuantizationFile(quantization->ast(), subject);
  LintDefaults(subject);
  LintData(subject);
  LintRedundant(subject);
  LintBranches(subject);
  LintBroadcast(subject);
  LintWindows(subject);
  LintPortability(subject);
  LintComments(subject);
}

// Sorts the emitted diagnostics by location, and replaces their severity by the level that the settings
// state. Findings that are off or allowed by a comment are removed.
void ApplySettings(const Settings& settings, AllowComments& allowed, Context& context) {
  std::vector<Diagnostic> diagnostics = context.emitter.diagnostics();
  // If errors were dropped, their number must not change.
  if (context.emitter.has_dropped_errors()) return;
  context.emitter.Clear();
  // Merge the findings of all families into document order.
  llvm::stable_sort(diagnostics, [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.range.file.index, a.range.begin) < std::pair(b.range.file.index, b.range.begin);
  });
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.rule->severity != Severity::kError || Settings::Find(diagnostic.rule->label) != nullptr) {
      if (!settings.enabled(*diagnostic.rule)) continue;
      if (allowed.Allows(*diagnostic.rule, diagnostic.range)) continue;
      diagnostic.severity = settings.level(*diagnostic.rule);
    }
    context.emitter.Add(std::move(diagnostic));
  }
}

}  // namespace

void Lint(const LintInput& input, const Settings& settings, Context& context) {
  AllowComments allowed;
  Subject subject(input, settings, context);
  RunFamilies(subject, input.quantization);
  allowed.Add(input.checked.ast(), context);
  if (input.quantization != nullptr) allowed.Add(input.quantization->ast(), context);
  ApplySettings(settings, allowed, context);
  if (!input.expanded.complete) return;  // a rule that was not evaluated would be reported
  if (allowed.ReportUnused(settings, context)) {
    AllowComments nothing;  // the allowances do not apply to reports on them
    ApplySettings(settings, nothing, context);
  }
}

}  // namespace nnefc::lint

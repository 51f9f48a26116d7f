#include "compiler/language/analysis.h"

#include "compiler/driver/quantization.h"
#include "compiler/expand/expand.h"
#include "compiler/lint/lint.h"
#include "compiler/support/sections.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::language {

Analysis::Analysis(EditorText document, const AnalysisOptions& options) : uri_(std::move(document.uri)) {
  context_.limits = options.limits;
  file_ = context_.sources.AddText(uri_, std::move(document.text));
  positions_ = std::make_unique<PositionMap>(context_.sources, file_);
  checked_ =
      CheckDocument(ParseDocument(file_, {.dialect = options.dialect}, context_), library_, {}, context_);
  if (!context_.emitter.exhausted()) {
    ExpandOptions expand;
    expand.purpose = Purpose::kJudge;
    expand.keep_incomplete = true;
    graph_ = ExpandDocument(*checked_, library_, registry_, expand, context_);
  }
  const bool is_right = graph_ != nullptr && !context_.emitter.has_errors();
  if (options.quantization) CheckQuantization(*options.quantization);
  if (options.lint != nullptr) {
    const lint::LintInput input{.checked = *checked_,
                                .graph = graph_.get(),
                                .quantization = quantization_ != nullptr ? &quantization_->ast() : nullptr,
                                .is_right = is_right};
    lint::Lint(input, *options.lint, context_);
  }
  names_ = std::make_unique<NameIndex>(*checked_);
  if (graph_ != nullptr) IndexShapes();
}

void Analysis::CheckQuantization(const EditorText& text) {
  quantization_uri_ = text.uri;
  quantization_file_ = context_.sources.AddText(text.uri, text.text);
  const ir::Graph none(&registry_);
  const bool is_complete = graph_ != nullptr && !context_.emitter.has_errors();
  quantization_ = CheckModelQuantization(quantization_file_, *checked_, graph_ != nullptr ? *graph_ : none,
                                         is_complete, library_, registry_, context_)
                      .document;
}

void Analysis::IndexShapes() {
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, const ir::Frame*> last_frame;
  for (ir::NodeId id : graph_->nodes()) {
    const ir::Node& node = graph_->node(id);
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      for (const std::string& name : node.output(i).names) tensors_.try_emplace(name, node.port(i));
    }
    const SourceRange place = node.origin().range;
    if (place.file != file_) continue;
    std::vector<ir::NodeId>& nodes = sites_[{place.begin, place.end}];
    // Nodes of one instantiation are made one after the other.
    auto [frame, is_new] = last_frame.try_emplace({place.begin, place.end}, node.origin().frame.get());
    if (!is_new && frame->second == node.origin().frame.get()) {
      nodes.back() = id;
    } else {
      frame->second = node.origin().frame.get();
      nodes.push_back(id);
    }
  }
}

TextRange Analysis::RangeOf(SourceRange range) const {
  auto position = [&](uint32_t offset) {
    return range.file == file_ ? positions_->PositionAt(offset)
                               : PositionAt(context_.sources, range.file, offset);
  };
  return {range.begin, range.end, position(range.begin), position(range.end)};
}

std::optional<Place> Analysis::PlaceOf(SourceRange range) const {
  if (!range.valid() || context_.sources.Kind(range.file) != FileKind::kText) return std::nullopt;
  if (range.file == file_) return Place{uri_, RangeOf(range)};
  if (range.file == quantization_file_) return Place{quantization_uri_, RangeOf(range)};
  const bool is_ratified = context_.sources.Name(range.file).find("<ratified") == 0;
  return Place{
      LanguageService::LibraryUri(is_ratified ? ast::Dialect::kRatified : ast::Dialect::kProvisional),
      RangeOf(range)};
}

std::vector<Finding> FindingsIn(const Context& context, FileId file, const PositionMap& positions,
                                llvm::function_ref<std::optional<Place>(SourceRange)> place_of) {
  auto range_of = [&](SourceRange range) {
    return TextRange{range.begin, range.end, positions.PositionAt(range.begin),
                     positions.PositionAt(range.end)};
  };
  std::vector<Finding> findings;
  for (const Diagnostic& diagnostic : context.emitter.diagnostics()) {
    if (diagnostic.range.file != file) continue;
    Finding finding{.severity = diagnostic.severity,
                    .rule = diagnostic.rule->label,
                    .section = diagnostic.rule->section,
                    .message = diagnostic.message,
                    .range = range_of(diagnostic.range),
                    .notes = {},
                    .fixes = {}};
    for (const DiagnosticNote& note : diagnostic.notes)
      finding.notes.push_back({note.message, place_of(note.range)});
    for (const FixIt& fix : diagnostic.fixes) {
      if (fix.range.file == file) finding.fixes.push_back({range_of(fix.range), fix.text});
    }
    findings.push_back(std::move(finding));
  }
  llvm::stable_sort(findings,
                    [](const Finding& a, const Finding& b) { return a.range.begin < b.range.begin; });
  return findings;
}

namespace {

// Names the sections of the document's specification alone.
void SpeakOf(const CheckedDocument& document, std::vector<Finding>& findings) {
  const char specification = document.dialect() == ast::Dialect::kRatified ? 'R' : 'P';
  for (Finding& finding : findings) finding.section = SectionsIn(finding.section, specification);
}

}  // namespace

std::vector<Finding> Analysis::Findings() const {
  auto place_of = [this](SourceRange range) { return PlaceOf(range); };
  std::vector<Finding> findings = FindingsIn(context_, file_, *positions_, place_of);
  // What has no place in a text is told at the beginning.
  std::vector<Finding> elsewhere;
  for (const Diagnostic& diagnostic : context_.emitter.diagnostics()) {
    if (diagnostic.range.file == file_ ||
        (quantization_file_.valid() && diagnostic.range.file == quantization_file_))
      continue;
    Finding finding{.severity = diagnostic.severity,
                    .rule = diagnostic.rule->label,
                    .section = diagnostic.rule->section,
                    .message = diagnostic.message,
                    .range = RangeOf({file_, 0, 0}),
                    .notes = {},
                    .fixes = {}};
    for (const DiagnosticNote& note : diagnostic.notes)
      finding.notes.push_back({note.message, PlaceOf(note.range)});
    elsewhere.push_back(std::move(finding));
  }
  findings.insert(findings.begin(), elsewhere.begin(), elsewhere.end());
  SpeakOf(*checked_, findings);
  return findings;
}

std::vector<Finding> Analysis::QuantizationFindings() const {
  if (!quantization_file_.valid()) return {};
  const PositionMap positions(context_.sources, quantization_file_);
  std::vector<Finding> findings = FindingsIn(context_, quantization_file_, positions,
                                             [this](SourceRange range) { return PlaceOf(range); });
  SpeakOf(*checked_, findings);
  return findings;
}

std::string Analysis::TypeText(TypeId type) const {
  const TypeTable& types = checked_->types();
  if (!type.valid() || types.Kind(type) == TypeKind::kError) return {};
  return types.Text(type, checked_->dialect());
}

std::string Analysis::SignatureText(Callee callee) const {
  const Signature& signature = callee.document->signature(callee.fragment);
  const TypeTable& types = callee.document->types();
  const ast::Dialect dialect = callee.document->dialect();
  std::string text(Text(signature.name.symbol));
  if (signature.is_generic) text += "<?>";
  auto append = [&](const TypedName& name, size_t index) {
    text += fmt::format("{}{}: {}", index == 0 ? " " : ", ", Text(name.name.symbol),
                        types.Text(name.type, dialect));
    if (name.default_value.valid())
      text += fmt::format(" = {}", PrintExpr(callee.document->ast(), name.default_value, context_, 80));
  };
  text += "(";
  for (size_t i = 0; i < signature.parameters.size(); ++i) append(signature.parameters[i], i);
  text += " ) -> (";
  for (size_t i = 0; i < signature.results.size(); ++i) append(signature.results[i], i);
  return text + " )";
}

std::string Analysis::DefaultText(Callee callee, size_t parameter) const {
  const ast::ExprId value = callee.document->signature(callee.fragment).parameters[parameter].default_value;
  return value.valid() ? PrintExpr(callee.document->ast(), value, context_, 80) : "";
}

std::string Analysis::ShapeOf(const Entity& entity) const {
  if (graph_ == nullptr) return {};
  if (entity.in_graph) {
    auto found = tensors_.find(Text(entity.name));
    if (found == tensors_.end()) return {};
    return ir::ToString(graph_->output(found->second).shape);
  }
  return entity.value.valid() ? ShapeAt(checked_->ast().exprs[entity.value].range, entity.item)
                              : std::string();
}

std::string Analysis::ShapeAt(SourceRange expr, int32_t item) const {
  auto found = sites_.find({expr.begin, expr.end});
  if (found == sites_.end()) return {};
  std::vector<std::string> shapes;
  size_t others = 0;
  constexpr size_t kMostShapes = 64;
  for (ir::NodeId id : found->second) {
    const ir::Node& node = graph_->node(id);
    const int32_t index = std::max(item, 0);
    if (index >= node.num_outputs()) return {};
    std::string shape = ir::ToString(node.output(index).shape);
    if (llvm::is_contained(shapes, shape)) continue;
    if (shapes.size() < kMostShapes) {
      shapes.push_back(std::move(shape));
    } else {
      ++others;
    }
  }
  if (shapes.size() == 1) return shapes.front();
  others += shapes.size() - 1;
  return fmt::format("{} and {} other{}", shapes.front(), others, others == 1 ? "" : "s");
}

SymbolKind Analysis::KindOf(const Entity& entity) const {
  switch (entity.kind) {
    case EntityKind::kGraph:
      return SymbolKind::kGraph;
    case EntityKind::kFragment:
      return SymbolKind::kFragment;
    case EntityKind::kOperation:
      return SymbolKind::kOperation;
    case EntityKind::kParameter:
      return SymbolKind::kParameter;
    case EntityKind::kInput:
      return SymbolKind::kInput;
    case EntityKind::kResult:
      return SymbolKind::kResult;
    case EntityKind::kIterator:
      return SymbolKind::kIterator;
    case EntityKind::kLocal:
      break;
  }
  const bool is_tensor =
      entity.in_graph || (entity.type.valid() && checked_->types().ContainsTensor(entity.type));
  return is_tensor ? SymbolKind::kTensor : SymbolKind::kValue;
}

}  // namespace nnefc::language

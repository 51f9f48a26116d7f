// The analysis of one version of a document: its findings, names and types.

#include "compiler/language/analysis.h"

#include <set>

#include "compiler/lint/lint_model.h"
#include "compiler/support/diagnostics/sections.h"
#include "compiler/syntax/print.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::language {

Analysis::Analysis(driver::NamedText document, const AnalysisOptions& options)
    : uri_(std::move(document.name)),
      options_(options),
      lint_(options.lint != nullptr ? std::optional(*options.lint) : std::nullopt),
      compilation_(uri_, {.dialect = options.dialect,
                          .purpose = expand::Purpose::kValidate,
                          .keep_instances = true,
                          .document = std::move(document.text),
                          .quantization = options.quantization,
                          .limits = options.limits}) {
  compilation_.RunUntil(driver::Stage::kCheck);
  positions_ = std::make_unique<PositionMap>(context().sources, file(), options_.encoding);
  options_.lint = lint_ ? &*lint_ : nullptr;
}

const NameIndex& Analysis::names() const {
  if (names_ == nullptr) names_ = std::make_unique<NameIndex>(checked());
  return *names_;
}

const driver::Compilation& Analysis::compilation() const {
  if (!is_expanded_) {
    is_expanded_ = true;
    compilation_.RunUntil(driver::Stage::kExpand);
    if (lint_) lint::LintModel(compilation_, *lint_);
  }
  return compilation_;
}

void Analysis::IndexShapes() const {
  // Trial extents are not those of the document.
  if (has_shapes_ || graph() == nullptr || compilation().expansion().is_trial()) return;
  has_shapes_ = true;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, const ir::Frame*> last_frame;
  for (ir::NodeId id : graph()->nodes()) {
    const ir::Node& node = graph()->node(id);
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      for (const std::string& name : node.output(i).names) tensors_.try_emplace(name, node.port(i));
    }
    const SourceRange place = node.origin().range;
    if (place.file != file()) continue;
    std::vector<ir::NodeId>& nodes = sites_[{place.begin, place.end}];
    // Nodes of one instantiation are consecutive.
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
    return range.file == file() ? positions_->PositionAt(offset)
                                : PositionAt(context().sources, range.file, offset, options_.encoding);
  };
  return {range.begin, range.end, position(range.begin), position(range.end)};
}

std::optional<Place> Analysis::PlaceOf(SourceRange range) const {
  if (!range.valid() || context().sources.Kind(range.file) != FileKind::kText) return std::nullopt;
  if (range.file == file()) return Place{uri_, RangeOf(range)};
  if (IsQuantization(range.file))
    return Place{std::string(context().sources.Name(range.file)), RangeOf(range)};
  return Place{LanguageService::LibraryUri(semantics::StandardLibrary::Shared().FileName(range.file)),
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
      if (fix.range.file == file)
        finding.fixes.push_back({range_of(fix.range), fix.text, diagnostic.applicability});
    }
    findings.push_back(std::move(finding));
  }
  llvm::stable_sort(findings,
                    [](const Finding& a, const Finding& b) { return a.range.begin < b.range.begin; });
  return findings;
}

std::vector<Finding> FindingsIn(const Context& context, FileId file, const std::string& uri,
                                PositionEncoding encoding) {
  const PositionMap positions(context.sources, file, encoding);
  return FindingsIn(context, file, positions, [&](SourceRange range) -> std::optional<Place> {
    if (range.file != file) return std::nullopt;
    return Place{
        uri, {range.begin, range.end, positions.PositionAt(range.begin), positions.PositionAt(range.end)}};
  });
}

namespace {

// Restricts the section references to the specification of the document's dialect.
void DescribeOperands(const semantics::CheckedDocument& document, std::vector<Finding>& findings) {
  for (Finding& finding : findings)
    finding.section = SectionsIn(finding.section, document.dialect().specification);
}

}  // namespace

std::vector<Finding> Analysis::Findings() const {
  const Context& context = compilation().context();
  auto place_of = [this](SourceRange range) { return PlaceOf(range); };
  std::vector<Finding> findings = FindingsIn(context, file(), *positions_, place_of);
  // Diagnostics outside this text are reported at its beginning.
  std::vector<Finding> elsewhere;
  for (const Diagnostic& diagnostic : context.emitter.diagnostics()) {
    if (diagnostic.range.file == file() || IsQuantization(diagnostic.range.file)) continue;
    Finding finding{.severity = diagnostic.severity,
                    .rule = diagnostic.rule->label,
                    .section = diagnostic.rule->section,
                    .message = diagnostic.message,
                    .range = RangeOf({file(), 0, 0}),
                    .notes = {},
                    .fixes = {}};
    for (const DiagnosticNote& note : diagnostic.notes)
      finding.notes.push_back({note.message, PlaceOf(note.range)});
    elsewhere.push_back(std::move(finding));
  }
  findings.insert(findings.begin(), elsewhere.begin(), elsewhere.end());
  DescribeOperands(checked(), findings);
  return findings;
}

std::vector<Finding> Analysis::QuantizationFindings() const {
  const std::optional<FileId> quantization = compilation().quantization_text();
  if (!quantization) return {};
  const PositionMap positions(context().sources, *quantization, options_.encoding);
  std::vector<Finding> findings =
      FindingsIn(context(), *quantization, positions, [this](SourceRange range) { return PlaceOf(range); });
  DescribeOperands(checked(), findings);
  return findings;
}

std::string Analysis::TypeText(semantics::TypeId type) const {
  const semantics::TypeTable& types = checked().types();
  if (!type.valid() || types.Kind(type) == semantics::TypeKind::kError) return {};
  return types.Text(type, checked().dialect());
}

std::string Analysis::SignatureText(semantics::Callee callee,
                                    std::vector<std::pair<uint32_t, uint32_t>>* parameters) const {
  const semantics::Signature& signature = callee.document->signature(callee.fragment);
  const semantics::TypeTable& types = callee.document->types();
  const ast::Dialect& dialect = callee.document->dialect();
  std::string text(Text(signature.name.symbol));
  if (signature.is_generic) text += "<?>";
  auto append = [&](const semantics::TypedName& name, size_t index) {
    text += index == 0 ? " " : ", ";
    const auto begin = static_cast<uint32_t>(text.size());
    text += fmt::format("{}: {}", Text(name.name.symbol), types.Text(name.type, dialect));
    if (name.default_value.valid())
      text += fmt::format(" = {}", ast::PrintExpr(callee.document->ast(), name.default_value, context(), 80));
    return std::pair(begin, static_cast<uint32_t>(text.size()));
  };
  text += "(";
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const std::pair<uint32_t, uint32_t> range = append(signature.parameters[i], i);
    if (parameters != nullptr) parameters->push_back(range);
  }
  text += " ) -> (";
  for (size_t i = 0; i < signature.results.size(); ++i) append(signature.results[i], i);
  return text + " )";
}

std::string Analysis::DefaultText(semantics::Callee callee, size_t parameter) const {
  const ast::ExprId value = callee.document->signature(callee.fragment).parameters[parameter].default_value;
  return value.valid() ? ast::PrintExpr(callee.document->ast(), value, context(), 80) : "";
}

namespace {

// Returns a recorded value as a literal; empty if it contains tensors or unknown parts.
std::string LiteralOf(const expand::InstanceValue& value) {
  using Kind = expand::InstanceValue::Kind;
  if (value.kind == Kind::kLiteral) return value.literal;
  if (value.kind != Kind::kArray && value.kind != Kind::kTuple) return {};
  std::string text;
  for (const expand::InstanceValue& item : value.items) {
    const std::string literal = LiteralOf(item);
    if (literal.empty()) return {};
    text += text.empty() ? literal : ", " + literal;
  }
  return value.kind == Kind::kArray ? fmt::format("[{}]", text) : fmt::format("({})", text);
}

}  // namespace

std::string Analysis::ValueOf(const Entity& entity) const {
  if (entity.kind != EntityKind::kParameter || entity.callee.document != &checked()) return {};
  std::string first;
  size_t others = 0;
  std::set<std::string> values;
  for (const expand::FragmentInstance& instance : compilation().instances()) {
    if (instance.fragment != entity.callee.fragment) continue;
    std::string value = LiteralOf(instance.arguments[static_cast<size_t>(entity.parameter)]);
    if (value.empty() || !values.insert(value).second) continue;
    if (first.empty()) {
      first = std::move(value);
    } else {
      ++others;
    }
  }
  return others == 0 ? first : fmt::format("{} and {} other{}", first, others, others == 1 ? "" : "s");
}

std::string Analysis::ShapeOf(const Entity& entity) const {
  if (graph() == nullptr) return {};
  if (entity.in_graph) {
    IndexShapes();
    auto found = tensors_.find(Text(entity.name));
    if (found == tensors_.end()) return {};
    return ir::ToString(graph()->output(found->second).shape);
  }
  return entity.value.valid() ? ShapeAt(checked().ast().exprs[entity.value].range, entity.item)
                              : std::string();
}

std::string Analysis::ShapeAt(SourceRange expr, int32_t item) const {
  IndexShapes();
  auto found = sites_.find({expr.begin, expr.end});
  if (found == sites_.end()) return {};
  std::vector<std::string> shapes;
  size_t others = 0;
  constexpr size_t kMaxShapes = 64;
  for (ir::NodeId id : found->second) {
    const ir::Node& node = graph()->node(id);
    const int32_t index = std::max(item, 0);
    if (index >= node.num_outputs()) return {};
    std::string shape = ir::ToString(node.output(index).shape);
    if (llvm::is_contained(shapes, shape)) continue;
    if (shapes.size() < kMaxShapes) {
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
      entity.in_graph || (entity.type.valid() && checked().types().ContainsTensor(entity.type));
  return is_tensor ? SymbolKind::kTensor : SymbolKind::kValue;
}

}  // namespace nnefc::language

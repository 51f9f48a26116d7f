// The language service: open documents, their analyses, and queries at positions.

#include "compiler/language/language_service.h"

#include <utility>

#include "compiler/language/analysis.h"
#include "compiler/language/configuration_text.h"
#include "compiler/language/quantization_text.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::language {
namespace {

constexpr std::string_view kLibraryFolder = "nnefc:/stdlib/";

}  // namespace

struct LanguageService::Document {
  int64_t version = 0;
  std::optional<ast::Dialect> dialect;
  std::optional<lint::Settings> lint;
  std::string model;                       // uri of the document of a graph.quant file; empty for a document
  std::unique_ptr<SourceManager> sources;  // has the text alone
  FileId file;
  // Created by the first query after a change: the analysis of a document, or that of a graph.quant file
  // whose model is not open.
  mutable std::unique_ptr<Analysis> analysis;
  mutable std::unique_ptr<QuantizationText> quantization;
  bool is_configuration = false;
  mutable std::unique_ptr<ConfigurationText> configuration;

  bool is_quantization() const { return !model.empty(); }
  std::string_view text() const { return sources->Text(file); }
};

LanguageService::LanguageService(ServiceOptions options) : options_(std::move(options)) {}
LanguageService::~LanguageService() = default;
LanguageService::LanguageService(LanguageService&&) noexcept = default;
LanguageService& LanguageService::operator=(LanguageService&&) noexcept = default;

bool LanguageService::Open(const std::string& uri, int64_t version, std::string text,
                           std::optional<ast::Dialect> dialect) {
  if (driver::FormatOf(uri) != driver::ModelFormat::kNnef) return false;
  auto document = std::make_unique<Document>();
  document->version = version;
  document->dialect = dialect;
  return Add(uri, std::move(document), std::move(text));
}

bool LanguageService::OpenQuantization(const std::string& uri, int64_t version, std::string text,
                                       const std::string& model) {
  if (model.empty() || uri == model || !QuantizationOf(model).empty()) return false;
  auto document = std::make_unique<Document>();
  document->version = version;
  document->model = model;
  return Add(uri, std::move(document), std::move(text));
}

bool LanguageService::OpenConfiguration(const std::string& uri, int64_t version, std::string text) {
  auto document = std::make_unique<Document>();
  document->version = version;
  document->is_configuration = true;
  return Add(uri, std::move(document), std::move(text));
}

const ConfigurationText* LanguageService::ConfigurationOf(const std::string& uri) const {
  const Document* document = Find(uri);
  if (document == nullptr || !document->is_configuration) return nullptr;
  if (document->configuration == nullptr) {
    document->configuration = std::make_unique<ConfigurationText>(
        driver::NamedText{uri, std::string(document->text())}, options_.encoding);
  }
  return document->configuration.get();
}

std::optional<lint::SettingsRequest> LanguageService::Configuration(const std::string& uri) const {
  const ConfigurationText* configuration = ConfigurationOf(uri);
  return configuration == nullptr ? std::nullopt : std::optional(configuration->request());
}

bool LanguageService::Add(const std::string& uri, std::unique_ptr<Document> document, std::string text) {
  if (text.size() > options_.max_text || documents_.contains(uri)) return false;
  document->lint = options_.lint;
  SetText(uri, *documents_.emplace(uri, std::move(document)).first->second, std::move(text));
  return true;
}

void LanguageService::SetText(const std::string& uri, Document& document, std::string text) {
  Invalidate(uri, document);
  document.sources = std::make_unique<SourceManager>();
  document.file = document.sources->AddText(uri, std::move(text));
}

void LanguageService::Invalidate(const std::string& uri, const Document& document) {
  document.analysis = nullptr;
  document.quantization = nullptr;
  document.configuration = nullptr;
  if (const Document* model = Find(document.model)) model->analysis = nullptr;
}

void LanguageService::SetLint(const std::string& uri, std::optional<lint::Settings> settings) {
  auto found = documents_.find(uri);
  if (found == documents_.end()) return;
  found->second->lint = std::move(settings);
  Invalidate(uri, *found->second);
}

std::string LanguageService::QuantizationOf(const std::string& model) const {
  for (const auto& [uri, document] : documents_) {
    if (document->is_quantization() && document->model == model) return uri;
  }
  return {};
}

const Analysis* LanguageService::AnalysisOf(const std::string& uri) const {
  const Document* document = Find(uri);
  if (document == nullptr || document->is_quantization() || document->is_configuration) return nullptr;
  if (document->analysis == nullptr) {
    AnalysisOptions options{.dialect = document->dialect,
                            .limits = options_.limits,
                            .lint = document->lint ? &*document->lint : nullptr,
                            .quantization = {},
                            .encoding = options_.encoding};
    const std::string quantization = QuantizationOf(uri);
    if (!quantization.empty())
      options.quantization = driver::NamedText{quantization, std::string(Text(quantization))};
    document->analysis =
        std::make_unique<Analysis>(driver::NamedText{uri, std::string(document->text())}, options);
  }
  return document->analysis.get();
}

bool LanguageService::Change(const std::string& uri, int64_t version,
                             const std::vector<TextChange>& changes) {
  auto found = documents_.find(uri);
  if (found == documents_.end() || version <= found->second->version) return false;
  EditedText text{std::string(found->second->text())};
  for (const TextChange& change : changes) {
    if (change.range) {
      // The range refers to the text after the previous changes.
      const uint32_t begin = text.OffsetAt(change.range->first, options_.encoding);
      const uint32_t end = text.OffsetAt(change.range->second, options_.encoding);
      if (end < begin) return false;
      text.Replace(begin, end, change.text);
    } else {
      text = EditedText(change.text);
    }
    if (text.text().size() > options_.max_text) return false;
  }
  Document& document = *found->second;
  document.version = version;
  SetText(uri, document, std::move(text).Take());
  return true;
}

bool LanguageService::Close(const std::string& uri) {
  auto found = documents_.find(uri);
  if (found == documents_.end()) return false;
  Invalidate(uri, *found->second);
  documents_.erase(found);
  return true;
}

const LanguageService::Document* LanguageService::Find(const std::string& uri) const {
  auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : found->second.get();
}

std::vector<std::string> LanguageService::Documents() const {
  std::vector<std::string> uris;
  uris.reserve(documents_.size());
  for (const auto& [uri, document] : documents_) uris.push_back(uri);
  return uris;
}

std::optional<int64_t> LanguageService::Version(const std::string& uri) const {
  const Document* document = Find(uri);
  return document == nullptr ? std::nullopt : std::optional(document->version);
}

std::string_view LanguageService::Text(const std::string& uri) const {
  if (const Document* document = Find(uri)) return document->text();
  if (!uri.starts_with(kLibraryFolder)) return {};
  return semantics::StandardLibrary::Shared().Text(std::string_view(uri).substr(kLibraryFolder.size()));
}

std::string LanguageService::LibraryUri(std::string_view file_name) {
  return fmt::format("{}{}", kLibraryFolder, file_name);
}

std::vector<Finding> LanguageService::Diagnostics(const std::string& uri) const {
  const Document* document = Find(uri);
  if (document == nullptr) return {};
  if (const Analysis* analysis = AnalysisOf(uri)) return analysis->Findings();
  if (const ConfigurationText* configuration = ConfigurationOf(uri)) return configuration->Findings();
  if (const Analysis* model = AnalysisOf(document->model)) return model->QuantizationFindings();
  if (document->quantization == nullptr) {
    document->quantization = std::make_unique<QuantizationText>(
        driver::NamedText{uri, std::string(document->text())}, options_.limits, options_.encoding);
  }
  return document->quantization->Findings();
}

std::optional<Place> LanguageService::Definition(const std::string& uri, uint32_t offset) const {
  const Analysis* analysis = AnalysisOf(uri);
  if (analysis == nullptr) return std::nullopt;
  const Occurrence* occurrence = analysis->names().At(offset);
  if (occurrence == nullptr) return std::nullopt;
  return analysis->PlaceOf(analysis->names().entity(occurrence->entity).declaration);
}

std::vector<Place> LanguageService::References(const std::string& uri, uint32_t offset,
                                               bool include_declaration) const {
  const Analysis* analysis = AnalysisOf(uri);
  if (analysis == nullptr) return {};
  const Occurrence* occurrence = analysis->names().At(offset);
  if (occurrence == nullptr) return {};
  std::vector<Place> places;
  for (const Occurrence& other : analysis->names().occurrences()) {
    if (other.entity != occurrence->entity || (other.is_declaration && !include_declaration)) continue;
    places.push_back({uri, analysis->RangeOf(other.range)});
  }
  return places;
}

std::optional<Hover> LanguageService::HoverAt(const std::string& uri, uint32_t offset) const {
  const Analysis* analysis = AnalysisOf(uri);
  return analysis == nullptr ? std::nullopt : FindHover(*analysis, offset);
}

namespace {

// A key of a graph.quant file and the first occurrence of its tensor in the model.
struct QuantizedKey {
  SourceRange key;
  SourceRange declaration;
};

std::optional<QuantizedKey> FindQuantizedKey(const Analysis* model, uint32_t offset) {
  if (model == nullptr || model->compilation().quantization().document == nullptr) return std::nullopt;
  for (const ast::Quantization& line : model->compilation().quantization().document->ast().quantizations) {
    if (offset < line.key.range.begin || offset > line.key.range.end) continue;
    for (const Occurrence& occurrence : model->names().occurrences()) {
      const Entity& entity = model->names().entity(occurrence.entity);
      if (entity.in_graph && entity.name == line.key.symbol)
        return QuantizedKey{line.key.range, entity.declaration};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Place> LanguageService::QuantizedTensor(const std::string& uri, uint32_t offset) const {
  const Document* document = Find(uri);
  const Analysis* model = document == nullptr ? nullptr : AnalysisOf(document->model);
  const std::optional<QuantizedKey> found = FindQuantizedKey(model, offset);
  return found ? model->PlaceOf(found->declaration) : std::nullopt;
}

std::optional<Hover> LanguageService::QuantizedTensorHover(const std::string& uri, uint32_t offset) const {
  const Document* document = Find(uri);
  const Analysis* model = document == nullptr ? nullptr : AnalysisOf(document->model);
  const std::optional<QuantizedKey> found = FindQuantizedKey(model, offset);
  if (!found) return std::nullopt;
  std::optional<Hover> hover = FindHover(*model, found->declaration.begin);
  if (hover) hover->range = model->RangeOf(found->key);
  return hover;
}

std::vector<DocumentSymbol> LanguageService::Symbols(const std::string& uri) const {
  const Analysis* analysis = AnalysisOf(uri);
  return analysis == nullptr ? std::vector<DocumentSymbol>() : FindSymbols(*analysis);
}

std::vector<Completion> LanguageService::Complete(const std::string& uri, uint32_t offset) const {
  const Analysis* analysis = AnalysisOf(uri);
  return analysis == nullptr ? std::vector<Completion>() : FindCompletions(*analysis, offset);
}

uint32_t LanguageService::Offset(const std::string& uri, Position position) const {
  const Document* document = Find(uri);
  return document == nullptr ? 0 : OffsetAt(*document->sources, document->file, position, options_.encoding);
}

Position LanguageService::PositionOf(const std::string& uri, uint32_t offset) const {
  const Document* document = Find(uri);
  return document == nullptr ? Position()
                             : PositionAt(*document->sources, document->file, offset, options_.encoding);
}

}  // namespace nnefc::language

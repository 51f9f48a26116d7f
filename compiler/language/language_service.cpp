#include "compiler/language/language_service.h"

#include <utility>

#include "compiler/language/analysis.h"
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
  // The analysis of a document; null for a graph.quant file.
  std::unique_ptr<Analysis> analysis;
  // Only a graph.quant file has these.
  std::string model;  // uri of its document
  std::unique_ptr<QuantizationText> quantization;

  std::string_view text() const { return analysis != nullptr ? analysis->text() : quantization->text(); }
};

LanguageService::LanguageService(ServiceOptions options) : options_(std::move(options)) {}
LanguageService::~LanguageService() = default;
LanguageService::LanguageService(LanguageService&&) noexcept = default;
LanguageService& LanguageService::operator=(LanguageService&&) noexcept = default;

bool LanguageService::Open(const std::string& uri, int64_t version, std::string text,
                           std::optional<ast::Dialect> dialect) {
  if (text.size() > options_.max_text || documents_.contains(uri)) return false;
  auto document = std::make_unique<Document>();
  document->version = version;
  document->dialect = dialect;
  Document& opened = *documents_.emplace(uri, std::move(document)).first->second;
  Analyse(uri, opened, std::move(text));
  return true;
}

bool LanguageService::OpenQuantization(const std::string& uri, int64_t version, std::string text,
                                       const std::string& model) {
  const bool is_second =
      llvm::any_of(documents_, [&](const auto& entry) { return entry.second->model == model; });
  if (text.size() > options_.max_text || documents_.contains(uri) || model.empty() || uri == model ||
      is_second)
    return false;
  auto document = std::make_unique<Document>();
  document->version = version;
  document->model = model;
  Document& opened = *documents_.emplace(uri, std::move(document)).first->second;
  Analyse(uri, opened, std::move(text));
  return true;
}

// Analyses a new text. A model is analysed with its quantization file, and a quantization file triggers the
// analysis of its model.
void LanguageService::Analyse(const std::string& uri, Document& document, std::string text) {
  if (!document.model.empty()) {
    document.quantization =
        std::make_unique<QuantizationText>(NamedText{uri, std::move(text)}, options_.limits);
    auto model = documents_.find(document.model);
    if (model != documents_.end() && model->second->analysis != nullptr)
      Analyse(model->first, *model->second, std::string(model->second->text()));
    return;
  }
  AnalysisOptions options{.dialect = document.dialect, .limits = options_.limits, .quantization = {}};
  if (options_.lint) options.lint = &*options_.lint;
  for (const auto& [other_uri, other] : documents_) {
    if (other->model == uri) options.quantization = NamedText{other_uri, std::string(other->text())};
  }
  document.analysis = std::make_unique<Analysis>(NamedText{uri, std::move(text)}, options);
}

bool LanguageService::Change(const std::string& uri, int64_t version,
                             const std::vector<TextChange>& changes) {
  auto found = documents_.find(uri);
  if (found == documents_.end() || version <= found->second->version) return false;
  std::string text(found->second->text());
  for (const TextChange& change : changes) {
    if (change.range) {
      // The range refers to the text after the previous changes.
      SourceManager sources;
      const FileId file = sources.AddText(uri, text);
      const uint32_t begin = OffsetAt(sources, file, change.range->first);
      const uint32_t end = OffsetAt(sources, file, change.range->second);
      if (end < begin) return false;
      text.replace(begin, end - begin, change.text);
    } else {
      text = change.text;
    }
    if (text.size() > options_.max_text) return false;
  }
  Document& document = *found->second;
  document.version = version;
  Analyse(uri, document, std::move(text));
  return true;
}

bool LanguageService::Close(const std::string& uri) {
  auto found = documents_.find(uri);
  if (found == documents_.end()) return false;
  const std::string model = found->second->model;
  documents_.erase(found);
  // Analyse the model again, without its quantization file.
  auto left = documents_.find(model);
  if (left != documents_.end() && left->second->analysis != nullptr)
    Analyse(model, *left->second, std::string(left->second->text()));
  return true;
}

const LanguageService::Document* LanguageService::Find(const std::string& uri) const {
  auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : found->second.get();
}

const LanguageService::Document* LanguageService::FindModel(const std::string& uri) const {
  const Document* document = Find(uri);
  return document != nullptr && document->analysis != nullptr ? document : nullptr;
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
  return StandardLibrary::Shared().Text(std::string_view(uri).substr(kLibraryFolder.size()));
}

std::string LanguageService::LibraryUri(std::string_view file_name) {
  return fmt::format("{}{}", kLibraryFolder, file_name);
}

std::vector<Finding> LanguageService::Diagnostics(const std::string& uri) const {
  const Document* document = Find(uri);
  if (document == nullptr) return {};
  if (document->analysis != nullptr) return document->analysis->Findings();
  const Document* model = FindModel(document->model);
  return model != nullptr ? model->analysis->QuantizationFindings() : document->quantization->Findings();
}

std::optional<Place> LanguageService::Definition(const std::string& uri, uint32_t offset) const {
  const Document* document = FindModel(uri);
  if (document == nullptr) return std::nullopt;
  const Analysis& analysis = *document->analysis;
  const Occurrence* occurrence = analysis.names().At(offset);
  if (occurrence == nullptr) return std::nullopt;
  return analysis.PlaceOf(analysis.names().entity(occurrence->entity).declaration);
}

std::vector<Place> LanguageService::References(const std::string& uri, uint32_t offset,
                                               bool include_declaration) const {
  const Document* document = FindModel(uri);
  if (document == nullptr) return {};
  const Analysis& analysis = *document->analysis;
  const Occurrence* occurrence = analysis.names().At(offset);
  if (occurrence == nullptr) return {};
  std::vector<Place> places;
  for (const Occurrence& other : analysis.names().occurrences()) {
    if (other.entity != occurrence->entity || (other.is_declaration && !include_declaration)) continue;
    places.push_back({uri, analysis.RangeOf(other.range)});
  }
  return places;
}

std::optional<Hover> LanguageService::HoverAt(const std::string& uri, uint32_t offset) const {
  const Document* document = FindModel(uri);
  return document == nullptr ? std::nullopt : FindHover(*document->analysis, offset);
}

std::vector<DocumentSymbol> LanguageService::Symbols(const std::string& uri) const {
  const Document* document = FindModel(uri);
  return document == nullptr ? std::vector<DocumentSymbol>() : FindSymbols(*document->analysis);
}

std::vector<Completion> LanguageService::Complete(const std::string& uri, uint32_t offset) const {
  const Document* document = FindModel(uri);
  return document == nullptr ? std::vector<Completion>() : FindCompletions(*document->analysis, offset);
}

uint32_t LanguageService::Offset(const std::string& uri, Position position) const {
  const Document* document = Find(uri);
  if (document == nullptr) return 0;
  if (document->analysis == nullptr) return document->quantization->Offset(position);
  return OffsetAt(document->analysis->context().sources, document->analysis->file(), position);
}

Position LanguageService::PositionOf(const std::string& uri, uint32_t offset) const {
  const Document* document = Find(uri);
  if (document == nullptr) return {};
  if (document->analysis == nullptr) return document->quantization->PositionOf(offset);
  return PositionAt(document->analysis->context().sources, document->analysis->file(), offset);
}

}  // namespace nnefc::language

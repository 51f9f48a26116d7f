// Open documents and the files that belong to them.

#include "tools/lsp/workspace.h"

#include <algorithm>
#include <filesystem>

#include "compiler/lint/config.h"
#include "compiler/support/files/file.h"
#include "tools/lsp/generated_files.h"
#include "tools/lsp/protocol.h"

namespace nnefc::lsp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kQuantizationSuffix = ".quant";
constexpr std::string_view kDocumentSuffix = ".nnef";
constexpr size_t kMaxFile = size_t{64} << 20;

// Returns the document of a graph.quant file, or the graph.quant file of a document: the file of the same
// name in the same folder.
std::string PartnerOf(const std::string& uri) {
  const std::string_view suffix = uri.ends_with(kQuantizationSuffix) ? kQuantizationSuffix : kDocumentSuffix;
  const std::string_view other = suffix == kDocumentSuffix ? kQuantizationSuffix : kDocumentSuffix;
  if (!uri.ends_with(suffix)) return {};
  return uri.substr(0, uri.size() - suffix.size()).append(other);
}

std::optional<std::string> ReadText(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kMaxFile || error)
    return std::nullopt;
  const ErrorOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path);
  return file ? std::optional(std::string((*file)->text())) : std::nullopt;
}

}  // namespace

TextKind KindOf(const std::string& uri) {
  if (uri.ends_with(kQuantizationSuffix)) return TextKind::kQuantization;
  const std::string_view name = std::string_view(uri).substr(uri.rfind('/') + 1);
  return name == lint::kConfigName ? TextKind::kConfiguration : TextKind::kDocument;
}

bool Workspace::Open(const std::string& uri, int64_t version, std::string text) {
  Close(uri);
  from_disk_.erase(uri);
  service_.Close(uri);
  if (IsGenerated(uri)) return false;
  bool is_open = false;
  switch (KindOf(uri)) {
    case TextKind::kDocument:
      is_open = service_.Open(uri, version, std::move(text));
      break;
    case TextKind::kQuantization:
      is_open = service_.OpenQuantization(uri, version, std::move(text), PartnerOf(uri));
      break;
    case TextKind::kConfiguration:
      is_open = service_.OpenConfiguration(uri, version, std::move(text));
      break;
  }
  if (!is_open) return false;
  opened_.insert(uri);
  OpenPartner(uri);
  Configure(uri);
  if (KindOf(uri) == TextKind::kConfiguration) Reload();
  return true;
}

bool Workspace::Change(const std::string& uri, int64_t version,
                       const std::vector<language::TextChange>& changes) {
  if (!IsOpen(uri) || !service_.Change(uri, version, changes)) return false;
  if (KindOf(uri) == TextKind::kConfiguration) Reload();
  return true;
}

void Workspace::Close(const std::string& uri) {
  if (opened_.erase(uri) == 0) return;
  service_.Close(uri);
  const std::string partner = PartnerOf(uri);
  if (from_disk_.erase(partner) > 0) service_.Close(partner);
  if (IsOpen(partner)) OpenFromDisk(uri);
  if (KindOf(uri) == TextKind::kConfiguration) Reload();
}

void Workspace::OpenPartner(const std::string& uri) {
  const std::string partner = PartnerOf(uri);
  if (!partner.empty() && !IsOpen(partner) && !from_disk_.contains(partner)) OpenFromDisk(partner);
}

void Workspace::OpenFromDisk(const std::string& uri) {
  const std::optional<std::string> path = PathOf(uri);
  std::optional<std::string> text = path ? ReadText(*path) : std::nullopt;
  if (from_disk_.erase(uri) > 0) service_.Close(uri);
  if (!text) return;
  const bool is_open = KindOf(uri) == TextKind::kQuantization
                           ? service_.OpenQuantization(uri, 0, std::move(*text), PartnerOf(uri))
                           : service_.Open(uri, 0, std::move(*text));
  if (!is_open) return;
  from_disk_.insert(uri);
  Configure(uri);
}

void Workspace::Configure(const std::string& uri) {
  const std::optional<std::string> path = PathOf(uri);
  if (!path || KindOf(uri) != TextKind::kDocument) return;
  const std::string file = lint::FindConfig(*path);
  lint::Settings settings;
  if (!file.empty()) {
    std::error_code error;
    const std::string config = UriOf(fs::absolute(file, error).lexically_normal().string());
    // The text of the editor takes precedence over the file.
    if (std::optional<lint::SettingsRequest> request = service_.Configuration(config)) {
      lint::Apply(*request, settings);
    } else {
      Context context;
      bool failed = false;
      lint::Apply(lint::ReadConfig(file, context, failed), settings);
    }
  }
  service_.SetLint(uri, std::move(settings));
}

void Workspace::Reload() {
  for (const std::string& uri : std::set<std::string>(from_disk_)) OpenFromDisk(uri);
  for (const std::string& uri : opened_) {
    OpenPartner(uri);
    Configure(uri);
  }
}

std::vector<std::string> Workspace::Dependents(const std::string& uri) const {
  std::vector<std::string> dependents;
  const std::string partner = PartnerOf(uri);
  for (const std::string& other : opened_) {
    if (other == uri || other == partner || KindOf(uri) == TextKind::kConfiguration)
      dependents.push_back(other);
  }
  return dependents;
}

}  // namespace nnefc::lsp

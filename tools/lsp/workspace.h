#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/language/language_service.h"

namespace nnefc::lsp {

// The documents that the editor has open, the files on disk that belong to them, and their configurations.
// A document and its graph.quant file are checked together, from the editor or from disk.
class Workspace {
 public:
  explicit Workspace(language::ServiceOptions options) : service_(std::move(options)) {}

  const language::LanguageService& service() const { return service_; }

  // Opens a text of the editor; its name decides its kind. A second opening replaces the first. Returns false
  // for a text that is not checked: too large, or of another format.
  bool Open(const std::string& uri, int64_t version, std::string text);
  // Returns false if the text is unknown or the change does not apply to it.
  bool Change(const std::string& uri, int64_t version, const std::vector<language::TextChange>& changes);
  // Closes a text. Its file on disk is used again where other documents depend on it.
  void Close(const std::string& uri);
  bool IsOpen(const std::string& uri) const { return opened_.contains(uri); }
  const std::set<std::string>& opened() const { return opened_; }

  // Reads configurations and files of closed documents again, after a change on disk or of a configuration.
  void Reload();

  // Returns the open texts whose findings depend on this one, and the text itself.
  std::vector<std::string> Dependents(const std::string& uri) const;

 private:
  void OpenPartner(const std::string& uri);
  void OpenFromDisk(const std::string& uri);
  void Configure(const std::string& uri);

  language::LanguageService service_;
  std::set<std::string> opened_;     // by the editor
  std::set<std::string> from_disk_;  // partners of these
};

// The kind of a text, by its name.
enum class TextKind { kDocument, kQuantization, kConfiguration };
TextKind KindOf(const std::string& uri);

}  // namespace nnefc::lsp

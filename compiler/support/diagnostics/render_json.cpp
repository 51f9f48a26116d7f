// The JSON form of diagnostics.

#include "compiler/support/diagnostics/severity_name.h"
#include "nlohmann/json.hpp"

namespace nnefc {
namespace {

using Json = nlohmann::ordered_json;

// Serializes JSON. Names and messages may quote bytes that are not UTF-8; these become U+FFFD.
std::string Dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void AddPlace(Json& json, SourceRange range, const SourceManager& sources) {
  if (!range.valid()) return;
  json["file"] = std::string(sources.Name(range.file));
  switch (sources.Kind(range.file)) {
    case FileKind::kText: {
      LineColumn begin = sources.Position(range.start());
      LineColumn end = sources.Position({range.file, range.end});
      json["line"] = begin.line;
      json["column"] = begin.column;
      json["end_line"] = end.line;
      json["end_column"] = end.column;
      break;
    }
    case FileKind::kBinary:
      json["byte"] = range.begin;
      break;
    case FileKind::kNamed:
      break;
  }
}

}  // namespace

std::string RenderJson(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources) {
  Json list = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) {
    Json entry = {{"severity", SeverityName(diagnostic.severity)},
                  {"rule", std::string(diagnostic.rule->label)},
                  {"section", std::string(diagnostic.rule->section)},
                  {"message", diagnostic.message}};
    AddPlace(entry, diagnostic.range, sources);
    entry["notes"] = Json::array();
    for (const DiagnosticNote& note : diagnostic.notes) {
      Json item = {{"message", note.message}};
      AddPlace(item, note.range, sources);
      entry["notes"].push_back(std::move(item));
    }
    entry["fixes"] = Json::array();
    for (const FixIt& fix : diagnostic.fixes) {
      Json item = {{"text", fix.text},
                   {"applicability", std::string(ApplicabilityName(diagnostic.applicability))}};
      AddPlace(item, fix.range, sources);
      entry["fixes"].push_back(std::move(item));
    }
    list.push_back(std::move(entry));
  }
  return Dump({{"diagnostics", std::move(list)}});
}

}  // namespace nnefc

#include <set>

#include "compiler/support/diagnostics.h"
#include "nlohmann/json.hpp"

namespace nnefc {
namespace {

using Json = nlohmann::ordered_json;

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "none";
}

// Names and messages may quote bytes that are not UTF-8; those become U+FFFD.
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

Json SarifRegion(SourceRange range, const SourceManager& sources) {
  if (sources.Kind(range.file) == FileKind::kBinary) {
    return {{"byteOffset", range.begin},
            {"byteLength", range.end > range.begin ? range.end - range.begin : 0}};
  }
  LineColumn begin = sources.Position(range.start());
  LineColumn end = sources.Position({range.file, range.end});
  return {{"startLine", begin.line},
          {"startColumn", begin.column},
          {"endLine", end.line},
          {"endColumn", end.column}};
}

Json SarifArtifact(FileId file, const SourceManager& sources) {
  // An artifact location is a URI reference: what cannot stand in one is escaped.
  std::string uri;
  for (char c : std::string(sources.Name(file))) {
    auto byte = static_cast<unsigned char>(c);
    bool plain = std::isalnum(byte) != 0 || std::string_view("-._~/!()").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return {{"uri", uri}};
}

Json SarifLocation(SourceRange range, const SourceManager& sources) {
  Json physical = {{"artifactLocation", SarifArtifact(range.file, sources)}};
  if (sources.Kind(range.file) != FileKind::kNamed) physical["region"] = SarifRegion(range, sources);
  return {{"physicalLocation", std::move(physical)}};
}

Json SarifFix(const FixIt& fix, const SourceManager& sources) {
  Json replacement = {{"deletedRegion", SarifRegion(fix.range, sources)},
                      {"insertedContent", {{"text", fix.text}}}};
  Json change = {{"artifactLocation", SarifArtifact(fix.range.file, sources)},
                 {"replacements", Json::array({std::move(replacement)})}};
  return {{"artifactChanges", Json::array({std::move(change)})}};
}

Json SarifResult(const Diagnostic& diagnostic, const SourceManager& sources) {
  Json result = {{"ruleId", std::string(diagnostic.rule->label)},
                 {"level", SeverityName(diagnostic.severity)},
                 {"message", {{"text", diagnostic.message}}}};
  if (diagnostic.range.valid()) result["locations"] = Json::array({SarifLocation(diagnostic.range, sources)});
  for (const DiagnosticNote& note : diagnostic.notes) {
    if (!note.range.valid()) continue;
    Json related = SarifLocation(note.range, sources);
    related["message"] = {{"text", note.message}};
    result["relatedLocations"].push_back(std::move(related));
  }
  for (const FixIt& fix : diagnostic.fixes) {
    if (fix.range.valid()) result["fixes"].push_back(SarifFix(fix, sources));
  }
  return result;
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
      Json item = {{"text", fix.text}};
      AddPlace(item, fix.range, sources);
      entry["fixes"].push_back(std::move(item));
    }
    list.push_back(std::move(entry));
  }
  return Dump({{"diagnostics", std::move(list)}});
}

std::string RenderSarif(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources) {
  std::set<std::string> labels;
  Json rules = Json::array();
  Json results = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) {
    std::string label(diagnostic.rule->label);
    if (labels.insert(label).second) {
      Json rule = {{"id", label}};
      if (!diagnostic.rule->section.empty()) {
        rule["help"] = {{"text", fmt::format("NNEF specification, {}", diagnostic.rule->section)}};
      }
      rules.push_back(std::move(rule));
    }
    results.push_back(SarifResult(diagnostic, sources));
  }
  Json driver = {{"name", "nnefc"}, {"rules", std::move(rules)}};
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"columnKind", "utf16CodeUnits"},
              {"results", std::move(results)}};
  return Dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
               {"version", "2.1.0"},
               {"runs", Json::array({std::move(run)})}});
}

}  // namespace nnefc

// Diagnostics as a SARIF 2.1.0 log.

#include "compiler/support/diagnostics/render_sarif.h"

#include <algorithm>
#include <map>

#include "compiler/support/diagnostics/severity_name.h"
#include "compiler/support/text/utf16.h"
#include "nlohmann/json.hpp"

namespace nnefc {
namespace {

using Json = nlohmann::ordered_json;

// Returns a message object. Bytes that are not UTF-8 become U+FFFD on serialization.
Json Message(std::string_view text) {
  return {{"text", std::string(text)}};
}

// A builder of SARIF results. Columns count UTF-16 code units from 1, as declared by `columnKind`.
class ResultWriter {
 public:
  explicit ResultWriter(const SourceManager& sources) : sources_(sources) {}
  Json Result(const Diagnostic& diagnostic, size_t rule);

 private:
  Json Region(SourceRange range);
  Json Artifact(FileId file);
  Json PhysicalLocation(SourceRange range);
  Json Fix(std::vector<FixIt> parts, Applicability applicability);
  LineColumn Utf16Position(Location location);

  std::string Fingerprint(const Diagnostic& diagnostic);

  const SourceManager& sources_;
  std::map<FileId, Utf16Index> indices_;
  std::map<std::string, int> fingerprints_;  // occurrences of each key
};

// Returns a fingerprint that is stable when a line moves within its file: a hash (FNV-1a) of rule, file and
// line without white space, plus the number of earlier occurrences.
std::string ResultWriter::Fingerprint(const Diagnostic& diagnostic) {
  std::string key(diagnostic.rule->label);
  if (diagnostic.range.valid()) {
    key += '\n' + std::string(sources_.Name(diagnostic.range.file)) + '\n';
    if (sources_.Kind(diagnostic.range.file) == FileKind::kText) {
      const LineColumn at = sources_.Position(diagnostic.range.start());
      const std::string_view line = sources_.Line(diagnostic.range.file, at.line);
      for (char c : line) {
        if (!std::isspace(static_cast<unsigned char>(c))) key += c;
      }
    }
  } else {
    key += diagnostic.message;
  }
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}:{}", hash, ++fingerprints_[key]);
}

LineColumn ResultWriter::Utf16Position(Location location) {
  const LineColumn at = sources_.Position(location);
  auto index = indices_.try_emplace(location.file, sources_.Text(location.file)).first;
  return {at.line, index->second.Length(sources_.LineStart(location.file, at.line), location.offset) + 1};
}

Json ResultWriter::Region(SourceRange range) {
  if (sources_.Kind(range.file) == FileKind::kBinary) {
    return {{"byteOffset", range.begin},
            {"byteLength", range.end > range.begin ? range.end - range.begin : 0}};
  }
  const LineColumn begin = Utf16Position(range.start());
  const LineColumn end = Utf16Position({range.file, std::max(range.begin, range.end)});
  return {{"startLine", begin.line},
          {"startColumn", begin.column},
          {"endLine", end.line},
          {"endColumn", end.column}};
}

Json ResultWriter::Artifact(FileId file) {
  return {{"uri", SarifUri(sources_.Name(file))}};
}

Json ResultWriter::PhysicalLocation(SourceRange range) {
  Json physical = {{"artifactLocation", Artifact(range.file)}};
  if (sources_.Kind(range.file) != FileKind::kNamed) physical["region"] = Region(range);
  return physical;
}

// Returns one fix; its edits are grouped by file in text order.
Json ResultWriter::Fix(std::vector<FixIt> parts, Applicability applicability) {
  std::stable_sort(parts.begin(), parts.end(), [](const FixIt& a, const FixIt& b) {
    return std::pair(a.range.file.index, a.range.begin) < std::pair(b.range.file.index, b.range.begin);
  });
  Json changes = Json::array();
  FileId last;
  for (const FixIt& part : parts) {
    if (part.range.file != last || changes.empty()) {
      changes.push_back({{"artifactLocation", Artifact(part.range.file)}, {"replacements", Json::array()}});
      last = part.range.file;
    }
    Json replacement = {{"deletedRegion", Region(part.range)}};
    if (!part.text.empty()) replacement["insertedContent"] = Message(part.text);
    changes.back()["replacements"].push_back(std::move(replacement));
  }
  return {{"artifactChanges", std::move(changes)},
          {"properties", {{"applicability", std::string(ApplicabilityName(applicability))}}}};
}

Json ResultWriter::Result(const Diagnostic& diagnostic, size_t rule) {
  Json result = {{"ruleId", std::string(diagnostic.rule->label)},
                 {"ruleIndex", rule},
                 {"level", SeverityName(diagnostic.severity)},
                 {"message", Message(diagnostic.message)}};
  result["partialFingerprints"] = {{"primaryLocationLineHash", Fingerprint(diagnostic)}};
  if (diagnostic.range.valid()) {
    result["locations"] = Json::array({{{"physicalLocation", PhysicalLocation(diagnostic.range)}}});
  }
  for (size_t i = 0; i < diagnostic.notes.size(); ++i) {
    const DiagnosticNote& note = diagnostic.notes[i];
    Json related = {{"id", i}};
    if (note.range.valid()) related["physicalLocation"] = PhysicalLocation(note.range);
    related["message"] = Message(note.message);
    result["relatedLocations"].push_back(std::move(related));
  }
  std::vector<FixIt> parts;
  for (const FixIt& fix : diagnostic.fixes) {
    if (fix.range.valid()) parts.push_back(fix);
  }
  if (!parts.empty()) result["fixes"] = Json::array({Fix(std::move(parts), diagnostic.applicability)});
  return result;
}

Json RuleDescriptor(const Rule& rule, const RuleTexts& texts) {
  Json descriptor = {{"id", std::string(rule.label)}};
  const std::string statement = texts ? texts(rule) : std::string();
  // The first sentence of a longer description is its short form.
  const std::string first = statement.substr(0, std::min(statement.find(". ") + 1, statement.size()));
  if (!statement.empty()) {
    descriptor["shortDescription"] = Message(first.empty() ? statement : first);
    descriptor["fullDescription"] = Message(statement);
  }
  descriptor["defaultConfiguration"] = {{"level", SeverityName(rule.severity)}};
  std::string help = fmt::format("`nnefc explain {}` shows examples", rule.label);
  const bool is_specified = rule.section.starts_with("R ") || rule.section.starts_with("P ");
  if (is_specified) help = fmt::format("NNEF specification, {}; {}", rule.section, help);
  descriptor["help"] = Message(help);
  return descriptor;
}

}  // namespace

std::string SarifUri(std::string_view path) {
  std::string uri;
  for (char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        std::isalnum(byte) != 0 || std::string_view("-._~/!()").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

std::string RenderSarif(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources) {
  return RenderSarif(diagnostics, sources, nullptr);
}

std::string RenderSarif(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                        const RuleTexts& texts) {
  ResultWriter writer(sources);
  std::map<std::string_view, size_t> indices;
  Json rules = Json::array();
  Json results = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) {
    auto [index, is_new] = indices.try_emplace(diagnostic.rule->label, rules.size());
    if (is_new) rules.push_back(RuleDescriptor(*diagnostic.rule, texts));
    results.push_back(writer.Result(diagnostic, index->second));
  }
  Json driver = {{"name", "nnefc"},
                 {"version", NNEFC_VERSION},
                 {"semanticVersion", NNEFC_VERSION},
                 {"rules", std::move(rules)}};
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"columnKind", "utf16CodeUnits"},
              {"results", std::move(results)}};
  Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
              {"version", "2.1.0"},
              {"runs", Json::array({std::move(run)})}};
  return log.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nnefc

// Delayed publication of diagnostics.

#include "tools/lsp/publisher.h"

#include <algorithm>

#include "compiler/language/code_text.h"
#include "tools/lsp/generated_files.h"

namespace nnefc::lsp {
namespace {

constexpr std::chrono::seconds kMaxDelay{1};

// Returns the offset of the next character after blanks and comments; the end of the text if there is none.
size_t NextToken(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

int SeverityNumber(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return 1;
    case Severity::kWarning:
      return 2;
    case Severity::kNote:
      return 3;
  }
  return 1;
}

}  // namespace

std::vector<language::Finding> WithoutUnfinished(std::vector<language::Finding> findings,
                                                 std::string_view text, uint32_t cursor,
                                                 bool has_semicolons) {
  cursor = std::min(cursor, static_cast<uint32_t>(text.size()));
  const size_t begin = std::min(language::StatementStart(text, cursor, has_semicolons),
                                cursor - language::WordAtEnd(text.substr(0, cursor)).size());
  size_t end = cursor;
  while (end < text.size() && language::IsNameCharacter(text[end])) ++end;
  const size_t next = NextToken(text, end);
  std::erase_if(findings, [&](const language::Finding& finding) {
    return finding.range.begin <= next && finding.range.end >= begin;
  });
  return findings;
}

Json ToJson(const language::LanguageService& service, const language::Finding& finding,
            bool has_related_locations) {
  Json json = {{"range", ToJson(finding.range)},
               {"severity", SeverityNumber(finding.severity)},
               {"source", "nnefc"},
               {"code", finding.rule},
               {"message", finding.message}};
  const std::string url = language::SectionUrl(finding.section);
  if (!url.empty()) json["codeDescription"] = {{"href", url}};
  Json related = Json::array();
  for (const language::Finding::Note& note : finding.notes) {
    if (note.place && has_related_locations) {
      related.push_back(
          {{"location", {{"uri", EditorUri(service, note.place->uri)}, {"range", ToJson(note.place->range)}}},
           {"message", note.message}});
    } else {
      json["message"] = json["message"].get<std::string>() + "\n" + note.message;
    }
  }
  if (!related.empty()) json["relatedInformation"] = std::move(related);
  const std::string_view rule = finding.rule;
  if (rule.find("unused") != std::string_view::npos) json["tags"] = {1};      // Unnecessary
  if (rule.find("deprecated") != std::string_view::npos) json["tags"] = {2};  // Deprecated
  return json;
}

void Publisher::At(const std::string& uri, Clock::time_point due, std::optional<uint32_t> cursor) {
  entries_[uri] = {due, cursor};
}

void Publisher::Changed(const std::string& uri, uint32_t cursor, Clock::time_point now) {
  At(uri, now + Pause(), cursor);
}

void Publisher::Depends(const std::string& uri, Clock::time_point now) {
  const auto found = entries_.find(uri);
  At(uri, now + Pause(), found == entries_.end() ? std::nullopt : found->second.cursor);
}

Clock::duration Publisher::Pause() const {
  return std::max<Clock::duration>(delays_.change, std::min<Clock::duration>(checking_ / 4, kMaxDelay));
}

void Publisher::Closed(const std::string& uri, const Send& send) {
  entries_.erase(uri);
  send(Notification("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}}));
}

std::optional<Clock::time_point> Publisher::deadline() const {
  std::optional<Clock::time_point> first;
  for (const auto& [uri, entry] : entries_) {
    if (!first || entry.due < *first) first = entry.due;
  }
  return first;
}

void Publisher::Run(const Workspace& workspace, Clock::time_point now, const Send& send) {
  std::vector<std::pair<std::string, Entry>> due;
  for (const auto& [uri, entry] : entries_) {
    if (entry.due <= now) due.emplace_back(uri, entry);
  }
  for (const auto& [uri, entry] : due) {
    entries_.erase(uri);
    if (workspace.IsOpen(uri)) Publish(workspace, uri, entry, send);
  }
}

void Publisher::Publish(const Workspace& workspace, const std::string& uri, const Entry& entry,
                        const Send& send) {
  const Clock::time_point start = Clock::now();
  std::vector<language::Finding> findings = workspace.service().Diagnostics(uri);
  checking_ = Clock::now() - start;
  if (entry.cursor) {
    const size_t all = findings.size();
    const language::Analysis* analysis = workspace.service().AnalysisOf(uri);
    const bool has_semicolons = analysis == nullptr || analysis->checked().dialect().semicolons;
    findings =
        WithoutUnfinished(std::move(findings), workspace.service().Text(uri), *entry.cursor, has_semicolons);
    if (findings.size() != all) At(uri, entry.due + delays_.word, std::nullopt);
  }
  Json list = Json::array();
  for (const language::Finding& finding : findings)
    list.push_back(ToJson(workspace.service(), finding, has_related_locations_));
  send(Notification("textDocument/publishDiagnostics",
                    {{"uri", uri},
                     {"version", workspace.service().Version(uri).value_or(0)},
                     {"diagnostics", std::move(list)}}));
}

}  // namespace nnefc::lsp

// The state of a session with an editor.

#include "tools/lsp/session.h"

namespace nnefc::lsp {

const language::Analysis* Session::AnalysisFor(const Json& params) const {
  const std::string uri = DocumentUri(params);
  if (!workspace.IsOpen(uri)) throw RequestError(ErrorCode::kInvalidParams, "`" + uri + "` is not open");
  return service().AnalysisOf(uri);
}

uint32_t Session::OffsetFor(const Json& params) const {
  return service().Offset(DocumentUri(params), ToPosition(Member(params, "position")));
}

void Session::Request(const char* method, Json params) {
  Json request = Notification(method, std::move(params));
  request["id"] = "nnefc-" + std::to_string(++requests);
  send(std::move(request));
}

Json Session::WorkspaceEdit(const std::string& uri, const std::vector<language::TextEdit>& edits) const {
  if (!client.versioned_edits) return {{"changes", {{uri, ToJson(edits)}}}};
  const std::optional<int64_t> version = workspace.IsOpen(uri) ? service().Version(uri) : std::nullopt;
  const Json document = {{"uri", uri}, {"version", version ? Json(*version) : Json(nullptr)}};
  Json changes = Json::array();
  changes.push_back({{"textDocument", document}, {"edits", ToJson(edits)}});
  return {{"documentChanges", std::move(changes)}};
}

}  // namespace nnefc::lsp

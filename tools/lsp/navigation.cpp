// Requests about names: definitions, references, renaming, symbols and calls.
#include <filesystem>

#include "tools/lsp/generated_files.h"
#include "tools/lsp/session.h"

namespace nnefc::lsp {
namespace {

namespace fs = std::filesystem;

Json LocationOf(const Session& session, const language::Place& place) {
  return {{"uri", EditorUri(session.service(), place.uri)}, {"range", ToJson(place.range)}};
}

Json Definition(Session& session, const Json& params) {
  const std::string uri = DocumentUri(params);
  const uint32_t offset = session.OffsetFor(params);
  if (session.AnalysisFor(params) == nullptr) {
    const auto place = session.service().QuantizedTensor(uri, offset);
    return place ? LocationOf(session, *place) : Json(nullptr);
  }
  const auto place = session.service().Definition(uri, offset);
  return place ? LocationOf(session, *place) : Json(nullptr);
}

Json References(Session& session, const Json& params) {
  session.AnalysisFor(params);
  const Json* with_declaration = Find(params, {"context", "includeDeclaration"});
  const bool include = with_declaration == nullptr || *with_declaration != false;
  Json list = Json::array();
  for (const language::Place& place :
       session.service().References(DocumentUri(params), session.OffsetFor(params), include))
    list.push_back(LocationOf(session, place));
  return list;
}

Json Highlights(Session& session, const Json& params) {
  session.AnalysisFor(params);
  Json list = Json::array();
  for (const language::Place& place :
       session.service().References(DocumentUri(params), session.OffsetFor(params)))
    list.push_back({{"range", ToJson(place.range)}});
  return list;
}

Json SymbolToJson(const language::DocumentSymbol& symbol) {
  Json json = {{"name", symbol.name.empty() ? "(unnamed)" : symbol.name},
               {"kind", SymbolKindNumber(symbol.kind)},
               {"range", ToJson(symbol.range)},
               {"selectionRange", ToJson(symbol.selection)}};
  if (!symbol.detail.empty()) json["detail"] = symbol.detail;
  if (!symbol.children.empty()) {
    Json children = Json::array();
    for (const language::DocumentSymbol& child : symbol.children) children.push_back(SymbolToJson(child));
    json["children"] = std::move(children);
  }
  return json;
}

Json Symbols(Session& session, const Json& params) {
  session.AnalysisFor(params);
  Json list = Json::array();
  for (const language::DocumentSymbol& symbol : session.service().Symbols(DocumentUri(params)))
    list.push_back(SymbolToJson(symbol));
  return list;
}

Json PrepareRename(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr) return nullptr;
  const auto renamable = language::FindRenamable(*analysis, session.OffsetFor(params));
  if (!renamable) return nullptr;
  return {{"range", ToJson(renamable->range)}, {"placeholder", renamable->name}};
}

// Returns the renaming of a label's tensor file; null if there is no such file or the new one exists.
Json FileRenaming(const std::string& uri, const language::Renaming& renaming) {
  const std::optional<std::string> path = PathOf(uri);
  if (!path || renaming.old_file.empty() || renaming.old_file == renaming.new_file) return nullptr;
  const fs::path folder = fs::path(*path).parent_path();
  const fs::path from = folder / (renaming.old_file + ".dat");
  const fs::path to = folder / (renaming.new_file + ".dat");
  std::error_code error;
  if (!fs::is_regular_file(from, error)) return nullptr;
  if (fs::exists(to, error))
    throw RequestError(ErrorCode::kRequestFailed, "`" + renaming.new_file + ".dat` already exists");
  return {{"kind", "rename"}, {"oldUri", UriOf(from.string())}, {"newUri", UriOf(to.string())}};
}

Json Rename(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr)
    throw RequestError(ErrorCode::kRequestFailed, "names are renamed in the document of the model");
  const std::string uri = DocumentUri(params);
  const language::Renaming renaming =
      language::Rename(*analysis, session.OffsetFor(params), String(params, "newName"));
  if (!renaming.error.empty()) throw RequestError(ErrorCode::kRequestFailed, renaming.error);
  Json edit = session.WorkspaceEdit(uri, renaming.edits);
  const std::string quantization = session.service().QuantizationOf(uri);
  if (!quantization.empty() && !renaming.quantization_edits.empty()) {
    const Json more = session.WorkspaceEdit(quantization, renaming.quantization_edits);
    for (const auto& [key, value] : more.items()) {
      if (value.is_array()) {
        edit[key].insert(edit[key].end(), value.begin(), value.end());
      } else {
        edit[key].update(value);
      }
    }
  }
  Json file = FileRenaming(uri, renaming);
  if (file.is_null()) return edit;
  if (!session.client.renames_files || !session.client.versioned_edits) {
    throw RequestError(ErrorCode::kRequestFailed,
                       "this editor cannot rename `" + renaming.old_file + ".dat` with its label");
  }
  edit["documentChanges"].push_back(std::move(file));
  return edit;
}

Json ItemToJson(const std::string& uri, const language::CallItem& item) {
  Json json = {{"name", item.name},
               {"kind", SymbolKindNumber(item.kind)},
               {"uri", uri},
               {"range", ToJson(item.range)},
               {"selectionRange", ToJson(item.selection)}};
  if (!item.detail.empty()) json["detail"] = item.detail;
  return json;
}

Json PrepareCalls(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr) return nullptr;
  const auto item = language::FindCallItem(*analysis, session.OffsetFor(params));
  return item ? Json::array({ItemToJson(DocumentUri(params), *item)}) : Json(nullptr);
}

using CallQuery = std::vector<language::Calls> (*)(const language::Analysis&, uint32_t);

Json Calls(Session& session, const Json& params, const char* side, CallQuery query) {
  const Json& item = Member(params, "item");
  const std::string uri = String(item, "uri");
  const language::Analysis* analysis = session.AnalysisFor({{"textDocument", {{"uri", uri}}}});
  if (analysis == nullptr) return nullptr;
  const language::Position start = ToRange(Member(item, "selectionRange")).first;
  Json list = Json::array();
  for (const language::Calls& calls : query(*analysis, session.service().Offset(uri, start))) {
    Json ranges = Json::array();
    for (const language::TextRange& range : calls.ranges) ranges.push_back(ToJson(range));
    list.push_back({{side, ItemToJson(uri, calls.item)}, {"fromRanges", std::move(ranges)}});
  }
  return list;
}

Json IncomingCalls(Session& session, const Json& params) {
  return Calls(session, params, "from", language::IncomingCalls);
}

Json OutgoingCalls(Session& session, const Json& params) {
  return Calls(session, params, "to", language::OutgoingCalls);
}

constexpr Route kNavigationRoutes[] = {
    {"textDocument/definition", Definition},
    {"textDocument/references", References},
    {"textDocument/documentHighlight", Highlights},
    {"textDocument/documentSymbol", Symbols},
    {"textDocument/prepareRename", PrepareRename},
    {"textDocument/rename", Rename},
    {"textDocument/prepareCallHierarchy", PrepareCalls},
    {"callHierarchy/incomingCalls", IncomingCalls},
    {"callHierarchy/outgoingCalls", OutgoingCalls},
};

}  // namespace

llvm::ArrayRef<Route> NavigationRoutes() {
  return kNavigationRoutes;
}

}  // namespace nnefc::lsp

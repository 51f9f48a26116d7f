// Requests that change texts: completion, signatures, fixes, formatting and commands.
#include <algorithm>
#include <filesystem>

#include "tools/lsp/generated_files.h"
#include "tools/lsp/session.h"

namespace nnefc::lsp {
namespace {

// More completions follow when the word at the cursor has more characters.
constexpr size_t kMaxCompletions = 2000;
constexpr const char* kQuickFix = "quickfix";
constexpr const char* kFixAll = "source.fixAll.nnefc";

// The protocol's CompletionItemKind.
int CompletionKindNumber(language::SymbolKind kind) {
  using language::SymbolKind;
  switch (kind) {
    case SymbolKind::kGraph:
      return 9;  // Module
    case SymbolKind::kFragment:
    case SymbolKind::kOperation:
      return 3;  // Function
    case SymbolKind::kParameter:
      return 10;  // Property
    case SymbolKind::kInput:
    case SymbolKind::kResult:
    case SymbolKind::kTensor:
    case SymbolKind::kIterator:
      return 6;  // Variable
    case SymbolKind::kValue:
      return 21;  // Constant
    case SymbolKind::kKeyword:
      return 14;  // Keyword
  }
  return 1;
}

Json Complete(Session& session, const Json& params) {
  session.AnalysisFor(params);
  Json items = Json::array();
  const std::vector<language::Completion> completions =
      session.service().Complete(DocumentUri(params), session.OffsetFor(params));
  const size_t count = std::min(completions.size(), kMaxCompletions);
  for (size_t i = 0; i < count; ++i) {
    const language::Completion& completion = completions[i];
    const std::string order = std::to_string(i);
    Json item = {{"label", completion.label},
                 {"kind", CompletionKindNumber(completion.kind)},
                 {"insertText", completion.insert},
                 {"sortText", std::string(order.size() < 6 ? 6 - order.size() : 0, '0') + order}};
    if (!completion.detail.empty()) item["detail"] = completion.detail;
    items.push_back(std::move(item));
  }
  return {{"isIncomplete", count < completions.size()}, {"items", std::move(items)}};
}

Json Signature(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr) return nullptr;
  const auto help = language::FindSignature(*analysis, session.OffsetFor(params));
  if (!help) return nullptr;
  Json parameters = Json::array();
  for (const auto& [begin, end] : help->parameters)
    parameters.push_back({{"label", help->label.substr(begin, end - begin)}});
  Json signature = {{"label", help->label}, {"parameters", std::move(parameters)}};
  Json result = {{"signatures", Json::array({std::move(signature)})}, {"activeSignature", 0}};
  // A number beyond the parameters highlights none of them.
  result["activeParameter"] = help->active.value_or(help->parameters.size());
  return result;
}

bool Overlap(const language::TextRange& a, uint32_t begin, uint32_t end) {
  return a.begin <= end && begin <= a.end;
}

// Returns whether the client asked for actions of a kind: the kind itself, or one that contains it.
bool Wants(const Json& params, std::string_view kind, bool if_unrestricted) {
  const Json* only = Find(params, {"context", "only"});
  if (only == nullptr || !only->is_array()) return if_unrestricted;
  return std::ranges::any_of(*only, [&](const Json& wanted) {
    if (!wanted.is_string()) return false;
    const std::string name = wanted.get<std::string>();
    return name.empty() || kind == name || kind.starts_with(name + ".");
  });
}

Json FixAllAction(Session& session, const std::string& uri) {
  Json action = {{"title", "Apply all safe fixes"}, {"kind", kFixAll}, {"data", {{"uri", uri}}}};
  if (session.client.resolves_actions) return action;
  const language::Analysis* analysis = session.service().AnalysisOf(uri);
  action["edit"] = session.WorkspaceEdit(uri, language::FixAll(*analysis));
  return action;
}

Json CodeActions(Session& session, const Json& params) {
  const std::string uri = DocumentUri(params);
  const bool is_document = session.AnalysisFor(params) != nullptr;
  const auto [first, last] = ToRange(Member(params, "range"));
  const uint32_t begin = session.service().Offset(uri, first);
  const uint32_t end = std::max(begin, session.service().Offset(uri, last));
  Json actions = Json::array();
  bool has_safe_fix = false;
  for (const language::Finding& finding : session.service().Diagnostics(uri)) {
    if (finding.fixes.empty()) continue;
    const bool is_safe = finding.fixes.front().applicability == Applicability::kSafe;
    has_safe_fix = has_safe_fix || is_safe;
    if (!Overlap(finding.range, begin, end) || !Wants(params, kQuickFix, true)) continue;
    std::vector<language::TextEdit> edits;
    edits.reserve(finding.fixes.size());
    for (const language::Finding::Fix& fix : finding.fixes) edits.push_back({fix.range, fix.text});
    const std::string& text = edits.front().text;
    const std::string title = edits.size() > 1 ? "Fix: " + finding.message
                              : text.empty()   ? std::string("Remove")
                              : edits.front().range.begin == edits.front().range.end
                                  ? "Insert `" + text + "`"
                                  : "Replace by `" + text + "`";
    actions.push_back({{"title", title},
                       {"kind", kQuickFix},
                       {"isPreferred", is_safe},
                       {"diagnostics", Json::array({ToJson(session.service(), finding, true)})},
                       {"edit", session.WorkspaceEdit(uri, edits)}});
  }
  // An action without its edit costs little; otherwise it is only for clients that want nothing else.
  const bool wants_all = Wants(params, kFixAll, session.client.resolves_actions);
  if (is_document && has_safe_fix && wants_all) actions.push_back(FixAllAction(session, uri));
  return actions;
}

Json ResolveAction(Session& session, const Json& action) {
  const std::string uri = String(Member(action, "data"), "uri");
  const language::Analysis* analysis = session.AnalysisFor({{"textDocument", {{"uri", uri}}}});
  if (analysis == nullptr || String(action, "kind") != kFixAll) return action;
  Json resolved = action;
  resolved["edit"] = session.WorkspaceEdit(uri, language::FixAll(*analysis));
  return resolved;
}

Json ToResult(const std::optional<std::vector<language::TextEdit>>& edits) {
  return edits ? ToJson(*edits) : Json(nullptr);
}

Json Format(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis != nullptr) return ToResult(language::FormatDocument(*analysis));
  const std::string uri = DocumentUri(params);
  if (KindOf(uri) != TextKind::kQuantization) return nullptr;
  return ToResult(language::FormatQuantization(session.service().Text(uri), session.service().encoding(),
                                               language::ServiceOptions().limits));
}

Json FormatRange(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  if (analysis == nullptr) return nullptr;
  const auto [first, last] = ToRange(Member(params, "range"));
  const std::string uri = DocumentUri(params);
  return ToResult(language::FormatRange(*analysis, session.service().Offset(uri, first),
                                        session.service().Offset(uri, last)));
}

Json FormatTyped(Session& session, const Json& params) {
  const language::Analysis* analysis = session.AnalysisFor(params);
  const std::string typed = String(params, "ch");
  if (analysis == nullptr || typed.size() != 1) return nullptr;
  return ToJson(language::FormatTyped(*analysis, session.OffsetFor(params), typed.front()));
}

// Returns the expansion of a document, and opens it in editors that show documents on request.
Json ShowExpansion(Session& session, const Json& arguments) {
  if (!arguments.is_array() || arguments.empty() || !arguments.front().is_string())
    throw RequestError(ErrorCode::kInvalidParams, "expected the uri of a document");
  const std::string uri = arguments.front().get<std::string>();
  const language::Analysis* analysis = session.AnalysisFor({{"textDocument", {{"uri", uri}}}});
  const auto expansion = analysis != nullptr ? language::Expansion(*analysis) : std::nullopt;
  if (!expansion) throw RequestError(ErrorCode::kRequestFailed, "the document has errors");
  Json result = {{"text", *expansion}};
  const std::string path = PathOf(uri).value_or("/document.nnef");
  const std::string stem = std::filesystem::path(path).stem().string();
  if (const auto file = WriteGenerated("expansion/" + stem + ".expanded.nnef", *expansion)) {
    result["uri"] = *file;
    if (session.client.shows_documents)
      session.Request("window/showDocument", {{"uri", *file}, {"takeFocus", true}});
  }
  return result;
}

Json ExecuteCommand(Session& session, const Json& params) {
  const std::string command = String(params, "command");
  if (command == kShowExpansion) return ShowExpansion(session, Array(params, "arguments"));
  throw RequestError(ErrorCode::kInvalidParams, "unknown command `" + command + "`");
}

constexpr Route kEditingRoutes[] = {
    {"textDocument/completion", Complete},
    {"textDocument/signatureHelp", Signature},
    {"textDocument/codeAction", CodeActions},
    {"codeAction/resolve", ResolveAction},
    {"textDocument/formatting", Format},
    {"textDocument/rangeFormatting", FormatRange},
    {"textDocument/onTypeFormatting", FormatTyped},
    {"workspace/executeCommand", ExecuteCommand},
};

}  // namespace

llvm::ArrayRef<Route> EditingRoutes() {
  return kEditingRoutes;
}

}  // namespace nnefc::lsp

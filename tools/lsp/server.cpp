// The language server: dispatch of messages to requests.

#include "tools/lsp/server.h"

#include <algorithm>
#include <new>

#include "tools/lsp/generated_files.h"

namespace nnefc::lsp {
namespace {

bool IsValidId(const Json& id) {
  return id.is_string() || id.is_number_integer();
}

ClientFeatures FeaturesOf(const Json& params) {
  const Json& none = Json::object();
  const Json* found = Find(params, {"capabilities"});
  const Json& capabilities = found != nullptr ? *found : none;
  ClientFeatures features;
  features.versioned_edits = IsTrue(capabilities, {"workspace", "workspaceEdit", "documentChanges"});
  if (const Json* kinds = Find(capabilities, {"workspace", "workspaceEdit", "resourceOperations"})) {
    features.renames_files =
        kinds->is_array() && std::ranges::any_of(*kinds, [](const Json& kind) { return kind == "rename"; });
  }
  features.shows_documents = IsTrue(capabilities, {"window", "showDocument", "support"});
  features.watches_files =
      IsTrue(capabilities, {"workspace", "didChangeWatchedFiles", "dynamicRegistration"});
  if (const Json* properties =
          Find(capabilities, {"textDocument", "codeAction", "resolveSupport", "properties"})) {
    features.resolves_actions =
        properties->is_array() &&
        std::ranges::any_of(*properties, [](const Json& name) { return name == "edit"; });
  }
  if (const Json* formats = Find(capabilities, {"textDocument", "hover", "contentFormat"})) {
    features.has_markdown =
        !formats->is_array() || formats->empty() ||
        std::ranges::any_of(*formats, [](const Json& format) { return format == "markdown"; });
  }
  auto choose = [&](const char* name, bool& choice) {
    const Json* value = Find(params, {"initializationOptions", "inlayHints", name});
    if (value != nullptr && value->is_boolean()) choice = value->get<bool>();
  };
  choose("shapes", features.shape_hints);
  choose("types", features.type_hints);
  choose("defaults", features.default_hints);
  return features;
}

language::PositionEncoding EncodingOf(const Json& params) {
  const Json* encodings = Find(params, {"capabilities", "general", "positionEncodings"});
  const bool has_utf8 =
      encodings != nullptr && encodings->is_array() &&
      std::ranges::any_of(*encodings, [](const Json& encoding) { return encoding == "utf-8"; });
  return has_utf8 ? language::PositionEncoding::kUtf8 : language::PositionEncoding::kUtf16;
}

// Sets a delay from initialization options, in milliseconds.
void ReadDelay(const Json& params, const char* name, std::chrono::milliseconds& delay) {
  const Json* value = Find(params, {"initializationOptions", name});
  if (value == nullptr || !value->is_number_integer()) return;
  delay = std::chrono::milliseconds(std::clamp<int64_t>(value->get<int64_t>(), 0, 60'000));
}

Json Capabilities(language::PositionEncoding encoding) {
  return {
      {"positionEncoding", encoding == language::PositionEncoding::kUtf8 ? "utf-8" : "utf-16"},
      {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", {{"includeText", false}}}}},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"documentHighlightProvider", true},
      {"documentSymbolProvider", true},
      {"renameProvider", {{"prepareProvider", true}}},
      {"callHierarchyProvider", true},
      {"completionProvider", {{"triggerCharacters", Json::array({"(", ","})}, {"resolveProvider", false}}},
      {"signatureHelpProvider",
       {{"triggerCharacters", Json::array({"(", ","})}, {"retriggerCharacters", Json::array({"="})}}},
      {"codeActionProvider",
       {{"codeActionKinds", Json::array({"quickfix", "source.fixAll.nnefc"})}, {"resolveProvider", true}}},
      {"documentFormattingProvider", true},
      {"documentRangeFormattingProvider", true},
      {"documentOnTypeFormattingProvider",
       {{"firstTriggerCharacter", ";"}, {"moreTriggerCharacter", Json::array({"\n", "}"})}}},
      {"hoverProvider", true},
      {"semanticTokensProvider", {{"legend", TokenLegend()}, {"full", {{"delta", true}}}, {"range", true}}},
      {"foldingRangeProvider", true},
      {"selectionRangeProvider", true},
      {"inlayHintProvider", true},
      {"codeLensProvider", {{"resolveProvider", true}}},
      {"executeCommandProvider", {{"commands", Json::array({kShowExpansion})}}},
      {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}},
  };
}

Handler HandlerOf(const std::string& method) {
  for (llvm::ArrayRef<Route> routes : {NavigationRoutes(), EditingRoutes(), DisplayRoutes()}) {
    for (const Route& route : routes) {
      if (method == route.method) return route.handle;
    }
  }
  return nullptr;
}

// Returns the offset in `after` at which a change of `before` ends.
uint32_t EndOfChange(std::string_view before, std::string_view after) {
  const size_t shorter = std::min(before.size(), after.size());
  size_t head = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  size_t tail = 0;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  return static_cast<uint32_t>(after.size() - tail);
}

}  // namespace

void Server::Handle(const Json& message, Clock::time_point now) {
  const Json* method = Find(message, {"method"});
  const Json* id = Find(message, {"id"});
  if (method == nullptr && id != nullptr && (message.contains("result") || message.contains("error")))
    return;  // a response to a request of the server
  if (method == nullptr || !method->is_string() || (id != nullptr && !IsValidId(*id))) {
    const Json null;
    send_(ErrorResponse(id != nullptr && IsValidId(*id) ? *id : null, ErrorCode::kInvalidRequest,
                        "a message has no valid `method` or `id`"));
    return;
  }
  const Json none = Json::object();
  const Json* params = Find(message, {"params"});
  const Json& given = params != nullptr ? *params : none;
  if (id != nullptr) {
    HandleRequest(*id, method->get<std::string>(), given);
  } else {
    HandleNotification(method->get<std::string>(), given, now);
  }
}

void Server::HandleInvalid(const std::string& reason) {
  send_(ErrorResponse(nullptr, ErrorCode::kParseError, reason));
}

void Server::HandleCancelled(const Json& request) {
  send_(ErrorResponse(request.at("id"), ErrorCode::kRequestCancelled, "cancelled"));
}

void Server::HandleRequest(const Json& id, const std::string& method, const Json& params) {
  try {
    send_(Response(id, Answer(method, params)));
  } catch (const RequestError& error) {
    send_(ErrorResponse(id, error.code(), error.what()));
  } catch (const std::bad_alloc&) {
    send_(ErrorResponse(id, ErrorCode::kInternalError, "out of memory"));
  }
}

Json Server::Answer(const std::string& method, const Json& params) {
  if (is_shut_down_) throw RequestError(ErrorCode::kInvalidRequest, "the server is shut down");
  if (method == "initialize") return Initialize(params);
  if (session_ == nullptr)
    throw RequestError(ErrorCode::kServerNotInitialized, "expected the request `initialize` first");
  if (method == "shutdown") {
    is_shut_down_ = true;
    return nullptr;
  }
  const Handler handler = HandlerOf(method);
  if (handler == nullptr) throw RequestError(ErrorCode::kMethodNotFound, "unknown method `" + method + "`");
  return handler(*session_, params);
}

Json Server::Initialize(const Json& params) {
  if (session_ != nullptr)
    throw RequestError(ErrorCode::kInvalidRequest, "the server is already initialized");
  language::ServiceOptions service = options_.service;
  service.encoding = EncodingOf(params);
  session_ = std::make_unique<Session>(service, FeaturesOf(params), send_);
  const Json* diagnostics = Find(params, {"capabilities", "textDocument", "publishDiagnostics"});
  session_->publisher.set_has_related_locations(diagnostics != nullptr &&
                                                IsTrue(*diagnostics, {"relatedInformation"}));
  ReadDelay(params, "diagnosticDelay", session_->publisher.delays().change);
  ReadDelay(params, "unfinishedWordDelay", session_->publisher.delays().word);
  return {{"capabilities", Capabilities(service.encoding)},
          {"serverInfo", {{"name", "nnefc"}, {"version", options_.version}}}};
}

void Server::HandleNotification(const std::string& method, const Json& params, Clock::time_point now) {
  if (method == "exit") {
    exit_code_ = end_code();
    return;
  }
  if (session_ == nullptr || is_shut_down_) return;
  try {
    if (method == "initialized") {
      Initialized();
    } else if (method == "textDocument/didOpen") {
      Open(params, now);
    } else if (method == "textDocument/didChange") {
      Change(params, now);
    } else if (method == "textDocument/didSave") {
      Saved(params, now);
    } else if (method == "textDocument/didClose") {
      Close(params, now);
    } else if (method == "workspace/didChangeWatchedFiles" ||
               method == "workspace/didChangeWorkspaceFolders") {
      Reload(now);
    }
  } catch (const RequestError& error) {
    Log("`" + method + "`: " + error.what());
  } catch (const std::bad_alloc&) {
    Log("`" + method + "`: out of memory");
  }
}

void Server::Initialized() {
  if (!session_->client.watches_files) return;
  Json watchers = Json::array();
  for (const char* pattern : {"**/.nnefc.json", "**/*.quant", "**/*.nnef"})
    watchers.push_back({{"globPattern", pattern}});
  Json registration = {{"id", "nnefc-files"},
                       {"method", "workspace/didChangeWatchedFiles"},
                       {"registerOptions", {{"watchers", std::move(watchers)}}}};
  session_->Request("client/registerCapability", {{"registrations", Json::array({std::move(registration)})}});
}

void Server::Open(const Json& params, Clock::time_point now) {
  const Json& document = Member(params, "textDocument");
  const std::string uri = String(document, "uri");
  if (!session_->workspace.Open(uri, Integer(document, "version"), String(document, "text"))) {
    if (!IsGenerated(uri)) Log("`" + uri + "` is not checked: it is too large or of another format");
    return;
  }
  for (const std::string& dependent : session_->workspace.Dependents(uri))
    session_->publisher.Opened(dependent, now);
}

void Server::Change(const Json& params, Clock::time_point now) {
  const Json& document = Member(params, "textDocument");
  const std::string uri = String(document, "uri");
  std::vector<language::TextChange> changes;
  for (const Json& change : Array(params, "contentChanges")) {
    language::TextChange& added = changes.emplace_back();
    if (change.is_object() && change.contains("range")) added.range = ToRange(change["range"]);
    added.text = String(change, "text");
  }
  if (!session_->workspace.IsOpen(uri)) return;
  const std::string before(session_->service().Text(uri));
  if (!session_->workspace.Change(uri, Integer(document, "version"), changes)) {
    Log("a change of `" + uri + "` does not apply to its version");
    return;
  }
  const uint32_t cursor = EndOfChange(before, session_->service().Text(uri));
  for (const std::string& dependent : session_->workspace.Dependents(uri)) {
    if (dependent == uri) {
      session_->publisher.Changed(uri, cursor, now);
    } else {
      session_->publisher.Depends(dependent, now);
    }
  }
}

void Server::Saved(const Json& params, Clock::time_point now) {
  const std::string uri = DocumentUri(params);
  if (session_->workspace.IsOpen(uri)) session_->publisher.Opened(uri, now);
}

void Server::Close(const Json& params, Clock::time_point now) {
  const std::string uri = DocumentUri(params);
  if (!session_->workspace.IsOpen(uri)) return;
  session_->workspace.Close(uri);
  session_->tokens.erase(uri);
  session_->publisher.Closed(uri, send_);
  for (const std::string& dependent : session_->workspace.Dependents(uri))
    session_->publisher.Depends(dependent, now);
}

void Server::Reload(Clock::time_point now) {
  session_->workspace.Reload();
  for (const std::string& uri : session_->workspace.opened()) session_->publisher.Depends(uri, now);
}

void Server::Log(const std::string& message) {
  send_(Notification("window/logMessage", {{"type", 2}, {"message", "nnefc: " + message}}));
}

std::optional<Clock::time_point> Server::deadline() const {
  return session_ == nullptr ? std::nullopt : session_->publisher.deadline();
}

void Server::Run(Clock::time_point now) {
  if (session_ == nullptr) return;
  try {
    session_->publisher.Run(session_->workspace, now, send_);
  } catch (const std::bad_alloc&) {
    Log("diagnostics: out of memory");
  }
}

}  // namespace nnefc::lsp

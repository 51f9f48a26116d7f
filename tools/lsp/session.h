#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tools/lsp/protocol.h"
#include "tools/lsp/publisher.h"
#include "tools/lsp/workspace.h"

namespace nnefc::lsp {

// The features of the editor, from `initialize`.
struct ClientFeatures {
  bool versioned_edits = false;   // workspace edits with `documentChanges`
  bool renames_files = false;     // workspace edits with file operations
  bool shows_documents = false;   // window/showDocument
  bool resolves_actions = false;  // the edit of a code action follows by codeAction/resolve
  bool watches_files = false;     // dynamic registration of watched files
  bool has_markdown = true;       // in hovers
  // Selected by initialization options.
  bool shape_hints = true;
  bool type_hints = true;
  bool default_hints = false;
};

// The semantic tokens that a client has of a text, in the protocol's encoding.
struct SentTokens {
  std::string id;
  std::vector<int32_t> data;
};

// The state of an initialized server, for the functions that answer requests.
struct Session {
  Session(language::ServiceOptions options, ClientFeatures features, std::function<void(Json)> sender)
      : workspace(std::move(options)), client(features), send(std::move(sender)) {}

  const language::LanguageService& service() const { return workspace.service(); }
  // Returns the analysis of the document of a request. Throws RequestError for a text that is not open; null
  // for a graph.quant file or a configuration.
  const language::Analysis* AnalysisFor(const Json& params) const;
  uint32_t OffsetFor(const Json& params) const;
  // Sends a request whose response is ignored.
  void Request(const char* method, Json params);
  // Returns a workspace edit of one document.
  Json WorkspaceEdit(const std::string& uri, const std::vector<language::TextEdit>& edits) const;

  Workspace workspace;
  Publisher publisher;
  ClientFeatures client;
  std::function<void(Json)> send;
  int64_t requests = 0;
  std::map<std::string, SentTokens> tokens;  // by uri
  int64_t token_results = 0;
};

// A function that answers a request. It throws RequestError.
using Handler = Json (*)(Session& session, const Json& params);
struct Route {
  const char* method;
  Handler handle;
};
llvm::ArrayRef<Route> NavigationRoutes();
llvm::ArrayRef<Route> EditingRoutes();
llvm::ArrayRef<Route> DisplayRoutes();

// The names of token types and modifiers, in the order of their numbers.
Json TokenLegend();
// The commands of workspace/executeCommand.
inline constexpr const char* kShowExpansion = "nnefc.showExpansion";

}  // namespace nnefc::lsp

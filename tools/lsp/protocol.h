#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "compiler/language/language_service.h"
#include "compiler/language/queries.h"
#include "nlohmann/json.hpp"

namespace nnefc::lsp {

using Json = nlohmann::json;

enum class ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kServerNotInitialized = -32002,
  kRequestFailed = -32803,
  kRequestCancelled = -32800,
};

// A failed request; becomes its error response.
class RequestError : public std::runtime_error {
 public:
  RequestError(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// Returns the member at a path of objects, or null if there is none.
const Json* Find(const Json& value, std::initializer_list<const char*> path);
// Returns true if the member is `true`.
bool IsTrue(const Json& value, std::initializer_list<const char*> path);

// Return a parameter. They throw RequestError if it is missing or has another type.
const Json& Member(const Json& value, const char* key);
const Json& Array(const Json& value, const char* key);
std::string String(const Json& value, const char* key);
int64_t Integer(const Json& value, const char* key);
language::Position ToPosition(const Json& position);
// A range; its positions may be in any order.
std::pair<language::Position, language::Position> ToRange(const Json& range);
// Returns the uri of `textDocument`.
std::string DocumentUri(const Json& params);

Json ToJson(language::Position position);
Json ToJson(const language::TextRange& range);
Json ToJson(const language::TextEdit& edit);
Json ToJson(const std::vector<language::TextEdit>& edits);
// The protocol's SymbolKind.
int SymbolKindNumber(language::SymbolKind kind);

Json Response(const Json& id, Json result);
Json ErrorResponse(const Json& id, ErrorCode code, const std::string& message);
Json Notification(const char* method, Json params);
// Returns the message with its header.
std::string Framed(const Json& message);

// Returns the path of a `file:` uri; nothing for another uri.
std::optional<std::string> PathOf(std::string_view uri);
// Returns the `file:` uri of an absolute path.
std::string UriOf(std::string_view path);

}  // namespace nnefc::lsp

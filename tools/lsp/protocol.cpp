// JSON forms of the protocol's types.

#include "tools/lsp/protocol.h"

#include <algorithm>

#include "fmt/format.h"

namespace nnefc::lsp {
namespace {

constexpr std::string_view kScheme = "file://";

RequestError InvalidParams(std::string_view expected) {
  return {ErrorCode::kInvalidParams, fmt::format("invalid parameters: expected {}", expected)};
}

int32_t Coordinate(const Json& position, const char* key) {
  return static_cast<int32_t>(std::clamp<int64_t>(Integer(position, key), -1, INT32_MAX));
}

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace

const Json* Find(const Json& value, std::initializer_list<const char*> path) {
  const Json* at = &value;
  for (const char* key : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

bool IsTrue(const Json& value, std::initializer_list<const char*> path) {
  const Json* found = Find(value, path);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

const Json& Member(const Json& value, const char* key) {
  const Json* found = Find(value, {key});
  if (found == nullptr) throw InvalidParams(fmt::format("`{}`", key));
  return *found;
}

const Json& Array(const Json& value, const char* key) {
  const Json& array = Member(value, key);
  if (!array.is_array()) throw InvalidParams(fmt::format("a list `{}`", key));
  return array;
}

std::string String(const Json& value, const char* key) {
  const Json& string = Member(value, key);
  if (!string.is_string()) throw InvalidParams(fmt::format("a string `{}`", key));
  return string.get<std::string>();
}

int64_t Integer(const Json& value, const char* key) {
  const Json& number = Member(value, key);
  if (number.is_number_unsigned())
    return static_cast<int64_t>(std::min<uint64_t>(number.get<uint64_t>(), INT64_MAX));
  if (!number.is_number_integer()) throw InvalidParams(fmt::format("an integer `{}`", key));
  return number.get<int64_t>();
}

language::Position ToPosition(const Json& position) {
  return {Coordinate(position, "line"), Coordinate(position, "character")};
}

std::pair<language::Position, language::Position> ToRange(const Json& range) {
  return {ToPosition(Member(range, "start")), ToPosition(Member(range, "end"))};
}

std::string DocumentUri(const Json& params) {
  return String(Member(params, "textDocument"), "uri");
}

Json ToJson(language::Position position) {
  return {{"line", position.line}, {"character", position.character}};
}

Json ToJson(const language::TextRange& range) {
  return {{"start", ToJson(range.start)}, {"end", ToJson(range.stop)}};
}

Json ToJson(const language::TextEdit& edit) {
  return {{"range", ToJson(edit.range)}, {"newText", edit.text}};
}

Json ToJson(const std::vector<language::TextEdit>& edits) {
  Json list = Json::array();
  for (const language::TextEdit& edit : edits) list.push_back(ToJson(edit));
  return list;
}

int SymbolKindNumber(language::SymbolKind kind) {
  using language::SymbolKind;
  switch (kind) {
    case SymbolKind::kGraph:
      return 2;  // Module
    case SymbolKind::kFragment:
    case SymbolKind::kOperation:
      return 12;  // Function
    case SymbolKind::kParameter:
      return 7;  // Property
    case SymbolKind::kInput:
    case SymbolKind::kResult:
      return 8;  // Field
    case SymbolKind::kTensor:
    case SymbolKind::kIterator:
      return 13;  // Variable
    case SymbolKind::kValue:
      return 14;  // Constant
    case SymbolKind::kKeyword:
      return 20;  // Key
  }
  return 13;
}

Json Response(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json ErrorResponse(const Json& id, ErrorCode code, const std::string& message) {
  return {
      {"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", static_cast<int>(code)}, {"message", message}}}};
}

Json Notification(const char* method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string Framed(const Json& message) {
  const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  return fmt::format("Content-Length: {}\r\n\r\n{}", text.size(), text);
}

std::optional<std::string> PathOf(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  if (uri.starts_with("localhost/")) uri.remove_prefix(std::string_view("localhost").size());
  if (!uri.starts_with('/')) return std::nullopt;
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] == '%' && i + 2 < uri.size() && HexDigit(uri[i + 1]) && HexDigit(uri[i + 2])) {
      path += static_cast<char>(*HexDigit(uri[i + 1]) * 16 + *HexDigit(uri[i + 2]));
      i += 2;
    } else {
      path += uri[i];
    }
  }
  if (path.find('\0') != std::string::npos) return std::nullopt;
  return path;
}

std::string UriOf(std::string_view path) {
  std::string uri(kScheme);
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("/-._~").find(c) != std::string_view::npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace nnefc::lsp

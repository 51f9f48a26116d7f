#include "tests/unit/compiler/ir/ops/declarations.h"

#include <algorithm>
#include <cctype>

#include "stdlib/stdlib.h"

namespace nnefc::testing {

namespace {

// The text without comments and line ends.
std::string WithoutComments(std::string_view text) {
  std::string result;
  bool comment = false;
  for (char c : text) {
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    if (!comment) result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string WithoutBlanks(std::string_view text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result), [](char c) { return c != ' '; });
  return result;
}

// The text in the parentheses that begin at `begin`, which is moved behind.
std::string Parenthesized(const std::string& text, size_t& begin) {
  begin = text.find('(', begin);
  size_t end = begin;
  int depth = 0;
  do {
    if (text[end] == '(') ++depth;
    if (text[end] == ')') --depth;
    ++end;
  } while (depth > 0);
  std::string inner = text.substr(begin + 1, end - begin - 2);
  begin = end;
  return inner;
}

// `name: type = default, ..`
std::vector<DeclaredValue> Values(const std::string& text) {
  std::vector<DeclaredValue> values;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == '[')) ++depth;
    if (i < text.size() && (text[i] == ')' || text[i] == ']')) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const std::string item = text.substr(begin, i - begin);
    begin = i + 1;
    const size_t colon = item.find(':');
    if (colon == std::string::npos) continue;
    DeclaredValue value;
    const size_t equals = item.find('=', colon);
    value.name = WithoutBlanks(item.substr(0, colon));
    value.type =
        WithoutBlanks(item.substr(colon + 1, equals == std::string::npos ? equals : equals - colon - 1));
    if (equals != std::string::npos) value.default_value = WithoutBlanks(item.substr(equals + 1));
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<Declaration> Scan() {
  const std::string text = WithoutComments(RatifiedLibraryText()) + WithoutComments(ControlFlowLibraryText());
  std::vector<Declaration> declarations;
  const std::string keyword = "fragment ";
  for (size_t at = text.find(keyword); at != std::string::npos; at = text.find(keyword, at)) {
    at += keyword.size();
    Declaration declaration;
    while (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_') {
      declaration.name += text[at++];
    }
    declaration.is_generic = text[at] == '<';
    declaration.parameters = Values(Parenthesized(text, at));
    declaration.results = Values(Parenthesized(text, at));
    declarations.push_back(std::move(declaration));
  }
  return declarations;
}

}  // namespace

const std::vector<Declaration>& Declarations() {
  static const std::vector<Declaration> declarations = Scan();
  return declarations;
}

const Declaration* FindDeclaration(std::string_view name) {
  for (const Declaration& declaration : Declarations()) {
    if (declaration.name == name) return &declaration;
  }
  return nullptr;
}

}  // namespace nnefc::testing

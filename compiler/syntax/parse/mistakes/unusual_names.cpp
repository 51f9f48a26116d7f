// Names that are valid only in other formats, such as `conv1.out`.

#include "compiler/syntax/parse/mistakes/unusual_names.h"

#include <algorithm>

#include "compiler/syntax/parse.h"
#include "fmt/core.h"

namespace nnefc::ast::parse {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsPart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_';
}

}  // namespace

std::string UnusualName::Message(std::string_view text) const {
  if (wrong == begin) {
    return fmt::format("`{}` begins with a digit; a name begins with a letter or `_`",
                       text.substr(begin, end - begin));
  }
  return fmt::format("`{}` cannot be part of a name: names are of letters, digits and `_`", text[wrong]);
}

std::optional<UnusualName> FindUnusualName(std::string_view text, uint32_t begin) {
  const auto at = [&](size_t offset) { return offset < text.size() ? text[offset] : '\0'; };
  constexpr uint32_t kLongest = 200;
  UnusualName name{.begin = begin, .end = begin, .wrong = begin, .right = {}};
  bool is_odd = IsDigit(at(begin));
  while (name.end - begin < kLongest) {
    const char c = at(name.end);
    const char next = at(name.end + 1);
    const bool joins = ((c == '.' || c == '-' || c == '/') && IsPart(next)) || (c == ':' && IsDigit(next));
    if (!IsPart(c) && !joins) break;
    if (joins && !is_odd) {
      is_odd = true;
      name.wrong = name.end;
    }
    ++name.end;
  }
  if (!is_odd || name.end == begin) return std::nullopt;
  name.right = NearestName(text.substr(begin, name.end - begin));
  return name;
}

bool IsLeftSide(std::string_view text, uint32_t offset) {
  constexpr uint32_t kLongest = 1000;
  for (const uint32_t first = offset; offset < text.size() && offset - first < kLongest; ++offset) {
    const char c = text[offset];
    if (c == '=') return offset + 1 == text.size() || text[offset + 1] != '=';
    const bool goes_on = IsPart(c) || std::string_view(" \t,[]().-/:").find(c) != std::string_view::npos;
    if (!goes_on) return false;
  }
  return false;
}

bool IsModule(std::string_view name) {
  constexpr std::string_view kModules[] = {
      "F",    "K",      "caffe", "functional", "jax",    "jnp",   "keras",       "lax",   "layers",
      "math", "mx",     "nd",    "nn",         "nnef",   "np",    "numpy",       "onnx",  "op",
      "ops",  "paddle", "self",  "tf",         "tflite", "torch", "torchvision", "vision"};
  return std::find(std::begin(kModules), std::end(kModules), name) != std::end(kModules);
}

}  // namespace nnefc::ast::parse

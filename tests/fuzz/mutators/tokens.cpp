#include "tests/fuzz/mutators/tokens.h"

#include <algorithm>
#include <cstddef>

namespace nnefc::fuzz {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '%';
}

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

size_t EndOfSpace(std::string_view text, size_t at, std::string_view comment) {
  while (at < text.size()) {
    if (IsSpace(text[at])) {
      ++at;
    } else if (!comment.empty() && text.substr(at).starts_with(comment)) {
      at = std::min(text.find('\n', at), text.size());
    } else {
      break;
    }
  }
  return at;
}

size_t EndOfString(std::string_view text, size_t at) {
  const char quote = text[at];
  for (size_t end = at + 1; end < text.size(); ++end) {
    if (text[end] == '\\') {
      ++end;
    } else if (text[end] == quote) {
      return end + 1;
    } else if (text[end] == '\n') {
      break;  // a quote without an end
    }
  }
  return at + 1;
}

size_t EndOfNumber(std::string_view text, size_t at) {
  size_t end = at + (text[at] == '-' ? 1 : 0);
  while (end < text.size() && IsDigit(text[end])) ++end;
  if (end + 1 < text.size() && text[end] == '.' && IsDigit(text[end + 1])) {
    ++end;
    while (end < text.size() && IsDigit(text[end])) ++end;
  }
  if (end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    size_t digits = end + 1;
    if (text[digits] == '-' || text[digits] == '+') ++digits;
    if (digits < text.size() && IsDigit(text[digits])) {
      end = digits;
      while (end < text.size() && IsDigit(text[end])) ++end;
    }
  }
  return end;
}

size_t EndOfName(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (IsNameStart(text[end]) || IsDigit(text[end]))) ++end;
  return end;
}

size_t EndOfMark(std::string_view text, size_t at) {
  for (std::string_view mark : {"->", "<=", ">=", "==", "!=", "&&", "||", ".."})
    if (text.substr(at).starts_with(mark)) return at + mark.size();
  return at + 1;
}

// A sign belongs to a number unless an operand precedes it.
bool IsOperand(const Tokens& tokens) {
  if (tokens.empty()) return false;
  const Token& last = tokens.back();
  return last.kind != TokenKind::kMark || last.Is(")") || last.Is("]") || last.Is("}");
}

}  // namespace

Tokens Tokenize(std::string_view text, std::string_view comment) {
  Tokens tokens;
  size_t at = 0;
  while (true) {
    const size_t begin = EndOfSpace(text, at, comment);
    if (begin == text.size()) return tokens;
    const char c = text[begin];
    const bool is_signed =
        c == '-' && begin + 1 < text.size() && IsDigit(text[begin + 1]) && !IsOperand(tokens);
    TokenKind kind = TokenKind::kMark;
    size_t end = 0;
    if (IsDigit(c) || is_signed) {
      kind = TokenKind::kNumber;
      end = EndOfNumber(text, begin);
    } else if (IsNameStart(c)) {
      kind = TokenKind::kName;
      end = EndOfName(text, begin);
    } else if (c == '"' || c == '\'') {
      end = EndOfString(text, begin);
      kind = end > begin + 1 ? TokenKind::kString : TokenKind::kMark;
    } else {
      end = EndOfMark(text, begin);
    }
    tokens.push_back(
        {kind, std::string(text.substr(at, begin - at)), std::string(text.substr(begin, end - begin))});
    at = end;
  }
}

std::string Join(const Tokens& tokens) {
  std::string text;
  const Token* last = nullptr;
  for (const Token& token : tokens) {
    // Words that an edit has made adjacent need a space.
    const bool touches = last != nullptr && token.space.empty() && last->kind != TokenKind::kMark &&
                         token.kind != TokenKind::kMark;
    text += touches ? " " : token.space;
    text += token.text;
    last = &token;
  }
  if (!text.empty()) text += '\n';
  return text;
}

Brackets::Brackets(const Tokens& tokens) {
  partners_.resize(tokens.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    partners_[i] = i;
    const Token& token = tokens[i];
    if (token.kind != TokenKind::kMark) continue;
    if (token.Is("(") || token.Is("[") || token.Is("{")) {
      open.push_back(i);
    } else if (!open.empty() && (token.Is(")") || token.Is("]") || token.Is("}"))) {
      const std::string& opening = tokens[open.back()].text;
      if (opening != (token.Is(")") ? "(" : token.Is("]") ? "[" : "{")) continue;
      partners_[i] = open.back();
      partners_[open.back()] = i;
      open.pop_back();
    }
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!opens(i)) continue;
    if (tokens[i].Is("{") && IsBlock(tokens, i + 1, partner(i))) {
      AddBlock(tokens, i + 1, partner(i));
    } else {
      AddList(tokens, i + 1, partner(i));
    }
  }
  AddBlock(tokens, 0, tokens.size());
}

bool Brackets::IsBlock(const Tokens& tokens, size_t begin, size_t end) const {
  // The members of a JSON object begin with a string, statements do not.
  if (begin == end || tokens[begin].kind == TokenKind::kString) return false;
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].Is(";")) return true;
    if (opens(i)) i = partner(i);
  }
  return tokens[begin].begins_line();
}

void Brackets::AddList(const Tokens& tokens, size_t begin, size_t end) {
  size_t item = begin;
  for (size_t i = begin; i < end; ++i) {
    if (opens(i)) {
      i = partner(i);
    } else if (tokens[i].Is(",")) {
      items_.push_back({item, i});
      item = i + 1;
    }
  }
  if (item < end) items_.push_back({item, end});
}

void Brackets::AddBlock(const Tokens& tokens, size_t begin, size_t end) {
  size_t statement = begin;
  const auto close = [&](size_t at) {
    if (statement < at) statements_.push_back({statement, at});
    statement = at;
  };
  for (size_t i = begin; i < end; ++i) {
    if (tokens[i].begins_line()) close(i);
    if (opens(i)) {
      i = partner(i);
    } else if (tokens[i].Is(";")) {
      close(i + 1);
    }
  }
  close(end);
}

std::vector<Span> Brackets::ItemsOf(size_t open) const {
  std::vector<Span> found;
  size_t at = open + 1;
  for (const Span& item : items_) {
    if (item.begin != at || item.end > partner(open)) continue;
    found.push_back(item);
    at = item.end + 1;
  }
  return found;
}

void Replace(Tokens& tokens, Span span, const Tokens& replacement) {
  const auto begin = tokens.begin() + static_cast<ptrdiff_t>(span.begin);
  const auto at = tokens.erase(begin, begin + static_cast<ptrdiff_t>(span.size()));
  tokens.insert(at, replacement.begin(), replacement.end());
}

}  // namespace nnefc::fuzz

// The tokenizer of the text form of graphs (text.h).

#include "compiler/ir/text/text_scanner.h"

#include <algorithm>
#include <charconv>

namespace nnefc::ir {

namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsWordPart(char c) {
  return IsWordStart(c) || IsDigit(c) || c == '-';
}

std::optional<int> HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace

void TextScanner::SkipBlanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

char TextScanner::Peek() {
  SkipBlanks();
  return position_ < text_.size() ? text_[position_] : '\0';
}

SourceRange TextScanner::Here() {
  SkipBlanks();
  const auto begin = static_cast<uint32_t>(position_);
  return {file_, begin, position_ < text_.size() ? begin + 1 : begin};
}

std::string TextScanner::Found() {
  if (AtEnd()) return "the end of the text";
  size_t end = position_ + 1;
  if (IsWordPart(text_[position_])) {
    while (end < text_.size() && end < position_ + 40 && IsWordPart(text_[end])) ++end;
  }
  return fmt::format("`{}`", text_.substr(position_, end - position_));
}

bool TextScanner::AtWord(std::string_view word) {
  Peek();
  if (failed_ || text_.substr(position_, word.size()) != word) return false;
  const size_t end = position_ + word.size();
  return end >= text_.size() || !IsWordPart(text_[end]);
}

bool TextScanner::Accept(std::string_view token) {
  Peek();
  if (failed_ || text_.substr(position_, token.size()) != token) return false;
  if (IsWordStart(token.front()) && !AtWord(token)) return false;
  position_ += token.size();
  return true;
}

bool TextScanner::Expect(std::string_view token) {
  if (Accept(token)) return true;
  Error(kTextSyntax, "expected `{}`, found {}", token, Found());
  return false;
}

std::optional<std::string_view> TextScanner::AcceptWord() {
  if (failed_ || !IsWordStart(Peek())) return std::nullopt;
  const size_t begin = position_;
  while (position_ < text_.size() && IsWordPart(text_[position_])) ++position_;
  return text_.substr(begin, position_ - begin);
}

std::optional<std::string> TextScanner::Word() {
  if (Peek() == '"') return String();
  if (auto word = AcceptWord()) return std::string(*word);
  Error(kTextSyntax, "expected a word, found {}", Found());
  return std::nullopt;
}

std::optional<std::string> TextScanner::String() {
  if (!Expect("\"")) return std::nullopt;
  const size_t begin = position_ - 1;
  std::string value;
  while (position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n') {
    const char c = text_[position_++];
    if (c != '\\') {
      value += c;
      continue;
    }
    const char escape = position_ < text_.size() ? text_[position_++] : '\0';
    if (escape == 'n') {
      value += '\n';
    } else if (escape == '"' || escape == '\\') {
      value += escape;
    } else if (escape == 'x' && position_ + 2 <= text_.size() && HexValue(text_[position_]) &&
               HexValue(text_[position_ + 1])) {
      value += static_cast<char>(*HexValue(text_[position_]) * 16 + *HexValue(text_[position_ + 1]));
      position_ += 2;
    } else {
      ErrorAt(kTextSyntax, RangeFrom(static_cast<uint32_t>(begin)), "unknown escape in a string");
      return std::nullopt;
    }
  }
  if (position_ < text_.size() && text_[position_] == '"') {
    ++position_;
    return value;
  }
  ErrorAt(kTextSyntax, RangeFrom(static_cast<uint32_t>(begin)), "the string does not end");
  return std::nullopt;
}

std::optional<std::string_view> TextScanner::Number() {
  Peek();
  const size_t begin = position_;
  size_t end = begin;
  const auto at = [&](size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  if (at(end) == '-') ++end;
  if (text_.substr(end, 3) == "inf" || text_.substr(end, 3) == "nan") {
    end += 3;
  } else {
    const size_t digits = end;
    while (IsDigit(at(end))) ++end;
    if (end > digits && at(end) == '.') {
      ++end;
      while (IsDigit(at(end))) ++end;
    }
    const size_t exponent = at(end + 1) == '-' || at(end + 1) == '+' ? end + 2 : end + 1;
    if (end > digits && (at(end) == 'e' || at(end) == 'E') && IsDigit(at(exponent))) {
      end = exponent;
      while (IsDigit(at(end))) ++end;
    }
    if (end == digits) end = begin;
  }
  if (failed_ || end == begin || IsWordStart(at(end))) {
    Error(kTextSyntax, "expected a number, found {}", Found());
    return std::nullopt;
  }
  position_ = end;
  return text_.substr(begin, end - begin);
}

std::optional<int64_t> TextScanner::Integer() {
  const SourceRange range = Here();
  const std::optional<std::string_view> number = Number();
  if (!number) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(number->data(), number->data() + number->size(), value);
  if (error == std::errc() && end == number->data() + number->size()) return value;
  ErrorAt(kTextSyntax, range, "`{}` is not a 64-bit integer", *number);
  return std::nullopt;
}

// Reads digits only: `3` of `%3.1`.
std::optional<int32_t> TextScanner::Index() {
  Peek();
  const size_t begin = position_;
  size_t end = begin;
  while (end < text_.size() && IsDigit(text_[end])) ++end;
  if (failed_ || end == begin) {
    Error(kTextSyntax, "expected an index, found {}", Found());
    return std::nullopt;
  }
  position_ = end;
  int32_t value = 0;
  const auto [stop, error] = std::from_chars(text_.data() + begin, text_.data() + end, value);
  if (error == std::errc() && value < INT32_MAX) return value;
  ErrorAt(kTextSyntax, RangeFrom(static_cast<uint32_t>(begin)), "`{}` is too large an index",
          text_.substr(begin, end - begin));
  return std::nullopt;
}

std::optional<std::string_view> TextScanner::AcceptPartialShape() {
  if (failed_ || Peek() != '[') return std::nullopt;
  const size_t end = text_.find_first_not_of("0123456789?.,- ", position_ + 1);
  if (end == std::string_view::npos || text_[end] != ']') return std::nullopt;
  const std::string_view shape = text_.substr(position_, end + 1 - position_);
  if (shape.find('?') == std::string_view::npos && shape.find("..") == std::string_view::npos)
    return std::nullopt;
  position_ = end + 1;
  return shape;
}

std::optional<std::string_view> TextScanner::Until(char end) {
  const size_t begin = position_;
  const size_t found = text_.find(end, begin);
  if (failed_ || found == std::string_view::npos) {
    Error(kTextSyntax, "expected `{}`, found the end of the text", end);
    return std::nullopt;
  }
  position_ = found + 1;
  return text_.substr(begin, found - begin);
}

}  // namespace nnefc::ir

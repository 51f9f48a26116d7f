#pragma once

#include <string_view>

#include "compiler/syntax/parse/token.h"

namespace nnefc::ast::parse {

// Splits a text into the tokens of NnefLexer.g4, comments included. It accepts any text: a character that
// begins no token becomes a token of kind kUnexpected.
class Scanner {
 public:
  // Scans `text` from `offset`, in bytes. The text must outlive the scanner.
  explicit Scanner(std::string_view text, uint32_t offset = 0) : text_(text), at_(offset) {}

  // Returns the next token, or kEndOfText at the end of the text, also when called again.
  Token Next();

 private:
  void SkipWhiteSpace();
  Token Take(TokenKind kind, size_t length);
  Token Punctuation(char first);
  Token Identifier();
  Token Number();
  Token String();
  Token Comment();
  Token Unexpected();
  // Returns the offset after the closing quote of the string at `begin`; 0 if the line ends first.
  size_t EndOfString(size_t begin) const;
  char At(size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

  std::string_view text_;
  size_t at_;
};

}  // namespace nnefc::ast::parse

#pragma once

#include <string_view>

#include "compiler/syntax/parse/token.h"

namespace nnefc::parse {

// Cuts a text into the tokens that NnefLexer.g4 defines, comments included.
// Total: a byte that begins no token is one of kind kUnexpected (a character
// of UTF-8 is one token).
class Scanner {
 public:
  // Scans `text` from `offset` on; the text outlives the scanner.
  explicit Scanner(std::string_view text, uint32_t offset = 0) : text_(text), at_(offset) {}

  // The next token; at the end of the text kEndOfText, again and again.
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
  // Behind the quote that closes the one at `begin`; 0 if the line ends before.
  size_t EndOfString(size_t begin) const;
  char At(size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

  std::string_view text_;
  size_t at_;
};

}  // namespace nnefc::parse

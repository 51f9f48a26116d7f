#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/syntax/parse/token.h"

namespace nnefc::parse {

// What stands where NNEF has another token: a typographic quote or dash, a
// blank that is none, a token or comment of another language. What it is meant
// for is certain, so that reading goes on as if it had been written.
struct ForeignToken {
  Token token;  // kWhiteSpace if nothing is left of it
  uint32_t end = 0;
  std::string message;
  // What makes the text right: bytes [begin, end) become `text`.
  struct Edit {
    uint32_t begin;
    uint32_t end;
    std::string text;
  };
  std::vector<Edit> edits;
  // Tokens that take the place of later ones, which begin at the same offsets.
  std::vector<Token> later;
  // How the token is written in ASCII, if it is a word with look-alike letters.
  std::string spelling;
};

// True for the kinds that FindForeignToken looks at; the others are NNEF's.
constexpr bool MayBeForeign(TokenKind kind) {
  return kind == TokenKind::kUnexpected || kind == TokenKind::kUnterminatedString ||
         kind == TokenKind::kSlash || kind == TokenKind::kStar || kind == TokenKind::kColon ||
         kind == TokenKind::kAssign || kind == TokenKind::kStringLiteral || kind == TokenKind::kLeftBrace;
}

std::optional<ForeignToken> FindForeignToken(std::string_view text, Token token);

// The word or number that begins at `token` and has letters of other scripts
// that look like ASCII ones; nothing if the token is none or has other characters too.
std::optional<ForeignToken> FindLookalikeWord(std::string_view text, Token token);

// "`é`", or "byte 0xff" of what is not UTF-8.
std::string NameOfCharacter(std::string_view bytes);

}  // namespace nnefc::parse

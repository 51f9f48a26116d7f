#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/syntax/parse/token.h"

namespace nnefc::ast::parse {

// A token from outside NNEF with a certain meaning: a typographic quote, dash or space, or a token or comment
// of another language. The reader continues as if NNEF's token had been written.
struct ForeignToken {
  Token token;       // kWhiteSpace if no token remains
  uint32_t end = 0;  // offset where reading continues
  std::string message;
  // A replacement of the bytes [begin, end) by `text`; all edits together correct the text.
  struct Edit {
    uint32_t begin;
    uint32_t end;
    std::string text;
  };
  std::vector<Edit> edits;
  // Replacements of later tokens that begin at the same offsets.
  std::vector<Token> later;
  // ASCII spelling of the token, if it is a word with confusable letters.
  std::string spelling;
};

// Returns true for the kinds that FindForeignToken checks; all others are NNEF's.
constexpr bool MayBeForeign(TokenKind kind) {
  return kind == TokenKind::kUnexpected || kind == TokenKind::kUnterminatedString ||
         kind == TokenKind::kSlash || kind == TokenKind::kStar || kind == TokenKind::kColon ||
         kind == TokenKind::kAssign || kind == TokenKind::kStringLiteral || kind == TokenKind::kLeftBrace;
}

// Returns the meaning of `token`, of a kind accepted by MayBeForeign; nothing if it has no certain one.
std::optional<ForeignToken> FindForeignToken(std::string_view text, Token token);

// Returns the word or number that begins at `token` if it has confusable letters of other scripts; nothing if
// it has none, or other characters too.
std::optional<ForeignToken> FindLookalikeWord(std::string_view text, Token token);

// Returns a printable name: "`é`", or "byte 0xff" for invalid UTF-8.
std::string NameOfCharacter(std::string_view bytes);

}  // namespace nnefc::ast::parse

// The token stream between the scanner and ANTLR's parser.

#include "compiler/syntax/parse/antlr_stream.h"

#include <algorithm>

namespace nnefc::ast::parse {

AntlrStream::AntlrStream() {
  tokens_.emplace_back(Token{});
}

void AntlrStream::Load(const Statement& statement) {
  tokens_.clear();
  tokens_.reserve(statement.tokens.size() + 1);
  for (const Token token : statement.tokens) tokens_.emplace_back(token);
  const uint32_t end = statement.tokens.empty() ? 0 : statement.tokens.back().end;
  tokens_.emplace_back(Token{TokenKind::kEndOfText, end, end});
  at_ = 0;
}

antlr4::Token* AntlrStream::get(size_t index) const {
  return &tokens_[std::min(index, tokens_.size() - 1)];
}

}  // namespace nnefc::ast::parse

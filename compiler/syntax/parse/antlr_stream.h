#pragma once

#include <string>
#include <vector>

#include "antlr4-runtime.h"
#include "compiler/syntax/parse/statement_reader.h"

namespace nnefc::ast::parse {

// A token for ANTLR's parser. The parser reads only its type.
class AntlrToken final : public antlr4::Token {
 public:
  explicit AntlrToken(parse::Token token) : token_(token) {}

  parse::Token token() const { return token_; }

  size_t getType() const override {
    return token_.kind == TokenKind::kEndOfText ? antlr4::Token::EOF : static_cast<size_t>(token_.kind);
  }
  size_t getChannel() const override { return DEFAULT_CHANNEL; }
  size_t getStartIndex() const override { return token_.begin; }
  size_t getStopIndex() const override { return token_.end; }
  size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() const override { return 0; }
  size_t getTokenIndex() const override { return 0; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string getText() const override { return {}; }
  std::string toString() const override { return {}; }

 private:
  parse::Token token_;
};

// Returns our token of a label in an ANTLR context.
inline Token Unwrap(const antlr4::Token* token) {
  return static_cast<const AntlrToken*>(token)->token();
}

// The token stream of one statement; after the last token it returns EOF.
class AntlrStream final : public antlr4::TokenStream {
 public:
  AntlrStream();

  // Replaces the statement.
  void Load(const Statement& statement);

  antlr4::Token* LT(ssize_t k) override { return &At(k); }
  size_t LA(ssize_t k) override { return At(k).getType(); }
  void consume() override { ++at_; }
  antlr4::Token* get(size_t index) const override;
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return tokens_.size() - 1; }
  ssize_t mark() override { return 0; }
  void release(ssize_t marker) override {}
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval& interval) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext* context) override { return {}; }
  std::string getText(antlr4::Token* start, antlr4::Token* stop) override { return {}; }

 private:
  AntlrToken& At(ssize_t k) {
    // The parser never consumes EOF, and looks at most one token ahead or back.
    if (k == 1) return tokens_[at_];
    return tokens_[at_ > 0 ? at_ - 1 : 0];
  }

  // Ends with an EOF token. Contexts of the current statement point to these tokens.
  mutable std::vector<AntlrToken> tokens_;
  size_t at_ = 0;
};

}  // namespace nnefc::ast::parse

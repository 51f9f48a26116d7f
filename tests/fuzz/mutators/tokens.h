#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nnefc::fuzz {

enum class TokenKind { kName, kNumber, kString, kMark };

// A word of a text, with the white space and comments before it.
struct Token {
  TokenKind kind;
  std::string space;
  std::string text;

  bool Is(std::string_view mark) const { return text == mark; }
  bool begins_line() const { return space.find('\n') != std::string::npos; }
};

using Tokens = std::vector<Token>;

// Tokens [begin, end).
struct Span {
  size_t begin = 0;
  size_t end = 0;

  bool empty() const { return begin == end; }
  size_t size() const { return end - begin; }
};

// Splits a text of any of the languages: NNEF documents, graphs in text form, JSON. `comment` begins a
// comment to the end of the line. Every text has tokens: a byte that begins no other token is a mark. Space
// after the last token is dropped.
Tokens Tokenize(std::string_view text, std::string_view comment);
std::string Join(const Tokens& tokens);

// The structure of brackets. An unmatched bracket is an ordinary mark.
class Brackets {
 public:
  explicit Brackets(const Tokens& tokens);

  // Returns the bracket that `at` opens or closes; `at` itself if there is none.
  size_t partner(size_t at) const { return partners_[at]; }
  bool opens(size_t at) const { return partners_[at] > at; }
  // Returns the contents of pairs of brackets, split at `,`, or, in a block of statements, at `;` and at line
  // ends.
  const std::vector<Span>& items() const { return items_; }
  const std::vector<Span>& statements() const { return statements_; }
  // Returns the items of the list that the bracket opens, in order.
  std::vector<Span> ItemsOf(size_t open) const;

 private:
  void AddList(const Tokens& tokens, size_t begin, size_t end);
  void AddBlock(const Tokens& tokens, size_t begin, size_t end);
  bool IsBlock(const Tokens& tokens, size_t begin, size_t end) const;

  std::vector<size_t> partners_;
  std::vector<Span> items_;
  std::vector<Span> statements_;
};

// Replaces the tokens of the span.
void Replace(Tokens& tokens, Span span, const Tokens& replacement);

}  // namespace nnefc::fuzz

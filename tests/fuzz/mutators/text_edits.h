#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutators/choices.h"
#include "tests/fuzz/mutators/tokens.h"

namespace nnefc::fuzz {

// Edits of a text, based on the brackets, lists and statements of its language. Each makes one change, or
// returns false if the text has no target for it.
class TextEdits {
 public:
  // `words`: names and strings of the language that may replace others.
  TextEdits(Tokens& tokens, Choices& choices, const std::vector<std::string_view>& words)
      : tokens_(tokens), choices_(choices), words_(words) {}

  // Makes one of the edits below.
  bool MakeAny();

  bool ChangeNumber();
  bool ChangeString();
  bool ChangeName();
  // Renames all uses of a name to a new name, or to another existing one.
  bool RenameEverywhere();
  bool DeleteItem();
  // Repeats an item of a list up to eight times.
  bool RepeatItem();
  bool SwapItems();
  // Replaces an item of a list by a copy of any other.
  bool ReplaceItem();
  bool DeleteStatement();
  // Repeats a statement under a new name; a later use of the old name then uses the new one.
  bool RepeatStatement();
  bool SwapStatements();
  bool MoveStatement();
  // Inserts a statement, or replaces an item by an item, of another text.
  bool Splice(const Tokens& other);

 private:
  std::vector<size_t> Find(TokenKind kind) const;
  Tokens Copy(Span span) const;
  void Erase(Span item);
  void SwapSpans(Span first, Span second);
  std::string NewName(std::string_view old) const;

  Tokens& tokens_;
  Choices& choices_;
  const std::vector<std::string_view>& words_;
};

// Returns the text after one to three edits by `make_edit`; comments of the language begin with `comment`.
std::string EditText(std::string_view text, std::string_view comment, Choices& choices,
                     bool (*make_edit)(Tokens& tokens, Choices& choices));

// Returns `first` with a part of `second`, or an empty text if neither has such parts.
std::string SpliceTexts(std::string_view first, std::string_view second, std::string_view comment,
                        const std::vector<std::string_view>& words, Choices& choices);

}  // namespace nnefc::fuzz

#include "tests/fuzz/mutators/text_edits.h"

#include <algorithm>

#include "tests/fuzz/mutators/boundary_numbers.h"

namespace nnefc::fuzz {
namespace {

// The number of edits that are tried, since a text may have no target for one.
constexpr int kAttempts = 8;

bool Contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool TextEdits::MakeAny() {
  using Edit = bool (TextEdits::*)();
  // An edit that is listed twice is selected twice as often.
  static constexpr Edit kEdits[] = {
      &TextEdits::ChangeNumber,    &TextEdits::ChangeNumber,    &TextEdits::ChangeNumber,
      &TextEdits::ChangeString,    &TextEdits::ChangeName,      &TextEdits::ChangeName,
      &TextEdits::DeleteItem,      &TextEdits::RepeatItem,      &TextEdits::SwapItems,
      &TextEdits::ReplaceItem,     &TextEdits::ReplaceItem,     &TextEdits::DeleteStatement,
      &TextEdits::RepeatStatement, &TextEdits::RepeatStatement, &TextEdits::SwapStatements,
      &TextEdits::MoveStatement,   &TextEdits::RenameEverywhere};
  for (int attempt = 0; attempt < kAttempts; ++attempt)
    if ((this->*choices_.Pick(kEdits))()) return true;
  return false;
}

std::vector<size_t> TextEdits::Find(TokenKind kind) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < tokens_.size(); ++i)
    if (tokens_[i].kind == kind) found.push_back(i);
  return found;
}

Tokens TextEdits::Copy(Span span) const {
  return {tokens_.begin() + static_cast<ptrdiff_t>(span.begin),
          tokens_.begin() + static_cast<ptrdiff_t>(span.end)};
}

bool TextEdits::ChangeNumber() {
  const std::vector<size_t> numbers = Find(TokenKind::kNumber);
  if (numbers.empty()) return false;
  Token& number = tokens_[choices_.Pick(numbers)];
  number.text = BoundaryNumber(number.text, choices_);
  return true;
}

bool TextEdits::ChangeString() {
  const std::vector<size_t> strings = Find(TokenKind::kString);
  if (strings.empty()) return false;
  Token& string = tokens_[choices_.Pick(strings)];
  const char quote = string.text.front();
  switch (choices_.Below(4)) {
    case 0:
      string.text = tokens_[choices_.Pick(strings)].text;
      break;
    case 1:
      string.text = std::string(2, quote);
      break;
    default: {
      if (words_.empty()) return false;
      std::string_view word = choices_.Pick(words_);
      if (word.size() >= 2 && (word.front() == '\'' || word.front() == '"'))
        word = word.substr(1, word.size() - 2);
      string.text = quote + std::string(word) + quote;
    }
  }
  return true;
}

bool TextEdits::ChangeName() {
  const std::vector<size_t> names = Find(TokenKind::kName);
  if (names.empty()) return false;
  Token& name = tokens_[choices_.Pick(names)];
  // Replaces a keyword by another keyword, and a name of the text by another name.
  if (!words_.empty() && Contains(words_, name.text)) {
    name.text = choices_.Pick(words_);
  } else {
    name.text = tokens_[choices_.Pick(names)].text;
  }
  return true;
}

std::string TextEdits::NewName(std::string_view old) const {
  // `%3` has a number, other names end in one.
  const std::string start = old.starts_with("%") ? "%" : std::string(old.substr(0, 16)) + "_";
  for (size_t number = 1;; ++number) {
    std::string name = start + std::to_string(number);
    const auto has_name = [&](const Token& token) { return token.text == name; };
    if (std::none_of(tokens_.begin(), tokens_.end(), has_name)) return name;
  }
}

bool TextEdits::RenameEverywhere() {
  const std::vector<size_t> names = Find(TokenKind::kName);
  if (names.empty()) return false;
  const std::string old = tokens_[choices_.Pick(names)].text;
  if (Contains(words_, old)) return false;
  std::string name = NewName(old);
  if (choices_.OneIn(4)) name = tokens_[choices_.Pick(names)].text;
  if (choices_.OneIn(8) && !words_.empty()) name = choices_.Pick(words_);
  for (size_t i : names)
    if (tokens_[i].text == old) tokens_[i].text = name;
  return true;
}

// Removes the item with one adjacent comma.
void TextEdits::Erase(Span item) {
  if (item.end < tokens_.size() && tokens_[item.end].Is(",")) {
    ++item.end;
  } else if (item.begin > 0 && tokens_[item.begin - 1].Is(",")) {
    --item.begin;
  }
  Replace(tokens_, item, {});
}

bool TextEdits::DeleteItem() {
  const Brackets brackets(tokens_);
  if (brackets.items().empty()) return false;
  Erase(choices_.Pick(brackets.items()));
  return true;
}

bool TextEdits::RepeatItem() {
  const Brackets brackets(tokens_);
  if (brackets.items().empty()) return false;
  const Span item = choices_.Pick(brackets.items());
  Tokens once = Copy(item);
  if (once.empty()) return false;
  Tokens copies;
  for (size_t count = choices_.OneIn(2) ? 1 : 1 + choices_.Below(8); count > 0; --count) {
    copies.insert(copies.end(), once.begin(), once.end());
    copies.push_back({TokenKind::kMark, "", ","});
  }
  Replace(tokens_, {item.begin, item.begin}, copies);
  return true;
}

void TextEdits::SwapSpans(Span first, Span second) {
  if (first.begin > second.begin) std::swap(first, second);
  if (first.end > second.begin) return;  // one contains the other
  const Tokens before = Copy(first);
  const Tokens after = Copy(second);
  Replace(tokens_, second, before);
  Replace(tokens_, first, after);
}

bool TextEdits::SwapItems() {
  const Brackets brackets(tokens_);
  std::vector<size_t> lists;
  for (size_t i = 0; i < tokens_.size(); ++i)
    if (brackets.opens(i)) lists.push_back(i);
  if (lists.empty()) return false;
  const std::vector<Span> items = brackets.ItemsOf(choices_.Pick(lists));
  if (items.size() < 2) return false;
  const size_t first = choices_.Below(items.size() - 1);
  SwapSpans(items[first], items[first + 1 + choices_.Below(items.size() - first - 1)]);
  return true;
}

bool TextEdits::ReplaceItem() {
  const Brackets brackets(tokens_);
  if (brackets.items().size() < 2) return false;
  Span replaced = choices_.Pick(brackets.items());
  Span by = choices_.Pick(brackets.items());
  // Returns only the value of a named argument.
  const auto value = [&](Span item) {
    const bool is_named =
        item.size() > 2 && (tokens_[item.begin + 1].Is("=") || tokens_[item.begin + 1].Is(":"));
    return Span{item.begin + (is_named ? 2 : 0), item.end};
  };
  if (!choices_.OneIn(4)) {
    replaced = value(replaced);
    by = value(by);
  }
  Replace(tokens_, replaced, Copy(by));
  return true;
}

bool TextEdits::DeleteStatement() {
  const Brackets brackets(tokens_);
  if (brackets.statements().empty()) return false;
  Replace(tokens_, choices_.Pick(brackets.statements()), {});
  return true;
}

bool TextEdits::RepeatStatement() {
  const Brackets brackets(tokens_);
  if (brackets.statements().empty()) return false;
  const Span statement = choices_.Pick(brackets.statements());
  Tokens copy = Copy(statement);
  if (choices_.OneIn(8)) {  // a name that is defined twice
    Replace(tokens_, {statement.end, statement.end}, copy);
    return true;
  }
  size_t defined = 0;
  while (defined < copy.size() && copy[defined].kind != TokenKind::kName) ++defined;
  if (defined == copy.size()) return false;
  const std::string old = copy[defined].text;
  const std::string name = NewName(old);
  copy[defined].text = name;
  std::vector<size_t> uses;
  for (size_t i = statement.end; i < tokens_.size(); ++i)
    if (tokens_[i].text == old) uses.push_back(i);
  if (!uses.empty()) tokens_[choices_.Pick(uses)].text = name;
  Replace(tokens_, {statement.end, statement.end}, copy);
  return true;
}

bool TextEdits::SwapStatements() {
  const Brackets brackets(tokens_);
  const std::vector<Span>& statements = brackets.statements();
  if (statements.size() < 2) return false;
  const size_t first = choices_.Below(statements.size());
  const size_t second =
      choices_.OneIn(2) ? choices_.Below(statements.size()) : (first + 1) % statements.size();
  if (first == second) return false;
  SwapSpans(statements[first], statements[second]);
  return true;
}

bool TextEdits::MoveStatement() {
  const Brackets brackets(tokens_);
  const std::vector<Span>& statements = brackets.statements();
  if (statements.size() < 2) return false;
  const Span moved = choices_.Pick(statements);
  const size_t to = choices_.Pick(statements).begin;
  if (to >= moved.begin && to <= moved.end) return false;
  const Tokens copy = Copy(moved);
  // The later position first, so that the earlier one remains valid.
  if (to > moved.end) {
    Replace(tokens_, {to, to}, copy);
    Replace(tokens_, moved, {});
  } else {
    Replace(tokens_, moved, {});
    Replace(tokens_, {to, to}, copy);
  }
  return true;
}

bool TextEdits::Splice(const Tokens& other) {
  const Brackets here(tokens_);
  const Brackets there(other);
  const auto copy = [&](Span span) {
    return Tokens(other.begin() + static_cast<ptrdiff_t>(span.begin),
                  other.begin() + static_cast<ptrdiff_t>(span.end));
  };
  if (choices_.OneIn(2) && !here.items().empty() && !there.items().empty()) {
    Replace(tokens_, choices_.Pick(here.items()), copy(choices_.Pick(there.items())));
    return true;
  }
  if (here.statements().empty() || there.statements().empty()) return false;
  const size_t at = choices_.Pick(here.statements()).end;
  Tokens statement = copy(choices_.Pick(there.statements()));
  // Replaces tensors that only the other text defines by those of this text.
  for (Token& token : statement) {
    const auto is_same = [&](const Token& mine) { return mine.text == token.text; };
    if (token.kind != TokenKind::kName || Contains(words_, token.text) ||
        std::any_of(tokens_.begin(), tokens_.end(), is_same) || choices_.OneIn(3))
      continue;
    const std::vector<size_t> names = Find(TokenKind::kName);
    if (!names.empty()) token.text = tokens_[choices_.Pick(names)].text;
  }
  Replace(tokens_, {at, at}, statement);
  return true;
}

std::string EditText(std::string_view text, std::string_view comment, Choices& choices,
                     bool (*make_edit)(Tokens& tokens, Choices& choices)) {
  Tokens tokens = Tokenize(text, comment);
  constexpr size_t kMaxEdits = 3;
  for (size_t edits = 1 + choices.Below(kMaxEdits); edits > 0; --edits) make_edit(tokens, choices);
  return Join(tokens);
}

std::string SpliceTexts(std::string_view first, std::string_view second, std::string_view comment,
                        const std::vector<std::string_view>& words, Choices& choices) {
  Tokens tokens = Tokenize(first, comment);
  if (!TextEdits(tokens, choices, words).Splice(Tokenize(second, comment))) return "";
  return Join(tokens);
}

}  // namespace nnefc::fuzz

#include "tests/differential/hints.h"

#include <algorithm>
#include <cctype>

namespace nnefc::differential {

namespace {

bool IsDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

std::string_view ExpectedIn(std::string_view message) {
  const size_t expected = message.find("expected");
  return expected == std::string_view::npos ? message : message.substr(expected);
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = text.find_first_of("`'"); begin != std::string_view::npos;) {
    const size_t end = text.find(text[begin], begin + 1);
    if (end == std::string_view::npos) break;
    const std::string_view word = text.substr(begin + 1, end - begin - 1);
    words.emplace_back(word.substr(0, word.find('[')));
    begin = text.find_first_of("`'", end + 1);
  }
  return words;
}

std::optional<ElementType> TypeIn(const std::string& message, Random& random) {
  std::vector<ElementType> types;
  const std::string_view text = ExpectedIn(message);
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && IsWord(text[end])) ++end;
    const std::string_view word = text.substr(begin, end - begin);
    if (word == "scalar" || word == "float" || word == "number") types.push_back(ElementType::kF32);
    if (word == "integer") types.push_back(ElementType::kI64);
    if (word == "logical") types.push_back(ElementType::kBoolean);
    if (const std::optional<ElementType> type = ParseElementType(word); type && !word.empty())
      types.push_back(*type);
    begin = end + 1;
  }
  if (types.empty()) return std::nullopt;
  return random.Pick(types);
}

std::optional<size_t> AxisIn(const std::string& message) {
  const size_t begin = message.find("axis ");
  if (begin == std::string::npos || !IsDigit(message[begin + 5])) return std::nullopt;
  return static_cast<size_t>(message[begin + 5] - '0');
}

std::optional<int64_t> NumberOf(const std::string& message, Random& random) {
  std::vector<int64_t> numbers;
  const size_t begin = random.Chance(30) ? 0 : message.size() - ExpectedIn(message).size();
  for (size_t i = begin; i < message.size(); ++i) {
    if (!IsDigit(message[i])) continue;
    size_t end = i;
    while (end < message.size() && end - i < 6 && IsDigit(message[end])) ++end;
    numbers.push_back(std::stoll(message.substr(i, end - i)));
    i = end;
  }
  if (numbers.empty()) return std::nullopt;
  return random.Pick(numbers);
}

std::optional<Shape> ShapeIn(const std::string& message) {
  const std::string_view text = ExpectedIn(message);
  const size_t begin = text.find('[');
  const size_t end = text.find(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  if (text.find("along axis") != std::string_view::npos) return std::nullopt;
  Shape shape;
  for (size_t i = begin + 1; i < end;) {
    size_t stop = i;
    while (stop < end && text[stop] != ',') ++stop;
    const std::string item(text.substr(i, stop - i));
    shape.push_back(!item.empty() && item.size() < 6 && IsDigit(item[0]) ? std::stoll(item) : -1);
    i = stop + 1;
  }
  return shape;
}

std::string Stage(const std::string& message) {
  std::string text;
  for (size_t i = 0; i < message.size(); ++i) {
    if (message[i] == '\'') {
      i = std::min(message.find('\'', i + 1), message.size());
      continue;
    }
    size_t end = i;
    while (end < message.size() && IsWord(message[end])) ++end;
    if (end == i) {
      if (message[i] != '-' && message[i] != ',') text += message[i];
      continue;
    }
    const std::string_view word = std::string_view(message).substr(i, end - i);
    const bool is_type = ParseElementType(word) || word == "scalar" || word == "integer" || word == "logical";
    // Axes are corrected one after the other.
    const bool is_axis = std::string_view(text).ends_with("axis ");
    if (is_axis || (!is_type && !IsDigit(word[0]))) text += word;
    i = end - 1;
  }
  return text;
}

}  // namespace nnefc::differential

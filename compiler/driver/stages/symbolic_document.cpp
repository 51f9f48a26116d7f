// Documents with symbols, made of documents for sample extents.

#include "compiler/driver/stages/symbolic_document.h"

#include <cctype>
#include <charconv>
#include <string_view>

#include "fmt/format.h"

namespace nnefc::driver {

namespace {

// A part of a document: an integer, or text between integers.
struct Part {
  std::string_view text;
  std::optional<int64_t> number;
};

bool IsWord(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// Returns the end of the quoted string, word or number with a fraction that begins at `begin`, or of one
// letter.
size_t EndOf(std::string_view text, size_t begin) {
  const char first = text[begin];
  if (first == '\'' || first == '"') {
    size_t end = begin + 1;
    while (end < text.size() && text[end] != first) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  size_t end = begin + 1;
  if (!IsWord(first)) return end;
  const bool is_number = std::isdigit(static_cast<unsigned char>(first)) != 0;
  while (end < text.size() && (IsWord(text[end]) || (is_number && text[end] == '.') ||
                               (is_number && text[end - 1] == 'e' && (text[end] == '-' || text[end] == '+'))))
    ++end;
  return end;
}

// Line breaks and indentation depend on the lengths of numbers: runs of blanks are one.
std::vector<Part> PartsOf(std::string_view text) {
  std::vector<Part> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = EndOf(text, begin);
    const std::string_view token = text.substr(begin, end - begin);
    begin = end;
    if (std::isspace(static_cast<unsigned char>(token[0])) != 0) {
      if (!parts.empty() && parts.back().text == " ") continue;
      parts.push_back({.text = " ", .number = std::nullopt});
      continue;
    }
    Part part{.text = token, .number = std::nullopt};
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (error == std::errc() && stop == token.data() + token.size()) part.number = value;
    parts.push_back(part);
  }
  return parts;
}

// A sum of multiples of symbols.
struct Linear {
  int64_t constant = 0;
  std::map<std::string, int64_t> factors;
};

// Returns the sum that has the value of the base and, for each symbol, those of its two samples.
// No integer of a document is negative, since its sign is a part of its own. Larger integers than 2^40 are
// not fitted, so that no sum overflows.
std::optional<Linear> Fit(const std::vector<SampledDocument>& samples, const std::vector<int64_t>& values) {
  constexpr int64_t kMaxValue = int64_t{1} << 40;
  for (int64_t value : values) {
    if (value > kMaxValue) return std::nullopt;
  }
  Linear sum{.constant = values[0], .factors = {}};
  size_t sample = 1;
  for (const auto& [symbol, extent] : samples[0].extents) {
    const int64_t step = samples[sample].extents.at(symbol) - extent;
    const int64_t change = values[sample] - values[0];
    if (change % step != 0) return std::nullopt;
    const int64_t factor = change / step;
    if (factor != 0) sum.factors[symbol] = factor;
    sum.constant -= factor * extent;
    sample += 2;
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    int64_t value = sum.constant;
    for (const auto& [symbol, factor] : sum.factors) value += factor * samples[i].extents.at(symbol);
    if (value != values[i]) return std::nullopt;
  }
  return sum;
}

// Returns whether the sum is one symbol, so that its text is an operand of any operator.
bool IsSymbol(const Linear& sum) {
  return sum.constant == 0 && sum.factors.size() == 1 && sum.factors.begin()->second == 1;
}

// Returns whether a part, or the one beyond a blank, is an operator. `step` is the direction: 1 or -1.
bool IsNextToOperator(const std::vector<Part>& parts, size_t at, int step) {
  size_t next = at + static_cast<size_t>(step);
  if (next < parts.size() && parts[next].text == " ") next += static_cast<size_t>(step);
  constexpr std::string_view kOperators = "+-*/^";
  return next < parts.size() && parts[next].text.size() == 1 &&
         kOperators.find(parts[next].text[0]) != std::string_view::npos;
}

std::string TextOf(const Linear& sum) {
  std::string text;
  for (const auto& [symbol, factor] : sum.factors) {
    const int64_t size = factor < 0 ? -factor : factor;
    text += factor < 0 ? "-" : text.empty() ? "" : "+";
    text += size == 1 ? symbol : fmt::format("{}*{}", size, symbol);
  }
  if (sum.constant != 0 || text.empty())
    text += fmt::format("{}{}", sum.constant < 0 || text.empty() ? "" : "+", sum.constant);
  return text;
}

}  // namespace

std::optional<std::string> JoinSamples(const std::vector<SampledDocument>& samples) {
  std::vector<std::vector<Part>> parts;
  parts.reserve(samples.size());
  for (const SampledDocument& sample : samples) parts.push_back(PartsOf(sample.text));
  // A symbol must not have the name of a tensor.
  for (const Part& part : parts[0]) {
    if (samples[0].extents.contains(std::string(part.text))) return std::nullopt;
  }
  std::string joined;
  for (size_t i = 0; i < parts[0].size(); ++i) {
    const Part& base = parts[0][i];
    bool is_same = true;
    std::vector<int64_t> values;
    for (const auto& other : parts) {
      if (other.size() != parts[0].size() || other[i].number.has_value() != base.number.has_value())
        return std::nullopt;
      is_same = is_same && other[i].text == base.text;
      if (other[i].number) values.push_back(*other[i].number);
    }
    if (is_same) {
      joined += base.text;
      continue;
    }
    if (!base.number) return std::nullopt;
    const std::optional<Linear> sum = Fit(samples, values);
    if (!sum) return std::nullopt;
    const bool is_operand = IsNextToOperator(parts[0], i, -1) || IsNextToOperator(parts[0], i, 1);
    if (is_operand && !IsSymbol(*sum)) return std::nullopt;
    joined += TextOf(*sum);
  }
  constexpr std::string_view kRegistry = "extension tract_registry tract_core;";
  const size_t line = joined.find(kRegistry);
  if (line == std::string::npos) return std::nullopt;
  std::string declarations;
  for (const auto& [symbol, extent] : samples[0].extents)
    declarations += fmt::format("\nextension tract_symbol {};\n", symbol);
  joined.insert(line + kRegistry.size(), declarations);
  return joined;
}

}  // namespace nnefc::driver

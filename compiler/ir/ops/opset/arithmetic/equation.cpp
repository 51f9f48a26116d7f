// The parser of Einsum equations.

#include "compiler/ir/ops/opset/arithmetic/equation.h"

#include <algorithm>

namespace nnefc::ir::ops::opset {

namespace {

bool IsLabel(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Parses a subscript, with `...` as one `.`; returns nothing if it is malformed.
std::optional<std::string> ReadSubscript(std::string_view text) {
  std::string labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (IsLabel(text[i])) {
      labels += text[i];
    } else if (text.substr(i, 3) == "..." && labels.find('.') == std::string::npos) {
      labels += '.';
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return labels;
}

}  // namespace

std::optional<Equation> ReadEquation(std::string_view text) {
  Equation equation;
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  while (true) {
    const size_t comma = left.find(',');
    const std::optional<std::string> labels = ReadSubscript(left.substr(0, comma));
    if (!labels) return std::nullopt;
    equation.operands.push_back(*labels);
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (arrow != std::string_view::npos) {
    const std::optional<std::string> labels = ReadSubscript(text.substr(arrow + 2));
    if (labels) equation.result = *labels;
    return labels ? std::optional(equation) : std::nullopt;
  }
  // The implicit result is the ellipsis, if any, then the labels that occur once, in alphabetic order.
  std::string all;
  for (const std::string& labels : equation.operands) all += labels;
  if (all.find('.') != std::string::npos) equation.result = ".";
  std::string once;
  for (char c : all) {
    if (c != '.' && std::count(all.begin(), all.end(), c) == 1) once += c;
  }
  std::sort(once.begin(), once.end());
  equation.result += once;
  return equation;
}

}  // namespace nnefc::ir::ops::opset

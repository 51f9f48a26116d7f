#include "tests/differential/provisional.h"

#include <optional>
#include <sstream>
#include <string_view>

#include "compiler/expand/provisional_names.h"
#include "compiler/syntax/dialect.h"
#include "fmt/core.h"
#include "llvm/ADT/StringExtras.h"

namespace nnefc::differential {

namespace {

constexpr std::string_view kAssign = " = ";

bool IsWordCharacter(char c) {
  return llvm::isAlnum(c) || c == '_';
}

// `axes = [1, 0], input = x` of `transpose`: `perm = [1, 0], input = x`.
std::string RenamedArguments(const std::string& operation, std::string_view arguments) {
  std::string renamed;
  while (true) {
    const size_t assign = arguments.find(kAssign);
    if (assign == std::string_view::npos) return renamed.append(arguments);
    size_t begin = assign;
    while (begin > 0 && IsWordCharacter(arguments[begin - 1])) --begin;
    renamed += arguments.substr(0, begin);
    renamed += expand::ProvisionalParameter(operation, std::string(arguments.substr(begin, assign - begin)));
    renamed += kAssign;
    arguments.remove_prefix(assign + kAssign.size());
  }
}

// Translates `y = transpose<scalar>(x, axes = [1, 0]);` to the provisional dialect; returns nothing for a
// line without an invocation. Lines may be long, since they include the elements of constants.
std::optional<std::string> RenamedInvocation(std::string_view line) {
  const size_t assign = line.find(kAssign);
  if (assign == std::string_view::npos || !line.ends_with(");")) return std::nullopt;
  const size_t begin = assign + kAssign.size();
  size_t end = begin;
  while (end < line.size() && IsWordCharacter(line[end])) ++end;
  const size_t open = line.find('(', end);
  if (end == begin || open == std::string_view::npos || (open != end && line[end] != '<'))
    return std::nullopt;
  const std::string operation(line.substr(begin, end - begin));
  const std::string_view name =
      operation == "copy" ? ast::Dialect::kProvisional.copy : std::string_view(operation);
  return fmt::format("{}{}{}({})", line.substr(0, begin), name, line.substr(end, open - end),
                     RenamedArguments(operation, line.substr(open + 1, line.size() - open - 3)));
}

}  // namespace

std::string InProvisionalWords(const std::string& document) {
  std::istringstream lines(document);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (std::optional<std::string> renamed = RenamedInvocation(line)) {
      line = std::move(*renamed);
    } else if (line.ends_with(';')) {
      line.pop_back();
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace nnefc::differential

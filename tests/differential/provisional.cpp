#include "tests/differential/provisional.h"

#include <regex>
#include <sstream>

#include "compiler/expand/provisional_names.h"
#include "compiler/syntax/dialect.h"
#include "fmt/format.h"

namespace nnefc::differential {

namespace {

// `axes = [1, 0], input = x` of `transpose`: `perm = [1, 0], input = x`.
std::string RenamedArguments(const std::string& operation, const std::string& arguments) {
  static const std::regex kParameter(R"((\w+) = )");
  std::string renamed;
  auto begin = arguments.cbegin();
  for (std::smatch match; std::regex_search(begin, arguments.cend(), match, kParameter);
       begin = match.suffix().first) {
    renamed += match.prefix().str();
    renamed += fmt::format("{} = ", expand::ProvisionalParameter(operation, match[1].str()));
  }
  return renamed.append(begin, arguments.cend());
}

}  // namespace

std::string InProvisionalWords(const std::string& document) {
  static const std::regex kInvocation(R"((.* = )(\w+)(<\w+>)?\((.*)\);)");
  std::istringstream lines(document);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, kInvocation)) {
      const std::string operation = match[2].str();
      const std::string_view name =
          operation == "copy" ? ast::Dialect::kProvisional.copy : std::string_view(operation);
      line = fmt::format("{}{}{}({})", match[1].str(), name, match[3].str(),
                         RenamedArguments(operation, match[4].str()));
    } else if (line.ends_with(';')) {
      line.pop_back();
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace nnefc::differential

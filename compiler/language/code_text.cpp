// Queries of the text before a cursor, for statements that are incomplete.

#include "compiler/language/code_text.h"

#include <algorithm>

namespace nnefc::language {
namespace {

// Maximum number of bytes before the cursor that are searched for the enclosing invocation.
constexpr size_t kMaxSearched = 65536;

std::string_view WithoutBlanksAtEnd(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

// Returns true if a line end after `code`, the beginning of a statement or declaration, cannot be its end: a
// declaration before its body, an `if` without `else`, or an operator at the end.
bool ContinuesOnNextLine(std::string_view code) {
  const std::string_view trimmed = WithoutBlanksAtEnd(code);
  int missing_branches = 0;
  bool is_first = true;
  for (size_t i = 0; i < code.size(); ++i) {
    if (!IsNameCharacter(code[i])) continue;
    const size_t end =
        static_cast<size_t>(std::find_if_not(code.begin() + i, code.end(), IsNameCharacter) - code.begin());
    const std::string_view word = code.substr(i, end - i);
    if (is_first && (word == "fragment" || word == "graph")) return true;
    if (word == "if") ++missing_branches;
    if (word == "else" && end < trimmed.size()) --missing_branches;
    is_first = false;
    i = end - 1;
  }
  if (trimmed.empty()) return false;
  constexpr std::string_view kOperators = "=+-*/^<>&|!?:,";
  return missing_branches > 0 || kOperators.find(trimmed.back()) != std::string_view::npos;
}

}  // namespace

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view WordAtEnd(std::string_view text) {
  const auto begin = std::find_if_not(text.rbegin(), text.rend(), IsNameCharacter);
  return text.substr(static_cast<size_t>(text.rend() - begin));
}

Code CodeBefore(std::string_view text, size_t end) {
  // Start at a line's beginning, because quotes are only known from there.
  size_t begin = end > kMaxSearched ? end - kMaxSearched : 0;
  if (begin > 0) begin = std::min(text.find('\n', begin), end);
  Code code{.text = std::string(text.substr(begin, end - begin)), .begin = begin};
  char opened = 0;  // the quote of the current string, or the `#` of the current comment
  bool is_escaped = false;
  for (char& c : code.text) {
    const char original = c;
    if (original == '\n' || original == '\f') {
      opened = 0;
    } else if (opened != 0) {
      c = ' ';
      if (original == opened && opened != '#' && !is_escaped) opened = 0;
      is_escaped = original == '\\' && !is_escaped;
    } else if (original == '#' || original == '\'' || original == '"') {
      c = ' ';
      opened = original;
      is_escaped = false;
    }
  }
  code.is_open = opened != 0;
  code.in_comment = opened == '#';
  return code;
}

size_t StatementStart(std::string_view text, size_t cursor, bool has_semicolons) {
  const Code code = CodeBefore(text, cursor);
  const std::string_view all = code.text;
  const size_t last_end = all.find_last_of(";{}");
  size_t start = last_end == std::string_view::npos ? 0 : last_end + 1;
  int depth = 0;
  size_t line_end = start;  // after the last line end outside of brackets
  for (size_t i = start; i < all.size(); ++i) {
    if (all[i] == '(' || all[i] == '[') ++depth;
    if (all[i] == ')' || all[i] == ']') --depth;
    if (all[i] == '\n' && depth <= 0) line_end = i + 1;
  }
  const bool begins_line = all.find_first_not_of(" \t\r\n", line_end) == std::string_view::npos;
  if (begins_line && depth <= 0 && !ContinuesOnNextLine(all.substr(start))) return cursor;
  if (!has_semicolons) start = line_end;
  return code.begin + all.find_first_not_of(" \t\r\n", start);
}

Around FindAround(std::string_view code, Nesting nesting) {
  Around around;
  int depth = 0;
  bool has_text = false;  // the current argument is not empty
  bool is_first = true;   // the current argument is the one at the cursor
  auto close_argument = [&] {
    if (is_first) {
      around.at_start = !has_text && around.argument.empty();
    } else if (has_text) {
      ++around.positional;
    }
    is_first = has_text = false;
  };
  for (size_t i = code.size(); i > 0; --i) {
    const char c = code[i - 1];
    if (c == ')' || c == ']' || c == '}') {
      if (c == '}') return {};
      ++depth;
    } else if (c == '(' || c == '[' || c == '{') {
      if (c == '{') return {};
      if (depth > 0) {
        --depth;
      } else {
        const std::string_view callee =
            c == '(' ? WordAtEnd(WithoutBlanksAtEnd(code.substr(0, i - 1))) : std::string_view();
        if (callee.empty()) {  // within an array or a tuple, which is part of an argument
          if (nesting == Nesting::kInnermost) return {};
          around = {};
          is_first = has_text = true;
          continue;
        }
        close_argument();
        around.callee = callee;
        return around;
      }
    } else if (c == ';' && depth == 0) {
      return {};
    } else if (c == ',' && depth == 0) {
      close_argument();
      continue;
    } else if (c == '=' && depth == 0 && !code.substr(i).starts_with('=')) {
      // Operators such as `<=` have no name before the `=`.
      const std::string_view name = WordAtEnd(WithoutBlanksAtEnd(code.substr(0, i - 1)));
      if (!name.empty()) {
        if (is_first) {
          around.argument = name;
        } else {
          around.given.insert(name);
          has_text = false;
        }
        // Continue before the argument's name.
        i = static_cast<size_t>(name.data() - code.data()) + 1;
        continue;
      }
    }
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') has_text = true;
  }
  return {};
}

}  // namespace nnefc::language

#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace nnefc::language {

// Queries of the text before a cursor, for incomplete statements, which have no tree.

bool IsNameCharacter(char c);

// Returns the name at the end of `text`; empty if it ends in something else.
std::string_view WordAtEnd(std::string_view text);

// The end of a text, with comments and strings replaced by blanks.
struct Code {
  std::string text;
  size_t begin = 0;      // its offset in the whole text
  bool is_open = false;  // the text ends within a comment or a string
  bool in_comment = false;
};

// Returns the code before `end`, at most the last 64 KiB.
Code CodeBefore(std::string_view text, size_t end);

// Returns the beginning of the unfinished statement or declaration before the cursor; the cursor if there is
// none, such as after a `;`. Without semicolons a line end outside of brackets ends a statement.
size_t StatementStart(std::string_view text, size_t cursor, bool has_semicolons);

// The invocation around the cursor, as far as the text before the cursor shows it.
struct Around {
  std::string_view callee;           // empty: not in an invocation
  std::set<std::string_view> given;  // names of complete named arguments
  size_t positional = 0;             // number of unnamed arguments before the cursor's
  std::string_view argument;         // name of the argument at the cursor; empty if it has none
  bool at_start = true;              // an argument begins at the cursor
};

// Whether an unclosed array or tuple hides the invocation around it.
enum class Nesting : uint8_t { kInnermost, kThroughArrays };

// Searches backwards for the unclosed bracket at the end of `code`. The result refers to `code`.
Around FindAround(std::string_view code, Nesting nesting = Nesting::kInnermost);

}  // namespace nnefc::language

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nnefc::ast::parse {

// A word at a name's position that is a name only in other formats: `conv1.out`, `block/relu`, `conv-1`,
// `1x1`.
struct UnusualName {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t wrong = 0;  // the first byte that is invalid in a name at its position
  std::string right;   // the nearest valid name

  std::string Message(std::string_view text) const;
};

// Reads the name that begins at `begin`, a letter, digit or `_`; nothing if it is a valid NNEF name. A `:` is
// part of it only before digits, as in `conv:0`.
std::optional<UnusualName> FindUnusualName(std::string_view text, uint32_t begin);

// Returns true if the text from `offset` to the next `=` can be the rest of a left side: `, b] =`.
bool IsLeftSide(std::string_view text, uint32_t offset);

// Returns true if `name` is a module that qualifies operations in other languages, as `nn` in `nn.relu(x)`.
bool IsModule(std::string_view name);

}  // namespace nnefc::ast::parse

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nnefc::parse {

// What stands where a name belongs and would be one in another format:
// `conv1.out`, `block/relu`, `conv-1`, `1x1`.
struct OddName {
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t wrong = 0;  // its first byte that no name can have there
  std::string right;   // a name as near to it as there is

  std::string Message(std::string_view text) const;
};

// Reads the name that begins at `begin`, a letter, digit or `_`; nothing if it
// is one of NNEF's. A `:` belongs to it before digits alone, as in `conv:0`.
std::optional<OddName> FindOddName(std::string_view text, uint32_t begin);

// True if `=` follows at `offset`, behind other names and brackets of a left
// side: `, b] =`.
bool IsLeftSide(std::string_view text, uint32_t offset);

// True if `name` qualifies operations in other languages, as `nn` does in
// `nn.relu(x)`.
bool IsModule(std::string_view name);

}  // namespace nnefc::parse

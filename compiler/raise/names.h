#pragma once

#include <string>
#include <string_view>

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::raise {

// Returns the nearest identifier: other characters become `_`, runs of them one, and those at the ends none.
// "/conv1/Conv:0" becomes `conv1_Conv_0`, "123" becomes `t123`.
std::string Identifier(std::string_view text);
// Returns the nearest label of a variable, a relative path whose parts contain letters, digits, `_`, `-` and
// `.`: "/layer1/conv weight" becomes `layer1/conv_weight`.
std::string Label(std::string_view text);
// Returns true for a name that a framework numbered, such as "Constant_12", "7" or "".
bool IsNumberedName(std::string_view text);

// Unique names. Names that differ only in case are distinct, unless the set ignores case.
class UniqueNames {
 public:
  explicit UniqueNames(bool ignores_case = false) : ignores_case_(ignores_case) {}

  // Returns `name` or, if it is taken, the first free `name_N`, and takes it.
  std::string Take(const std::string& name);

 private:
  std::string Key(const std::string& name) const;

  bool ignores_case_;
  llvm::StringSet<> taken_;
  llvm::StringMap<int> next_;  // the next number to try for a name
};

}  // namespace nnefc::raise

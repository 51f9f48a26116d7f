// Identifiers and labels of NNEF for names of other frameworks.

#include "compiler/raise/names.h"

#include <algorithm>

#include "fmt/format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::raise {

namespace {

// The maximum length of a name; longer ones are cut. A header in an archive has 100 bytes for the name of a
// file.
constexpr size_t kLongestName = 90;

bool IsPlain(char c) {
  return llvm::isAlnum(c) || c == '_';
}

// Replaces each run of characters that `keeps` rejects by one `_`, and drops such runs at the ends.
template <typename Keeps>
std::string Cleaned(std::string_view text, Keeps keeps) {
  std::string name;
  bool gap = false;
  for (char c : text) {
    if (!keeps(c)) {
      gap = true;
      continue;
    }
    if (gap && !name.empty() && name.back() != '_') name += '_';
    gap = false;
    name += c;
    if (name.size() == kLongestName) break;
  }
  return name;
}

}  // namespace

std::string Identifier(std::string_view text) {
  std::string name = Cleaned(text, IsPlain);
  if (name.empty()) return "tensor";
  if (llvm::isDigit(name[0])) name.insert(0, "t");
  return name;
}

std::string Label(std::string_view text) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  llvm::StringRef(text.data(), text.size()).split(parts, '/', -1, /*KeepEmpty=*/false);
  std::string label;
  for (llvm::StringRef part : parts) {
    std::string name =
        Cleaned({part.data(), part.size()}, [](char c) { return IsPlain(c) || c == '-' || c == '.'; });
    name.erase(0, std::min(name.find_first_not_of('.'), name.size()));
    while (!name.empty() && name.back() == '.') name.pop_back();
    if (name.empty()) continue;
    if (!label.empty()) label += '/';
    label += name;
  }
  return label.empty() ? "variable" : label;
}

bool IsNumberedName(std::string_view text) {
  llvm::StringRef name(text.data(), text.size());
  name = name.rsplit('/').second.empty() ? name : name.rsplit('/').second;
  name = name.rtrim("0123456789").rtrim("_");
  for (llvm::StringRef generated :
       {"", "Constant", "Const", "Convert", "Reshape", "Transpose", "Multiply", "Unsqueeze", "Squeeze",
        "Subtract", "Add", "Concat", "Broadcast", "Gather"}) {
    if (name == generated) return true;
  }
  return false;
}

std::string UniqueNames::Key(const std::string& name) const {
  return ignores_case_ ? llvm::StringRef(name).lower() : name;
}

std::string UniqueNames::Take(const std::string& name) {
  if (taken_.insert(Key(name)).second) return name;
  int& number = next_.try_emplace(Key(name), 2).first->second;
  while (true) {
    std::string free = fmt::format("{}_{}", name, number++);
    if (taken_.insert(Key(free)).second) return free;
  }
}

}  // namespace nnefc::raise

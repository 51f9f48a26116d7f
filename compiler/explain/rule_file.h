#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnefc::explain {

// A file of an example. `form` is empty for plain text; otherwise it names the encoding of the bytes in
// `text` (tests/golden/file_forms.py).
struct ExampleFile {
  std::string_view name;
  std::string_view form;
  std::string text;
};

// A command line with its files that breaks a rule or narrowly satisfies it.
struct RuleExample {
  bool breaks = false;
  std::string_view dialect;  // "ratified", "provisional" or empty
  std::string_view command;
  std::vector<ExampleFile> files;
  std::string_view diagnostics;  // expected output
};

// The page of a rule in compiler/explain/rules. Its views refer to the embedded text.
struct RuleFile {
  std::string_view statement;
  std::vector<RuleExample> examples;
};

// Returns the embedded page of a rule, or nothing if it has none.
std::optional<RuleFile> FindRuleFile(std::string_view label);

}  // namespace nnefc::explain

#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace nnefc::explain {

// A file of an example. `form` is empty for plain text; otherwise it names the
// form in which `text` states the bytes (tests/golden/file_forms.py).
struct ExampleFile {
  std::string_view name;
  std::string_view form;
  std::string_view text;
};

// A command line with its files that breaks a rule or just keeps it.
struct RuleExample {
  bool breaks = false;
  std::string_view dialect;  // "ratified", "provisional" or empty
  std::string_view command;
  std::vector<ExampleFile> files;
  std::string_view diagnostics;  // what the command says
};

// What compiler/explain/rules holds of a rule. Views of the embedded text.
struct RuleFile {
  std::string_view statement;
  std::vector<RuleExample> examples;
};

// The embedded file of a rule; nothing if it has none.
std::optional<RuleFile> FindRuleFile(std::string_view label);

}  // namespace nnefc::explain

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::lint {

// The enabled rules and their levels. A configurable rule is one of `lint.*` or a warning of `nnefc check`;
// errors of the specification are fixed. A name is a label, `lint.unused-tensor`, or the label of a lint rule
// without its module, `unused-tensor`.
class Settings {
 public:
  // Creates the default settings; `lint.automatic-padding` and `lint.khronos-parser` are disabled.
  Settings();

  // Returns the configurable rule with that name, or null.
  static const Rule* Find(std::string_view name);
  // Returns the reason why Find returned null, for a message: "there is no rule `x`; did you mean `lint.y`?",
  // or that it is an error of the specification.
  static std::string WhyNot(std::string_view name);

  void Set(const Rule& rule, bool enabled) { At(rule).enabled = enabled; }
  void SetLevel(const Rule& rule, Severity level) { At(rule).level = level; }
  // Enables or disables all lint rules.
  void SetAll(bool enabled);

  bool enabled(const Rule& rule) const;
  Severity level(const Rule& rule) const;

 private:
  struct Entry {
    bool enabled = true;
    std::optional<Severity> level;
  };
  Entry& At(const Rule& rule) { return entries_[llvm::StringRef(rule.label.data(), rule.label.size())]; }

  llvm::StringMap<Entry> entries_;  // key: label; missing entries are enabled at the default level
};

// The content of options or configuration files before it is applied: lists of rule names, optionally "all",
// and levels.
struct SettingsRequest {
  std::vector<const Rule*> enabled;
  std::vector<const Rule*> disabled;
  bool enable_all = false;
  bool disable_all = false;
  std::vector<std::pair<const Rule*, Severity>> levels;
};

// Applies a request: first `all` (`disable`, then `enable`), then the named rules (`enable`, then `disable`).
// So `--disable all --enable RULE` and `--enable all --disable RULE` work as expected.
void Apply(const SettingsRequest& request, Settings& settings);

// Parses "error", "warning" or "note"; nothing for other text.
std::optional<Severity> ParseLevel(std::string_view text);

}  // namespace nnefc::lint

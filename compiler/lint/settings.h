#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::lint {

// Which rules speak, and how loudly. A rule is one of `lint.*` or a warning of
// `nnefc check`; errors of the specification stand as they are. A name is a
// label, `lint.unused-tensor`, or that of a lint rule without its room,
// `unused-tensor`.
class Settings {
 public:
  // The default levels; `lint.automatic-padding` and `lint.khronos-parser` are
  // off.
  Settings();

  // The rule of that name; null if there is none that can be set.
  static const Rule* Find(std::string_view name);
  // Why Find gave null, for a message: "there is no rule `x`; did you mean
  // `lint.y`?", or that it is an error of the specification.
  static std::string WhyNot(std::string_view name);

  void Set(const Rule& rule, bool enabled) { At(rule).enabled = enabled; }
  void SetLevel(const Rule& rule, Severity level) { At(rule).level = level; }
  // All lint rules.
  void SetAll(bool enabled);

  bool enabled(const Rule& rule) const;
  Severity level(const Rule& rule) const;

 private:
  struct Entry {
    bool enabled = true;
    std::optional<Severity> level;
  };
  Entry& At(const Rule& rule) { return entries_[llvm::StringRef(rule.label.data(), rule.label.size())]; }

  llvm::StringMap<Entry> entries_;  // by label; without one: enabled, as told
};

// What options and configuration files say, before it is settled: lists of
// rule names, "all" among them, and levels.
struct SettingsRequest {
  std::vector<const Rule*> enabled;
  std::vector<const Rule*> disabled;
  bool enable_all = false;
  bool disable_all = false;
  std::vector<std::pair<const Rule*, Severity>> levels;
};

// Applies a request: first `all`, `disable` before `enable`, then the named
// rules, `enable` before `disable`, so that `--disable all --enable RULE` and
// `--enable all --disable RULE` say what they seem to.
void Apply(const SettingsRequest& request, Settings& settings);

// "error", "warning", "note"; nothing for another text.
std::optional<Severity> ParseLevel(std::string_view text);

}  // namespace nnefc::lint

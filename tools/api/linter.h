#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/driver/fix.h"
#include "compiler/lint/config.h"
#include "tools/api/program.h"

namespace nnefc::api {

// The lint rules that options enable, disable or change in level: labels, or "all".
struct LintRules {
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;
  std::vector<std::pair<std::string, std::string>> levels;  // rule, level; the last one of a rule applies
};

// An unknown rule or level, and the list of LintRules that has it: "enable", "disable" or "level".
struct LintMistake {
  std::string_view list;
  std::string message;
};

// Whether a lint applies fix-its first, without writing files.
enum class LintFixes : uint8_t { kNone, kSafe, kUnsafe };

// A model that was linted. Its diagnostics are those of the checker, of lint and of the configuration.
struct LintedModel {
  std::unique_ptr<Program> program;
  driver::FixReport fixes;
  bool environment_failed = false;  // the model or the configuration cannot be read
};

// Lints models by the same options, each with the configuration of its folder.
class Linter {
 public:
  // Returns nothing and sets `mistake` for an unknown rule or level.
  [[nodiscard]] static std::optional<Linter> Make(const LintRules& rules, LintMistake& mistake);

  // The configuration to use instead of the nearest `.nnefc.json` of each model; empty: none.
  void SetConfiguration(std::string path) { configuration_ = std::move(path); }

  // Lints the document at `path`, an NNEF document. Mistakes in a configuration do not stop
  // it; they are reported for the first model that has it. `run` may write the fixes, and runs the stages up
  // to expansion, for instance with a display of their progress; null: without.
  LintedModel Lint(const std::string& path, driver::CompileOptions options,
                   LintFixes fixes = LintFixes::kNone,
                   const std::function<void(Program&, driver::FixReport&)>& run = nullptr);

 private:
  Linter() = default;

  lint::SettingsRequest request_;
  std::optional<std::string> configuration_;
  std::set<std::string> reported_configurations_;
};

}  // namespace nnefc::api

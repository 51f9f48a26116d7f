// The options `--fix`, `--unsafe-fixes` and `--diff`.

#include "tools/nnefc/arguments/fixes.h"

#include <filesystem>

#include "compiler/support/files/replace_file.h"
#include "compiler/support/text/text_diff.h"
#include "fmt/core.h"
#include "tools/nnefc/output/text_file.h"

namespace nnefc::cli {

void FixOptions::Add(CLI::App& command, const char* what) {
  command.add_flag("--fix", fix, what);
  command.add_flag("--unsafe-fixes", unsafe_fixes,
                   "with --fix: also apply fixes that guess what was meant or may change what is computed");
  command.add_flag("--diff", diff, "with --fix: print what would change instead");
}

void FixOptions::Validate(const CommonOptions& options) const {
  if (diff && !fix) throw MisuseError("`--diff` shows what `--fix` would change; give both");
  if (unsafe_fixes && !fix)
    throw MisuseError("`--unsafe-fixes` widens what `--fix` changes; use both options");
  options.RefuseForOpenVino("--fix", fix);
}

driver::FixReport FixOptions::Make(const std::string& model, const CommonOptions& options,
                                   driver::CompileOptions& compile, const driver::FixValidator& judge) const {
  if (!fix) return {};
  driver::FixReport report = driver::FixModel(
      options.ModelName(model), compile, unsafe_fixes ? Applicability::kUnsafe : Applicability::kSafe, judge);
  for (const auto& [name, change] : report.changes) compile.texts[name] = change.after;
  return report;
}

void FixOptions::Deliver(const std::string& model, const driver::FixReport& report,
                         const CommonOptions& options) const {
  if (fix && !diff && model == "-") {  // written to standard output even if unchanged
    const auto found = report.changes.find(options.ModelName(model));
    WriteStdout(found == report.changes.end() ? StandardInput() : found->second.after);
  }
  for (const auto& [name, change] : report.changes) {
    if (model == "-" && !diff) continue;
    if (diff) {
      PrintDiff(UnifiedDiff(change.before, change.after, name, name), options.color);
      continue;
    }
    // Members of an archive have names `ARCHIVE:MEMBER` and are not files.
    if (!std::filesystem::is_directory(model) && name != model) {
      throw MisuseError(fmt::format(
          "`{}` cannot be changed in its archive; unpack it, or see what would change with `--diff`", name));
    }
    if (auto written = ReplaceFile(name, change.after); !written) throw MisuseError(written.error().message);
  }
  if (options.output_format() != Format::kText || options.quiet) return;
  for (const std::string& line : report.fixed) PrintStderr("{}\n", line);
  for (const std::string& line : report.refused) PrintStderr("{}\n", line);
  if (report.unsafe > 0)
    PrintStderr("{}: {} unsafe fix{} not applied; `--fix --unsafe-fixes` applies {}\n",
                options.ModelName(model), report.unsafe, report.unsafe == 1 ? " was" : "es were",
                report.unsafe == 1 ? "it" : "them");
  if (report.untried > 0)
    PrintStderr("{}: {} more fix{} not tried, since checking takes long; use `--fix` once more\n",
                options.ModelName(model), report.untried, report.untried == 1 ? " was" : "es were");
}

}  // namespace nnefc::cli

// The options `--fix`, `--unsafe-fixes` and `--diff`.

#include "tools/nnefc/arguments/fixes.h"

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

void FixOptions::Write(const std::string& model, driver::FixReport& report) const {
  if (fix && !diff && model != "-") Require(api::WriteFixes(report, model));
}

void FixOptions::Deliver(const std::string& model, const driver::FixReport& report,
                         const CommonOptions& options) const {
  if (diff) {
    PrintDiff(api::FixesDiff(report), options.color);
  } else if (fix && model == "-") {  // written to standard output even if unchanged
    const auto found = report.changes.find(options.ModelName(model));
    WriteStdout(found == report.changes.end() ? StandardInput() : found->second.after);
  }
  if (options.output_format() == Format::kText && !options.quiet)
    WriteStderr(api::FixesText(report, options.ModelName(model)));
}

}  // namespace nnefc::cli

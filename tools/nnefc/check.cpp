#include <filesystem>

#include "compiler/driver/fix.h"
#include "compiler/openvino/read.h"
#include "compiler/support/replace_file.h"
#include "compiler/support/text_diff.h"
#include "fmt/format.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {
namespace {

struct CheckCommand : CommonOptions {
  bool fix = false;
  bool diff = false;

  int Run() {
    if (diff && !fix) throw MisuseError("`--diff` shows what `--fix` would change; give both");
    Reporter reporter(*this, /*is_product=*/true);
    int exit_code = kSuccess;
    for (const std::string& model : models) exit_code = std::max(exit_code, Check(model, reporter));
    return exit_code;
  }

 private:
  int Check(const std::string& model, Reporter& reporter) {
    CompileOptions compile = compile_options();
    FixReport report;
    if (fix) {
      report = FixModel(model, compile);
      for (const auto& [name, change] : report.changes) compile.texts[name] = change.after;
    }
    Compilation compilation(model, compile);
    bool ok = RunStages(compilation, Stage::kExpand);
    if (ok && compilation.is_openvino())
      RequireKnownOperations(*compilation.lowered(), compilation.context().emitter);
    Deliver(model, report);
    return reporter.Report(compilation);
  }

  // Writes the texts, or shows what would change; then tells what was fixed.
  void Deliver(const std::string& model, const FixReport& report) const {
    for (const auto& [name, change] : report.changes) {
      if (diff) {
        fmt::print("{}", UnifiedDiff(change.before, change.after, name, name));
        continue;
      }
      // The members of an archive are told as `ARCHIVE:MEMBER` and are no files.
      if (!std::filesystem::is_directory(model) && name != model) {
        throw MisuseError(fmt::format(
            "`{}` cannot be changed in its archive; unpack it, or see what would change with `--diff`",
            name));
      }
      if (auto written = ReplaceFile(name, change.after); !written)
        throw MisuseError(written.error().message);
    }
    if (output_format() != Format::kText) return;
    for (const std::string& line : report.fixed) fmt::print(stderr, "{}\n", line);
    for (const std::string& line : report.refused) fmt::print(stderr, "{}\n", line);
  }
};

}  // namespace

void AddCheck(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CheckCommand>();
  CLI::App* command =
      app.add_subcommand("check", "judge documents by the specification, through expansion and shapes");
  AddCommonOptions(*command, *options, 0);
  command->add_flag("--fix", options->fix, "change the files where a mistake has one repair that helps");
  command->add_flag("--diff", options->diff, "with --fix: print what would change instead");
  command->footer(
      "Examples: nnefc check model.nnef model_folder --format sarif\n          nnefc check model.nnef --fix "
      "--diff");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

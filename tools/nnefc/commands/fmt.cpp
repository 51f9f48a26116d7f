// The command `nnefc fmt`: formats documents.

#include "compiler/support/files/replace_file.h"
#include "compiler/support/text/text_diff.h"
#include "fmt/core.h"
#include "nlohmann/json.hpp"
#include "tools/api/document_text.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

struct FmtCommand : CommonOptions {
  bool in_place = false;
  bool check = false;
  bool diff = false;

  int Run() {
    if (diff) {
      RequireExtension(output, {".diff", ".patch", ".txt", ""}, "`fmt --diff` writes a diff to a `.diff`");
    } else if (check) {
      RequireReportName(output, output_format());
    } else {
      RequireExtension(output, {".nnef", ".quant", ".txt"}, "`fmt` writes a document to a `.nnef`");
    }
    Reporter reporter(*this, /*is_product=*/false);
    int exit_code = kSuccess;
    for (const std::string& model : FindModels()) {
      try {
        exit_code = std::max(exit_code, Format(model, reporter));
      } catch (const MisuseError& error) {  // the other files are still formatted
        PrintError(error.what());
        exit_code = kMisuse;
      }
    }
    if (check && !diff && !prints_text())
      Print("{}\n", nlohmann::ordered_json({{"would_change", would_change_}}).dump(2));
    return exit_code;
  }

 private:
  int Format(const std::string& model, Reporter& reporter) {
    const driver::CompileOptions compile = compile_options(model);
    Context context;
    context.limits = compile.limits;
    bool environment_failed = false;
    int exit_code = kSuccess;
    for (const api::ModelText& text :
         api::OpenTexts(ModelName(model), compile, context, environment_failed)) {
      if (in_place && !text.is_writable)
        throw MisuseError(fmt::format("`{}` cannot be changed in place; only files can", text.name));
      exit_code = std::max(exit_code, Format(text, compile, context));
    }
    // Semantic errors are left to `check`.
    if (!context.emitter.has_errors()) return exit_code;
    return std::max(exit_code, reporter.Report(model, context, environment_failed));
  }

  int Format(const api::ModelText& text, const driver::CompileOptions& compile, Context& context) {
    const api::FormattedDocument formatted =
        api::FormatDocument(text.file, text.is_quantization, compile, context);
    if (!formatted.is_complete) return kInvalid;
    if (!formatted.reads_same) {
      PrintError(fmt::format("`{}` would read differently when formatted; it was left as it is", text.name));
      return kMisuse;
    }
    return Deliver(text, context.sources.Text(text.file), formatted.text);
  }

  int Deliver(const api::ModelText& text, std::string_view before, const std::string& formatted) {
    const bool changes = before != formatted;
    if (diff) PrintDiff(UnifiedDiff(before, formatted, text.name, text.name), color);
    if (check && changes && !diff) {
      would_change_.push_back(text.name);
      if (prints_text()) Print("{}\n", text.name);
    }
    if (!diff && !check && !in_place) Print("{}", formatted);
    if (in_place && changes) Require(ReplaceFile(text.name, formatted));
    return check && changes ? kInvalid : kSuccess;
  }

  std::vector<std::string> would_change_;  // files reported by `--check`
};

}  // namespace

void AddFmt(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FmtCommand>();
  CLI::App* command = app.add_subcommand("fmt", "print documents in the one style, comments included");
  AddTextOptions(*command, *options);
  AddRecursive(*command, *options);
  AddStdinFilename(*command, *options);
  CLI::Option* in_place = command->add_flag("-i,--in-place", options->in_place,
                                            "write the result back to the files instead of printing it");
  command
      ->add_flag("--check", options->check, "list the files that would change; exit code 1 if there are any")
      ->excludes(in_place);
  command->add_flag("--diff", options->diff, "print what would change")->excludes(in_place);
  command->footer(
      "Formats `graph.nnef` and `graph.quant` of folders; a document that is named is formatted alone. `-` "
      "is "
      "standard input. A document with syntax errors is not changed.\nExamples:\n"
      "  nnefc fmt --check model.nnef model_folder\n"
      "  nnefc fmt --in-place --recursive models\n"
      "  nnefc fmt - --stdin-filename model/graph.quant < model/graph.quant");
  AddOutput(*command, options->output, "the file to write the result to; standard output without it");
  command->callback(
      [options, &exit_code] { exit_code = WithOutput(options->output, [&] { return options->Run(); }); });
}

}  // namespace nnefc::cli

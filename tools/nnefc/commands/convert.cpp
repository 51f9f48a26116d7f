// The command `nnefc convert`: writes an OpenVINO model as NNEF.

#include <filesystem>

#include "compiler/driver/rules.h"
#include "compiler/driver/stages/convert_model.h"
#include "compiler/package/containers/tar_writer.h"
#include "tools/api/forms/compare_conversion.h"
#include "tools/api/values/evaluator.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_folder.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

namespace fs = std::filesystem;

// Models with more operations are compared only on request.
constexpr double kMaxComparedOperations = 1e10;
// The highest accepted difference of an output, relative to its largest element.
constexpr double kTolerance = 1e-4;

struct ConvertCommand : CommonOptions {
  std::string compare = "auto";
  bool folds = false;
  bool prints_names = false;
  bool force = false;

  int Run() {
    driver::CompileOptions compile = SourceOptions();
    driver::ConvertOptions options{.evaluate = compile.evaluate, .folds_batch_normalization = folds};
    if (!HasDocument()) {
      for (const std::string& text : input_shapes) options.input_shapes.insert(ParseInputShape(text));
    }
    CheckOutputName();
    api::Program program(ShownModel(models.front()), std::move(compile));
    driver::Compilation& compilation = program.compilation();
    std::optional<driver::ConvertedModel> converted;
    if (RunStages(compilation, driver::StageBeforeConversion(compilation.format())))
      converted = driver::ConvertModel(compilation, options);
    if (converted && !IsSame(program, *converted)) converted.reset();
    const int exit_code = Reporter(*this).Report(compilation);
    if (!converted) return exit_code == kSuccess ? kInvalid : exit_code;
    Write(*converted);
    if (prints_names) PrintNames(*converted);
    return exit_code;
  }

 private:
  bool IsStandardOutput() const { return output.empty() || output == "-"; }
  bool IsDocument() const { return IsStandardOutput() || fs::path(output).extension() == ".nnef"; }

  bool HasDocument() const { return driver::FormatOf(models.front()) == driver::ModelFormat::kNnef; }

  driver::CompileOptions SourceOptions() const {
    const CommonOptions& own = *this;
    CommonOptions common = own;
    if (!HasDocument()) common.input_shapes.clear();  // compile_options rejects them for graphs
    driver::CompileOptions compile = common.compile_options(models.front());
    compile.executes = true;
    compile.open.reads_data = true;
    return compile;
  }

  // Compares the outputs of both models. Reports each difference, and returns false if one is too large.
  bool IsSame(api::Program& program, const driver::ConvertedModel& converted) const {
    driver::Compilation& compilation = program.compilation();
    const ir::Graph& graph = compilation.lowered() != nullptr ? *compilation.lowered() : compilation.graph();
    const bool is_small = api::CountOperations(graph) <= kMaxComparedOperations;
    if (compare == "never" || (compare == "auto" && !is_small)) return true;
    Progress progress;
    progress.Start(fmt::format("{}: compare outputs", compilation.path()));
    const auto differences = api::CompareConversion(program, converted, {});
    progress.Stop();
    if (!differences) return false;
    bool is_same = true;
    for (const api::OutputDifference& output : *differences) {
      if (output.difference <= kTolerance) {
        if (compare == "always" && !quiet)
          PrintStderr("output `{}`: max|a-b|/max|b| = {:.1e}\n", output.name, output.difference);
        continue;
      }
      is_same = false;
      compilation.context().emitter.Emit(
          driver::kConversionDiffers, {},
          "a fault of nnefc, not of the model: the output `{}` of the converted model differs by {:.1e}, "
          "relative to its largest element; expected at most {:.0e}",
          output.name, output.difference, kTolerance);
    }
    return is_same;
  }

  void CheckOutputName() const {
    if (IsDocument()) return RequireOtherFile(*this, force);
    if (!package::IsArchiveName(output))
      return RequireFolderName(output, "the converted model is a folder, a `.tar`, `.tgz` or `.nnef`");
    if (fs::exists(output) && !force)
      throw MisuseError(fmt::format("`{}` exists; `--force` replaces it", output));
  }

  void Write(const driver::ConvertedModel& converted) const {
    if (IsDocument()) return WriteProduct(output, converted.document);
    if (package::IsArchiveName(output)) return WriteToArchive(converted);
    OutputFolder folder(output,
                        force ? OutputFolder::Existing::kReplaceModel : OutputFolder::Existing::kRefuseModel);
    Require(driver::WriteConvertedModel(converted, folder.path()));
    folder.Commit();
  }

  void WriteToArchive(const driver::ConvertedModel& converted) const {
    const OutputFolder folder(output + ".files");
    Require(driver::WriteConvertedModel(converted, folder.path()));
    Require(package::WriteArchive(folder.path(), output));
  }

  static void Require(const ErrorOr<Success>& written) {
    if (!written) throw MisuseError(written.error().message);
  }

  // Prints the names of the source and their identifiers, if they differ.
  void PrintNames(const driver::ConvertedModel& converted) const {
    for (const auto& [source, name] : converted.names) {
      if (source != name) PrintStderr("{} -> {}\n", source, name);
    }
  }
};

}  // namespace

void AddConvert(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ConvertCommand>();
  CLI::App* command = app.add_subcommand("convert", "turn OpenVINO IR into a ratified NNEF model");
  AddCommonOptions(*command, *options, 1);
  command
      ->add_option(
          "-o,--output", options->output,
          "the model to write: a folder, an archive (.nnef.tgz, .tar) or, without the data of variables, "
          "a document (.nnef); the document goes to standard output without it")
      ->type_name("PATH");
  command
      ->add_option("--compare-outputs", options->compare,
                   "run both models on random inputs and compare their outputs before writing; auto: if the "
                   "model has at most 10 billion operations")
      ->type_name("WORD")
      ->check(OneOf({"auto", "always", "never"}))
      ->capture_default_str();
  command->add_flag(
      "--fold", options->folds,
      "fold batch normalizations into the convolutions before them, or into a product and a sum");
  command->add_flag("--keep-names", options->prints_names,
                    "print the names of tensors that are not identifiers, with those that replace them");
  AddRename(*command, *options);
  command->add_flag("--force", options->force, "replace a model folder, an archive or the file that is read");
  command->footer(
      "The result is a flat document of the ratified dialect with standard operations alone. Operations "
      "without an "
      "exact form are all reported, and nothing is written then. A document is lowered first, so that "
      "operations of "
      "extensions become standard ones. `openvino.convert_model` in Python makes IR from models in other "
      "formats.\n"
      "Example:\n"
      "  nnefc convert net.xml -o model.nnef.tgz");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

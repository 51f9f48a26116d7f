// The command `nnefc convert`: writes an OpenVINO model as NNEF.

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "fmt/core.h"
#include "tools/api/forms/conversion.h"
#include "tools/api/forms/device.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/common.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {
namespace {

namespace fs = std::filesystem;

// Extensions of models that OpenVINO's front ends read. The Python package reads these files through them.
constexpr std::string_view kFrameworkExtensions[] = {".onnx",   ".pt2",     ".pb",  ".pbtxt",
                                                     ".tflite", ".pdmodel", ".meta"};

// Throws MisuseError for a model of another framework and for ONNX as the result, which need Python.
void RequireNativeForms(const std::string& model, const std::string& output) {
  constexpr std::string_view kPackages = "install its packages by `pip install 'nnefc[convert]'`";
  const std::string extension = fs::path(model).extension().string();
  std::error_code error;
  const bool is_framework = std::find(std::begin(kFrameworkExtensions), std::end(kFrameworkExtensions),
                                      extension) != std::end(kFrameworkExtensions) ||
                            fs::exists(fs::path(model) / "saved_model.pb", error);
  if (is_framework) {
    throw MisuseError(
        fmt::format("`{}` is a model of another framework, which OpenVINO reads: `python -m nnefc convert {} "
                    "-o {}`; {}",
                    model, model, output.empty() ? "model.nnef.tgz" : output, kPackages));
  }
  if (fs::path(output).extension() == ".onnx") {
    throw MisuseError(fmt::format("the Python package writes ONNX: `python -m nnefc convert {} -o {}`; {}",
                                  model, output, kPackages));
  }
}

struct ConvertCommand : CommonOptions {
  std::string compare = "auto";
  std::string target = "ratified";
  bool folds = false;
  bool unrolls = false;
  bool has_fragments = false;
  bool prints_names = false;
  bool force = false;

  int Run() {
    // The language of devices is the ratified dialect.
    api::ConversionOptions options{.target = raise::ParseTarget(target).value_or(raise::Target::kRatified),
                                   .folds_batch_normalization = folds,
                                   .unrolls = unrolls,
                                   .has_fragments = has_fragments};
    if (api::IsDeviceProfile(target)) options.device_profile = target;
    if (compare != "auto")
      options.check = compare == "always" ? api::OutputCheck::kAlways : api::OutputCheck::kNever;
    driver::CompileOptions compile = SourceOptions(options);
    RequireNativeForms(models.front(), output);
    CheckOutputName();
    api::Program program(ShownModel(models.front()), std::move(compile));
    std::optional<api::Conversion> converted;
    bool profile_failed = false;
    {
      Progress progress(program);
      converted = api::Convert(
          program, options, [&](std::string_view what) { progress.Show(what); }, profile_failed);
    }
    if (compare == "always" && converted && !quiet) {
      for (const api::OutputDifference& output : converted->differences)
        PrintStderr("output `{}`: max|a-b|/max|b| = {:.1e}\n", output.name, output.difference);
    }
    const int exit_code = Reporter(*this).Report(program);
    if (profile_failed) return kMisuse;
    if (!converted) return exit_code == kSuccess ? kInvalid : exit_code;
    if (IsDocument()) {
      WriteProduct(output, converted->model.document);
    } else {
      Require(api::WriteConversion(converted->model, output,
                                   force ? api::Existing::kReplaceModel : api::Existing::kRefuseModel));
    }
    if (prints_names) PrintNames(converted->model);
    return exit_code;
  }

 private:
  bool IsDocument() const {
    return output.empty() || output == "-" || api::ConvertedFormOf(output) == api::ConvertedForm::kDocument;
  }

  // Returns the options of the source. Shapes of the inputs of a graph are those of the conversion.
  driver::CompileOptions SourceOptions(api::ConversionOptions& options) const {
    const CommonOptions& own = *this;
    CommonOptions common = own;
    if (driver::FormatOf(models.front()) != driver::ModelFormat::kNnef) {
      for (const std::string& text : common.input_shapes) options.input_shapes.insert(ParseInputShape(text));
      common.input_shapes.clear();  // compile_options rejects them for graphs
    }
    driver::CompileOptions compile = common.compile_options(models.front());
    compile.executes = true;
    compile.open.reads_data = true;
    return compile;
  }

  void CheckOutputName() const {
    if (IsDocument()) return RequireOtherFile(*this, force);
    if (api::ConvertedFormOf(output) == api::ConvertedForm::kFolder)
      return RequireFolderName(output, "the converted model is a folder, a `.tar`, `.tgz` or `.nnef`");
    RequireArchiveName(output, force);
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
  CLI::App* command = app.add_subcommand("convert", "turn OpenVINO IR into an NNEF model");
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
  command
      ->add_option(
          "--target", options->target,
          "the operations of the document. ratified: those of the standard; tract: those that tract "
          "reads, of the standard and of tract's registries; nnefc: those of the standard and of the "
          "extension NNEFC_opset, which has every operation of OpenVINO that nnefc computes; the JSON "
          "profile of a device: those of the standard that the device has, for compounds that it "
          "lacks their bodies")
      ->type_name("WORD")
      ->check(OneOfOrProfile({"ratified", "tract", "nnefc"}))
      ->capture_default_str();
  command->add_flag(
      "--fold", options->folds,
      "fold batch normalizations into the convolutions before them, or into a product and a sum");
  command->add_flag("--unroll", options->unrolls,
                    "write the steps of recurrent layers, and of loops with a known number of iterations, as "
                    "standard operations one after another");
  command->add_flag("--fragments", options->has_fragments,
                    "write blocks of operations that occur several times as fragments");
  command->add_flag("--keep-names", options->prints_names,
                    "print the names of tensors that are not identifiers, with those that replace them");
  AddRename(*command, *options);
  command->add_flag("--force", options->force, "replace a model folder, an archive or the file that is read");
  command->footer(
      "The result is a flat document of the ratified dialect with standard operations alone, unless "
      "`--target` permits others. For tract, symbols stand for open extents of inputs. Operations without an "
      "exact form are all reported, and nothing is written then. A "
      "document is lowered first, so that "
      "operations of "
      "extensions become standard ones. `python -m nnefc convert` also reads models of other frameworks, and "
      "writes ONNX.\n"
      "Example:\n"
      "  nnefc convert net.xml -o model.nnef.tgz");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

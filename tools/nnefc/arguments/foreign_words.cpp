// Commands and options of other tools, with their equivalents.

#include "tools/nnefc/arguments/foreign_words.h"

namespace nnefc::cli {
namespace {

constexpr std::string_view kToCheck = "did you mean `nnefc check`?";
constexpr std::string_view kToRun = "did you mean `nnefc run`?";
constexpr std::string_view kToInspect = "did you mean `nnefc inspect`?";
constexpr std::string_view kToBench = "did you mean `nnefc bench`?";
constexpr std::string_view kToFmt = "did you mean `nnefc fmt`?";
constexpr std::string_view kToExplain = "did you mean `nnefc explain`?";
constexpr std::string_view kToCompile = "did you mean `nnefc compile`?";
constexpr std::string_view kToPicture = "did you mean `nnefc draw`?";
constexpr std::string_view kToConversion =
    "`nnefc compile MODEL -o net.xml` writes OpenVINO IR, `nnefc convert net.xml` turns it into an NNEF "
    "model, and "
    "`nnefc upgrade` a provisional model into a ratified one";
constexpr std::string_view kToSimpler =
    "`nnefc transform MODEL` optimizes the graph that a model becomes; `nnefc expand` flattens a document, "
    "and "
    "`nnefc convert` writes the lowered graph as a flat model";
constexpr std::string_view kToImport =
    "`nnefc convert net.xml` turns OpenVINO IR into an NNEF model; `python -m nnefc convert model.onnx` also "
    "reads ONNX, PyTorch, TensorFlow and Paddle";
constexpr std::string_view kToExport =
    "`nnefc compile MODEL -o net.xml` writes OpenVINO IR, `nnefc convert net.xml` an NNEF model, and `python "
    "-m nnefc convert MODEL -o net.onnx` ONNX";
constexpr std::string_view kToCosts =
    "`nnefc run MODEL --profile` prints the time and the operations of each step";

constexpr ForeignWord kForeignCommands[] = {
    {"validate", kToCheck, ""},
    {"verify", kToCheck, ""},
    {"test", kToCheck, ""},
    {"parse", kToCheck, ""},
    {"execute", kToRun, ""},
    {"exec", kToRun, ""},
    {"infer", kToRun, ""},
    {"inference", kToRun, ""},
    {"predict", kToRun, ""},
    {"info", kToInspect, ""},
    {"show", kToInspect, ""},
    {"summary", kToInspect, ""},
    {"summarize", kToInspect, ""},
    {"describe", kToInspect, ""},
    {"dump", kToInspect, ""},
    {"print", "`nnefc inspect` prints a model's operations, `nnefc expand` its flat document", ""},
    {"benchmark", kToBench, ""},
    {"time", kToBench, ""},
    {"perf", kToBench, ""},
    {"profile", kToCosts, ""},
    {"cost", kToCosts, ""},
    {"costs", kToCosts, ""},
    {"flops", kToCosts, ""},
    {"optimize", kToSimpler, ""},
    {"optimise", kToSimpler, ""},
    {"simplify", kToSimpler, ""},
    {"translate", kToConversion, ""},
    {"migrate", "did you mean `nnefc upgrade`?", ""},
    {"update", "did you mean `nnefc upgrade`?", ""},
    {"import", kToImport, ""},
    {"export", kToExport, ""},
    {"build", kToCompile, ""},
    {"lower", kToCompile, ""},
    {"flatten", "did you mean `nnefc expand`?", ""},
    {"inline", "did you mean `nnefc expand`?", ""},
    {"fix", "did you mean `nnefc check --fix`?", ""},
    {"compare", "did you mean `nnefc diff`?", ""},
    {"plot", kToPicture, ""},
    {"visualize", kToPicture, ""},
    {"visualise", kToPicture, ""},
    {"view", kToPicture, ""},
    {"graph", kToPicture, ""},
    {"format", kToFmt, ""},
    {"pretty", kToFmt, ""},
    {"quantize", "`nnefc expand MODEL --quantize` prints a document that quantizes as `graph.quant` says",
     ""},
    {"server", "`nnefc lsp` is the language server", ""},
    {"version", "did you mean `nnefc --version`?", ""},
    {"ops", "did you mean `nnefc operations`?", ""},
    {"list", "`nnefc operations` lists operations, `nnefc explain --list` rules", ""},
    {"rules", "did you mean `nnefc explain --list`?", ""},
    {"limits", "did you mean `nnefc help limits`?", ""},
    {"doc", kToExplain, ""},
    {"docs", kToExplain, ""},
    {"man", kToExplain, ""},
};

constexpr ForeignWord kForeignOptions[] = {
    {"--batch", "`--input-shape NAME=8,3,224,224` sets the extents of an input", ""},
    {"--batch-size", "`--input-shape NAME=8,3,224,224` sets the extents of an input", ""},
    {"--device", "nnefc runs on the CPU; `--backend` chooses the kernels of `run` and `bench`", ""},
    {"--provider", "nnefc runs on the CPU; `--backend` chooses the kernels of `run` and `bench`", ""},
    {"--fp16", "values are computed as the document says", ""},
    {"--jobs", "`--threads N` limits the threads of `run` and `bench`", ""},
    {"--json", "did you mean `--format json`?", ""},
    {"--sarif", "did you mean `--format sarif`?", ""},
    {"--github", "did you mean `--format github`?", ""},
    {"--model", "the model is named without an option", ""},
    {"--input-model", "the model is named without an option", ""},
    {"--input_model", "the model is named without an option", ""},
    {"--path", "the model is named without an option", ""},
    {"--num-threads", "did you mean `--threads`?", ""},
    {"--loops", "did you mean `--iterations`?", ""},
    {"--runs", "did you mean `--iterations`?", ""},
    {"--repeat", "did you mean `--iterations`?", ""},
    {"--out", "did you mean `--output`?", ""},
    {"--output-dir", "did you mean `--output`?", ""},
    {"--seed", "`--random-inputs SEED` and `--random-weights SEED` make data", ""},
    {"--shape", "did you mean `--input-shape`?", ""},
    {"-j", "`--threads N` limits the threads of `run` and `bench`", ""},
    {"-m", "the model is named without an option", ""},
    {"-t", "`--threads N` limits the threads of `run` and `bench`", ""},
    {"-n", "did you mean `--iterations`?", ""},
    {"-v", "did you mean `--verbose`?", ""},
    {"-w", "did you mean `--in-place`?", "fmt"},
    {"--write", "did you mean `--in-place`?", "fmt"},
    {"--fix", "did you mean `--in-place`?", "fmt"},
    {"-w", "did you mean `--fix`?", "check"},
    {"-w", "did you mean `--fix`?", "lint"},
    {"--write", "did you mean `--fix`?", "check"},
    {"--write", "did you mean `--fix`?", "lint"},
    {"--in-place", "did you mean `--fix`?", "check"},
    {"--in-place", "did you mean `--fix`?", "lint"},
    {"-i", "did you mean `--fix`?", "check"},
    {"-i", "did you mean `--fix`?", "lint"},
    {"-w", "did you mean `--output`?", ""},
    {"--write", "did you mean `--output`?", ""},
    {"-W", "did you mean `--werror`?", ""},
    {"-Werror", "did you mean `--werror`?", ""},
};

}  // namespace

std::span<const ForeignWord> ForeignCommands() {
  return kForeignCommands;
}

std::optional<std::string_view> AdviceForOption(std::string_view option, std::string_view command) {
  for (const ForeignWord& foreign : kForeignOptions) {
    if (foreign.theirs == option && (foreign.command.empty() || foreign.command == command))
      return foreign.advice;
  }
  return std::nullopt;
}

}  // namespace nnefc::cli

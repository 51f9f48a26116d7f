// The command `nnefc run`: executes a model.

#include <algorithm>
#include <chrono>

#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/api/facts/machine.h"
#include "tools/api/facts/profile.h"
#include "tools/api/facts/profile_trace.h"
#include "tools/api/facts/transformations.h"
#include "tools/api/forms/written_model.h"
#include "tools/api/values/check_finite.h"
#include "tools/api/values/outputs.h"
#include "tools/nnefc/arguments/execution.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/arguments/tolerance.h"
#include "tools/nnefc/arguments/transform_options.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {

namespace {

using Json = nlohmann::ordered_json;

struct RunCommand : CommonOptions {
  ExecutionOptions execution;
  driver::TransformOptions transform;
  CompareOptions compare;
  std::string save_inputs;
  std::string save_weights;
  bool profile = false;
  std::string sort = "time";
  std::string trace;
  std::string folded;
  int iterations = 0;  // 0: not set, one run
  bool verbose = false;
  bool check_finite = false;

  int Run() {
    if (output == "-" || save_inputs == "-")
      throw MisuseError("an `.npz` cannot go to standard output; name a file, such as `out.npz`");
    RequireExtension(output, {".npz"}, "`run` writes outputs to an `.npz`, each by its name");
    RequireExtension(save_inputs, {".npz"}, "`--save-inputs` writes an `.npz`, each input by its name");
    if (iterations > 0 && !profile && trace.empty() && folded.empty())
      throw MisuseError("`--iterations` needs `--profile`, `--trace` or `--folded`");
    if (trace == "-" || folded == "-")
      throw MisuseError("`--trace` and `--folded` write files: name one, such as `trace.json`");
    RequireExtension(trace, {".json"}, "`--trace` writes events in JSON to a `.json`");
    RequireExtension(folded, {".folded", ".txt", ".out", ""}, "`--folded` writes text, one stack a line");
    RefuseForOpenVino("--save-weights", !save_weights.empty());
    RequireFolderName(save_weights, "`--save-weights` writes a folder");
    driver::CompileOptions compile = compile_options(models.front());
    compile.executes = true;
    compile.random_weights = execution.random_weights;
    compile.transform = transform;
    compile.open.reads_data = true;
    if (!execution.dump.empty()) api::KeepTensors(compile.transform);
    execution.explains = verbose || profile;
    api::Program program(ShownModel(models.front()), compile);
    Reporter reporter(*this);
    std::optional<api::Execution> prepared = Prepare(program, execution, max_bytes);
    if (!prepared) return reporter.Report(program);
    if (!save_inputs.empty()) Require(api::WriteInputs(save_inputs, *prepared));
    if (!save_weights.empty())
      Require(api::WriteModelWithData(program, execution.random_weights, save_weights));
    prepared->session->EnableProfile(verbose);
    auto start = std::chrono::steady_clock::now();
    std::optional<std::vector<TensorValue>> values = Execute(program, *prepared);
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    int exit_code = reporter.Report(program);
    if (!values) return exit_code;
    if (check_finite) {
      if (execution.runs > 0) throw MisuseError("`--check-finite` checks one run; `--runs` makes several");
      api::CheckFinite(program, execution.run_options(max_bytes), *prepared);
      exit_code = std::max(exit_code, reporter.Report(program));
    }
    report = {{"model", program.compilation().path()}};
    if (verbose) {
      AddStages(program.compilation(), *prepared, elapsed.count());
      report["steps"] = api::ImplementationsJson(prepared->session->profile());
      PrintText(api::ImplementationsText(prepared->session->profile()));
    }
    if (profile || !trace.empty() || !folded.empty()) AddProfile(program, *prepared);
    exit_code = std::max(exit_code, Deliver(program, *prepared, *values));
    if (!prints_text()) Print("{}\n", report.dump(2));
    return exit_code;
  }

  std::optional<std::vector<TensorValue>> Execute(api::Program& program,
                                                  const api::Execution& prepared) const {
    Progress progress(program);
    progress.Show("run");
    return program.Run(prepared, execution.runs);
  }

  // Writes, compares or prints the computed values.
  int Deliver(api::Program& program, const api::Execution& prepared,
              const std::vector<TensorValue>& results) {
    const std::vector<api::ComputedValue> values = api::NameResults(prepared, results);
    if (!output.empty()) Require(api::WriteValues(output, values));
    if (!compare.path.empty()) {
      Context& context = program.compilation().context();
      auto expected = Require(api::ReadExpected(compare.path, prepared, max_bytes, context));
      if (!expected) return Reporter(*this).Report(program);
      api::Comparison comparison = api::CompareValues(values, std::move(*expected), compare.MakeTolerance());
      PrintText(comparison.text);
      report["comparison"] = std::move(comparison.json);
      return comparison.within ? kSuccess : kInvalid;
    }
    if (!output.empty()) return kSuccess;
    PrintText(api::ValuesText(values));
    api::AddValues(values, report);
    return kSuccess;
  }

  void AddStages(const driver::Compilation& compilation, const api::Execution& prepared,
                 double run_milliseconds) {
    const auto add = [&](std::string_view stage, double milliseconds) {
      if (IsText()) Print("{:<8}{}\n", stage, api::TimeText(milliseconds));
      report["stages"].push_back(Json{{"stage", std::string(stage)}, {"milliseconds", milliseconds}});
    };
    for (const driver::StageTime& time : compilation.times())
      add(driver::Name(time.stage), time.milliseconds);
    add("plan", prepared.plan_milliseconds);
    add("run", run_milliseconds);
    if (execution.plan_cache.empty() && !execution.tune) return;
    const auto& use = prepared.executable->plan_cache_use();
    if (IsText()) Print("plan cache: {} found, {} made, {} measured\n", use.found, use.made, use.measured);
    report["plan_cache"] = {{"found", use.found}, {"made", use.made}, {"measured", use.measured}};
  }

  void AddProfile(api::Program& program, const api::Execution& prepared) {
    const driver::Compilation& compilation = program.compilation();
    const api::Profile steps = [&] {
      Progress progress(program);
      progress.Show("profile");
      return api::WarmProfile(prepared, std::max(1, iterations));
    }();
    if (!trace.empty())
      WriteProduct(trace, api::TraceJson(steps, *compilation.lowered(), compilation.path())
                                  .dump(1, ' ', false, Json::error_handler_t::replace) +
                              "\n");
    if (!folded.empty())
      WriteProduct(folded, api::FoldedStacks(steps, *compilation.lowered(), compilation.path()));
    if (!profile) return;
    const double peak = api::MeasurePeak(execution.threads);
    report["peak_operations_per_second"] = peak;
    report["profile"] = api::ProfileJson(steps);
    report["kernels"] = api::KernelsJson(steps);
    PrintText(
        api::ProfileText(steps, peak, sort == "time" ? api::StepOrder::kTime : api::StepOrder::kExecution));
    PrintText(api::KernelsText(steps, peak));
    if (!verbose) PrintText(api::ImplementationsText(steps));
  }

 private:
  bool IsText() const { return prints_text(); }
  // Prints the text unless the result is JSON.
  void PrintText(const std::string& text) const {
    if (IsText()) WriteStdout(text);
  }

  Json report;  // for the machine-readable forms
};

}  // namespace

void AddRun(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunCommand>();
  CLI::App* command = app.add_subcommand("run", "execute a model on the CPU");
  AddCommonOptions(*command, *options, 1, ModelKind::kAny, ReportForms::kResult);
  AddQuantize(*command, *options);
  AddExecutionOptions(*command, options->execution);
  AddTransformOptions(*command, options->transform);
  AddRename(*command, *options);
  command->add_option("-o,--output,--outputs", options->output, "the .npz to write outputs to, by name")
      ->type_name("FILE");
  command
      ->add_option(
          "--dump", options->execution.dump,
          "also show, write and compare values on the way: names of tensors as `nnefc expand` prints them, "
          "or all: --dump conv1,pool1")
      ->type_name("NAME,..")
      ->delimiter(',')
      ->expected(1)
      ->take_all();
  command
      ->add_option("--save-inputs", options->save_inputs,
                   "an .npz to write the inputs of the run to, which --inputs reads: --save-inputs in.npz")
      ->type_name("FILE");
  command
      ->add_option("--save-weights", options->save_weights,
                   "a folder to write the model to, with the data of all its variables: --save-weights model")
      ->type_name("FOLDER");
  options->compare.Add(*command);
  CLI::Option* profile = command->add_flag(
      "--profile", options->profile,
      "print the time of each step of a warm run, its operations of numbers a second (a product and its "
      "addition are two) with their share of what the processor reaches in f32, the bytes that it reads "
      "and writes, its implementation, and why others were rejected");
  command->add_option("--sort", options->sort, "the order of the steps of --profile: time is slowest first")
      ->type_name("WORD")
      ->check(OneOf({"time", "execution"}))
      ->capture_default_str()
      ->needs(profile);
  CLI::Option* trace = command->add_option("--trace", options->trace,
                                           "a .json to write the steps of a warm run to, for Perfetto or "
                                           "chrome://tracing, within the fragments that they come from");
  trace->type_name("FILE");
  CLI::Option* folded = command->add_option("--folded", options->folded,
                                            "a file to write these steps to as folded stacks, of which "
                                            "flamegraph.pl or inferno-flamegraph make a picture");
  folded->type_name("FILE");
  command
      ->add_option_function<int>(
          "--iterations", [options](int count) { options->iterations = count; },
          "with --profile, --trace or --folded: the number of runs; the least time of each step is printed")
      ->check(Between(1, 100'000))
      ->type_name("N");
  command->add_flag(
      "--check-finite", options->check_finite,
      "report inputs with data that are not finite and the first operation that computes such a "
      "value from finite ones, with exit code 1; constants with such elements are notes");
  command
      ->add_option("--runs", options->execution.runs,
                   "the number of runs, each with the states that the last one left, as for the parts of a "
                   "stream; data of inputs have an additional first axis with that extent, and so have "
                   "outputs")
      ->check(Between(1, 1'000'000))
      ->type_name("N")
      ->excludes(profile)
      ->excludes(trace)
      ->excludes(folded);
  command->add_flag("--verbose", options->verbose,
                    "print the time of each stage, the implementation of each step, and why others of its "
                    "operation were rejected");
  command->footer(
      "Examples:\n"
      "  nnefc run model_folder --input input=image.npy --output out.npz --threads 2\n"
      "  nnefc run model_folder --inputs data.npz --dump all -o values.npz\n"
      "  nnefc run net.nnef --random-weights 1 --random-inputs 1 --compare out.npz\n"
      "  nnefc run model_folder --random-inputs 1 --profile --trace trace.json");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

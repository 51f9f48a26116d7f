// The command `nnefc run`: executes a model.

#include <algorithm>
#include <chrono>

#include "compiler/driver/data/write_variables.h"
#include "compiler/driver/rules.h"
#include "compiler/package/tensors/npz.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"
#include "tools/api/facts/machine.h"
#include "tools/api/runs_in_turn.h"
#include "tools/api/values/check_finite.h"
#include "tools/nnefc/arguments/execution.h"
#include "tools/nnefc/arguments/misuse.h"
#include "tools/nnefc/arguments/transform_options.h"
#include "tools/nnefc/commands/compare.h"
#include "tools/nnefc/output/output_folder.h"
#include "tools/nnefc/output/output_name.h"
#include "tools/nnefc/output/reporter.h"
#include "tools/nnefc/output/value_summary.h"

namespace nnefc::cli {

using package::NamedTensor;

namespace {

using Json = nlohmann::ordered_json;

struct RunCommand : CommonOptions {
  ExecutionOptions execution;
  driver::TransformOptions transform;
  CompareOptions compare;
  std::string save_inputs;
  std::string save_weights;
  bool profile = false;
  int iterations = 1;
  bool verbose = false;
  bool check_finite = false;

  int Run() {
    if (output == "-" || save_inputs == "-")
      throw MisuseError("an `.npz` cannot go to standard output; name a file, such as `out.npz`");
    RequireExtension(output, {".npz"}, "`run` writes outputs to an `.npz`, each by its name");
    RequireExtension(save_inputs, {".npz"}, "`--save-inputs` writes an `.npz`, each input by its name");
    RefuseForOpenVino("--save-weights", !save_weights.empty());
    RequireFolderName(save_weights, "`--save-weights` writes a folder");
    driver::CompileOptions compile = compile_options(models.front());
    compile.executes = true;
    compile.random_weights = execution.random_weights;
    compile.transform = transform;
    compile.open.reads_data = true;
    if (!execution.dump.empty()) KeepTensors(compile.transform);
    execution.explains = verbose || profile;
    api::Program program(ShownModel(models.front()), compile);
    driver::Compilation& compilation = program.compilation();
    Reporter reporter(*this);
    std::optional<api::Execution> prepared = Prepare(program, execution, max_bytes);
    if (!prepared) return reporter.Report(compilation);
    Save(compilation, *prepared);
    prepared->session->EnableProfile(verbose);
    auto start = std::chrono::steady_clock::now();
    std::optional<std::vector<TensorValue>> values = Execute(compilation, *prepared);
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    int exit_code = reporter.Report(compilation);
    if (!values) return exit_code;
    if (check_finite) {
      if (execution.runs > 0) throw MisuseError("`--check-finite` checks one run; `--runs` makes several");
      api::CheckFinite(program, execution.run_options(max_bytes), *prepared);
      exit_code = std::max(exit_code, reporter.Report(compilation));
    }
    report = {{"model", compilation.path()}};
    if (verbose) {
      AddStages(compilation, *prepared, elapsed.count());
      AddImplementations(prepared->session->profile());
    }
    if (profile) AddProfile(api::WarmProfile(*prepared, iterations), api::MeasurePeak(execution.threads));
    exit_code = std::max(exit_code, Deliver(compilation, *prepared, *values));
    if (!prints_text()) Print("{}\n", report.dump(2));
    return exit_code;
  }

  std::optional<std::vector<TensorValue>> Execute(driver::Compilation& compilation,
                                                  api::Execution& prepared) const {
    Progress progress;
    progress.Start(fmt::format("{}: run", compilation.path()));
    runtime::kernels::FaultOr<std::vector<TensorValue>> result =
        execution.runs == 0 ? prepared.session->Run(prepared.inputs)
                            : api::RunInTurn(*prepared.session, prepared.inputs, execution.runs);
    prepared.executable->TakeWarnings(compilation.context().emitter);
    if (result) return *result;
    runtime::kernels::Emit(result.error(), compilation.context().emitter);
    return std::nullopt;
  }

  // Writes the inputs of the run, and a model with all its data.
  void Save(driver::Compilation& compilation, const api::Execution& prepared) const {
    if (!save_inputs.empty()) {
      std::vector<NamedTensor> named;
      const std::vector<runtime::engine::Port>& ports = prepared.executable->inputs();
      for (size_t i = 0; i < ports.size(); ++i) named.push_back({ports[i].name, prepared.inputs[i]});
      if (auto written = package::WriteNpz(save_inputs, named); !written)
        throw MisuseError(written.error().message);
    }
    if (save_weights.empty()) return;
    OutputFolder folder(save_weights);
    const Context& context = compilation.context();
    folder.Write("graph.nnef", context.sources.Text(compilation.graph_text()));
    driver::VariableStore variables(*compilation.model(), *compilation.expanded(),
                                    compilation.quantization().table, execution.random_weights,
                                    compilation.context());
    if (auto written = driver::WriteVariables(*compilation.expanded(), variables, folder.path()); !written)
      throw MisuseError(written.error().message);
    folder.Commit();
  }

  // A value computed by the run: named by `--dump`, or an output.
  struct Computed {
    NamedTensor tensor;
    bool is_output = false;
  };
  static std::vector<Computed> Gather(const api::Execution& prepared,
                                      const std::vector<TensorValue>& values) {
    const std::vector<runtime::engine::Port>& ports = prepared.executable->outputs();
    std::vector<Computed> computed;
    for (size_t i = 0; i < ports.size(); ++i)
      computed.push_back({{ports[i].name, values[i]}, i < prepared.num_outputs});
    std::rotate(computed.begin(), computed.begin() + static_cast<ptrdiff_t>(prepared.num_outputs),
                computed.end());
    return computed;
  }

  // Writes, compares or prints the computed values.
  int Deliver(driver::Compilation& compilation, const api::Execution& prepared,
              const std::vector<TensorValue>& values) {
    const std::vector<Computed> computed = Gather(prepared, values);
    if (!output.empty()) {
      std::vector<NamedTensor> named;
      named.reserve(computed.size());
      for (const Computed& value : computed) named.push_back(value.tensor);
      if (auto written = package::WriteNpz(output, named); !written)
        throw MisuseError(written.error().message);
    }
    if (!compare.path.empty()) {
      auto expected = ReadExpected(prepared, compilation.context());
      if (!expected) return Reporter(*this).Report(compilation);
      return AddComparison(computed, std::move(*expected)) ? kSuccess : kInvalid;
    }
    if (output.empty()) AddValues(computed);
    return kSuccess;
  }

  // Reads the tensors of an .npz by name, or the tensor of a .npy or .dat file for the only output.
  std::optional<std::vector<NamedTensor>> ReadExpected(const api::Execution& prepared,
                                                       Context& context) const {
    if (!api::IsTensorFile(compare.path)) {
      const ErrorOr<package::DataSource> source = package::OpenData(compare.path, context);
      if (!source) throw MisuseError(source.error().message);
      return package::ReadNpz(*source, context, {.max_bytes = max_bytes});
    }
    if (prepared.num_outputs != 1)
      throw MisuseError(
          fmt::format("`--compare {}`: the graph has {} outputs; an .npz has a tensor for each, by name",
                      compare.path, prepared.num_outputs));
    const runtime::engine::Port& output = prepared.executable->outputs().front();
    ErrorOr<std::optional<TensorValue>> value = api::ReadTensorFile(compare.path, output, context);
    if (!value) throw MisuseError(value.error().message);
    if (!*value) return std::nullopt;
    return std::vector<NamedTensor>{{output.name, std::move(**value)}};
  }

  // Ignores names if there is one output and one expected tensor.
  void RenameOnly(const std::vector<Computed>& computed, std::vector<NamedTensor>& expected) const {
    const Computed* only = nullptr;
    for (const Computed& value : computed) {
      if (expected.size() != 1 || value.tensor.name == expected.front().name) return;
      if (value.is_output && only != nullptr) return;
      if (value.is_output) only = &value;
    }
    if (only == nullptr) return;
    if (IsText())
      Print("{}: compared with `{}`, the only tensor\n", only->tensor.name, expected.front().name);
    expected.front().name = only->tensor.name;
  }

  // Compares all outputs, but only those dumped values that have an expected tensor.
  bool AddComparison(const std::vector<Computed>& computed, std::vector<NamedTensor> expected) {
    RenameOnly(computed, expected);
    bool all = true;
    Json list = Json::array();
    Json surplus = Json::array();
    for (const Computed& value : computed) {
      const auto is_of_it = [&](const NamedTensor& tensor) { return tensor.name == value.tensor.name; };
      if (!value.is_output && llvm::none_of(expected, is_of_it)) continue;
      Comparison comparison = Compare(value.tensor, expected, compare);
      all = all && comparison.within;
      if (IsText()) WriteStdout(comparison.text);
      list.push_back(std::move(comparison.json));
    }
    for (const NamedTensor& tensor : expected) {
      const auto is_it = [&](const Computed& value) { return value.tensor.name == tensor.name; };
      if (llvm::any_of(computed, is_it)) continue;
      surplus.push_back(tensor.name);
    }
    if (IsText()) PrintSurplus(surplus);
    report["comparison"] = {{"tolerance", compare.tolerance},
                            {"within", all},
                            {"outputs", std::move(list)},
                            {"surplus", std::move(surplus)}};
    return all;
  }

  static void PrintSurplus(const Json& names) {
    constexpr size_t kShown = 3;
    if (names.empty()) return;
    std::vector<std::string> shown(names.begin(),
                                   names.begin() + static_cast<ptrdiff_t>(std::min(kShown, names.size())));
    if (names.size() > kShown) shown.push_back(fmt::format("and {} more", names.size() - kShown));
    Print("{}: no output of {}; not compared\n", fmt::join(shown, ", "),
          names.size() == 1 ? "this name" : "these names");
  }

  void AddValues(const std::vector<Computed>& computed) {
    for (const Computed& reported : computed) {
      const TensorValue& value = reported.tensor.value;
      const ValueSummary summary = Summarize(value);
      if (IsText()) {
        Print("{} {}{}: {}{}\n", reported.tensor.name, Name(value.type()), ToString(value.shape()),
              ToText(summary), reported.is_output ? HighestText(value) : "");
        continue;
      }
      Json entry = {{"name", reported.tensor.name}, {"type", Name(value.type())}, {"shape", value.shape()}};
      if (summary.count > 0) {
        entry.update(Json{{"min", summary.lowest},
                          {"mean", summary.mean},
                          {"max", summary.highest},
                          {"not_finite", summary.not_finite}});
        if (reported.is_output) entry["rows"] = HighestOfRows(value);
      }
      report[reported.is_output ? "outputs" : "values"].push_back(std::move(entry));
    }
  }

  // Returns the highest elements of each row with their positions in the row.
  static Json HighestOfRows(const TensorValue& value) {
    Json rows = Json::array();
    const int64_t length = value.volume() / RowsOf(value);
    for (int64_t row = 0; row < RowsOf(value); ++row) {
      Json top = Json::array();
      for (int64_t at : HighestOfRow(value, row, kTopValues))
        top.push_back(Json{{"index", at}, {"value", value.ElementAsDouble(row * length + at)}});
      rows.push_back(Json{{"top", std::move(top)}});
    }
    return rows;
  }

  void AddStages(const driver::Compilation& compilation, const api::Execution& prepared,
                 double run_milliseconds) {
    const auto add = [&](std::string_view stage, double milliseconds) {
      if (IsText()) Print("{:<8}{}\n", stage, FormatTime(milliseconds));
      report["stages"].push_back(Json{{"stage", std::string(stage)}, {"milliseconds", milliseconds}});
    };
    for (const driver::StageTime& time : compilation.times())
      add(driver::Name(time.stage), time.milliseconds);
    add("plan", prepared.plan_milliseconds);
    add("run", run_milliseconds);
    if (!execution.plan_cache.empty() || execution.tune)
      AddPlanCacheUse(prepared.executable->plan_cache_use());
  }

  void AddPlanCacheUse(const runtime::engine::PlanCacheUse& use) {
    if (IsText()) Print("plan cache: {} found, {} made, {} measured\n", use.found, use.made, use.measured);
    report["plan_cache"] = {{"found", use.found}, {"made", use.made}, {"measured", use.measured}};
  }

  // `peak`: peak arithmetic operations per second of the processor.
  void AddProfile(const std::vector<runtime::engine::StepProfile>& steps, double peak) {
    report["peak_operations_per_second"] = peak;
    report["profile"] = Json::array();
    for (const runtime::engine::StepProfile& step : steps) {
      report["profile"].push_back(Json{{"milliseconds", step.milliseconds},
                                       {"operation", step.operation},
                                       {"name", step.name},
                                       {"shape", step.shape},
                                       {"kernel", step.kernel},
                                       {"operations", step.operations},
                                       {"bytes", step.bytes},
                                       {"implementation", step.implementation},
                                       {"rejected", RejectedBy(step)}});
    }
    if (!IsText()) return;
    PrintProfile(steps, peak);
    if (!verbose) PrintImplementations(steps);
  }

  static Json RejectedBy(const runtime::engine::StepProfile& step) {
    Json rejected = Json::array();
    for (const runtime::kernels::RejectedImplementation& other : step.rejected)
      rejected.push_back(Json{{"implementation", other.id}, {"reason", other.reason.ToString()}});
    return rejected;
  }

  // Adds the implementation of each step, and the reasons why the others of its operation were rejected.
  void AddImplementations(const std::vector<runtime::engine::StepProfile>& steps) {
    report["steps"] = Json::array();
    for (const runtime::engine::StepProfile& step : steps) {
      report["steps"].push_back(Json{{"operation", step.operation},
                                     {"name", step.name},
                                     {"implementation", step.implementation},
                                     {"kernel", step.kernel},
                                     {"rejected", RejectedBy(step)}});
    }
    if (IsText()) PrintImplementations(steps);
  }

  static void PrintImplementations(const std::vector<runtime::engine::StepProfile>& steps) {
    for (const runtime::engine::StepProfile& step : steps) {
      const std::string id = step.implementation.empty() ? "" : fmt::format("{}, ", step.implementation);
      Print("{}{}{}: {}kernel {}\n", step.operation, step.name.empty() ? "" : " ", step.name, id,
            step.kernel);
      for (const runtime::kernels::RejectedImplementation& other : step.rejected)
        Print("    {}: rejected, {}\n", other.id, other.reason.ToString());
    }
  }

  static void PrintProfile(const std::vector<runtime::engine::StepProfile>& steps, double peak) {
    runtime::engine::StepProfile all;
    for (const runtime::engine::StepProfile& step : steps) {
      all.milliseconds += step.milliseconds;
      all.operations += step.operations;
    }
    // 1e6 per millisecond equals 1e9 per second.
    const auto rate = [](double count, double milliseconds) {
      return milliseconds > 0 ? count / milliseconds / 1e6 : 0.0;
    };
    Print("{:>9} {:>6} {:>8} {:>6} {:>7}  {:<32} {:<36} {:<20} {}\n", "ms", "%", "Gop/s", "peak%", "GB/s",
          "operation", "name", "output", "kernel");
    for (const runtime::engine::StepProfile& step : steps) {
      const double speed = rate(step.operations, step.milliseconds);
      Print("{:>9.3f} {:>6.1f} {:>8.1f} {:>6.1f} {:>7.1f}  {:<32} {:<36} {:<20} {}\n", step.milliseconds,
            all.milliseconds > 0 ? 100 * step.milliseconds / all.milliseconds : 0.0, speed,
            1e11 * speed / peak, rate(step.bytes, step.milliseconds), step.operation, step.name,
            ToString(step.shape), step.kernel);
    }
    const double speed = rate(all.operations, all.milliseconds);
    Print("{:>9.3f} {:>6.1f} {:>8.1f} {:>6.1f} {:>7}  all; {:.3g} Gop in all, the peak is {:.1f} Gop/s\n",
          all.milliseconds, 100.0, speed, 1e11 * speed / peak, "", all.operations / 1e9, peak / 1e9);
  }

 private:
  bool IsText() const { return prints_text(); }

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
  command
      ->add_option("--iterations", options->iterations,
                   "with --profile: the number of runs; the least time of each step is printed")
      ->check(Between(1, 100'000))
      ->type_name("N")
      ->needs(profile);
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
      ->excludes(profile);
  command->add_flag("--verbose", options->verbose,
                    "print the time of each stage, the implementation of each step, and why others of its "
                    "operation were rejected");
  command->footer(
      "Examples:\n"
      "  nnefc run model_folder --input input=image.npy --output out.npz --threads 2\n"
      "  nnefc run model_folder --inputs data.npz --dump all -o values.npz\n"
      "  nnefc run net.nnef --random-weights 1 --random-inputs 1 --compare out.npz");
  command->callback([options, &exit_code] { exit_code = options->Run(); });
}

}  // namespace nnefc::cli

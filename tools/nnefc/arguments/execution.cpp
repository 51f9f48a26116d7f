// Options of the commands that execute a model.

#include "tools/nnefc/arguments/execution.h"

#include "fmt/format.h"
#include "tools/api/executable.h"
#include "tools/nnefc/arguments/help.h"
#include "tools/nnefc/arguments/misuse.h"

namespace nnefc::cli {
api::RunOptions ExecutionOptions::run_options(uint64_t max_bytes) const {
  return {.inputs = {.files = inputs,
                     .archive = inputs_npz,
                     .random = random_inputs,
                     .runs = runs,
                     .max_bytes = max_bytes},
          .executable = {.backend = *api::BackendCalled(backend),
                         .precision = *api::PrecisionCalled(precision),
                         .threads = threads,
                         .limits = limits,
                         .plan_cache = plan_cache,
                         .tune = tune,
                         .explains = explains},
          .dump = dump};
}

void AddInputOptions(CLI::App& command, ExecutionOptions& options) {
  command
      .add_option("--input", options.inputs,
                  "NAME=FILE.npy or NAME=FILE.dat: data of an input; the only input needs no NAME=")
      ->type_name("NAME=FILE")
      ->take_all()
      ->expected(1);
  command
      .add_option("--inputs", options.inputs_npz,
                  "an .npz with the data of inputs by name; arrays with the names of results are ignored")
      ->type_name("FILE");
  command
      .add_option("--random-inputs", options.random_inputs, "the seed of random data for the other inputs")
      ->type_name("SEED")
      ->check(NonNegative());
}

void AddExecutionOptions(CLI::App& command, ExecutionOptions& options) {
  AddInputOptions(command, options);
  command
      .add_option("--random-weights", options.random_weights, "the seed of data for variables that have none")
      ->type_name("SEED")
      ->check(NonNegative());
  command.add_option("--backend", options.backend, "the kernels to use")
      ->type_name("WORD")
      ->transform([](std::string word) { return word == "onednn" ? "fast" : word; })
      ->check(OneOf({"reference", "fast"}))
      ->capture_default_str();
  command
      .add_option(
          "--precision", options.precision,
          "exact: sums as the formulas have them; f32: convolutions in fewer multiplications, too; bf16: "
          "products of bf16, where the processor has fast ones; auto: bf16 there, f32 elsewhere")
      ->type_name("WORD")
      ->check(OneOf({"exact", "f32", "bf16", "auto"}))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "threads to use; 0 is as many as the process may")
      ->type_name("N")
      ->check(Between(0, 1024))
      ->capture_default_str();
  command
      .add_option("--plan-cache", options.plan_cache,
                  "a folder that keeps what planning a model takes long for, for the next processes; made if "
                  "there is none")
      ->type_name("FOLDER");
  command.add_flag(
      "--tune", options.tune,
      "measure which way of each step is the fastest here, in up to a minute; --plan-cache keeps it for "
      "runs without --tune, too");
  command.add_option("--max-iterations", options.limits.iterations, "iterations of all loops of a run")
      ->type_name("N")
      ->check(NonNegative())
      ->capture_default_str()
      ->group(kLimitGroup);
  command
      .add_option("--max-memory", options.limits.bytes,
                  "bytes of all values of a run; 0 is the machine's memory")
      ->type_name("N")
      ->capture_default_str()
      ->group(kLimitGroup);
}

std::optional<api::Execution> Prepare(api::Program& program, const ExecutionOptions& options,
                                      uint64_t max_bytes) {
  const Progress progress(program);
  return Require(program.Prepare(options.run_options(max_bytes)));
}

}  // namespace nnefc::cli

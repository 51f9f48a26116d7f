#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/api/program.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

// Options of the commands that execute a model.
struct ExecutionOptions {
  std::vector<std::string> inputs;  // NAME=FILE
  std::string inputs_npz;
  std::optional<uint64_t> random_inputs;
  int64_t runs = 0;  // runs of one session; see api::InputSources
  std::optional<uint64_t> random_weights;
  std::vector<std::string> dump;  // values to compute in addition to the outputs; see api::FindValues
  std::string backend = "fast";
  std::string precision = "f32";
  int threads = 0;
  std::string plan_cache;
  bool tune = false;
  bool explains = false;  // see runtime::engine::ExecutableOptions
  runtime::engine::RunLimits limits;

  // Returns the settings of a run; `max_bytes` limits the unpacked size of an .npz.
  api::RunOptions run_options(uint64_t max_bytes) const;
};

// Adds the options for input data; the second function adds all execution options.
void AddInputOptions(CLI::App& command, ExecutionOptions& options);
void AddExecutionOptions(CLI::App& command, ExecutionOptions& options);

// Compiles, plans and collects the inputs with a progress display (Program::Prepare). Returns nothing after
// an error was emitted to the compilation's context. Throws MisuseError for options that do not fit the
// model.
[[nodiscard]] std::optional<api::Execution> Prepare(api::Program& program, const ExecutionOptions& options,
                                                    uint64_t max_bytes);

}  // namespace nnefc::cli

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/package/npz.h"
#include "runtime/engine/executable.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

// Options of the commands that execute a model.
struct ExecutionOptions {
  std::vector<std::string> inputs;  // NAME=FILE
  std::string inputs_npz;
  std::optional<uint64_t> random_inputs;
  std::optional<uint64_t> random_weights;
  std::vector<std::string> dump;  // values to compute in addition to the outputs; see FindValues
  std::string backend = "fast";
  std::string precision = "f32";
  int threads = 0;
  std::string plan_cache;
  bool tune = false;
  bool explains = false;  // see runtime::ExecutableOptions
  runtime::RunLimits limits;

  runtime::ExecutableOptions executable_options() const;
};

// Adds the options for input data; the second function adds all execution options.
void AddInputOptions(CLI::App& command, ExecutionOptions& options);
void AddExecutionOptions(CLI::App& command, ExecutionOptions& options);

// Opens a data file; throws MisuseError if the system cannot open it.
DataSource OpenInput(const std::string& path, Context& context);

// Returns whether a path ends in .npy or .dat.
bool IsTensorFile(const std::string& path);
// Reads such a file as data for `port`; returns nothing after an error was emitted.
[[nodiscard]] std::optional<TensorValue> ReadTensorFile(const std::string& path, const runtime::Port& port,
                                                        Context& context);

// A model prepared for execution, with its inputs.
struct Execution {
  std::shared_ptr<const runtime::Executable> executable;
  std::unique_ptr<runtime::Session> session;
  std::vector<TensorValue> inputs;
  size_t num_outputs = 0;  // outputs of the model; dumped values follow them
  double plan_milliseconds = 0;
};

// Compiles, plans and collects the inputs. Returns nothing after an error was emitted to the compilation's
// context. `max_bytes` limits the unpacked size of an .npz.
[[nodiscard]] std::optional<Execution> Prepare(Compilation& compilation, const ExecutionOptions& options,
                                               uint64_t max_bytes);

}  // namespace nnefc::cli

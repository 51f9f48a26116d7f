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
  std::vector<std::string> dump;  // values to compute beside the outputs; see FindValues
  std::string backend = "onednn";
  std::string precision = "f32";
  int threads = 0;
  std::string plan_cache;
  bool tune = false;
  runtime::RunLimits limits;

  runtime::ExecutableOptions executable_options() const;
};

// Adds to a command what tells the data of inputs; the second all of them.
void AddInputOptions(CLI::App& command, ExecutionOptions& options);
void AddExecutionOptions(CLI::App& command, ExecutionOptions& options);

// Opens a file of data; throws MisuseError if the system cannot.
DataSource OpenInput(const std::string& path, Context& context);

// Whether a name ends as a .npy or .dat file does.
bool IsTensorFile(const std::string& path);
// Reads such a file as data for `port`; nothing if a mistake was emitted.
[[nodiscard]] std::optional<TensorValue> ReadTensorFile(const std::string& path, const runtime::Port& port,
                                                        Context& context);

// A model that is ready to run, with its inputs.
struct Execution {
  std::shared_ptr<const runtime::Executable> executable;
  std::unique_ptr<runtime::Session> session;
  std::vector<TensorValue> inputs;
  size_t num_outputs = 0;  // those of the model: what is dumped comes behind them
  double plan_milliseconds = 0;
};

// Compiles, plans and gathers the inputs; nothing if a mistake was emitted to
// the compilation's context.
// `max_bytes` bounds the unpacked size of an .npz.
[[nodiscard]] std::optional<Execution> Prepare(Compilation& compilation, const ExecutionOptions& options,
                                               uint64_t max_bytes);

}  // namespace nnefc::cli

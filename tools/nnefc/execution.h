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
  std::string backend = "onednn";
  int threads = 0;
  runtime::RunLimits limits;

  runtime::ExecutableOptions executable_options() const;
};

void AddExecutionOptions(CLI::App& command, ExecutionOptions& options);

// Opens a file of data; throws MisuseError if the system cannot.
DataSource OpenInput(const std::string& path, Context& context);

// A model that is ready to run, with its inputs.
struct Execution {
  std::shared_ptr<const runtime::Executable> executable;
  std::unique_ptr<runtime::Session> session;
  std::vector<TensorValue> inputs;
  double plan_milliseconds = 0;
};

// Compiles, plans and gathers the inputs; nothing if a mistake was emitted to
// the compilation's context.
// `max_bytes` bounds the unpacked size of an .npz.
std::optional<Execution> Prepare(Compilation& compilation, const ExecutionOptions& options,
                                 uint64_t max_bytes);

// How an output differs from what is expected of it.
struct Comparison {
  std::string name;
  bool within = false;
  std::optional<double> difference;  // max|a-b| / max|b|, where the shapes agree
  std::string text;                  // a line or two
};

// Compares each output with the tensor of its name in an .npz. A tensor there
// that is no output is told, and no fault.
std::vector<Comparison> Compare(const std::vector<runtime::Port>& ports,
                                const std::vector<TensorValue>& outputs,
                                const std::vector<NamedTensor>& expected, const std::string& tolerance);

// What is told of the values of an output.
struct ValueSummary {
  int64_t count = 0;
  double lowest = 0;
  double mean = 0;
  double highest = 0;
  int64_t not_finite = 0;
  std::vector<std::pair<int64_t, double>> top;  // the highest, with their indices
};
ValueSummary Summarize(const TensorValue& value);
// "min -0.1, mean 0.2, max 3; top [281] 0.3 .."
std::string ToText(const ValueSummary& summary);

}  // namespace nnefc::cli

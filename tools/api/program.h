#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/driver/reported_diagnostics.h"
#include "compiler/support/error_or.h"
#include "runtime/engine/executable.h"
#include "tools/api/model.h"
#include "tools/api/values/gather_inputs.h"

namespace nnefc::api {

// The settings of a run.
struct RunOptions {
  InputSources inputs;
  // The backend and the limits. The kernels of plug-ins are added to it.
  runtime::engine::ExecutableOptions executable;
  // Values to compute in addition to the outputs; see FindValues.
  std::vector<std::string> dump;
};

// Returns the compiler's options for a model. `plugins` are those of its extensions, loaded once for several
// models.
driver::CompileOptions ToCompileOptions(const ModelOptions& options,
                                        std::shared_ptr<const plugin::Plugins> plugins);

// A graph planned for execution: the stage after `Lowered`.
struct [[nodiscard]] Planned {
  std::shared_ptr<const runtime::engine::Executable> executable;  // null after an error
  bool complete = false;
  std::vector<nnefc::Diagnostic> diagnostics;
};

// Whether plans run the transformations of the target phase.
enum class TargetPhase : uint8_t { kRun, kSkip };

// A planned model with the data of its inputs.
struct Execution {
  std::shared_ptr<const runtime::engine::Executable> executable;
  std::unique_ptr<runtime::engine::Session> session;
  std::vector<TensorValue> inputs;
  size_t num_outputs = 0;  // outputs of the model; dumped values follow them
  double plan_milliseconds = 0;
};

// Returns the minimum time of each step over several runs in a new, warmed-up session. If loops and branches
// cause different steps in each run, the last run counts. Empty if a run fails.
std::vector<runtime::engine::StepProfile> WarmProfile(const Execution& execution, int iterations);

// The path from a model to numbers: its compilation with options, limits and plug-ins, its executables and
// the data of its inputs. The C and C++ interface, Python and all commands use it.
class Program {
 public:
  Program(std::string path, driver::CompileOptions options);

  driver::Compilation& compilation() { return compilation_; }
  const driver::Compilation& compilation() const { return compilation_; }
  // Sets a function that is called at the start of each stage with its name.
  void set_observer(std::function<void(std::string_view)> observer);

  // Returns the diagnostics of the compilation so far, prepared for the user.
  driver::ReportedDiagnostics CollectDiagnostics() const { return driver::CollectDiagnostics(compilation_); }

  // Runs the stages up to expansion. Emits errors for unknown operations. Returns true on success.
  [[nodiscard]] bool Expand();
  // Checks the data of the variables of an expanded model: those passed in the options, or else the tensor
  // files. Returns true if there is no error.
  [[nodiscard]] bool CheckData();
  // Does both.
  [[nodiscard]] bool Check() { return Expand() && CheckData(); }
  // Prepares the lowered graph, or another graph made of it.
  Planned Plan(const runtime::engine::ExecutableOptions& options,
               std::shared_ptr<const ir::Graph> graph = nullptr, TargetPhase target = TargetPhase::kRun);
  // Compiles, plans and reads the inputs. Returns no value after an error was emitted, and an error for
  // sources of inputs or names of values that do not fit the model, and for unreadable files.
  ErrorOr<std::optional<Execution>> Prepare(const RunOptions& options);
  // Runs a prepared model: once, or `runs` times in turn if that is not 0 (RunInTurn). Emits warnings and
  // faults, and returns nothing after a fault.
  [[nodiscard]] std::optional<std::vector<TensorValue>> Run(const Execution& execution, int64_t runs = 0);

 private:
  // Sets unknown extents of externals (P 4.1.1) to those of the data, so that the graph is made for them. The
  // value is false after an error was emitted.
  ErrorOr<bool> SetOpenExtents(const InputSources& sources);
  // Emits one error for all constants without data, which the text form of a graph may omit.
  [[nodiscard]] bool RequireConstants();

  bool has_passed_data_;
  std::optional<uint64_t> random_weights_;
  driver::Compilation compilation_;
  std::function<void(std::string_view)> observer_;
};

}  // namespace nnefc::api

#pragma once

// Internal state of the public classes; not installed.

#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/driver/data/variable_data.h"
#include "compiler/driver/reported_diagnostics.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/executable.h"
#include "tools/api/differences/graph_outline.h"
#include "tools/api/executable.h"
#include "tools/api/model.h"
#include "tools/api/port.h"
#include "tools/api/program.h"
#include "tools/api/report.h"
#include "tools/api/tensor.h"

namespace nnefc::api {

// Texts are rendered with the report, because another thread may add sources to their manager afterwards.
struct Report::State {
  std::vector<Diagnostic> diagnostics;
  size_t error_count = 0;
  bool environment_failed = false;
  std::string text;
  std::string colored;
  std::string json;
  std::string sarif;
};

struct Tensor::State {
  explicit State(TensorValue tensor);

  TensorValue value;
  std::vector<int64_t> shape;
};

// Moves the diagnostics reported so far to a report; the next one starts empty.
Report TakeReport(driver::Compilation& compilation);
Report TakeReport(Context& context);
// Returns a report with one environment error, without a source range.
Report EnvironmentReport(std::string message);

// Return the interface's form of a tensor (the bytes are shared), and of an input or output.
Tensor ToTensor(TensorValue value);
Port ToPort(const std::string& name, ElementType type, const ir::PartialShape& shape);

// Calls `work`. Running out of memory becomes a report.
template <typename Work>
auto Guard(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    if constexpr (std::is_same_v<decltype(work()), Report>)
      return EnvironmentReport("memory is short");
    else
      return {.value = std::nullopt, .report = EnvironmentReport("memory is short")};
  }
}

// The contents of a graph as opened, because lowering modifies it.
struct Contents {
  std::vector<Operation> operations;
  std::vector<Variable> variables;
  // Constants of OpenVINO IR by label, in place in its file. Those of NNEF are read by `store`.
  std::map<std::string, TensorValue> constants;
  std::map<std::string, ir::Origin> origins;
  std::optional<driver::VariableStore> store;
  // Of a graph that lowering replaces: a model that is not a document.
  std::optional<GraphOutline> outline;
};

struct Model::State {
  std::string path;
  driver::CompileOptions options;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();  // guards the members below
  // Expanded when the model is created, lowered on demand.
  std::shared_ptr<Program> program;
  Report not_lowered;  // errors if it cannot be lowered
  std::unique_ptr<Contents> contents;

  driver::Compilation& compilation() const { return program->compilation(); }
};

// Returns the compiler's options for a model that is executed, with its plug-ins.
driver::CompileOptions ToCompileOptions(const ModelOptions& options);
// Returns the contents of a model; created before it is lowered. The caller holds its mutex.
Contents& ContentsOf(Model::State& state);

struct Executable::State {
  std::shared_ptr<Program> program;   // owns the graph's names and source ranges
  std::shared_ptr<std::mutex> mutex;  // guards reading and adding its texts
  std::shared_ptr<const runtime::engine::Executable> executable;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

struct Session::State {
  std::shared_ptr<const Executable::State> executable;
  std::unique_ptr<runtime::engine::Session> session;
};

}  // namespace nnefc::api

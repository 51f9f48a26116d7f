#pragma once

// What the face holds behind its classes; not installed.

#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/driver/told.h"
#include "compiler/driver/variable_data.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/executable.h"
#include "tools/api/executable.h"
#include "tools/api/model.h"
#include "tools/api/port.h"
#include "tools/api/report.h"
#include "tools/api/tensor.h"

namespace nnefc::api {

// Renderings are made with the report: texts may be added to their manager by
// another thread afterwards.
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

// Takes what was said so far: the next report begins anew.
Report TakeReport(Compilation& compilation);
Report TakeReport(Context& context);
// The environment failed: one error without a place.
Report EnvironmentReport(std::string message);

Tensor ToTensor(TensorValue value);
Port ToPort(const std::string& name, ElementType type, const ir::PartialShape& shape);

// Calls `work`; memory that is short becomes a report.
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

// What a graph consists of, as it was opened: lowering changes it.
struct Contents {
  std::vector<Operation> operations;
  std::vector<Variable> variables;
  // By label; those of OpenVINO IR, as they lie in its file, the others are read by `store`.
  std::map<std::string, TensorValue> constants;
  std::map<std::string, ir::Origin> origins;
  std::optional<VariableStore> store;
};

struct Model::State {
  std::string path;
  CompileOptions options;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();  // of what follows
  // Expanded when the model is made, lowered when that is asked for.
  std::shared_ptr<Compilation> compilation;
  Report not_lowered;  // why it cannot be lowered
  std::unique_ptr<Contents> contents;
};

CompileOptions ToCompileOptions(const ModelOptions& options);
// The contents of a model whose mutex is held; made before it is lowered.
Contents& ContentsOf(Model::State& state);

struct Executable::State {
  std::shared_ptr<Compilation> compilation;  // owns the graph's names and places
  std::shared_ptr<std::mutex> mutex;         // held to read or add texts of it
  std::shared_ptr<const runtime::Executable> executable;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
};

struct Session::State {
  std::shared_ptr<const Executable::State> executable;
  std::unique_ptr<runtime::Session> session;
};

}  // namespace nnefc::api

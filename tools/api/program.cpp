// The path from a model to numbers.

#include "tools/api/program.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "compiler/driver/data/variable_data.h"
#include "compiler/ir/algorithms/copy.h"
#include "compiler/openvino/read.h"
#include "fmt/format.h"
#include "runtime/kernels/rules.h"
#include "tools/api/runs_in_turn.h"
#include "tools/api/values/dumped_values.h"

namespace nnefc::api {

std::vector<runtime::engine::StepProfile> WarmProfile(const Execution& execution, int iterations) {
  constexpr int kWarmUpRuns = 2;
  const auto session = runtime::engine::Session::Create(execution.executable);
  if (session == nullptr) return {};  // a build without the runtime
  for (int i = 0; i < kWarmUpRuns; ++i) {
    if (!session->Run(execution.inputs)) return {};
  }
  session->EnableProfile(true);
  std::vector<runtime::engine::StepProfile> least;
  for (int i = 0; i < iterations; ++i) {
    if (!session->Run(execution.inputs)) return {};
    std::vector<runtime::engine::StepProfile> steps = session->profile();
    for (size_t k = 0; k < steps.size() && steps.size() == least.size(); ++k) {
      if (steps[k].name == least[k].name)
        steps[k].milliseconds = std::min(steps[k].milliseconds, least[k].milliseconds);
    }
    least = std::move(steps);
  }
  return least;
}

namespace {

// Adds an axis for the data of several runs to the shapes of inputs.
void AddRunAxis(std::vector<runtime::engine::Port>& ports, int64_t runs) {
  for (runtime::engine::Port& port : ports) {
    if (!port.shape.rank_known()) continue;
    llvm::SmallVector<ir::Dim, 4> dims = {ir::Dim(runs)};
    llvm::append_range(dims, port.shape.dims());
    port.shape = ir::PartialShape(llvm::ArrayRef<ir::Dim>(dims));
  }
}

}  // namespace

Program::Program(std::string path, driver::CompileOptions options)
    : has_passed_data_(!options.data.empty()),
      random_weights_(options.random_weights),
      compilation_(std::move(path), std::move(options)) {}

void Program::set_observer(std::function<void(std::string_view)> observer) {
  observer_ = std::move(observer);
  compilation_.set_observer(
      observer_ == nullptr ? nullptr : std::function<void(driver::Stage)>([this](driver::Stage stage) {
        observer_(driver::Name(stage));
      }));
}

bool Program::Expand() {
  if (!compilation_.RunUntil(driver::Stage::kExpand)) return false;
  return compilation_.format() == driver::ModelFormat::kNnef ||
         openvino::RequireKnownOperations(compilation_.graph(), compilation_.context().emitter);
}

bool Program::CheckData() {
  const package::ModelContainer* model = compilation_.model();
  if (model == nullptr) return true;
  const driver::QuantizationTable& quantization = compilation_.quantization().table;
  if (has_passed_data_) {
    driver::CheckPassedData(*compilation_.expanded(), *model, quantization, random_weights_,
                            compilation_.context());
  } else {
    driver::CheckVariableFiles(*compilation_.expanded(), *model, quantization,
                               compilation_.expansion().is_trial(), compilation_.context());
  }
  return !compilation_.context().emitter.has_errors();
}

Planned Program::Plan(const runtime::engine::ExecutableOptions& options,
                      std::shared_ptr<const ir::Graph> graph, TargetPhase target) {
  runtime::engine::ExecutableOptions with_plugins = options;
  with_plugins.add_kernels = [plugins = compilation_.plugins()](runtime::kernels::KernelRegistry& kernels) {
    plugins->AddKernels(kernels);
  };
  if (target == TargetPhase::kRun) {
    with_plugins.transform = [pipeline = compilation_.target_pipeline()](
                                 const std::vector<std::string>& names, const ir::PlanFunctions& functions,
                                 ir::Graph& transformed, Emitter& emitter) {
      return pipeline->Run(names, functions, transformed, emitter);
    };
  }
  if (graph == nullptr) graph = compilation_.lowered();
  Context& context = compilation_.context();
  Context own(context, context.emitter.room());
  Planned planned;
  planned.executable = runtime::engine::Executable::Create(std::move(graph), with_plugins, own.emitter);
  planned.complete = planned.executable != nullptr;
  planned.diagnostics = own.emitter.diagnostics();
  context.emitter.Take(std::move(own.emitter));
  return planned;
}

ErrorOr<bool> Program::SetOpenExtents(const InputSources& sources) {
  if (sources.files.empty() && sources.archive.empty()) return true;
  if (sources.runs > 0) return true;  // each run may have others
  if (!compilation_.RunUntil(driver::Stage::kExpand)) return false;
  const ir::Graph* graph = compilation_.expanded();
  if (graph == nullptr) return true;
  std::vector<runtime::engine::Port> ports;
  std::map<std::string, Shape> known;
  bool is_open = false;
  for (ir::NodeId id : graph->parameters()) {
    const ir::Output& output = graph->node(id).output();
    const auto& open_shapes = compilation_.expansion().open_shapes;
    const auto found = open_shapes.find(output.names.front());
    const ir::PartialShape& shape = found == open_shapes.end() ? output.shape : found->second;
    ports.push_back({driver::NewName(compilation_.renames(), output.names.front()), output.type, shape, {}});
    is_open |= !shape.extents();
  }
  if (!is_open) return true;
  std::vector<std::string> results;
  for (ir::NodeId id : graph->results())
    results.push_back(driver::NewName(compilation_.renames(), graph->node(id).name()));
  auto shapes =
      InputGatherer(sources, ports, std::move(results), /*may_reshape=*/true, compilation_.context())
          .ShapesOfOpenInputs();
  if (!shapes) return shapes.error();
  for (ir::NodeId id : graph->parameters()) {
    // Externals have the names of the document.
    const std::string& name = graph->node(id).output().names.front();
    auto entry = shapes->extract(driver::NewName(compilation_.renames(), name));
    if (entry.empty()) continue;
    entry.key() = name;
    known.insert(std::move(entry));
  }
  if (!known.empty()) compilation_.SetInputShapes(known);
  return !compilation_.context().emitter.has_errors();
}

bool Program::RequireConstants() {
  if (compilation_.format() != driver::ModelFormat::kGraphText) return true;
  const ir::Graph& graph = *compilation_.lowered();
  std::vector<const ir::Node*> missing;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.Is(ir::OpRole::kConst) && !node.output().value) missing.push_back(&node);
  }
  if (missing.empty()) return true;
  compilation_.context().emitter.Emit(
      runtime::kernels::kConstantWithoutData, missing.front()->origin().range,
      "the constant `{}` has no data{}: the graph was written without; `nnefc compile MODEL --random-weights "
      "SEED -o "
      "net.ir` "
      "keeps those that the seed makes",
      missing.front()->name(),
      missing.size() == 1 ? "" : fmt::format(" and neither have {} more", missing.size() - 1));
  return false;
}

ErrorOr<std::optional<Execution>> Program::Prepare(const RunOptions& options) {
  Context& context = compilation_.context();
  const ErrorOr<bool> are_known = SetOpenExtents(options.inputs);
  if (!are_known) return are_known.error();
  if (!*are_known) return std::optional<Execution>();
  if (!compilation_.RunUntil(driver::Stage::kLower) ||
      !openvino::RequireKnownOperations(*compilation_.lowered(), context.emitter) || !RequireConstants())
    return std::optional<Execution>();
  if (observer_) observer_("plan");
  const auto start = std::chrono::steady_clock::now();
  std::shared_ptr<const ir::Graph> graph = compilation_.lowered();
  const size_t num_outputs = graph->results().size();
  if (!options.dump.empty()) {
    ErrorOr<std::vector<DumpedValue>> values = FindValues(compilation_, options.dump);
    if (!values) return values.error();
    std::vector<ir::NamedPort> kept;
    for (DumpedValue& value : *values) kept.emplace_back(std::move(value.name), value.port);
    graph = ir::Clone(*graph, kept);
  }
  Planned planned = Plan(options.executable, std::move(graph));
  if (!planned.complete) return std::optional<Execution>();
  std::vector<std::string> results;
  for (size_t i = 0; i < num_outputs; ++i) results.push_back(planned.executable->outputs()[i].name);
  std::vector<runtime::engine::Port> ports = planned.executable->inputs();
  if (options.inputs.runs > 0) AddRunAxis(ports, options.inputs.runs);
  auto inputs = InputGatherer(options.inputs, ports, std::move(results),
                              compilation_.format() == driver::ModelFormat::kNnef, context)
                    .Gather();
  if (!inputs) return inputs.error();
  if (!*inputs) return std::optional<Execution>();
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  Execution execution{.executable = planned.executable,
                      .session = runtime::engine::Session::Create(planned.executable),
                      .inputs = std::move(**inputs),
                      .num_outputs = num_outputs,
                      .plan_milliseconds = elapsed.count()};
  return std::optional<Execution>(std::move(execution));
}

std::optional<std::vector<TensorValue>> Program::Run(const Execution& execution, int64_t runs) {
  auto results = runs == 0 ? execution.session->Run(execution.inputs)
                           : RunInTurn(*execution.session, execution.inputs, runs);
  Emitter& emitter = compilation_.context().emitter;
  execution.executable->TakeWarnings(emitter);
  if (results) return std::move(*results);
  runtime::kernels::Emit(results.error(), emitter);
  return std::nullopt;
}

}  // namespace nnefc::api

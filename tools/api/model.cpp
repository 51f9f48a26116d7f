// The C++ interface's models.

#include "tools/api/model.h"

#include <algorithm>
#include <mutex>

#include "compiler/expand/print/flat.h"
#include "compiler/ir/text/text.h"
#include "compiler/openvino/write.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "fmt/core.h"
#include "runtime/fast/register.h"
#include "runtime/onednn/onednn.h"
#include "tools/api/forms/openvino_form.h"
#include "tools/api/internals.h"
#include "tools/api/values/evaluator.h"

namespace nnefc::api {

using driver::CompileOptions;

namespace {

std::optional<ast::Dialect> ToDialect(Dialect dialect) {
  if (dialect == Dialect::kProvisional) return ast::Dialect::kProvisional;
  if (dialect == Dialect::kRatified) return ast::Dialect::kRatified;
  return std::nullopt;
}

semantics::Leniency ToLeniency(Reading reading) {
  if (reading == Reading::kStrict) return semantics::Leniency::kStrict;
  return reading == Reading::kLenient ? semantics::Leniency::kLenient : semantics::Leniency::kAuto;
}

}  // namespace

CompileOptions ToCompileOptions(const ModelOptions& options, std::shared_ptr<const plugin::Plugins> plugins) {
  CompileOptions compile;
  compile.dialect = ToDialect(options.dialect);
  compile.leniency = ToLeniency(options.reading);
  compile.graph = options.graph;
  for (const auto& [name, shape] : options.input_shapes)
    compile.input_shapes[name] = Shape(shape.begin(), shape.end());
  compile.quantize = options.quantize;
  compile.random_weights = options.random_weights;
  for (const auto& [label, tensor] : options.data)
    compile.data.emplace(package::WithoutSlashes(label), tensor.state().value);
  compile.transform.enabled = options.enabled_transformations;
  compile.transform.disabled = options.disabled_transformations;
  compile.transform.configuration = options.transformations_configuration;
  compile.open.max_bytes = options.max_bytes;
  compile.plugins = std::move(plugins);
  compile.evaluate = EvaluatorOf(compile.plugins);
  return compile;
}

CompileOptions ToCompileOptions(const ModelOptions& options) {
  CompileOptions compile = ToCompileOptions(options, plugin::Plugins::Load(options.extensions));
  compile.executes = true;
  return compile;
}

namespace {

Report Check(const std::string& path, CompileOptions options) {
  return Guard([&]() -> Report {
    options.purpose = expand::Purpose::kValidate;
    Program program(path, std::move(options));
    (void)program.Check();  // errors are in the report
    return TakeReport(program.compilation());
  });
}

Outcome<Model> Open(const std::string& path, CompileOptions options) {
  return Guard([&]() -> Outcome<Model> {
    auto state = std::make_shared<Model::State>();
    state->path = path;
    state->options = options;
    options.open.reads_data = true;
    state->program = std::make_shared<Program>(path, options);
    driver::Compilation& compilation = state->compilation();
    const bool ok = state->program->Expand() && (options.data.empty() || state->program->CheckData());
    Report report = TakeReport(compilation);
    if (!ok) return {.value = std::nullopt, .report = std::move(report)};
    const ir::Graph& graph = compilation.graph();
    for (ir::NodeId id : graph.parameters()) {
      const ir::Output& output = graph.node(id).output();
      state->inputs.push_back(ToPort(graph.node(id).name(), output.type, output.shape));
    }
    for (ir::NodeId id : graph.results()) {
      const ir::Output& output = graph.output(graph.node(id).input(0));
      state->outputs.push_back(ToPort(graph.node(id).name(), output.type, output.shape));
    }
    return {.value = Model(std::move(state)), .report = std::move(report)};
  });
}

// Returns the graph of OpenVINO operations, or null with errors in the report.
std::shared_ptr<const ir::Graph> LoweredGraph(Model::State& state, Report& report) {
  driver::Compilation& compilation = state.compilation();
  if (!state.not_lowered.ok()) {
    report = state.not_lowered;
    return nullptr;
  }
  ContentsOf(state);
  const bool ok = compilation.RunUntil(driver::Stage::kLower);
  report = TakeReport(state.compilation());
  if (ok) return compilation.lowered();
  state.not_lowered = report;
  return nullptr;
}

}  // namespace

std::string Version() {
  return NNEFC_VERSION;
}

std::string DescribeBackend() {
  return runtime::onednn::DescribeOneDnn();
}

Report Check(const std::string& path, const ModelOptions& options) {
  return Check(path, ToCompileOptions(options));
}

Report CheckText(const std::string& name, const std::string& text, const ModelOptions& options) {
  CompileOptions compile = ToCompileOptions(options);
  compile.document = text;
  return Check(name, std::move(compile));
}

Outcome<std::string> Format(const std::string& name, const std::string& text, Dialect dialect) {
  return Guard([&]() -> Outcome<std::string> {
    Context context;
    const FileId file = context.sources.AddText(name, text);
    const auto document = ast::ParseDocument(file, {.dialect = ToDialect(dialect)}, context);
    Outcome<std::string> outcome;
    if (document->complete) outcome.value = ast::PrintDocument(*document, context);
    outcome.report = TakeReport(context);
    return outcome;
  });
}

Outcome<Model> Model::Open(const std::string& path, const ModelOptions& options) {
  return api::Open(path, ToCompileOptions(options));
}

Outcome<Model> Model::FromText(const std::string& name, const std::string& text,
                               const ModelOptions& options) {
  CompileOptions compile = ToCompileOptions(options);
  compile.document = text;
  return api::Open(name, std::move(compile));
}

const std::vector<Port>& Model::inputs() const {
  return state_->inputs;
}

const std::vector<Port>& Model::outputs() const {
  return state_->outputs;
}

Outcome<std::string> Model::Expand(const std::vector<std::string>& lower) const {
  return Guard([&]() -> Outcome<std::string> {
    if (state_->compilation().format() != driver::ModelFormat::kNnef)
      return {.value = std::nullopt,
              .report = EnvironmentReport(fmt::format("`{}` is a graph of OpenVINO operations, "
                                                      "which no document can hold",
                                                      state_->path))};
    CompileOptions options = state_->options;
    options.lower = lower;
    options.purpose = expand::Purpose::kPrint;
    auto compilation = std::make_shared<driver::Compilation>(state_->path, std::move(options));
    Outcome<std::string> outcome;
    if (compilation->RunUntil(driver::Stage::kExpand)) {
      outcome.value = expand::print::PrintFlatDocument(*compilation->expanded(), compilation->library(),
                                                       compilation->context().symbols);
    }
    outcome.report = TakeReport(*compilation);
    return outcome;
  });
}

Outcome<std::string> Model::Lower() const {
  return Guard([&]() -> Outcome<std::string> {
    std::lock_guard lock(*state_->mutex);
    Outcome<std::string> outcome;
    if (LoweredGraph(*state_, outcome.report) == nullptr) return outcome;
    if (const auto graph = state_->compilation().MakeOpenVinoForm()) outcome.value = ir::PrintGraph(*graph);
    return outcome;
  });
}

Report Model::WriteOpenVino(const std::string& path) const {
  return Guard([&]() -> Report {
    if (!path.ends_with(".xml"))
      return EnvironmentReport(fmt::format("`{}`: the name of OpenVINO IR ends in `.xml`", path));
    std::lock_guard lock(*state_->mutex);
    Report report;
    if (LoweredGraph(*state_, report) == nullptr) return report;
    const auto graph = OpenVinoFormOf(state_->compilation(), /*structure_only=*/false);
    if (graph == nullptr) return TakeReport(state_->compilation());
    if (auto written = openvino::WriteOpenVino(*graph, path); !written)
      return EnvironmentReport(written.error().message);
    return report;
  });
}

Outcome<OpenVinoForm> Model::ToOpenVino() const {
  return Guard([&]() -> Outcome<OpenVinoForm> {
    std::lock_guard lock(*state_->mutex);
    Outcome<OpenVinoForm> outcome;
    if (LoweredGraph(*state_, outcome.report) == nullptr) return outcome;
    const auto graph = OpenVinoFormOf(state_->compilation(), /*structure_only=*/false);
    if (graph == nullptr) {
      outcome.report = TakeReport(state_->compilation());
      return outcome;
    }
    openvino::OpenVinoInMemory form = openvino::WriteOpenVinoInMemory(*graph);
    outcome.value.emplace(OpenVinoForm{.xml = std::move(form.xml), .weights_size = form.weights_size});
    for (openvino::PlacedConstant& constant : form.constants)
      outcome.value->constants.emplace_back(constant.offset, ToTensor(std::move(constant.value)));
    return outcome;
  });
}

Outcome<Executable> Model::Compile(const ExecutableOptions& options) const {
  return Guard([&]() -> Outcome<Executable> {
    std::lock_guard lock(*state_->mutex);
    Outcome<Executable> outcome;
    if (LoweredGraph(*state_, outcome.report) == nullptr) return outcome;
    runtime::engine::ExecutableOptions given{.backend = options.backend, .threads = options.threads};
    given.limits.bytes = options.max_memory;
    given.precision = runtime::fast::EffectivePrecision(options.precision);
    given.plan_cache = options.plan_cache;
    given.tune = options.tune;
    auto executable = std::make_shared<Executable::State>();
    executable->program = state_->program;
    executable->mutex = state_->mutex;
    executable->executable = state_->program->Plan(given).executable;
    if (!state_->compilation().context().emitter.diagnostics().empty())
      outcome.report = TakeReport(state_->compilation());
    if (executable->executable == nullptr) return outcome;
    for (const runtime::engine::Port& port : executable->executable->inputs())
      executable->inputs.push_back(ToPort(port.name, port.type, port.shape));
    for (const runtime::engine::Port& port : executable->executable->outputs())
      executable->outputs.push_back(ToPort(port.name, port.type, port.shape));
    outcome.value.emplace(std::shared_ptr<const Executable::State>(std::move(executable)));
    return outcome;
  });
}

}  // namespace nnefc::api

#include "tools/nnefc/execution.h"

#include <chrono>
#include <set>

#include "compiler/driver/rules.h"
#include "compiler/ir/copy.h"
#include "compiler/openvino/read.h"
#include "compiler/package/dat.h"
#include "compiler/package/npy.h"
#include "compiler/package/npz.h"
#include "compiler/package/random.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "runtime/kernels/rules.h"
#include "tools/api/bind_inputs.h"
#include "tools/api/executable.h"
#include "tools/api/make_executable.h"
#include "tools/nnefc/dumped_values.h"
#include "tools/nnefc/misuse.h"

namespace nnefc::cli {
namespace {

bool EndsWith(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

class InputGatherer {
 public:
  InputGatherer(const ExecutionOptions& options, const std::vector<runtime::Port>& ports, uint64_t max_bytes,
                Context& context, bool may_reshape, std::vector<std::string> results)
      : options_(options),
        ports_(ports),
        results_(std::move(results)),
        max_bytes_(max_bytes),
        context_(context),
        may_reshape_(may_reshape) {}

  std::optional<std::vector<TensorValue>> Gather() {
    if (!ReadFiles()) return std::nullopt;
    std::vector<TensorValue> inputs;
    for (const runtime::Port& port : ports_) {
      if (std::optional<TensorValue> value = InputFor(port)) {
        // Aligned once; entries of an archive have arbitrary offsets, and each run would copy them.
        inputs.push_back(value->AlignedToElements());
      }
    }
    if (context_.emitter.has_errors()) return std::nullopt;
    return inputs;
  }

  // Returns the shapes of the data for inputs with unknown extents.
  std::map<std::string, Shape> ShapesOfOpenInputs() {
    std::map<std::string, Shape> shapes;
    if (!ReadFiles()) return shapes;
    for (const runtime::Port& port : ports_) {
      auto given = given_.find(port.name);
      if (given == given_.end() || port.shape.extents()) continue;
      if (api::FitsShape(port.shape, given->second.shape())) shapes[port.name] = given->second.shape();
    }
    return shapes;
  }

 private:
  bool ReadFiles() {
    ReadNamedFiles();
    return options_.inputs_npz.empty() || ReadArchive();
  }

  void ReadNamedFiles() {
    for (const std::string& text : options_.inputs) {
      size_t equals = text.find('=');
      const bool is_only = equals == std::string::npos && ports_.size() == 1;  // a single input needs no name
      if (equals == std::string::npos && !is_only)
        throw MisuseError(fmt::format(
            "`--input {}`: expected NAME=FILE; only the one input of a graph needs no name", text));
      const std::string name = is_only ? ports_.front().name : text.substr(0, equals);
      const runtime::Port* port = api::FindPort(ports_, name);
      if (port == nullptr)
        throw MisuseError(fmt::format("`--input {}`: {}", text, api::NoInput(ports_, name)));
      const std::string path = is_only ? text : text.substr(equals + 1);
      if (!IsTensorFile(path))
        throw MisuseError(fmt::format("`--input {}={}`: expected a .npy or .dat file", name, path));
      if (auto value = ReadTensorFile(path, *port, context_)) {
        given_[port->name] = std::move(*value);
      } else {
        unreadable_.insert(port->name);
      }
    }
  }

  bool ReadArchive() {
    for (std::string_view one : {".npy", ".dat"}) {
      if (!EndsWith(options_.inputs_npz, one)) continue;
      const std::string name = ports_.empty() ? "NAME" : ports_.front().name;
      throw MisuseError(
          fmt::format("`--inputs` takes an .npz; the data of one input are given by `--input {}={}`", name,
                      options_.inputs_npz));
    }
    auto tensors = ReadNpz(OpenInput(options_.inputs_npz, context_), context_, {.max_bytes = max_bytes_});
    if (!tensors) return false;
    for (NamedTensor& tensor : *tensors) {
      const runtime::Port* port = api::FindPort(ports_, tensor.name);
      // NumPy names an unnamed array `arr_0`; it is for the only input.
      if (port == nullptr && tensors->size() == 1 && ports_.size() == 1 && tensor.name == "arr_0")
        port = &ports_.front();
      // Archives of test data also contain the expected results.
      if (port == nullptr && llvm::is_contained(results_, tensor.name)) continue;
      if (port == nullptr) {
        context_.emitter.Emit(kInputUnknown, {}, "`{}`: {}", options_.inputs_npz,
                              api::NoInput(ports_, tensor.name));
        continue;
      }
      given_.try_emplace(port->name, std::move(tensor.value));
    }
    return true;
  }

  std::optional<TensorValue> InputFor(const runtime::Port& port) {
    auto given = given_.find(port.name);
    if (given != given_.end()) {
      if (!api::FitsShape(port.shape, given->second.shape())) {
        context_.emitter.Emit(kInputShape, {}, "the data of input `{}` have shape {}; expected {}{}",
                              port.name, ToString(given->second.shape()), ToString(port.shape),
                              api::ShapeAdvice(port, given->second.shape(), may_reshape_));
        return std::nullopt;
      }
      return api::FitType(given->second, port, context_.emitter);
    }
    if (unreadable_.contains(port.name)) return std::nullopt;
    if (options_.random_inputs) {
      auto shape = port.shape.extents();
      if (shape) {
        TensorValue value =
            RandomTensor(ir::DataRole::kInput, *options_.random_inputs, port.name, port.type, *shape);
        if (!value.valid()) throw std::bad_alloc();
        return value;
      }
      context_.emitter.Emit(
          kInputMissing, {},
          "the shape of input `{}` is {}: `--input-shape {}=...` makes it known for random data", port.name,
          ToString(port.shape), port.name);
      return std::nullopt;
    }
    context_.emitter.Emit(kInputMissing, {},
                          "no data for input `{}` of {}: give `--input {}=FILE`, `--inputs FILE.npz` or "
                          "`--random-inputs SEED`",
                          port.name, FormatType(port.type, port.shape), port.name);
    return std::nullopt;
  }

  const ExecutionOptions& options_;
  const std::vector<runtime::Port>& ports_;
  std::vector<std::string> results_;  // names of the graph's results
  uint64_t max_bytes_;
  Context& context_;
  bool may_reshape_;  // `--input-shape` is available
  std::map<std::string, TensorValue> given_;
  std::set<std::string> unreadable_;  // already reported
};

}  // namespace

DataSource OpenInput(const std::string& path, Context& context) {
  ErrorOr<DataSource> source = OpenData(path, context);
  if (!source) throw MisuseError(source.error().message);
  return *source;
}

bool IsTensorFile(const std::string& path) {
  return EndsWith(path, ".npy") || EndsWith(path, ".dat");
}

std::optional<TensorValue> ReadTensorFile(const std::string& path, const runtime::Port& port,
                                          Context& context) {
  if (EndsWith(path, ".npy")) return ReadNpy(OpenInput(path, context), context.emitter);
  std::optional<DatFile> dat = ReadDat(OpenInput(path, context), context.emitter);
  if (!dat) return std::nullopt;
  // The items of a tensor file are treated as numbers of any other file; logical ones may be 8-bit integers
  // (P 5.2).
  const bool is_plain = dat->coding == DatCoding::kPlain && port.type != ElementType::kBoolean;
  return is_plain ? dat->value : DecodeDat(*dat, port.type, context.emitter);
}

runtime::ExecutableOptions ExecutionOptions::executable_options() const {
  return {.backend = *api::BackendCalled(backend),
          .precision = *api::PrecisionCalled(precision),
          .threads = threads,
          .limits = limits,
          .plan_cache = plan_cache,
          .tune = tune,
          .explains = explains};
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
      ->group("");
  command
      .add_option("--max-memory", options.limits.bytes,
                  "bytes of all values of a run; 0 is the machine's memory")
      ->type_name("N")
      ->capture_default_str()
      ->group("");
}

namespace {

// Determines extents left open by externals (P 4.1.1) from the input data; the graph is created for these
// shapes.
bool SettleOpenExtents(Compilation& compilation, const ExecutionOptions& options, uint64_t max_bytes) {
  if (options.inputs.empty() && options.inputs_npz.empty()) return true;
  if (!RunStages(compilation, Stage::kExpand)) return false;
  const ir::Graph* graph = compilation.expanded();
  if (graph == nullptr) return true;
  std::vector<runtime::Port> ports;
  bool open = false;
  for (ir::NodeId id : graph->parameters()) {
    const ir::Output& output = graph->node(id).output();
    const auto& open_shapes = compilation.expansion().open_shapes;
    const auto found = open_shapes.find(output.names.front());
    const ir::PartialShape& shape = found == open_shapes.end() ? output.shape : found->second;
    ports.push_back({output.names.front(), output.type, shape});
    open |= !shape.extents();
  }
  if (!open) return true;
  Context& context = compilation.context();
  std::vector<std::string> results;
  for (ir::NodeId id : graph->results()) results.push_back(graph->node(id).name());
  const auto shapes =
      InputGatherer(options, ports, max_bytes, context, /*may_reshape=*/true, std::move(results))
          .ShapesOfOpenInputs();
  if (!shapes.empty()) compilation.SetInputShapes(shapes);
  return !context.emitter.has_errors();
}

// Emits one error for all constants without data, which the text form of a graph may omit.
bool RequireConstants(Compilation& compilation) {
  if (compilation.format() != ModelFormat::kGraphText) return true;
  std::vector<const ir::Node*> missing;
  for (ir::NodeId id : compilation.lowered()->nodes()) {
    const ir::Node& node = compilation.lowered()->node(id);
    if (node.Is(ir::OpRole::kConst) && !node.output().value) missing.push_back(&node);
  }
  if (missing.empty()) return true;
  compilation.context().emitter.Emit(
      runtime::kConstantWithoutData, missing.front()->origin().range,
      "the constant `{}` has no data{}: the graph was written without; `nnefc compile MODEL --random-weights "
      "SEED -o "
      "net.ir` "
      "keeps those that the seed makes",
      missing.front()->name(),
      missing.size() == 1 ? "" : fmt::format(" and neither have {} more", missing.size() - 1));
  return false;
}

// Returns the lowered graph, with dumped values as additional results.
std::shared_ptr<const ir::Graph> GraphToRun(const Compilation& compilation,
                                            const std::vector<std::string>& dump) {
  if (dump.empty()) return compilation.lowered();
  std::vector<ir::NamedPort> kept;
  for (DumpedValue& value : FindValues(compilation, dump))
    kept.emplace_back(std::move(value.name), value.port);
  return ir::Clone(*compilation.lowered(), kept);
}

}  // namespace

std::optional<Execution> Prepare(Compilation& compilation, const ExecutionOptions& options,
                                 uint64_t max_bytes) {
  if (!SettleOpenExtents(compilation, options, max_bytes)) return std::nullopt;
  if (!RunStages(compilation, Stage::kLower)) return std::nullopt;
  if (!RequireKnownOperations(*compilation.lowered(), compilation.context().emitter)) return std::nullopt;
  if (!RequireConstants(compilation)) return std::nullopt;
  Progress progress;
  progress.Start(fmt::format("{}: plan", compilation.path()));
  auto start = std::chrono::steady_clock::now();
  Execution execution;
  Context& context = compilation.context();
  execution.executable =
      api::MakeExecutable(GraphToRun(compilation, options.dump), options.executable_options(),
                          compilation.plugins(), context.emitter);
  if (execution.executable == nullptr) return std::nullopt;
  execution.num_outputs = compilation.lowered()->results().size();
  execution.session = runtime::Session::Create(execution.executable);
  std::vector<std::string> results;
  for (size_t i = 0; i < execution.num_outputs; ++i)
    results.push_back(execution.executable->outputs()[i].name);
  auto inputs = InputGatherer(options, execution.executable->inputs(), max_bytes, context,
                              compilation.format() == ModelFormat::kNnef, std::move(results))
                    .Gather();
  if (!inputs) return std::nullopt;
  execution.inputs = std::move(*inputs);
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  execution.plan_milliseconds = elapsed.count();
  return execution;
}

}  // namespace nnefc::cli

// The search for the transformation that changes the outputs of a model.

#include "tools/nnefc/commands/bisect.h"

#include <map>
#include <utility>

#include "compiler/driver/rules.h"
#include "compiler/ir/algorithms/copy.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/api/program.h"
#include "tools/nnefc/output/reporter.h"

namespace nnefc::cli {

using package::NamedTensor;

namespace {

class Bisection {
 public:
  Bisection(const LoweredCommand& command, const ExecutionOptions& execution, const CompareOptions& compare)
      : command_(command), execution_(execution), compare_(compare) {}

  int Run() {
    if (const int exit_code = FindNames(); exit_code != kSuccess) return exit_code;
    const auto without = Outputs(OptionsWith(0));
    if (!without) return exit_code_;
    size_t good = 0, bad = names_.size();
    std::string how = Difference(*without, Outputs(RecordedOptions()));
    if (exit_code_ != kSuccess) return exit_code_;
    if (how.empty()) {
      Print("{} transformations keep the outputs within `{}`\n", names_.size(), compare_.tolerance);
      return kSuccess;
    }
    while (bad - good > 1) {
      const size_t middle = good + (bad - good) / 2;
      const std::string difference = Difference(*without, OutputsAfter(middle));
      if (exit_code_ != kSuccess) return exit_code_;
      if (!difference.empty()) how = difference;
      (difference.empty() ? good : bad) = middle;
    }
    Print(
        "`{}` is the first transformation after which outputs leave the "
        "tolerance\n{}{}",
        names_[bad - 1], how, NodesMade(steps_[names_[bad - 1]]));
    return kInvalid;
  }

 private:
  static constexpr size_t kShownNodes = 20;

  // Finds the enabled transformations in order.
  int FindNames() {
    Context context;
    bool environment_failed = false;
    command_.plugins()->Report(context.emitter, environment_failed);
    const std::optional<transform::TransformationList> list =
        driver::MakeTransformations(command_.transform, *command_.plugins(), context, environment_failed);
    if (const auto order = list ? list->Order(context.emitter) : std::nullopt) {
      for (const transform::Transformation* item : *order) {
        if (item->is_anchor()) continue;
        all_.push_back(item->name());
        if (item->enabled) names_.push_back(item->name());
      }
    }
    return context.emitter.has_errors() ? Reporter(command_).Report("", context, environment_failed)
                                        : kSuccess;
  }

  // Returns options for the model with the first `count` transformations.
  driver::CompileOptions OptionsWith(size_t count) const {
    driver::CompileOptions options = command_.compile_options(command_.models.front());
    options.random_weights = command_.random_weights;
    options.transform = command_.transform;
    options.open.reads_data = true;
    if (count == 0) options.transform.disabled = all_;
    options.transform.pipeline.only.assign(names_.begin(),
                                           names_.begin() + static_cast<std::ptrdiff_t>(count));
    return options;
  }

  // Returns options that record the graph after each transformation, so that earlier ones need not run again.
  driver::CompileOptions RecordedOptions() {
    driver::CompileOptions options = OptionsWith(names_.size());
    options.transform.pipeline.before = [this](const transform::Transformation& item,
                                               const ir::Graph& graph) {
      steps_[item.name()].bound = graph.node_bound();
    };
    options.transform.pipeline.after = [this](const transform::Transformation& item, const ir::Graph& graph) {
      Step& step = steps_[item.name()];
      for (ir::NodeId id : graph.nodes()) {
        const ir::Node& node = graph.node(id);
        if (static_cast<size_t>(id.index) >= step.bound)
          step.made.push_back(fmt::format("`{}` ({})", node.name(), node.type()));
      }
      // Graphs of the front phase are not lowered yet, and those of the target phase have plans already;
      // their models are compiled again.
      if (item.phase() == transform::Phase::kMiddle || item.phase() == transform::Phase::kBack)
        step.graph = ir::Clone(graph);
    };
    return options;
  }

  // Returns the outputs of a compiled model.
  std::optional<std::vector<NamedTensor>> Outputs(driver::CompileOptions options) {
    auto program = std::make_unique<api::Program>(ShownModel(command_.models.front()), std::move(options));
    driver::Compilation& compilation = program->compilation();
    std::optional<api::Execution> prepared = Prepare(*program, execution_, command_.max_bytes);
    std::optional<std::vector<NamedTensor>> outputs;
    if (prepared) {
      inputs_ = prepared->inputs;
      outputs = Execute(prepared->executable, compilation.context());
    }
    // Diagnostics of the model are reported once.
    if (!std::exchange(is_reported_, true) || compilation.context().emitter.has_errors())
      exit_code_ = Reporter(command_).Report(compilation);
    if (recorded_ == nullptr && !steps_.empty()) recorded_ = std::move(program);
    return exit_code_ == kSuccess ? outputs : std::nullopt;
  }

  // Returns the outputs after the first `count` transformations.
  std::optional<std::vector<NamedTensor>> OutputsAfter(size_t count) {
    const auto step = steps_.find(names_[count - 1]);
    if (step == steps_.end() || step->second.graph == nullptr) return Outputs(OptionsWith(count));
    Context& context = recorded_->compilation().context();
    context.emitter.Clear();  // reported
    std::optional<std::vector<NamedTensor>> outputs;
    const api::Planned planned = recorded_->Plan(execution_.run_options(command_.max_bytes).executable,
                                                 step->second.graph, api::TargetPhase::kSkip);
    if (planned.complete) outputs = Execute(planned.executable, context);
    if (context.emitter.has_errors()) exit_code_ = Reporter(command_).Report("", context, false);
    return outputs;
  }

  std::optional<std::vector<NamedTensor>> Execute(
      const std::shared_ptr<const runtime::engine::Executable>& executable, Context& context) const {
    const auto values = runtime::engine::Session::Create(executable)->Run(inputs_);
    if (!values) {
      runtime::kernels::Emit(values.error(), context.emitter);
      return std::nullopt;
    }
    std::vector<NamedTensor> outputs;
    const std::vector<runtime::engine::Port>& ports = executable->outputs();
    for (size_t i = 0; i < ports.size(); ++i) outputs.push_back({ports[i].name, (*values)[i]});
    return outputs;
  }

  // Describes the differences of the outputs; empty if there are none.
  std::string Difference(const std::vector<NamedTensor>& expected,
                         const std::optional<std::vector<NamedTensor>>& outputs) {
    std::string text;
    if (!outputs) return text;
    for (const NamedTensor& output : *outputs) {
      const Comparison comparison = Compare(output, expected, compare_);
      if (!comparison.within) text += comparison.text;
    }
    return text;
  }

  // The result of a transformation.
  struct Step {
    size_t bound = 0;
    std::shared_ptr<const ir::Graph> graph = nullptr;
    std::vector<std::string> made = {};  // nodes of the outermost graph
  };
  static std::string NodesMade(const Step& step) {
    const std::vector<std::string>& made = step.made;
    if (made.empty()) return "it made no node\n";
    std::string text = fmt::format("it made {} node{}:\n", made.size(), made.size() == 1 ? "" : "s");
    for (const std::string& node : llvm::ArrayRef<std::string>(made).take_front(kShownNodes))
      text += "  " + node + "\n";
    if (made.size() > kShownNodes) text += fmt::format("  and {} more\n", made.size() - kShownNodes);
    return text;
  }

  const LoweredCommand& command_;
  const ExecutionOptions& execution_;
  const CompareOptions& compare_;
  transform::Names all_;
  transform::Names names_;
  std::map<std::string, Step> steps_;       // keyed by name
  std::unique_ptr<api::Program> recorded_;  // owns the operations of the graphs
  std::vector<TensorValue> inputs_;
  bool is_reported_ = false;
  int exit_code_ = kSuccess;
};

}  // namespace

int Bisect(const LoweredCommand& command, const ExecutionOptions& execution, const CompareOptions& compare) {
  return Bisection(command, execution, compare).Run();
}

}  // namespace nnefc::cli

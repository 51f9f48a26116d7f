// The search for the transformation that changes the outputs of a model.

#include "tools/api/values/bisect.h"

#include <map>
#include <utility>

#include "compiler/ir/algorithms/copy.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/api/facts/transformations.h"

namespace nnefc::api {

using package::NamedTensor;

namespace {

class Bisector {
 public:
  explicit Bisector(const BisectOptions& options) : options_(options) {}

  std::optional<Bisection> Run(const std::vector<ListedTransformation>& listed) {
    for (const ListedTransformation& item : listed) {
      if (item.is_anchor) continue;
      all_.push_back(item.name);
      if (item.is_enabled) names_.push_back(item.name);
    }
    const auto without = Outputs(OptionsWith(0));
    if (!without) return std::nullopt;
    size_t good = 0, bad = names_.size();
    Bisection found{.num_transformations = names_.size(),
                    .differences = Difference(*without, Outputs(RecordedOptions()))};
    if (is_stopped_) return std::nullopt;
    if (found.differences.empty()) return found;
    while (bad - good > 1) {
      const size_t middle = good + (bad - good) / 2;
      std::string difference = Difference(*without, OutputsAfter(middle));
      if (is_stopped_) return std::nullopt;
      (difference.empty() ? good : bad) = middle;
      if (!difference.empty()) found.differences = std::move(difference);
    }
    found.transformation = names_[bad - 1];
    found.nodes = steps_[names_[bad - 1]].made;
    return found;
  }

 private:
  // Returns options for the model with the first `count` transformations.
  driver::CompileOptions OptionsWith(size_t count) const {
    driver::CompileOptions options = options_.compile;
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
    auto program = std::make_unique<Program>(options_.model, std::move(options));
    Context& context = program->compilation().context();
    std::optional<Execution> prepared = options_.prepare(*program);
    std::optional<std::vector<NamedTensor>> outputs;
    if (prepared) {
      inputs_ = prepared->inputs;
      outputs = Execute(prepared->executable, context);
    }
    // Diagnostics of the model are reported once.
    if (!std::exchange(is_reported_, true) || context.emitter.has_errors())
      is_stopped_ = !options_.report(*program);
    if (recorded_ == nullptr && !steps_.empty()) recorded_ = std::move(program);
    return is_stopped_ ? std::nullopt : outputs;
  }

  // Returns the outputs after the first `count` transformations.
  std::optional<std::vector<NamedTensor>> OutputsAfter(size_t count) {
    const auto step = steps_.find(names_[count - 1]);
    if (step == steps_.end() || step->second.graph == nullptr) return Outputs(OptionsWith(count));
    Context& context = recorded_->compilation().context();
    context.emitter.Clear();  // reported
    std::optional<std::vector<NamedTensor>> outputs;
    const Planned planned = recorded_->Plan(options_.run.executable, step->second.graph, TargetPhase::kSkip);
    if (planned.complete) outputs = Execute(planned.executable, context);
    if (context.emitter.has_errors()) is_stopped_ = !options_.report(*recorded_);
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
      const Comparison comparison = Compare(output, expected, options_.tolerance);
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

  const BisectOptions& options_;
  transform::Names all_;
  transform::Names names_;
  std::map<std::string, Step> steps_;  // keyed by name
  std::unique_ptr<Program> recorded_;  // owns the operations of the graphs
  std::vector<TensorValue> inputs_;
  bool is_reported_ = false;
  bool is_stopped_ = false;
};

}  // namespace

std::optional<Bisection> Bisect(const BisectOptions& options, Context& context, bool& environment_failed) {
  options.compile.plugins->Report(context.emitter, environment_failed);
  const auto listed =
      ListTransformations(options.compile.transform, *options.compile.plugins, context, environment_failed);
  if (!listed || context.emitter.has_errors()) return std::nullopt;
  return Bisector(options).Run(*listed);
}

}  // namespace nnefc::api

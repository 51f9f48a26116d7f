#include "tools/nnefc/bisect.h"

#include "compiler/driver/rules.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/nnefc/reporter.h"

namespace nnefc::cli {
namespace {

class Bisection {
 public:
  Bisection(const LoweredCommand& command, const ExecutionOptions& execution, const CompareOptions& compare)
      : command_(command), execution_(execution), compare_(compare) {}

  int Run() {
    if (const int exit_code = FindNames(); exit_code != kSuccess) return exit_code;
    const auto without = Outputs(0);
    if (!without) return exit_code_;
    size_t good = 0, bad = names_.size();
    std::string how = Difference(*without, bad);
    if (exit_code_ != kSuccess) return exit_code_;
    if (how.empty()) {
      Print("{} transformations keep the outputs within `{}`\n", names_.size(), compare_.tolerance);
      return kSuccess;
    }
    while (bad - good > 1) {
      const size_t middle = good + (bad - good) / 2;
      const std::string difference = Difference(*without, middle);
      if (exit_code_ != kSuccess) return exit_code_;
      if (!difference.empty()) how = difference;
      (difference.empty() ? good : bad) = middle;
    }
    Print("`{}` is the first transformation after which outputs leave the tolerance\n{}{}", names_[bad - 1],
          how, NodesMade(bad));
    return kInvalid;
  }

 private:
  static constexpr size_t kShownNodes = 20;

  // Those that run, in their order.
  int FindNames() {
    Context context;
    bool environment_failed = false;
    command_.plugins()->Report(context.emitter, environment_failed);
    const transform::TransformationList list =
        MakeTransformations(command_.transform, *command_.plugins(), context, environment_failed);
    if (const auto order = list.Order(context.emitter)) {
      for (const transform::Transformation* item : *order) {
        if (item->is_anchor()) continue;
        all_.push_back(item->name());
        if (item->enabled) names_.push_back(item->name());
      }
    }
    return context.emitter.has_errors() ? Reporter(command_).Report("", context, environment_failed)
                                        : kSuccess;
  }

  // The model with the first so many transformations.
  CompileOptions OptionsWith(size_t count) const {
    CompileOptions options = command_.compile_options(command_.models.front());
    options.random_weights = command_.random_weights;
    options.transform = command_.transform;
    options.open.reads_data = true;
    if (count == 0) options.transform.disabled = all_;
    options.transform.pipeline.only.assign(names_.begin(),
                                           names_.begin() + static_cast<std::ptrdiff_t>(count));
    return options;
  }

  std::optional<std::vector<NamedTensor>> Outputs(size_t count) {
    Compilation compilation(ShownModel(command_.models.front()), OptionsWith(count));
    std::optional<Execution> prepared = Prepare(compilation, execution_, command_.max_bytes);
    std::vector<NamedTensor> outputs;
    if (prepared) {
      const auto values = prepared->session->Run(prepared->inputs);
      if (!values) {
        Emit(values.error(), compilation.context().emitter);
      } else {
        const std::vector<runtime::Port>& ports = prepared->executable->outputs();
        for (size_t i = 0; i < ports.size(); ++i) outputs.push_back({ports[i].name, (*values)[i]});
      }
    }
    // What is the matter with the model is told once.
    if (count == 0 || compilation.context().emitter.has_errors())
      exit_code_ = Reporter(command_).Report(compilation);
    if (exit_code_ != kSuccess) return std::nullopt;
    return outputs;
  }

  // How the outputs after so many transformations differ; "" if they do not.
  std::string Difference(const std::vector<NamedTensor>& expected, size_t count) {
    const auto outputs = Outputs(count);
    std::string text;
    if (!outputs) return text;
    for (const NamedTensor& output : *outputs) {
      const Comparison comparison = Compare(output, expected, compare_);
      if (!comparison.within) text += comparison.text;
    }
    return text;
  }

  // The nodes of the outermost graph that the last of so many transformations made.
  std::string NodesMade(size_t count) const {
    const std::string& name = names_[count - 1];
    CompileOptions options = OptionsWith(count);
    size_t bound = 0;
    std::vector<std::string> made;
    options.transform.pipeline.before = [&](const transform::Transformation& item, const ir::Graph& graph) {
      if (item.name() == name) bound = graph.node_bound();
    };
    options.transform.pipeline.after = [&](const transform::Transformation& item, const ir::Graph& graph) {
      if (item.name() != name) return;
      for (ir::NodeId id : graph.nodes()) {
        const ir::Node& node = graph.node(id);
        if (static_cast<size_t>(id.index) >= bound)
          made.push_back(fmt::format("`{}` ({})", node.name(), node.type()));
      }
    };
    Compilation compilation(ShownModel(command_.models.front()), options);
    RunStages(compilation, Stage::kLower);
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
  int exit_code_ = kSuccess;
};

}  // namespace

int Bisect(const LoweredCommand& command, const ExecutionOptions& execution, const CompareOptions& compare) {
  return Bisection(command, execution, compare).Run();
}

}  // namespace nnefc::cli

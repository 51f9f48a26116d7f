// Checks of the invariants of graphs.

#include "compiler/ir/algorithms/verify.h"

#include <algorithm>

#include "fmt/core.h"
#include "llvm/ADT/DenseSet.h"

namespace nnefc::ir {

namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, std::string prefix, int depth, std::vector<std::string>& violations)
      : graph_(graph), prefix_(std::move(prefix)), depth_(depth), violations_(violations) {}

  void Run() {
    for (NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      if (!CheckInputs(node)) return;  // later checks follow inputs
      CheckArity(node);
      CheckValues(node);
    }
    CheckUses();
    if (!TopologicalOrder(graph_)) Report("the graph has a cycle");
    CheckLists();
    for (NodeId id : graph_.nodes()) CheckBodies(graph_.node(id));
  }

 private:
  template <typename... Args>
  void Report(fmt::format_string<Args...> format, Args&&... args) {
    violations_.push_back(prefix_ + fmt::format(format, std::forward<Args>(args)...));
  }
  static std::string Called(const Node& node) {
    return fmt::format("`{}.{}` \"{}\"", node.set(), node.type(), node.name());
  }

  bool CheckInputs(const Node& node) {
    for (int32_t i = 0; i < node.num_inputs(); ++i) {
      const OutputPort port = node.input(i);
      if (graph_.Contains(port.node) && port.index >= 0 &&
          port.index < graph_.node(port.node).num_outputs()) {
        continue;
      }
      Report("input {} of {} names no output", i, Called(node));
      return false;
    }
    return true;
  }

  // Checks the number of inputs and outputs. Unknown operations declare none.
  void CheckArity(const Node& node) {
    const OpInfo& info = node.info();
    if (&info != &graph_.registry().Info(node.op()))
      Report("{} has another registry's operation", Called(node));
    if (info.infer == nullptr) return;
    if (!node.segments().empty() && node.segments().size() != info.inputs.size()) {
      Report("{} has {} segments; expected {}", Called(node), node.segments().size(), info.inputs.size());
      return;
    }
    size_t assigned = 0;
    for (size_t i = 0; i < info.inputs.size(); ++i) {
      const size_t count = node.segment(static_cast<int32_t>(i)).size();
      assigned += count;
      const InputInfo& input = info.inputs[i];
      if (input.variadic || count == 1 || (count == 0 && input.optional)) continue;
      Report("{} has {} inputs for `{}`; expected 1", Called(node), count, input.name);
    }
    if (assigned != node.inputs().size()) {
      Report("{} has {} inputs; expected {}", Called(node), node.inputs().size(), assigned);
    }
    const bool variadic = !info.outputs.empty() && info.outputs.back().ends_with("[]");
    // A source needs its outputs; shapes of bodies are read from their Parameters.
    const size_t least = info.is_source ? info.outputs.size() : variadic ? info.outputs.size() - 1 : 0;
    const auto outputs = static_cast<size_t>(node.num_outputs());
    if (outputs < least || (!variadic && outputs > info.outputs.size())) {
      Report("{} has {} outputs; expected {}", Called(node), outputs, info.outputs.size());
    }
  }

  void CheckValues(const Node& node) {
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      const Output& output = node.output(i);
      if (!output.value) continue;
      const TensorValue& value = *output.value;
      if (value.valid() && value.type() == output.type && output.shape.known() &&
          output.shape.known_extents() == value.shape()) {
        continue;
      }
      Report("the value of output {} of {} has another type or shape than the output", i, Called(node));
    }
  }

  // Checks that every use refers to an input that reads the output, that no input is listed twice, and that
  // there are as many uses as inputs.
  void CheckUses() {
    llvm::DenseSet<std::pair<int32_t, int32_t>> distinct;
    size_t num_inputs = 0;
    for (NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      num_inputs += node.inputs().size();
      for (int32_t i = 0; i < node.num_outputs(); ++i) {
        for (InputPort use : node.uses(i)) {
          const bool reads = graph_.Contains(use.node) && use.index >= 0 &&
                             use.index < graph_.node(use.node).num_inputs() &&
                             graph_.node(use.node).input(use.index) == node.port(i);
          if (!reads || !distinct.insert({use.node.index, use.index}).second) {
            Report("the uses of output {} of {} do not agree with the inputs", i, Called(node));
          }
        }
      }
    }
    if (distinct.size() != num_inputs)
      Report("{} inputs are in no list of uses", num_inputs - distinct.size());
  }

  void CheckList(std::string_view what, llvm::ArrayRef<NodeId> list, std::vector<bool>& listed) {
    listed.assign(graph_.node_bound(), false);
    for (NodeId id : list) {
      if (!graph_.Contains(id)) {
        Report("the list of {} names a node that does not exist", what);
      } else if (listed[static_cast<size_t>(id.index)]) {
        Report("{} is listed twice among the {}", Called(graph_.node(id)), what);
      } else {
        listed[static_cast<size_t>(id.index)] = true;
      }
    }
  }

  void CheckLists() {
    std::vector<bool> parameters, results, sinks;
    CheckList("parameters", graph_.parameters(), parameters);
    CheckList("results", graph_.results(), results);
    CheckList("sinks", graph_.sinks(), sinks);
    for (NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      const auto index = static_cast<size_t>(id.index);
      const bool is_parameter = node.Is(OpRole::kParameter) || node.Is(OpRole::kExternal);
      if (parameters[index] != is_parameter) {
        Report("{} is {}listed among the parameters", Called(node), is_parameter ? "not " : "");
      }
      const bool is_result = node.Is(OpRole::kResult);
      if (results[index] != is_result) {
        Report("{} is {}listed among the results", Called(node), is_result ? "not " : "");
      }
      if (node.info().is_sink && !sinks[index]) Report("{} is not listed among the sinks", Called(node));
    }
  }

  // ---- bodies ----

  void CheckBodies(const Node& node) {
    for (const Body& body : node.bodies()) {
      if (!MayHaveBodies(node.info())) Report("{} has the body `{}`; expected none", Called(node), body.role);
      const std::string where = fmt::format("{}{} of {}: ", prefix_, body.role, Called(node));
      if (body.graph == nullptr || depth_ >= kMaxBodyNesting) {
        Report("{} of {} {}", body.role, Called(node),
               body.graph == nullptr ? "is missing" : "is nested too deep");
        continue;
      }
      Verifier inner(*body.graph, where, depth_ + 1, violations_);
      inner.Run();
      inner.CheckPortMap(node, body);
    }
  }

  template <typename Mapping>
  static bool CheckSlice(const Node& node, const Mapping& mapping) {
    if (!mapping.axis || node.info().infer == nullptr) return true;
    if (*mapping.axis < 0 || mapping.stride == 0) return false;
    return mapping.part_size > 0 &&
           (mapping.stride == mapping.part_size || -mapping.part_size == mapping.stride);
  }

  // Checks that every parameter is fed once and every output of the node comes from one result. The outer
  // index -1 is a value that a loop itself provides or reads. For unknown operations the map only has to
  // refer to existing ports.
  void CheckPortMap(const Node& node, const Body& body) {
    const auto num_parameters = static_cast<int32_t>(graph_.parameters().size());
    const auto num_results = static_cast<int32_t>(graph_.results().size());
    std::vector<int> fed(static_cast<size_t>(num_parameters), 0);
    std::vector<bool> sliced(static_cast<size_t>(num_parameters), false);
    std::vector<int> made(static_cast<size_t>(node.num_outputs()), 0);
    for (const InputMapping& mapping : body.inputs) {
      if (mapping.external < -1 || mapping.external >= node.num_inputs() || mapping.internal < 0 ||
          mapping.internal >= num_parameters || !CheckSlice(node, mapping)) {
        Report("the port map has a wrong input {} -> {}", mapping.external, mapping.internal);
        continue;
      }
      ++fed[static_cast<size_t>(mapping.internal)];
      sliced[static_cast<size_t>(mapping.internal)] = mapping.axis.has_value();
    }
    for (const OutputMapping& mapping : body.outputs) {
      if (mapping.external < -1 || mapping.external >= node.num_outputs() || mapping.internal < 0 ||
          mapping.internal >= num_results || !CheckSlice(node, mapping)) {
        Report("the port map has a wrong output {} -> {}", mapping.external, mapping.internal);
        continue;
      }
      if (mapping.external >= 0) ++made[static_cast<size_t>(mapping.external)];
    }
    const bool is_known = node.info().infer != nullptr;
    for (size_t i = 0; is_known && i < fed.size(); ++i) {
      if (fed[i] != 1) Report("parameter {} is fed {} times; expected once", i, fed[i]);
    }
    for (size_t i = 0; is_known && i < made.size(); ++i) {
      if (made[i] != 1) Report("output {} is made {} times; expected once", i, made[i]);
    }
    std::vector<bool> merged(static_cast<size_t>(num_parameters), false);
    for (const BackEdge& edge : body.back_edges) {
      const bool exists = edge.result >= 0 && edge.result < num_results && edge.parameter >= 0 &&
                          edge.parameter < num_parameters;
      if (!exists || (is_known && (merged[static_cast<size_t>(edge.parameter)] ||
                                   sliced[static_cast<size_t>(edge.parameter)]))) {
        Report("the back edge {} -> {} is wrong, repeated or leads to a sliced parameter", edge.result,
               edge.parameter);
        continue;
      }
      merged[static_cast<size_t>(edge.parameter)] = true;
    }
  }

  const Graph& graph_;
  std::string prefix_;
  int depth_;
  std::vector<std::string>& violations_;
};

}  // namespace

bool MayHaveBodies(const OpInfo& info) {
  // NNEF extension operations have bodies too; their shape functions check them.
  const bool runs_bodies =
      info.role == OpRole::kIf || info.role == OpRole::kTensorIterator || info.role == OpRole::kLoop;
  return info.infer == nullptr || runs_bodies || !info.set.starts_with(kOpsets);
}

std::vector<std::string> Verify(const Graph& graph) {
  std::vector<std::string> violations;
  Verifier(graph, "", 0, violations).Run();
  return violations;
}

}  // namespace nnefc::ir

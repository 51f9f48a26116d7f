// The check that the types and shapes stored in a graph are those that inference finds.

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "fmt/core.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::ir {

namespace {

constexpr int64_t kLargestComparedValue = 4096;  // elements

bool TypesAgree(ElementType a, ElementType b) {
  return a == ElementType::kDynamic || b == ElementType::kDynamic || a == b;
}

bool ShapesAgree(const PartialShape& a, const PartialShape& b) {
  if (!a.rank_known() || !b.rank_known()) return true;
  if (a.rank() != b.rank()) return false;
  for (int64_t i = 0; i < a.rank(); ++i) {
    if (!a[i].Compatible(b[i])) return false;
  }
  return true;
}

std::string Text(const Output& output) {
  return fmt::format("{}{}", Name(output.type), ToString(output.shape));
}

class InferredVerifier {
 public:
  InferredVerifier(std::string prefix, int depth, std::vector<std::string>& violations)
      : prefix_(std::move(prefix)), depth_(depth), violations_(violations) {}

  void CheckNames(const Graph& graph) {
    CheckNames(graph, "parameters", graph.parameters());
    CheckNames(graph, "results", graph.results());
  }

  // Verifies the nodes of a graph. Recursion into bodies is limited by kMaxBodyNesting.
  void Run(const Graph& graph) {
    for (NodeId id : graph.nodes()) {
      const Node& node = graph.node(id);
      CheckNode(graph, node);
      for (const Body& body : node.bodies()) {
        if (!IsUntaken(graph, node, body)) CheckBody(graph, node, body);
      }
    }
  }

 private:
  template <typename... Args>
  void Report(fmt::format_string<Args...> format, Args&&... args) {
    violations_.push_back(prefix_ + fmt::format(format, std::forward<Args>(args)...));
  }
  static std::string Called(const Node& node) {
    return fmt::format("`{}.{}` \"{}\"", node.set(), node.type(), node.name());
  }

  // Checks that names are unique, since users identify the inputs and outputs of a model by them.
  void CheckNames(const Graph& graph, std::string_view what, llvm::ArrayRef<NodeId> list) {
    llvm::StringSet<> names;
    for (NodeId id : list) {
      const std::string& name = graph.node(id).name();
      if (!names.insert(name).second) Report("two {} are called \"{}\"", what, name);
    }
  }

  // Infers the node again and compares the outputs. Nodes with bodies are skipped; Run verifies the bodies.
  void CheckNode(const Graph& graph, const Node& node) {
    if (node.info().infer == nullptr || node.info().is_source || !node.bodies().empty()) return;
    llvm::SmallVector<const Output*, 4> inputs;
    for (OutputPort port : node.inputs()) inputs.push_back(&graph.output(port));
    Emitter emitter;
    const std::optional<std::vector<Output>> outputs = InferApart(node, inputs, emitter);
    if (!outputs) {
      const bool reported = !emitter.diagnostics().empty();
      Report("{} breaks a rule of its operation: {}", Called(node),
             reported ? emitter.diagnostics().front().message : "an input has no type");
      return;
    }
    for (int32_t i = 0; i < node.num_outputs(); ++i)
      CompareOutput(node, i, (*outputs)[static_cast<size_t>(i)]);
  }

  void CompareOutput(const Node& node, int32_t index, const Output& inferred) {
    const Output& stored = node.output(index);
    if (!TypesAgree(stored.type, inferred.type) || !ShapesAgree(stored.shape, inferred.shape)) {
      Report("output {} of {} is {}; the inferred one is {}", index, Called(node), Text(stored),
             Text(inferred));
      return;
    }
    const bool comparable = stored.value && inferred.value && stored.value->volume() <= kLargestComparedValue;
    if (comparable && !(*stored.value == *inferred.value)) {
      Report("the value of output {} of {} differs from the inferred one", index, Called(node));
    }
  }

  void CheckBody(const Graph& graph, const Node& node, const Body& body) {
    if (body.graph == nullptr || depth_ >= kMaxBodyNesting) return;  // Verify reports it
    // The types that an unknown operation passes to its bodies are unknown, so nothing in them is inferred.
    if (node.info().infer == nullptr) return;
    const std::string where = fmt::format("{}{} of {}: ", prefix_, body.role, Called(node));
    InferredVerifier(where, depth_ + 1, violations_).Run(*body.graph);
    for (const InputMapping& mapping : body.inputs) {
      if (mapping.external < 0) continue;
      const Output& outside = graph.output(node.input(mapping.external));
      const NodeId parameter = body.graph->parameters()[static_cast<size_t>(mapping.internal)];
      const Output& inside = body.graph->node(parameter).output();
      if (!TypesAgree(outside.type, inside.type)) {
        Report("{} hands {} to parameter {} of {}, which is {}", Called(node), Text(outside),
               mapping.internal, body.role, Text(inside));
      }
    }
    for (const OutputMapping& mapping : body.outputs) {
      if (mapping.external < 0) continue;
      const NodeId result = body.graph->results()[static_cast<size_t>(mapping.internal)];
      const Output& inside = body.graph->output(body.graph->node(result).input(0));
      const Output& outside = node.output(mapping.external);
      if (!TypesAgree(outside.type, inside.type)) {
        Report("output {} of {} is {}; result {} of {} is {}", mapping.external, Called(node), Text(outside),
               mapping.internal, body.role, Text(inside));
      }
    }
  }

  std::string prefix_;
  int depth_;
  std::vector<std::string>& violations_;
};

}  // namespace

bool IsUntaken(const Graph& graph, const Node& node, const Body& body) {
  if (!node.Is(OpRole::kIf) || node.num_inputs() == 0) return false;
  const std::optional<TensorValue>& condition = graph.output(node.input(0)).value;
  if (!condition || condition->volume() != 1) return false;
  return (body.role == "then_body") != (condition->ElementAsInt(0) != 0);
}

std::vector<std::string> VerifyInferred(const Graph& graph, PortNames names) {
  std::vector<std::string> violations = Verify(graph);
  if (!violations.empty()) return violations;  // later checks rely on the structure
  InferredVerifier verifier("", 0, violations);
  if (names == PortNames::kDistinct) verifier.CheckNames(graph);
  verifier.Run(graph);
  return violations;
}

}  // namespace nnefc::ir

// Removal of NNEF nodes that compute nothing.

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::front {

class NoOpEraser : public FrontReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Removes NoOp, a primitive that the document or a plug-in declares. Of one input and one output, "
           "its "
           "consumers read the input. Otherwise it is removed together with results that read nothing else. "
           "The primitive copy remains until lowering, since configurations and graph.quant may name it.";
  }
  std::string_view Example() const override {
    return R"(%0 = nnef.external "x" {shape = [2,3], dtype = "scalar"} : f32[2,3]
%1 = nnef.NoOp "n" (%0) : f32[2,3]
%2 = nnef.relu "r" (%1) : f32[2,3]
opset1.Result "y" (%2)
)";
  }
  std::vector<ir::OpInfo> ExampleOperations() const override {
    return {{.set = std::string(ir::kNnefSet),
             .name = "NoOp",
             .section = {},
             .inputs = {{.name = "x", .variadic = true}},
             .outputs = {"y"}}};
  }

  bool MayChange(const ir::Graph& graph) const override { return HasOperation(graph, ir::kNnefSet, "NoOp"); }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetOpNodes("nnef.NoOp")) {
      if (node.num_in_ports() == 1 && node.num_out_ports() == 1) {
        PassThrough(graph, node);
      } else {
        RemoveWithResults(graph, node);
      }
    }
  }

 private:
  static void PassThrough(Graph& graph, const Node& node) {
    const Port source = node.in_port(0).GetSource();
    if (!graph.Bypass(node.out_port(0), source))
      TakePlace(graph, node, graph.CreateNode("nnef.copy", {source}, {.origin = node.ir().origin()}));
    graph.Remove(node);
  }

  void RemoveWithResults(Graph& graph, const Node& node) const {
    std::vector<Node> readers;
    for (const Port& output : node.out_ports()) {
      for (const Port& reader : output.GetDestinations()) readers.push_back(reader.node());
    }
    if (!llvm::all_of(readers, [](const Node& reader) { return reader.ir().Is(ir::OpRole::kResult); }))
      return;
    for (const Node& result : readers) {
      warn(fmt::format("the result `{}` is removed: the NoOp `{}` has no value", result.name(), node.name()));
      graph.Remove(result);
    }
    graph.Remove(node);
  }
};

class StandaloneConstEraser : public FrontReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Removes constants that nothing reads. Results remain, also those of constants, and so do "
           "variables, whose files are validated.";
  }
  std::string_view Example() const override {
    return R"(%0 = nnef.external "x" {shape = [2,3], dtype = "scalar"} : f32[2,3]
%1 = nnef.constant "k" {shape = [2], value = [1.0, 2.0], dtype = "scalar"} : f32[2]
%2 = nnef.relu "r" (%0) : f32[2,3]
opset1.Result "y" (%2)
)";
  }

  bool MayChange(const ir::Graph& graph) const override {
    return llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
      const ir::Node& node = graph.node(id);
      return IsStandalone(node) ||
             llvm::any_of(node.bodies(), [&](const ir::Body& body) { return MayChange(*body.graph); });
    });
  }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetNodes()) {
      if (IsStandalone(node.ir())) graph.Remove(node);
    }
  }

 private:
  static bool IsStandalone(const ir::Node& node) {
    return (node.Is(ir::OpRole::kConstant) || node.Is(ir::OpRole::kConst)) && node.uses().empty();
  }
};

void RegisterErasers(TransformationList& list) {
  list.Add<NoOpEraser>();
  list.Add<StandaloneConstEraser>();
}

}  // namespace nnefc::transform::front

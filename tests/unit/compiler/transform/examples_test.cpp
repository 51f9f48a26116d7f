// The transformations in the documentation of the framework, as a user would write them here, and parts of
// the examples of the built-in ones.

#include <sstream>

#include "fmt/format.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

// An operation with its own row, as a plug-in or a document would add it.
ir::OpRegistry WithOperation(const std::string& name, std::vector<ir::InputInfo> inputs) {
  ir::OpRegistry registry(&ir::StandardOps());
  registry.Add({.set = "test", .name = name, .inputs = std::move(inputs), .outputs = {"output"}});
  return registry;
}

// Stacks tensors: adds an axis to each, then concatenates.
class Pack : public FrontReplacementOp {
 public:
  Pack() : FrontReplacementOp("Pack") {}

 protected:
  std::vector<Node> ReplaceOp(Graph& graph, const Node& node) override {
    const int64_t axis = node.Get("axis").AsInt();
    std::vector<Port> sources;
    for (const Port& input : node.in_ports()) {
      const Node axes = graph.CreateConst(TensorValue::FromInts({1}, {axis}));
      const Node unsqueeze = graph.CreateNode("Unsqueeze", {}, {.name = node.name() + "/Unsqueeze"});
      unsqueeze.in_port(1).Connect(axes.out_port(0));
      input.GetConnection().SetDestination(unsqueeze.in_port(0));
      sources.push_back(unsqueeze.out_port(0));
    }
    Graph::Spec spec;
    spec.attributes.Set("axis", axis);
    const Node concat = graph.CreateNode("Concat", sources, std::move(spec));
    graph.TakeName(node, concat);
    return {concat};
  }
};

class ExamplesTest : public TransformTest {};

TEST_F(ExamplesTest, PackBecomesConcatOfUnsqueezed) {
  const ir::OpRegistry registry = WithOperation("Pack", {{.name = "inputs", .variadic = true}});
  ir::Graph graph(&registry);
  const ir::OutputPort a = {ir::AddParameter(graph, "a", ElementType::kF32, {2, 3}), 0};
  const ir::OutputPort b = {ir::AddParameter(graph, "b", ElementType::kF32, {2, 3}), 0};
  const ir::NodeId pack = ir::AddNode(graph, "test", "Pack", {.name = "pack", .inputs = {a, b}});
  graph.SetAttribute(pack, "axis", 1);
  graph.SetOutputType({pack, 0}, ElementType::kF32, {2, 2, 3});
  ir::AddResult(graph, "y", {pack, 0});
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Pack>();
  EXPECT_EQ(Run(list, graph, Side::kBeforeLowering), "");
  EXPECT_EQ(Brief(graph),
            "Parameter(a) Parameter(b) Const() Unsqueeze(pack/Unsqueeze: a, ) Const() "
            "Unsqueeze(pack/Unsqueeze: b, ) Concat(pack: pack/Unsqueeze, pack/Unsqueeze) Result(y: pack)");
  EXPECT_EQ(graph.output(graph.node(graph.results()[0]).input(0)).shape, (ir::PartialShape{2, 2, 3}));
}

// The axes of a squeeze as an input instead of an attribute.
class SqueezeNormalize : public FrontReplacementPattern {
 public:
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& squeeze : graph.GetOpNodes("Squeeze")) {
      const ir::Attribute* axes = squeeze.Find("squeeze_dims");
      if (squeeze.num_in_ports() == 1 && axes != nullptr) {
        const auto rank = static_cast<int64_t>(axes->ListSize());
        const Node constant =
            graph.CreateConst(TensorValue::FromInts({rank}, axes->AsInts()), squeeze.name() + "/Dims");
        graph.AddInPort(squeeze, constant.out_port(0));
        squeeze.Erase("squeeze_dims");
      } else if (squeeze.num_in_ports() == 2) {
        log(fmt::format("`{}` is normalized already", squeeze.name()));
      } else {
        throw Error("`{}` has neither two inputs nor one and `squeeze_dims`", squeeze.name());
      }
    }
  }
};

class SqueezeTest : public ExamplesTest {
 protected:
  // A squeeze of one input, with or without the attribute.
  std::string Normalize(bool has_axes) {
    const ir::OpRegistry registry =
        WithOperation("Squeeze", {{.name = "data"}, {.name = "axes", .optional = true}});
    ir::Graph graph(&registry);
    const ir::OutputPort x = {ir::AddParameter(graph, "x", ElementType::kF32, {1, 3}), 0};
    const ir::NodeId squeeze = ir::AddNode(graph, "test", "Squeeze", {.name = "s", .inputs = x});
    if (has_axes) graph.SetAttribute(squeeze, "squeeze_dims", ir::Attribute::Integers{0});
    graph.SetOutputType({squeeze, 0}, ElementType::kF32, {3});
    ir::AddResult(graph, "y", {squeeze, 0});
    TransformationList list;
    RegisterAnchors(list);
    list.Add<SqueezeNormalize>();
    for (int times = 0; times < 2; ++times) {
      if (std::string wrong = Run(list, graph, Side::kBeforeLowering); !wrong.empty()) return wrong;
    }
    return Brief(graph) + (graph.node(squeeze).attributes().empty() ? "" : " with attributes");
  }
};

TEST_F(SqueezeTest, AxesBecomeAnInput) {
  EXPECT_EQ(Normalize(true), "Parameter(x) Const(s/Dims) Squeeze(s: x, s/Dims) Result(y: s)");
}

TEST_F(SqueezeTest, AxesThatAreMissingAreAMistake) {
  EXPECT_EQ(Normalize(false),
            "transform.failed: transformation `nnefc::transform::SqueezeNormalize` failed: `s` has neither "
            "two inputs "
            "nor one and `squeeze_dims`");
}

// ---- parts of examples ----

// The statements of a graph, each with the bodies of its node.
std::vector<std::string> StatementsOf(const std::string& text) {
  std::vector<std::string> statements(1);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string& last = statements.back();
    last += line + "\n";
    if (std::count(last.begin(), last.end(), '{') == std::count(last.begin(), last.end(), '}'))
      statements.emplace_back();
  }
  statements.pop_back();
  return statements;
}

class PartsOfExamplesTest : public BuiltInTest {
 protected:
  // Expects that a transformation neither fails nor makes anything invalid.
  void ExpectRuns(const TransformationList& list, const Transformation& item, const std::string& text) {
    const auto graph = Parse(text, item.ExampleOperations());
    ASSERT_NE(graph, nullptr) << text;
    EXPECT_EQ(Run(list, *graph, SideOf(item.phase()), {.only = {item.name()}, .evaluate = EvaluateFunction}),
              "")
        << item.name() << "\n"
        << text;
  }
};

// A Result reads each value in turn, alone or in addition to the other readers.
TEST_F(PartsOfExamplesTest, ResultsAnywhere) {
  const TransformationList list = StandardTransformations();
  Emitter emitter;
  const auto order = list.Order(emitter);
  ASSERT_TRUE(order.has_value());
  int parts = 0;
  for (const Transformation* item : *order) {
    if (item->is_anchor() || item->name().ends_with("::CheckForCycle")) continue;
    std::string before, sinks, others;
    const std::vector<std::string> statements = StatementsOf(std::string(item->Example()));
    for (const std::string& statement : statements) {
      if (statement.starts_with("sinks")) sinks += statement;
      if (statement.find(".Result ") != std::string::npos && !statement.starts_with("%")) others += statement;
    }
    std::string all;
    for (const std::string& statement : statements) {
      if (statement.starts_with("%")) all += statement;
    }
    for (const std::string& statement : statements) {
      if (!statement.starts_with("%")) continue;
      before += statement;
      const std::string label = statement.substr(0, statement.find_first_of(" :"));
      const std::string result = "opset1.Result \"here\" (" + label + ")\n";
      ExpectRuns(list, *item, before + result);
      ExpectRuns(list, *item, fmt::format("{}{}{}{}", all, others, result, sinks));
      ++parts;
    }
  }
  EXPECT_GT(parts, 300);
}

}  // namespace
}  // namespace nnefc::transform

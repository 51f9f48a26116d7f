// Verify on graphs with one mistake each.

#include <algorithm>
#include <functional>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/ops/opset/control_flow/port_maps.h"
#include "compiler/ir/ops/opset/control_flow/unrolled_size.h"
#include "compiler/ir/text/text.h"
#include "fmt/format.h"
#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

using Strings = std::vector<std::string>;

class PortMapsTest : public ::testing::Test {
 protected:
  PortMapsTest() { registry_.Add({.set = "test", .name = "loop"}); }

  // A node of two inputs and two outputs, whose body has two parameters and two results.
  std::unique_ptr<Graph> Make(std::string_view set, std::string_view type) {
    auto graph = std::make_unique<Graph>(&registry_, "g");
    const NodeId x = AddParameter(*graph, "x", ElementType::kF32, PartialShape{2, 3});
    const OutputPort inputs[] = {{x, 0}, {x, 0}};
    node_ = AddNode(*graph, set, type, {.name = "n", .inputs = inputs, .num_outputs = 2});
    Body body{.role = "body", .graph = std::make_unique<Graph>(&registry_, "b")};
    for (const char* name : {"p", "q"}) {
      const NodeId parameter = AddParameter(*body.graph, name, ElementType::kF32, PartialShape{2, 3});
      AddResult(*body.graph, name, {parameter, 0});
    }
    for (int32_t i = 0; i < 2; ++i) {
      body.inputs.push_back({.external = i, .internal = i});
      body.outputs.push_back({.external = i, .internal = i});
    }
    graph->AddBody(node_, std::move(body));
    return graph;
  }

  // Returns the violations of the body after a change.
  Strings Violations(const std::function<void(Body&)>& change, std::string_view set = "opset1",
                     std::string_view type = "TensorIterator") {
    const std::unique_ptr<Graph> graph = Make(set, type);
    change(graph->body(node_, 0));
    Strings violations;
    const std::string prefix = fmt::format("body of `{}.{}` \"n\": ", set, type);
    for (const std::string& violation : Verify(*graph)) {
      EXPECT_TRUE(violation.starts_with(prefix)) << violation;
      violations.push_back(violation.substr(prefix.size()));
    }
    return violations;
  }

  OpRegistry registry_{&StandardOps()};
  NodeId node_;
};

std::string WrongInput(int outer, int inner) {
  return fmt::format("the port map has a wrong input {} -> {}", outer, inner);
}
std::string WrongOutput(int outer, int inner) {
  return fmt::format("the port map has a wrong output {} -> {}", outer, inner);
}

TEST_F(PortMapsTest, IndicesExist) {
  EXPECT_EQ(Violations([](Body&) {}), Strings());
  EXPECT_EQ(Violations([](Body&) {}, "test", "loop"), Strings());
  for (const auto& [set, type] : {std::pair("opset1", "TensorIterator"), std::pair("test", "loop")}) {
    const bool is_known = std::string_view(set) != "test";
    const auto unfed = [&](Strings violations, int parameter) {
      if (is_known)
        violations.push_back(fmt::format("parameter {} is fed 0 times; expected once", parameter));
      return violations;
    };
    const auto unmade = [&](Strings violations, int output) {
      if (is_known) violations.push_back(fmt::format("output {} is made 0 times; expected once", output));
      return violations;
    };
    for (const int32_t outer : {-2, 2})
      EXPECT_EQ(Violations([&](Body& body) { body.inputs[0].external = outer; }, set, type),
                unfed({WrongInput(outer, 0)}, 0));
    for (const int32_t outer : {-1, 0, 1})
      EXPECT_EQ(Violations([&](Body& body) { body.inputs[0].external = outer; }, set, type), Strings());
    for (const int32_t inner : {-1, 2})
      EXPECT_EQ(Violations([&](Body& body) { body.inputs[1].internal = inner; }, set, type),
                unfed({WrongInput(1, inner)}, 1));
    for (const int32_t outer : {-2, 2})
      EXPECT_EQ(Violations([&](Body& body) { body.outputs[0].external = outer; }, set, type),
                unmade({WrongOutput(outer, 0)}, 0));
    EXPECT_EQ(Violations([&](Body& body) { body.outputs[0].external = -1; }, set, type), unmade({}, 0));
    for (const int32_t inner : {-1, 2})
      EXPECT_EQ(Violations([&](Body& body) { body.outputs[1].internal = inner; }, set, type),
                unmade({WrongOutput(1, inner)}, 1));
    EXPECT_EQ(Violations([&](Body& body) { body.outputs[0].internal = 1; }, set, type), Strings());
    const Strings twice{"parameter 0 is fed 2 times; expected once"};
    EXPECT_EQ(Violations([&](Body& body) { body.inputs.push_back(body.inputs[0]); }, set, type),
              is_known ? twice : Strings());
    const Strings made{"output 1 is made 2 times; expected once"};
    EXPECT_EQ(Violations([&](Body& body) { body.outputs.push_back(body.outputs[1]); }, set, type),
              is_known ? made : Strings());
  }
}

// Only a Loop itself provides and consumes values, by the index -1.
TEST_F(PortMapsTest, TensorIteratorsProvideNoValues) {
  for (const bool is_input : {true, false}) {
    for (const int32_t outer : {-1, 2}) {
      const std::unique_ptr<Graph> graph = Make("opset1", "TensorIterator");
      Body& body = graph->body(node_, 0);
      (is_input ? body.inputs[0].external : body.outputs[0].external) = outer;
      Emitter emitter;
      EXPECT_FALSE(InferNode(*graph, node_, emitter));
      ASSERT_FALSE(emitter.diagnostics().empty());
      const std::string expected =
          fmt::format("names {} {}; there are 2", is_input ? "input" : "output", outer);
      EXPECT_NE(emitter.diagnostics().front().message.find(expected), std::string::npos)
          << emitter.diagnostics().front().message;
    }
  }
}

// Each input of a TensorIterator feeds one parameter, and each of its outputs comes from one result.
TEST_F(PortMapsTest, PortsOfTensorIteratorsAreMapped) {
  const auto message = [&](const std::function<void(Body&)>& change) -> std::string {
    const std::unique_ptr<Graph> graph = Make("opset1", "TensorIterator");
    change(graph->body(node_, 0));
    Emitter emitter;
    return InferNode(*graph, node_, emitter) ? "" : emitter.diagnostics().front().message;
  };
  EXPECT_EQ(message([](Body&) {}), "");
  for (const int32_t i : {0, 1}) {
    EXPECT_EQ(message([&](Body& body) { body.inputs[static_cast<size_t>(1 - i)].external = i; }),
              fmt::format("input {} of `n` (TensorIterator) feeds {} parameters of the body; expected one", 0,
                          i == 0 ? 2 : 0));
    EXPECT_EQ(message([&](Body& body) { body.outputs.erase(body.outputs.begin() + i); }),
              fmt::format("output {} of `n` (TensorIterator) is associated with 0 results of `body`; "
                          "expected one",
                          i));
    EXPECT_EQ(message([&](Body& body) { body.outputs.push_back(body.outputs[static_cast<size_t>(i)]); }),
              fmt::format("output {} of `n` (TensorIterator) is associated with 2 results of `body`; "
                          "expected one",
                          i));
  }
}

// The trip count of a Loop is that of its iterations unless a condition may end it: the one before the loop
// or the result of the body.
TEST_F(PortMapsTest, ConditionsLimitTheIterationsOfLoops) {
  for (const ElementType counter : {ElementType::kI64, ElementType::kI32, ElementType::kF32}) {
    for (const auto& [starts, continues] :
         {std::pair(true, true), std::pair(true, false), std::pair(false, true), std::pair(false, false)}) {
      Graph graph(&registry_, "g");
      const TensorValue yes = TensorValue::Filled(ElementType::kBoolean, {}, 1);
      const NodeId count = AddConst(graph, TensorValue::Filled(counter, {}, 3), "count");
      const NodeId open = AddParameter(graph, "open", ElementType::kBoolean, PartialShape());
      const NodeId first = starts ? AddConst(graph, yes, "first") : open;
      const NodeId x = AddParameter(graph, "x", ElementType::kF32, PartialShape{1, 2});
      const OutputPort inputs[] = {{count, 0}, {first, 0}, {open, 0}, {x, 0}};
      const NodeId loop = AddNode(graph, "opset5", "Loop", {.name = "n", .inputs = inputs});
      Body body{.role = "body", .graph = std::make_unique<Graph>(&registry_, "b")};
      Graph& inner = *body.graph;
      const NodeId given = AddParameter(inner, "c", ElementType::kBoolean, PartialShape());
      const NodeId part = AddParameter(inner, "p", ElementType::kF32, PartialShape{1, 2});
      AddResult(inner, "r", {part, 0});
      AddResult(inner, "next", {continues ? AddConst(inner, yes, "next") : given, 0});
      body.inputs.push_back({.external = 2, .internal = 0});
      body.inputs.push_back({.external = 3, .internal = 1});
      body.outputs.push_back({.external = 0, .internal = 0, .axis = 0});
      body.outputs.push_back({.external = -1, .internal = 1});
      graph.AddBody(loop, std::move(body));
      AddResult(graph, "y", {loop, 0});
      Emitter emitter;
      EXPECT_TRUE(InferGraph(graph, emitter));
      const bool is_known = starts && continues && counter != ElementType::kF32;
      EXPECT_EQ(ToString(graph.output({loop, 0}).shape), is_known ? "[3,2]" : "[?,2]") << Name(counter);
    }
  }
}

// The iterations of a TensorIterator are the slices of its inputs, if the extent of the axis is known.
TEST_F(PortMapsTest, IterationsOverKnownExtents) {
  const auto iterations = [&](std::optional<int64_t> axis, const PartialShape& shape) {
    const std::unique_ptr<Graph> graph = Make("opset1", "TensorIterator");
    graph->SetOutputType(graph->node(node_).input(0), ElementType::kF32, shape);
    graph->body(node_, 0).inputs[0].axis = axis;
    return ops::opset::KnownIterations(*graph, graph->node(node_));
  };
  const PartialShape open = {Dim(), Dim(3)};
  EXPECT_EQ(iterations(0, {2, 3}), 2);
  EXPECT_EQ(iterations(1, {2, 3}), 3);
  EXPECT_EQ(iterations(1, open), 3);
  EXPECT_EQ(iterations(std::nullopt, {2, 3}), 1);
  EXPECT_EQ(iterations(std::nullopt, PartialShape()), 1);
  for (const int64_t axis : {-1, 2}) EXPECT_EQ(iterations(axis, {2, 3}), std::nullopt) << axis;
  EXPECT_EQ(iterations(0, open), std::nullopt);
  for (const int64_t axis : {-1, 0}) EXPECT_EQ(iterations(axis, PartialShape()), std::nullopt) << axis;
}

// A Loop has a known number of iterations by one known trip count and one condition that is true.
TEST_F(PortMapsTest, IterationsOfLoops) {
  const auto iterations = [&](const TensorValue& trips, const TensorValue& condition) {
    Graph graph(&registry_, "g");
    const OutputPort inputs[] = {{AddConst(graph, trips, "t"), 0}, {AddConst(graph, condition, "c"), 0}};
    const NodeId loop = AddNode(graph, "opset5", "Loop", {.name = "l", .inputs = inputs, .num_outputs = 0});
    graph.AddBody(loop, {.role = "body", .graph = std::make_unique<Graph>(&registry_, "b")});
    return ops::opset::KnownIterations(graph, graph.node(loop));
  };
  const TensorValue goes_on = TensorValue::Filled(ElementType::kBoolean, {}, 1);
  EXPECT_EQ(iterations(TensorValue::FromInts({}, {3}), goes_on), 3);
  EXPECT_EQ(iterations(TensorValue::FromInts({1}, {3}), goes_on), 3);
  EXPECT_EQ(iterations(TensorValue::FromInts({2}, {3, 3}), goes_on), std::nullopt);
  EXPECT_EQ(iterations(TensorValue::FromInts({0}, {}), goes_on), std::nullopt);
  for (const Shape& shape : {Shape{0}, Shape{2}}) {
    EXPECT_EQ(
        iterations(TensorValue::FromInts({}, {3}), TensorValue::Filled(ElementType::kBoolean, shape, 1)),
        std::nullopt);
  }
}

// One mistake of an If is reported once: of the element type of its condition, and of the outputs of a body.
TEST_F(PortMapsTest, MistakesOfBranchesAreReportedOnce) {
  struct Mistakes {
    ElementType condition = ElementType::kBoolean;
    PartialShape shape = {1};
    std::vector<int32_t> outputs = {0, 1};  // of each result
  };
  const auto messages = [&](const Mistakes& form) {
    Graph graph(&registry_, "g");
    const OutputPort condition = {AddParameter(graph, "c", form.condition, form.shape), 0};
    const NodeId node = AddNode(graph, "opset8", "If", {.name = "i", .inputs = condition, .num_outputs = 2});
    for (const char* role : {"then_body", "else_body"}) {
      Body body{.role = role, .graph = std::make_unique<Graph>(&registry_, "b")};
      for (const int32_t output : form.outputs) {
        const NodeId value = AddConst(*body.graph, TensorValue::FromInts({1}, {output}), "v");
        body.outputs.push_back({.external = output, .internal = static_cast<int32_t>(body.outputs.size())});
        AddResult(*body.graph, "r", {value, 0});
      }
      graph.AddBody(node, std::move(body));
    }
    Emitter emitter;
    (void)InferNode(graph, node, emitter);  // reports the mistakes
    std::string text;
    for (const Diagnostic& diagnostic : emitter.diagnostics()) text += diagnostic.message + "\n";
    return text;
  };
  EXPECT_EQ(messages({}), "");
  const Mistakes bad_outputs{.outputs = {0, 0}};
  const std::string outputs =
      "output 0 of `i` (If) is associated with 2 results of `then_body`; expected one\n";
  EXPECT_EQ(messages(bad_outputs), outputs);
  EXPECT_EQ(messages({.outputs = {0, 1, 1}}),
            "output 1 of `i` (If) is associated with 2 results of `then_body`; expected one\n");
  EXPECT_EQ(messages({.outputs = {0, 1, -1}}),
            "the port map of `then_body` of `i` (If) names output -1; there are 2\n");
  EXPECT_EQ(messages({.outputs = {0}}),
            "output 1 of `i` (If) is associated with 0 results of `then_body`; expected one\n");
  Mistakes both = bad_outputs;
  both.condition = ElementType::kI32;
  EXPECT_EQ(messages(both), "`cond` of `i` (If) has the element type i32; expected boolean\n");
  both = bad_outputs;
  both.shape = {1, 1};
  EXPECT_EQ(messages(both), "`cond` of `i` (If) has rank 2; expected 0 or 1\n");
  both.shape = {2};
  EXPECT_EQ(messages(both), "`cond` of `i` (If) has the shape [2]; expected one element\n");
}

// Outputs or a trip count that give another number of iterations are reported once.
TEST_F(PortMapsTest, NumbersOfIterationsAreReportedOnce) {
  const auto messages = [&](Graph& graph) {
    Emitter emitter;
    (void)InferNode(graph, node_, emitter);  // reports the mistake
    std::string text;
    for (const Diagnostic& diagnostic : emitter.diagnostics()) text += diagnostic.message + "\n";
    return text;
  };
  const auto slice = [](auto& mapping, int64_t end, int64_t part) {
    mapping.axis = 0;
    mapping.start = 0;
    mapping.end = end;
    mapping.stride = mapping.part_size = part;
  };
  const std::unique_ptr<Graph> iterator = Make("opset1", "TensorIterator");
  slice(iterator->body(node_, 0).outputs[0], 4, 2);
  slice(iterator->body(node_, 0).outputs[1], 8, 2);
  EXPECT_EQ(messages(*iterator),
            "output 1 of `n` (TensorIterator) gives 4 iterations; another port gives 2\n");
  // A Loop with more iterations than slices, whose output has no such axis.
  Graph graph(&registry_, "g");
  const OutputPort inputs[] = {{AddConst(graph, TensorValue::FromInts({}, {4}), "t"), 0},
                               {AddConst(graph, TensorValue::Filled(ElementType::kBoolean, {}, 1), "c"), 0},
                               {AddParameter(graph, "x", ElementType::kF32, PartialShape{3, 2}), 0}};
  node_ = AddNode(graph, "opset5", "Loop", {.name = "n", .inputs = inputs});
  Body body{.role = "body", .graph = std::make_unique<Graph>(&registry_, "b")};
  const NodeId part = AddParameter(*body.graph, "p", ElementType::kF32, PartialShape{1, 2});
  AddResult(*body.graph, "r", {part, 0});
  slice(body.inputs.emplace_back(InputMapping{.external = 2, .internal = 0}), -1, 1);
  slice(body.outputs.emplace_back(OutputMapping{.external = 0, .internal = 0}), -1, 1);
  body.outputs[0].axis = 5;
  graph.AddBody(node_, std::move(body));
  EXPECT_EQ(messages(graph), "the trip count of `Loop` is 4; its inputs are cut into 3 parts\n");
}

// Of the outputs whose types differ between the branches of an If, the first one is reported.
TEST_F(PortMapsTest, TypesOfBranchesAreReportedOnce) {
  Graph graph(&registry_, "g");
  const OutputPort condition = {AddParameter(graph, "c", ElementType::kBoolean, PartialShape{1}), 0};
  const NodeId node = AddNode(graph, "opset8", "If", {.name = "i", .inputs = condition, .num_outputs = 2});
  for (const bool is_then : {true, false}) {
    Body body{.role = is_then ? "then_body" : "else_body", .graph = std::make_unique<Graph>(&registry_, "b")};
    for (const ElementType type : {ElementType::kF32, ElementType::kI64}) {
      const ElementType other = type == ElementType::kF32 ? ElementType::kI64 : ElementType::kF32;
      const NodeId value = AddConst(*body.graph, TensorValue::Filled(is_then ? type : other, {2}, 1), "v");
      AddResult(*body.graph, "r", {value, 0});
    }
    for (int32_t i = 0; i < 2; ++i) body.outputs.push_back({.external = i, .internal = i});
    graph.AddBody(node, std::move(body));
  }
  Emitter emitter;
  EXPECT_FALSE(InferNode(graph, node, emitter));
  ASSERT_EQ(emitter.diagnostics().size(), 1U);
  EXPECT_EQ(emitter.diagnostics().front().message,
            "output 0 of `i` (If) has the element type f32 in `then_body` and i64 in `else_body`");
}

TEST_F(PortMapsTest, SlicesHaveAnAxisAndAStrideOfAPart) {
  struct Slice {
    int64_t axis, stride, part;
    bool is_valid;
  };
  const Slice slices[] = {{0, 1, 1, true},    {1, -1, 1, true},  {0, 3, 3, true},  {0, -3, 3, true},
                          {-1, 1, 1, false},  {0, 0, 0, false},  {0, 0, 1, false}, {0, 1, 2, false},
                          {0, 2, 1, false},   {0, -1, 2, false}, {0, 1, 0, false}, {0, 1, -1, false},
                          {0, -1, -1, false}, {0, 3, -3, false}};
  for (const Slice& slice : slices) {
    const std::string text = fmt::format("axis {} stride {} part {}", slice.axis, slice.stride, slice.part);
    const auto set = [&](auto& mapping) {
      mapping.axis = slice.axis;
      mapping.stride = slice.stride;
      mapping.part_size = slice.part;
    };
    const Strings inputs = Violations([&](Body& body) { set(body.inputs[1]); });
    const Strings outputs = Violations([&](Body& body) { set(body.outputs[0]); });
    EXPECT_EQ(inputs, slice.is_valid
                          ? Strings()
                          : Strings({WrongInput(1, 1), "parameter 1 is fed 0 times; expected once"}))
        << text;
    EXPECT_EQ(outputs, slice.is_valid
                           ? Strings()
                           : Strings({WrongOutput(0, 0), "output 0 is made 0 times; expected once"}))
        << text;
    EXPECT_EQ(Violations([&](Body& body) { set(body.inputs[1]); }, "test", "loop"), Strings()) << text;
    // Without an axis nothing is sliced.
    const auto reset = [&](auto& mapping) {
      set(mapping);
      mapping.axis = std::nullopt;
    };
    EXPECT_EQ(Violations([&](Body& body) { reset(body.inputs[1]); }), Strings()) << text;
    EXPECT_EQ(Violations([&](Body& body) { reset(body.outputs[0]); }), Strings()) << text;
  }
}

TEST_F(PortMapsTest, BackEdgesLeadToParametersThatAreNotSliced) {
  const auto edges = [](std::vector<BackEdge> edges) {
    return [edges = std::move(edges)](Body& body) { body.back_edges = edges; };
  };
  const auto wrong = [](int result, int parameter) {
    return Strings{fmt::format("the back edge {} -> {} is wrong, repeated or leads to a sliced parameter",
                               result, parameter)};
  };
  for (const auto& [set, type] : {std::pair("opset1", "TensorIterator"), std::pair("test", "loop")}) {
    const bool is_known = std::string_view(set) != "test";
    EXPECT_EQ(Violations(edges({{0, 0}, {1, 1}}), set, type), Strings());
    EXPECT_EQ(Violations(edges({{1, 0}, {1, 1}}), set, type), Strings());
    EXPECT_EQ(Violations(edges({{0, 1}, {1, 1}}), set, type), is_known ? wrong(1, 1) : Strings());
    EXPECT_EQ(Violations(edges({{-1, 0}}), set, type), wrong(-1, 0));
    EXPECT_EQ(Violations(edges({{2, 0}}), set, type), wrong(2, 0));
    EXPECT_EQ(Violations(edges({{0, -1}}), set, type), wrong(0, -1));
    EXPECT_EQ(Violations(edges({{0, 2}}), set, type), wrong(0, 2));
    const auto sliced = [&](int32_t parameter) {
      return [=](Body& body) {
        body.inputs[1].axis = 0;
        body.back_edges = {{0, parameter}};
      };
    };
    EXPECT_EQ(Violations(sliced(0), set, type), Strings());
    EXPECT_EQ(Violations(sliced(1), set, type), is_known ? wrong(0, 1) : Strings());
  }
}

TEST_F(PortMapsTest, BodiesAreVerifiedToo) {
  EXPECT_EQ(Violations([](Body& body) { body.graph->AddToResults(body.graph->results()[0]); }),
            Strings({"`opset1.Result` \"p\" is listed twice among the results"}));
  const std::unique_ptr<Graph> graph = Make("opset1", "TensorIterator");
  graph->body(node_, 0).graph = nullptr;
  EXPECT_EQ(Verify(*graph), Strings({"body of `opset1.TensorIterator` \"n\" is missing"}));
}

TEST_F(PortMapsTest, OperationsWithBodies) {
  for (const auto& [set, type, may] :
       std::initializer_list<std::tuple<const char*, const char*, bool>>{{"opset1", "TensorIterator", true},
                                                                         {"opset5", "Loop", true},
                                                                         {"opset8", "If", true},
                                                                         {"test", "loop", true},
                                                                         {"nnef", "relu", true},
                                                                         {"opset1", "ReLU", false},
                                                                         {"opset1", "Parameter", false},
                                                                         {"opset1", "Result", false}}) {
    EXPECT_EQ(MayHaveBodies(registry_.Info(registry_.Find(set, type))), may) << type;
  }
  // Nothing is known of an operation without inference, in whichever set.
  for (const char* set : {"opset1", "opset13", "test"}) {
    OpInfo unknown;
    unknown.set = set;
    unknown.name = "Unknown";
    EXPECT_TRUE(MayHaveBodies(unknown)) << set;
  }
}

// Bodies may be nested 64 deep.
TEST_F(PortMapsTest, NestingIsLimited) {
  for (const int depth : {63, 64, 65}) {
    std::unique_ptr<Graph> graph = std::make_unique<Graph>(&registry_, "g");
    for (int i = 0; i < depth; ++i) {
      auto outer = std::make_unique<Graph>(&registry_, "g");
      const NodeId node = AddNode(*outer, "test", "loop", {.name = "l", .num_outputs = 0});
      outer->AddBody(node, {.role = "b", .graph = std::move(graph)});
      graph = std::move(outer);
    }
    const Strings violations = Verify(*graph);
    EXPECT_EQ(violations.size(), depth == 65 ? 1u : 0u);
    if (depth == 65) {
      EXPECT_TRUE(
          violations.front().ends_with("`test.loop` \"l\": b of `test.loop` \"l\" is nested too deep"));
    }
  }
}

// The types and shapes in the innermost body that is allowed are verified too.
TEST_F(PortMapsTest, InferredValuesOfTheInnermostBody) {
  registry_.Add({.set = "test", .name = "known", .infer = [](InferContext&) {}});
  for (const int depth : {1, 64}) {
    auto graph = std::make_unique<Graph>(&registry_, "g");
    const OutputPort input = {AddConst(*graph, TensorValue::Filled(ElementType::kF32, {2}, 1), "c"), 0};
    const NodeId relu = AddNode(*graph, "opset1", "ReLU", {.name = "r", .inputs = input});
    graph->SetOutputType({relu, 0}, ElementType::kF32, {3});
    for (int i = 0; i < depth; ++i) {
      auto outer = std::make_unique<Graph>(&registry_, "g");
      const NodeId node = AddNode(*outer, "test", "known", {.name = "l", .num_outputs = 0});
      outer->AddBody(node, {.role = "b", .graph = std::move(graph)});
      graph = std::move(outer);
    }
    EXPECT_EQ(Verify(*graph).size(), 0u);
    EXPECT_EQ(VerifyInferred(*graph, PortNames::kAny).size(), 1u) << depth;
  }
}

// The height of a nest is that of its innermost body, and at most 1000.
TEST_F(PortMapsTest, HeightsOfNests) {
  auto graph = std::make_unique<Graph>(&registry_, "g");
  for (int height = 1; height <= 1002; ++height) {
    auto outer = std::make_unique<Graph>(&registry_, "g");
    const NodeId node = AddNode(*outer, "test", "loop", {.name = "l", .num_outputs = 0});
    outer->AddBody(node, {.role = "b", .graph = std::move(graph)});
    if (height <= 2 || height >= 999) {
      EXPECT_EQ(ops::opset::NestingHeight(outer->node(node)), std::min(height, 1000)) << height;
    }
    graph = std::move(outer);
  }
}

TEST_F(PortMapsTest, Arity) {
  Graph graph(&registry_, "g");
  const OutputPort x{AddParameter(graph, "x", ElementType::kF32, PartialShape{2}), 0};
  const auto violations = [&](std::string_view set, std::string_view type, size_t inputs,
                              std::vector<int32_t> segments, int32_t outputs) {
    const std::vector<OutputPort> ports(inputs, x);
    const NodeId node = AddNode(graph, set, type,
                                {.name = "n", .inputs = ports, .segments = segments, .num_outputs = outputs});
    Strings found = Verify(graph);
    graph.Erase(node);
    return fmt::format("{}", fmt::join(found, "\n"));
  };
  EXPECT_EQ(violations("nnef", "add", 2, {}, 1), "");
  EXPECT_EQ(violations("nnef", "add", 2, {1, 1}, 1), "");
  EXPECT_EQ(violations("nnef", "add", 1, {}, 1), "`nnef.add` \"n\" has 0 inputs for `y`; expected 1");
  EXPECT_EQ(violations("nnef", "add", 3, {}, 1), "`nnef.add` \"n\" has 3 inputs; expected 2");
  EXPECT_EQ(violations("nnef", "add", 2, {2}, 1), "`nnef.add` \"n\" has 1 segments; expected 2");
  EXPECT_EQ(
      violations("nnef", "add", 2, {2, 0}, 1),
      "`nnef.add` \"n\" has 2 inputs for `x`; expected 1\n`nnef.add` \"n\" has 0 inputs for `y`; expected 1");
  EXPECT_EQ(violations("nnef", "add", 2, {1, 1, 0}, 1), "`nnef.add` \"n\" has 3 segments; expected 2");
  EXPECT_EQ(violations("nnef", "add", 2, {}, 2), "`nnef.add` \"n\" has 2 outputs; expected 1");
  EXPECT_EQ(violations("nnef", "add", 2, {}, 0), "");
  EXPECT_EQ(violations("nnef", "concat", 0, {}, 1), "");
  EXPECT_EQ(violations("nnef", "concat", 3, {}, 1), "");
  EXPECT_EQ(violations("nnef", "split", 1, {}, 0), "");
  EXPECT_EQ(violations("nnef", "split", 1, {}, 5), "");
  EXPECT_EQ(violations("nnef", "conv", 2, {1, 1, 0}, 1), "");
  EXPECT_EQ(violations("nnef", "conv", 3, {1, 1, 1}, 1), "");
  EXPECT_EQ(violations("nnef", "conv", 2, {}, 1), "");
  EXPECT_EQ(violations("nnef", "conv", 2, {1, 0, 1}, 1),
            "`nnef.conv` \"n\" has 0 inputs for `filter`; expected 1");
  EXPECT_EQ(violations("opset1", "Const", 0, {}, 0), "`opset1.Const` \"n\" has 0 outputs; expected 1");
  EXPECT_EQ(violations("test", "loop", 7, {}, 9), "");
}

TEST_F(PortMapsTest, Lists) {
  const auto violations = [&](const std::function<void(Graph&, NodeId x, NodeId y, NodeId result)>& change) {
    Graph graph(&registry_, "g");
    const NodeId x = AddParameter(graph, "x", ElementType::kF32, PartialShape{2});
    const NodeId y = AddNode(graph, "nnef", "neg", {.name = "y", .inputs = OutputPort{x, 0}});
    const NodeId result = AddResult(graph, "r", {y, 0});
    change(graph, x, y, result);
    return fmt::format("{}", fmt::join(Verify(graph), "\n"));
  };
  EXPECT_EQ(violations([](Graph&, NodeId, NodeId, NodeId) {}), "");
  EXPECT_EQ(violations([](Graph& graph, NodeId, NodeId y, NodeId) { graph.AddToParameters(y); }),
            "`nnef.neg` \"y\" is listed among the parameters");
  EXPECT_EQ(violations([](Graph& graph, NodeId, NodeId y, NodeId) { graph.AddToResults(y); }),
            "`nnef.neg` \"y\" is listed among the results");
  EXPECT_EQ(violations([](Graph& graph, NodeId, NodeId y, NodeId) { graph.AddToSinks(y); }), "");
  EXPECT_EQ(violations([](Graph& graph, NodeId x, NodeId, NodeId) { graph.AddToResults(x); }),
            "`opset1.Parameter` \"x\" is listed among the results");
  EXPECT_EQ(violations([](Graph& graph, NodeId, NodeId, NodeId) {
              AddNode(graph, "nnef", "external", {.name = "e"});
            }),
            "`nnef.external` \"e\" is not listed among the parameters");
  EXPECT_EQ(violations([](Graph& graph, NodeId, NodeId y, NodeId result) {
              graph.SetInput(y, 0, {y, 0});
              graph.Erase(result);
            }),
            "the graph has a cycle");
  // A node that ends a graph without a Result stays valid.
  EXPECT_EQ(violations([](Graph& graph, NodeId, NodeId, NodeId result) { graph.Erase(result); }), "");
}

TEST_F(PortMapsTest, ValuesHaveTheTypeOfTheirOutput) {
  const auto is_valid = [&](ElementType type, const PartialShape& shape, TensorValue value) {
    Graph graph(&registry_, "g");
    const NodeId constant = AddConst(graph, TensorValue::FromInts({2}, {1, 2}), "c");
    graph.SetOutputType({constant, 0}, type, shape);
    graph.SetOutputValue({constant, 0}, std::move(value));
    const Strings violations = Verify(graph);
    if (!violations.empty()) {
      EXPECT_EQ(violations,
                Strings({"the value of output 0 of `opset1.Const` \"c\" has another type or shape "
                         "than the output"}));
    }
    return violations.empty();
  };
  const TensorValue two = TensorValue::FromInts({2}, {1, 2});
  EXPECT_TRUE(is_valid(ElementType::kI64, PartialShape{2}, two));
  EXPECT_FALSE(is_valid(ElementType::kI32, PartialShape{2}, two));
  EXPECT_FALSE(is_valid(ElementType::kI64, PartialShape{1}, two));
  EXPECT_FALSE(is_valid(ElementType::kI64, PartialShape{2, 1}, two));
  EXPECT_FALSE(is_valid(ElementType::kI64, PartialShape::OfRank(1), two));
  EXPECT_FALSE(is_valid(ElementType::kI64, PartialShape(), two));
  EXPECT_FALSE(is_valid(ElementType::kI64, PartialShape{2}, TensorValue()));
}

}  // namespace
}  // namespace nnefc::ir

#include "fmt/core.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

class IfTest : public IrFilesTest {
 protected:
  void ExpectError(const IfParts& parts, std::string_view label) {
    const ReadOutcome outcome = Read(IfNet(parts));
    EXPECT_EQ(outcome.graph, nullptr);
    EXPECT_TRUE(outcome.Has(label)) << label << "\n" << outcome.text;
  }
  std::unique_ptr<ir::Graph> ExpectFine(std::string_view xml, std::string_view weights = "") {
    ReadOutcome outcome = Read(xml, weights);
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    if (outcome.graph != nullptr) ExpectStable(*outcome.graph);
    return std::move(outcome.graph);
  }
  // Returns the If that feeds the first result.
  static const ir::Node& Branch(const ir::Graph& graph) {
    return graph.node(graph.node(graph.results()[0]).input(0).node);
  }
  // A body without parameters whose result is a constant.
  static std::string ConstantBody(std::string_view tag, std::vector<int64_t> dims, std::string type = "FP32",
                                  int64_t size = 4) {
    return Body(tag, {Const(0, "c", dims, 0, size, type), Result(1, "r", dims, type)}, {{0, 0, 1, 0}});
  }
  static IfParts Constants(std::vector<int64_t> then_dims, int64_t then_size, std::vector<int64_t> else_dims,
                           int64_t else_size) {
    IfParts parts;
    parts.then_map = MapOutput(3, 1);
    parts.else_map = MapOutput(3, 1);
    parts.then_body = ConstantBody("then_body", then_dims, "FP32", then_size);
    parts.else_body = ConstantBody("else_body", else_dims, "FP32", else_size);
    parts.outputs = {{.id = 3, .dims = {}}};
    return parts;
  }
  // Two outputs of [1,2,2]: the first and second of the body's results.
  static std::string TwoResultBody(std::string_view tag) {
    const std::vector<int64_t> dims = {1, 2, 2};
    return Body(tag,
                {Parameter(0, "x", dims), Parameter(1, "y", dims), Binary(2, "Add", dims),
                 Result(3, "r0", dims), Result(4, "r1", dims)},
                {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}, {0, 0, 4, 0}});
  }
  static IfParts TwoOutputs() {
    IfParts parts;
    parts.then_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(3, 4) + MapOutput(4, 3);
    parts.else_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(3, 3) + MapOutput(4, 4);
    parts.then_body = TwoResultBody("then_body");
    parts.else_body = TwoResultBody("else_body");
    parts.outputs = {{.id = 3, .dims = {1, 2, 2}}, {.id = 4, .dims = {1, 2, 2}}};
    return parts;
  }
};

TEST_F(IfTest, ReadsBothBodies) {
  const auto graph = ExpectFine(IfNet({}));
  const ir::Node& branch = Branch(*graph);
  ASSERT_TRUE(branch.Is("opset8", "If"));
  ASSERT_EQ(branch.bodies().size(), 2u);
  EXPECT_EQ(branch.bodies()[0].role, "then_body");
  EXPECT_EQ(branch.bodies()[1].role, "else_body");
  ASSERT_EQ(branch.bodies()[0].inputs.size(), 2u);
  EXPECT_EQ(branch.bodies()[0].inputs[1].external, 2);
  EXPECT_EQ(branch.bodies()[0].inputs[1].internal, 1);
  EXPECT_EQ(branch.bodies()[0].outputs[0].external, 0);
  EXPECT_EQ(branch.output().shape, ir::PartialShape({1, 2, 2}));
}

TEST_F(IfTest, ReadsBodiesInAnyOrder) {
  std::string xml = IfNet(Constants({1}, 4, {2}, 8));
  const std::string begin = "<else_body>", end = "</else_body>";
  const size_t first = xml.find("<then_body>"), second = xml.find(begin);
  ASSERT_LT(first, second);
  const std::string body = xml.substr(second, xml.find(end) + end.size() - second);
  xml.erase(second, body.size());
  xml.insert(first, body);
  const ReadOutcome outcome = Read(xml, std::string(8, '\0'));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  const ir::Node& branch = Branch(*outcome.graph);
  EXPECT_EQ(branch.bodies()[0].role, "then_body");
  EXPECT_EQ(branch.bodies()[1].role, "else_body");
  const auto shape = [&](size_t i) {
    const ir::Graph& graph = *branch.bodies()[i].graph;
    return graph.output(graph.node(graph.results()[0]).input(0)).shape;
  };
  EXPECT_EQ(shape(0), ir::PartialShape({1}));
  EXPECT_EQ(shape(1), ir::PartialShape({2}));
}

TEST_F(IfTest, TakesScalarAndOneElementConditions) {
  ExpectFine(IfNet({.condition_dims = {}}));
  ExpectFine(IfNet({.condition_dims = {1}}));
  ExpectFine(IfNet({.condition_dims = {-1}}));
}

TEST_F(IfTest, RefusesOtherConditions) {
  ExpectError({.condition_dims = {2}}, "if.condition");
  ExpectError({.condition_dims = {0}}, "if.condition");
  ExpectError({.condition_dims = {1, 1}}, "if.condition");
  ExpectError({.condition_type = "I32"}, "if.condition");
  ExpectError({.condition_type = "FP32"}, "if.condition");
}

TEST_F(IfTest, ReadsPlacesAndPortIdsOfOutputsAlike) {
  const auto by_id = ExpectFine(IfNet({}));
  const auto by_place = ExpectFine(IfNet({.then_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(0, 3),
                                          .else_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(0, 3)}));
  ASSERT_TRUE(WriteOpenVino(*by_id, Path("a.xml")).ok());
  ASSERT_TRUE(WriteOpenVino(*by_place, Path("b.xml")).ok());
  EXPECT_EQ(ReadText(Path("a.xml")), ReadText(Path("b.xml")));
}

// X is at port 1 and Y at port 2, in either order of the list.
TEST_F(IfTest, ReadsPortIdsInAnyOrder) {
  const auto graph = ExpectFine(IfNet({.input_ids = {0, 2, 1}}));
  const ir::Node& branch = Branch(*graph);
  EXPECT_EQ(graph->node(branch.input(2).node).name(), "X");
  for (const ir::Body& body : branch.bodies()) {
    EXPECT_EQ(body.inputs[0].external, 2);
    EXPECT_EQ(body.inputs[1].external, 1);
  }
}

// The numbers are ids if all entries of both port maps are ids, else indices.
TEST_F(IfTest, ReadsBothPortMapsAlike) {
  IfParts parts;
  parts.outputs = {{.id = 1, .dims = {1, 2, 2}}, {.id = 7, .dims = {1, 2, 2}}};
  parts.then_body = TwoResultBody("then_body");
  parts.else_body = TwoResultBody("else_body");
  parts.then_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(0, 3) + MapOutput(1, 4);
  parts.else_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(1, 3) + MapOutput(0, 4);
  const auto graph = ExpectFine(IfNet(parts));
  const llvm::ArrayRef<ir::Body> bodies = Branch(*graph).bodies();
  EXPECT_EQ(bodies[0].outputs[0].external, 0);
  EXPECT_EQ(bodies[1].outputs[0].external, 1);
  parts.else_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(1, 3) + MapOutput(7, 4);
  ExpectError(parts, "openvino.external-port-id");
}

// The data of a Parameter decide, whatever its port declares.
TEST_F(IfTest, ComparesTheTypesOfParameters) {
  const auto of_parameter = [&](std::string_view precision) {
    std::string xml = IfNet({});
    const size_t type = xml.find(R"(element_type="f32")", xml.find("<then_body>"));
    xml.replace(type, 18, R"(element_type="i64")");
    const size_t port = xml.find(R"( precision="FP32")", type);
    return xml.replace(port, 17, precision);
  };
  for (std::string_view precision : {"", R"( precision="FP32")", R"( precision="I64")"}) {
    const ReadOutcome outcome = Read(of_parameter(precision));
    EXPECT_EQ(outcome.graph, nullptr) << precision;
    EXPECT_NE(outcome.text.find("of `branch` (If) has the element type i64; it is fed f32"),
              std::string::npos)
        << outcome.text;
  }
}

TEST_F(IfTest, TellsExternalIdsThatFitNeither) {
  ExpectError({.then_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(7, 3)}, "openvino.external-port-id");
  ExpectError({.then_map = MapInput(1, 0) + MapInput(3, 1) + MapOutput(3, 3)}, "openvino.external-port-id");
  ExpectError({.then_map = MapInput(1, 0) + MapInput(-1, 1) + MapOutput(3, 3)}, "openvino.external-port-id");
  ExpectError({.then_map = MapInput(1, 0) + MapInput(2, 3) + MapOutput(3, 3)}, "openvino.internal-layer-id");
  ExpectError({.then_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(3, 2)}, "openvino.internal-layer-id");
}

TEST_F(IfTest, FollowsThePortMapWhereResultsCross) {
  const auto graph = ExpectFine(IfNet(TwoOutputs()));
  const ir::Body& then_body = Branch(*graph).bodies()[0];
  EXPECT_EQ(then_body.outputs[0].external, 0);
  EXPECT_EQ(then_body.outputs[0].internal, 1);
  EXPECT_EQ(then_body.outputs[1].internal, 0);
}

TEST_F(IfTest, RefusesOutputsThatAreNotMappedOnce) {
  IfParts parts = TwoOutputs();
  parts.else_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(3, 3);
  ExpectError(parts, "body.port-map");
  parts = TwoOutputs();
  parts.then_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(3, 3) + MapOutput(4, 3);
  ExpectError(parts, "if.bodies");
  parts = TwoOutputs();
  parts.then_map = MapInput(1, 0) + MapInput(2, 1) + MapOutput(3, 3) + MapOutput(3, 4);
  ExpectError(parts, "body.port-map");
}

TEST_F(IfTest, RefusesParametersThatAreNotFedOnce) {
  ExpectError({.then_map = MapInput(1, 0) + MapOutput(3, 3)}, "body.port-map");
  ExpectError({.then_map = MapInput(1, 0) + MapInput(2, 1) + MapInput(1, 1) + MapOutput(3, 3)},
              "body.port-map");
}

TEST_F(IfTest, FeedsSeveralParametersFromOneInput) {
  const auto graph = ExpectFine(IfNet({.then_map = MapInput(1, 0) + MapInput(1, 1) + MapOutput(3, 3)}));
  EXPECT_EQ(Branch(*graph).bodies()[0].inputs[1].external, 1);
  ASSERT_TRUE(WriteOpenVino(*graph, Path("w.xml")).ok());
  const ReadOutcome again = ReadFile(Path("w.xml"));
  ASSERT_NE(again.graph, nullptr) << again.text;
  EXPECT_EQ(Branch(*again.graph).num_inputs(), 4);
  EXPECT_EQ(Branch(*again.graph).input(3), Branch(*again.graph).input(1));
}

TEST_F(IfTest, RefusesEmptyBodies) {
  ExpectError({.then_body = "<then_body/>"}, "openvino.xml-missing-element");
  ExpectError({.then_body = Body("then_body", {}, {})}, "openvino.no-result");
  ExpectError({.then_body = " "}, "if.bodies");
  const ReadOutcome outcome = Read(IfNet({.else_body = Body("then_body", {}, {})}));
  EXPECT_EQ(outcome.graph, nullptr);
  EXPECT_TRUE(outcome.Has("openvino.xml-repeated-element")) << outcome.text;
}

TEST_F(IfTest, RefusesIfWithoutOutputs) {
  IfParts parts;
  parts.outputs = {};
  const ReadOutcome outcome = Read(IfNet(parts));
  EXPECT_EQ(outcome.graph, nullptr);
}

TEST_F(IfTest, MergesShapes) {
  const std::string weights(64, 0);
  const auto merged = [&](const IfParts& parts) {
    return Branch(*ExpectFine(IfNet(parts), weights)).output().shape;
  };
  EXPECT_EQ(merged(Constants({2, 1}, 8, {2, 4}, 32)), ir::PartialShape({ir::Dim(2), ir::Dim(1, 4)}));
  EXPECT_EQ(merged(Constants({}, 4, {1}, 4)), ir::PartialShape({1}));
  EXPECT_EQ(merged(Constants({2}, 8, {1, 1}, 4)), ir::PartialShape());
  EXPECT_EQ(merged(Constants({}, 4, {}, 4)), ir::PartialShape::OfRank(0));
}

TEST_F(IfTest, RefusesDifferentTypes) {
  IfParts parts = Constants({}, 4, {}, 4);
  parts.else_body = ConstantBody("else_body", {}, "I32", 4);
  const ReadOutcome outcome = Read(IfNet(parts), std::string(8, 0));
  EXPECT_EQ(outcome.graph, nullptr);
  EXPECT_TRUE(outcome.Has("body.element-type")) << outcome.text;
  const std::vector<int64_t> dims = {1, 2, 2};
  const std::string body = Body("then_body",
                                {Parameter(0, "x", dims, "I32"), Parameter(1, "y", dims, "I32"),
                                 Binary(2, "Add", dims, "I32"), Result(3, "z", dims, "I32")},
                                {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}});
  ExpectError({.then_body = body}, "body.element-type");
}

// An If with a constant condition, a valid then_body and an invalid else_body.
std::string ConstantConditionNet(std::string_view dims, int64_t size) {
  const std::vector<int64_t> shape = {1, 2, 2};
  LayerText condition = Const(0, "cond", {}, 0, size, "BOOL");
  condition.data = fmt::format(R"(element_type="boolean" shape="{}" offset="0" size="{}")", dims, size);
  LayerText branch = {.id = 3,
                      .name = "branch",
                      .type = "If",
                      .version = "opset8",
                      .inputs = {{0, "BOOL", {}}, {1, "FP32", shape}},
                      .outputs = {{.id = 2, .dims = {}}}};
  const std::string bad = Body("else_body",
                               {Parameter(0, "x", shape),
                                Const(1, "c", {5}, 0, 20),
                                {.id = 2,
                                 .name = "bad",
                                 .type = "Add",
                                 .inputs = {{0, "FP32", {}}, {1, "FP32", {}}},
                                 .outputs = {{2, "FP32", {}}}},
                                Result(3, "z", {})},
                               {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}});
  branch.more = "<then_port_map>" + MapInput(1, 0) + MapOutput(2, 1) + "</then_port_map><else_port_map>" +
                MapInput(1, 0) + MapOutput(2, 3) + "</else_port_map>" +
                Body("then_body", {Parameter(0, "x", shape), Result(1, "r", shape)}, {{0, 0, 1, 0}}) + bad;
  return Net({condition, Parameter(1, "x", shape), branch, Result(4, "y", {})},
             {{0, 0, 3, 0}, {1, 0, 3, 1}, {3, 2, 4, 0}});
}

TEST_F(IfTest, JudgesOnlyTheBodyThatAConstantConditionTakes) {
  const std::string weights = std::string(1, 1) + std::string(31, 0);
  const auto graph = ExpectFine(ConstantConditionNet("", 1), weights);
  EXPECT_EQ(Branch(*graph).output().shape, ir::PartialShape({1, 2, 2}));
  const ReadOutcome other = Read(ConstantConditionNet("", 1), std::string(32, 0));
  EXPECT_EQ(other.graph, nullptr);
  EXPECT_TRUE(other.Has("opset.broadcast")) << other.text;
  for (int64_t count : {0, 2}) {
    const ReadOutcome outcome = Read(ConstantConditionNet(fmt::format("{}", count), count), weights);
    EXPECT_EQ(outcome.graph, nullptr);
    EXPECT_TRUE(outcome.Has("if.condition")) << outcome.text;
  }
}

// The layers c and x and, around `inner`, the If that reads them; without it x is the result. The result is
// layer 3, or 2 without an If.
std::string NestParts(const std::string& inner) {
  if (inner.empty()) {
    return NetParts({Parameter(0, "c", {1}, "BOOL"), Parameter(1, "x", {2}), Result(2, "y", {2})},
                    {{1, 0, 2, 0}});
  }
  const LayerText branch = {.id = 2,
                            .name = "if",
                            .type = "If",
                            .version = "opset8",
                            .inputs = {{0, "BOOL", {1}}, {1, "FP32", {2}}},
                            .outputs = {{2, "FP32", {2}}},
                            .more = inner};
  return NetParts({Parameter(0, "c", {1}, "BOOL"), Parameter(1, "x", {2}), branch, Result(3, "y", {2})},
                  {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}});
}

std::string PortMaps(int64_t then_result) {
  const std::string inputs = MapInput(0, 0) + MapInput(1, 1);
  return fmt::format("<then_port_map>{0}{1}</then_port_map><else_port_map>{0}{2}</else_port_map>", inputs,
                     MapOutput(2, then_result), MapOutput(2, 2));
}

// The parts of a body with an operation that nnefc does not know; the result is layer 3.
std::string UnknownParts() {
  const LayerText unknown = {.id = 2,
                             .name = "deepest",
                             .type = "MyOp",
                             .version = "extension",
                             .inputs = {{0, "FP32", {2}}},
                             .outputs = {{1, "FP32", {2}}}};
  return NetParts({Parameter(0, "c", {1}, "BOOL"), Parameter(1, "x", {2}), unknown, Result(3, "y", {2})},
                  {{1, 0, 2, 0}, {2, 1, 3, 0}});
}

// An If whose then_body contains an If, and so on, `depth` levels deep.
std::string NestedNet(int depth, bool is_known = true) {
  const std::string else_body = "<else_body>" + NestParts("") + "</else_body>";
  const std::string level = NestParts(PortMaps(3) + "<then_body>@</then_body>" + else_body);
  const size_t hole = level.find('@');
  std::string before, after;
  for (int i = 1; i < depth; ++i) {
    before += level.substr(0, hole);
    after += level.substr(hole + 1);
  }
  const std::string innermost =
      NestParts(PortMaps(is_known ? 2 : 3) + "<then_body>" + (is_known ? NestParts("") : UnknownParts()) +
                "</then_body>" + else_body);
  return fmt::format("<net name=\"nested\" version=\"11\">{}{}{}</net>", before, innermost, after);
}

TEST_F(IfTest, NestsSixtyFourDeepAndNoDeeper) {
  ExpectFine(NestedNet(64));
  for (int depth : {65, 1024}) {
    const ReadOutcome outcome = Read(NestedNet(depth));
    EXPECT_EQ(outcome.graph, nullptr);
    EXPECT_EQ(outcome.labels, std::vector<std::string>{"openvino.nesting"}) << outcome.text;
  }
}

// What is nested too deeply is not read: it may violate any rule.
TEST_F(IfTest, BodiesThatAreNestedTooDeeplyAreNotRead) {
  for (const int depth : {2, 64, 65, 70}) {
    std::string xml = NestedNet(depth);
    const std::string tag = "<then_body>";
    const size_t begin = xml.rfind(tag) + tag.size();
    xml.erase(begin, xml.find("</then_body>", begin) - begin);
    EXPECT_EQ(Read(xml).labels,
              std::vector<std::string>{depth <= 64 ? "openvino.xml-missing-element" : "openvino.nesting"})
        << depth;
  }
}

TEST_F(IfTest, FindsUnknownOperationsAtEachDepth) {
  for (const int depth : {1, 2, 32, 33, 63, 64}) {
    const auto graph = ExpectFine(NestedNet(depth, /*is_known=*/false));
    ASSERT_NE(graph, nullptr) << depth;
    Emitter emitter;
    EXPECT_FALSE(RequireKnownOperations(*graph, emitter)) << depth;
    ASSERT_EQ(emitter.diagnostics().size(), 1U) << depth;
    EXPECT_NE(emitter.diagnostics()[0].message.find("the layer `deepest`, is unknown"), std::string::npos);
  }
}

// Declarations in a body that is never taken are not compared, nor those of the bodies in it.
TEST_F(IfTest, DeclarationsInBodiesThatAreNeverTaken) {
  const auto labels = [&](bool is_outer_wrong, bool is_inner_wrong, bool condition) {
    const auto body = [](bool is_wrong) {
      return NetParts(
          {Parameter(0, "c", {1}, "BOOL"), Parameter(1, "x", {2}), Result(2, "y", {is_wrong ? 3 : 2})},
          {{1, 0, 2, 0}});
    };
    const std::string inner = NestParts(PortMaps(2) + "<then_body>" + body(is_inner_wrong) +
                                        "</then_body><else_body>" + body(false) + "</else_body>");
    const std::string inputs = MapInput(0, 0) + MapInput(1, 1);
    const LayerText branch = {.id = 2,
                              .name = "if",
                              .type = "If",
                              .version = "opset8",
                              .inputs = {{0, "BOOL", {1}}, {1, "FP32", {2}}},
                              .outputs = {{2, "FP32", {2}}},
                              .more = "<then_port_map>" + inputs + MapOutput(2, 2) +
                                      "</then_port_map><else_port_map>" + inputs + MapOutput(2, 3) +
                                      "</else_port_map><then_body>" + body(is_outer_wrong) +
                                      "</then_body><else_body>" + inner + "</else_body>"};
    const ReadOutcome outcome =
        Read(Net({Const(0, "c", {1}, 0, 1, "BOOL"), Parameter(1, "x", {2}), branch, Result(3, "y", {2})},
                 {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}}),
             std::string(1, condition ? '\1' : '\0'));
    return outcome.labels;
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels(false, false, true), Labels());
  EXPECT_EQ(labels(false, true, true), Labels());
  EXPECT_EQ(labels(true, false, true), Labels{"openvino.port-dims"});
  EXPECT_EQ(labels(false, false, false), Labels());
  EXPECT_EQ(labels(false, true, false), Labels{"openvino.port-dims"});
  EXPECT_EQ(labels(true, false, false), Labels());
}

TEST_F(IfTest, AcceptsOutputsThatNothingUses) {
  const std::vector<int64_t> dims = {1, 2, 2};
  std::string xml = IfNet(TwoOutputs());
  const std::string result = ToXml(Result(5, "out5", dims));
  const std::string edge = "<edge from-layer=\"3\" from-port=\"4\" to-layer=\"5\" to-port=\"0\"/>\n";
  ASSERT_NE(xml.find(result), std::string::npos);
  ASSERT_NE(xml.find(edge), std::string::npos);
  xml.erase(xml.find(edge), edge.size());
  xml.erase(xml.find(result), result.size());
  ExpectFine(xml);
}

}  // namespace
}  // namespace nnefc::openvino

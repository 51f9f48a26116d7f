#include "compiler/ir/algorithms/infer.h"
#include "compiler/openvino/write.h"
#include "fmt/core.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

class TensorIteratorTest : public IrFilesTest {
 protected:
  void ExpectXmlError(const std::string& xml, std::string_view label) {
    const ReadOutcome outcome = Read(xml);
    EXPECT_EQ(outcome.graph, nullptr);
    EXPECT_TRUE(outcome.Has(label)) << label << "\n" << outcome.text;
  }
  void ExpectError(const LoopParts& parts, std::string_view label) { ExpectXmlError(LoopNet(parts), label); }
  ReadOutcome ExpectFine(const std::string& xml, std::string_view weights = "") {
    ReadOutcome outcome = Read(xml, weights);
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    if (outcome.graph != nullptr) ExpectStable(*outcome.graph);
    return outcome;
  }
  static const ir::Node& Loop(const ir::Graph& graph) {
    return graph.node(graph.node(graph.results()[0]).input(0).node);
  }
};

std::string Slice(int64_t start, int64_t end, int64_t stride, int64_t part) {
  return fmt::format(R"(axis="1" start="{}" end="{}" stride="{}" part_size="{}")", start, end, stride, part);
}

TEST_F(TensorIteratorTest, ReadsPortMapAndBackEdges) {
  const ReadOutcome outcome = ExpectFine(LoopNet({}));
  const ir::Node& loop = Loop(*outcome.graph);
  ASSERT_TRUE(loop.Is("opset1", "TensorIterator"));
  ASSERT_EQ(loop.bodies().size(), 1u);
  const ir::Body& body = loop.bodies()[0];
  EXPECT_EQ(body.inputs[0].axis, 1);
  EXPECT_EQ(body.inputs[0].end, -1);
  EXPECT_FALSE(body.inputs[1].axis.has_value());
  EXPECT_EQ(body.outputs[1].external, 1);
  ASSERT_EQ(body.back_edges.size(), 1u);
  EXPECT_EQ(body.back_edges[0].result, 1);
  EXPECT_EQ(body.back_edges[0].parameter, 1);
  EXPECT_EQ(loop.output(0).shape, ir::PartialShape({1, 4}));
  EXPECT_EQ(loop.output(1).shape, ir::PartialShape({1, 1}));
  EXPECT_TRUE(outcome.labels.empty()) << outcome.text;
}

// Only what a loop itself provides or reads has a purpose: no port does, the first one included.
TEST_F(TensorIteratorTest, PortsHaveNoPurpose) {
  const ReadOutcome outcome = ExpectFine(LoopNet({}));
  ASSERT_NE(outcome.graph, nullptr);
  const std::string xml = WriteOpenVinoInMemory(*outcome.graph).xml;
  EXPECT_NE(xml.find("external_port_id=\"0\""), std::string::npos) << xml;
  EXPECT_EQ(xml.find("purpose"), std::string::npos) << xml;
}

TEST_F(TensorIteratorTest, IteratesEitherWayAndInParts) {
  const std::string forward = Slice(0, -1, 1, 1);
  const std::string backward = Slice(-1, 0, -1, 1);
  for (const std::string& in : {forward, backward}) {
    for (const std::string& out : {forward, backward}) {
      ExpectFine(LoopNet({.input_slice = in, .output_slice = out}));
    }
  }
  ExpectFine(LoopNet({.part = 2, .input_slice = Slice(0, -1, 2, 2), .output_slice = Slice(0, -1, 2, 2)}));
  ExpectFine(LoopNet({.part = 2, .input_slice = Slice(-1, 0, -2, 2), .output_slice = Slice(-1, 0, -2, 2)}));
  ExpectFine(LoopNet({.part = 4, .input_slice = Slice(0, -1, 4, 4), .output_slice = Slice(0, -1, 4, 4)}));
}

TEST_F(TensorIteratorTest, RefusesRangesThatDoNotCut) {
  const auto parts = [](int64_t length, int64_t part, const std::string& slice) {
    return LoopParts{.length = length, .part = part, .input_slice = slice, .output_slice = slice};
  };
  ExpectError(parts(5, 2, Slice(0, -1, 2, 2)), "loop.iterations");
  ExpectError(parts(4, 1, Slice(0, -1, 0, 1)), "loop.iterations");
  ExpectError(parts(4, 1, Slice(0, -1, 2, 1)), "loop.iterations");
  ExpectError(parts(4, 2, Slice(0, -1, 1, 2)), "loop.iterations");
  ExpectError(parts(4, 1, Slice(0, 9, 1, 1)), "loop.iterations");
  ExpectError(parts(0, 1, Slice(0, -1, 1, 1)), "loop.iterations");
  ExpectError(parts(-1, 2, Slice(0, -1, 1, 2)), "loop.iterations");
  ExpectError(parts(4, 1, R"(axis="2")"), "opset.axis");
  ExpectError(parts(4, 1, R"(axis="-1")"), "openvino.xml-attribute-value");
}

TEST_F(TensorIteratorTest, WarnsWhereOpenVinoCountsDifferently) {
  const std::string slice = Slice(0, 4, 1, 1);
  EXPECT_TRUE(
      ExpectFine(LoopNet({.input_slice = slice, .output_slice = slice})).Has("loop.ambiguous-iterations"));
}

TEST_F(TensorIteratorTest, WritesWholeAxesInTheFormThatAllCountAlike) {
  const std::string slice = Slice(4, 0, -1, 1);
  const ReadOutcome outcome = Read(LoopNet({.input_slice = slice, .output_slice = slice}));
  ASSERT_NE(outcome.graph, nullptr) << outcome.text;
  ASSERT_TRUE(WriteOpenVino(*outcome.graph, Path("w.xml")).ok());
  const std::string xml = ReadText(Path("w.xml"));
  EXPECT_NE(
      xml.find(
          R"(<input axis="1" external_port_id="0" internal_layer_id="0" start="-1" end="0" stride="-1")"),
      std::string::npos)
      << xml;
}

TEST_F(TensorIteratorTest, RefusesCountsThatDisagree) {
  ExpectError({.input_slice = Slice(0, -1, 1, 1), .output_slice = Slice(0, 3, 1, 1)}, "loop.iterations");
  ExpectError({.part = 1, .input_slice = Slice(0, -1, 1, 1), .output_slice = Slice(0, -1, 2, 2)},
              "loop.iterations");
}

// A loop whose port map is wrong has no further mistakes.
TEST_F(TensorIteratorTest, ReportsThePortMapAlone) {
  std::string xml = LoopNet({.back_edges = R"(<edge from-layer="4" to-layer="0"/>)"});
  const std::string second = MapInput(1, 1);
  const size_t at = xml.find(second);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(Read(xml).labels, std::vector<std::string>{"loop.back-edge"});
  xml.replace(at, second.size(), MapInput(1, 0));
  EXPECT_EQ(Read(xml).labels, std::vector<std::string>{"body.port-map"});
}

// A back edge goes from a result of the body to one of its parameters.
TEST_F(TensorIteratorTest, EndsOfBackEdges) {
  for (const auto& [result, parameter, exists] :
       {std::tuple(1, 1, true), {0, 1, true}, {2, 1, false}, {1, 2, false}, {-1, 1, false}, {1, -1, false}}) {
    const ReadOutcome outcome = Read(LoopNet({}));
    ASSERT_NE(outcome.graph, nullptr) << outcome.text;
    ir::BackEdge& edge = outcome.graph->body(Loop(*outcome.graph).id(), 0).back_edges[0];
    edge.result = result;
    edge.parameter = parameter;
    Emitter emitter;
    EXPECT_EQ(ir::InferGraph(*outcome.graph, emitter), exists) << result << " " << parameter;
    if (exists) continue;
    ASSERT_EQ(emitter.diagnostics().size(), 1U);
    EXPECT_EQ(emitter.diagnostics()[0].message,
              fmt::format("a back edge of `loop` (TensorIterator) goes from result {} to parameter {}, which "
                          "the body does not have",
                          result, parameter));
  }
}

TEST_F(TensorIteratorTest, LeavesTheLengthOpen) {
  const ReadOutcome outcome = ExpectFine(LoopNet({.length = -1}));
  EXPECT_EQ(Loop(*outcome.graph).output(0).shape, ir::PartialShape({ir::Dim(1), ir::Dim()}));
}

TEST_F(TensorIteratorTest, RefusesBadBackEdges) {
  ExpectError({.back_edges = R"(<edge from-layer="4" to-layer="0"/>)"}, "loop.back-edge");
  ExpectError({.back_edges = R"(<edge from-layer="4" to-layer="1"/><edge from-layer="3" to-layer="1"/>)"},
              "loop.back-edge");
  ExpectError({.back_edges = R"(<edge from-layer="1" to-layer="1"/>)"}, "openvino.internal-layer-id");
  ExpectError({.back_edges = R"(<edge from-layer="4" to-layer="2"/>)"}, "openvino.internal-layer-id");
}

TEST_F(TensorIteratorTest, AcceptsPortsOfBackEdgesAndInvariantInputs) {
  ExpectFine(LoopNet({.back_edges = R"(<edge from-layer="4" from-port="0" to-layer="1" to-port="0"/>)"}));
  ExpectFine(LoopNet({.back_edges = ""}));
}

// A body that swaps two states: r0 = b, r1 = a.
TEST_F(TensorIteratorTest, SwapsStatesInParallel) {
  const std::string body = Body(
      "body", {Parameter(0, "a", {1}), Parameter(1, "b", {1}), Result(2, "r0", {1}), Result(3, "r1", {1})},
      {{1, 0, 2, 0}, {0, 0, 3, 0}});
  LayerText loop = {.id = 2,
                    .name = "loop",
                    .type = "TensorIterator",
                    .inputs = {{0, "FP32", {1}}, {1, "FP32", {1}}},
                    .outputs = {{2, "FP32", {1}}, {3, "FP32", {1}}, {4, "FP32", {3}}}};
  loop.more =
      "<port_map>" + MapInput(0, 0) + MapInput(1, 1) + MapOutput(2, 2) + MapOutput(3, 3) +
      MapOutput(4, 2, R"(axis="0" start="0" end="3" stride="1" part_size="1")") +
      R"(</port_map><back_edges><edge from-layer="2" to-layer="0"/><edge from-layer="3" to-layer="1"/></back_edges>)" +
      body;
  const ReadOutcome outcome =
      ExpectFine(Net({Parameter(0, "A", {1}), Parameter(1, "B", {1}), loop, Result(3, "a", {1}),
                      Result(4, "b", {1}), Result(5, "c", {3})},
                     {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}, {2, 3, 4, 0}, {2, 4, 5, 0}}));
  // Without slices the concatenation determines the number of iterations.
  EXPECT_EQ(Loop(*outcome.graph).output(2).shape, ir::PartialShape({3}));
  EXPECT_TRUE(outcome.labels.empty()) << outcome.text;
}

// One input sliced along axis 0; the body returns scalars or slices.
std::string ScalarNet(std::string_view output_slice) {
  const std::string body = Body("body",
                                {Parameter(0, "x", {1}),
                                 Const(1, "shape", {0}, 0, 0, "I64"),
                                 {.id = 2,
                                  .name = "scalar",
                                  .type = "Reshape",
                                  .data = R"(special_zero="false")",
                                  .inputs = {{0, "FP32", {1}}, {1, "I64", {0}}},
                                  .outputs = {{2, "FP32", {}}}},
                                 Result(3, "r", {})},
                                {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}});
  LayerText loop = {.id = 1,
                    .name = "loop",
                    .type = "TensorIterator",
                    .inputs = {{0, "FP32", {4}}},
                    .outputs = {{1, "FP32", {4}}}};
  loop.more =
      "<port_map>" + MapInput(0, 0, R"(axis="0")") + MapOutput(1, 3, output_slice) + "</port_map>" + body;
  return Net({Parameter(0, "X", {4}), loop, Result(2, "y", {4})}, {{0, 0, 1, 0}, {1, 1, 2, 0}});
}

TEST_F(TensorIteratorTest, ConcatenatesScalarsAlongAxisZero) {
  const ReadOutcome outcome = ExpectFine(ScalarNet(R"(axis="0")"));
  EXPECT_EQ(Loop(*outcome.graph).output(0).shape, ir::PartialShape({4}));
  ExpectXmlError(ScalarNet(R"(axis="1")"), "loop.iterations");
  EXPECT_EQ(Read(ScalarNet(R"(axis="1")")).labels, std::vector<std::string>{"loop.iterations"});
}

// A state that grows by concatenation with the slice.
TEST_F(TensorIteratorTest, OpensTheShapeOfAStateThatGrows) {
  const std::string body = Body("body",
                                {Parameter(0, "x", {1, 1}),
                                 Parameter(1, "h", {1, 1}),
                                 {.id = 2,
                                  .name = "grow",
                                  .type = "Concat",
                                  .data = R"(axis="1")",
                                  .inputs = {{0, "FP32", {1, -1}}, {1, "FP32", {1, 1}}},
                                  .outputs = {{2, "FP32", {1, -1}}}},
                                 Result(3, "r", {1, -1})},
                                {{1, 0, 2, 0}, {0, 0, 2, 1}, {2, 2, 3, 0}});
  LayerText loop = {.id = 2,
                    .name = "loop",
                    .type = "TensorIterator",
                    .inputs = {{0, "FP32", {1, 4}}, {1, "FP32", {1, 1}}},
                    .outputs = {{2, "FP32", {1, -1}}}};
  loop.more = "<port_map>" + MapInput(0, 0, R"(axis="1")") + MapInput(1, 1) + MapOutput(2, 3) +
              R"(</port_map><back_edges><edge from-layer="3" to-layer="1"/></back_edges>)" + body;
  const ReadOutcome outcome =
      ExpectFine(Net({Parameter(0, "X", {1, 4}), Parameter(1, "H", {1, 1}), loop, Result(3, "y", {1, -1})},
                     {{0, 0, 2, 0}, {1, 0, 2, 1}, {2, 2, 3, 0}}));
  const ir::PartialShape& shape = Loop(*outcome.graph).output(0).shape;
  ASSERT_TRUE(shape.rank_known());
  EXPECT_EQ(shape[0], ir::Dim(1));
  EXPECT_FALSE(shape[1].known());
}

TEST_F(TensorIteratorTest, RefusesIncompletePortMaps) {
  const auto without = [&](const std::string& entry) {
    std::string xml = LoopNet({});
    const size_t at = xml.find(entry);
    EXPECT_NE(at, std::string::npos) << entry;
    return xml.erase(at, entry.size());
  };
  ExpectXmlError(without(MapInput(1, 1)), "body.port-map");
  ExpectXmlError(without(MapInput(0, 0, R"(axis="1")")), "body.port-map");
  ExpectXmlError(without(MapOutput(3, 4)), "body.port-map");
  std::string doubled = LoopNet({});
  doubled.insert(doubled.find("</port_map>"), MapInput(0, 0));
  ExpectXmlError(doubled, "body.port-map");
}

// Loop-5 of 3 trips that adds 1.
std::string TripNet(std::string_view condition_data) {
  const std::string body = Body("body",
                                {Parameter(0, "i", {}, "I64"),
                                 Parameter(1, "x", {1, 2}),
                                 Const(2, "one", {}, 0, 4),
                                 {.id = 3,
                                  .name = "add",
                                  .type = "Add",
                                  .inputs = {{0, "FP32", {1, 2}}, {1, "FP32", {}}},
                                  .outputs = {{2, "FP32", {1, 2}}}},
                                 Const(4, "again", {}, 4, 1, "BOOL"),
                                 Result(5, "next", {}, "BOOL"),
                                 Result(6, "y", {1, 2})},
                                {{1, 0, 3, 0}, {2, 0, 3, 1}, {3, 2, 6, 0}, {4, 0, 5, 0}});
  LayerText loop = {.id = 3,
                    .name = "loop",
                    .type = "Loop",
                    .version = "opset5",
                    .inputs = {{0, "I64", {}}, {1, "BOOL", {}}, {2, "FP32", {1, 2}}},
                    .outputs = {{3, "FP32", {1, 2}}, {4, "FP32", {-1, 2}}}};
  loop.more = "<port_map>" + MapInput(2, 1) + MapOutput(3, 6) + MapOutput(4, 6, R"(axis="0")") +
              MapInput(-1, 0, R"(purpose="current_iteration")") +
              MapOutput(-1, 5, R"(purpose="execution_condition")") +
              R"(</port_map><back_edges><edge from-layer="6" to-layer="1"/></back_edges>)" + body;
  LayerText condition = Const(1, "condition", {}, 4, 1, "BOOL");
  if (!condition_data.empty()) {
    condition = Parameter(1, "condition", {}, "BOOL");
  }
  return Net({Const(0, "trips", {}, 5, 8, "I64"), condition, Parameter(2, "X", {1, 2}), loop,
              Result(4, "y", {1, 2}), Result(5, "all", {-1, 2})},
             {{0, 0, 3, 0}, {1, 0, 3, 1}, {2, 0, 3, 2}, {3, 3, 4, 0}, {3, 4, 5, 0}});
}

TEST_F(TensorIteratorTest, ReadsLoops) {
  std::string weights(13, 0);
  weights[4] = 1;
  weights[5] = 3;
  const ReadOutcome counted = ExpectFine(TripNet(""), weights);
  EXPECT_EQ(Loop(*counted.graph).output(1).shape, ir::PartialShape({3, 2}));
  EXPECT_EQ(Loop(*counted.graph).bodies()[0].inputs[1].external, -1);
  const ReadOutcome open = ExpectFine(TripNet("dynamic"), weights);
  EXPECT_EQ(Loop(*open.graph).output(1).shape, ir::PartialShape({ir::Dim(), ir::Dim(2)}));
}

// A body that ends the loop makes fewer rows than the trips.
TEST_F(TensorIteratorTest, ConditionsOfTheBodyEndLoops) {
  std::string weights(14, 0);
  weights[4] = 1;
  weights[5] = 3;
  std::string xml = TripNet("");
  const size_t again = xml.find(R"(name="again")");
  ASSERT_NE(again, std::string::npos);
  const std::string_view place = R"(offset="4")";
  ASSERT_NE(xml.find(place, again), std::string::npos);
  xml.replace(xml.find(place, again), place.size(), R"(offset="13")");
  const ReadOutcome ended = ExpectFine(xml, weights);
  EXPECT_TRUE(Loop(*ended.graph).output(1).shape[0].Compatible(ir::Dim(1)));
}

// Entries name ports by their ids, or all of them by their places.
TEST_F(TensorIteratorTest, EntriesHaveIdsOrPlaces) {
  // The iterator, with the inputs at the ports 10 and 11.
  const auto net = [](int64_t first, int64_t second) {
    std::string xml = LoopNet({});
    const auto replace = [&](const std::string& from, const std::string& to, size_t start) {
      const size_t at = xml.find(from, start);
      EXPECT_NE(at, std::string::npos) << from;
      xml.replace(at, from.size(), to);
    };
    replace(MapInput(0, 0, R"(axis="1")"), MapInput(first, 0, R"(axis="1")"), 0);
    replace(MapInput(1, 1), MapInput(second, 1), 0);
    const size_t loop = xml.find(R"(name="loop")");
    replace(R"(port id="0")", R"(port id="10")", loop);
    replace(R"(port id="1")", R"(port id="11")", loop);
    replace(R"(to-layer="2" to-port="0")", R"(to-layer="2" to-port="10")", xml.rfind("<edges>"));
    replace(R"(to-layer="2" to-port="1")", R"(to-layer="2" to-port="11")", xml.rfind("<edges>"));
    return xml;
  };
  ExpectFine(net(10, 11));
  ExpectFine(net(0, 1));
  const auto messages = [&](int64_t first, int64_t second) {
    const ReadOutcome outcome = Read(net(first, second));
    EXPECT_EQ(outcome.graph, nullptr);
    std::string labels;
    for (const std::string& label : outcome.labels) labels += label + ";";
    return labels;
  };
  const std::string once = "openvino.external-port-id;";
  EXPECT_EQ(messages(10, 2), once);
  EXPECT_EQ(messages(10, 12), once);
  EXPECT_EQ(messages(0, 2), once);
  EXPECT_EQ(messages(0, -5), once);
  EXPECT_EQ(messages(10, -5), once);
  EXPECT_EQ(messages(0, 11), once + once);
}

TEST_F(TensorIteratorTest, LayersOfBodiesAreNumbers) {
  std::string xml = LoopNet({});
  const std::string entry = R"(internal_layer_id="1")";
  ASSERT_NE(xml.find(entry), std::string::npos);
  xml.replace(xml.find(entry), entry.size(), R"(internal_layer_id="one")");
  const ReadOutcome outcome = Read(xml);
  EXPECT_EQ(outcome.graph, nullptr);
  EXPECT_EQ(outcome.labels, std::vector<std::string>{"openvino.xml-attribute-value"}) << outcome.text;
}

}  // namespace
}  // namespace nnefc::openvino

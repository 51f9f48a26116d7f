#include "compiler/openvino/writing/written_form.h"

#include <numeric>

#include "compiler/ir/algorithms/infer.h"
#include "fmt/core.h"
#include "tests/unit/compiler/openvino/ir_files.h"
#include "tests/unit/compiler/openvino/ir_text.h"

namespace nnefc::openvino {
namespace {

class WrittenFormTest : public IrFilesTest {
 protected:
  // A loop over a range of an axis whose length is open, as it was read.
  std::unique_ptr<ir::Graph> OpenLoop(int64_t start, int64_t end, int64_t stride) {
    const std::string range = fmt::format(R"(axis="1" start="{}" end="{}" stride="{}")", start, end, stride);
    ReadOutcome outcome = Read(LoopNet({.length = -1, .input_slice = range}));
    EXPECT_NE(outcome.graph, nullptr) << outcome.text;
    return std::move(outcome.graph);
  }
  static const ir::Node& Only(const ir::Graph& graph, std::string_view type) {
    const ir::Node* found = nullptr;
    for (ir::NodeId id : graph.nodes()) {
      if (graph.node(id).type() != type) continue;
      EXPECT_EQ(found, nullptr) << type;
      found = &graph.node(id);
    }
    NNEFC_CHECK(found != nullptr);
    return *found;
  }
  static std::vector<int64_t> Integers(const ir::Graph& graph, const ir::Node& node, int32_t input) {
    return {graph.output(node.input(input)).value->ElementAsInt(0)};
  }
  // Expects the cut that the range of OpenLoop becomes: start and stop of Slice.
  void ExpectCut(int64_t start, int64_t end, int64_t stride, int64_t first, int64_t stop) {
    const auto graph = OpenLoop(start, end, stride);
    ASSERT_NE(graph, nullptr);
    const auto form = openvino::WrittenForm(*graph);
    ASSERT_NE(form, nullptr) << start << " " << end;
    EXPECT_TRUE(ir::Verify(*form).empty());
    const ir::Node& slice = Only(*form, "Slice");
    EXPECT_EQ(Integers(*form, slice, 1), std::vector<int64_t>{first});
    EXPECT_EQ(Integers(*form, slice, 2), std::vector<int64_t>{stop});
    EXPECT_EQ(Integers(*form, slice, 3), std::vector<int64_t>{1});
    EXPECT_EQ(Integers(*form, slice, 4), std::vector<int64_t>{1});
    const ir::Node& loop = Only(*form, "TensorIterator");
    EXPECT_EQ(loop.input(0).node, slice.id());
    const ir::InputMapping& mapping = loop.bodies()[0].inputs[0];
    EXPECT_EQ(mapping.start, stride < 0 ? -1 : 0);
    EXPECT_EQ(mapping.end, stride < 0 ? 0 : -1);
    EXPECT_EQ(mapping.stride, stride);
    EXPECT_EQ(form->parameters().size(), 2u);
    EXPECT_EQ(form->node(form->results()[0]).name(), graph->node(graph->results()[0]).name());
  }
};

// Returns the values 0, 1, 2, ..
std::vector<float> Ramp(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

TEST_F(WrittenFormTest, LeavesWholeAxesAlone) {
  EXPECT_EQ(openvino::WrittenForm(*OpenLoop(0, -1, 1)), nullptr);
  EXPECT_EQ(openvino::WrittenForm(*OpenLoop(-1, 0, -1)), nullptr);
  const std::string range = R"(axis="0" start="0" end="1" stride="1")";
  const ReadOutcome first = Read(LoopNet({.part = 4, .input_slice = range, .output_slice = range}));
  ASSERT_NE(first.graph, nullptr) << first.text;
  EXPECT_EQ(openvino::WrittenForm(*first.graph), nullptr);
}

// A range of a constant that ends before its start has no elements.
TEST_F(WrittenFormTest, EmptyPartsOfConstants) {
  for (const auto& [start, end] : {std::pair<int64_t, int64_t>{3, 1}, {2, 2}, {4, -1}, {-2, 1}}) {
    const auto graph = OpenLoop(0, -1, 1);
    ASSERT_NE(graph, nullptr);
    const ir::NodeId loop = Only(*graph, "TensorIterator").id();
    graph->SetInput(loop, 0, {ir::AddConst(*graph, TensorValue::FromFloats({1, 4}, Ramp(4)), "steps"), 0});
    ir::InputMapping& mapping = graph->body(loop, 0).inputs[0];
    mapping.start = start;
    mapping.end = end;
    const auto form = openvino::WrittenForm(*graph);
    ASSERT_NE(form, nullptr);
    const ir::Node& part = form->node(Only(*form, "TensorIterator").input(0).node);
    ASSERT_TRUE(part.output().value);
    EXPECT_EQ(part.output().value->shape(), (Shape{1, 0})) << start << " " << end;
  }
}

// Only cells of opset3 join two weights in one of five inputs.
TEST_F(WrittenFormTest, OtherOperationsWithFiveInputs) {
  ir::Graph graph(&registry_, "g");
  const ir::NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({2, 3}));
  std::vector<ir::OutputPort> inputs = {{x, 0}};
  for (const float limit : {0.0F, 255.0F, 0.0F, 255.0F})
    inputs.push_back({ir::AddConst(graph, TensorValue::Scalar(limit), "c"), 0});
  ir::AttributeMap attributes;
  attributes.Set("levels", int64_t{256});
  const ir::NodeId node = ir::AddNode(graph, "opset1", "FakeQuantize",
                                      {.name = "q", .inputs = inputs, .attributes = std::move(attributes)});
  ir::AddResult(graph, "y", {node, 0});
  Emitter emitter;
  ASSERT_TRUE(ir::InferGraph(graph, emitter));
  EXPECT_EQ(openvino::WrittenForm(graph), nullptr);
}

// A range that is empty for every extent remains.
TEST_F(WrittenFormTest, EmptyRanges) {
  for (const int64_t end : {-1, 0, 3}) {
    const auto graph = OpenLoop(0, -1, 1);
    ASSERT_NE(graph, nullptr);
    ir::InputMapping& mapping = graph->body(Only(*graph, "TensorIterator").id(), 0).inputs[0];
    mapping.start = -1;
    mapping.end = end;
    EXPECT_EQ(openvino::WrittenForm(*graph), nullptr) << end;
  }
}

// A value that the loop itself provides has no tensor that can be cut.
TEST_F(WrittenFormTest, RangesOfTheIteration) {
  const auto graph = OpenLoop(0, -1, 1);
  ASSERT_NE(graph, nullptr);
  ir::InputMapping& mapping = graph->body(Only(*graph, "TensorIterator").id(), 0).inputs[0];
  mapping.external = -1;
  mapping.start = 1;
  EXPECT_EQ(openvino::WrittenForm(*graph), nullptr);
}

TEST_F(WrittenFormTest, CutsRangesBeforeTheLoop) {
  ExpectCut(1, -1, 1, 1, kToTheEnd);
  ExpectCut(0, -2, 1, 0, -1);
  ExpectCut(2, -3, 1, 2, -2);
  ExpectCut(0, 3, 1, 0, 3);
  ExpectCut(-3, -1, 1, -2, kToTheEnd);
  ExpectCut(-2, 0, -1, 0, -1);
  ExpectCut(-1, 2, -1, 2, kToTheEnd);
  ExpectCut(5, 1, -1, 1, 5);
}

// A range of a constant is a smaller constant, so that reading the written graph and compiling it folds
// nothing.
TEST_F(WrittenFormTest, CutsConstantsAtOnce) {
  struct Case {
    int64_t start, end, stride;
    std::vector<float> kept;
  };
  for (const Case& each : std::vector<Case>{{1, -1, 1, {1, 2, 3}},
                                            {0, -2, 1, {0, 1, 2}},
                                            {1, -2, 1, {1, 2}},
                                            {0, 3, 1, {0, 1, 2}},
                                            {3, 4, 1, {3}},
                                            {-3, -1, 1, {2, 3}},
                                            {-2, 0, -1, {0, 1, 2}},
                                            {-1, 2, -1, {2, 3}}}) {
    const auto graph = OpenLoop(each.start, each.end, each.stride);
    ASSERT_NE(graph, nullptr);
    const ir::NodeId loop = Only(*graph, "TensorIterator").id();
    const ir::NodeId constant = ir::AddConst(*graph, TensorValue::FromFloats({1, 4}, {0, 1, 2, 3}), "steps");
    graph->SetInput(loop, 0, {constant, 0});
    Emitter emitter;
    ASSERT_TRUE(ir::InferGraph(*graph, emitter));
    const auto form = openvino::WrittenForm(*graph);
    ASSERT_NE(form, nullptr);
    const ir::Node& part = form->node(Only(*form, "TensorIterator").input(0).node);
    EXPECT_EQ(part.name(), "loop/part0");
    ASSERT_TRUE(part.output().value);
    EXPECT_EQ(*part.output().value,
              TensorValue::FromFloats({1, static_cast<int64_t>(each.kept.size())}, each.kept))
        << each.start << " " << each.end;
    EXPECT_EQ(Only(*form, "Const").id(), part.id());  // neither the whole nor operands of a Slice
    EXPECT_EQ(openvino::WrittenForm(*form), nullptr);
  }
}

// Elements that are packed, or that have no bytes of their own, are cut by a Slice, and so are other values.
TEST_F(WrittenFormTest, SlicesPackedConstants) {
  for (const bool has_value : {false, true}) {
    const auto graph = OpenLoop(1, -1, 1);
    ASSERT_NE(graph, nullptr);
    const ir::NodeId loop = Only(*graph, "TensorIterator").id();
    const ir::NodeId constant =
        ir::AddConst(*graph, TensorValue::Filled(ElementType::kU4, {1, 4}, 1), "steps");
    if (!has_value) graph->SetOutputValue({constant, 0}, std::nullopt);
    graph->SetInput(loop, 0, {constant, 0});
    const auto form = openvino::WrittenForm(*graph);
    ASSERT_NE(form, nullptr);
    EXPECT_EQ(form->node(Only(*form, "Slice").input(0).node).name(), "steps");
  }
}

TEST_F(WrittenFormTest, GivesTheCellOfOldConvertersTwoMatrices) {
  ir::Graph graph(&registry_, "net");
  const ir::NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape({1, 3}));
  const ir::NodeId h = ir::AddParameter(graph, "h", ElementType::kF32, ir::PartialShape({1, 2}));
  const ir::NodeId c = ir::AddParameter(graph, "c", ElementType::kF32, ir::PartialShape({1, 2}));
  const ir::NodeId weights = ir::AddConst(graph, TensorValue::FromFloats({8, 5}, Ramp(40)), "weights");
  const ir::NodeId bias = ir::AddConst(graph, TensorValue::Filled(ElementType::kF32, {8}, 0), "bias");
  const ir::OutputPort inputs[] = {{x, 0}, {h, 0}, {c, 0}, {weights, 0}, {bias, 0}};
  ir::AttributeMap attributes;
  attributes.Set("hidden_size", int64_t{2});
  const ir::NodeId cell =
      ir::AddNode(graph, "opset1", "LSTMCell",
                  {.name = "cell", .inputs = inputs, .attributes = std::move(attributes), .num_outputs = 2});
  ir::AddResult(graph, "next_h", {cell, 0});
  ir::AddResult(graph, "next_c", {cell, 1});
  Emitter emitter;
  ASSERT_TRUE(ir::InferGraph(graph, emitter));
  const auto form = openvino::WrittenForm(graph);
  ASSERT_NE(form, nullptr);
  EXPECT_TRUE(ir::InferGraph(*form, emitter));
  const ir::Node& split = Only(*form, "LSTMCell");
  ASSERT_EQ(split.num_inputs(), 6);
  EXPECT_EQ(split.name(), "cell");
  EXPECT_EQ(form->output(split.input(3)).shape, ir::PartialShape({8, 3}));
  EXPECT_EQ(form->output(split.input(4)).shape, ir::PartialShape({8, 2}));
  EXPECT_EQ(form->output(split.input(5)).shape, ir::PartialShape({8}));
  for (int64_t row = 0; row < 8; ++row) {
    for (int64_t column = 0; column < 3; ++column)
      EXPECT_EQ(form->output(split.input(3)).value->ElementAsInt(3 * row + column), 5 * row + column);
    for (int64_t column = 0; column < 2; ++column)
      EXPECT_EQ(form->output(split.input(4)).value->ElementAsInt(2 * row + column), 5 * row + 3 + column);
  }
  EXPECT_EQ(form->node(split.input(3).node).name(), "cell/w");
  EXPECT_EQ(form->node(split.input(4).node).name(), "cell/r");
  for (ir::NodeId id : form->nodes()) EXPECT_NE(form->node(id).name(), "weights");
  EXPECT_EQ(form->node(form->results()[1]).input(0), (ir::OutputPort{split.id(), 1}));
  EXPECT_EQ(openvino::WrittenForm(*form), nullptr);
}

}  // namespace
}  // namespace nnefc::openvino

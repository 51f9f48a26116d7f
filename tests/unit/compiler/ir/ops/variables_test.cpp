#include "compiler/ir/ops/variables.h"

#include <utility>
#include <vector>

#include "fmt/core.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::ir::ops {
namespace {

TEST(TensorIntroducingTest, External) {
  EXPECT_EQ(Infer({"external", {}, "shape = [1,3], dtype = \"scalar\""}), "f32[1,3]");
  EXPECT_EQ(Infer({"external", {}, "shape = [], dtype = \"logical\""}), "boolean[]");
  EXPECT_EQ(Infer({"external", {}, "shape = [?,3], dtype = \"scalar\""}), "f32[?,3]");
  EXPECT_EQ(Infer({"external", {}, "shape = [0,3], dtype = \"scalar\""}), "external.shape");
  EXPECT_EQ(Infer({"external", {}, "shape = [1,-3], dtype = \"scalar\""}), "external.shape");
  EXPECT_EQ(Infer({"external", {}, "shape = [4294967296,4294967296], dtype = \"scalar\""}), "shape.overflow");
  EXPECT_EQ(Infer({"external", {}, "shape = 3, dtype = \"scalar\""}), "node.attribute-kind");
}

TEST(TensorIntroducingTest, Constant) {
  EXPECT_EQ(Infer({"constant", {}, "shape = [2,2], value = [1.0,2.0,3.0,4.0], dtype = \"scalar\""}),
            "f32[2,2]");
  EXPECT_EQ(Infer({"constant", {}, "shape = [2,2], value = [7], dtype = \"integer\""}), "i64[2,2]");
  EXPECT_EQ(Infer({"constant", {}, "shape = [2], value = [true,false], dtype = \"logical\""}), "boolean[2]");
  EXPECT_EQ(Infer({"constant", {}, "shape = [], value = [1.0], dtype = \"scalar\""}), "f32[]");
  EXPECT_EQ(Infer({"constant", {}, "shape = [2], value = [1.0,2.0,3.0], dtype = \"scalar\""}),
            "constant.value");
  EXPECT_EQ(Infer({"constant", {}, "shape = [2], value = [], dtype = \"scalar\""}), "constant.value");
  EXPECT_EQ(Infer({"constant", {}, "shape = [0], value = [1.0], dtype = \"scalar\""}), "constant.shape");
  EXPECT_EQ(Infer({"constant", {}, "shape = [2], value = [1], dtype = \"scalar\""}), "node.attribute-kind");
  EXPECT_EQ(Infer({"constant", {}, "shape = [4294967296,4294967296], value = [1.0], dtype = \"scalar\""}),
            "shape.overflow");
}

TEST(TensorIntroducingTest, ConstantHasItsValue) {
  Graph graph(&StandardOps(), "g");
  AttributeMap attributes;
  attributes.Set("shape", Attribute::Integers{2, 2});
  attributes.Set("value", Attribute::Scalars{2.5});
  attributes.Set("dtype", "scalar");
  const NodeId node = AddNode(graph, "nnef", "constant", {.name = "c", .attributes = attributes});
  Emitter emitter;
  ASSERT_TRUE(ir::InferNode(graph, node, emitter));
  ASSERT_TRUE(graph.node(node).output().value.has_value());
  EXPECT_EQ(*graph.node(node).output().value, TensorValue::FromFloats({2, 2}, {2.5f, 2.5f, 2.5f, 2.5f}));
}

// Larger constants are not propagated.
TEST(TensorIntroducingTest, ConstantsUpTo4096ElementsHaveTheirValue) {
  for (const int64_t count : {4095, 4096, 4097}) {
    Graph graph(&StandardOps(), "g");
    AttributeMap attributes;
    attributes.Set("shape", Attribute::Integers{count});
    attributes.Set("value", Attribute::Scalars{2.5});
    attributes.Set("dtype", "scalar");
    const NodeId node = AddNode(graph, "nnef", "constant", {.name = "c", .attributes = attributes});
    Emitter emitter;
    ASSERT_TRUE(ir::InferNode(graph, node, emitter));
    EXPECT_EQ(graph.node(node).output().value.has_value(), count <= 4096) << count;
  }
}

TEST(TensorIntroducingTest, Variable) {
  EXPECT_EQ(Infer({"variable", {}, R"(shape = [2], label = "conv1/filter", dtype = "scalar")"}), "f32[2]");
  EXPECT_EQ(Infer({"variable", {}, R"(shape = [2], label = "a.b\\C-1_2", dtype = "integer")"}), "i64[2]");
  EXPECT_EQ(Infer({"variable", {}, R"(shape = [2], label = "", dtype = "scalar")"}), "variable.label");
  EXPECT_EQ(Infer({"variable", {}, R"(shape = [2], label = "a\x00", dtype = "scalar")"}), "variable.label");
  EXPECT_EQ(Infer({"variable", {}, R"(shape = [-2], label = "a", dtype = "scalar")"}), "variable.shape");
}

class UpdateTest : public ::testing::Test {
 protected:
  OutputPort Variable(const char* label, Attribute::Integers shape, bool is_exact = false) {
    AttributeMap attributes;
    if (is_exact) attributes.Set(kExactLabel, true);
    attributes.Set("shape", std::move(shape));
    attributes.Set("label", label);
    attributes.Set("dtype", "scalar");
    const NodeId node = AddNode(graph_, "nnef", "variable", {.name = label, .attributes = attributes});
    EXPECT_TRUE(ir::InferNode(graph_, node, emitter_));
    return {node, 0};
  }
  bool Update(OutputPort variable, OutputPort value) {
    const OutputPort inputs[] = {variable, value};
    return ir::InferNode(graph_, AddNode(graph_, "nnef", "update", {.name = "u", .inputs = inputs}),
                         emitter_);
  }
  std::string Rule() const {
    return emitter_.diagnostics().empty() ? "" : std::string(emitter_.diagnostics().back().rule->label);
  }

  Graph graph_{&StandardOps(), "g"};
  Emitter emitter_;
};

// Variables of an invalid label, which its shape function reports, share their data with none.
TEST_F(UpdateTest, LabelsThatAreNoStrings) {
  for (const Attribute& label : {Attribute(int64_t{3}), Attribute(Attribute::Strings{"x"})}) {
    AttributeMap attributes;
    attributes.Set("label", label);
    AddNode(graph_, "nnef", "variable", {.name = "v", .attributes = attributes});
  }
  AddNode(graph_, "nnef", "variable", {.name = "w"});
  Variable("x", {2});
  EXPECT_TRUE(ops::CheckVariables(graph_, emitter_)) << Rule();
}

// Only updates write: any number of operations may read the variable as well.
TEST_F(UpdateTest, ReadersDoNotUpdate) {
  const OutputPort x = Variable("x", {2});
  for (const char* name : {"a", "b"}) {
    const NodeId reader = AddNode(graph_, "nnef", "relu", {.name = name, .inputs = x});
    ASSERT_TRUE(ir::InferNode(graph_, reader, emitter_));
    if (name[0] == 'b') {
      EXPECT_TRUE(Update(x, {reader, 0}));
    }
  }
  EXPECT_TRUE(ops::CheckVariables(graph_, emitter_)) << Rule();
}

TEST_F(UpdateTest, SwapsTwoVariables) {
  const OutputPort x = Variable("x", {2});
  const OutputPort y = Variable("y", {2});
  EXPECT_TRUE(Update(x, y));
  EXPECT_TRUE(Update(y, x));
  EXPECT_TRUE(ops::CheckVariables(graph_, emitter_));
  EXPECT_EQ(graph_.sinks().size(), 2u);
}

TEST_F(UpdateTest, Shape) {
  EXPECT_FALSE(Update(Variable("x", {2}), Variable("y", {3})));
  EXPECT_EQ(Rule(), "update.shape");
}

// A shape that is not known may be that of the variable.
TEST_F(UpdateTest, OpenShapes) {
  for (const PartialShape& shape : {PartialShape(), PartialShape{Dim()}, PartialShape{Dim(1, 2)}}) {
    const NodeId value = AddParameter(graph_, "e", ElementType::kF32, shape);
    EXPECT_TRUE(Update(Variable("x", {2}), {value, 0})) << ToString(shape);
  }
  for (const PartialShape& shape : {PartialShape{Dim(3, 4)}, PartialShape{2, Dim()}}) {
    const NodeId value = AddParameter(graph_, "e", ElementType::kF32, shape);
    EXPECT_FALSE(Update(Variable("x", {2}), {value, 0})) << ToString(shape);
  }
}

TEST_F(UpdateTest, Target) {
  const OutputPort x = Variable("x", {2});
  const NodeId external = AddParameter(graph_, "e", ElementType::kF32, PartialShape{2});
  EXPECT_FALSE(Update({external, 0}, x));
  EXPECT_EQ(Rule(), "update.variable");
}

TEST_F(UpdateTest, Twice) {
  const OutputPort x = Variable("x", {2});
  const OutputPort same = Variable("X", {2});
  EXPECT_TRUE(Update(x, same));
  EXPECT_TRUE(ops::CheckVariables(graph_, emitter_));
  EXPECT_TRUE(Update(same, x));
  EXPECT_FALSE(ops::CheckVariables(graph_, emitter_));
  EXPECT_EQ(Rule(), "update.once");
}

TEST_F(UpdateTest, SharedLabel) {
  Variable("Block/w", {2});
  Variable("block/W", {3});
  EXPECT_FALSE(ops::CheckVariables(graph_, emitter_));
  EXPECT_EQ(Rule(), "variable.shared-label");
}

// P 4.1: extents of 1 at the end are implied for variables with exact labels, whichever comes first.
TEST_F(UpdateTest, SharedLabelsOfImpliedExtents) {
  using Shape = Attribute::Integers;
  const auto may_share = [](const Shape& first, const Shape& second, bool is_exact) {
    Graph graph(&StandardOps(), "g");
    Emitter emitter;
    for (const Shape& shape : {first, second}) {
      AttributeMap attributes;
      if (is_exact) attributes.Set(kExactLabel, true);
      attributes.Set("shape", shape);
      attributes.Set("label", "w");
      attributes.Set("dtype", "scalar");
      const NodeId node = AddNode(graph, "nnef", "variable", {.name = "w", .attributes = attributes});
      EXPECT_TRUE(ir::InferNode(graph, node, emitter));
    }
    return ops::CheckVariables(graph, emitter);
  };
  for (const auto& [longer, shorter] :
       {std::pair(Shape{2, 1}, Shape{2}), {{2, 3, 1, 1}, {2, 3}}, {{1}, {}}}) {
    EXPECT_TRUE(may_share(longer, shorter, true));
    EXPECT_TRUE(may_share(shorter, longer, true));
    EXPECT_FALSE(may_share(longer, shorter, false));
    EXPECT_TRUE(may_share(longer, longer, false));
  }
  for (const auto& [longer, shorter] : {std::pair(Shape{2, 3}, Shape{2}), {{1, 2}, {2}}, {{3, 1}, {2}}}) {
    EXPECT_FALSE(may_share(longer, shorter, true));
    EXPECT_FALSE(may_share(shorter, longer, true));
  }
}

// Characters that cannot be printed are reported as numbers.
TEST_F(UpdateTest, LabelsNameTheWrongCharacter) {
  const std::vector<std::pair<std::string, std::string>> cases = {{"\x1f", "the byte 0x1f"},
                                                                  {" ", "` `"},
                                                                  {"!", "`!`"},
                                                                  {",", "`,`"},
                                                                  {":", "`:`"},
                                                                  {"@", "`@`"},
                                                                  {"[", "`[`"},
                                                                  {"]", "`]`"},
                                                                  {"^", "`^`"},
                                                                  {"`", "```"},
                                                                  {"{", "`{`"},
                                                                  {"~", "`~`"},
                                                                  {"\x7f", "the byte 0x7f"},
                                                                  {"\x80", "the byte 0x80"},
                                                                  {"\xff", "the byte 0xff"}};
  for (const auto& [text, shown] : cases) {
    Graph graph(&StandardOps(), "g");
    std::swap(graph, graph_);
    Emitter emitter;
    Variable(("a" + text + "b~").c_str(), {2});
    EXPECT_FALSE(ops::CheckVariables(graph_, emitter));
    ASSERT_EQ(emitter.diagnostics().size(), 1u);
    EXPECT_EQ(
        emitter.diagnostics()[0].message,
        fmt::format("`label` of `variable` contains {}; expected letters, digits, `_`, `-`, `.`, `/`, `\\`",
                    shown));
    EXPECT_EQ(RatifiedLabels(graph_).changes().front().after, "a_b_");
  }
  for (const char* label : {"azAZ09_-./b", "a\\b", "/a", "a/"}) {
    Graph graph(&StandardOps(), "g");
    std::swap(graph, graph_);
    Variable(label, {2});
    EXPECT_TRUE(ops::CheckVariables(graph_, emitter_)) << label;
    EXPECT_TRUE(RatifiedLabels(graph_).changes().empty());
  }
}

// One error for all variables of a label, at the first one.
TEST_F(UpdateTest, OneErrorForALabel) {
  Variable("a:b", {2});
  Variable("A:b", {2});
  Variable("a;c", {2});
  Variable("a:b", {2}, /*is_exact=*/true);
  EXPECT_FALSE(ops::CheckVariables(graph_, emitter_));
  EXPECT_EQ(emitter_.diagnostics().size(), 2u);
}

// Labels that become equal stay distinct; equal ones stay equal. Valid ones never change.
TEST_F(UpdateTest, RatifiedLabels) {
  const auto label = [&](const char* before) { return Variable(before, {2}, /*is_exact=*/true).node; };
  const NodeId colon = label("a:b"), again = label("a:b"), blank = label("a b"), plain = label("a_b"),
               second = label("a_b_2"), upper = label("A_B"), other = label("w"), mark = label("c:d/e"),
               folder = label("c_d.dat:/e"), file = label("c_d");
  const ops::RatifiedLabels labels(graph_);
  const auto of = [&](NodeId node) { return labels.Of(graph_.node(node)); };
  EXPECT_EQ(of(colon), "a_b_3");
  EXPECT_EQ(of(again), "a_b_3");
  EXPECT_EQ(of(blank), "a_b_4");
  EXPECT_EQ(of(plain), "a_b");
  EXPECT_EQ(of(second), "a_b_2");
  EXPECT_EQ(of(upper), "A_B_5");
  EXPECT_EQ(of(other), "w");
  EXPECT_EQ(of(mark), "c_d/e");
  EXPECT_EQ(of(folder), "c_d.dat_/e");
  EXPECT_EQ(of(file), "c_d");
  EXPECT_EQ(labels.changes().size(), 5u);
}

// No file is the folder of another one.
TEST_F(UpdateTest, RatifiedLabelsFitIntoOneFolder) {
  const NodeId file = Variable("a_b", {2}, /*is_exact=*/true).node;
  const NodeId folder = Variable("a:b.dat/w", {2}, /*is_exact=*/true).node;
  const NodeId text = Variable("graph:nnef/w", {2}, /*is_exact=*/true).node;
  const NodeId graph = Variable("graph.nnef/w", {2}, /*is_exact=*/true).node;
  const NodeId quantization = Variable("Graph.quant/v", {2}, /*is_exact=*/true).node;
  const ops::RatifiedLabels labels(graph_);
  EXPECT_EQ(labels.Of(graph_.node(file)), "a_b");
  EXPECT_EQ(labels.Of(graph_.node(folder)), "a_b.dat_w");
  EXPECT_EQ(labels.Of(graph_.node(text)), "graph_nnef/w");
  EXPECT_EQ(labels.Of(graph_.node(graph)), "graph.nnef_w");
  EXPECT_EQ(labels.Of(graph_.node(quantization)), "Graph.quant_v");
}

}  // namespace
}  // namespace nnefc::ir::ops

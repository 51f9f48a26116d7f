#include "compiler/ir/ops/adjusting_inputs.h"

#include <set>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "gtest/gtest.h"

namespace nnefc::ir::ops {
namespace {

// Each input of that kind has the trait in its row: an input without it is broadcast silently.
TEST(AdjustingInputsTest, RowsSayWhichInputsAdjust) {
  const std::set<std::string> names = {"bias",  "mean", "variance", "offset",    "scale",
                                       "alpha", "min",  "max",      "zero_point"};
  int count = 0;
  for (size_t i = 0; i < StandardOps().size(); ++i) {
    const OpInfo& info = StandardOps().Info(OpId(static_cast<int32_t>(i)));
    if (info.set != kNnefSet) continue;
    // A bias of a product is added to its columns. Ranges of values are broadcast along any axis.
    const bool is_range = info.name == "clamp" || std::string_view(info.name).ends_with("quantize");
    const Adjusts expected = is_range                ? Adjusts::kAnyExtent
                             : info.name == "linear" ? Adjusts::kColumns
                                                     : Adjusts::kChannels;
    for (const InputInfo& input : info.inputs) {
      if (names.count(input.name) == 0 && (info.name != "clamp" || input.name == "x")) {
        EXPECT_EQ(input.adjusts, Adjusts::kNothing) << info.name << " " << input.name;
        continue;
      }
      EXPECT_EQ(input.adjusts, expected) << info.name << " " << input.name;
      ++count;
    }
  }
  // conv, deconv, two separable ones, linear, prelu, batch_normalization, three quantizations with two inputs
  // and one with one, clamp.
  EXPECT_EQ(count, 4 + 1 + 1 + 4 + 3 * 2 + 1 + 2);
}

class EnlargedTest : public ::testing::Test {
 protected:
  // Returns the messages for `x` of one shape and an operand of another.
  std::vector<std::string> Messages(const std::string& operation, const std::string& x,
                                    const std::string& operand) {
    const auto parameter = [](int label, const std::string& name, const std::string& shape) {
      return "  %" + std::to_string(label) + " = nnef.external \"" + name + "\" {shape = [" + shape +
             "], dtype = \"scalar\"} : f32[" + shape + "]\n";
    };
    Context context;
    const FileId file =
        context.sources.AddText("graph", "graph \"g\" {\n" + parameter(0, "x", x) +
                                             parameter(1, "operand", operand) + operation + "}\n");
    const auto graph = ParseGraph(file, StandardOps(), context);
    if (graph == nullptr || !InferGraph(*graph, context.emitter))
      return {"no graph: " + context.emitter.diagnostics().front().message};
    Emitter emitter;
    CheckAdjustingInputs(*graph, emitter);
    std::vector<std::string> messages;
    for (const Diagnostic& diagnostic : emitter.diagnostics()) messages.push_back(diagnostic.message);
    return messages;
  }

  static constexpr char kPrelu[] = "  %2 = nnef.prelu \"y\" (%0, %1) : f32[...]\n";
};

TEST_F(EnlargedTest, BothSides) {
  for (const char* operand : {"1,16", "1,16,1,1", "1", "1,1,1,8", "1,1,8", "1,16,8,8"})
    EXPECT_TRUE(Messages(kPrelu, "1,16,8,8", operand).empty()) << operand;
  for (const char* operand : {"16", "2", "16,1,1,1", "2,16"})
    EXPECT_EQ(Messages(kPrelu, "1,16,8,8", operand).size(), 1U) << operand;
  EXPECT_TRUE(Messages(kPrelu, "16,16,8,8", "16").empty());
  EXPECT_EQ(Messages(kPrelu, "1,1,8,8", "1,16").size(), 1U);  // channels
  EXPECT_EQ(Messages(kPrelu, "1,16", "1,16,3").size(), 1U);   // one axis more
  EXPECT_TRUE(Messages(kPrelu, "1,16", "1,16,1").empty());
  EXPECT_TRUE(Messages(kPrelu, "1", "16").empty());  // a vector
}

// A product has the columns of its transposed filter. Operands that do not fit have no product.
TEST(AdjustingInputsTest, ProductsHaveTheShapeOfTheResult) {
  const auto product = [](const char* input, const char* filter) {
    Graph graph(&StandardOps(), "g");
    const auto add = [&](const char* shape) {
      return OutputPort{AddParameter(graph, "x", ElementType::kF32, *ParsePartialShape(shape)), 0};
    };
    const OutputPort inputs[] = {add(input), add(filter), add("[]")};
    const NodeId node = AddNode(graph, kNnefSet, "linear", {.name = "y", .inputs = inputs});
    return ToString(AdjustedShape(graph, graph.node(node)));
  };
  EXPECT_EQ(product("[2,3]", "[4,3]"), "[2,4]");
  EXPECT_EQ(product("[?,3]", "[4,3]"), "[?,4]");
  EXPECT_EQ(product("[1,5,2,3]", "[6,1,4,3]"), "[6,5,2,4]");
  EXPECT_EQ(product("[6,1,2,3]", "[1,5,4,3]"), "[6,5,2,4]");
  EXPECT_EQ(product("[1,2,3]", "[5,4,3]"), "[5,2,4]");
  EXPECT_EQ(product("[5,2,3]", "[5,?,3]"), "[5,2,?]");
  for (const char* other : {"[...]", "[3]", "[1,4,3]"}) EXPECT_EQ(product("[2,3]", other), "[...]") << other;
  EXPECT_EQ(product("[3]", "[3]"), "[...]");
  EXPECT_EQ(product("[...]", "[4,3]"), "[...]");
  EXPECT_EQ(product("[]", "[]"), "[...]");
}

// A vector is along the wrong axis only if the extent of the meant one is known to be that of the vector.
TEST(AdjustingInputsTest, MisplacedVectorsHaveTheExtentOfTheChannels) {
  const auto misplaced = [](const char* x, const char* operand) -> std::string {
    Graph graph(&StandardOps(), "g");
    const auto add = [&](const char* shape) {
      return OutputPort{AddParameter(graph, "x", ElementType::kF32, *ParsePartialShape(shape)), 0};
    };
    const OutputPort inputs[] = {add(x), add(operand)};
    const NodeId node = AddNode(graph, kNnefSet, "prelu", {.name = "y", .inputs = inputs});
    const auto found = FindMisplaced(graph, graph.node(node), 1);
    return found ? std::to_string(found->found) + " for " + std::to_string(found->meant) : "none";
  };
  EXPECT_EQ(misplaced("[1,16,8,8]", "[16]"), "0 for 1");
  EXPECT_EQ(misplaced("[1,16]", "[16]"), "0 for 1");
  for (const char* x :
       {"[1,16..20,8,8]", "[1,?,8,8]", "[1,15,8,8]", "[1,17,8,8]", "[1,1,8,8]", "[16]", "[...]"})
    EXPECT_EQ(misplaced(x, "[16]"), "none") << x;
  for (const char* operand : {"[1]", "[]", "[?]", "[...]", "[16,1]"})
    EXPECT_EQ(misplaced("[1,16,8,8]", operand), "none") << operand;
  EXPECT_EQ(misplaced("[1,1,8,8]", "[1]"), "none");
}

// An open extent may be that of the operand, even if it may be 1, too.
TEST(AdjustingInputsTest, OpenExtentsAreNotEnlarged) {
  const auto messages = [](const char* x, const char* operand) {
    Graph graph(&StandardOps(), "g");
    const auto add = [&](const char* shape) {
      return OutputPort{AddParameter(graph, "x", ElementType::kF32, *ParsePartialShape(shape)), 0};
    };
    const OutputPort inputs[] = {add(x), add(operand)};
    const NodeId node = AddNode(graph, kNnefSet, "prelu", {.name = "y", .inputs = inputs});
    graph.SetOutputType({node, 0}, ElementType::kF32, PartialShape::OfRank(4));
    Emitter emitter;
    CheckAdjustingInputs(graph, emitter);
    return emitter.diagnostics().size();
  };
  for (const char* x : {"[1,1..16,8,8]", "[1,0..1,8,8]", "[1,?,8,8]"})
    EXPECT_EQ(messages(x, "[1,16]"), 0U) << x;
  EXPECT_EQ(messages("[1,1,8,8]", "[1,16]"), 1U);
  EXPECT_EQ(messages("[1,1,8,8]", "[1,2..16]"), 1U);
  EXPECT_EQ(messages("[1,1,8,8]", "[1,1..16]"), 0U);
}

TEST_F(EnlargedTest, TheMessageNamesBothShapes) {
  EXPECT_EQ(Messages(kPrelu, "1,16,8,8", "16"),
            std::vector<std::string>{"`alpha` of `prelu` has shape [16], which is repeated so that the "
                                     "result has shape [16,16,8,8] where `x` "
                                     "has [1,16,8,8]; expected [1,16], the channels at axis 1, or a number"});
}

}  // namespace
}  // namespace nnefc::ir::ops

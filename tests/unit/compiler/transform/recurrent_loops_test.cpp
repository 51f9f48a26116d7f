// Loops over recurrent steps in the form of exported scans: each condition alone.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

const std::string kForwardSlice = "slice(axis 0, start 0, end -1, stride 1, part 1)";
const std::string kBackwardSlice = "slice(axis 0, start -1, end 0, stride -1, part 1)";

// state = tanh(x * w + b + state * r) for each of 3 steps, with the product and its bias before the loop.
struct ScanLoop {
  std::string x = "[3,1,2]", state = "[1,1,1]", part = "[1,1,1]";
  std::string w = "f32[1,2] = dense<f32[1,2]: 1.0, 2.0>", product = "transpose_a = false, transpose_b = true";
  std::string b = "f32[1,1,1] = dense<f32[1,1,1]: 7.0>";
  std::string sum = "%p, %b";  // the operands of the sum of product and bias
  std::string data = "%s";     // the first input of the loop
  std::string before = "";     // further statements before the loop
  std::string more_inputs = "";
  std::string slice = kForwardSlice, more_mappings = "", joined = kForwardSlice;
  std::string back = "back 0 -> 1", last = "";  // the mapping of a second output, of the same value
  std::string r = "f32[1,1] = dense<f32[1,1]: 0.5>";
  std::string more_parameters = "", nodes = "", total = "%part, %q", next = "Tanh";

  std::string Text() const {
    const auto parameter = [](const std::string& name, const std::string& shape) {
      return fmt::format("  %{} = opset1.Parameter \"{}\" {{element_type = f32, shape = {}}} : f32{}\n", name,
                         name, shape, shape);
    };
    return parameter("x", x) + parameter("h", state) + "  %w = opset1.Const \"w\" : " + w +
           "\n  %b = opset1.Const \"b\" : " + b + "\n  %p = opset1.MatMul \"p\" (%x, %w) {" + product +
           "} : f32[...]\n  %s = opset1.Add \"s\" (" + sum + ") : f32[...]\n" + before + "  %l" +
           (last.empty() ? "" : ":2") + " = opset1.TensorIterator \"loop\" (" + data + ", %h" + more_inputs +
           ") : f32[...]" + (last.empty() ? "" : ", f32[...]") + " bodies {\n    \"body\" input 0 -> 0 " +
           slice + " input 1 -> 1" + more_mappings + " output 0 -> 0 " + joined + last + " " + back +
           " graph \"step\" {\n" + parameter("part", part) + parameter("state", state) + more_parameters +
           "  %r = opset1.Const \"r\" : " + r +
           "\n  %q = opset1.MatMul \"q\" (%state, %r) {transpose_a = false, transpose_b = true} : "
           "f32[...]\n" +
           nodes + "  %sum = opset1.Add \"sum\" (" + total + ") : f32[...]\n  %next = opset1." + next +
           " \"next\" (%sum) : f32[...]\n  opset1.Result \"all\" (%next)\n    }\n  }\n  opset1.Result \"y\" "
           "(%l)\n" +
           (last.empty() ? "" : "  opset1.Result \"z\" (%l.1)\n");
  }
};

class RecurrentLoopsTest : public TransformTest {
 protected:
  // Returns the constants of the cell that the loop has afterwards: "1 2 | 0.5 | 7"; or "stays".
  std::string After(const ScanLoop& form) {
    const TransformationList list = StandardTransformations();
    graph_ = Parse(Numbered(form.Text()));
    if (graph_ == nullptr) return "no graph";
    const ir::PartialShape before = graph_->output(graph_->node(graph_->results()[0]).input(0)).shape;
    EXPECT_EQ(Run(list, *graph_, Side::kAfterLowering, {.only = {"middle.RecurrentLoopForm"}}), "");
    EXPECT_EQ(graph_->output(graph_->node(graph_->results()[0]).input(0)).shape, before);
    for (ir::NodeId id : graph_->nodes()) {
      if (!graph_->node(id).Is(ir::OpRole::kTensorIterator)) continue;
      const ir::Body& body = graph_->node(id).bodies()[0];
      for (ir::NodeId inner : body.graph->nodes()) {
        const ir::Node& node = body.graph->node(inner);
        if (node.type() != "RNNCell") continue;
        std::string text;
        for (int32_t input = 2; input < 5; ++input) {
          const TensorValue& value = *body.graph->output(node.input(input)).value;
          text += input == 2 ? "" : " | ";
          for (int64_t i = 0; i < value.volume(); ++i)
            text += fmt::format("{}{:g}", i == 0 ? "" : " ", value.ElementAsDouble(i));
        }
        return text;
      }
    }
    return "stays";
  }

  std::unique_ptr<ir::Graph> graph_;
};

TEST_F(RecurrentLoopsTest, ProductsBeforeTheLoop) {
  EXPECT_EQ(After({}), "1 2 | 0.5 | 7");
  EXPECT_EQ(After({.data = "%p"}), "1 2 | 0.5 | 0");
  EXPECT_EQ(After({.slice = kBackwardSlice, .joined = kBackwardSlice}), "1 2 | 0.5 | 7");
  EXPECT_EQ(After({.next = "Sigmoid"}), "1 2 | 0.5 | 7");
  EXPECT_EQ(After({.w = "f32[2,1] = dense<f32[2,1]: 1.0, 2.0>",
                   .product = "transpose_a = false, transpose_b = false"}),
            "1 2 | 0.5 | 7");
  EXPECT_EQ(After({.w = "f32[1,1,2] = dense<f32[1,1,2]: 1.0, 2.0>"}), "1 2 | 0.5 | 7");
  // A matrix for each step, one that is computed, one more axis, and a transposed x.
  EXPECT_EQ(After({.w = "f32[3,1,2] = dense<f32[3,1,2]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>"}), "stays");
  EXPECT_EQ(
      After({.data = "%t",
             .before =
                 "  %o = opset1.Parameter \"o\" {element_type = f32, shape = [1,2]} : f32[1,2]\n  %t = "
                 "opset1.MatMul \"t\" (%x, %o) {transpose_a = false, transpose_b = true} : f32[...]\n"}),
      "stays");
  EXPECT_EQ(After({.x = "[3,2,1]", .product = "transpose_a = true, transpose_b = true"}), "stays");
}

TEST_F(RecurrentLoopsTest, BiasesBeforeTheLoop) {
  for (const char* shape : {"f32[]", "f32[1]", "f32[1,1]", "f32[1,1,1]"}) {
    const std::string b = fmt::format("{} = dense<{}: 7.0>", shape, shape);
    EXPECT_EQ(After({.b = b}), "1 2 | 0.5 | 7") << shape;
    EXPECT_EQ(After({.b = b, .sum = "%b, %p"}), "1 2 | 0.5 | 7") << shape;
  }
  // A bias for each step or each row; of one more axis; a second one; one that is computed.
  EXPECT_EQ(After({.b = "f32[3,1,1] = dense<f32[3,1,1]: 1.0, 2.0, 3.0>"}), "stays");
  const ScanLoop rows{.x = "[3,2,2]", .state = "[1,2,1]", .part = "[1,2,1]"};
  EXPECT_EQ(After(rows), "1 2 | 0.5 | 7");
  ScanLoop biased = rows;
  biased.b = "f32[2,1] = dense<f32[2,1]: 1.0, 2.0>";
  EXPECT_EQ(After(biased), "stays");
  EXPECT_EQ(After({.data = "%t", .before = "  %t = opset1.Add \"t\" (%s, %b) : f32[...]\n"}), "stays");
  EXPECT_EQ(After({.sum = "%p, %p"}), "stays");
}

TEST_F(RecurrentLoopsTest, SlicesOfSteps) {
  EXPECT_EQ(After({.slice = "slice(axis 0, start 0, end -1, stride 1, part 1)",
                   .joined = "slice(axis 1, start 0, end -1, stride 1, part 1)"}),
            "stays");
  // Along another axis.
  EXPECT_EQ(After({.x = "[1,3,2]", .slice = "slice(axis 1, start 0, end -1, stride 1, part 1)"}), "stays");
  EXPECT_EQ(After({.x = "[...]"}), "stays");
  EXPECT_EQ(After({.x = "[?,1,2]"}), "1 2 | 0.5 | 7");
  EXPECT_EQ(After({.x = "[3,1,?]"}), "stays");
  EXPECT_EQ(After({.x = "[3,?,2]"}), "stays");
  // Two steps at a time.
  EXPECT_EQ(After({.x = "[4,1,2]",
                   .state = "[2,1,1]",
                   .part = "[2,1,1]",
                   .slice = "slice(axis 0, start 0, end -1, stride 2, part 2)",
                   .joined = "slice(axis 0, start 0, end -1, stride 2, part 2)"}),
            "stays");
}

// Products of one source by two matrices share its part; those of two directions do not.
TEST_F(RecurrentLoopsTest, TwoProductsOfOneSource) {
  const auto after = [&](const std::string& second) {
    return After({.before = "  %t = opset1.MatMul \"t\" (%x, %w) {transpose_a = false, transpose_b = true} : "
                            "f32[...]\n",
                  .more_inputs = ", %t",
                  .more_mappings = " input 2 -> 2 " + second,
                  .more_parameters =
                      "  %other = opset1.Parameter \"other\" {element_type = f32, shape = [1,1,1]} "
                      ": f32[1,1,1]\n",
                  .nodes = "  %both = opset1.Add \"both\" (%part, %other) : f32[...]\n",
                  .total = "%both, %q"});
  };
  EXPECT_EQ(after(kForwardSlice), "2 4 | 0.5 | 7");
  EXPECT_EQ(after(kBackwardSlice), "stays");
  // An input that is neither a slice nor a state.
  EXPECT_EQ(
      After({.more_inputs = ", %h",
             .more_mappings = " input 2 -> 2",
             .more_parameters = "  %other = opset1.Parameter \"other\" {element_type = f32, shape = [1,1,1]} "
                                ": f32[1,1,1]\n",
             .nodes = "  %both = opset1.Add \"both\" (%part, %other) : f32[...]\n",
             .total = "%both, %q"}),
      "stays");
  // One that no node reads.
  EXPECT_EQ(
      After({.more_inputs = ", %h",
             .more_mappings = " input 2 -> 2",
             .more_parameters = "  %other = opset1.Parameter \"other\" {element_type = f32, shape = [1,1,1]} "
                                ": f32[1,1,1]\n"}),
      "1 2 | 0.5 | 7");
}

// The last value has the axes that the loop's states had.
TEST_F(RecurrentLoopsTest, LastValuesOfStates) {
  EXPECT_EQ(After({.last = " output 1 -> 0"}), "1 2 | 0.5 | 7");
  EXPECT_EQ(graph_->output(graph_->node(graph_->results()[1]).input(0)).shape, (ir::PartialShape{1, 1, 1}));
}

TEST_F(RecurrentLoopsTest, NodesOfTheBody) {
  EXPECT_EQ(After({.r = "f32[1,1,1] = dense<f32[1,1,1]: 0.5>"}), "1 2 | 0.5 | 7");
  EXPECT_EQ(After({.nodes = "  %c = opset1.Convert \"c\" (%q) {destination_type = f32} : f32[...]\n",
                   .total = "%part, %c"}),
            "1 2 | 0.5 | 7");
  // Conversions that round.
  EXPECT_EQ(After({.nodes = "  %c = opset1.Convert \"c\" (%q) {destination_type = f16} : f16[...]\n"
                            "  %d = opset1.Convert \"d\" (%c) {destination_type = f32} : f32[...]\n",
                   .total = "%part, %d"}),
            "stays");
  EXPECT_EQ(After({.nodes = "  %c = opset1.Abs \"c\" (%q) : f32[...]\n", .total = "%part, %c"}), "stays");
  EXPECT_EQ(After({.nodes = "  %k = opset1.Const \"k\" : i64[] = dense<i64[]: 0>\n"
                            "  %c = opset1.Split \"c\" (%q, %k) {num_splits = 1} : f32[...]\n",
                   .total = "%part, %c"}),
            "stays");
  EXPECT_EQ(After({.nodes = "  %k = opset1.Const \"k\" : i64[3] = dense<i64[3]: 0, 1, 2>\n"
                            "  %c = opset1.Transpose \"c\" (%q, %k) : f32[...]\n",
                   .total = "%part, %c"}),
            "stays");
  EXPECT_EQ(After({.next = "ReLU"}), "1 2 | 0.5 | 7");
  EXPECT_EQ(After({.next = "Sin"}), "stays");
  // The state does not come back.
  EXPECT_EQ(After({.back = ""}), "stays");
}

}  // namespace
}  // namespace nnefc::transform

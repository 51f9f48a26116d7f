// Loops over recurrent steps in the form of exported scans, and loops over cells: each condition alone.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

const std::string kForwardSlice = "slice(axis 0, start 0, end -1, stride 1, part 1)";
const std::string kBackwardSlice = "slice(axis 0, start -1, end 0, stride -1, part 1)";

const std::string kOther =
    "  %other = opset1.Parameter \"other\" {element_type = f32, shape = [1,1,1]} : f32[1,1,1]\n";

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
  // Data that no product computes.
  for (const char* operation : {"Multiply", "Maximum", "Power"}) {
    EXPECT_EQ(After({.data = "%t",
                     .before = fmt::format("  %t = opset1.{} \"t\" (%p, %b) : f32[...]\n", operation)}),
              "stays")
        << operation;
  }
}

// Loops over other numbers than f32 stay: the constants of cells are f32.
TEST_F(RecurrentLoopsTest, ProductsOfOtherTypes) {
  for (const char* type : {"f32", "f16", "f64"}) {
    for (const char* data : {"%s", "%p"}) {
      const TransformationList list = StandardTransformations();
      const std::string text = ScanLoop{.data = data}.Text();
      const auto graph = Parse(Numbered(std::regex_replace(text, std::regex("f32"), type)));
      ASSERT_NE(graph, nullptr);
      EXPECT_EQ(Run(list, *graph, Side::kAfterLowering,
                    {.only = {"middle.RecurrentLoopForm", "middle.RemoveUnneeded"}}),
                "");
      bool has_product = false;
      for (ir::NodeId id : graph->nodes()) has_product |= graph->node(id).type() == "MatMul";
      EXPECT_EQ(has_product, type != std::string("f32")) << type << data;
    }
  }
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
  const ScanLoop both = {
      .before = "  %t = opset1.MatMul \"t\" (%x, %w) {transpose_a = false, transpose_b = true} : f32[...]\n",
      .more_inputs = ", %t",
      .more_parameters = kOther,
      .nodes = "  %both = opset1.Add \"both\" (%part, %other) : f32[...]\n",
      .total = "%both, %q"};
  const auto after = [&](const std::string& second) {
    ScanLoop form = both;
    form.more_mappings = " input 2 -> 2 " + second;
    return After(form);
  };
  EXPECT_EQ(after(kForwardSlice), "2 4 | 0.5 | 7");
  EXPECT_EQ(after(kBackwardSlice), "stays");
  // Other steps in the same direction: of x [4,1,2] the first three and the last three, and their sums.
  for (const auto& [first, second, is_one] : {std::tuple("start 0, end 3", "start 1, end 4", false),
                                              {"start 0, end -2", "start 1, end -1", false},
                                              {"start 0, end 3", "start 0, end 3", true},
                                              {"start 1, end -1", "start 1, end -1", true}}) {
    ScanLoop form = both;
    form.x = "[4,1,2]";
    form.slice = fmt::format("slice(axis 0, {}, stride 1, part 1)", first);
    form.more_mappings = fmt::format(" input 2 -> 2 slice(axis 0, {}, stride 1, part 1)", second);
    EXPECT_EQ(After(form), is_one ? "2 4 | 0.5 | 7" : "stays") << first << second;
  }
  // An input that is neither a slice nor a state.
  EXPECT_EQ(After({.more_inputs = ", %h",
                   .more_mappings = " input 2 -> 2",
                   .more_parameters = kOther,
                   .nodes = "  %both = opset1.Add \"both\" (%part, %other) : f32[...]\n",
                   .total = "%both, %q"}),
            "stays");
  // One that no node reads.
  EXPECT_EQ(After({.more_inputs = ", %h", .more_mappings = " input 2 -> 2", .more_parameters = kOther}),
            "1 2 | 0.5 | 7");
}

// A slice that no node reads has the number of iterations if there is no other one: tanh(s * v + h * r) of
// two states.
TEST_F(RecurrentLoopsTest, SlicesThatOnlyCount) {
  const auto after = [&](const std::string& more_inputs, const std::string& more_mappings) {
    return After({.data = "%h",
                  .more_inputs = more_inputs,
                  .slice = "",
                  .more_mappings = more_mappings,
                  .joined = kForwardSlice,
                  .back = "back 0 -> 1 back 0 -> 0",
                  .more_parameters = more_inputs.empty() ? "" : kOther,
                  .nodes =
                      "  %v = opset1.Const \"v\" : f32[1,1] = dense<f32[1,1]: 3.0>\n"
                      "  %c = opset1.MatMul \"c\" (%part, %v) {transpose_a = false, transpose_b = true} : "
                      "f32[...]\n",
                  .total = "%c, %q"});
  };
  EXPECT_EQ(after(", %s", " input 2 -> 2 " + kForwardSlice), "stays");
  EXPECT_EQ(after("", ""), "0.5 | 3 | 0");
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

// ---- sequences ----

struct CellLoop {
  std::string slice = "slice(axis 1, start 0, end -1, stride 1, part 1)";
  std::string joined = "slice(axis 1, start 0, end -1, stride 1, part 1)";
  std::string back = "back 1 -> 1 back 2 -> 2";
  std::string axis = "1";
  std::string before = "";
  std::string hidden = "%h";
  std::string part = "[2,1,3]";
  std::string data = "[2,5,3]";
  std::string squeeze = "opset1.Squeeze \"x\" (%p, %k)";
  std::string weights = "%w", weights_mapping = "input 3 -> 3";
  std::string batch = "2";
};

std::string Numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::to_string(i) + ".5";
  return text;
}

// An LSTMCell of 4 units over x [2,5,3], or over `data`.
std::string LoopOf(const CellLoop& form) {
  const auto parameter = [](const char* id, const char* name, const std::string& shape) {
    return fmt::format("  %{} = opset1.Parameter \"{}\" {{element_type = f32, shape = {}}} : f32{}\n", id,
                       name, shape, shape);
  };
  const std::string state = "[" + form.batch + ",4]";
  return parameter("p", "p", form.data) + parameter("i", "i", state) + parameter("j", "j", state) +
         parameter("w", "w", "[16,3]") +
         "  %y:2 = opset1.TensorIterator \"loop\" (%p, %i, %j, %w) : f32[...], f32[...] bodies {\n"
         "    \"body\" input 0 -> 0 " +
         form.slice + " input 1 -> 1 input 2 -> 2 " + form.weights_mapping + " output 0 -> 0 " + form.joined +
         " output 1 -> 2 " + form.back + " graph \"step\" {\n" + parameter("p", "part", form.part) +
         parameter("h", "h", state) + parameter("c", "c", state) + parameter("w", "w", "[16,3]") +
         "      %k = opset1.Const \"k\" : i64[1] = dense<i64[1]: " + form.axis +
         ">\n      %x = " + form.squeeze +
         " : f32[...]\n"
         "      %r = opset1.Const \"r\" : f32[16,4] = dense<f32[16,4]: " +
         Numbers(64) + ">\n      %b = opset1.Const \"b\" : f32[16] = dense<f32[16]: " + Numbers(16) + ">\n" +
         form.before + "      %o:2 = opset4.LSTMCell \"cell\" (%x, " + form.hidden + ", %c, " + form.weights +
         ", %r, %b) {hidden_size = 4, clip = 3.0} : f32[...], f32[...]\n"
         "      %u = opset1.Unsqueeze \"u\" (%o, %k) : f32[...]\n"
         "      opset1.Result \"all\" (%u)\n"
         "      opset1.Result \"ho\" (%o)\n"
         "      opset1.Result \"co\" (%o.1)\n"
         "    }\n  }\n"
         "  opset1.Result \"all\" (%y)\n  opset1.Result \"cell\" (%y.1)\n";
}

class SequencesTest : public BuiltInTest {
 protected:
  // Returns the graph after the transformation of a loop.
  std::string Sequence(const std::string& text) {
    return After("middle.TensorIteratorToSequence", Numbered(text));
  }
};

TEST_F(SequencesTest, LoopsOverACell) {
  EXPECT_EQ(Left(Sequence(LoopOf({}))), "Unsqueeze Unsqueeze Unsqueeze LSTMSequence Squeeze Squeeze");
  // Steps first, backwards.
  const std::string back = "slice(axis 0, start -1, end 0, stride -1, part 1)";
  EXPECT_EQ(Left(Sequence(
                LoopOf({.slice = back, .joined = back, .axis = "0", .part = "[1,2,3]", .data = "[5,2,3]"}))),
            "Transpose Unsqueeze Unsqueeze Unsqueeze LSTMSequence Squeeze Transpose Squeeze");
  // The number of steps is computed where it is unknown, or for a large batch.
  const std::string computed =
      "ShapeOf Gather Gather Broadcast Unsqueeze Unsqueeze Unsqueeze LSTMSequence Squeeze Squeeze";
  const auto sorted = [](const std::string& left) {
    std::istringstream words(left);
    std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(sorted(Left(Sequence(LoopOf({.data = "[2,?,3]"})))), sorted(computed));
  EXPECT_EQ(Left(Sequence(LoopOf({.part = "[4096,1,3]", .data = "[4096,5,3]", .batch = "4096"}))),
            "Unsqueeze Unsqueeze Unsqueeze LSTMSequence Squeeze Squeeze");
  EXPECT_EQ(sorted(Left(Sequence(LoopOf({.part = "[4097,1,3]", .data = "[4097,5,3]", .batch = "4097"})))),
            sorted(computed));
}

TEST_F(SequencesTest, OtherLoopsRemain) {
  const auto is_left = [&](const CellLoop& form) {
    const std::string left = Left(Sequence(LoopOf(form)));
    EXPECT_NE(left, "");
    return left == "TensorIterator";
  };
  EXPECT_FALSE(is_left({}));
  // Reads forward and joins backward, states that are not carried or belong to another, data that are
  // computed.
  EXPECT_TRUE(is_left({.joined = "slice(axis 1, start -1, end 0, stride -1, part 1)"}));
  // Slices or results of a part of the steps.
  for (const char* part :
       {"slice(axis 1, start 1, end -1, stride 1, part 1)",
        "slice(axis 1, start 0, end -2, stride 1, part 1)", "slice(axis 1, start 0, end 4, stride 1, part 1)",
        "slice(axis 1, start -2, end 0, stride -1, part 1)",
        "slice(axis 1, start -1, end 1, stride -1, part 1)"})
    EXPECT_TRUE(is_left({.slice = part})) << part;
  // Backward as well: the results are those of as many steps.
  const std::string back = "slice(axis 1, start -1, end 0, stride -1, part 1)";
  EXPECT_FALSE(is_left({.slice = back, .joined = back}));
  for (const char* range : {"start -1, end 1", "start -1, end -3", "start -2, end 0"})
    EXPECT_TRUE(
        is_left({.slice = fmt::format("slice(axis 1, {}, stride -1, part 1)", range), .joined = back}))
        << range;
  EXPECT_TRUE(is_left({.back = "back 1 -> 1"}));
  EXPECT_TRUE(is_left({.back = "back 2 -> 1 back 1 -> 2"}));
  EXPECT_TRUE(is_left({.before = "      %z = opset1.Abs \"z\" (%h) : f32[2,4]\n", .hidden = "%z"}));
  // Steps along the axis of numbers.
  EXPECT_TRUE(is_left({.slice = "slice(axis 2, start 0, end -1, stride 1, part 1)",
                       .part = "[2,3,1]",
                       .data = "[2,3,5]",
                       .squeeze = "opset1.Squeeze \"x\" (%p)"}));
  // Data of an unknown shape, or that are computed from the part.
  EXPECT_TRUE(is_left({.part = "[?,1,3]", .data = "[?,5,3]"}));
  // Data that are the same in each step.
  EXPECT_TRUE(is_left({.slice = "", .part = "[2,1,3]", .data = "[2,1,3]"}));
  EXPECT_TRUE(is_left({.squeeze = "opset4.ReduceL2 \"x\" (%p, %k) {keep_dims = false}"}));
  // Weights that each step computes, or that the steps pass on.
  EXPECT_TRUE(is_left({.before = "      %z = opset1.Abs \"z\" (%w) : f32[16,3]\n", .weights = "%z"}));
}

// A cell of data that are the same in each step has no steps to read.
TEST_F(SequencesTest, CellsOfConstantData) {
  std::string text =
      LoopOf({.before = "      %n = opset1.Const \"n\" : f32[2,3] = dense<f32[2,3]: " + Numbers(6) + ">\n"});
  const std::string cell = "\"cell\" (%x,";
  text.replace(text.find(cell), cell.size(), "\"cell\" (%n,");
  EXPECT_EQ(Left(Sequence(text)), "TensorIterator");
}

// Of two cells, whatever their order, neither is the body.
TEST_F(SequencesTest, BodiesOfTwoCells) {
  const std::string second =
      "      %m = opset1.Const \"m\" : f32[2,3] = dense<f32[2,3]: " + Numbers(6) +
      ">\n      %n = opset1.Const \"n\" : f32[4,3] = dense<f32[4,3]: " + Numbers(12) +
      ">\n      %q = opset1.Const \"q\" : f32[4,4] = dense<f32[4,4]: " + Numbers(16) +
      ">\n      %s = opset1.Const \"s\" : f32[4] = dense<f32[4]: " + Numbers(4) +
      ">\n      %z = opset1.RNNCell \"z\" (%m, %h, %n, %q, %s) {hidden_size = 4} : f32[2,4]\n";
  EXPECT_EQ(Left(Sequence(LoopOf({.before = second}))), "TensorIterator");
  std::string text = LoopOf({});
  EXPECT_EQ(Left(Sequence(text.insert(text.find("      %u = "), second))), "TensorIterator");
}

}  // namespace
}  // namespace nnefc::transform

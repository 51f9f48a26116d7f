#include "compiler/ir/text.h"

#include <random>

#include "compiler/ir/verify.h"
#include "gtest/gtest.h"

namespace nnefc::ir {
namespace {

class TextTest : public ::testing::Test {
 protected:
  TextTest() { registry_.Add({.set = "test", .name = "loop"}); }

  std::unique_ptr<Graph> Parse(std::string text) {
    context_.emitter.Clear();
    return ParseGraph(context_.sources.AddText("graph", std::move(text)), registry_, context_);
  }
  // Returns the first error, "rule: message".
  std::string Mistake(std::string text) {
    EXPECT_EQ(Parse(text), nullptr) << text;
    if (context_.emitter.diagnostics().empty()) return "";
    const Diagnostic& first = context_.emitter.diagnostics().front();
    return std::string(first.rule->label) + ": " + first.message;
  }
  void ExpectRoundTrip(const std::string& text) {
    const std::unique_ptr<Graph> graph = Parse(text);
    ASSERT_NE(graph, nullptr) << (context_.emitter.diagnostics().empty()
                                      ? ""
                                      : context_.emitter.diagnostics().front().message);
    EXPECT_EQ(PrintGraph(*graph, {.max_constant_elements = -1}), text);
  }

  OpRegistry registry_{&StandardOps()};
  Context context_;
};

TEST_F(TextTest, RoundTrip) {
  ExpectRoundTrip(R"(graph "net" {
  %0 = opset1.Parameter "input" {element_type = f32, shape = shape[1,3,8,8]} : f32[1,3,8,8] as ["x", "y\"\\\n\x01"]
  %1 = nnef.external "e" {shape = [?,2..8], dtype = "scalar"} : f32[?,2..8]
  %2 = opset1.Const "w" : f32[2] = dense<f32[2]: 1.0, -2.5e-07>
  %3:2 = nnef.split "halves" (%0) {axis = 1, ratios = [1, 1]} : f32[1,?,8,8], dynamic[...]
  %4 = nnef.conv "" (%0, %3.1) segments [1, 1, 0] {padding = [[0, 0], [1, 1]], groups = 1} rt {fused = "a"} : f32[...]
  opset1.Result "out" (%4)
}
)");
}

TEST_F(TextTest, AttributesOfEveryKind) {
  ExpectRoundTrip(
      "graph \"a\" {\n"
      "  %0 = nnef.external \"e\" {a = true, b = -5, c = 5.0, d = 1e+300, e = inf, f = -inf, g = nan, h = "
      "\"s\", "
      "i = [1, 2], j = [1.0, 0.1], k = [true, false], l = [\"a\", \"b\"], m = [], n = integers[], o = "
      "scalars[], "
      "p = logicals[], q = strings[], r = f16, s = shape[], t = [...], u = list[1, 2], v = (1, 2.0, ()), "
      "w = [1, \"a\", [2]], x = dense<boolean[2]: 1, 0>, \"y z\" = boolean, exclude-pad = false} : f32[]\n"
      "}\n");
}

TEST_F(TextTest, ConstantsOfEveryType) {
  ExpectRoundTrip(R"(graph "c" {
  %0 = opset1.Const "a" : f16[2] = dense<f16[2]: 0.5, 65504.0>
  %1 = opset1.Const "b" : bf16[1] = dense<bf16[1]: 1.5>
  %2 = opset1.Const "c" : f64[] = dense<f64[]: 0.1>
  %3 = opset1.Const "d" : i8[2] = dense<i8[2]: -128, 127>
  %4 = opset1.Const "e" : i64[1,1] = dense<i64[1,1]: -9223372036854775808>
  %5 = opset1.Const "f" : u32[1] = dense<u32[1]: 4294967295>
  %6 = opset1.Const "g" : u64[1] = dense<u64[1]: 0xffffffffffffffff>
  %7 = opset1.Const "h" : i4[3] = dense<i4[3]: 0x1203>
  %8 = opset1.Const "i" : f32[1] = dense<f32[1]: 0x0100c07f>
  %9 = opset1.Const "j" : f32[0,3] = dense<f32[0,3]:>
  %10 = opset1.Const "k" : boolean[2] = dense<boolean[2]: 0, 1>
  %11 = opset1.Const "l" : f32[2] = dense<f32[2]: inf, -inf>
}
)");
}

TEST_F(TextTest, Bodies) {
  ExpectRoundTrip(R"(graph "outer" {
  %0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,4]} : f32[1,4]
  %1:2 = test.loop "loop" (%0, %0) : f32[1,4], f32[1,1] bodies {
    "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) input 1 -> 1 output 0 -> 0 slice(axis 1, start -1, end 0, stride -1, part 1) output 1 -> 1 back 1 -> 1 graph "inner" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = shape[1,1]} : f32[1,1]
      %1 = opset1.Parameter "b" {element_type = f32, shape = shape[1,1]} : f32[1,1]
      %2 = nnef.add "sum" (%0, %1) : f32[1,1]
      opset1.Result "r0" (%2)
      opset1.Result "r1" (%2)
    }
  }
  opset1.Result "y" (%1.1)
  opset1.Result "z" (%1)
}
)");
}

// The condition and the iteration number of a Loop belong to no port.
TEST_F(TextTest, BodiesWithinBodies) {
  ExpectRoundTrip(R"(graph "outer" {
  %0 = opset1.Parameter "trips" {element_type = i64, shape = shape[]} : i64[]
  %1 = opset1.Parameter "go" {element_type = boolean, shape = shape[]} : boolean[]
  %2 = opset1.Parameter "x" {element_type = f32, shape = [1,?]} : f32[1,?]
  %3:2 = opset5.Loop "loop" (%0, %1, %2) : f32[...], f32[1,?] bodies {
    "body" input 2 -> 0 input -1 -> 1 output 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) output 1 -> 0 output -1 -> 1 back 0 -> 0 graph "loop" {
      %0 = opset1.Parameter "h" {element_type = f32, shape = [1,?]} : f32[1,?]
      %1 = opset1.Parameter "k" {element_type = i64, shape = shape[]} : i64[]
      %2 = opset1.Const "most" : i64[] = dense<i64[]: 7>
      %3 = opset1.Less "less" (%1, %2) {auto_broadcast = "numpy"} : boolean[]
      %4 = opset8.If "if" (%3, %0) : f32[1,?] bodies {
        "then_body" input 1 -> 1 input 1 -> 0 output 0 -> 0 graph "then" {
          %0 = opset1.Parameter "a" {element_type = f32, shape = [1,?]} : f32[1,?]
          %1 = opset1.Parameter "b" {element_type = f32, shape = [1,?]} : f32[1,?]
          %2 = opset1.Add "sum" (%0, %1) {auto_broadcast = "numpy"} : f32[1,?]
          opset1.Result "r" (%2)
        }
        "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
          %0 = opset1.Parameter "a" {element_type = f32, shape = [1,?]} : f32[1,?]
          opset1.Result "r" (%0)
        }
      }
      opset1.Result "next" (%4)
      opset1.Result "more" (%3)
    }
  }
  opset1.Result "all" (%3)
  opset1.Result "last" (%3.1)
}
)");
}

TEST_F(TextTest, SinksThatAreNotTheOperationsOwn) {
  ExpectRoundTrip(R"(graph "s" {
  %0 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
  %1 = nnef.variable "v" : f32[2]
  %2 = nnef.update "u" (%1, %0) : f32[2]
  %3 = nnef.neg "n" (%0) : f32[2]
  sinks (%3, %2)
}
)");
}

TEST_F(TextTest, HandWritten) {
  const std::unique_ptr<Graph> graph = Parse(R"(
    // blanks, comments and numbers are free
    graph "net" {
      %7 = opset1.Parameter "x" {element_type=f32,shape=[1,3]} : f32[1,3]
      %9 = nnef.neg "y" (%7) : f32[ 1, 3 ]  opset1.Result "r" (%9.0)
    })");
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(graph->num_nodes(), 3u);
  EXPECT_EQ(*graph->node(graph->parameters()[0]).attribute("shape").get<PartialShape>(),
            (PartialShape{1, 3}));
  EXPECT_TRUE(graph->node(graph->parameters()[0]).origin().range.valid());
}

TEST_F(TextTest, LargeConstantsAreDigests) {
  Graph graph(&registry_, "g");
  graph.AddConst(TensorValue::Filled(ElementType::kF32, {100}, 1), "c");
  const std::string text = PrintGraph(graph);
  EXPECT_NE(text.find("dense<f32[100]: #"), std::string::npos) << text;
  EXPECT_EQ(Mistake(text),
            "ir-text.elided-constant: the constant was printed without its elements, which `compile -o "
            "net.ir` keeps "
            "in `net.bin`");
}

TEST_F(TextTest, Mistakes) {
  EXPECT_EQ(Mistake(""), "ir-text.syntax: expected `graph`, found the end of the text");
  EXPECT_EQ(Mistake("graph \"a\" {"), "ir-text.syntax: expected a word, found the end of the text");
  EXPECT_EQ(Mistake("graph \"a\" {} x"), "ir-text.syntax: expected the end of the text behind the graph");
  EXPECT_EQ(Mistake("graph \"a"), "ir-text.syntax: the string does not end");
  EXPECT_EQ(Mistake("graph \"\\q\" {}"), "ir-text.syntax: unknown escape in a string");
  const auto in_graph = [&](const std::string& text) { return Mistake("graph \"a\" {" + text + "}"); };
  EXPECT_EQ(in_graph("%0 = nnef.nothing \"a\" : f32[]"),
            "ir-text.unknown-operation: there is no operation `nnef.nothing`");
  EXPECT_EQ(in_graph("%0 = nnef.neg \"a\" (%1) : f32[]"),
            "ir-text.unknown-value: `%1.0` is not defined before its use");
  const std::string c = "%0 = nnef.constant \"a\" : f32[] ";
  EXPECT_EQ(in_graph(c + "%1 = nnef.neg \"a\" (%0.1) : f32[]"),
            "ir-text.unknown-value: `%0.1` is not defined before its use");
  EXPECT_EQ(in_graph(c + c), "ir-text.repeated-value: `%0` was defined before");
  EXPECT_EQ(in_graph(c + "%1 = nnef.neg \"a\" (%0) segments [2] : f32[]"),
            "ir-text.syntax: the segments add up to 2 inputs; expected 1");
  EXPECT_EQ(in_graph(c + "%1 = nnef.neg \"a\" (%0, %0) : f32[]"),
            "ir-text.invalid-graph: `nnef.neg` \"a\" has 2 inputs; expected 1");
  // A source has an output, also in a body. Other operations may lack outputs.
  EXPECT_EQ(in_graph("opset1.Const \"a\""),
            "ir-text.invalid-graph: `opset1.Const` \"a\" has 0 outputs; expected 1");
  EXPECT_EQ(in_graph("opset1.Parameter \"a\" {element_type = f32, shape = shape[2]}"),
            "ir-text.invalid-graph: `opset1.Parameter` \"a\" has 0 outputs; expected 1");
  EXPECT_EQ(
      in_graph(
          "%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : f32[2] "
          "%1 = opset1.Tan \"a\" (%0) : f32[2] bodies { \"body\" input 0 -> 0 output 0 -> 0 graph \"b\" { "
          "%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : f32[2] "
          "opset1.Result \"y\" (%0) } }"),
      "ir-text.invalid-graph: `opset1.Tan` \"a\" has the body `body`; expected none");
  EXPECT_EQ(in_graph("%0 = nnef.constant \"a\" {b = } : f32[]"),
            "ir-text.syntax: `` is not an attribute value");
  EXPECT_EQ(in_graph("%0 = nnef.constant \"a\" {b = 99999999999999999999} : f32[]"),
            "ir-text.syntax: the number `99999999999999999999` is out of range");
  EXPECT_EQ(in_graph("%0 = nnef.constant \"a\" {b = 1, b = 2} : f32[]"),
            "ir-text.syntax: the attribute `b` is given twice or is one too many");
  EXPECT_EQ(in_graph("%99999999999 = nnef.constant \"a\" : f32[]"),
            "ir-text.syntax: `99999999999` is too large an index");
  EXPECT_EQ(in_graph("%0:2000000000 = nnef.constant \"a\" : f32[]"),
            "ir-text.syntax: expected `,`, found `}`");
  for (const char* port : {"-2", "2147483647", "99999999999"}) {
    EXPECT_EQ(
        in_graph(c + fmt::format("%1 = test.loop \"l\" (%0) : f32[] bodies {{ \"body\" input {} -> 0", port)),
        fmt::format("ir-text.syntax: `{}` is not an index", port));
  }
  EXPECT_EQ(in_graph("%0 = nnef.constant \"a\" : f32[1,x]"), "ir-text.syntax: `[1,x]` is not a shape");
  EXPECT_EQ(in_graph("%0 = nnef.constant \"a\" : f33[1]"),
            "ir-text.syntax: expected an element type, found `f33`");
}

TEST_F(TextTest, WrongConstants) {
  const auto constant = [&](const std::string& text) {
    return Mistake("graph \"a\" { %0 = opset1.Const \"c\" : f32[2] = " + text + " }");
  };
  for (const char* text : {"dense<f32[2]: 1.0>", "dense<f32[2]: 1.0, x>", "dense<f32[2]: 1.0,>",
                           "dense<i8[1]: 300>", "dense<f32[9223372036854775807]: 1.0>", "dense<f32[?]: 1.0>",
                           "dense<f32[1]: 0x00>", "dense<f32[1]: 0x0000zz00>", "dense<i4[2]: 1, 2>",
                           "dense<string[1]: 1>", "dense<boolean[1]: 2>", "dense<dynamic[0]:>"}) {
    EXPECT_TRUE(constant(text).starts_with("ir-text.constant: ")) << text << constant(text);
  }
  EXPECT_TRUE(constant("dense<f32[3]: 1.0, 2.0, 3.0>").starts_with("ir-text.invalid-graph: "));
  EXPECT_TRUE(constant("dense<none>").starts_with("ir-text.invalid-graph: "));
}

// Damaged texts cause errors, or graphs that are equal after printing and reading.
TEST_F(TextTest, DamagedTexts) {
  const std::string text = R"(graph "net" {
  %0 = opset1.Parameter "x" {element_type = f32, shape = [1,?,2..8]} : f32[1,3] as ["a"]
  %1 = opset1.Const "w" : f32[2] = dense<f32[2]: 1.0, -2.5e-07>
  %2:2 = nnef.split "s" (%0) {axis = 1, l = [[0, 0], (1, "t")], d = dense<i8[1]: 0x05>} rt {a = -1} : f32[1], i64[]
  %3 = test.loop "l" (%2.1) segments [1] : f32[] bodies { "body" input 0 -> 0 slice(axis 1, start 0, end -1,
    stride 1, part 1) output 0 -> 0 graph "b" { %0 = nnef.external "e" : f32[] opset1.Result "r" (%0) } }
  opset1.Result "y" (%3)
  sinks (%2)
})";
  ASSERT_NE(Parse(text), nullptr);
  std::mt19937 random(7);
  const std::string_view pieces = "%(){}[]<>\",:=.-?0199eE#/\n\\x";
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = text;
    for (uint32_t i = 0; i <= random() % 3; ++i) {
      const size_t at = random() % damaged.size();
      const char piece = pieces[random() % pieces.size()];
      if (random() % 3 == 0) {
        damaged.erase(at, 1 + random() % 8);
      } else if (random() % 2 == 0) {
        damaged[at] = piece;
      } else {
        damaged.insert(at, 1, piece);
      }
    }
    Context context;
    const auto graph = ParseGraph(context.sources.AddText("graph", damaged), registry_, context);
    EXPECT_EQ(graph == nullptr, context.emitter.has_errors()) << damaged;
    if (graph == nullptr) continue;
    const std::string printed = PrintGraph(*graph, {.max_constant_elements = -1});
    const auto again = ParseGraph(context.sources.AddText("again", printed), registry_, context);
    ASSERT_NE(again, nullptr) << printed;
    EXPECT_EQ(PrintGraph(*again, {.max_constant_elements = -1}), printed);
  }
}

TEST_F(TextTest, NestingIsLimited) {
  const std::string lists(100'000, '[');
  EXPECT_TRUE(Mistake("graph \"a\" { %0 = nnef.constant \"c\" {b = " + lists).starts_with("ir-text.nesting"));
  std::string bodies;
  for (int i = 0; i < 100'000; ++i)
    bodies += "graph \"a\" { %0 = nnef.constant \"c\" : f32[] bodies { \"b\" ";
  EXPECT_TRUE(Mistake(bodies).starts_with("ir-text.nesting"));
}

}  // namespace
}  // namespace nnefc::ir

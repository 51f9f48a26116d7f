// Texts that are no graphs.

#include <random>

#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/text_fixture.h"

namespace nnefc::ir {
namespace {

class TextMistakesTest : public TextFixture {};

TEST_F(TextMistakesTest, Mistakes) {
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
  // A source has its output, also in a body. Other operations may be without outputs.
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

// A text that ends early, at every token, is a mistake at its end.
TEST_F(TextMistakesTest, EveryTokenIsExpected) {
  const std::string text = R"(graph "g" {
  %0 = opset1.Parameter "x" {element_type = f32, shape = [1,?]} : f32[1,?] as ["a", "b"]
  %1 = opset1.Const "w" : f32[2] = dense<f32[2]: 1.0, 2.0>
  %2:2 = nnef.split "s" (%0, %1) segments [1, 1] {axis = 1, l = [[0], (1, "t")], m = list[1], n = integers[]} rt {a = -1} : f32[1], i64[]
  %3 = test.loop "l" (%2.1) : f32[] bodies { "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1)
    output 0 -> 0 back 0 -> 0 graph "b" { %0 = nnef.external "e" : f32[] } }
  sinks (%2)
})";
  // Tokens end where the next one begins; a text without its last tokens must not parse.
  const std::string_view breaks = " \n(){}[]<>\",:=.-%";
  for (size_t end = 0; end + 1 < text.size(); ++end) {
    if (breaks.find(text[end]) == std::string_view::npos) continue;
    context_.emitter.Clear();
    const std::string prefix = text.substr(0, end);
    EXPECT_EQ(Parse(prefix), nullptr) << prefix;
    ASSERT_EQ(context_.emitter.diagnostics().size(), 1u) << prefix;
    EXPECT_EQ(context_.emitter.diagnostics()[0].rule->label, "ir-text.syntax") << prefix;
  }
}

// A token in place of each other one: no text is read as something that it is not.
TEST_F(TextMistakesTest, NoTokenIsSkipped) {
  const std::string head = "graph \"a\" { %0 = nnef.constant \"c\" : f32[] ";
  const std::pair<const char*, const char*> cases[] = {
      {"%1 = nnef.neg \"a\" (%0 : f32[]", "expected `)`, found `:`"},
      {"%1 = nnef.neg \"a\" (0) : f32[]", "expected `%`, found `0`"},
      {"%1 = nnef.neg \"a\" (%x) : f32[]", "expected an index, found `x`"},
      {"%1 = nnef.neg \"a\" (%0.x) : f32[]", "expected an index, found `x`"},
      {"%1 = nnef.neg \"a\" (%0,) : f32[]", "expected `%`, found `)`"},
      {"%1 = nnef.neg \"a\" (%0) segments 1 : f32[]", "expected `[`, found `1`"},
      {"%1 = nnef.neg \"a\" (%0) segments [] : f32[]", "expected an index, found `]`"},
      {"%1 = nnef.neg \"a\" (%0) segments [1 : f32[]", "expected `]`, found `:`"},
      {"%1 = nnef.neg \"a\" (%0) segments [0] : f32[]", "the segments add up to 0 inputs; expected 1"},
      {"%1 = nnef.neg \"a\" (%0) segments [1, 1] : f32[]", "the segments add up to 2 inputs; expected 1"},
      {"%1 = nnef.neg \"a\" (%0) {a 1} : f32[]", "expected `=`, found `1`"},
      {"%1 = nnef.neg \"a\" (%0) {a = 1 : f32[]", "expected `}`, found `:`"},
      {"%1 = nnef.neg \"a\" (%0) {a = 1} rt : f32[]", "expected `{`, found `:`"},
      {"%1 = nnef.neg \"a\" (%0) f32[]", "expected `:`, found `f32`"},
      {"%1 = nnef.neg \"a\" (%0) : f32", "expected `[`, found `}`"},
      {"%1 = nnef.neg \"a\" (%0) : f32[] as \"x\"", "expected `[`, found `\"`"},
      {"%1 = nnef.neg \"a\" (%0) : f32[] as [x]", "expected `\"`, found `x`"},
      {"%1 = nnef.neg \"a\" (%0) : f32[] as [\"x\"", "expected `]`, found `}`"},
      {"%1 = nnef.neg \"a\" (%0) : f32[] = 1.0", "expected `dense`, found `1`"},
      {"%1 = nnef.neg \"a\" (%0) : f32[] = dense f32[]: 1.0>", "expected `<`, found `f32`"},
      {"%1 = nnef.neg \"a\" (%0) : f32[] = dense<f32[] 1.0>", "expected `:`, found `1`"},
      {"%1 = nnef.neg \"a\" (%0) : f32[] = dense<f32[]: 1.0", "expected `>`, found the end of the text"},
      {"%1 = nnef.neg \"a\" (%0) : f32[] = dense<none: 1.0>", "expected `>`, found `:`"},
      {"%1 = nnef.neg (%0) : f32[]", "expected `\"`, found `(`"},
      {"%1 = nnef neg \"a\" (%0) : f32[]", "expected `.`, found `neg`"},
      {"%1 = 1.neg \"a\" (%0) : f32[]", "expected a word, found `1`"},
      {"%1 = nnef.1 \"a\" (%0) : f32[]", "expected a word, found `1`"},
      {"%1 nnef.neg \"a\" (%0) : f32[]", "expected `=`, found `nnef`"},
      {"% = nnef.neg \"a\" (%0) : f32[]", "expected an index, found `=`"},
      {"%1: = nnef.neg \"a\" (%0) : f32[]", "expected an index, found `=`"},
      {"1 = nnef.neg \"a\" (%0) : f32[]", "expected a word, found `1`"},
      {"%1:2 = nnef.split \"a\" (%0) : f32[]", "expected `,`, found `}`"},
      {"%1:2 = nnef.split \"a\" (%0) : f32[] f32[]", "expected `,`, found `f32`"},
      {"%1 = nnef.neg \"a\" (%0) {a = integers[1]} : f32[]", "expected `]`, found `1`"},
      {"%1 = nnef.neg \"a\" (%0) {a = integers} : f32[]", "expected `[`, found `}`"},
      {"%1 = nnef.neg \"a\" (%0) {a = list} : f32[]", "expected `[`, found `}`"},
      {"%1 = nnef.neg \"a\" (%0) {a = list[1} : f32[]", "expected `]`, found `}`"},
      {"%1 = nnef.neg \"a\" (%0) {a = [1} : f32[]", "expected `]`, found `}`"},
      {"%1 = nnef.neg \"a\" (%0) {a = (1} : f32[]", "expected `)`, found `}`"},
      {"%1 = nnef.neg \"a\" (%0) {a = [1,]} : f32[]", "`` is not an attribute value"},
      {"%1 = nnef.neg \"a\" (%0) {a = shape 1} : f32[]", "expected `[`, found `1`"},
      {"%1 = nnef.neg \"a\" (%0) {a = shape[x]} : f32[]", "`[x]` is not a shape"},
      {"%1 = nnef.neg \"a\" (%0) {a = [3..2]} : f32[]", "`[3..2]` is not a shape"},
      {"%1 = nnef.neg \"a\" (%0) {a = f33} : f32[]", "`f33` is not an attribute value"},
      {"%1 = nnef.neg \"a\" (%0) {a = 1x} : f32[]", "expected a number, found `1x`"},
      {"%1 = nnef.neg \"a\" (%0) {a = -} : f32[]", "expected a number, found `-`"},
      {"%1 = nnef.neg \"a\" (%0) {a = :} : f32[]", "`` is not an attribute value"},
      {"%1 = nnef.neg \"a\" (%0) {a = /} : f32[]", "`` is not an attribute value"},
      {"sinks %0", "expected `(`, found `%`"},
      {"sinks (%0", "expected `)`, found `}`"},
      {"sinks (%1)", "`%1.0` is not defined before its use"},
      {"sinks (%0.1)", "`%0.1` is not defined before its use"},
  };
  for (const auto& [node, message] : cases) {
    const std::string mistake = Mistake(head + node + "}");
    EXPECT_EQ(mistake.substr(mistake.find(": ") + 2), message) << node;
  }
  const std::string loop = head + "%1 = test.loop \"l\" (%0) : f32[] bodies ";
  const std::pair<const char*, const char*> bodies[] = {
      {"\"b\" graph \"b\" {} }", "expected `{`, found `\"`"},
      {"{ b graph \"b\" {} }", "expected `\"`, found `b`"},
      {"{ \"b\" input 0 0 graph \"b\" {} }", "expected `->`, found `0`"},
      {"{ \"b\" input x -> 0 graph \"b\" {} }", "expected a number, found `x`"},
      {"{ \"b\" input 0 -> -1 graph \"b\" {} }", "expected an index, found `-1`"},
      {"{ \"b\" input -2 -> 0 graph \"b\" {} }", "`-2` is not an index"},
      {"{ \"b\" back -2 -> 0 graph \"b\" {} }", "`-2` is not an index"},
      {"{ \"b\" output 2147483647 -> 0 graph \"b\" {} }", "`2147483647` is not an index"},
      {"{ \"b\" input 0 -> 0 slice axis graph \"b\" {} }", "expected `(`, found `axis`"},
      {"{ \"b\" input 0 -> 0 slice(start 0) graph \"b\" {} }", "expected `axis`, found `start`"},
      {"{ \"b\" input 0 -> 0 slice(axis x) graph \"b\" {} }", "expected a number, found `x`"},
      {"{ \"b\" input 0 -> 0 slice(axis 0 start 0) graph \"b\" {} }", "expected `,`, found `start`"},
      {"{ \"b\" input 0 -> 0 slice(axis 0, end 0) graph \"b\" {} }", "expected `start`, found `end`"},
      {"{ \"b\" input 0 -> 0 slice(axis 0, start 0 end 1) graph \"b\" {} }", "expected `,`, found `end`"},
      {"{ \"b\" input 0 -> 0 slice(axis 0, start 0, stride 1) graph \"b\" {} }",
       "expected `end`, found `stride`"},
      {"{ \"b\" input 0 -> 0 slice(axis 0, start 0, end 1 stride 1) graph \"b\" {} }",
       "expected `,`, found `stride`"},
      {"{ \"b\" input 0 -> 0 slice(axis 0, start 0, end 1, part 1) graph \"b\" {} }",
       "expected `stride`, found `part`"},
      {"{ \"b\" input 0 -> 0 slice(axis 0, start 0, end 1, stride 1 part 1) graph \"b\" {} }",
       "expected `,`, found `part`"},
      {"{ \"b\" input 0 -> 0 slice(axis 0, start 0, end 1, stride 1, 1) graph \"b\" {} }",
       "expected `part`, found `1`"},
      {"{ \"b\" input 0 -> 0 slice(axis 0, start 0, end 1, stride 1, part 1 graph \"b\" {} }",
       "expected `)`, found `graph`"},
      {"{ \"b\" { } }", "expected `graph`, found `{`"},
      {"{ \"b\" graph b { } }", "expected `\"`, found `b`"},
      {"{ \"b\" graph \"b\" } }", "expected `{`, found `}`"},
  };
  for (const auto& [body, message] : bodies) {
    const std::string mistake = Mistake(loop + body + "}");
    EXPECT_EQ(mistake.substr(mistake.find(": ") + 2), message) << body;
  }
}

// Bodies are nested at most 64 deep, lists and tuples too.
TEST_F(TextMistakesTest, DeepestNesting) {
  const auto bodies = [](int depth) {
    std::string text = "graph \"g\" { %0 = nnef.external \"e\" {shape = []} : f32[] ", end = "}";
    for (int i = 0; i < depth; ++i) {
      text +=
          "%1:0 = test.loop \"l\" bodies { \"b\" graph \"g\" { %0 = nnef.external \"e\" {shape = []} : "
          "f32[] ";
      end += " } }";
    }
    return text + end;
  };
  EXPECT_NE(Parse(bodies(63)), nullptr);
  EXPECT_NE(Parse(bodies(64)), nullptr);
  EXPECT_EQ(Mistake(bodies(65)), "ir-text.nesting: bodies are nested more than 64 deep");
  const auto lists = [](int depth, char open, char close) {
    const auto size = static_cast<size_t>(depth);
    return "graph \"g\" { %0 = nnef.external \"e\" {shape = [], a = " + std::string(size, open) + "1" +
           std::string(size, close) + "} : f32[] }";
  };
  for (const auto& [open, close] : {std::pair('[', ']'), std::pair('(', ')')}) {
    EXPECT_NE(Parse(lists(64, open, close)), nullptr);
    EXPECT_EQ(Mistake(lists(65, open, close)), "ir-text.nesting: lists are nested more than 64 deep");
  }
}

TEST_F(TextMistakesTest, WrongConstants) {
  const auto constant = [&](const std::string& text) {
    return Mistake("graph \"a\" { %0 = opset1.Const \"c\" : f32[2] = " + text + " }");
  };
  for (const char* text : {"dense<f32[2]: 1.0>",
                           "dense<f32[2]: 1.0, x>",
                           "dense<f32[2]: 1.0,>",
                           "dense<i8[1]: 300>",
                           "dense<f32[9223372036854775807]: 1.0>",
                           "dense<f32[?]: 1.0>",
                           "dense<f32[1]: 0x00>",
                           "dense<f32[1]: 0x0000zz00>",
                           "dense<i4[2]: 1, 2>",
                           "dense<string[1]: 1>",
                           "dense<boolean[1]: 2>",
                           "dense<dynamic[0]:>",
                           "dense<dynamic[0]: 0x>",
                           "dense<f32[2]: 1.0, 2.0, 3.0>",
                           "dense<f32[2]: , 2.0>",
                           "dense<f32[2]: 1.0,, 2.0>",
                           "dense<f32[2]:>",
                           "dense<u8[1]: -1>",
                           "dense<i8[1]: 128>",
                           "dense<i8[1]: -129>",
                           "dense<i8[1]: 1.5>",
                           "dense<i64[4611686018427387904]: 0x>",
                           "dense<f64[2305843009213693952]: 0x>",
                           "dense<f32[1]: 1.0x>",
                           "dense<i8[1]: 0x1>",
                           "dense<i8[1]: 0x123>",
                           "dense<i8[1]: 0x1234>",
                           "dense<i8[1]: 0x1g>",
                           "dense<i8[1]: 0xg1>",
                           "dense<i8[1]: 0x1G>",
                           "dense<i8[1]: 0xA1>",
                           "dense<i8[1]: 0x:1>",
                           "dense<i8[1]: 0x/1>",
                           "dense<i8[1]: 0x`1>",
                           "dense<i8[2]: 0x01>",
                           "dense<i8[0]: 0x01>"}) {
    EXPECT_TRUE(constant(text).starts_with("ir-text.constant: ")) << text << constant(text);
  }
  const auto value = [&](const std::string& type, const std::string& items) {
    const auto graph =
        Parse(fmt::format("graph \"a\" {{ %0 = opset1.Const \"c\" : {0} = dense<{0}:{1}> }}", type, items));
    return graph == nullptr ? std::string("none")
                            : PrintGraph(*graph).substr(PrintGraph(*graph).find(" = dense") + 3);
  };
  EXPECT_EQ(value("i8[3]", "\n 1,\t-2 ,\r3 "), "dense<i8[3]: 1, -2, 3>\n}\n");
  EXPECT_EQ(value("i8[2]", " 0xf08f"), "dense<i8[2]: -16, -113>\n}\n");
  EXPECT_EQ(value("u8[3]", "0x09afa0"), "dense<u8[3]: 9, 175, 160>\n}\n");
  EXPECT_EQ(value("u8[2]", "0, 255"), "dense<u8[2]: 0, 255>\n}\n");
  EXPECT_EQ(value("boolean[2]", "0, 1"), "dense<boolean[2]: 0, 1>\n}\n");
  EXPECT_EQ(value("boolean[1]", "0x02"), "dense<boolean[1]: 0x02>\n}\n");
  EXPECT_EQ(value("f32[0]", ""), "dense<f32[0]:>\n}\n");
  EXPECT_EQ(value("f32[3]", "1, -0.0, 1e-45"), "dense<f32[3]: 1.0, -0.0, 1e-45>\n}\n");
  EXPECT_TRUE(constant("dense<f32[3]: 1.0, 2.0, 3.0>").starts_with("ir-text.invalid-graph: "));
  EXPECT_TRUE(constant("dense<none>").starts_with("ir-text.invalid-graph: "));
}

// Damaged texts cause errors, or graphs that are equal after printing and reading.
TEST_F(TextMistakesTest, DamagedTexts) {
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

TEST_F(TextMistakesTest, NestingIsLimited) {
  const std::string lists(100'000, '[');
  EXPECT_TRUE(Mistake("graph \"a\" { %0 = nnef.constant \"c\" {b = " + lists).starts_with("ir-text.nesting"));
  std::string bodies;
  for (int i = 0; i < 100'000; ++i)
    bodies += "graph \"a\" { %0 = nnef.constant \"c\" : f32[] bodies { \"b\" ";
  EXPECT_TRUE(Mistake(bodies).starts_with("ir-text.nesting"));
}

}  // namespace
}  // namespace nnefc::ir

#include "compiler/ir/text/text.h"

#include <algorithm>
#include <limits>

#include "compiler/ir/text/text_values.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/text_fixture.h"

namespace nnefc::ir {
namespace {

class TextTest : public TextFixture {};

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

// A node without outputs may be a sink.
TEST_F(TextTest, SinksWithoutOutputs) {
  const std::string text = R"(graph "s" {
  %0 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
  %1:0 = test.loop "l" (%0)
  sinks (%1)
}
)";
  ExpectRoundTrip(text);
  EXPECT_EQ(Mistake("graph \"s\" { %1:0 = test.loop \"l\" sinks (%1.1) }"),
            "ir-text.unknown-value: `%1.1` is not defined before its use");
  EXPECT_EQ(Mistake("graph \"s\" { %1:0 = test.loop \"l\" %2 = test.loop \"m\" (%1) : f32[] }"),
            "ir-text.unknown-value: `%1.0` is not defined before its use");
}

// The shape of a Parameter may be a list of integers. Verify does not check other values.
TEST_F(TextTest, ShapesOfParameters) {
  const std::pair<const char*, const char*> cases[] = {{", shape = [1,3]", ", shape = shape[1,3]"},
                                                       {", shape = []", ", shape = shape[]"},
                                                       {", shape = integers[]", ", shape = shape[]"},
                                                       {", shape = scalars[]", ", shape = shape[]"},
                                                       {", shape = shape[2]", ", shape = shape[2]"},
                                                       {", shape = [0,-1]", ", shape = [0,?]"},
                                                       {", shape = [-2]", ", shape = [-2]"},
                                                       {", shape = [1.0]", ", shape = [1.0]"},
                                                       {", shape = \"x\"", ", shape = \"x\""},
                                                       {", shape = 1", ", shape = 1"},
                                                       {"", ""}};
  for (const auto& [given, printed] : cases) {
    const auto text = [](const char* shape) {
      return fmt::format(
          "graph \"g\" {{\n  %0 = opset1.Parameter \"x\" {{element_type = f32{}}} : f32[...]\n}}\n", shape);
    };
    const std::unique_ptr<Graph> graph = Parse(text(given));
    ASSERT_NE(graph, nullptr) << given;
    EXPECT_EQ(PrintGraph(*graph), text(printed));
  }
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
  AddConst(graph, TensorValue::Filled(ElementType::kF32, {100}, 1), "c");
  const std::string text = PrintGraph(graph);
  EXPECT_NE(text.find("dense<f32[100]: #"), std::string::npos) << text;
  EXPECT_EQ(Mistake(text),
            "ir-text.elided-constant: the constant was printed without its elements, which `compile -o "
            "net.ir` keeps "
            "in `net.bin`");
}

// The largest indices are those of 32 bits but one, and -1 outside of a body.
TEST_F(TextTest, Indices) {
  const auto graph = Parse(R"(graph "g" {
  %2147483646 = nnef.external "e" {shape = []} : f32[]
  %0:0 = test.loop "l" (%2147483646) bodies { "b" input -1 -> 0 output -1 -> 0 back 0 -> 0 graph "b" {
    %5 = opset1.Parameter "x" {element_type = f32, shape = []} : f32[]
    opset1.Result "y" (%5) } }
})");
  ASSERT_NE(graph, nullptr);
  const Node& loop = graph->node(graph->nodes()[1]);
  EXPECT_EQ(loop.num_outputs(), 0);
  EXPECT_EQ(loop.bodies()[0].inputs[0].external, -1);
  EXPECT_EQ(loop.bodies()[0].outputs[0].external, -1);
}

TEST_F(TextTest, WrongConstants) {
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
                           "dense<f32[1]: 0x0000000z>",
                           "dense<f32[1]: 0x000000z0>",
                           "dense<f32[1]: 0x0000000>",
                           "dense<f32[1]: 0x000000000>",
                           "dense<f32[1]: 0x0000000000>",
                           "dense<f32[1]: 0x000000FF>",
                           "dense<f32[1]: 0x000000g0>",
                           "dense<f32[1]: 0x>",
                           "dense<f32[2]: 0x00000000>",
                           "dense<i4[3]: 0x12>",
                           "dense<string[1]: 0x00>",
                           "dense<i4[2]: 1, 2>",
                           "dense<string[1]: 1>",
                           "dense<boolean[1]: 2>",
                           "dense<dynamic[0]:>"}) {
    EXPECT_TRUE(constant(text).starts_with("ir-text.constant: ")) << text << constant(text);
  }
}

TEST_F(TextTest, NamesAreQuotedUnlessTheyAreWords) {
  const std::pair<const char*, const char*> names[] = {
      {"a", "a"},           {"z-9", "z-9"},        {"A_Z", "A_Z"},
      {"_", "_"},           {"0a", "\"0a\""},      {"9", "\"9\""},
      {"-a", "\"-a\""},     {"", "\"\""},          {"a b", "\"a b\""},
      {"a.b", "\"a.b\""},   {"a/b", "\"a/b\""},    {"a:", "\"a:\""},
      {"a@", "\"a@\""},     {"a[", "\"a[\""},      {"a`", "\"a`\""},
      {"a{", "\"a{\""},     {"\x1f", "\"\\x1f\""}, {"\x7f", "\"\\x7f\""},
      {"\x80", "\"\x80\""}, {"\n", "\"\\n\""},     {" ", "\" \""},
      {"~", "\"~\""}};
  for (const auto& [name, printed] : names) {
    AttributeMap map;
    map.Set(name, 1);
    const std::string text = PrintAttributes(map);
    EXPECT_EQ(text, fmt::format("{{{} = 1}}", printed));
    TextScanner scanner(context_.sources.AddText("attributes", text), context_);
    EXPECT_EQ(ParseAttributesText(scanner), map) << text;
  }
}

TEST_F(TextTest, Reals) {
  AttributeMap map;
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  map.Set("a", Attribute::Scalars{nan, -nan, infinity, -infinity, 0.0, -0.0, 3, 1e22, 1e-7, 0.1});
  EXPECT_EQ(PrintAttributes(map), "{a = [nan, nan, inf, -inf, 0.0, -0.0, 3.0, 1e+22, 1e-07, 0.1]}");
}

// Numbers beyond the largest are infinite, those below the smallest are 0.
TEST_F(TextTest, RealsBeyondTheirLimits) {
  const auto read = [](const std::string& number) {
    Context context;
    TextScanner scanner(context.sources.AddText("attributes", "{a = " + number + "}"), context);
    const std::optional<AttributeMap> map = ParseAttributesText(scanner);
    EXPECT_TRUE(map.has_value()) << number;
    return map ? map->Find("a")->AsDouble() : -7.0;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(read("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(read("1e309"), infinity);
  EXPECT_EQ(read("-1e309"), -infinity);
  EXPECT_EQ(read("1e99999"), infinity);
  EXPECT_EQ(read("4.9406564584124654e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(read("1e-400"), 0.0);
  EXPECT_EQ(read("0.1"), 0.1);
  for (const char* wrong : {"1.5.5", "1e5e5", "1e", "1.5e+", "1.e.", "nann", "infi"}) {
    Context context;
    TextScanner scanner(context.sources.AddText("attributes", std::string("{a = ") + wrong + "}"), context);
    EXPECT_FALSE(ParseAttributesText(scanner).has_value()) << wrong;
  }
}

TEST_F(TextTest, AttributesAreLimited) {
  const auto attributes = [](int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += fmt::format("{}a{} = {}", i == 0 ? "" : ", ", i, i);
    return text + "}";
  };
  const auto parse = [&](int count) {
    Context context;
    TextScanner scanner(context.sources.AddText("attributes", attributes(count)), context);
    return ParseAttributesText(scanner);
  };
  EXPECT_EQ(parse(1000)->size(), 1000u);
  EXPECT_EQ(parse(1001), std::nullopt);
}

// A list of names may be empty.
TEST_F(TextTest, NamesOfTensors) {
  const auto names = [&](const std::string& list) {
    const auto graph = Parse(
        "graph \"g\" {\n%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : "
        "f32[2]" +
        list + "\n}\n");
    return graph == nullptr ? std::vector<std::string>{"?"}
                            : graph->node(graph->parameters()[0]).output().names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names(""), Names());
  EXPECT_EQ(names(" as []"), Names());
  EXPECT_EQ(names(" as [\"a\"]"), Names{"a"});
  EXPECT_EQ(names(" as [\"a\", \"b\"]"), (Names{"a", "b"}));
  EXPECT_EQ(names(" as [\"a\",]"), Names{"?"});
  EXPECT_EQ(names(" as [,]"), Names{"?"});
}

// Elements outside of the text: their digest and the offset of their bytes.
TEST_F(TextTest, StoredElements) {
  Graph graph(&registry_, "g");
  AddConst(graph, TensorValue::FromFloats({3}, {1.5F, -2, 0.25F}), "c");
  AddConst(graph, TensorValue::FromInts({4}, {1, 2, 3, 4}), "d");
  std::string bytes = "12345678";
  const std::string text =
      PrintGraph(graph, {.max_constant_elements = 3, .keep = [&](const TensorValue& value) {
                           const size_t offset = bytes.size();
                           bytes.append(reinterpret_cast<const char*>(value.bytes()), value.byte_size());
                           return offset;
                         }});
  // FNV-1a of the bytes 1, 2, 3 and 4, each followed by seven zero bytes.
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes.substr(8)) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  EXPECT_NE(text.find("dense<f32[3]: 1.5, -2.0, 0.25>"), std::string::npos) << text;
  const std::string stored = fmt::format("dense<i64[4]: #{:016x} @8>", hash);
  ASSERT_NE(text.find(stored), std::string::npos) << text;
  const auto parse = [&](const std::string& changed, const std::string& elements) {
    context_.emitter.Clear();
    const std::shared_ptr<Buffer> buffer = Buffer::Allocate(elements.size());
    std::copy_n(reinterpret_cast<const std::byte*>(elements.data()), elements.size(), buffer->mutable_data());
    const auto read = ParseGraph(context_.sources.AddText("graph", changed), registry_, context_, buffer);
    if (read != nullptr) return PrintGraph(*read, {.max_constant_elements = -1});
    return context_.emitter.diagnostics().front().message;
  };
  EXPECT_EQ(parse(text, bytes), PrintGraph(graph, {.max_constant_elements = -1}));
  const auto with = [&](const std::string& constant) {
    std::string changed = text;
    return changed.replace(changed.find(stored), stored.size(), constant);
  };
  const std::string outside = "the elements lie outside of the `.bin` file, which has ";
  EXPECT_EQ(parse(text, bytes.substr(0, 39)), outside + "39 bytes");
  EXPECT_EQ(parse(text, ""), outside + "0 bytes");
  EXPECT_EQ(parse(with(fmt::format("dense<i64[4]: #{:016x} @9>", hash)), bytes), outside + "40 bytes");
  EXPECT_EQ(parse(with(fmt::format("dense<i64[4]: #{:016x} @40>", hash)), bytes), outside + "40 bytes");
  EXPECT_EQ(parse(with(fmt::format("dense<i64[4]: #{:016x} @41>", hash)), bytes), outside + "40 bytes");
  EXPECT_EQ(parse(with(fmt::format("dense<i64[4]: #{:016x} @8x>", hash)), bytes), outside + "40 bytes");
  EXPECT_EQ(parse(with(fmt::format("dense<i64[4]: #{:016x}x @8>", hash)), bytes), outside + "40 bytes");
  EXPECT_EQ(parse(with(fmt::format("dense<i64[?]: #{:016x} @8>", hash)), bytes), outside + "40 bytes");
  for (const char* type : {"f32[...]", "i64[4611686018427387904]", "i64[4611686018427387904,4]"})
    EXPECT_EQ(parse(with(fmt::format("dense<{}: #{:016x} @8>", type, hash)), bytes), outside + "40 bytes")
        << type;
  EXPECT_EQ(parse(with(fmt::format("dense<i64[4]: #{:016x}>", hash)), bytes),
            "the constant was printed without its elements, which `compile -o net.ir` keeps in `net.bin`");
  // No elements may stand at the end.
  const std::string none = "dense<i64[0]: #cbf29ce484222325 @{}>";
  for (const int at : {0, 40}) {
    std::string empty = with(fmt::format(fmt::runtime(none), at));
    empty.replace(empty.find("i64[4]"), 6, "i64[0]");
    EXPECT_NE(parse(empty, bytes).find("i64[0] = dense<i64[0]:>"), std::string::npos) << parse(empty, bytes);
  }
  EXPECT_EQ(parse(with(fmt::format(fmt::runtime(none), 41)), bytes), outside + "40 bytes");
  const std::string others = "the elements in the `.bin` file are others: the files do not belong together";
  EXPECT_EQ(parse(with(fmt::format("dense<i64[4]: #{:016x} @8>", hash + 1)), bytes), others);
  EXPECT_EQ(parse(with(fmt::format("dense<i64[4]: #{:016x} @7>", hash)), bytes), others);
  bytes[39] = 1;
  EXPECT_EQ(parse(text, bytes), others);
  EXPECT_EQ(
      Mistake(text),
      "ir-text.elided-constant: the elements of the constant are not there: they stand in the `.bin` file of "
      "the same name");
  EXPECT_EQ(context_.emitter.diagnostics().size(), 1u);
}

}  // namespace
}  // namespace nnefc::ir

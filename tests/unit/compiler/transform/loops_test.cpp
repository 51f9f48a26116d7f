// Loops: loop-invariant values, and small iteration counts.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class LoopsTest : public TransformTest {
 protected:
  std::string Unrolled(const std::string& text) {
    const TransformationList list = StandardTransformations();
    graph_ = Parse(Numbered(text));
    if (graph_ == nullptr) return "no graph";
    EXPECT_EQ(Run(list, *graph_, Side::kAfterLowering, {.only = {"middle.UnrollLoops"}}), "");
    return Brief(*graph_);
  }
  // Returns the names of the results' values.
  std::vector<std::string> ResultNames(size_t result) {
    return graph_->output(graph_->node(graph_->results()[result]).input(0)).names;
  }

  std::unique_ptr<ir::Graph> graph_;
};

struct SumLoop {
  std::string data = "[1,6]";
  std::string take = "slice(axis 1, start 0, end -1, stride 2, part 2)";
  std::string give = "slice(axis 1, start 0, end -1, stride 2, part 2)";
  std::string before = "";    // in the body
  std::string value = "%s";   // the new value of the state
  std::string last = "%y.1";  // the second result of the model
};

// state += part, from parts of two: outputs all states concatenated, and the last one.
std::string TextOf(const SumLoop& form) {
  return "  %x = opset1.Parameter \"x\" {element_type = f32, shape = " + form.data + "} : f32" + form.data +
         "\n  %h = opset1.Parameter \"h\" {element_type = f32, shape = [1,2]} : f32[1,2]\n"
         "  %y:2 = opset1.TensorIterator \"loop\" (%x, %h) : f32[...], f32[...] as [\"l\"] bodies {\n"
         "    \"body\" input 0 -> 0 " +
         form.take + " input 1 -> 1 output 0 -> 0 " + form.give +
         " output 1 -> 1 back 1 -> 1 graph \"step\" {\n"
         "      %p = opset1.Parameter \"p\" {element_type = f32, shape = [1,2]} : f32[1,2]\n"
         "      %h = opset1.Parameter \"h\" {element_type = f32, shape = [1,2]} : f32[1,2]\n" +
         form.before +
         "      %s = opset1.Add \"s\" (%p, %h) : f32[1,2]\n"
         "      opset1.Result \"all\" (%s)\n"
         "      opset1.Result \"last\" (" +
         form.value +
         ")\n    }\n  }\n"
         "  %r = opset1.ReLU \"r\" (%y) : f32[...]\n  opset1.Result \"all\" (%r)\n  opset1.Result \"last\" "
         "(" +
         form.last + ")\n";
}

TEST_F(LoopsTest, EachIterationTakesItsPartAndTheStateBefore) {
  EXPECT_EQ(Unrolled(TextOf({})),
            "Parameter(x) Parameter(h) Const() Split(loop/Split: x, ) Add(s: loop/Split, h) Add(s_2: "
            "loop/Split.1, s) Add(s_3: loop/Split.2, s_2) Concat(loop/Concat: s, s_2, s_3) ReLU(r: "
            "loop/Concat) Result(all: r) Result(last: s_3)");
  EXPECT_EQ(ResultNames(1), (std::vector<std::string>{"l"}));
}

TEST_F(LoopsTest, BackwardsFromTheLastPart) {
  const std::string back = "slice(axis 1, start -1, end 0, stride -2, part 2)";
  const std::string adds =
      "Parameter(x) Parameter(h) Const() Split(loop/Split: x, ) Add(s: loop/Split.2, h) Add(s_2: "
      "loop/Split.1, s) Add(s_3: loop/Split, s_2) ";
  EXPECT_EQ(Unrolled(TextOf({.take = back})),
            adds + "Concat(loop/Concat: s, s_2, s_3) ReLU(r: loop/Concat) Result(all: r) Result(last: s_3)");
  EXPECT_EQ(Unrolled(TextOf({.take = back, .give = back})),
            adds + "Concat(loop/Concat: s_3, s_2, s) ReLU(r: loop/Concat) Result(all: r) Result(last: s_3)");
}

// Without parts of inputs, those of the result say how often the body runs: from either end of a span to the
// other one.
TEST_F(LoopsTest, PartsOfTheResultAlone) {
  const std::string adds = "Parameter(x) Parameter(h) Add(s: x, h) Add(s_2: x, s) ";
  const auto unrolled = [&](const std::string& give) {
    return Unrolled(TextOf({.data = "[1,2]", .take = "", .give = give}));
  };
  EXPECT_EQ(unrolled("slice(axis 1, start 0, end 4, stride 2, part 2)"),
            adds + "Concat(loop/Concat: s, s_2) ReLU(r: loop/Concat) Result(all: r) Result(last: s_2)");
  EXPECT_EQ(unrolled("slice(axis 1, start 4, end 0, stride -2, part 2)"),
            adds + "Concat(loop/Concat: s_2, s) ReLU(r: loop/Concat) Result(all: r) Result(last: s_2)");
  // Spans from or to the end of the axis have no known length.
  for (const char* give : {"start 0, end -1, stride 2", "start -1, end 0, stride -2"})
    EXPECT_EQ(unrolled(fmt::format("slice(axis 1, {}, part 2)", give)),
              "Parameter(x) Parameter(h) Add(s: x, h) ReLU(r: s) Result(all: r) Result(last: s)")
        << give;
}

TEST_F(LoopsTest, ASpanWithinTheAxis) {
  // [2, 6) of 8: two iterations with two elements each.
  const std::string made =
      Unrolled(TextOf({.data = "[1,8]", .take = "slice(axis 1, start 2, end 6, stride 2, part 2)"}));
  EXPECT_NE(made.find("Slice(loop/Slice: x, , , , ) Const() Split(loop/Split: loop/Slice, ) Add(s: "
                      "loop/Split, h) Add(s_2: loop/Split.1, s) Concat(loop/Concat: s, s_2)"),
            std::string::npos)
      << made;
  for (ir::NodeId id : graph_->nodes()) {
    const ir::Node& node = graph_->node(id);
    if (node.type() != "Slice") continue;
    for (const auto& [input, expected] : {std::pair(1, 2), std::pair(2, 6), std::pair(3, 1), std::pair(4, 1)})
      EXPECT_EQ(graph_->output(node.input(input)).value->ElementAsInt(0), expected) << input;
  }
}

TEST_F(LoopsTest, OneIterationNeedsNoParts) {
  EXPECT_EQ(Unrolled(TextOf({.data = "[1,2]"})),
            "Parameter(x) Parameter(h) Add(s: x, h) ReLU(r: s) Result(all: r) Result(last: s)");
}

TEST_F(LoopsTest, WhatIsNotKnownOrHasStateOrIsMuchStays) {
  const auto stays = [&](const SumLoop& form) {
    return Unrolled(TextOf(form)).find("TensorIterator(loop: x, h)") != std::string::npos;
  };
  EXPECT_TRUE(stays({.data = "[1,?]"}));
  EXPECT_FALSE(stays({.data = "[1,1024]"}));
  EXPECT_TRUE(stays({.data = "[1,1026]"}));
  EXPECT_TRUE(
      stays({.before = "      %v = opset6.ReadValue \"v\" (%p) {variable_id = \"v\", variable_type = f32, "
                       "variable_shape = shape[1,2]} : f32[1,2]\n      opset6.Assign \"w\" (%v) "
                       "{variable_id = \"v\"}\n"}));
  // A result that would become a parameter; another that would equal an existing one.
  EXPECT_TRUE(stays({.data = "[1,2]", .value = "%p"}));
  EXPECT_FALSE(stays({.data = "[1,2]", .value = "%p", .last = "%h"}));
}

// ---- Loop ----

struct CountedLoop {
  std::string trips = "3";
  std::string condition = "1";
  std::string next = "opset1.Const \"next\" : boolean[] = dense<boolean[]: 1>";
};

// state = state * iteration number.
std::string TextOf(const CountedLoop& form) {
  return "  %x = opset1.Parameter \"x\" {element_type = i64, shape = []} : i64[]\n"
         "  %t = opset1.Const \"t\" : i64[] = dense<i64[]: " +
         form.trips + ">\n  %c = opset1.Const \"c\" : boolean[] = dense<boolean[]: " + form.condition +
         ">\n  %y = opset5.Loop \"loop\" (%t, %c, %x) : i64[...] bodies {\n"
         "    \"body\" input -1 -> 0 input 2 -> 1 output -1 -> 0 output 0 -> 1 back 1 -> 1 graph \"step\" {\n"
         "      %k = opset1.Parameter \"k\" {element_type = i64, shape = []} : i64[]\n"
         "      %s = opset1.Parameter \"s\" {element_type = i64, shape = []} : i64[]\n"
         "      %n = " +
         form.next +
         "\n      %m = opset1.Multiply \"m\" (%s, %k) : i64[]\n"
         "      opset1.Result \"go\" (%n)\n      opset1.Result \"out\" (%m)\n    }\n  }\n"
         "  opset1.Result \"y\" (%y)\n";
}

TEST_F(LoopsTest, ALoopOfAKnownNumberOfIterations) {
  EXPECT_EQ(Unrolled(TextOf(CountedLoop{})),
            "Parameter(x) Const() Multiply(m: x, ) Const() Multiply(m_2: m, ) Const() Multiply(loop: m_2, ) "
            "Result(y: loop)");
  std::vector<int64_t> numbers;
  for (ir::NodeId id : graph_->nodes()) {
    if (graph_->node(id).Is(ir::OpRole::kConst))
      numbers.push_back(graph_->node(id).output().value->ElementAsInt(0));
  }
  EXPECT_EQ(numbers, (std::vector<int64_t>{0, 1, 2}));
}

// The number of an iteration has the rank and type of the body's parameter.
TEST_F(LoopsTest, RanksOfIterationNumbers) {
  for (const char* shape : {"", "1"}) {
    for (const char* type : {"i64", "i32"}) {
      std::string text = TextOf(CountedLoop{});
      const std::string parameter = "\"k\" {element_type = i64, shape = []} : i64[]";
      text.replace(text.find(parameter), parameter.size(),
                   fmt::format("\"k\" {{element_type = {0}, shape = [{1}]}} : {0}[{1}]", type, shape));
      const std::string product = "opset1.Multiply \"m\" (%s, %k) : i64[]";
      text.replace(
          text.find(product), product.size(),
          "opset1.Convert \"w\" (%k) {destination_type = i64} : i64[...]\n      %w = opset1.ReduceSum "
          "\"r\" (%m, %e) {keep_dims = false} : i64[]\n      %v = opset1.Multiply \"m\" (%s, %w) : i64[]");
      const std::string next = "      %n = ";
      text.replace(text.find(next), next.size(),
                   fmt::format("      %e = opset1.Const \"e\" : i64[{0}] = dense<i64[{0}]: {1}>\n",
                               shape[0] == '1' ? 1 : 0, shape[0] == '1' ? "0" : "") +
                       next);
      const std::string result = "\"out\" (%m)";
      text.replace(text.find(result), result.size(), "\"out\" (%v)");
      (void)Unrolled(text);
      ASSERT_NE(graph_, nullptr);
      int numbers = 0;
      for (ir::NodeId id : graph_->nodes()) {
        const ir::Node& node = graph_->node(id);
        if (node.type() != "Convert") continue;
        const ir::Output& number = graph_->output(node.input(0));
        EXPECT_EQ(ir::ToString(number.shape), fmt::format("[{}]", shape));
        EXPECT_EQ(Name(number.type), type);
        ++numbers;
      }
      EXPECT_EQ(numbers, 3) << shape << type;
    }
  }
}

TEST_F(LoopsTest, LoopsThatMayEndOtherwiseStay) {
  const auto stays = [&](const CountedLoop& form) {
    return Unrolled(TextOf(form)).find("Loop(loop:") != std::string::npos;
  };
  EXPECT_FALSE(stays({}));
  EXPECT_TRUE(stays({.trips = "0"}));
  EXPECT_TRUE(stays({.trips = "-1"}));
  EXPECT_TRUE(stays({.condition = "0"}));
  EXPECT_TRUE(stays({.next = "opset1.Less \"n\" (%s, %k) : boolean[]"}));
}

// Zero iterations are not unrolled, whatever the slices of the inputs.
TEST_F(LoopsTest, TripCountsOfSlicedInputs) {
  const auto unrolled = [&](const std::string& trips) {
    return Unrolled(
        "  %x = opset1.Parameter \"x\" {element_type = f32, shape = [3]} : f32[3]\n"
        "  %h = opset1.Parameter \"h\" {element_type = f32, shape = [1]} : f32[1]\n"
        "  %t = opset1.Const \"t\" : i64[] = dense<i64[]: " +
        trips +
        ">\n  %c = opset1.Const \"c\" : boolean[] = dense<boolean[]: 1>\n"
        "  %y = opset5.Loop \"loop\" (%t, %c, %x, %h) : f32[...] bodies {\n"
        "    \"body\" input 2 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) input 3 -> 1 "
        "output -1 -> 0 output 0 -> 1 back 1 -> 1 graph \"step\" {\n"
        "      %p = opset1.Parameter \"p\" {element_type = f32, shape = [1]} : f32[1]\n"
        "      %s = opset1.Parameter \"s\" {element_type = f32, shape = [1]} : f32[1]\n"
        "      %n = opset1.Const \"n\" : boolean[] = dense<boolean[]: 1>\n"
        "      %m = opset1.Add \"m\" (%p, %s) : f32[1]\n"
        "      opset1.Result \"go\" (%n)\n      opset1.Result \"out\" (%m)\n    }\n  }\n"
        "  opset1.Result \"y\" (%y)\n");
  };
  const auto sums = [&](const std::string& trips) {
    const std::string made = unrolled(trips);
    int count = 0;
    for (size_t at = made.find("Add("); at != std::string::npos; at = made.find("Add(", at + 1)) ++count;
    return count;
  };
  EXPECT_NE(unrolled("0").find("Loop(loop:"), std::string::npos);
  EXPECT_EQ(sums("1"), 1);
  EXPECT_EQ(sums("2"), 2);
  EXPECT_EQ(sums("3"), 3);
  EXPECT_EQ(sums("-1"), 3);
}

// The bound on nodes, and one more: with one, two and three nodes per iteration.
TEST_F(LoopsTest, UpToTheMostNodes) {
  const auto is_unrolled = [&](int iterations, int nodes) {
    std::string before, value = "%s";
    for (int i = 1; i < nodes; ++i) {
      before += "      %" + std::string(1, static_cast<char>('i' + i)) + " = opset1.Abs \"abs" +
                std::to_string(i) + "\" (%p) : f32[1,2]\n";
    }
    const std::string data = "[1," + std::to_string(2 * iterations) + "]";
    return Unrolled(TextOf(SumLoop{.data = data, .before = before})).find("TensorIterator") ==
           std::string::npos;
  };
  EXPECT_TRUE(is_unrolled(512, 1));
  EXPECT_FALSE(is_unrolled(513, 1));
  EXPECT_TRUE(is_unrolled(256, 2));
  EXPECT_FALSE(is_unrolled(257, 2));
  EXPECT_TRUE(is_unrolled(170, 3));
  EXPECT_FALSE(is_unrolled(171, 3));
}

// Each result has its own node of the loop.
TEST_F(LoopsTest, ResultsThatWouldBeOthersStay) {
  const auto stays = [&](const std::string& first, const std::string& second, const std::string& results) {
    return Unrolled(
               "  %x = opset1.Parameter \"x\" {element_type = f32, shape = [2]} : f32[2]\n"
               "  %r = opset1.ReLU \"r\" (%x) : f32[2]\n"
               "  %y:2 = opset1.TensorIterator \"loop\" (%r) : f32[2], f32[2] bodies {\n"
               "    \"body\" input 0 -> 0 output 0 -> 0 output 1 -> 1 graph \"step\" {\n"
               "      %p = opset1.Parameter \"p\" {element_type = f32, shape = [2]} : f32[2]\n"
               "      %k = opset1.Const \"k\" : f32[2] = dense<f32[2]: 1.0, 2.0>\n"
               "      %a = opset1.Add \"a\" (%p, %k) : f32[2]\n      %b = opset1.Abs \"b\" (%p) : f32[2]\n"
               "      opset1.Result \"one\" (" +
               first + ")\n      opset1.Result \"two\" (" + second + ")\n    }\n  }\n" + results)
               .find("TensorIterator") != std::string::npos;
  };
  const std::string both = "  opset1.Result \"y\" (%y)\n  opset1.Result \"z\" (%y.1)\n";
  EXPECT_FALSE(stays("%a", "%b", both));
  EXPECT_TRUE(stays("%a", "%a", both));
  EXPECT_TRUE(stays("%k", "%b", both));
  EXPECT_TRUE(stays("%a", "%k", both));
  EXPECT_TRUE(stays("%p", "%b", both));
  EXPECT_TRUE(stays("%a", "%p", both));
  // Between other nodes the values may be shared.
  const std::string sum = "  %s = opset1.Multiply \"s\" (%y, %y.1) : f32[2]\n  opset1.Result \"y\" (%s)\n";
  for (const char* value : {"%a", "%k", "%p"}) EXPECT_FALSE(stays(value, value, sum)) << value;
}

// ---- loops in loops ----

TEST_F(LoopsTest, LoopsInALoopThatIsUnrolledAreToo) {
  const std::string text = R"(  %x = opset1.Parameter "x" {element_type = f32, shape = [2,2]} : f32[2,2]
  %h = opset1.Parameter "h" {element_type = f32, shape = [1,1]} : f32[1,1]
  %y = opset1.TensorIterator "rows" (%x, %h) : f32[1,1] bodies {
    "body" input 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) input 1 -> 1 output 0 -> 0 back 0 -> 1 graph "row" {
      %p = opset1.Parameter "p" {element_type = f32, shape = [1,2]} : f32[1,2]
      %s = opset1.Parameter "s" {element_type = f32, shape = [1,1]} : f32[1,1]
      %t = opset1.TensorIterator "items" (%p, %s) : f32[1,1] bodies {
        "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) input 1 -> 1 output 0 -> 0 back 0 -> 1 graph "item" {
          %q = opset1.Parameter "q" {element_type = f32, shape = [1,1]} : f32[1,1]
          %u = opset1.Parameter "u" {element_type = f32, shape = [1,1]} : f32[1,1]
          %v = opset1.Add "v" (%q, %u) : f32[1,1]
          opset1.Result "o" (%v)
        }
      }
      opset1.Result "o" (%t)
    }
  }
  opset1.Result "y" (%y)
)";
  const std::string made = Unrolled(text);
  EXPECT_EQ(made.find("TensorIterator"), std::string::npos) << made;
  size_t sums = 0;
  for (size_t at = made.find("Add("); at != std::string::npos; at = made.find("Add(", at + 1)) ++sums;
  EXPECT_EQ(sums, 4U);
}

// At most 512 nodes: each of the two loops in the body, whose 513 iterations are too many, counts as one.
TEST_F(LoopsTest, LoopsThatStayCountAsNodes) {
  const auto inner = [](const std::string& name, const std::string& state) {
    return fmt::format(
        R"(      %{0} = opset1.TensorIterator "{0}" (%p, %{1}) : f32[1,1] bodies {{
        "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) input 1 -> 1 output 0 -> 0 back 0 -> 1 graph "item" {{
          %q = opset1.Parameter "q" {{element_type = f32, shape = [1,1]}} : f32[1,1]
          %u = opset1.Parameter "u" {{element_type = f32, shape = [1,1]}} : f32[1,1]
          %v = opset1.Add "v" (%q, %u) : f32[1,1]
          opset1.Result "o" (%v)
        }}
      }}
)",
        name, state);
  };
  const auto stays = [&](int rows) {
    const std::string text = fmt::format(
        R"(  %x = opset1.Parameter "x" {{element_type = f32, shape = [{0},513]}} : f32[{0},513]
  %h = opset1.Parameter "h" {{element_type = f32, shape = [1,1]}} : f32[1,1]
  %y = opset1.TensorIterator "rows" (%x, %h) : f32[1,1] bodies {{
    "body" input 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) input 1 -> 1 output 0 -> 0 back 0 -> 1 graph "row" {{
      %p = opset1.Parameter "p" {{element_type = f32, shape = [1,513]}} : f32[1,513]
      %s = opset1.Parameter "s" {{element_type = f32, shape = [1,1]}} : f32[1,1]
{1}{2}      opset1.Result "o" (%second)
    }}
  }}
  opset1.Result "y" (%y)
)",
        rows, inner("first", "s"), inner("second", "first"));
    return Unrolled(text).find("TensorIterator(rows: x, h)") != std::string::npos;
  };
  EXPECT_FALSE(stays(255));
  EXPECT_FALSE(stays(256));
  EXPECT_TRUE(stays(257));
}

// ---- constants ----

TEST_F(LoopsTest, ConstantsOfAllIterationsAreThoseOfTheBody) {
  const std::string text = R"(  %x = opset1.Parameter "x" {element_type = f32, shape = [1,3]} : f32[1,3]
  %h = opset1.Const "h" : f32[1,1] = dense<f32[1,1]: 0.5>
  %k = opset1.Const "k" : f32[1,1] = dense<f32[1,1]: 2.0>
  %z = opset1.Const "z" : f32[1,3] = dense<f32[1,3]: 1.0, 2.0, 3.0>
  %y = opset1.TensorIterator "loop" (%x, %h, %k, %z) : f32[1,1] bodies {
    "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) input 1 -> 1 input 2 -> 2 input 3 -> 3 slice(axis 1, start 0, end -1, stride 1, part 1) output 0 -> 0 back 0 -> 1 graph "step" {
      %p = opset1.Parameter "p" {element_type = f32, shape = [1,1]} : f32[1,1]
      %s = opset1.Parameter "s" {element_type = f32, shape = [1,1]} : f32[1,1]
      %f = opset1.Parameter "f" {element_type = f32, shape = [1,1]} : f32[1,1]
      %e = opset1.Parameter "e" {element_type = f32, shape = [1,1]} : f32[1,1]
      %a = opset1.Add "a" (%p, %s) : f32[1,1]
      %b = opset1.Multiply "b" (%a, %f) : f32[1,1]
      %c = opset1.Add "c" (%b, %e) : f32[1,1]
      opset1.Result "o" (%c)
    }
  }
  opset1.Result "y" (%y)
)";
  const TransformationList list = StandardTransformations();
  const auto graph = Parse(Numbered(text));
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {"middle.BindConstantsInBodies"}}), "");
  for (ir::NodeId id : graph->nodes()) {
    if (!graph->node(id).Is(ir::OpRole::kTensorIterator)) continue;
    // Values that are neither carried nor sliced.
    EXPECT_EQ(
        Brief(*graph->node(id).bodies()[0].graph),
        "Parameter(p) Parameter(s) Parameter(f) Parameter(e) Add(a: p, s) Const(f/constant) Multiply(b: "
        "a, f/constant) Add(c: b, e) Result(o: c)");
  }
}

TEST_F(LoopsTest, ConstantsThatABodyDoesNotRead) {
  const auto graph = Parse(Numbered(R"(  %x = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %k = opset1.Const "k" : f32[2] = dense<f32[2]: 1.0, 2.0>
  %y = opset1.TensorIterator "loop" (%x, %k) : f32[2] bodies {
    "body" input 0 -> 0 input 1 -> 1 output 0 -> 0 graph "step" {
      %p = opset1.Parameter "p" {element_type = f32, shape = [2]} : f32[2]
      %f = opset1.Parameter "f" {element_type = f32, shape = [2]} : f32[2]
      %a = opset1.Abs "a" (%p) : f32[2]
      opset1.Result "o" (%a)
    }
  }
  opset1.Result "y" (%y)
)"));
  ASSERT_NE(graph, nullptr);
  const TransformationList list = StandardTransformations();
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {"middle.BindConstantsInBodies"}}), "");
  for (ir::NodeId id : graph->nodes()) {
    if (graph->node(id).bodies().empty()) continue;
    const std::string body = Brief(*graph->node(id).bodies()[0].graph);
    EXPECT_EQ(body.find("constant"), std::string::npos) << body;
  }
}

}  // namespace
}  // namespace nnefc::transform

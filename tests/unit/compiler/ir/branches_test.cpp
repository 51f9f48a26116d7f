// Types that bodies of If and loops give to the outputs of their nodes.

#include "compiler/ir/algorithms/infer.h"
#include "tests/unit/compiler/ir/text_fixture.h"

namespace nnefc::ir {
namespace {

class BranchesTest : public TextFixture {
 protected:
  // The types of the outputs of the last node but the results, or the first message and the number of
  // messages.
  std::string Outputs(const std::string& text) {
    const std::unique_ptr<Graph> graph = Parse(text);
    if (graph == nullptr) return "unreadable: " + context_.emitter.diagnostics().front().message;
    Emitter emitter;
    if (!InferGraph(*graph, emitter)) {
      const llvm::ArrayRef<Diagnostic> found = emitter.diagnostics();
      return found.empty() ? "failed" : fmt::format("{} ({})", found.front().message, found.size());
    }
    std::string types;
    for (NodeId id : graph->nodes()) {
      const Node& node = graph->node(id);
      if (node.bodies().empty()) continue;
      for (const Output& output : node.outputs())
        types += (types.empty() ? "" : "; ") + std::string(Name(output.type)) + ToString(output.shape);
    }
    return types;
  }

  // An If whose branches return a parameter each, of these types.
  std::string Choice(const std::string& then_type, const std::string& else_type,
                     const std::string& condition = "boolean[]") {
    const auto split = [](const std::string& type) {
      const size_t bracket = type.find('[');
      return std::pair(type.substr(0, bracket), type.substr(bracket));
    };
    const auto parameter = [&](const std::string& label, const std::string& type) {
      const auto [element, shape] = split(type);
      const bool is_open = shape.find_first_of("?.") != std::string::npos;
      return fmt::format("{} = opset1.Parameter \"p{}\" {{element_type = {}, shape = {}{}}} : {}\n", label,
                         label.substr(1), element, is_open ? "" : "shape", shape, type);
    };
    const auto body = [&](const std::string& role, int input, const std::string& type) {
      return fmt::format(
          "\"{0}\" input {1} -> 0 output 0 -> 0 graph \"{0}\" {{ {2} opset1.Result \"r\" (%0) }}\n", role,
          input, parameter("%0", type));
    };
    return Outputs("graph \"g\" { " + parameter("%0", condition) + parameter("%1", then_type) +
                   parameter("%2", else_type) + "%3 = opset8.If \"i\" (%0, %1, %2) : f32[...] bodies { " +
                   body("then_body", 1, then_type) + body("else_body", 2, else_type) +
                   "} opset1.Result \"y\" (%3) }");
  }
};

TEST_F(BranchesTest, OutputsHoldBothBranches) {
  EXPECT_EQ(Choice("f32[2,3]", "f32[2,3]"), "f32[2,3]");
  EXPECT_EQ(Choice("f32[2,3]", "f32[2,5]"), "f32[2,3..5]");
  EXPECT_EQ(Choice("f32[2,5]", "f32[2,3]"), "f32[2,3..5]");
  EXPECT_EQ(Choice("f32[2..5]", "f32[2..5]"), "f32[2..5]");
  EXPECT_EQ(Choice("f32[2..5]", "f32[3]"), "f32[?]");
  EXPECT_EQ(Choice("f32[?]", "f32[3]"), "f32[?]");
  EXPECT_EQ(Choice("f32[2,3]", "f32[2]"), "f32[...]");
  EXPECT_EQ(Choice("f32[...]", "f32[2]"), "f32[...]");
  EXPECT_EQ(Choice("f32[2]", "f32[...]"), "f32[...]");
}

TEST_F(BranchesTest, ElementTypesAgree) {
  EXPECT_EQ(Choice("dynamic[2]", "f32[2]"), "f32[2]");
  EXPECT_EQ(Choice("i64[2]", "dynamic[2]"), "i64[2]");
  EXPECT_EQ(Choice("dynamic[2]", "dynamic[2]"), "dynamic[2]");
  EXPECT_EQ(Choice("i64[2]", "f32[2]"),
            "output 0 of `i` (If) has the element type i64 in `then_body` and f32 in "
            "`else_body` (1)");
  // Of several outputs, the first one is reported.
  const auto parameter = [](int number, const std::string& type) {
    return fmt::format("%{0} = opset1.Parameter \"p{0}\" {{element_type = {1}, shape = shape[2]}} : {1}[2]\n",
                       number, type);
  };
  const auto body = [&](const std::string& role, int input, const std::string& type) {
    return fmt::format(
        "\"{0}\" input {1} -> 0 output 0 -> 0 output 1 -> 1 graph \"{0}\" {{ {2} "
        "opset1.Result \"r\" (%0) opset1.Result \"s\" (%0) }}\n",
        role, input, parameter(0, type));
  };
  EXPECT_EQ(
      Outputs("graph \"g\" { %0 = opset1.Parameter \"c\" {element_type = boolean, shape = shape[]} : "
              "boolean[]\n" +
              parameter(1, "i64") + parameter(2, "f32") +
              "%3:2 = opset8.If \"i\" (%0, %1, %2) : f32[...], f32[...] bodies { " +
              body("then_body", 1, "i64") + body("else_body", 2, "f32") + "} opset1.Result \"y\" (%3) }"),
      "output 0 of `i` (If) has the element type i64 in `then_body` and f32 in "
      "`else_body` (1)");
}

TEST_F(BranchesTest, ConditionsHaveOneElement) {
  for (const char* condition :
       {"boolean[]", "boolean[1]", "boolean[?]", "boolean[..1]", "boolean[...]", "dynamic[]"})
    EXPECT_EQ(Choice("f32[2]", "f32[2]", condition), "f32[2]") << condition;
  EXPECT_EQ(Choice("f32[2]", "f32[2]", "f32[]"),
            "`cond` of `i` (If) has the element type f32; expected boolean (1)");
  EXPECT_EQ(Choice("f32[2]", "f32[2]", "boolean[2]"),
            "`cond` of `i` (If) has the shape [2]; expected one element (1)");
  EXPECT_EQ(Choice("f32[2]", "f32[2]", "boolean[0]"),
            "`cond` of `i` (If) has the shape [0]; expected one element (1)");
  EXPECT_EQ(Choice("f32[2]", "f32[2]", "boolean[1,1]"), "`cond` of `i` (If) has rank 2; expected 0 or 1 (1)");
}

TEST_F(BranchesTest, LoopsHaveOneBody) {
  const auto loop = [&](const std::string& roles) {
    std::string bodies;
    for (const char role : roles)
      bodies += fmt::format(
          "\"{}\" input 0 -> 0 output 0 -> 0 graph \"b\" {{ "
          "%0 = opset1.Parameter \"p\" {{element_type = f32, shape = shape[2]}} : f32[2] opset1.Result \"r\" "
          "(%0) }} ",
          role == 'b' ? "body" : "other");
    return Outputs(
        "graph \"g\" { %0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : f32[2] "
        "%1 = opset1.TensorIterator \"l\" (%0) : f32[2] bodies { " +
        bodies + "} opset1.Result \"y\" (%1) }");
  };
  EXPECT_EQ(loop("b"), "f32[2]");
  EXPECT_EQ(loop("o"), "`l` (TensorIterator) has 1 bodies; expected `body` (1)");
  EXPECT_EQ(loop("bb"), "`l` (TensorIterator) has 2 bodies; expected `body` (1)");
}

// A back edge brings the type of the parameter at its end.
TEST_F(BranchesTest, BackEdgesHaveTheTypeOfTheirParameter) {
  const auto loop = [&](const std::string& type) {
    return Outputs(fmt::format(
        "graph \"g\" {{ %0 = opset1.Parameter \"x\" {{element_type = f32, shape = shape[2]}} : f32[2] "
        "%1 = opset1.TensorIterator \"l\" (%0) : {0}[2] bodies {{ \"body\" input 0 -> 0 output 0 -> 0 "
        "back 0 -> 0 graph \"b\" {{ %0 = opset1.Parameter \"p\" {{element_type = f32, shape = shape[2]}} : "
        "f32[2] %1 = opset1.Convert \"c\" (%0) {{destination_type = {0}}} : {0}[2] "
        "opset1.Result \"r\" (%1) }} }} opset1.Result \"y\" (%1) }}",
        type));
  };
  EXPECT_EQ(loop("f32"), "f32[2]");
  for (const char* other : {"f16", "i64"})
    EXPECT_EQ(loop(other), fmt::format("the parameter `p` of `l` (TensorIterator) has the element type f32; "
                                       "its back edge brings {} (1)",
                                       other));
}

TEST_F(BranchesTest, ChoicesHaveTwoBodies) {
  const auto choice = [&](const std::vector<std::string>& roles) {
    std::string bodies;
    for (const std::string& role : roles)
      bodies += "\"" + role +
                "\" input 1 -> 0 output 0 -> 0 graph \"b\" { %0 = opset1.Parameter \"p\" {element_type = "
                "f32, shape = "
                "shape[2]} : f32[2] opset1.Result \"r\" (%0) } ";
    return Outputs(
        "graph \"g\" { %0 = opset1.Parameter \"c\" {element_type = boolean, shape = shape[]} : boolean[] "
        "%1 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : f32[2] "
        "%2 = opset8.If \"i\" (%0, %1) : f32[2] bodies { " +
        bodies + "} opset1.Result \"y\" (%2) }");
  };
  const auto mistake = [](int count) {
    return fmt::format("`i` (If) has {} bodies; expected `then_body` and `else_body` (1)", count);
  };
  EXPECT_EQ(choice({"then_body", "else_body"}), "f32[2]");
  EXPECT_EQ(choice({"then_body"}), mistake(1));
  EXPECT_EQ(choice({"then_body", "other_body"}), mistake(2));
  EXPECT_EQ(choice({"other_body", "else_body"}), mistake(2));
  EXPECT_EQ(choice({"else_body", "then_body"}), mistake(2));
  EXPECT_EQ(choice({"then_body", "else_body", "else_body"}), mistake(3));
}

// The state of a loop has unknown extents where the next one differs, unless it includes it. The second
// result of the body has the type of the state.
TEST_F(BranchesTest, StatesOfALoop) {
  const auto loop = [&](const std::string& state, const std::string& next, const std::string& result) {
    const auto parameter = [](const std::string& label, const std::string& name, const std::string& shape) {
      const bool is_open = shape.find_first_of("?.") != std::string::npos;
      return label + " = opset1.Parameter \"" + name +
             "\" {element_type = f32, shape = " + (is_open ? "" : "shape") + shape + "} : f32" + shape + " ";
    };
    return Outputs(
        "graph \"g\" { %0 = opset1.Const \"t\" : i64[] = dense<i64[]: 3> %1 = opset1.Const \"c\" : "
        "boolean[] = dense<boolean[]: 1> " +
        parameter("%2", "x", state) + parameter("%3", "n", next) +
        "%4 = opset5.Loop \"l\" (%0, %1, %2, %3) : f32[...] bodies { \"body\" input 2 -> 0 input 3 -> 1 "
        "output 0 -> 2 output -1 -> 1 back 0 -> 0 graph \"b\" { " +
        parameter("%0", "p", "[...]") + parameter("%1", "q", "[...]") + result +
        " %3 = opset1.Const \"go\" : boolean[] = dense<boolean[]: 1> %4 = opset1.ReLU \"s\" (%0) : f32[...] "
        "opset1.Result \"r\" (%2) opset1.Result \"go\" (%3) opset1.Result \"s\" (%4) } } "
        "opset1.Result \"y\" (%4) }");
  };
  const std::string twice = "%2 = opset1.Concat \"d\" (%0, %0) {axis = 0} : f32[...]";
  const std::string replaced = "%2 = opset1.ReLU \"d\" (%1) : f32[...]";
  EXPECT_EQ(loop("[1,3]", "[1]", twice), "f32[?,3]");
  EXPECT_EQ(loop("[0,3]", "[1]", twice), "f32[0,3]");
  EXPECT_EQ(loop("[?,3]", "[1]", twice), "f32[?,3]");
  EXPECT_EQ(loop("[2,3]", "[2,3]", replaced), "f32[2,3]");
  EXPECT_EQ(loop("[2,3]", "[2,4]", replaced), "f32[2,?]");
  EXPECT_EQ(loop("[2,3]", "[3,3]", replaced), "f32[?,3]");
  EXPECT_EQ(loop("[2,3]", "[2,3,1]", replaced), "f32[...]");
  EXPECT_EQ(loop("[2,3]", "[2]", replaced), "f32[...]");
  for (const char* next : {"[1..4,3]", "[2..3,3]", "[1,3]", "[4,3]"})
    EXPECT_EQ(loop("[1..4,3]", next, replaced), "f32[1..4,3]") << next;
  for (const char* next : {"[1..9,3]", "[0..4,3]", "[0..2,3]", "[4..5,3]", "[5,3]", "[0,3]", "[?,3]"})
    EXPECT_EQ(loop("[1..4,3]", next, replaced), "f32[?,3]") << next;
}

// A body that is fed another type is not inferred.
TEST_F(BranchesTest, TheFirstMistakeIsReportedAlone) {
  const std::string body = R"( graph "b" {
    %0 = opset1.Parameter "p" {element_type = i64, shape = shape[2]} : i64[2]
    %1 = opset8.SoftMax "s" (%0) {axis = 9} : i64[2]
    opset1.Result "r" (%1) } )";
  EXPECT_EQ(
      Outputs(R"(graph "g" { %0 = opset1.Parameter "c" {element_type = boolean, shape = shape[]} : boolean[]
    %1 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
    %2 = opset8.If "i" (%0, %1) : f32[...] bodies { "then_body" input 1 -> 0 output 0 -> 0)" +
              body + R"("else_body" input 1 -> 0 output 0 -> 0)" + body + "} }"),
      "the parameter `p` in `then_body` of `i` (If) has the element type i64; it is fed f32 (1)");
}

}  // namespace
}  // namespace nnefc::ir

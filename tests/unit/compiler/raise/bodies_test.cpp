// If, TensorIterator and Loop for the target nnefc: the interface of their bodies, and loops without a form.

#include <set>

#include "compiler/ir/ops/control_flow.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/raise/raising_support.h"

namespace nnefc::raise {
namespace {

// Returns the only node of the target with bodies, whose operation is `type`.
const ir::Node* NodeWithBodies(const Raising& raising, std::string_view type) {
  const ir::Graph& graph = *raising.raised().graph;
  const ir::Node* found = nullptr;
  for (ir::NodeId id : graph.nodes()) {
    if (graph.node(id).bodies().empty()) continue;
    EXPECT_EQ(graph.node(id).type(), type);
    EXPECT_EQ(found, nullptr);
    found = &graph.node(id);
  }
  return found;
}

// ---- If ----

// An If with the given inputs of both branches, and operations that compute their result %r from %a and %b.
std::string IfOf(const std::string& then_inputs, const std::string& then_body, const std::string& else_inputs,
                 const std::string& else_body) {
  const auto branch = [](const std::string& role, const std::string& inputs, const std::string& body) {
    return "  \"" + role + "\" " + inputs + " output 0 -> 0 graph \"" + role + "\" {\n" + body +
           "    opset1.Result \"o\" (%9)\n  }\n";
  };
  return "%0 = opset1.Parameter \"c\" {element_type = boolean, shape = shape[]} : boolean[]\n"
         "%1 = opset1.Parameter \"x\" {element_type = f32, shape = shape[9]} : f32[9]\n"
         "%2 = opset8.If \"if\" (%0, %1) : f32[9] bodies {\n" +
         branch("then_body", then_inputs, then_body) + branch("else_body", else_inputs, else_body) +
         "}\n%3 = opset1.Abs \"abs\" (%2) : f32[9]\nopset1.Result \"y\" (%3)\n";
}

constexpr std::string_view kParameters[] = {
    "    %0 = opset1.Parameter \"a\" {element_type = f32, shape = shape[9]} : f32[9]\n",
    "    %1 = opset1.Parameter \"b\" {element_type = f32, shape = shape[9]} : f32[9]\n"};
constexpr std::string_view kLargeConstant =
    "    %2 = opset1.Const \"k\" : f32[9] = dense<f32[9]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0>\n";

// Checks that both bodies take each input of the node but the condition, in types that agree.
void ExpectEqualInterfaces(const Raising& raising, size_t num_inputs) {
  ASSERT_TRUE(raising.ok());
  const ir::Node* node = NodeWithBodies(raising, "if_else");
  ASSERT_NE(node, nullptr);
  ASSERT_EQ(node->bodies().size(), 2u);
  EXPECT_EQ(static_cast<size_t>(node->num_inputs()), 1 + num_inputs);
  for (const ir::Body& body : node->bodies()) {
    ASSERT_EQ(body.graph->parameters().size(), num_inputs) << body.role;
    for (size_t i = 0; i < num_inputs; ++i) {
      const ir::Output& outer = raising.raised().graph->output(node->input(static_cast<int32_t>(i) + 1));
      const ir::Output& inner = body.graph->node(body.graph->parameters()[i]).output();
      EXPECT_EQ(Name(inner.type), Name(outer.type));
      EXPECT_EQ(ir::ToString(inner.shape), ir::ToString(outer.shape));
    }
  }
}

TEST(RaiseBodies, ABranchThatTakesAnInputTwice) {
  const std::string twice = std::string(kParameters[0]) + std::string(kParameters[1]) +
                            "    %9 = opset1.Subtract \"s\" (%0, %1) : f32[9]\n";
  const std::string once = std::string(kParameters[0]) + "    %9 = opset1.ReLU \"s\" (%0) : f32[9]\n";
  const std::string two_inputs = "input 1 -> 0 input 1 -> 1", one_input = "input 1 -> 0";
  for (const std::string& text :
       {IfOf(two_inputs, twice, one_input, once), IfOf(one_input, once, two_inputs, twice)}) {
    const Raising raising(text, false, Target::kNnefc);
    ExpectEqualInterfaces(raising, 2);
    const ir::Node* node = NodeWithBodies(raising, "if_else");
    EXPECT_EQ(node->input(1), node->input(2));
  }
  ExpectEqualInterfaces(Raising(IfOf(one_input, once, one_input, once), false, Target::kNnefc), 1);
}

// A large constant of a branch is an input of the operation: the other branch takes it as well.
TEST(RaiseBodies, ConstantsOfBranches) {
  const std::string large = std::string(kParameters[0]) + std::string(kLargeConstant) +
                            "    %9 = opset1.Add \"s\" (%0, %2) : f32[9]\n";
  const std::string none = std::string(kParameters[0]) + "    %9 = opset1.ReLU \"s\" (%0) : f32[9]\n";
  const std::string input = "input 1 -> 0";
  ExpectEqualInterfaces(Raising(IfOf(input, large, input, none), false, Target::kNnefc), 2);
  ExpectEqualInterfaces(Raising(IfOf(input, none, input, large), false, Target::kNnefc), 2);
  ExpectEqualInterfaces(Raising(IfOf(input, large, input, large), false, Target::kNnefc), 3);
}

// The inputs that a branch does not take have names that no tensor of it has.
TEST(RaiseBodies, NamesOfUnusedInputs) {
  const std::string large = std::string(kParameters[0]) + std::string(kLargeConstant) +
                            "    %9 = opset1.Add \"s\" (%0, %2) : f32[9]\n";
  const std::string named =
      "    %0 = opset1.Parameter \"unused_1\" {element_type = f32, shape = shape[9]} : "
      "f32[9]\n    %9 = opset1.ReLU \"unused_2\" (%0) : f32[9]\n";
  const std::string input = "input 1 -> 0";
  const Raising raising(IfOf(input, named, input, large), false, Target::kNnefc);
  ExpectEqualInterfaces(raising, 2);
  for (const ir::Body& body : NodeWithBodies(raising, "if_else")->bodies()) {
    std::set<std::string> names;
    size_t count = 0;
    for (ir::NodeId id : body.graph->nodes()) {
      for (const ir::Output& output : body.graph->node(id).outputs()) {
        names.insert(output.names.begin(), output.names.end());
        count += output.names.size();
      }
    }
    EXPECT_EQ(names.size(), count) << body.role;
    EXPECT_FALSE(names.contains("")) << body.role;
  }
}

// The branch that a constant condition never takes is written as the other one.
TEST(RaiseBodies, BranchesOfAConstantCondition) {
  const std::string input = "input 1 -> 0";
  const std::string first = std::string(kParameters[0]) + "    %9 = opset1.ReLU \"s\" (%0) : f32[9]\n";
  const std::string second = std::string(kParameters[0]) + "    %9 = opset1.Exp \"s\" (%0) : f32[9]\n";
  const std::string open =
      "%0 = opset1.Parameter \"c\" {element_type = boolean, shape = shape[]} : boolean[]\n";
  for (const auto& [value, expected] : {std::pair("1", "relu relu"), std::pair("0", "exp exp")}) {
    std::string text = IfOf(input, first, input, second);
    text.replace(0, open.size(),
                 fmt::format("%0 = opset1.Const \"c\" : boolean[] = dense<boolean[]: {}>\n", value));
    const Raising raising(text, false, Target::kNnefc);
    ExpectEqualInterfaces(raising, 1);
    std::string operations;
    for (const ir::Body& body : NodeWithBodies(raising, "if_else")->bodies()) {
      const ir::Node& result = body.graph->node(body.graph->results()[0]);
      operations += (operations.empty() ? "" : " ") + body.graph->node(result.input(0).node).type();
    }
    EXPECT_EQ(operations, expected) << value;
  }
}

// ---- loops ----

struct LoopCase {
  std::string operation = "opset1.TensorIterator";
  std::string before = "";  // inputs of a Loop before the others
  std::string inputs = "input 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) input 1 -> 1";
  std::string outputs = "output 0 -> 0 output 1 -> 1 slice(axis 0, start 0, end -1, stride 1, part 1)";
  std::string part = "[1]";
  std::string results = "    opset1.Result \"last\" (%2)\n    opset1.Result \"all\" (%2)\n";
  std::string shape = "[6]";  // of the concatenated output
  std::string input = "[6]";  // the shape of x
};

// state += part: the last state, and all of them.
std::string TextOf(const LoopCase& form) {
  const bool is_loop = form.operation == "opset5.Loop";
  return "%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape" + form.input + "} : f32" +
         form.input + "\n%1 = opset1.Parameter \"h\" {element_type = f32, shape = shape[1]} : f32[1]\n" +
         form.before + "%5:2 = " + form.operation + " \"loop\" (" + (is_loop ? "%2, %3, " : "") +
         "%0, %1) : f32[1], f32" + form.shape + " bodies {\n  \"body\" " + form.inputs + " " + form.outputs +
         " back 0 -> 1 graph \"step\" {\n    %0 = opset1.Parameter \"p\" {element_type = f32, shape = shape" +
         form.part + "} : f32" + form.part +
         "\n    %1 = opset1.Parameter \"s\" {element_type = f32, shape = shape[1]} : f32[1]\n"
         "    %2 = opset1.Add \"a\" (%1, %0) : f32[...]\n" +
         form.results +
         "  }\n}\n%6 = opset1.Abs \"last\" (%5) : f32[1]\n%7 = opset1.Abs \"all\" (%5.1) : f32" + form.shape +
         "\nopset1.Result \"y\" (%6)\nopset1.Result \"z\" (%7)\n";
}

// Returns the operation of the loop's form, or the reason that it has none.
std::string FormOf(const LoopCase& form) {
  const Raising raising(TextOf(form), false, Target::kNnefc);
  if (raising.ok()) {
    for (ir::NodeId id : raising.raised().graph->nodes()) {
      const ir::Node& node = raising.raised().graph->node(id);
      if (!node.bodies().empty()) return node.type();
    }
  }
  const std::string message = raising.Messages().front();
  return message.substr(message.find("nnefc: ") + 7);
}

// Both results of the body are its only sum, which has one name.
TEST(RaiseBodies, ResultsOfOneTensorAreCopies) {
  const Raising raising(TextOf({}), false, Target::kNnefc);
  ASSERT_TRUE(raising.ok()) << raising.Messages().front();
  const ir::Node* node = NodeWithBodies(raising, "tensor_iterator");
  ASSERT_NE(node, nullptr);
  const ir::Graph& body = *node->bodies()[0].graph;
  ASSERT_EQ(body.results().size(), 2u);
  const ir::OutputPort first = body.node(body.results()[0]).input(0),
                       second = body.node(body.results()[1]).input(0);
  EXPECT_NE(first, second);
  EXPECT_EQ(body.node(second.node).type(), "copy");
}

// Other types than NNEF's are copied by a conversion to the same type.
TEST(RaiseBodies, CopiesOfResultsInOtherTypes) {
  for (const auto& [type, copy] : {std::pair("f32", "copy"), std::pair("f16", "Convert")}) {
    std::string text = TextOf({});
    for (size_t at = text.find("f32"); at != std::string::npos; at = text.find("f32", at + 1))
      text.replace(at, 3, type);
    const Raising raising(text, false, Target::kNnefc);
    ASSERT_TRUE(raising.ok()) << raising.Messages().front();
    const ir::Graph& body = *NodeWithBodies(raising, "tensor_iterator")->bodies()[0].graph;
    const ir::OutputPort second = body.node(body.results()[1]).input(0);
    EXPECT_EQ(body.node(second.node).type(), copy);
    EXPECT_EQ(Name(body.output(second).type), type);
  }
}

// Concatenated outputs have all elements of their axis, in either order.
TEST(RaiseBodies, RangesOfConcatenatedOutputs) {
  const auto form = [](int start, int end, int stride) {
    return FormOf({.outputs = fmt::format(
                       "output 0 -> 0 output 1 -> 1 slice(axis 0, start {}, end {}, stride {}, part 1)",
                       start, end, stride)});
  };
  EXPECT_EQ(form(0, -1, 1), "tensor_iterator");
  EXPECT_EQ(form(0, 6, 1), "tensor_iterator");
  EXPECT_EQ(form(-1, 0, -1), "tensor_iterator");
  EXPECT_EQ(form(6, 0, -1), "tensor_iterator");
  // Of an open extent, only the ends of the axis itself are known to be all elements.
  const auto open = [](int start, int end, int stride) {
    return FormOf({.outputs = fmt::format(
                       "output 0 -> 0 output 1 -> 1 slice(axis 0, start {}, end {}, stride {}, part 1)",
                       start, end, stride),
                   .shape = "[?]",
                   .input = "[?]"});
  };
  const std::string reason = "a concatenated output is a part of an axis";
  EXPECT_EQ(open(0, -1, 1), "tensor_iterator");
  EXPECT_EQ(open(-1, 0, -1), "tensor_iterator");
  EXPECT_EQ(open(0, 6, 1), reason);
  EXPECT_EQ(open(6, 0, -1), reason);
}

// A Loop with a trip count and conditions. It takes slices of its input, or all of it.
LoopCase LoopOf(const std::string& trips, bool first, bool next, bool slices) {
  const std::string slice = " slice(axis 0, start 0, end -1, stride 1, part 1)";
  return {.operation = "opset5.Loop",
          .before = fmt::format("%2 = opset1.Const \"t\" : i64[] = dense<i64[]: {}>\n"
                                "%3 = opset1.Const \"c\" : boolean[] = dense<boolean[]: {}>\n",
                                trips, first ? 1 : 0),
          .inputs = "input 2 -> 0" + (slices ? slice : "") + " input 3 -> 1",
          .outputs = "output -1 -> 2 output 0 -> 0 output 1 -> 1" + slice,
          .results = fmt::format("    opset1.Result \"last\" (%2)\n    opset1.Result \"all\" (%2)\n"
                                 "    %4 = opset1.Const \"go\" : boolean[] = dense<boolean[]: {}>\n"
                                 "    opset1.Result \"go\" (%4)\n",
                                 next ? 1 : 0),
          .shape = "[...]",
          .input = slices ? "[6]" : "[1]"};
}

// A Loop is a tensor_iterator if the number of its iterations is that of the parts of its inputs.
TEST(RaiseBodies, TripCountsOfSlicedInputs) {
  for (const char* all : {"6", "-1"}) {
    EXPECT_EQ(FormOf(LoopOf(all, true, true, true)), "tensor_iterator") << all;
    EXPECT_EQ(FormOf(LoopOf(all, false, true, true)), "while_loop") << all;
    EXPECT_EQ(FormOf(LoopOf(all, true, false, true)), "while_loop") << all;
  }
  for (const char* fewer : {"5", "0"})
    EXPECT_EQ(FormOf(LoopOf(fewer, true, true, true)), "while_loop") << fewer;
}

// The condition of the body is no output of a Loop: an axis to concatenate it along means nothing.
TEST(RaiseBodies, ConditionsWithAnAxis) {
  for (const bool next : {false, true}) {
    LoopCase loop = LoopOf("6", true, next, true);
    const std::string condition = "output -1 -> 2";
    ASSERT_TRUE(loop.outputs.starts_with(condition));
    loop.outputs.insert(condition.size(), " slice(axis 0, start 0, end -1, stride 1, part 1)");
    EXPECT_EQ(FormOf(loop), next ? "tensor_iterator" : "while_loop");
  }
}

// A Loop whose body has no condition goes on up to its trip count, unless it does not begin.
TEST(RaiseBodies, LoopsWithoutAConditionOfTheBody) {
  const auto form = [](const char* trips, bool first) {
    LoopCase loop = LoopOf(trips, first, true, false);
    loop.outputs = loop.outputs.substr(loop.outputs.find("output 0"));
    return FormOf(loop);
  };
  EXPECT_EQ(form("6", true), "tensor_iterator");
  EXPECT_EQ(form("6", false), "while_loop");
  EXPECT_EQ(form("65537", true), "while_loop");
}

// Without slices, the concatenated output determines the number of iterations: its extent in parts.
TEST(RaiseBodies, IterationsByOutputs) {
  // Parts of one element.
  const Raising single(
      TextOf({.inputs = "input 0 -> 0 input 1 -> 1",
              .outputs = "output 0 -> 0 output 1 -> 1 slice(axis 0, start 0, end 6, stride 1, part 1)",
              .input = "[1]"}),
      false, Target::kNnefc);
  ASSERT_TRUE(single.ok()) << single.Messages().front();
  const ir::Node* iterator = NodeWithBodies(single, "tensor_iterator");
  ASSERT_NE(iterator, nullptr);
  EXPECT_EQ(ir::ToString(single.raised().graph->output(iterator->input(0)).shape), "[6]");
  // Parts of two.
  const Raising raising(
      "%0 = opset1.Parameter \"h\" {element_type = f32, shape = shape[2]} : f32[2]\n"
      "%5:2 = opset1.TensorIterator \"loop\" (%0) : f32[2], f32[6] bodies {\n"
      "  \"body\" input 0 -> 0 output 0 -> 0 output 1 -> 1 slice(axis 0, start 0, end 6, stride 2, part 2) "
      "back 0 -> "
      "0 graph \"step\" {\n"
      "    %1 = opset1.Parameter \"s\" {element_type = f32, shape = shape[2]} : f32[2]\n"
      "    %2 = opset1.Exp \"a\" (%1) : f32[2]\n"
      "    opset1.Result \"last\" (%2)\n    opset1.Result \"all\" (%2)\n  }\n}\n"
      "%6 = opset1.Abs \"last\" (%5) : f32[2]\n%7 = opset1.Abs \"all\" (%5.1) : f32[6]\n"
      "opset1.Result \"y\" (%6)\nopset1.Result \"z\" (%7)\n",
      false, Target::kNnefc);
  ASSERT_TRUE(raising.ok()) << raising.Messages().front();
  const ir::Node* node = NodeWithBodies(raising, "tensor_iterator");
  ASSERT_NE(node, nullptr);
  // The numbers of the iterations are sliced.
  EXPECT_EQ(ir::ToString(raising.raised().graph->output(node->input(0)).shape), "[3]");
}

// Without slices, the numbers of the iterations are stored if there are at most 65,536.
TEST(RaiseBodies, TripCountsWithoutSlices) {
  const auto form = [](const std::string& trips) { return FormOf(LoopOf(trips, true, true, false)); };
  for (const char* stored : {"1", "6", "65536"}) EXPECT_EQ(form(stored), "tensor_iterator") << stored;
  for (const char* other : {"0", "-1", "65537"}) EXPECT_EQ(form(other), "while_loop") << other;
}

// The first state is the condition, the last one the number of the iteration, which the body takes.
TEST(RaiseBodies, StatesOfAWhileLoop) {
  const Raising raising(
      "%0 = opset1.Parameter \"h\" {element_type = f32, shape = shape[2]} : f32[2]\n"
      "%1 = opset1.Parameter \"t\" {element_type = i32, shape = shape[1]} : i32[1]\n"
      "%2 = opset1.Parameter \"c\" {element_type = boolean, shape = shape[]} : boolean[]\n"
      "%3 = opset5.Loop \"loop\" (%1, %2, %0) : f32[2] bodies {\n"
      "  \"body\" input -1 -> 1 input 2 -> 0 output -1 -> 1 output 0 -> 0 back 0 -> 0 graph \"step\" {\n"
      "    %0 = opset1.Parameter \"s\" {element_type = f32, shape = shape[2]} : f32[2]\n"
      "    %1 = opset1.Parameter \"n\" {element_type = i32, shape = shape[]} : i32[]\n"
      "    %2 = opset1.Exp \"a\" (%0) : f32[2]\n"
      "    %3 = opset1.Const \"end\" : i32[] = dense<i32[]: 5>\n"
      "    %4 = opset1.Less \"less\" (%1, %3) : boolean[]\n"
      "    opset1.Result \"last\" (%2)\n    opset1.Result \"more\" (%4)\n  }\n}\n"
      "%6 = opset1.Abs \"y\" (%3) : f32[2]\nopset1.Result \"y\" (%6)\n",
      false, Target::kNnefc);
  ASSERT_TRUE(raising.ok()) << raising.Messages().front();
  const ir::Node* node = NodeWithBodies(raising, "while_loop");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(std::vector<int32_t>(node->segments().begin(), node->segments().end()),
            (std::vector<int32_t>{1, 0, 3, 0}));
  const ir::Graph& target = *raising.raised().graph;
  std::string states;
  for (ir::OutputPort port : node->segment(2)) {
    const ir::Output& state = target.output(port);
    states += fmt::format("{}{} ", Name(state.type), ir::ToString(state.shape));
  }
  EXPECT_EQ(states, "boolean[1] f32[2] i64[1] ");
  EXPECT_EQ(Name(target.output(node->input(0)).type), "i64");
  // The next ones are those of the body: the comparison, the state and the next number.
  const ir::Graph& body = *node->bodies()[0].graph;
  std::string next;
  for (ir::NodeId id : body.results()) {
    ir::OutputPort port = body.node(id).input(0);
    while (body.node(port.node).Is("opset1", "Reshape") || body.node(port.node).type() == "reshape")
      port = body.node(port.node).input(0);
    next += body.node(port.node).type() + " ";
  }
  EXPECT_EQ(next, "lt exp Add ");
}

// The number of the iteration has one item in NNEF, whichever parameter of the body takes it.
TEST(RaiseBodies, NumberOfTheIteration) {
  for (const int number : {0, 1}) {
    const std::string parameters[] = {
        fmt::format("    %{} = opset1.Parameter \"n\" {{element_type = i32, shape = shape[]}} : i32[]\n",
                    number),
        fmt::format("    %{} = opset1.Parameter \"s\" {{element_type = f32, shape = shape[2]}} : f32[2]\n",
                    1 - number)};
    const Raising raising(
        fmt::format("%0 = opset1.Parameter \"h\" {{element_type = f32, shape = shape[2]}} : f32[2]\n"
                    "%1 = opset1.Parameter \"t\" {{element_type = i32, shape = shape[1]}} : i32[1]\n"
                    "%2 = opset1.Parameter \"c\" {{element_type = boolean, shape = shape[]}} : boolean[]\n"
                    "%3 = opset5.Loop \"loop\" (%1, %2, %0) : f32[2] bodies {{\n  \"body\" input -1 -> {0} "
                    "input 2 -> {1} output -1 -> 1 output 0 -> 0 back 0 -> {1} graph \"step\" {{\n{2}{3}"
                    "    %2 = opset1.Convert \"f\" (%{0}) {{destination_type = f32}} : f32[]\n"
                    "    %3 = opset1.Add \"a\" (%{1}, %2) : f32[2]\n"
                    "    %4 = opset1.Const \"end\" : i32[] = dense<i32[]: 5>\n"
                    "    %5 = opset1.Less \"less\" (%{0}, %4) : boolean[]\n"
                    "    opset1.Result \"last\" (%3)\n    opset1.Result \"more\" (%5)\n  }}\n}}\n"
                    "%6 = opset1.Abs \"y\" (%3) : f32[2]\nopset1.Result \"y\" (%6)\n",
                    number, 1 - number, parameters[number], parameters[1 - number]),
        false, Target::kNnefc);
    ASSERT_TRUE(raising.ok()) << raising.Messages().front();
    const ir::Node* node = NodeWithBodies(raising, "while_loop");
    ASSERT_NE(node, nullptr);
    const ir::Graph& body = *node->bodies()[0].graph;
    std::string numbers;
    for (ir::NodeId id : body.nodes()) {
      const ir::Node& squeeze = body.node(id);
      if (squeeze.type() != "squeeze") continue;
      numbers += ir::ToString(body.output(squeeze.input(0)).shape) + " to " +
                 ir::ToString(squeeze.output().shape) + " ";
    }
    EXPECT_NE(numbers.find("[1] to []"), std::string::npos) << number << numbers;
  }
}

// Without the number of the iteration, the condition is the only state that is added.
TEST(RaiseBodies, StatesWithoutANumber) {
  const Raising raising(TextOf(LoopOf("0", true, true, false)), false, Target::kNnefc);
  ASSERT_TRUE(raising.ok()) << raising.Messages().front();
  const ir::Node* node = NodeWithBodies(raising, "while_loop");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(std::vector<int32_t>(node->segments().begin(), node->segments().end()),
            (std::vector<int32_t>{1, 0, 2, 1}));
  std::string names;
  for (ir::NodeId id : node->bodies()[0].graph->results())
    names += node->bodies()[0].graph->node(id).name() + " ";
  EXPECT_EQ(names, "go last all ");
}

// Slices determine the number of iterations: a loop over them has no other.
TEST(RaiseBodies, InputsOfASlicedLoop) {
  const Raising raising(TextOf({}), false, Target::kNnefc);
  ASSERT_TRUE(raising.ok()) << raising.Messages().front();
  const ir::Node* node = NodeWithBodies(raising, "tensor_iterator");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(std::vector<int32_t>(node->segments().begin(), node->segments().end()),
            (std::vector<int32_t>{1, 1, 0}));
}

// The last value and the concatenation may be outputs in either order.
TEST(RaiseBodies, OrderOfOutputs) {
  for (const bool is_swapped : {false, true}) {
    std::string text = TextOf({});
    if (is_swapped) {
      const auto replace = [&](const std::string& from, const std::string& to) {
        const size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
      };
      replace("output 0 -> 0 output 1 -> 1", "output 1 -> 0 output 0 -> 1");
      replace("f32[1], f32[6] bodies", "f32[6], f32[1] bodies");
      replace("\"last\" (%5) : f32[1]", "\"last\" (%5.1) : f32[1]");
      replace("\"all\" (%5.1) : f32[6]", "\"all\" (%5.0) : f32[6]");
    }
    const Raising raising(text, false, Target::kNnefc);
    ASSERT_TRUE(raising.ok()) << raising.Messages().front();
    const ir::Node* node = NodeWithBodies(raising, "tensor_iterator");
    ASSERT_NE(node, nullptr);
    EXPECT_EQ(node->num_outputs(), 2);
    EXPECT_EQ(ir::ToString(node->output(0).shape), "[1]");  // states come first
    EXPECT_EQ(ir::ToString(node->output(1).shape), "[6]");
    const ir::Graph& graph = *raising.raised().graph;
    for (size_t i = 0; i < 2; ++i) {
      const ir::Node& abs = graph.node(graph.node(graph.results()[i]).input(0).node);
      EXPECT_EQ(abs.input(0), (ir::OutputPort{node->id(), static_cast<int32_t>(i)})) << is_swapped;
    }
  }
}

// A result that only the outside reads becomes a state, whose first value needs a known shape.
TEST(RaiseBodies, LastValuesHaveKnownShapes) {
  const auto form = [](const std::string& extent) {
    const Raising raising(
        fmt::format("%0 = opset1.Parameter \"x\" {{element_type = f32, shape = shape[{0}]}} : f32[{0}]\n"
                    "%1 = opset1.Const \"t\" : i64[] = dense<i64[]: 3>\n"
                    "%2 = opset1.Const \"c\" : boolean[] = dense<boolean[]: 1>\n"
                    "%3 = opset5.Loop \"loop\" (%1, %2, %0) : f32[...] bodies {{\n"
                    "  \"body\" input 2 -> 0 output 0 -> 0 graph \"step\" {{\n"
                    "    %0 = opset1.Parameter \"p\" {{element_type = f32, shape = shape[{0}]}} : f32[{0}]\n"
                    "    %1 = opset1.Abs \"a\" (%0) : f32[{0}]\n    opset1.Result \"r\" (%1)\n  }}\n}}\n"
                    "opset1.Result \"y\" (%3)\n",
                    extent),
        false, Target::kNnefc);
    return raising.ok() ? std::string("has a form") : raising.Messages().front();
  };
  EXPECT_EQ(form("6"), "has a form");
  EXPECT_NE(form("?").find("the last value of a result, which the next iteration does not take, has the type "
                           "f32 and the shape [?]"),
            std::string::npos)
      << form("?");
}

// A Loop over slices whose body takes the number of the iteration has slices of the numbers, too.
TEST(RaiseBodies, NumbersOfSlicedLoops) {
  const auto form = [](const std::string& trips, const std::string& extent) {
    const std::string slice = " slice(axis 0, start 0, end -1, stride 1, part 1)";
    const Raising raising(
        fmt::format("%0 = opset1.Parameter \"x\" {{element_type = f32, shape = shape[{0}]}} : f32[{0}]\n"
                    "%2 = opset1.Const \"t\" : i64[] = dense<i64[]: {1}>\n"
                    "%3 = opset1.Const \"c\" : boolean[] = dense<boolean[]: 1>\n"
                    "%5 = opset5.Loop \"loop\" (%2, %3, %0) : f32[...] bodies {{\n"
                    "  \"body\" input 2 -> 0{2} input -1 -> 1 output 0 -> 0{2} graph \"step\" {{\n"
                    "    %0 = opset1.Parameter \"p\" {{element_type = f32, shape = shape[1]}} : f32[1]\n"
                    "    %1 = opset1.Parameter \"n\" {{element_type = i64, shape = shape[]}} : i64[]\n"
                    "    %2 = opset1.Convert \"number\" (%1) {{destination_type = f32}} : f32[]\n"
                    "    %3 = opset1.Add \"a\" (%0, %2) : f32[1]\n    opset1.Result \"r\" (%3)\n  }}\n}}\n"
                    "opset1.Result \"y\" (%5)\n",
                    extent, trips, slice),
        false, Target::kNnefc);
    if (!raising.ok()) return raising.Messages().front();
    for (ir::NodeId id : raising.raised().graph->nodes()) {
      const ir::Node& node = raising.raised().graph->node(id);
      if (!node.bodies().empty()) return fmt::format("{} {}", node.type(), node.segment(0).size());
    }
    return std::string();
  };
  EXPECT_EQ(form("6", "6"), "tensor_iterator 2");
  EXPECT_EQ(form("-1", "6"), "tensor_iterator 2");
  EXPECT_EQ(form("5", "6"), "while_loop 1");
  EXPECT_EQ(form("-1", "?"), "while_loop 1");
  EXPECT_EQ(form("6", "?"), "while_loop 1");
}

}  // namespace
}  // namespace nnefc::raise

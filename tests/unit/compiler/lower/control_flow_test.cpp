// if_else, tensor_iterator and while_loop of the set nnef in text form: the results of their shape functions,
// and their lowering to If-8, TensorIterator-1 and Loop-5.

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/text/text.h"
#include "compiler/lower/lower.h"
#include "compiler/support/context.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/standard_ops.h"

namespace nnefc::lower {
namespace {

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// Squares the rows of x; the state is passed on unchanged.
constexpr std::string_view kLoop = R"(graph "net" {
  %0 = nnef.external "x" {shape = [6,3], dtype = "scalar"} : f32[6,3]
  %1 = nnef.external "h" {shape = [1,3], dtype = "scalar"} : f32[1,3]
  %2:2 = nnef.tensor_iterator "t" (%0, %1) segments [1,1,0] {body = "step", slice_axes = [0], slice_strides = [1], slice_starts = [0], slice_ends = [-1], concat_axes = [0], concat_strides = []} : f32[1,3], f32[6,3] bodies {
    "body" input 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) input 1 -> 1 output 0 -> 0 output 1 -> 1 slice(axis 0, start 0, end -1, stride 1, part 1) back 0 -> 1 graph "step" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = shape[1,3]} : f32[1,3]
      %1 = opset1.Parameter "b" {element_type = f32, shape = shape[1,3]} : f32[1,3]
      %2 = nnef.sqr "s" (%0) : f32[1,3]
      opset1.Result "b" (%1)
      opset1.Result "s" (%2)
    }
  }
  opset1.Result "last" (%2)
  opset1.Result "all" (%2.1)
}
)";

constexpr std::string_view kIf = R"(graph "net" {
  %0 = nnef.external "c" {shape = [1,1], dtype = "logical"} : boolean[1,1]
  %1 = nnef.external "x" {shape = [2,3], dtype = "scalar"} : f32[2,3]
  %2 = nnef.if_else "i" (%0, %1) segments [1,1] {then_body = "f", else_body = "g"} : f32[2,3] bodies {
    "then_body" input 1 -> 0 output 0 -> 0 graph "f" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
      %1 = nnef.sqr "y" (%0) : f32[2,3]
      opset1.Result "y" (%1)
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "g" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
      opset1.Result "y" (%0)
    }
  }
  opset1.Result "y" (%2)
}
)";

class ControlFlow : public ::testing::Test {
 protected:
  // Parses, infers and lowers a graph of NNEF operations. Returns the lowered graph as text, or the first
  // message.
  std::string Lower(std::string_view text) {
    Context context;
    const FileId file = context.sources.AddText("net.ir", std::string(text));
    const std::unique_ptr<ir::Graph> graph = ir::ParseGraph(file, ir::StandardOps(), context);
    if (graph == nullptr || !ir::InferGraph(*graph, context.emitter)) return Message(context);
    lowered_ = LowerGraph(*graph, {}, context);
    if (lowered_ == nullptr) return Message(context);
    for (const std::string& violation : ir::Verify(*lowered_)) ADD_FAILURE() << violation;
    // Bodies are not inferred again after their assembly: this would change nothing.
    const std::string printed = ir::PrintGraph(*lowered_);
    EXPECT_TRUE(ir::InferGraph(*lowered_, context.emitter)) << Message(context);
    EXPECT_EQ(ir::PrintGraph(*lowered_), printed);
    return printed;
  }
  static std::string Message(const Context& context) {
    if (context.emitter.diagnostics().empty()) return "no message";
    const Diagnostic& first = context.emitter.diagnostics().front();
    return fmt::format("{} [{}]", first.message, first.rule->label);
  }
  bool Has(std::string_view text, std::string_view part) {
    const bool found = text.find(part) != std::string_view::npos;
    if (!found) ADD_FAILURE() << part << "\nis not in\n" << text;
    return found;
  }

  std::unique_ptr<ir::Graph> lowered_;
};

TEST_F(ControlFlow, IfElseIsAnIf) {
  const std::string text = Lower(kIf);
  Has(text, "opset1.Reshape \"i/condition\" (%0");
  Has(text, "= opset8.If \"i\" (%3, %1) : f32[2,3]");
  Has(text, "opset1.Multiply \"y\" (%0, %0)");
  Has(Lower(
          Replaced(Replaced(std::string(kIf), "shape = [1,1]", "shape = [1]"), "boolean[1,1]", "boolean[1]")),
      "= opset8.If \"i\" (%0, %1) : f32[2,3]");
}

TEST_F(ControlFlow, TensorIteratorKeepsItsName) {
  const std::string text = Lower(kLoop);
  Has(text, ":2 = opset1.TensorIterator \"t\" (%0, %1) : f32[1,3], f32[6,3]");
  Has(text, "output 1 -> 1 slice(axis 0, start 0, end -1, stride 1, part 1) back 0 -> 1");
  EXPECT_EQ(text.find("Slice"), std::string::npos);
}

// The loop over four rows of its input.
std::string LoopOverPart(int start, int end, int stride) {
  std::string text = Replaced(
      std::string(kLoop), "slice_strides = [1], slice_starts = [0], slice_ends = [-1]",
      fmt::format("slice_strides = [{}], slice_starts = [{}], slice_ends = [{}]", stride, start, end));
  text = Replaced(
      text, "input 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1)",
      fmt::format("input 0 -> 0 slice(axis 0, start {}, end {}, stride {}, part 1)", start, end, stride));
  return Replaced(text, "f32[1,3], f32[6,3]", "f32[1,3], f32[4,3]");
}

// Rows 1 to 4, backwards: sliced before the loop, so that the loop iterates over the whole axis.
TEST_F(ControlFlow, APartOfAnAxisIsCutOffBefore) {
  const std::string lowered = Lower(LoopOverPart(5, 1, -1));
  Has(lowered, "\"t/sliced0_start\" : i64[1] = dense<i64[1]: 1>");
  Has(lowered, "\"t/sliced0_stop\" : i64[1] = dense<i64[1]: 5>");
  Has(lowered, "opset8.Slice \"t/sliced0\"");
  Has(lowered, "input 0 -> 0 slice(axis 0, start -1, end 0, stride -1, part 1)");
}

// The first rows alone are a part, too.
TEST_F(ControlFlow, TheBeginningOfAnAxisIsCutOffBefore) {
  const std::string lowered = Lower(LoopOverPart(0, 4, 1));
  Has(lowered, "\"t/sliced0_start\" : i64[1] = dense<i64[1]: 0>");
  Has(lowered, "\"t/sliced0_stop\" : i64[1] = dense<i64[1]: 4>");
}

// OpenVINO rejects a TensorIterator within another.
TEST_F(ControlFlow, ALoopInALoopIsALoop) {
  // The loop over x as the body of one that runs once: it slices nothing.
  std::string inner(kLoop);
  inner = Replaced(inner, "graph \"net\"", "graph \"outer\"");
  inner = Replaced(inner, "nnef.external \"x\" {shape = [6,3], dtype = \"scalar\"}",
                   "opset1.Parameter \"x\" {element_type = f32, shape = shape[6,3]}");
  inner = Replaced(inner, "nnef.external \"h\" {shape = [1,3], dtype = \"scalar\"}",
                   "opset1.Parameter \"h\" {element_type = f32, shape = shape[1,3]}");
  const std::string text =
      "graph \"net\" {\n"
      "  %0 = nnef.external \"x\" {shape = [6,3], dtype = \"scalar\"} : f32[6,3]\n"
      "  %1 = nnef.external \"h\" {shape = [1,3], dtype = \"scalar\"} : f32[1,3]\n"
      "  %2:2 = nnef.tensor_iterator \"o\" (%0, %1) segments [0,0,2] {body = \"outer\", slice_axes = [], "
      "slice_strides = [], slice_starts = [], slice_ends = [], concat_axes = [0,0], concat_strides = [1,-6]} "
      ": "
      "f32[1,3], f32[6,3] bodies {\n"
      "    \"body\" input 0 -> 0 input 1 -> 1 output 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) "
      "output 1 -> 1 slice(axis 0, start -1, end 0, stride -6, part 6) " +
      inner +
      "  }\n"
      "  opset1.Result \"last\" (%2)\n"
      "  opset1.Result \"all\" (%2.1)\n"
      "}\n";
  const std::string lowered = Lower(text);
  // One iteration: OpenVINO infers this from the slices of the outputs.
  Has(lowered, "output 0 -> 0 slice(axis 0, start 0, end 1, stride 1, part 1)");
  Has(lowered, "output 1 -> 1 slice(axis 0, start 6, end 0, stride -6, part 6)");
  Has(lowered, "opset5.Loop \"t\"");
  Has(lowered, "\"t/trip_count\" : i64[] = dense<i64[]: 6>");
  Has(lowered, "input 2 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) input 3 -> 1");
  Has(lowered, "output -1 -> 2");
}

// A loop is still within the other one if it is in a branch.
TEST_F(ControlFlow, ALoopInABranchOfALoopIsALoop) {
  const auto parameter = [](int label, std::string_view name, std::string_view element,
                            std::string_view shape) {
    return fmt::format("%{} = opset1.Parameter \"{}\" {{element_type = {}, shape = shape{}}} : {}{}\n", label,
                       name, element, shape, element, shape);
  };
  const std::string parameters = parameter(0, "x", "f32", "[6,3]") + parameter(1, "h", "f32", "[1,3]");
  const std::string loop(kLoop.substr(kLoop.find("  %2:2 ="), kLoop.rfind('}') - kLoop.find("  %2:2 =")));
  const std::string text =
      "graph \"net\" {\n"
      "%0 = nnef.external \"x\" {shape = [6,3], dtype = \"scalar\"} : f32[6,3]\n"
      "%1 = nnef.external \"h\" {shape = [1,3], dtype = \"scalar\"} : f32[1,3]\n"
      "%2 = nnef.external \"c\" {shape = [1], dtype = \"logical\"} : boolean[1]\n"
      "%3:2 = nnef.tensor_iterator \"o\" (%0, %1, %2) segments [0,0,3] {body = \"outer\", slice_axes = [], "
      "slice_strides = [], slice_starts = [], slice_ends = [], concat_axes = [0,0], concat_strides = [1,6]} "
      ": "
      "f32[1,3], f32[6,3] bodies {\n"
      "\"body\" input 0 -> 0 input 1 -> 1 input 2 -> 2 output 0 -> 0 slice(axis 0, start 0, end -1, stride "
      "1, "
      "part 1) output 1 -> 1 slice(axis 0, start 0, end -1, stride 6, part 6) graph \"outer\" {\n" +
      parameters + parameter(2, "c", "boolean", "[1]") +
      "%3:2 = nnef.if_else \"i\" (%2, %0, %1) segments [1,2] {then_body = \"f\", else_body = \"g\"} : "
      "f32[1,3], f32[6,3] bodies {\n"
      "\"then_body\" input 1 -> 0 input 2 -> 1 output 0 -> 0 output 1 -> 1 graph \"f\" {\n" +
      parameters + loop +
      "}\n\"else_body\" input 1 -> 0 input 2 -> 1 output 0 -> 0 output 1 -> 1 graph \"g\" {\n" + parameters +
      "opset1.Result \"a\" (%1)\nopset1.Result \"b\" (%0)\n}\n}\n"
      "opset1.Result \"last\" (%3)\nopset1.Result \"all\" (%3.1)\n}\n}\n"
      "opset1.Result \"last\" (%3)\nopset1.Result \"all\" (%3.1)\n}\n";
  const std::string lowered = Lower(text);
  Has(lowered, "opset1.TensorIterator \"o\"");
  Has(lowered, "opset5.Loop \"t\"");
}

// Adds the rows of x while the condition, which the body negates, is true.
constexpr std::string_view kWhile = R"(graph "net" {
  %0 = nnef.external "n" {shape = [], dtype = "integer"} : i64[]
  %1 = nnef.external "x" {shape = [6,3], dtype = "scalar"} : f32[6,3]
  %2 = nnef.external "c" {shape = [1], dtype = "logical"} : boolean[1]
  %3 = nnef.external "h" {shape = [1,3], dtype = "scalar"} : f32[1,3]
  %4:3 = nnef.while_loop "w" (%0, %1, %2, %3) segments [1,1,2,0] {body = "step", slice_axes = [0], slice_strides = [], slice_starts = [], slice_ends = [], concat_axes = [0], concat_strides = []} : boolean[1], f32[1,3], f32[?,3] bodies {
    "body" input 1 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) input 2 -> 1 input 3 -> 2 output 0 -> 0 output 1 -> 1 output 2 -> 2 slice(axis 0, start 0, end -1, stride 1, part 1) back 0 -> 1 back 1 -> 2 graph "step" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = shape[1,3]} : f32[1,3]
      %1 = opset1.Parameter "b" {element_type = boolean, shape = shape[1]} : boolean[1]
      %2 = opset1.Parameter "s" {element_type = f32, shape = shape[1,3]} : f32[1,3]
      %3 = nnef.not "more" (%1) : boolean[1]
      %4 = nnef.add "next" (%0, %2) : f32[1,3]
      opset1.Result "more" (%3)
      opset1.Result "next" (%4)
      opset1.Result "all" (%4)
    }
  }
  opset1.Result "go" (%4)
  opset1.Result "last" (%4.1)
  opset1.Result "all" (%4.2)
}
)";

TEST_F(ControlFlow, WhileLoopIsALoop) {
  const std::string text = Lower(kWhile);
  Has(text, ":3 = opset5.Loop \"w\" (%0, %2, %1, %2, %3) : boolean[1], f32[1,3], f32[?,3]");
  Has(text, "input 2 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) input 3 -> 1 input 4 -> 2 ");
  Has(text,
      "output 0 -> 0 output 1 -> 1 output 2 -> 2 slice(axis 0, start 0, end -1, stride 1, part 1) "
      "output -1 -> 0 back 0 -> 1 back 1 -> 2");
}

// Conditions that are always true: the trip count is the number of iterations, up to that of the parts.
TEST_F(ControlFlow, TripCountsThatAreKnown) {
  const auto lowered = [this](int64_t trips) {
    std::string text =
        Replaced(std::string(kWhile), "nnef.external \"n\" {shape = [], dtype = \"integer\"} : i64[]",
                 fmt::format("opset1.Const \"n\" : i64[] = dense<i64[]: {}>", trips));
    text = Replaced(text, "nnef.external \"c\" {shape = [1], dtype = \"logical\"} : boolean[1]",
                    "opset1.Const \"c\" : boolean[1] = dense<boolean[1]: 1>");
    text = Replaced(text, "nnef.not \"more\" (%1) : boolean[1]",
                    "opset1.Const \"more\" : boolean[1] = dense<boolean[1]: 1>");
    return Lower(Replaced(text, "f32[?,3]", "f32[...]"));
  };
  for (int64_t trips : {0, 5, 6})
    Has(lowered(trips), fmt::format(" : boolean[1], f32[1,3], f32[{},3]", trips));
  Has(lowered(-1), " : boolean[1], f32[1,3], f32[6,3]");
  EXPECT_EQ(lowered(7),
            "`trip_count` of `while_loop` is 7; the sliced tensors have 6 parts [tensor_iterator.parts]");
}

// A condition that is false ends the loop before its trip count.
TEST_F(ControlFlow, ConditionsThatAreFalse) {
  std::string text =
      Replaced(std::string(kWhile), "nnef.external \"n\" {shape = [], dtype = \"integer\"} : i64[]",
               "opset1.Const \"n\" : i64[] = dense<i64[]: 5>");
  text = Replaced(text, "nnef.external \"c\" {shape = [1], dtype = \"logical\"} : boolean[1]",
                  "opset1.Const \"c\" : boolean[1] = dense<boolean[1]: 1>");
  text = Replaced(text, "nnef.not \"more\" (%1) : boolean[1]",
                  "opset1.Const \"more\" : boolean[1] = dense<boolean[1]: 0>");
  Has(Lower(text), " : boolean[1], f32[1,3], f32[?,3]");
}

TEST_F(ControlFlow, APartForAWhileLoopIsCutOffBefore) {
  std::string text = Replaced(std::string(kWhile), "slice_strides = [], slice_starts = [], slice_ends = []",
                              "slice_strides = [1], slice_starts = [1], slice_ends = [5]");
  text = Replaced(text, "input 1 -> 0 slice(axis 0, start 0, end -1",
                  "input 1 -> 0 slice(axis 0, start 1, end 5");
  const std::string lowered = Lower(text);
  Has(lowered, "\"w/sliced1_start\" : i64[1] = dense<i64[1]: 1>");
  Has(lowered, "\"w/sliced1_stop\" : i64[1] = dense<i64[1]: 5>");
  Has(lowered, "input 2 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) input 3 -> 1 input 4 -> 2 ");
}

// Loops pass tensors of unknown rank to their bodies.
TEST_F(ControlFlow, LoopsOverTensorsOfUnknownRank) {
  std::string net = Replaced(std::string(kIf), "nnef.sqr \"y\" (%0) : f32[2,3]",
                             "nnef.unsqueeze \"y\" (%0) {axes = [0]} : f32[1,2,3]");
  net = Replaced(Replaced(Replaced(net, "\"g\"} : f32[2,3] bodies", "\"g\"} : f32[...] bodies"),
                          "shape = [1,1]", "shape = [1]"),
                 "boolean[1,1]", "boolean[1]");
  const std::string body =
      "graph \"step\" {\n"
      "%0 = opset1.Parameter \"b\" {element_type = boolean, shape = shape[1]} : boolean[1]\n"
      "%1 = opset1.Parameter \"p\" {element_type = f32, shape = [...]} : f32[...]\n"
      "%2 = nnef.not \"more\" (%0) : boolean[1]\n"
      "opset1.Result \"more\" (%2)\n}\n}\n  opset1.Result \"y\" (%4)";
  const std::string lists =
      "{body = \"step\", slice_axes = [], slice_strides = [], slice_starts = [], slice_ends = [], "
      "concat_axes = "
      "[], concat_strides = []} : boolean[1] bodies {\n";
  const std::string count = "  %3 = nnef.external \"n\" {shape = [], dtype = \"integer\"} : i64[]\n";
  const std::string loops[] = {
      "%4 = nnef.while_loop \"w\" (%3, %0, %2) segments [1,0,1,1] " + lists +
          "\"body\" input 1 -> 0 input 2 -> 1 output 0 -> 0 back 0 -> 0 " + body,
      "%4 = nnef.tensor_iterator \"w\" (%0, %2) segments [0,1,1] " + lists +
          "\"body\" input 0 -> 0 input 1 -> 1 output 0 -> 0 back 0 -> 0 " + body,
  };
  for (const std::string& loop : loops)
    Has(Lower(Replaced(net, "  opset1.Result \"y\" (%2)", count + loop)), " \"w\" (");
}

TEST_F(ControlFlow, AWhileLoopHasATripCount) {
  std::string text =
      Replaced(std::string(kWhile), "(%0, %1, %2, %3) segments [1,1,2,0]", "(%1, %2, %3) segments [0,1,2,0]");
  text = Replaced(text, "input 1 -> 0", "input 0 -> 0");
  text = Replaced(Replaced(text, "input 2 -> 1", "input 1 -> 1"), "input 3 -> 2", "input 2 -> 2");
  EXPECT_EQ(Lower(text), "`while_loop` has no trip count; expected one, negative for no limit [node.arity]");
}

TEST_F(ControlFlow, ResultsOfDifferentRanks) {
  std::string text = Replaced(std::string(kIf), "nnef.sqr \"y\" (%0) : f32[2,3]",
                              "nnef.unsqueeze \"y\" (%0) {axes = [0]} : f32[1,2,3]");
  text = Replaced(text, "\"g\"} : f32[2,3] bodies", "\"g\"} : f32[...] bodies");
  Has(Lower(text), "= opset8.If \"i\" (%3, %1) : f32[...]");
}

// Errors that documents cannot express, but text can.
TEST_F(ControlFlow, BodiesHaveTheirInterface) {
  const std::string loop(kLoop);
  EXPECT_EQ(
      Lower(Replaced(loop, "input 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1)", "input 0 -> 0")),
      "`body` of `tensor_iterator` has another port map than inputs and attributes ask for [body.interface]");
  EXPECT_EQ(
      Lower(Replaced(loop, "back 0 -> 1 ", "")),
      "`body` of `tensor_iterator` has another port map than inputs and attributes ask for [body.interface]");
  for (const char* slice :
       {"axis 1, start 0, end -1, stride 1, part 1", "axis 0, start 1, end -1, stride 1, part 1",
        "axis 0, start 0, end 5, stride 1, part 1", "axis 0, start 0, end -1, stride -1, part 1",
        "axis 0, start 0, end -1, stride 2, part 2"}) {
    for (const char* mapping : {"input 0 -> 0", "output 1 -> 1"})
      EXPECT_EQ(
          Lower(Replaced(loop, std::string(mapping) + " slice(axis 0, start 0, end -1, stride 1, part 1)",
                         fmt::format("{} slice({})", mapping, slice))),
          "`body` of `tensor_iterator` has another port map than inputs and attributes ask for "
          "[body.interface]")
          << mapping << " " << slice;
  }
  const std::string integers =
      Replaced(std::string(kIf), "element_type = f32, shape = shape[2,3]} : f32[2,3]",
               "element_type = i64, shape = shape[2,3]} : i64[2,3]");
  EXPECT_EQ(Lower(Replaced(integers, "nnef.sqr \"y\" (%0) : f32[2,3]", "nnef.copy \"y\" (%0) : i64[2,3]")),
            "the parameter `x` in `then_body` of `if_else` is of type i64; it is fed f32 [body.interface]");
  // The types that the text declares in a body match its operations.
  EXPECT_EQ(
      Lower(integers),
      "`nnef.sqr` \"y\" breaks a rule of its operation: `x` of `sqr` is of type integer; expected scalar "
      "[ir-text.invalid-graph]");
}

// A tensor of unknown rank may be sliced. The rank of its parts is unknown, too.
TEST_F(ControlFlow, SlicesOfUnknownRank) {
  const std::string text = Replaced(
      Replaced(std::string(kLoop), "nnef.external \"x\" {shape = [6,3], dtype = \"scalar\"} : f32[6,3]",
               "opset1.Parameter \"x\" {element_type = f32, shape = shape[...]} : f32[...]"),
      ": f32[1,3], f32[6,3] bodies", ": f32[1,3], f32[...] bodies");
  EXPECT_EQ(Lower(text),
            "lowering `sqr` needs the rank of its input 0, which is unknown [lower.unknown-rank]");
}

// A body is inferred with the types that it is fed, unless its parameters already have these.
TEST_F(ControlFlow, BodiesAreInferredWithTheTypesTheyAreFed) {
  struct Known {
    ElementType type = ElementType::kF32;
    ir::PartialShape shape = {2, 3};
    bool is_inferred = true;
  };
  for (const Known& known : {Known{.is_inferred = false}, Known{.type = ElementType::kDynamic},
                             Known{.shape = ir::PartialShape::OfRank(2)}, Known{.shape = {1, 3}}}) {
    Context context;
    const FileId file = context.sources.AddText("net.ir", std::string(kIf));
    const std::unique_ptr<ir::Graph> graph = ir::ParseGraph(file, ir::StandardOps(), context);
    ASSERT_NE(graph, nullptr);
    const ir::OutputPort result = graph->node(graph->results()[0]).input(0);
    ir::Graph& body = *graph->body(result.node, 0).graph;
    const ir::OutputPort square = body.node(body.results()[0]).input(0);
    body.SetOutputType({body.parameters()[0], 0}, known.type, known.shape);
    body.SetOutputType(square, ElementType::kF32, {2, 5});
    EXPECT_TRUE(ir::InferGraph(*graph, context.emitter)) << Message(context);
    EXPECT_EQ(ToString(body.output(square).shape), known.is_inferred ? "[2,3]" : "[2,5]");
  }
}

// Extents that differ between the bodies are known at run time.
TEST_F(ControlFlow, ExtentsOfTheBodiesMayDiffer) {
  std::string text =
      Replaced(std::string(kIf), "nnef.sqr \"y\" (%0) : f32[2,3]",
               "nnef.slice \"y\" (%0) {axes = [0], begin = [0], end = [1], stride = [], dtype = "
               "\"scalar\"} : f32[1,3]");
  text = Replaced(text, "else_body = \"g\"} : f32[2,3]", "else_body = \"g\"} : f32[1..2,3]");
  Has(Lower(text), "= opset8.If \"i\" (%3, %1) : f32[1..2,3]");
}

}  // namespace
}  // namespace nnefc::lower

#include "compiler/ir/ops/costs.h"

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/plan_functions.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/text_fixture.h"

namespace nnefc::ir::ops {
namespace {

// A backend that states no time of a step has none.
TEST(Costs, TimesThatAreNotStated) {
  const StepTimes times;
  EXPECT_EQ(times.product, nullptr);
  EXPECT_EQ(times.tensor_product, nullptr);
  EXPECT_EQ(times.images, nullptr);
  for (const double time : {times.quantize, times.dequantize, times.round_in_epilogue, times.round,
                            times.lookup, times.widen, ImageTimes().convert})
    EXPECT_EQ(time, 0);
  const ImageTimes images;
  EXPECT_EQ(images.product, nullptr);
  for (const ImageTimes::Element& element : {images.slope, images.function, images.pool, images.concat}) {
    EXPECT_EQ(element.in_f32, 0);
    EXPECT_EQ(element.in_bf16, 0);
  }
}

// Elements of less than a byte are packed; the last byte may be filled in part.
TEST(Costs, BytesOfPackedElements) {
  struct Row {
    ElementType type;
    int64_t count, bytes;
  };
  for (const Row& row : std::initializer_list<Row>{{ElementType::kU4, 0, 0},
                                                   {ElementType::kU4, 1, 1},
                                                   {ElementType::kU4, 2, 1},
                                                   {ElementType::kU4, 3, 2},
                                                   {ElementType::kI4, 4, 2},
                                                   {ElementType::kU1, 1, 1},
                                                   {ElementType::kU1, 7, 1},
                                                   {ElementType::kU1, 8, 1},
                                                   {ElementType::kU1, 9, 2},
                                                   {ElementType::kU8, 3, 3},
                                                   {ElementType::kF16, 3, 6},
                                                   {ElementType::kF64, 3, 24}}) {
    Graph graph(&StandardOps(), "g");
    const NodeId x = AddParameter(graph, "x", row.type, PartialShape{row.count});
    const OutputPort inputs[] = {{x, 0}, {AddConst(graph, TensorValue::FromInts({1}, {0}), "axis"), 0}};
    const NodeId node = AddNode(graph, "opset1", "Unsqueeze", {.name = "u", .inputs = inputs});
    AddResult(graph, "y", {node, 0});
    Emitter emitter;
    ASSERT_TRUE(InferGraph(graph, emitter));
    const std::optional<GraphCosts> costs = FindCosts(graph);
    ASSERT_TRUE(costs.has_value());
    EXPECT_EQ(costs->output_bytes, row.bytes) << Name(row.type) << ' ' << row.count;
  }
}

class CostsTest : public TextFixture {
 protected:
  std::optional<GraphCosts> CostsOf(const std::string& body) {
    graph_ = Parse("graph \"g\" {\n" + body + "}\n");
    EXPECT_NE(graph_, nullptr) << context_.emitter.diagnostics().front().message;
    if (graph_ == nullptr) return std::nullopt;
    EXPECT_TRUE(InferGraph(*graph_, context_.emitter));
    return FindCosts(*graph_);
  }
  // Returns "name: elements and bytes of parameters, macs, output bytes, bytes in use; .. peak NAME BYTES".
  std::string Text(const std::string& body) {
    const std::optional<GraphCosts> costs = CostsOf(body);
    if (!costs) return "unknown";
    std::string text;
    int64_t parameters = 0, bytes = 0, outputs = 0;
    double macs = 0;
    for (const OperationCosts& each : costs->operations) {
      text += fmt::format("{}: {} {} {} {} {}; ", graph_->node(each.node).name(), each.parameters,
                          each.parameter_bytes, each.macs, each.output_bytes, each.alive_bytes);
      parameters += each.parameters;
      bytes += each.parameter_bytes;
      outputs += each.output_bytes;
      macs += each.macs;
    }
    EXPECT_EQ(costs->parameters, parameters);
    EXPECT_EQ(costs->parameter_bytes, bytes);
    EXPECT_EQ(costs->output_bytes, outputs);
    EXPECT_EQ(costs->macs, macs);
    return text + fmt::format("peak {} {}", graph_->node(costs->peak_node).name(), costs->peak_bytes);
  }

  std::unique_ptr<Graph> graph_;
};

constexpr std::string_view kInput =
    "%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[4]} : f32[4]\n";

// A tensor needs memory up to its last use, however often an operation reads it.
TEST_F(CostsTest, MemoryUpToTheLastUse) {
  EXPECT_EQ(
      Text(std::string(kInput) + "%1 = opset1.Const \"w\" : f32[4] = dense<f32[4]: 1.0, 2.0, 3.0, 4.0>\n"
                                 "%2 = opset1.Const \"s\" : f32[1] = dense<f32[1]: 1.0>\n"
                                 "%3 = opset1.Add \"a\" (%0, %1) : f32[4]\n"
                                 "%4 = opset1.Multiply \"b\" (%3, %3) : f32[4]\n"
                                 "%5 = opset1.Add \"c\" (%4, %1) : f32[4]\n"
                                 "%6 = opset1.Add \"d\" (%5, %2) : f32[4]\nopset1.Result \"y\" (%6)\n"),
      "a: 4 16 0 16 32; b: 0 0 0 16 32; c: 0 0 0 16 32; d: 0 0 0 16 32; peak a 32");
  // An input that is read at the end, and a result that nothing reads.
  EXPECT_EQ(Text(std::string(kInput) + "%1 = opset1.Concat \"twice\" (%0, %0) {axis = 0} : f32[8]\n"
                                       "%2 = opset1.ReLU \"unused\" (%1) : f32[8]\n"
                                       "%3 = opset1.Abs \"abs\" (%1) : f32[8]\n"
                                       "%4 = opset1.Concat \"all\" (%3, %0) {axis = 0} : f32[12]\n"
                                       "%5 = opset1.Exp \"exp\" (%4) : f32[12]\n"
                                       "opset1.Result \"y\" (%5)\nopset1.Result \"z\" (%5)\n"),
            "twice: 0 0 0 32 48; unused: 0 0 0 32 80; abs: 0 0 0 32 80; all: 0 0 0 48 96; "
            "exp: 0 0 0 48 96; peak all 96");
}

// Floats of at least two elements are parameters, in the type in which they are stored, of the first
// operation that needs them.
TEST_F(CostsTest, ParametersOfTheFirstUser) {
  const std::string weights =
      "%1 = opset1.Const \"w\" : f16[4,2] = dense<f16[4,2]: 1, 2, 3, 4, 5, 6, 7, 8>\n"
      "%2 = opset1.Convert \"wide\" (%1) {destination_type = f32} : f32[4,2]\n";
  EXPECT_EQ(Text(std::string(kInput) + weights +
                 "%3 = opset1.MatMul \"p\" (%0, %2) : f32[2]\n%4 = opset1.MatMul \"q\" (%0, %2) : f32[2]\n"
                 "%5 = opset1.Const \"b\" : f32[2] = dense<f32[2]: 1.0, 2.0>\n"
                 "%6 = opset1.Add \"s\" (%3, %5) : f32[2]\n%7 = opset1.Add \"t\" (%6, %4) : f32[2]\n"
                 "opset1.Result \"y\" (%7)\n"),
            "p: 8 16 8 8 24; q: 0 0 8 8 32; s: 2 8 0 8 24; t: 0 0 0 8 24; peak q 32");
  EXPECT_EQ(
      Text(std::string(kInput) + "%1 = opset1.Const \"i\" : i64[2] = dense<i64[2]: 2, 2>\n"
                                 "%2 = opset1.Reshape \"r\" (%0, %1) : f32[2,2]\nopset1.Result \"y\" (%2)\n"),
      "r: 0 0 0 16 32; peak r 32");
}

// The number of iterations matters only for products.
TEST_F(CostsTest, LoopsWithoutProducts) {
  EXPECT_EQ(Text(std::string(kInput) +
                 "%1 = opset1.TensorIterator \"loop\" (%0) : f32[4] bodies {\n"
                 "  \"body\" input 0 -> 0 output 0 -> 0 graph \"step\" {\n"
                 "    %0 = opset1.Parameter \"p\" {element_type = f32, shape = shape[4]} : f32[4]\n"
                 "    %1 = opset1.Exp \"e\" (%0) : f32[4]\n    opset1.Result \"r\" (%1)\n  }\n}\n"
                 "opset1.Result \"y\" (%1)\n"),
            "loop: 0 0 0 16 32; peak loop 32");
}

std::string BodyOf(int columns) {
  std::string items = "1";
  for (int i = 1; i < 4 * columns; ++i) items += ", 1";
  return fmt::format(
      "    %0 = opset1.Parameter \"p\" {{element_type = f32, shape = shape[1,4]}} : f32[1,4]\n"
      "    %1 = opset1.Const \"w\" : f32[4,{0}] = dense<f32[4,{0}]: {1}>\n"
      "    %2 = opset1.MatMul \"m\" (%0, %1) : f32[1,{0}]\n    opset1.Result \"r\" (%2)\n",
      columns, items);
}

// The same result by two products: 4 * 5 + 5 * 2 multiply-accumulates.
std::string LongBody() {
  std::string body = BodyOf(5);
  body.resize(body.find("    opset1.Result"));
  return body +
         "    %3 = opset1.Const \"v\" : f32[5,2] = dense<f32[5,2]: 1, 1, 1, 1, 1, 1, 1, 1, 1, 2>\n"
         "    %4 = opset1.MatMul \"n\" (%2, %3) : f32[1,2]\n    opset1.Result \"r\" (%4)\n";
}

// A convolution needs a product for each element of the result and of the filter of its channel, a transposed
// one for each element of the data.
TEST_F(CostsTest, ProductsOfConvolutions) {
  const auto macs = [&](const std::string& operation, const std::string& filter) -> double {
    const std::string window =
        "strides = [2,1], dilations = [1,1], pads_begin = [0,0], pads_end = [0,0], auto_pad = \"explicit\"";
    const std::string data = operation.find("Group") == std::string::npos ? "[1,2,5,6]" : "[1,4,5,6]";
    const auto costs =
        CostsOf("%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape" + data + "} : f32" + data +
                "\n%1 = opset1.Parameter \"f\" {element_type = f32, shape = shape" + filter + "} : f32" +
                filter + "\n%2 = opset1." + operation + " \"c\" (%0, %1) {" + window +
                (operation.ends_with("BackpropData") ? ", output_padding = [0,0]" : "") +
                "} : f32[...]\nopset1.Result \"y\" (%2)\n");
    return costs ? costs->macs : -1;
  };
  // [O,I,..] gives [1,3,2,3]; [G,O,I,..] gives [1,6,2,3].
  EXPECT_EQ(macs("Convolution", "[3,2,2,4]"), 3 * 2 * 3 * (2 * 2 * 4));
  EXPECT_EQ(macs("GroupConvolution", "[2,3,2,2,4]"), 6 * 2 * 3 * (2 * 2 * 4));
  // [I,O,..] and [G,I,O,..].
  EXPECT_EQ(macs("ConvolutionBackpropData", "[2,3,2,4]"), 2 * 5 * 6 * (3 * 2 * 4));
  EXPECT_EQ(macs("GroupConvolutionBackpropData", "[2,2,3,2,4]"), 4 * 5 * 6 * (3 * 2 * 4));
}

// All iterations of a loop, the costlier branch of an If, and the parameters of both.
TEST_F(CostsTest, Bodies) {
  const auto loop = [&](const std::string& extent, const std::string& input, const std::string& output,
                        const std::string& result) {
    return Text("%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[" + extent + ",4]} : f32[" +
                extent + ",4]\n%1 = opset1.TensorIterator \"loop\" (%0) : f32" + result +
                " bodies {\n  \"body\" input 0 -> 0" + input + " output 0 -> 0" + output +
                " graph \"step\" {\n" + BodyOf(2) + "  }\n}\nopset1.Result \"y\" (%1)\n");
  };
  const std::string slice = " slice(axis 0, start 0, end -1, stride 1, part 1)";
  EXPECT_EQ(loop("3", slice, slice, "[3,2]"), "loop: 8 32 24 24 72; peak loop 72");
  EXPECT_EQ(loop("3", slice, "", "[1,2]"), "loop: 8 32 24 8 56; peak loop 56");
  EXPECT_EQ(loop("1", "", " slice(axis 0, start 0, end 5, stride 1, part 1)", "[5,2]"),
            "loop: 8 32 40 40 56; peak loop 56");
  // Without slices and concatenated results there is one iteration.
  EXPECT_EQ(loop("1", "", "", "[1,2]"), "loop: 8 32 8 8 24; peak loop 24");

  const auto branches = [&](const std::string& first, const std::string& second) {
    return Text(
        "%0 = opset1.Parameter \"c\" {element_type = boolean, shape = shape[]} : boolean[]\n"
        "%1 = opset1.Parameter \"x\" {element_type = f32, shape = shape[1,4]} : f32[1,4]\n"
        "%2 = opset8.If \"if\" (%0, %1) : f32[1,?] bodies {\n"
        "  \"then_body\" input 1 -> 0 output 0 -> 0 graph \"t\" {\n" +
        first + "  }\n  \"else_body\" input 1 -> 0 output 0 -> 0 graph \"e\" {\n" + second +
        "  }\n}\nopset1.Result \"y\" (%2)\n");
  };
  EXPECT_EQ(branches(BodyOf(2), BodyOf(2)), "if: 16 64 8 8 25; peak if 25");
  EXPECT_EQ(branches(BodyOf(2), LongBody()), "if: 38 152 30 8 25; peak if 25");
  EXPECT_EQ(branches(LongBody(), BodyOf(2)), "if: 38 152 30 8 25; peak if 25");
  EXPECT_EQ(branches(BodyOf(2), BodyOf(3)), "unknown");
}

// The iterations of a Loop are those of its trip count, or at most those of its slices if a condition that is
// not known may end it earlier.
TEST_F(CostsTest, TripsOfALoop) {
  const auto loop = [&](const std::string& trips, const std::string& condition) {
    return Text("%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[3,4]} : f32[3,4]\n%1 = " +
                trips + "%2 = " + condition +
                "%3 = opset5.Loop \"loop\" (%1, %2, %0) : f32[1,2] bodies {\n"
                "  \"body\" input 2 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) output 0 -> 0 "
                "output -1 -> 1 graph \"step\" {\n" +
                BodyOf(2) +
                "    %3 = opset1.Const \"c\" : boolean[] = dense<boolean[]: 1>\n"
                "    opset1.Result \"next\" (%3)\n  }\n}\nopset1.Result \"y\" (%3)\n");
  };
  const auto count = [](int trips) {
    return fmt::format("opset1.Const \"t\" : i64[] = dense<i64[]: {}>\n", trips);
  };
  const std::string always = "opset1.Const \"b\" : boolean[] = dense<boolean[]: 1>\n";
  EXPECT_EQ(loop(count(2), always), "loop: 8 32 16 8 56; peak loop 56");
  EXPECT_EQ(loop(count(3), always), "loop: 8 32 24 8 56; peak loop 56");
  EXPECT_EQ(loop(count(-1), always), "loop: 8 32 24 8 56; peak loop 56");
  EXPECT_EQ(loop(count(2), "opset1.Parameter \"b\" {element_type = boolean, shape = shape[]} : boolean[]\n"),
            "loop: 8 32 24 8 57; peak loop 57");
}

}  // namespace
}  // namespace nnefc::ir::ops

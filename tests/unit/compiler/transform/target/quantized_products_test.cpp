// target.MarkQuantizedProducts: matmuls of two quantized tensors, and near misses.

#include <cmath>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

// The times of a product in 8 bits and f32, and the shapes for which they were requested last.
struct TensorTimes {
  double quantized = 10, f32 = 100;
  Shape left, right, result;
};
TensorTimes& TimesOfTensors() {
  static TensorTimes times;
  return times;
}

double TimeOfTensors(const ir::Node&, llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right,
                     llvm::ArrayRef<int64_t> result, bool is_quantized) {
  TensorTimes& times = TimesOfTensors();
  times.left = Shape(left.begin(), left.end());
  times.right = Shape(right.begin(), right.end());
  times.result = Shape(result.begin(), result.end());
  return is_quantized ? times.quantized : times.f32;
}

class QuantizedProductMarksTest : public TransformTest {
 protected:
  void SetUp() override { TimesOfTensors() = {}; }
  // To the range from 0 to 255, or from -128 to 127 times 2.
  static std::string Quantized(const std::string& name, const std::string& data, bool is_signed = false,
                               const std::string& levels = "256") {
    return TargetStep(name, "opset1.FakeQuantize",
                      is_signed ? fmt::format("%{}, %low, %high, %low, %high", data)
                                : fmt::format("%{}, %zero, %one, %zero, %one", data),
                      "levels = " + levels);
  }
  static std::string Product(const std::string& left, const std::string& right,
                             const std::string& attributes = "") {
    return TargetStep("m", "opset1.MatMul", fmt::format("%{}, %{}", left, right), attributes) + ResultOf("m");
  }
  static std::string ResultOf(const std::string& name) {
    return fmt::format("  opset1.Result \"{}_result\" (%{})\n", name, name);
  }

  // Returns the marks: the names of quantized results, and "m(scale, zero; scale, zero)" for the product.
  std::string Marked(llvm::ArrayRef<std::string> steps, const std::string& left = "[2,3,4]",
                     const std::string& right = "[2,4,5]") {
    std::string text = TargetInput("x", "f32", left) + TargetInput("y", "f32", right) +
                       TargetConstant("zero", "f32[]", "0") + TargetConstant("one", "f32[]", "255") +
                       TargetConstant("low", "f32[]", "-256") + TargetConstant("high", "f32[]", "254");
    for (const std::string& step : steps) text += step;
    const auto graph = Parse(Numbered(text));
    if (graph == nullptr) return "no graph";
    const ir::PlanFunctions functions{.times = has_times_ ? &times_ : nullptr};
    EXPECT_EQ(
        Run(StandardTransformations(), *graph, Side::kTarget,
            {.only = {"target.MarkQuantizedProducts", "target.MarkQuantizedValues"}, .plan = functions}),
        "");
    std::string marked;
    for (ir::NodeId id : graph->nodes()) {
      const ir::Node& node = graph->node(id);
      const char* const space = marked.empty() ? "" : " ";
      if (ir::ops::HasQuantizedResult(node)) marked += space + node.name();
      if (const auto operands = ir::ops::QuantizedOperandsOf(node))
        marked += fmt::format("{}{}({}, {}; {}, {})", space, node.name(), operands->left.scale,
                              operands->left.zero, operands->right.scale, operands->right.zero);
      if (const auto data = ir::ops::QuantizedDataOf(node))
        marked += fmt::format("{}{}({}, {})", space, node.name(), data->scale, data->zero);
    }
    return marked;
  }

  ir::StepTimes times_{.tensor_product = TimeOfTensors, .quantize = 0.5};
  bool has_times_ = true;
};

TEST_F(QuantizedProductMarksTest, BothOperandsAreQuantized) {
  EXPECT_EQ(Marked({Quantized("p", "x"), Quantized("q", "y", true), Product("p", "q")}),
            "p q m(1, 0; 2, 128)");
  EXPECT_EQ(Marked({Quantized("p", "x", true), Quantized("q", "y"), Product("p", "q")}),
            "p q m(2, 128; 1, 0)");
  EXPECT_EQ(Marked({Quantized("p", "x"), Product("p", "y")}), "");
  EXPECT_EQ(Marked({Quantized("q", "y"), Product("x", "q")}), "");
  EXPECT_EQ(Marked({Quantized("p", "x"), Quantized("q", "y", false, "255"), Product("p", "q")}), "");
  EXPECT_EQ(Marked({Quantized("p", "x"), TargetConstant("c", "f32[4,1]", "1, 2, 3, 4"), Product("p", "c")}),
            "");
  // A tensor by itself.
  EXPECT_EQ(Marked({Quantized("p", "x"), Product("p", "p", "transpose_b = true")}), "p m(1, 0; 1, 0)");
}

TEST_F(QuantizedProductMarksTest, OtherReaders) {
  EXPECT_EQ(Marked({Quantized("p", "x"), Quantized("q", "y"), Product("p", "q"), ResultOf("p"),
                    TargetStep("t", "opset1.Tanh", "%q"), ResultOf("t")}),
            "p q m(1, 0; 1, 0)");
}

TEST_F(QuantizedProductMarksTest, Shapes) {
  const auto marked = [&](const std::string& left, const std::string& right,
                          const std::string& attributes = "") {
    return !Marked({Quantized("p", "x"), Quantized("q", "y"), Product("p", "q", attributes)}, left, right)
                .empty();
  };
  EXPECT_TRUE(marked("[3,4]", "[4,5]"));
  EXPECT_TRUE(marked("[3,4]", "[2,4,5]"));
  EXPECT_TRUE(marked("[2,1,3,4]", "[3,4,5]"));
  EXPECT_TRUE(marked("[2,4,3]", "[2,5,4]", "transpose_a = true, transpose_b = true"));
  EXPECT_EQ(TimesOfTensors().left, (Shape{2, 4, 3}));
  EXPECT_EQ(TimesOfTensors().right, (Shape{2, 5, 4}));
  EXPECT_EQ(TimesOfTensors().result, (Shape{2, 3, 5}));
  EXPECT_FALSE(marked("[4]", "[4,5]"));
  EXPECT_FALSE(marked("[3,4]", "[4]"));
  EXPECT_FALSE(marked("[3,?]", "[4,5]"));
  EXPECT_FALSE(marked("[3,4]", "[4,?]"));
}

TEST_F(QuantizedProductMarksTest, QueriesAndKeysOfAttention) {
  const auto attention = [](const std::string& operands) {
    return TargetStep("a", "opset13.ScaledDotProductAttention", operands, "causal = false") + ResultOf("a");
  };
  const auto marked = [&](const std::string& width) {
    return Marked({Quantized("p", "x"), Quantized("q", "y", true), attention("%p, %q, %y")},
                  "[2,3," + width + "]", "[2,5," + width + "]");
  };
  // Operands are stored in f32: the step quantizes them.
  EXPECT_EQ(marked("4"), "a(1, 0; 2, 128)");
  EXPECT_EQ(marked("33025"), "a(1, 0; 2, 128)");
  EXPECT_EQ(marked("33026"), "");
  EXPECT_EQ(Marked({Quantized("p", "x"), attention("%p, %y, %y")}, "[2,3,4]", "[2,5,4]"), "");
  EXPECT_EQ(Marked({Quantized("q", "y"), attention("%x, %q, %y")}, "[2,3,4]", "[2,5,4]"), "");
  EXPECT_EQ(Marked({Quantized("q", "y"), attention("%x, %y, %q")}, "[2,3,4]", "[2,5,4]"), "");
  // Without times, or without 8-bit kernels of two tensors.
  has_times_ = false;
  EXPECT_EQ(marked("4"), "a(1, 0; 2, 128)");
  has_times_ = true;
  times_.tensor_product = nullptr;
  EXPECT_EQ(marked("4"), "");
}

TEST_F(QuantizedProductMarksTest, SumsFitInto32Bits) {
  times_.quantize = 0;
  EXPECT_LT(ir::ops::kMaxQuantizedTerms * 255 * 255, int64_t{1} << 31);
  EXPECT_GE((ir::ops::kMaxQuantizedTerms + 1) * 255 * 255, int64_t{1} << 31);
  for (const bool is_transposed : {false, true}) {
    for (const int64_t more : {0, 1}) {
      const int64_t terms = ir::ops::kMaxQuantizedTerms + more;
      const std::string left = fmt::format(fmt::runtime(is_transposed ? "[{},2]" : "[2,{}]"), terms);
      EXPECT_EQ(Marked({Quantized("p", "x"), Quantized("q", "y"),
                        Product("p", "q", is_transposed ? "transpose_a = true" : "")},
                       left, fmt::format("[{},2]", terms)),
                more == 0 ? "p q m(1, 0; 1, 0)" : "");
    }
  }
}

// Elements of 24 + 40 operands are quantized for 0.5 each.
TEST_F(QuantizedProductMarksTest, ProductsInLessTime) {
  const std::vector<std::string> steps = {Quantized("p", "x"), Quantized("q", "y"), Product("p", "q")};
  TimesOfTensors().f32 = 42;  // equal
  EXPECT_EQ(Marked(steps), "");
  TimesOfTensors().f32 = 43;
  EXPECT_NE(Marked(steps), "");
  TimesOfTensors().f32 = 41;
  EXPECT_EQ(Marked(steps), "");
  TimesOfTensors().f32 = 100;
  times_.tensor_product = nullptr;
  EXPECT_EQ(Marked(steps), "");
  has_times_ = false;
  EXPECT_EQ(Marked(steps), "p q m(1, 0; 1, 0)");
}

// Values that are moved as f32 are quantized in the step of the product; views of them are stored as u8.
TEST_F(QuantizedProductMarksTest, MovedOperands) {
  const std::string order = TargetConstant("order", "i64[3]", "0, 2, 1"),
                    shape = TargetConstant("shape", "i64[2]", "6, 4"),
                    axis = TargetConstant("axis", "i64[]", "0"),
                    repeats = TargetConstant("repeats", "i64[3]", "1, 1, 2");
  EXPECT_EQ(
      Marked({order, Quantized("p", "x"), Quantized("q", "y"),
              TargetStep("t", "opset1.Transpose", "%q, %order"), Product("p", "t", "transpose_b = true")}),
      "p m(1, 0; 1, 0)");
  EXPECT_EQ(
      Marked({shape, Quantized("p", "x"), Quantized("q", "y"),
              TargetStep("r", "opset1.Reshape", "%p, %shape", "special_zero = false"), Product("r", "q")}),
      "p q m(1, 0; 1, 0)");
  EXPECT_EQ(Marked({axis, Quantized("p", "x"), Quantized("q", "y"),
                    "  %s:2 = opset1.Split \"s\" (%q, %axis) {num_splits = 2} : f32[...], f32[...]\n",
                    Product("p", "s.1")}),
            "p m(1, 0; 1, 0)");
  EXPECT_EQ(Marked({repeats, Quantized("p", "x"), Quantized("q", "y"),
                    TargetStep("t", "opset1.Tile", "%q, %repeats"), Product("p", "t")}),
            "p m(1, 0; 1, 0)");
  // Functions and sums change values.
  EXPECT_EQ(Marked({Quantized("p", "x"), Quantized("q", "y"), TargetStep("t", "opset1.ReLU", "%q"),
                    Product("p", "t")}),
            "");
  EXPECT_EQ(Marked({Quantized("p", "x"), Quantized("q", "y"), TargetStep("t", "opset1.Add", "%q, %one"),
                    Product("p", "t")}),
            "");
}

// Operations with elements of the data alone, and those that may add others or are not followed.
TEST_F(QuantizedProductMarksTest, MovesByOperation) {
  const auto marked = [&](const std::string& constants, const std::string& operation,
                          const std::string& inputs, const std::string& attributes = "") {
    const std::string marks = Marked({constants, Quantized("p", "x"), Quantized("q", "y"),
                                      TargetStep("t", operation, inputs, attributes), Product("p", "t")});
    return marks.find("m(1, 0; 1, 0)") != std::string::npos;
  };
  const std::string list = TargetConstant("a", "i64[3]", "0, 0, 0") +
                           TargetConstant("b", "i64[3]", "2, 4, 5") +
                           TargetConstant("c", "i64[3]", "1, 1, 1");
  EXPECT_TRUE(
      marked(TargetConstant("a", "i64[3]", "2, 4, 5"), "opset1.Broadcast", "%q, %a", "mode = \"numpy\""));
  EXPECT_TRUE(marked(list, "opset8.Slice", "%q, %a, %b, %c"));
  EXPECT_TRUE(
      marked(TargetConstant("a", "i64[3]", "2, 4, 5"), "opset1.Reshape", "%q, %a", "special_zero = false"));
  EXPECT_TRUE(marked(TargetConstant("a", "i64[3]", "1, 1, 1"), "opset1.Tile", "%q, %a"));
  EXPECT_TRUE(marked(TargetConstant("a", "i64[3]", "0, 1, 2"), "opset1.Transpose", "%q, %a"));
  EXPECT_FALSE(marked(list, "opset1.Pad", "%q, %a, %a", "pad_mode = \"constant\""));
  EXPECT_FALSE(marked("", "opset1.Concat", "%q", "axis = 0"));
  EXPECT_FALSE(marked(TargetConstant("a", "i64[2]", "0, 1") + TargetConstant("b", "i64[]", "0"),
                      "opset8.Gather", "%q, %a, %b", "batch_dims = 0"));
  // The other operand of an operation with two.
  EXPECT_FALSE(marked("", "opset1.Maximum", "%q, %q"));
}

// At most 15 moves after a quantization, of either operand.
TEST_F(QuantizedProductMarksTest, LongChainsOfMoves) {
  for (const int count : {1, 14, 15, 16, 17}) {
    for (const std::string operand : {"p", "q"}) {
      std::vector<std::string> steps = {TargetConstant("order", "i64[3]", "0, 1, 2"), Quantized("p", "x"),
                                        Quantized("q", "y")};
      std::string last = operand;
      for (int i = 0; i < count; ++i) {
        const std::string name = std::string("t") + static_cast<char>('a' + i);
        steps.push_back(TargetStep(name, "opset1.Transpose", "%" + last + ", %order"));
        last = name;
      }
      steps.push_back(operand == "p" ? Product(last, "q") : Product("p", last));
      EXPECT_EQ(Marked(steps).find("m(") != std::string::npos, count <= 15) << count << operand;
    }
  }
}

// The product of the scales is a normal f32 number: at least 2^-126, which is 1.17549e-38, and not infinite.
TEST_F(QuantizedProductMarksTest, Scales) {
  const auto marked = [&](int left, int right) {
    const auto limit = [](const char* name, int exponent) {
      return TargetConstant(name, "f32[]", fmt::format("{}", std::ldexp(255.0, exponent)));
    };
    const std::string marks =
        Marked({limit("a", left), limit("b", right),
                TargetStep("p", "opset1.FakeQuantize", "%x, %zero, %a, %zero, %a", "levels = 256"),
                TargetStep("q", "opset1.FakeQuantize", "%y, %zero, %b, %zero, %b", "levels = 256"),
                Product("p", "q")});
    return marks.find("m(") != std::string::npos;
  };
  EXPECT_TRUE(marked(-63, -63));
  EXPECT_FALSE(marked(-63, -64));
  EXPECT_FALSE(marked(-64, -63));
  EXPECT_TRUE(marked(-90, 10));
  EXPECT_TRUE(marked(64, 63));
  EXPECT_FALSE(marked(64, 64));
}

// Recurrent layers are marked by their data alone, whose values stay f32.
TEST_F(QuantizedProductMarksTest, DataOfRecurrentLayers) {
  struct Layer {
    const char* type;
    int rank, gates;
  };
  const auto marked = [&](const Layer& layer, llvm::ArrayRef<std::string> steps, const std::string& data,
                          const std::string& state) {
    const bool is_sequence = layer.rank == 3, is_lstm = layer.gates == 4;
    const std::string rows = fmt::format("{}", layer.gates * 2), one = is_sequence ? "1," : "";
    const auto shape = [&](const std::string& others) { return "[" + one + rows + others + "]"; };
    const std::string state_shape = is_sequence ? "[2,1,2]" : "[2,2]";
    std::vector<std::string> all = {TargetInput("c", "f32", state_shape),
                                    TargetInput("w", "f32", shape(",4")),
                                    TargetInput("r", "f32", shape(",2")), TargetInput("b", "f32", shape(""))};
    if (is_sequence) all.push_back(TargetConstant("lengths", "i64[2]", "3, 3"));
    all.insert(all.end(), steps.begin(), steps.end());
    std::string inputs = "%" + data + ", %" + state;
    if (is_lstm) inputs += ", %c";
    if (is_sequence) inputs += ", %lengths";
    inputs += ", %w, %r, %b";
    const int outputs = (is_lstm ? 2 : 1) + (is_sequence ? 1 : 0);
    std::string types = "f32[...]";
    for (int i = 1; i < outputs; ++i) types += ", f32[...]";
    all.push_back(fmt::format("  %l{} = {} \"l\" ({}) {{hidden_size = 2{}}} : {}\n",
                              outputs > 1 ? fmt::format(":{}", outputs) : "", layer.type, inputs,
                              is_sequence ? ", direction = \"forward\"" : "", types));
    all.push_back(fmt::format("  opset1.Result \"y\" (%l{})\n", outputs > 1 ? ".0" : ""));
    return Marked(all, is_sequence ? "[2,3,4]" : "[2,4]", state_shape);
  };
  for (const Layer& layer : {Layer{"opset1.LSTMCell", 2, 4},
                             {"opset4.LSTMCell", 2, 4},
                             {"opset3.GRUCell", 2, 3},
                             {"opset1.RNNCell", 2, 1},
                             {"opset5.LSTMSequence", 3, 4},
                             {"opset5.GRUSequence", 3, 3},
                             {"opset5.RNNSequence", 3, 1}}) {
    SCOPED_TRACE(layer.type);
    EXPECT_EQ(marked(layer, {Quantized("p", "x", true)}, "p", "y"), "l(2, 128)");
    EXPECT_EQ(marked(layer, {Quantized("p", "y", true)}, "x", "p"), "");
    EXPECT_EQ(marked(layer, {Quantized("p", "x", true, "255")}, "p", "y"), "");
    EXPECT_EQ(marked(layer, {Quantized("p", "x"), TargetStep("t", "opset1.Tanh", "%p")}, "t", "y"), "");
  }
  const std::string order = TargetConstant("order", "i64[3]", "0, 1, 2");
  EXPECT_EQ(marked({"opset5.GRUSequence", 3, 3},
                   {order, Quantized("p", "x"), TargetStep("t", "opset1.Transpose", "%p, %order")}, "t", "y"),
            "l(1, 0)");
}

}  // namespace
}  // namespace nnefc::transform::target

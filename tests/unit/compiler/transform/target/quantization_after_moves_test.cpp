// target.QuantizeAfterMoves: chains of moves, consumers and producers, and near misses.

#include "compiler/transform/pipeline/target_pipeline.h"
#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

class QuantizeAfterMovesTest : public TargetTest {
 protected:
  static std::string Moves(const std::string& steps, const std::string& levels = "256",
                           const std::string& low = "f32[]", const std::string& lows = "-1") {
    return TargetInput("x", "f32", "[1,4,2]") + TargetConstant("low", low, lows) +
           TargetConstant("high", "f32[1,1,1]", "254") + TargetConstant("first", "f32[]", "-2") +
           TargetConstant("last", "f32[1]", "508") + TargetConstant("order", "i64[3]", "0, 2, 1") +
           TargetConstant("flat", "i64[2]", "2, 4") + TargetConstant("w", "f32[4,1]", "1, 2, 3, 4") +
           TargetStep("q", "opset1.FakeQuantize", "%x, %low, %high, %first, %last", "levels = " + levels) +
           steps;
  }
  static std::string Transposed(const std::string& from) {
    return TargetStep("t", "opset1.Transpose", from + ", %order");
  }
  static std::string Product(const std::string& left, const std::string& right = "%w") {
    return TargetStep("m", "opset1.MatMul", left + ", " + right);
  }
  static std::string Reshaped(const std::string& name, const std::string& from) {
    return TargetStep(name, "opset1.Reshape", from + ", %flat", "special_zero = false");
  }
  std::string AfterMoves(const std::string& text) { return After("QuantizeAfterMoves", {text}); }

  const std::string given_ =
      "FakeQuantize[1,4,2](Parameter Const Const Const Const) Transpose[1,2,4](FakeQuantize Const) ";
  const std::string moved_ =
      "Transpose[1,2,4](Parameter Const) FakeQuantize[1,2,4](Transpose Const Const Const Const) ";
};

TEST_F(QuantizeAfterMovesTest, ATransposeBeforeAMatmul) {
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + Product("%t") + TargetResult("m"))),
            moved_ + "MatMul[1,2,1](FakeQuantize Const)");
  EXPECT_EQ(InputOf("FakeQuantize", 1), (std::vector<double>{-1}));
  EXPECT_EQ(InputOf("FakeQuantize", 2), (std::vector<double>{254}));
  EXPECT_EQ(InputOf("FakeQuantize", 3), (std::vector<double>{-2}));
  EXPECT_EQ(InputOf("FakeQuantize", 4), (std::vector<double>{508}));
}

TEST_F(QuantizeAfterMovesTest, ReshapesOnBothSides) {
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + Reshaped("r", "%t") + Product("%r") + TargetResult("m"))),
            "Transpose[1,2,4](Parameter Const) Reshape[2,4](Transpose Const) "
            "FakeQuantize[2,4](Reshape Const Const Const Const) MatMul[2,1](FakeQuantize Const)");
  // A reshape alone keeps quantized values.
  EXPECT_EQ(AfterMoves(Moves(Reshaped("r", "%q") + Product("%r") + TargetResult("m"))),
            "FakeQuantize[1,4,2](Parameter Const Const Const Const) Reshape[2,4](FakeQuantize Const) "
            "MatMul[2,1](Reshape Const)");
}

TEST_F(QuantizeAfterMovesTest, ConvolutionsReadTheirFirstInput) {
  const std::string attributes = "strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]";
  const std::string filter = TargetConstant("f", "f32[1,2,1]", "1, 2");
  const auto convolution = [&](const std::string& inputs, const std::string& name = "Convolution") {
    return filter + TargetStep("c", "opset1." + name, inputs, attributes) + TargetResult("c");
  };
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + convolution("%t, %f"))),
            moved_ + "Convolution[1,1,4](FakeQuantize Const)");
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + TargetInput("k", "f32", "[1,2,1]") + convolution("%t, %k"))),
            given_ + "Convolution[1,1,4](Transpose Parameter)");
  const std::string transposed = TargetConstant("g", "f32[2,3,1]", "1, 2, 3, 4, 5, 6");
  EXPECT_EQ(
      AfterMoves(Moves(Transposed("%q") + transposed + convolution("%t, %g", "ConvolutionBackpropData"))),
      moved_ + "ConvolutionBackpropData[1,3,4](FakeQuantize Const)");
}

TEST_F(QuantizeAfterMovesTest, OtherConsumers) {
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + TargetStep("a", "opset1.ReLU", "%t") + TargetResult("a"))),
            given_ + "ReLU[1,2,4](Transpose)");
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + TargetConstant("v", "f32[1,2]", "1, 2") +
                             Product("%v", "%t") + TargetResult("m"))),
            given_ + "MatMul[1,1,4](Const Transpose)");
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + TargetInput("b", "f32", "[4,1]") + Product("%t", "%b") +
                             TargetResult("m"))),
            given_ + "MatMul[1,2,1](Transpose Parameter)");
  // One consumer of the moved values is sufficient.
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + Product("%t") + TargetStep("a", "opset1.ReLU", "%t") +
                             TargetStep("s", "opset1.Add", "%a, %m") + TargetResult("s"))),
            moved_ + "MatMul[1,2,1](FakeQuantize Const) ReLU[1,2,4](FakeQuantize) Add[1,2,4](ReLU MatMul)");
}

TEST_F(QuantizeAfterMovesTest, SecondReadersOfTheQuantizationKeepIt) {
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + Product("%t") + TargetResult("m") +
                             TargetStep("a", "opset1.ReLU", "%q") + "  opset1.Result \"z\" (%a)\n")),
            given_ + "MatMul[1,2,1](Transpose Const) ReLU[1,4,2](FakeQuantize)");
}

// A Pad that repeats elements. Constants of a border are not quantized.
TEST_F(QuantizeAfterMovesTest, Borders) {
  const auto padded = [&](const std::string& mode, const std::string& end = "0, 2, 0") {
    return AfterMoves(Moves(TargetConstant("b", "i64[3]", "0, 0, 0") + TargetConstant("e", "i64[3]", end) +
                            TargetConstant("f", "f32[1,4,1]", "1, 2, 3, 4") +
                            TargetConstant("g", "f32[1,6,1]", "1, 2, 3, 4, 5, 6") +
                            TargetStep("p", "opset12.Pad", "%q, %b, %e", "pad_mode = \"" + mode + "\"") +
                            TargetStep("c", "opset1.Convolution", end == "0, 2, 0" ? "%p, %g" : "%p, %f",
                                       "strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]") +
                            TargetResult("c")));
  };
  const std::string moved =
      "Pad[1,6,2](Parameter Const Const) FakeQuantize[1,6,2](Pad Const Const Const Const) "
      "Convolution[1,1,2](FakeQuantize Const)";
  for (const std::string mode : {"reflect", "edge", "symmetric"}) EXPECT_EQ(padded(mode), moved) << mode;
  EXPECT_NE(padded("constant"), moved);
  // Half more elements than before, and more than that.
  EXPECT_EQ(padded("edge", "0, 0, 1").find("Pad"), 0u);
  EXPECT_NE(padded("edge", "0, 0, 2").find("Pad"), 0u);
}

// Parts of a value: each has its own quantization.
TEST_F(QuantizeAfterMovesTest, Parts) {
  const auto part = [](const std::string& name, const std::string& index) {
    return TargetConstant("i" + name, "i64[]", index) + TargetConstant("a" + name, "i64[]", "2") +
           TargetStep(name, "opset8.Gather", "%q, %i" + name + ", %a" + name, "batch_dims = 0") +
           TargetStep("m" + name, "opset1.MatMul", "%" + name + ", %w");
  };
  const auto result = [](const std::string& name) {
    return "  opset1.Result \"" + name + "\" (%m" + name + ")\n";
  };
  const std::string quantized = "FakeQuantize[1,4](Gather Const Const Const Const)",
                    gather = "Gather[1,4](Parameter Const Const)",
                    product = "MatMul[1,1](FakeQuantize Const)";
  EXPECT_EQ(AfterMoves(Moves(part("p", "1") + result("p"))), gather + " " + quantized + " " + product);
  EXPECT_EQ(AfterMoves(Moves(part("p", "0") + part("r", "-2") + result("p") + result("r"))),
            gather + " " + quantized + " " + product + " " + gather + " " + quantized + " " + product);
  const auto stays = [&](const std::string& text) {
    return AfterMoves(Moves(text)).starts_with("FakeQuantize[1,4,2]");
  };
  EXPECT_FALSE(stays(part("p", "0") + part("r", "1") + result("p") + result("r")));
  // Half more elements than the whole, and more than that.
  const std::string three =
      part("p", "0") + part("r", "1") + part("s", "1") + result("p") + result("r") + result("s");
  EXPECT_FALSE(stays(three));
  EXPECT_TRUE(stays(three + part("u", "0") + result("u")));
  // One part without a product, and indices that are not known or beyond the axis.
  EXPECT_TRUE(stays(part("p", "0") + result("p") + TargetStep("b", "opset1.ReLU", "%q") +
                    "  opset1.Result \"b\" (%b)\n"));
  EXPECT_TRUE(stays(TargetInput("ip", "i64", "[]") + TargetConstant("ap", "i64[]", "2") +
                    TargetStep("p", "opset8.Gather", "%q, %ip, %ap", "batch_dims = 0") +
                    TargetStep("mp", "opset1.MatMul", "%p, %w") + result("p")));
  for (const auto& [index, is_known] :
       {std::pair("-3", false), std::pair("-2", true), std::pair("1", true), std::pair("2", false)})
    EXPECT_EQ(stays(part("p", index) + result("p")), !is_known) << index;
}

// Indices of a Gather are within the extent of its own axis, which may count from the end.
TEST_F(QuantizeAfterMovesTest, AxesOfParts) {
  const auto moves = [&](const std::string& axis, const std::string& indices, const std::string& weights,
                         const std::string& type = "i64[]") {
    return AfterMoves(Moves(TargetConstant("i", type, indices) + TargetConstant("a", "i64[]", axis) +
                            TargetStep("p", "opset8.Gather", "%q, %i, %a", "batch_dims = 0") +
                            (weights == "4" ? "" : TargetConstant("v", "f32[2,1]", "1, 2")) +
                            Product("%p", weights == "4" ? "%w" : "%v") + TargetResult("m")))
        .starts_with("Gather");
  };
  for (const std::string axis : {"1", "-2"}) {
    for (const auto& [index, is_known] :
         {std::pair("-5", false), std::pair("-4", true), std::pair("3", true), std::pair("4", false)})
      EXPECT_EQ(moves(axis, index, "2"), is_known) << axis << " " << index;
  }
  for (const std::string axis : {"2", "-1"}) {
    for (const auto& [index, is_known] :
         {std::pair("-3", false), std::pair("-2", true), std::pair("1", true), std::pair("2", false)})
      EXPECT_EQ(moves(axis, index, "4"), is_known) << axis << " " << index;
  }
  EXPECT_TRUE(moves("0", "0", "2"));
  EXPECT_FALSE(moves("0", "1", "2"));
  // Each index of several.
  EXPECT_TRUE(moves("1", "0, 3, -4", "2", "i64[3]"));
  EXPECT_FALSE(moves("1", "4, 0, 0", "2", "i64[3]"));
  EXPECT_FALSE(moves("1", "0, 0, 4", "2", "i64[3]"));
}

// A result of the graph between the moves or in place of a reader, and weights that are no matrix.
TEST_F(QuantizeAfterMovesTest, ResultsOfTheGraph) {
  const std::string product = Transposed("%q") + Product("%t") + TargetResult("m");
  EXPECT_EQ(AfterMoves(Moves(product + "  opset1.Result \"z\" (%q)\n")),
            given_ + "MatMul[1,2,1](Transpose Const)");
  EXPECT_EQ(AfterMoves(Moves(product + "  opset1.Result \"z\" (%t)\n")),
            moved_ + "MatMul[1,2,1](FakeQuantize Const)");
  for (ir::NodeId id : graph_->nodes()) {
    const ir::Node& node = graph_->node(id);
    if (node.Is(ir::OpRole::kResult) && node.name() == "z") {
      EXPECT_EQ(graph_->node(node.input(0).node).type(), "FakeQuantize");
    }
  }
  // The chain ends at a value with two readers: the reshape has quantized values.
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + Reshaped("r", "%t") + Product("%r") + TargetResult("m") +
                             "  opset1.Result \"z\" (%t)\n")),
            given_ + "Reshape[2,4](Transpose Const) MatMul[2,1](Reshape Const)");
  EXPECT_EQ(AfterMoves(Moves(Transposed("%q") + TargetConstant("v", "f32[4]", "1, 2, 3, 4") +
                             Product("%t", "%v") + TargetResult("m"))),
            given_ + "MatMul[1,2](Transpose Const)");
}

TEST_F(QuantizeAfterMovesTest, OtherRanges) {
  const std::string rest = Transposed("%q") + Product("%t") + TargetResult("m");
  EXPECT_EQ(AfterMoves(Moves(rest, "255")), given_ + "MatMul[1,2,1](Transpose Const)");
  EXPECT_EQ(AfterMoves(Moves(rest, "257")), given_ + "MatMul[1,2,1](Transpose Const)");
  EXPECT_EQ(AfterMoves(Moves(rest, "256", "f32[1,4,1]", "-1, -2, -3, -4")),
            given_ + "MatMul[1,2,1](Transpose Const)");
}

// A quantization after a convolution or matmul, and functions of its elements, is part of its step.
TEST_F(QuantizeAfterMovesTest, QuantizationsOfProductsStay) {
  const auto after = [&](const std::string& before) {
    return AfterMoves(
        TargetInput("z", "f32", "[1,4,3]") + TargetConstant("u", "f32[3,2]", "1, 2, 3, 4, 5, 6") +
        TargetStep("p", "opset1.MatMul", "%z, %u") + before + TargetConstant("low", "f32[]", "0") +
        TargetConstant("high", "f32[]", "255") + TargetConstant("order", "i64[3]", "0, 2, 1") +
        TargetConstant("w", "f32[4,1]", "1, 2, 3, 4") +
        TargetStep("q", "opset1.FakeQuantize", "%x, %low, %high, %low, %high", "levels = 256") +
        Transposed("%q") + Product("%t") + TargetResult("m"));
  };
  const std::string product = "MatMul[1,4,2](Parameter Const) ";
  const std::string last = "Transpose[1,2,4](FakeQuantize Const) MatMul[1,2,1](Transpose Const)";
  EXPECT_EQ(after(TargetStep("x", "opset1.ReLU", "%p")),
            product + "ReLU[1,4,2](MatMul) FakeQuantize[1,4,2](ReLU Const Const Const Const) " + last);
  EXPECT_EQ(after(TargetConstant("b", "f32[2]", "1, 2") + TargetStep("x", "opset1.Add", "%b, %p")),
            product + "Add[1,4,2](Const MatMul) FakeQuantize[1,4,2](Add Const Const Const Const) " + last);
  // Up to seven functions.
  for (const int count : {7, 8}) {
    std::string steps, from = "%p";
    for (int i = 1; i <= count; ++i) {
      const std::string name = i == count ? "x" : "x" + std::string(static_cast<size_t>(i), 'y');
      steps += TargetStep(name, "opset1.ReLU", from);
      from = "%" + name;
    }
    EXPECT_EQ(after(steps).find("FakeQuantize[1,2,4](Transpose") == std::string::npos, count == 7) << count;
  }
  // Other operations are steps of their own.
  EXPECT_EQ(after(TargetConstant("axis", "i64[]", "2") + TargetStep("x", "opset1.SoftMax", "%p", "axis = 2")),
            product +
                "SoftMax[1,4,2](MatMul) Transpose[1,2,4](SoftMax Const) "
                "FakeQuantize[1,2,4](Transpose Const Const Const Const) MatMul[1,2,1](FakeQuantize Const)");
}

// A product of 32 outputs takes much more time than a quantization in a step of its own.
TEST_F(QuantizeAfterMovesTest, ManyOutputs) {
  const auto after = [&](const std::string& consumer) {
    const std::string text =
        AfterMoves(TargetInput("z", "f32", "[1,4,3]") + TargetInput("u", "f32", "[3,2]") +
                   TargetStep("p", "opset1.MatMul", "%z, %u") + TargetConstant("low", "f32[]", "0") +
                   TargetConstant("high", "f32[]", "255") + TargetConstant("order", "i64[3]", "0, 2, 1") +
                   TargetStep("q", "opset1.FakeQuantize", "%p, %low, %high, %low, %high", "levels = 256") +
                   Transposed("%q") + consumer + TargetResult("m"));
    return text.find("FakeQuantize[1,2,4](Transpose") != std::string::npos;
  };
  const auto items = [](int64_t count) {
    std::string text = "1";
    for (int64_t i = 1; i < count; ++i) text += ", 1";
    return text;
  };
  const auto matrix = [&](const std::string& shape, int64_t count, const std::string& attributes) {
    return TargetConstant("w", "f32" + shape, items(count)) +
           TargetStep("m", "opset1.MatMul", "%t, %w", attributes);
  };
  EXPECT_FALSE(after(matrix("[4,31]", 124, "")));
  EXPECT_TRUE(after(matrix("[4,32]", 128, "")));
  EXPECT_FALSE(after(matrix("[31,4]", 124, "transpose_b = true")));
  EXPECT_TRUE(after(matrix("[32,4]", 128, "transpose_b = true")));
  const auto filter = [&](int64_t outputs) {
    return TargetConstant("w", fmt::format("f32[{},2,1]", outputs), items(2 * outputs)) +
           TargetStep("m", "opset1.Convolution", "%t, %w",
                      "strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]");
  };
  EXPECT_FALSE(after(filter(31)));
  EXPECT_TRUE(after(filter(32)));
  const auto transposed = [&](int64_t outputs) {
    return TargetConstant("w", fmt::format("f32[2,{},1]", outputs), items(2 * outputs)) +
           TargetStep("m", "opset1.ConvolutionBackpropData", "%t, %w",
                      "strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]");
  };
  EXPECT_FALSE(after(transposed(31)));
  EXPECT_TRUE(after(transposed(32)));
  // Of each group.
  const auto grouped = [&](int64_t outputs) {
    return TargetConstant("w", fmt::format("f32[2,{},1,1]", outputs), items(2 * outputs)) +
           TargetStep("m", "opset1.GroupConvolution", "%t, %w",
                      "strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]");
  };
  EXPECT_FALSE(after(grouped(31)));
  EXPECT_TRUE(after(grouped(32)));
  // One consumer of several is sufficient.
  const std::string few = TargetConstant("v", "f32[4,1]", items(4)) +
                          TargetStep("f", "opset1.MatMul", "%t, %v") + "  opset1.Result \"f\" (%f)\n";
  EXPECT_FALSE(after(few + matrix("[4,31]", 124, "")));
  EXPECT_TRUE(after(few + matrix("[4,32]", 128, "")));
  EXPECT_TRUE(after(matrix("[4,32]", 128, "") + few));
}

TEST_F(QuantizeAfterMovesTest, TensorsWithoutElements) {
  const std::string text =
      AfterMoves(TargetInput("x", "f32", "[1,4,0]") + TargetConstant("low", "f32[]", "0") +
                 TargetConstant("high", "f32[]", "255") + TargetConstant("order", "i64[3]", "0, 2, 1") +
                 TargetConstant("w", "f32[4,1]", "1, 2, 3, 4") +
                 TargetStep("q", "opset1.FakeQuantize", "%x, %low, %high, %low, %high", "levels = 256") +
                 Transposed("%q") + Product("%t") + TargetResult("m"));
  EXPECT_EQ(text,
            "FakeQuantize[1,4,0](Parameter Const Const Const Const) Transpose[1,0,4](FakeQuantize Const) "
            "MatMul[1,0,1](Transpose Const)");
}

TEST_F(QuantizeAfterMovesTest, NamesStayWithTheirValues) {
  (void)AfterMoves(Moves(Transposed("%q") + Product("%t") + TargetResult("m")));
  for (ir::NodeId id : graph_->nodes()) {
    const ir::Node& node = graph_->node(id);
    if (node.type() == "MatMul") {
      EXPECT_EQ(graph_->node(node.input(0).node).name(), "q");
    }
    if (node.type() == "Transpose") {
      EXPECT_TRUE(node.output().names.empty());
    }
  }
}

// Moved elements of quantizations with another reader are quantized again before a product of many outputs.
class QuantizeAgainTest : public QuantizeAfterMovesTest {
 protected:
  static std::string Quantized(const std::string& name, const std::string& low = "-128",
                               const std::string& high = "127", const std::string& levels = "256") {
    return TargetConstant("l" + name, "f32[]", low) + TargetConstant("h" + name, "f32[]", high) +
           TargetConstant("a" + name, "f32[]", "-3") + TargetConstant("b" + name, "f32[]", "9") +
           TargetStep(name, "opset1.FakeQuantize",
                      "%x" + name + ", %a" + name + ", %b" + name + ", %l" + name + ", %h" + name,
                      "levels = " + levels);
  }
  // `steps` read %q and define %t, of 4 columns.
  std::string AfterProduct(const std::string& steps, int64_t outputs = 32,
                           const std::string& quantized = Quantized("q")) {
    std::string ones = "1";
    for (int64_t i = 1; i < 4 * outputs; ++i) ones += ", 1";
    return AfterMoves(
        TargetInput("xq", "f32", "[1,4,2]") + quantized + TargetConstant("order", "i64[3]", "0, 2, 1") +
        steps + TargetConstant("w", fmt::format("f32[4,{}]", outputs), ones) + Product("%t") +
        TargetResult("m") + TargetStep("s", "opset1.ReLU", "%q") + "  opset1.Result \"s\" (%s)\n");
  }
  static bool IsAgain(const std::string& after) {
    return after.find("](FakeQuantize Const)", after.find("MatMul")) != std::string::npos;
  }
};

TEST_F(QuantizeAgainTest, OtherReaders) {
  EXPECT_EQ(AfterProduct(Transposed("%q")),
            given_ +
                "FakeQuantize[1,2,4](Transpose Const Const Const Const) MatMul[1,2,32](FakeQuantize Const) "
                "ReLU[1,4,2](FakeQuantize)");
  // The range is that of the results.
  for (const auto& [input, limit] :
       {std::pair(1, -128.0), std::pair(2, 127.0), std::pair(3, -128.0), std::pair(4, 127.0)}) {
    std::vector<double> last;
    for (ir::NodeId id : graph_->nodes()) {
      const ir::Node& node = graph_->node(id);
      if (node.type() == "FakeQuantize" && graph_->node(node.input(0).node).type() == "Transpose")
        last = {graph_->output(node.input(input)).value->ElementAsDouble(0)};
    }
    EXPECT_EQ(last, (std::vector<double>{limit})) << input;
  }
  EXPECT_FALSE(IsAgain(AfterProduct(Transposed("%q"), 31)));
  EXPECT_FALSE(IsAgain(AfterProduct(TargetConstant("same", "i64[3]", "1, 2, 4") +
                                    TargetStep("t", "opset1.Reshape", "%q, %same", "special_zero = false"))));
  EXPECT_FALSE(IsAgain(AfterProduct(Transposed("%q"), 32, Quantized("q", "-128", "127", "255"))));
  EXPECT_FALSE(IsAgain(AfterProduct(Transposed("%q"), 32, Quantized("q", "127", "127"))));
  EXPECT_FALSE(IsAgain(AfterProduct(Transposed("%q"), 32, Quantized("q", "127", "-128"))));
  EXPECT_FALSE(IsAgain(AfterProduct(TargetStep("r", "opset1.Abs", "%q") + Transposed("%r"))));
}

TEST_F(QuantizeAgainTest, PartsOfOneRange) {
  const auto joined = [&](const std::string& quantized, const std::string& other = "%r") {
    return IsAgain(AfterProduct(TargetInput("xr", "f32", "[1,4,2]") + quantized +
                                TargetStep("c", "opset1.Concat", "%q, " + other, "axis = 2") +
                                Transposed("%c")));
  };
  EXPECT_TRUE(joined(Quantized("r")));
  EXPECT_TRUE(joined("", "%q"));
  EXPECT_FALSE(joined(Quantized("r", "-128", "128")));
  EXPECT_FALSE(joined(Quantized("r", "-127", "127")));
  EXPECT_FALSE(joined("", "%xr"));
  // A Concat of row-major values alone.
  EXPECT_TRUE(IsAgain(AfterProduct(TargetConstant("axis", "i64[]", "2") +
                                   TargetStep("v", "opset1.Transpose", "%q, %order") +
                                   TargetStep("t", "opset1.Concat", "%v, %v", "axis = 1"))));
}

// Zeros of a border are results of the quantization if its zero point is a whole number in its range.
TEST_F(QuantizeAgainTest, Borders) {
  const auto padded = [&](const std::string& low, const std::string& high, const std::string& border) {
    return IsAgain(AfterProduct(
        TargetConstant("begin", "i64[3]", "0, 0, 1") + TargetConstant("end", "i64[3]", "0, 0, 2") +
            TargetConstant("border", "f32[]", border.empty() ? "0" : border) +
            TargetStep("p", "opset12.Pad", border.empty() ? "%q, %begin, %end" : "%q, %begin, %end, %border",
                       "pad_mode = \"constant\"") +
            Transposed("%p"),
        32, Quantized("q", low, high)));
  };
  EXPECT_TRUE(padded("-128", "127", ""));
  EXPECT_TRUE(padded("-128", "127", "0"));
  EXPECT_FALSE(padded("-128", "127", "1"));
  EXPECT_TRUE(padded("0", "51", "0"));
  EXPECT_TRUE(padded("-51", "0", "0"));
  EXPECT_FALSE(padded("1", "52", "0"));
  EXPECT_FALSE(padded("-52", "-1", "0"));
  EXPECT_FALSE(padded("-127.75", "127.25", "0"));
}

// At most 32 nodes are visited, the quantization included.
TEST_F(QuantizeAgainTest, LongChains) {
  const auto moved = [&](int count) {
    std::string steps = TargetConstant("same", "i64[3]", "0, 1, 2"), from = "%q";
    for (int i = 1; i <= count; ++i) {
      const std::string name(i == count ? 1 : static_cast<size_t>(i) + 1, 't');
      steps += TargetStep(name, "opset1.Transpose", from + (i == count ? ", %order" : ", %same"));
      from = "%" + name;
    }
    return IsAgain(AfterProduct(steps));
  };
  EXPECT_TRUE(moved(1));
  EXPECT_TRUE(moved(31));
  EXPECT_FALSE(moved(32));
  EXPECT_FALSE(moved(33));
  // A Concat counts once, and the quantization once for each part.
  const auto joined = [&](int parts) {
    std::string all = "%q";
    for (int i = 1; i < parts; ++i) all += ", %q";
    return IsAgain(AfterProduct(TargetStep("c", "opset1.Concat", all, "axis = 2") + Transposed("%c")));
  };
  EXPECT_TRUE(joined(30));  // and the transpose
  EXPECT_FALSE(joined(31));
}

// A Concat of channels of images keeps quantized values, if each part does.
TEST_F(QuantizeAgainTest, JoinedImages) {
  const auto joined = [&](const std::string& parts, const std::string& axis) {
    std::string zeros = "1";
    for (int i = 1; i < 32 * 4; ++i) zeros += ", 1";
    const auto quantized = [&](const std::string& name) {
      return TargetConstant("k" + name, "f32[2,2,1,1]", "1, 2, 3, 4") +
             TargetConvolution("x" + name, "y" + name, "k" + name) + Quantized(name);
    };
    const std::string after = AfterMoves(
        TargetInput("yq", "f32", "[1,2,2,2]") + TargetInput("yr", "f32", "[1,2,2,2]") + quantized("q") +
        quantized("r") + TargetConstant("order", "i64[4]", "0, 1, 3, 2") +
        TargetStep("t", "opset1.Transpose", "%q, %order") +
        TargetStep("u", "opset1.Transpose", "%r, %order") +
        TargetStep("c", "opset1.Concat", parts, "axis = " + axis) +
        TargetConstant("w", axis == "1" || axis == "-3" ? "f32[32,4,1,1]" : "f32[64,2,1,1]", zeros) +
        TargetConvolution("m", "c") + TargetResult("m") + TargetStep("s", "opset1.Add", "%q, %r") +
        "  opset1.Result \"s\" (%s)\n");
    return after.find("](FakeQuantize Const)", after.find("Concat")) != std::string::npos;
  };
  for (const std::string axis : {"1", "-3"}) {
    EXPECT_FALSE(joined("%q, %r", axis));
    EXPECT_TRUE(joined("%t, %r", axis));
    EXPECT_TRUE(joined("%q, %u", axis));
    EXPECT_TRUE(joined("%t, %u", axis));
  }
  EXPECT_TRUE(joined("%q, %r", "3"));
}

// A part of a value, with a function of its elements before it or not.
TEST_F(QuantizeAgainTest, PartsOfAValue) {
  const auto sliced = [&](const std::string& from) {
    return IsAgain(
        AfterProduct(TargetConstant("begin", "i64[1]", "0") + TargetConstant("end", "i64[1]", "1") +
                     TargetConstant("step", "i64[1]", "1") + TargetConstant("axis", "i64[1]", "2") +
                     TargetConstant("shape", "i64[3]", "1, 1, 4") + TargetStep("r", "opset1.ReLU", "%q") +
                     TargetStep("p", "opset8.Slice", from + ", %begin, %end, %step, %axis") +
                     TargetStep("t", "opset1.Reshape", "%p, %shape", "special_zero = false")));
  };
  EXPECT_TRUE(sliced("%q"));
  EXPECT_FALSE(sliced("%r"));
}

}  // namespace
}  // namespace nnefc::transform::target

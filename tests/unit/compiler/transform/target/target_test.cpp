// Transformations of the target phase: graphs that they change, and those that violate one condition each.

#include "compiler/transform/pipeline/target_pipeline.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

// ---- branches ----

class SelectedBranchTest : public TargetTest {
 protected:
  // Returns the graph of an If after the transformation. Its branches are ReLU and Tanh, then Abs.
  std::string Selected(const std::string& condition) {
    const auto branch = [](const std::string& role, const std::string& operation) {
      return fmt::format(R"(    "{}" input 1 -> 0 output 0 -> 0 graph "{}" {{
      %0 = opset1.Parameter "a" {{element_type = f32, shape = [2]}} : f32[2]
      %1 = opset1.{} "r" (%0) : f32[2]
      opset1.Result "o" (%1)
    }}
)",
                         role, role, operation);
    };
    return After("InlineSelectedBranch", {condition, TargetInput("x", "f32", "[2]"),
                                          "  %if = opset8.If \"if\" (%c, %x) : f32[2] bodies {\n",
                                          branch("then_body", "ReLU"), branch("else_body", "Tanh"), "  }\n",
                                          TargetStep("abs", "opset1.Abs", "%if"), TargetResult("abs")});
  }
};

TEST_F(SelectedBranchTest, AConstantConditionSelectsABranch) {
  EXPECT_EQ(Selected(TargetConstant("c", "boolean[]", "1")), "ReLU[2](Parameter) Abs[2](ReLU)");
  EXPECT_EQ(Selected(TargetConstant("c", "boolean[]", "0")), "Tanh[2](Parameter) Abs[2](Tanh)");
  EXPECT_EQ(Selected(TargetConstant("c", "boolean[1]", "0")), "Tanh[2](Parameter) Abs[2](Tanh)");
}

TEST_F(SelectedBranchTest, AConditionOfTheRunSelectsNone) {
  EXPECT_EQ(Selected(TargetInput("c", "boolean", "[]")), "If[2](Parameter Parameter) Abs[2](If)");
}

// A branch without operations, and an If whose value is a result.
TEST_F(SelectedBranchTest, AParameterMayBeTheResult) {
  EXPECT_EQ(
      After("InlineSelectedBranch", {TargetConstant("c", "boolean[]", "1"), TargetInput("x", "f32", "[2]"),
                                     "  %if = opset8.If \"if\" (%c, %x) : f32[2] bodies {\n",
                                     R"(    "then_body" input 1 -> 0 output 0 -> 0 graph "t" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = [2]} : f32[2]
      opset1.Result "o" (%0)
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "e" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = [2]} : f32[2]
      %1 = opset1.Tanh "r" (%0) : f32[2]
      opset1.Result "o" (%1)
    }
  }
)",
                                     TargetResult("if")}),
      "");
}

// ---- matrices ----

class VectorsTest : public TargetTest {
 protected:
  // Returns the graph after the transformation of a MatMul of these operands.
  std::string Product(const std::string& a, const std::string& b, const std::string& attributes = "") {
    return After("ConvertVectorsToMatrices",
                 {a, b, TargetStep("p", "opset1.MatMul", "%a, %b", attributes), TargetResult("p")});
  }
};

TEST_F(VectorsTest, AVectorAfterAConstantMatrixBecomesTheLeftOperand) {
  const std::string x = TargetInput("b", "f32", "[3]");
  EXPECT_EQ(Product(TargetConstant("a", "f32[2,3]", "1, 2, 3, 4, 5, 6"), x),
            "Reshape[1,3](Parameter Const) MatMul[1,2](Reshape Constt) Reshape[2](MatMul Const)");
  EXPECT_EQ(Product(TargetConstant("a", "f32[3,2]", "1, 2, 3, 4, 5, 6"), x, "transpose_a = true"),
            "Reshape[1,3](Parameter Const) MatMul[1,2](Reshape Const) Reshape[2](MatMul Const)");
}

TEST_F(VectorsTest, OtherVectorsBecomeARowOrAColumn) {
  EXPECT_EQ(Product(TargetInput("a", "f32", "[2,3]"), TargetInput("b", "f32", "[3]")),
            "Reshape[3,1](Parameter Const) MatMul[2,1](Parameter Reshape) Reshape[2](MatMul Const)");
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3,2]"), TargetInput("b", "f32", "[3]"), "transpose_a = true"),
            "Reshape[3,1](Parameter Const) MatMul[2,1](Parametert Reshape) Reshape[2](MatMul Const)");
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3]"), TargetConstant("b", "f32[3,2]", "1, 2, 3, 4, 5, 6")),
            "Reshape[1,3](Parameter Const) MatMul[1,2](Reshape Const) Reshape[2](MatMul Const)");
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3]"), TargetConstant("b", "f32[2,3]", "1, 2, 3, 4, 5, 6"),
                    "transpose_b = true"),
            "Reshape[1,3](Parameter Const) MatMul[1,2](Reshape Constt) Reshape[2](MatMul Const)");
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3]"), TargetInput("b", "f32", "[3]")),
            "Reshape[1,3](Parameter Const) Reshape[3,1](Parameter Const) MatMul[1,1](Reshape Reshape) "
            "Reshape[](MatMul Const)");
  // A constant of three axes is not one matrix.
  EXPECT_EQ(Product(TargetConstant("a", "f32[1,2,3]", "1, 2, 3, 4, 5, 6"), TargetInput("b", "f32", "[3]")),
            "Reshape[3,1](Parameter Const) MatMul[1,2,1](Const Reshape) Reshape[1,2](MatMul Const)");
}

TEST_F(VectorsTest, ATransposedVectorIsTheSameVector) {
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3]"), TargetInput("b", "f32", "[3]"),
                    "transpose_a = true, transpose_b = true"),
            "Reshape[1,3](Parameter Const) Reshape[3,1](Parameter Const) MatMul[1,1](Reshape Reshape) "
            "Reshape[](MatMul Const)");
}

TEST_F(VectorsTest, MatricesAndUnknownShapesRemain) {
  EXPECT_EQ(Product(TargetInput("a", "f32", "[1,3]"), TargetInput("b", "f32", "[3,1]")),
            "MatMul[1,1](Parameter Parameter)");
  EXPECT_EQ(Product(TargetInput("a", "f32", "[?]"), TargetInput("b", "f32", "[3,1]")),
            "MatMul[1](Parameter Parameter)");
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3]"), TargetInput("b", "f32", "[?,1]")),
            "MatMul[1](Parameter Parameter)");
  EXPECT_EQ(After("TransposeLeftOperands",
                  {TargetInput("a", "f32", "[...]"), TargetConstant("b", "f32[2,1]", "1.0, 2.0"),
                   TargetStep("p", "opset1.MatMul", "%a, %b", "transpose_a = true"), TargetResult("p")}),
            "MatMul[...](Parametert Const)");
}

TEST_F(VectorsTest, TheLastNodeInheritsTheName) {
  (void)Product(TargetInput("a", "f32", "[2,3]"), TargetInput("b", "f32", "[3]"));
  const ir::Node& result = graph_->node(graph_->results().front());
  EXPECT_EQ(graph_->node(result.input(0).node).name(), "p");
}

class LeftOperandsTest : public TargetTest {
 protected:
  std::string Product(const std::string& a, const std::string& b, const std::string& attributes) {
    return After("TransposeLeftOperands",
                 {a, b, TargetStep("p", "opset1.MatMul", "%a, %b", attributes), TargetResult("p")});
  }
  const std::string matrix_ = TargetConstant("b", "f32[3,1]", "1, 2, 3");
};

TEST_F(LeftOperandsTest, TransposedOperandsAreTransposedSeparately) {
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3,2]"), matrix_, "transpose_a = true"),
            "Transpose[2,3](Parameter Const) MatMul[2,1](Transpose Const)");
  EXPECT_EQ(InputOf("Transpose", 1), (std::vector<double>{1, 0}));
  EXPECT_EQ(Product(TargetInput("a", "f32", "[4,3,2]"), matrix_, "transpose_a = true"),
            "Transpose[4,2,3](Parameter Const) MatMul[4,2,1](Transpose Const)");
  EXPECT_EQ(InputOf("Transpose", 1), (std::vector<double>{0, 2, 1}));
  // The extents are irrelevant.
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3,?]"), matrix_, "transpose_a = true"),
            "Transpose[?,3](Parameter Const) MatMul[?,1](Transpose Const)");
}

TEST_F(LeftOperandsTest, OthersRemain) {
  EXPECT_EQ(Product(TargetInput("a", "f32", "[2,3]"), matrix_, "transpose_a = false"),
            "MatMul[2,1](Parameter Const)");
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3]"), matrix_, "transpose_a = true"),
            "MatMul[1](Parametert Const)");
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3,2]"), TargetInput("b", "f32", "[3,1]"), "transpose_a = true"),
            "MatMul[2,1](Parametert Parameter)");
  EXPECT_EQ(Product(TargetInput("a", "f32", "[3,2]"), TargetConstant("b", "f32[1,3,1]", "1, 2, 3"),
                    "transpose_a = true"),
            "MatMul[1,2,1](Parametert Const)");
}

// ---- quantization ----

// Constants for ranges: 0, 255 and 510.
std::string RangeLimits() {
  return TargetConstant("zero", "f32[]", "0.0") + TargetConstant("one", "f32[]", "255.0") +
         TargetConstant("two", "f32[]", "510.0");
}
std::string QuantizedTensor(const std::string& name, const std::string& data, const std::string& high = "one",
                            const std::string& levels = "256") {
  return TargetStep(name, "opset1.FakeQuantize", fmt::format("%{}, %zero, %{}, %zero, %{}", data, high, high),
                    "levels = " + levels);
}

class LookupTest : public TargetTest {
 protected:
  std::string After(llvm::ArrayRef<std::string> steps, const std::string& shape = "[1,1024]") {
    std::vector<std::string> text = {TargetInput("x", "f32", shape), RangeLimits()};
    text.insert(text.end(), steps.begin(), steps.end());
    return TargetTest::After("InsertLookupTables", text);
  }
};

TEST_F(LookupTest, FunctionsBecomeATable) {
  EXPECT_EQ(After({QuantizedTensor("q", "x"), TargetStep("s", "opset1.Sqrt", "%q"),
                   TargetStep("f", "opset1.Floor", "%s"), TargetResult("f")}),
            "FakeQuantize[1,1024](Parameter Const Const Const Const) Convert[1,1024](FakeQuantize) "
            "Gather[1,1024](Const Convert Const)");
  std::vector<double> table;
  table.reserve(256);
  for (int i = 0; i < 256; ++i) table.push_back(std::floor(std::sqrt(i)));
  EXPECT_EQ(InputOf("Gather", 0), table);
  // Numbers up to 255 become indices up to 255.
  EXPECT_EQ(InputOf("FakeQuantize", 2), std::vector<double>{255});
  EXPECT_EQ(InputOf("FakeQuantize", 3), std::vector<double>{0});
  EXPECT_EQ(InputOf("FakeQuantize", 4), std::vector<double>{255});
}

TEST_F(LookupTest, IndicesAreInUnitsOfTheScale) {
  (void)After({QuantizedTensor("q", "x", "two"), TargetStep("s", "opset1.Sqrt", "%q"),
               TargetStep("f", "opset1.Floor", "%s"), TargetResult("f")});
  std::vector<double> table;
  table.reserve(256);
  for (int i = 0; i < 256; ++i) table.push_back(std::floor(std::sqrt(2 * i)));
  EXPECT_EQ(InputOf("Gather", 0), table);
  EXPECT_EQ(InputOf("FakeQuantize", 2), std::vector<double>{510});
  EXPECT_EQ(InputOf("FakeQuantize", 4), std::vector<double>{255});
}

TEST_F(LookupTest, FunctionsThatAreFasterThanALookupRemain) {
  const auto functions = [&](const std::vector<std::string>& operations) {
    std::vector<std::string> steps = {QuantizedTensor("q", "x")};
    std::string last = "q";
    for (const std::string& operation : operations) {
      const std::string name = last + "n";
      steps.push_back(TargetStep(name, "opset1." + operation, "%" + last));
      last = name;
    }
    steps.push_back(TargetResult(last));
    return After(steps).find("Gather") != std::string::npos;
  };
  EXPECT_FALSE(functions({"Sqrt"}));
  EXPECT_TRUE(functions({"Sqrt", "Abs"}));
  EXPECT_FALSE(functions({"Abs", "Abs"}));
  EXPECT_TRUE(functions({"Abs", "Abs", "Abs"}));
}

TEST_F(LookupTest, EachConditionIsNecessary) {
  const std::string sqrt = TargetStep("s", "opset1.Sqrt", "%q"),
                    floor = TargetStep("f", "opset1.Floor", "%s");
  const std::string result = TargetResult("f");
  const auto has_table = [&](llvm::ArrayRef<std::string> steps, const std::string& shape = "[1,1024]") {
    return After(steps, shape).find("Gather") != std::string::npos;
  };
  EXPECT_TRUE(has_table({QuantizedTensor("q", "x"), sqrt, floor, result}));
  EXPECT_FALSE(has_table({QuantizedTensor("q", "x"), sqrt, floor, result}, "[1,1023]"));
  EXPECT_FALSE(has_table({QuantizedTensor("q", "x"), sqrt, floor, result}, "[?,1024]"));
  EXPECT_FALSE(has_table({QuantizedTensor("q", "x", "one", "255"), sqrt, floor, result}));
  EXPECT_FALSE(
      has_table({TargetInput("high", "f32", "[]"), QuantizedTensor("q", "x", "high"), sqrt, floor, result}));
  // A function that the evaluator does not compute.
  EXPECT_FALSE(has_table({QuantizedTensor("q", "x"), sqrt, TargetStep("f", "opset1.Tanh", "%s"), result}));
  // Two results of the functions.
  EXPECT_FALSE(has_table({QuantizedTensor("q", "x"), sqrt, floor, result, "  opset1.Result \"z\" (%s)\n"}));
  // A function of another tensor.
  EXPECT_FALSE(has_table({TargetInput("z", "f32", "[1,1024]"), QuantizedTensor("q", "x"), sqrt,
                          TargetStep("f", "opset1.Add", "%s, %z"), result}));
}

TEST_F(LookupTest, AQuantizationWithOtherConsumersRemains) {
  const std::string text = After({TargetConstant("order", "i64[2]", "1, 0"), QuantizedTensor("q", "x"),
                                  TargetStep("s", "opset1.Sqrt", "%q"), TargetStep("f", "opset1.Floor", "%s"),
                                  TargetStep("t", "opset1.Transpose", "%q, %order"), TargetResult("f"),
                                  "  opset1.Result \"z\" (%t)\n"});
  EXPECT_NE(text.find("Transpose[1024,1](FakeQuantize Const)"), std::string::npos) << text;
  EXPECT_NE(text.find("FakeQuantize[1,1024](FakeQuantize Const Const Const Const)"), std::string::npos)
      << text;
}

// A constant of one element and a higher rank changes the shape.
TEST_F(LookupTest, FunctionsPreserveTheShape) {
  const auto has_table = [&](const std::string& type) {
    return After({TargetConstant("c", type, "2.0"), QuantizedTensor("q", "x"),
                  TargetStep("s", "opset1.Sqrt", "%q"), TargetStep("f", "opset1.Subtract", "%s, %c"),
                  TargetResult("f")})
               .find("Gather") != std::string::npos;
  };
  EXPECT_TRUE(has_table("f32[]"));
  EXPECT_TRUE(has_table("f32[1,1]"));
  EXPECT_FALSE(has_table("f32[1,1,1]"));
}

// The first of two identical quantizations becomes the indices, unless others read it.
TEST_F(LookupTest, AQuantizationBeforeAView) {
  const auto after = [&](const std::string& other) {
    return After({TargetConstant("shape", "i64[2]", "2, 512"), QuantizedTensor("q", "x"),
                  TargetStep("v", "opset1.Reshape", "%q, %shape", "special_zero = false"),
                  QuantizedTensor("r", "v"), TargetStep("s", "opset1.Sqrt", "%r"),
                  TargetStep("f", "opset1.Floor", "%s"), TargetResult("f"), other});
  };
  EXPECT_EQ(after(""),
            "FakeQuantize[1,1024](Parameter Const Const Const Const) Reshape[2,512](FakeQuantize Const) "
            "Convert[2,512](Reshape) Gather[2,512](Const Convert Const)");
  const std::string shared = after(TargetStep("b", "opset1.Negative", "%q") + "  opset1.Result \"z\" (%b)\n");
  EXPECT_NE(shared.find("FakeQuantize[2,512](Reshape Const Const Const Const) Convert[2,512](FakeQuantize)"),
            std::string::npos)
      << shared;
}

class QuantizedEndTest : public LookupTest {
 protected:
  // Returns the graph of functions between two quantizations from `low` to `high`, before a MaxPool.
  std::string Pooled(const std::string& low, const std::string& high) {
    const auto quantized = [&](const std::string& name, const std::string& data) {
      return TargetStep(name, "opset1.FakeQuantize", fmt::format("%{}, %low, %high, %low, %high", data),
                        "levels = 256");
    };
    return After(
        {TargetConstant("low", "f32[]", low), TargetConstant("high", "f32[]", high), quantized("q", "x"),
         TargetStep("s", "opset1.Sqrt", "%q"), TargetStep("f", "opset1.Floor", "%s"), quantized("r", "f"),
         TargetStep("p", "opset1.MaxPool", "%r",
                    "strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [1, 1]"),
         TargetResult("p")},
        "[1,1,32,32]");
  }
};

TEST_F(QuantizedEndTest, AQuantizationWithQuantizedConsumersRemains) {
  EXPECT_EQ(Pooled("0.0", "255.0"),
            "FakeQuantize[1,1,32,32](Parameter Const Const Const Const) Convert[1,1,32,32](FakeQuantize) "
            "Gather[1,1,32,32](Const Convert Const) FakeQuantize[1,1,32,32](Gather Const Const Const Const) "
            "MaxPool[1,1,32,32](FakeQuantize)");
}

TEST_F(QuantizedEndTest, NaNHasNoQuantizedValue) {
  EXPECT_EQ(Pooled("-128.0", "127.0").find("Gather"), std::string::npos);
}

class RepeatedTest : public TargetTest {
 protected:
  std::string After(const std::string& name, llvm::ArrayRef<std::string> steps,
                    const std::string& shape = "[1,4]") {
    std::vector<std::string> text = {TargetInput("x", "f32", shape), RangeLimits()};
    text.insert(text.end(), steps.begin(), steps.end());
    return TargetTest::After(name, text);
  }
  static std::string Relu(const std::string& name, const std::string& data) {
    return TargetStep(name, "opset1.ReLU", "%" + data);
  }
};

TEST_F(RepeatedTest, IdenticalQuantizationsAreRemoved) {
  const std::string name = "RemoveRepeatedQuantization";
  const std::string once = "FakeQuantize[1,4](Parameter Const Const Const Const) ReLU[1,4](FakeQuantize)";
  const std::string twice =
      "FakeQuantize[1,4](Parameter Const Const Const Const) FakeQuantize[1,4](FakeQuantize Const Const Const "
      "Const)";
  const std::string first = QuantizedTensor("q", "x");
  EXPECT_EQ(After(name, {first, QuantizedTensor("r", "q"), Relu("a", "r"), TargetResult("a")}), once);
  EXPECT_EQ(After(name, {first, QuantizedTensor("r", "q"), QuantizedTensor("s", "r"), Relu("a", "s"),
                         TargetResult("a")}),
            once);
  EXPECT_EQ(After(name, {first, QuantizedTensor("r", "q", "two"), Relu("a", "r"), TargetResult("a")}),
            twice + " ReLU[1,4](FakeQuantize)");
  // A result has the name of the node that computes it.
  EXPECT_EQ(After(name, {first, QuantizedTensor("r", "q"), TargetResult("r")}), twice);
  // Limits that a run computes differ from constants.
  EXPECT_NE(After(name, {first, TargetInput("z", "f32", "[]"),
                         TargetStep("r", "opset1.FakeQuantize", "%q, %z, %z, %z, %z", "levels = 256"),
                         Relu("a", "r"), TargetResult("a")}),
            once);
}

// The limits of the second quantization's data and result, and those of the first one's result, are equal
// pairs.
TEST_F(RepeatedTest, EachLimitIsNecessary) {
  const auto quantized = [](const std::string& name, const std::string& data, const std::string& limits) {
    return TargetStep(name, "opset1.FakeQuantize", "%" + data + ", " + limits, "levels = 256");
  };
  const auto is_removed = [&](const std::string& first, const std::string& second) {
    return After("RemoveRepeatedQuantization",
                 {TargetConstant("m", "f32[]", "-63.75"), quantized("q", "x", first),
                  quantized("r", "q", second), Relu("a", "r"), TargetResult("a")})
               .find("(FakeQuantize Const Const Const Const)") == std::string::npos;
  };
  EXPECT_TRUE(is_removed("%zero, %one, %zero, %one", "%zero, %one, %zero, %one"));
  EXPECT_TRUE(is_removed("%zero, %two, %zero, %one", "%zero, %one, %zero, %one"));
  EXPECT_FALSE(is_removed("%zero, %one, %zero, %two", "%zero, %one, %zero, %one"));
  EXPECT_FALSE(is_removed("%zero, %one, %m, %one", "%zero, %one, %zero, %one"));
  EXPECT_FALSE(is_removed("%zero, %one, %zero, %one", "%zero, %two, %zero, %one"));
  EXPECT_FALSE(is_removed("%zero, %one, %zero, %one", "%m, %one, %zero, %one"));
  EXPECT_FALSE(is_removed("%zero, %one, %zero, %one", "%zero, %one, %zero, %two"));
  EXPECT_FALSE(is_removed("%zero, %one, %zero, %one", "%zero, %one, %m, %one"));
  // The same limits with fewer levels.
  EXPECT_NE(After("RemoveRepeatedQuantization",
                  {quantized("q", "x", "%zero, %one, %zero, %one"),
                   TargetStep("r", "opset1.FakeQuantize", "%q, %zero, %one, %zero, %one", "levels = 52"),
                   Relu("a", "r"), TargetResult("a")})
                .find("(FakeQuantize Const Const Const Const)"),
            std::string::npos);
}

TEST_F(RepeatedTest, QuantizationsAfterMovesAreRemoved) {
  const std::string name = "RemoveQuantizationAfterMoves";
  const std::string swapped = TargetStep("t", "opset1.Transpose", "%q, %order");
  const std::string order = TargetConstant("order", "i64[4]", "0, 1, 3, 2");
  const std::string pool =
      TargetStep("p", "opset1.MaxPool", "%r",
                 "strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [1, 1]");
  const auto moved = [&](const std::string& move, const std::string& end, const std::string& last) {
    const std::string text =
        After(name,
              {order, TargetConstant("shape", "i64[4]", "1, 1, 2, 4"), QuantizedTensor("q", "x"), move,
               QuantizedTensor("r", "t"), end, TargetResult(last)},
              "[1,2,2,2]");
    size_t count = 0;
    for (size_t at = text.find("FakeQuantize["); at != std::string::npos;
         at = text.find("FakeQuantize[", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(moved(swapped, Relu("a", "r"), "a"), 1u);
  // Consumers of quantized values read them after a view, not after a transpose.
  EXPECT_EQ(moved(swapped, pool, "p"), 2u);
  EXPECT_EQ(moved(TargetStep("t", "opset1.Reshape", "%q, %shape", "special_zero = false"), pool, "p"), 1u);
  const std::string view = TargetStep("v", "opset1.Reshape", "%r, %shape", "special_zero = false");
  EXPECT_EQ(moved(swapped, view + Relu("a", "v"), "a"), 1u);
  EXPECT_EQ(moved(swapped, view + std::regex_replace(pool, std::regex("%r"), "%v"), "p"), 2u);
  // An operation that computes.
  EXPECT_EQ(moved(Relu("t", "q"), Relu("a", "r"), "a"), 2u);
  EXPECT_EQ(moved(swapped, "", "r"), 2u);
}

// The quantization after a transpose stays before each consumer that reads quantized values.
TEST_F(RepeatedTest, ConsumersOfQuantizedValues) {
  const auto stays = [&](const std::string& operation, const std::string& inputs,
                         const std::string& attributes = "") {
    const std::string text =
        After("RemoveQuantizationAfterMoves",
              {TargetConstant("order", "i64[4]", "0, 1, 3, 2"), TargetInput("y", "f32", "[1,2,4,4]"),
               TargetConstant("w", "f32[1,2,1,1]", "1, 2"), TargetConstant("g", "f32[2,1,1,1,1]", "1, 2"),
               TargetConstant("b", "f32[2,1,1,1]", "1, 2"), TargetConstant("m", "f32[2,2]", "1, 2, 3, 4"),
               QuantizedTensor("q", "x"), TargetStep("t", "opset1.Transpose", "%q, %order"),
               QuantizedTensor("r", "t"), TargetStep("c", operation, inputs, attributes), TargetResult("c")},
              "[1,2,2,2]");
    return text.find("(Transpose Const Const Const Const)") != std::string::npos;
  };
  const std::string window = "strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]",
                    pooling = window + ", kernel = [1, 1]", dilated = window + ", dilations = [1, 1]";
  EXPECT_TRUE(stays("opset1.Convolution", "%r, %w", dilated));
  EXPECT_FALSE(stays("opset1.Convolution", "%y, %r", dilated));
  EXPECT_TRUE(stays("opset1.GroupConvolution", "%r, %g", dilated));
  EXPECT_TRUE(stays("opset1.ConvolutionBackpropData", "%r, %b", dilated));
  EXPECT_TRUE(stays("opset1.MatMul", "%r, %m"));
  EXPECT_FALSE(stays("opset1.MatMul", "%m, %r"));
  EXPECT_TRUE(stays("opset1.MaxPool", "%r", pooling));
  EXPECT_FALSE(stays("opset1.AvgPool", "%r", pooling + ", exclude-pad = false"));
  EXPECT_TRUE(stays("opset1.FakeQuantize", "%r, %zero, %two, %zero, %two", "levels = 256"));
  EXPECT_FALSE(stays("opset1.Add", "%r, %x"));
}

TEST_F(RepeatedTest, PartsOfAConcatAreQuantized) {
  const std::string pool =
      TargetStep("p", "opset1.MaxPool", "%x",
                 "strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [1, 1]");
  const auto join = [](const std::string& parts, int axis = 1) {
    return TargetStep("c", "opset1.Concat", parts, fmt::format("axis = {}", axis));
  };
  const auto has_quantized_parts = [&](llvm::ArrayRef<std::string> steps) {
    return After("QuantizeConcatParts", steps, "[1,2,4,4]").find("ReLU[1,4,4,4](Concat)") !=
           std::string::npos;
  };
  const std::string part = QuantizedTensor("q", "p"), whole = QuantizedTensor("r", "c", "two"),
                    relu = Relu("a", "r");
  const std::string result = TargetResult("a");
  EXPECT_TRUE(has_quantized_parts({pool, part, join("%q, %q"), whole, relu, result}));
  EXPECT_TRUE(has_quantized_parts({pool, part, join("%q, %q", -3), whole, relu, result}));
  EXPECT_EQ(graph_->num_nodes(), 11u);  // a quantization for each part
  // Another axis, a part that is not quantized, row-major parts, two consumers, a result.
  EXPECT_EQ(After("QuantizeConcatParts", {pool, part, join("%q, %q", 2), whole, relu, result}, "[1,2,4,4]")
                .find("ReLU[1,2,8,4](Concat)"),
            std::string::npos);
  EXPECT_FALSE(has_quantized_parts({pool, part, join("%q, %p"), whole, relu, result}));
  EXPECT_FALSE(has_quantized_parts({QuantizedTensor("q", "x"), join("%q, %q"), whole, relu, result}));
  EXPECT_FALSE(
      has_quantized_parts({pool, part, join("%q, %q"), whole, relu, result, "  opset1.Result \"z\" (%c)\n"}));
  EXPECT_FALSE(
      has_quantized_parts({pool, part, join("%q, %q"), whole, relu, result, "  opset1.Result \"z\" (%r)\n"}));
}

// ---- selection ----

class TargetPipelineTest : public TransformTest {
 protected:
  static constexpr const char* kProduct =
      R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [3]} : f32[3]
  %1 = opset1.Const "w" : f32[3,2] = dense<f32[3,2]: 1, 2, 3, 4, 5, 6>
  %2 = opset1.MatMul "p" (%0, %1) : f32[2]
  opset1.Result "y" (%2)
)";
  static constexpr const char* kName = "target.ConvertVectorsToMatrices";

  // Returns whether the requested transformations change the graph.
  bool Changes(const Names& requested, PipelineOptions options, bool enabled = true) {
    auto list = std::make_shared<TransformationList>(StandardTransformations());
    list->Find(kName)->enabled = enabled;
    Emitter emitter;
    options.verify = true;
    std::optional<Pipeline> pipeline = Pipeline::Make(*list, std::move(options), emitter);
    if (!pipeline) return false;
    const auto graph = Parse(kProduct);
    const std::string before = Brief(*graph);
    EXPECT_TRUE(TargetPipeline(list, *pipeline).Run(requested, {}, *graph, emitter));
    return Brief(*graph) != before;
  }
};

TEST_F(TargetPipelineTest, RequestedTransformationsRun) {
  EXPECT_TRUE(Changes({kName}, {}));
  EXPECT_FALSE(Changes({}, {}));
  EXPECT_FALSE(Changes({"target.TransposeLeftOperands"}, {}));
  EXPECT_FALSE(Changes({kName}, {}, /*enabled=*/false));
  EXPECT_TRUE(Changes({kName}, {.only = {kName}}, /*enabled=*/false));
  EXPECT_FALSE(Changes({kName}, {.only = {"target.TransposeLeftOperands"}}));
}

TEST_F(TargetPipelineTest, StopAfterAnEarlierPhaseSkipsTheTargetPhase) {
  EXPECT_FALSE(Changes({kName}, {.stop_after = "BackFinish"}));
  EXPECT_FALSE(Changes({kName}, {.stop_after = "TargetStart"}));
  EXPECT_TRUE(Changes({kName}, {.stop_after = kName}));
  EXPECT_TRUE(Changes({kName}, {.stop_after = "TargetFinish"}));
}

TEST_F(TargetPipelineTest, OtherPhasesSkipTargetTransformations) {
  const auto graph = Parse(kProduct);
  const std::string before = Brief(*graph);
  EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kAfterLowering, {.only = {kName}}), "");
  EXPECT_EQ(Brief(*graph), before);
}

// A plan has its own graph for each body.
TEST_F(TargetPipelineTest, BodiesAreSkipped) {
  const auto graph = Parse(R"(  %0 = opset1.Parameter "c" {element_type = boolean, shape = []} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = [3]} : f32[3]
  %2 = opset8.If "i" (%0, %1) : f32[] bodies {
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = [3]} : f32[3]
      %1 = opset1.MatMul "p" (%0, %0) : f32[]
      opset1.Result "o" (%1)
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "b" {element_type = f32, shape = [3]} : f32[3]
      %1 = opset1.MatMul "q" (%0, %0) : f32[]
      opset1.Result "o" (%1)
    }
  }
  opset1.Result "y" (%2)
)");
  ASSERT_NE(graph, nullptr);
  const std::string before = ir::PrintGraph(*graph);
  EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kTarget, {.only = {kName}}), "");
  EXPECT_EQ(ir::PrintGraph(*graph), before);
}

}  // namespace
}  // namespace nnefc::transform::target

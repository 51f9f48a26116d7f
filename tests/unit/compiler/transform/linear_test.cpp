// Constant factors and terms that filters, matrices and each other absorb.

#include "compiler/ir/algorithms/infer.h"
#include "compiler/transform/pipeline/standard.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class LinearTest : public TransformTest {
 protected:
  void Fuse(const std::string& name, const std::string& text) {
    const TransformationList list = StandardTransformations();
    graph_ = Parse(text);
    ASSERT_NE(graph_, nullptr);
    EXPECT_EQ(Run(list, *graph_, Side::kAfterLowering, {.only = {name, "middle.RemoveUnneeded"}}), "");
  }
  // Returns the elements of the constant with that name.
  std::vector<double> Elements(const std::string& name) {
    for (ir::NodeId id : graph_->nodes()) {
      const ir::Node& node = graph_->node(id);
      if (node.name() != name) continue;
      std::vector<double> elements;
      for (int64_t i = 0; i < node.output().value->volume(); ++i)
        elements.push_back(node.output().value->ElementAsDouble(i));
      return elements;
    }
    ADD_FAILURE() << "there is no constant `" << name << "`: " << Brief(*graph_);
    return {};
  }

  std::unique_ptr<ir::Graph> graph_;
};

// ---- convolutions ----

class ScaledConvolution : public LinearTest {
 protected:
  // Returns the graph after a filter of two output channels with two elements each, and the statements; %9 is
  // the result.
  std::string After(const std::string& statements) {
    Fuse("middle.FuseScaleIntoConvolution",
         R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [1,2,3,3]} : f32[1,2,3,3]
  %1 = opset1.Const "w" : f32[2,2,1,1] = dense<f32[2,2,1,1]: 1.0, 2.0, 3.0, 4.0>
  %2 = opset1.Convolution "c" (%0, %1) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[1,2,3,3]
)" + statements +
             "  opset1.Result \"y\" (%9)\n");
    return Brief(*graph_);
  }
  static std::string Channels(int id, const std::string& name, const std::string& elements) {
    return fmt::format("  %{} = opset1.Const \"{}\" : f32[1,2,1,1] = dense<f32[1,2,1,1]: {}>\n", id, name,
                       elements);
  }
  static std::string Binary(int id, const std::string& operation, const std::string& name, int a, int b) {
    return fmt::format("  %{} = opset1.{} \"{}\" (%{}, %{}) : f32[1,2,3,3] as [\"{}\"]\n", id, operation,
                       name, a, b, name);
  }
  const std::string folded_ = "Parameter(x) Const(w/scaled) Convolution(m: x, w/scaled) Result(y: m)";
};

TEST_F(ScaledConvolution, FactorsOfChannels) {
  EXPECT_EQ(After(Channels(3, "s", "0.5, 10.0") + Binary(9, "Multiply", "m", 2, 3)), folded_);
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{0.5, 1, 30, 40}));
  EXPECT_EQ(After(Channels(3, "s", "0.5, 10.0") + Binary(9, "Multiply", "m", 3, 2)), folded_);
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{0.5, 1, 30, 40}));
}

TEST_F(ScaledConvolution, OneFactorAndDivisors) {
  const std::string two = "  %3 = opset1.Const \"s\" : f32[] = dense<f32[]: 2.0>\n";
  EXPECT_EQ(After(two + Binary(9, "Multiply", "m", 2, 3)), folded_);
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(After(two + Binary(9, "Divide", "m", 2, 3)), folded_);
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{0.5, 1, 1.5, 2}));
  EXPECT_NE(After(two + Binary(9, "Divide", "m", 3, 2)), folded_);
}

TEST_F(ScaledConvolution, TheBiasIsScaledToo) {
  EXPECT_EQ(After(Channels(3, "b", "1.0, 2.0") + Binary(4, "Add", "a", 2, 3) + Channels(5, "s", "0.5, 10.0") +
                  Binary(9, "Multiply", "m", 4, 5)),
            "Parameter(x) Const(w/scaled) Convolution(c: x, w/scaled) Const(m/shift) Add(m: c, m/shift) "
            "Result(y: m)");
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{0.5, 1, 30, 40}));
  EXPECT_EQ(Elements("m/shift"), (std::vector<double>{0.5, 20}));
  // The value named `a` is no longer computed.
  EXPECT_EQ(graph_->output(graph_->node(graph_->results()[0]).input(0)).names,
            (std::vector<std::string>{"m"}));
}

std::string BatchNorm(const std::string& variance) {
  return R"(  %3 = opset1.Const "gamma" : f32[2] = dense<f32[2]: 1.0, 2.0>
  %4 = opset1.Const "beta" : f32[2] = dense<f32[2]: 5.0, 6.0>
  %5 = opset1.Const "mean" : f32[2] = dense<f32[2]: 1.0, 3.0>
  %6 = opset1.Const "variance" : f32[2] = dense<f32[2]: )" +
         variance + R"(>
  %9 = opset5.BatchNormInference "m" (%2, %3, %4, %5, %6) {epsilon = 0.25} : f32[1,2,3,3]
)";
}

TEST_F(ScaledConvolution, BatchNormalization) {
  // Scales 1 / sqrt(0.25), 2 / sqrt(4).
  EXPECT_EQ(After(BatchNorm("0.0, 3.75")),
            "Parameter(x) Const(w/scaled) Convolution(c: x, w/scaled) Const(m/shift) Add(m: c, m/shift) "
            "Result(y: m)");
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{2, 4, 3, 4}));
  EXPECT_EQ(Elements("m/shift"), (std::vector<double>{3, 3}));
}

TEST_F(ScaledConvolution, WhatIsNotFiniteStays) {
  // A variance below the epsilon, one that is its opposite, factors that are infinite.
  EXPECT_NE(After(BatchNorm("-1.0, 1.0")).find("BatchNormInference"), std::string::npos);
  EXPECT_NE(After(BatchNorm("-0.25, 1.0")).find("BatchNormInference"), std::string::npos);
  for (const char* factors : {"1.0, inf", "0x0000c07f0000803f", "3e38, 3e38"}) {
    EXPECT_NE(After(Channels(3, "s", factors) + Binary(9, "Multiply", "m", 2, 3)).find("Multiply(m: c, s)"),
              std::string::npos)
        << factors;
  }
  EXPECT_NE(After(Channels(3, "s", "1.0, 0.0") + Binary(9, "Divide", "m", 2, 3)).find("Divide(m: c, s)"),
            std::string::npos);
  // Factors that would lose all bits.
  EXPECT_NE(After(Channels(3, "s", "1e-37, 1e-37") + Binary(9, "Multiply", "m", 2, 3)).find("Multiply(m"),
            std::string::npos);
}

// One element that a factor makes infinite, wherever it is.
TEST_F(LinearTest, FiltersOfSixteenElementsAndMore) {
  const auto after = [&](int channels, int large) {
    std::string elements;
    for (int i = 0; i < 2 * channels; ++i)
      elements += fmt::format("{}{}", i == 0 ? "" : ", ", i == large ? "-3e38" : "1.5");
    const std::string filter = fmt::format("f32[2,{},1,1]", channels),
                      x = fmt::format("[1,{},3,3]", channels);
    Fuse(
        "middle.FuseScaleIntoConvolution",
        "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = " + x + "} : f32" + x +
            "\n  %1 = opset1.Const \"w\" : " + filter + " = dense<" + filter + ": " + elements +
            ">\n  %2 = opset1.Convolution \"c\" (%0, %1) {strides = [1, 1], dilations = [1, 1], pads_begin = "
            "[0, 0], pads_end = [0, 0]} : f32[1,2,3,3]\n  %3 = opset1.Const \"s\" : f32[1,2,1,1] = "
            "dense<f32[1,2,1,1]: 10.0, 10.0>\n  %4 = opset1.Multiply \"m\" (%2, %3) : f32[1,2,3,3] as "
            "[\"m\"]\n  opset1.Result \"y\" (%4)\n");
    return Brief(*graph_);
  };
  const std::string folded = "Parameter(x) Const(w/scaled) Convolution(m: x, w/scaled) Result(y: m)";
  for (const int channels : {7, 8, 9, 16, 17}) {
    EXPECT_EQ(after(channels, -1), folded) << channels;
    EXPECT_EQ(Elements("w/scaled"), std::vector<double>(static_cast<size_t>(2 * channels), 15.0)) << channels;
    for (int large = 0; large < 2 * channels; ++large)
      EXPECT_NE(after(channels, large).find("Multiply(m: c, s)"), std::string::npos)
          << channels << " " << large;
  }
}

TEST_F(ScaledConvolution, NearMissesStay) {
  const std::string scale = Channels(3, "s", "0.5, 10.0");
  const auto stays = [&](const std::string& statements) {
    return After(statements).find("Multiply(m: ") != std::string::npos;
  };
  // Read elsewhere, before and after the bias.
  EXPECT_TRUE(stays(scale + Binary(4, "Multiply", "m", 2, 3) + Binary(9, "Add", "z", 2, 4)));
  EXPECT_TRUE(stays(Channels(4, "b", "1.0, 2.0") + Binary(5, "Add", "a", 2, 4) + scale +
                    Binary(6, "Multiply", "m", 5, 3) + Binary(9, "Add", "z", 2, 6)));
  // Along another axis, computed at run time, or after a sum of two tensors.
  EXPECT_TRUE(stays("  %3 = opset1.Const \"s\" : f32[3,1] = dense<f32[3,1]: 1.0, 2.0, 3.0>\n" +
                    Binary(9, "Multiply", "m", 2, 3)));
  EXPECT_TRUE(stays("  %3 = opset1.Parameter \"s\" {element_type = f32, shape = [1,2,1,1]} : f32[1,2,1,1]\n" +
                    Binary(9, "Multiply", "m", 2, 3)));
  EXPECT_TRUE(stays(Binary(4, "Add", "a", 2, 0) + scale + Binary(9, "Multiply", "m", 4, 3)));
  // After another operation.
  EXPECT_TRUE(
      stays("  %4 = opset1.ReLU \"r\" (%2) : f32[1,2,3,3]\n" + scale + Binary(9, "Multiply", "m", 4, 3)));
}

TEST_F(LinearTest, FactorsOfGroupedConvolutions) {
  Fuse("middle.FuseScaleIntoConvolution",
       R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [1,2,3,3]} : f32[1,2,3,3]
  %1 = opset1.Const "w" : f32[2,2,1,1,1] = dense<f32[2,2,1,1,1]: 1.0, 2.0, 3.0, 4.0>
  %2 = opset1.GroupConvolution "c" (%0, %1) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[1,4,3,3]
  %3 = opset1.Const "s" : f32[4,1,1] = dense<f32[4,1,1]: 1.0, 10.0, 100.0, 1000.0>
  %4 = opset1.Multiply "m" (%2, %3) : f32[1,4,3,3]
  opset1.Result "y" (%4)
)");
  EXPECT_EQ(Brief(*graph_), "Parameter(x) Const(w/scaled) GroupConvolution(m: x, w/scaled) Result(y: m)");
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{1, 20, 300, 4000}));
}

// Channels along the second axis of a filter, of each group.
TEST_F(LinearTest, FactorsOfTransposedConvolutions) {
  const auto scaled = [&](const std::string& filter, const std::string& operation,
                          const std::string& factors) {
    Fuse("middle.FuseScaleIntoConvolution",
         "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [1,2,3,3]} : f32[1,2,3,3]\n  %1 = "
         "opset1.Const \"w\" : f32" +
             filter + " = dense<f32" + filter + ": 1.0, 2.0, 3.0, 4.0>\n  %2 = opset1." + operation +
             " \"c\" (%0, %1) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} "
             ": "
             "f32[...]\n  %3 = opset1.Const \"s\" : f32" +
             factors + ">\n  %4 = opset1.Multiply \"m\" (%2, %3) : f32[...]\n  opset1.Result \"y\" (%4)\n");
    return Elements("w/scaled");
  };
  EXPECT_EQ(scaled("[2,2,1,1]", "ConvolutionBackpropData", "[2,1,1] = dense<f32[2,1,1]: 1.0, 10.0"),
            (std::vector<double>{1, 20, 3, 40}));
  EXPECT_EQ(scaled("[2,1,2,1,1]", "GroupConvolutionBackpropData",
                   "[4,1,1] = dense<f32[4,1,1]: 1.0, 10.0, 100.0, 1000.0"),
            (std::vector<double>{1, 20, 300, 4000}));
}

// A filter in a narrow type keeps that type.
TEST_F(ScaledConvolution, FiltersInNarrowTypes) {
  const auto after = [&](const std::string& filter, const std::string& factors) {
    Fuse(
        "middle.FuseScaleIntoConvolution",
        "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [1,2,3,3]} : f32[1,2,3,3]\n" + filter +
            R"(  %2 = opset1.Convolution "c" (%0, %13) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[1,2,3,3]
)" + Channels(3, "s", factors) +
            Binary(9, "Multiply", "m", 2, 3) + "  opset1.Result \"y\" (%9)\n");
    return Brief(*graph_);
  };
  const std::string half = R"(  %1 = opset1.Const "w" : f16[2,2,1,1] = dense<f16[2,2,1,1]: 1.0, 2.0, 3.0, 4.0>
  %13 = opset1.Convert "f" (%1) {destination_type = f32} : f32[2,2,1,1]
)";
  EXPECT_EQ(after(half, "0.5, 10.0"),
            "Parameter(x) Const(w) Convert(f: w) Const(f/factors) Multiply(f/scaled: f, f/factors) "
            "Convolution(m: x, f/scaled) Result(y: m)");
  EXPECT_EQ(Elements("f/factors"), (std::vector<double>{0.5, 10}));
  EXPECT_NE(after(half, "0.5, 1e30").find("Multiply(m: c, s)"), std::string::npos);
  // Quantized results: the range of the results.
  const std::string bounds =
      "  %10 = opset1.Const \"l\" : f32[] = dense<f32[]: -4.0>\n"
      "  %11 = opset1.Const \"h\" : f32[2,1,1,1] = dense<f32[2,1,1,1]: 2.0, 4.0>\n";
  const auto quantized = [&](const std::string& of, const std::string& low) {
    return bounds + "  %13 = opset1.FakeQuantize \"f\" (" + of + ", %10, %11, " + low +
           ", %11) {levels = 16} : f32[2,2,1,1]\n";
  };
  const std::string whole =
      "  %1 = opset1.Const \"w\" : f32[2,2,1,1] = dense<f32[2,2,1,1]: 1.0, 2.0, 3.0, 4.0>\n";
  EXPECT_EQ(
      after(whole + quantized("%1", "%10"), "0.5, -10.0"),
      "Parameter(x) Const(w) Const(l) Const(h) Const(f/low) Const(f/high) FakeQuantize(f/scaled: w, l, h, "
      "f/low, f/high) Convolution(m: x, f/scaled) Result(y: m)");
  EXPECT_EQ(Elements("f/low"), (std::vector<double>{-2, 40}));
  EXPECT_EQ(Elements("f/high"), (std::vector<double>{1, -40}));
  // Computed at run time, or with a range that is computed at run time.
  const std::string free =
      "  %1 = opset1.Parameter \"w\" {element_type = f32, shape = [2,2,1,1]} : f32[2,2,1,1]\n";
  EXPECT_NE(after(free + quantized("%1", "%10"), "0.5, 10.0").find("Multiply(m: c, s)"), std::string::npos);
  EXPECT_NE(after(whole + "  %12 = opset1.Parameter \"q\" {element_type = f32, shape = []} : f32[]\n" +
                      quantized("%1", "%12"),
                  "0.5, 10.0")
                .find("Multiply(m: c, s)"),
            std::string::npos);
}

// Extents that are known at run time.
TEST_F(LinearTest, FactorsOfOpenExtents) {
  Fuse("middle.FuseScaleIntoConvolution",
       R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [?,1,?,?]} : f32[?,1,?,?]
  %1 = opset1.Const "w" : f32[2,1,1,1] = dense<f32[2,1,1,1]: 1.0, 2.0>
  %2 = opset1.Convolution "c" (%0, %1) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[?,2,?,?]
  %3 = opset1.Const "s" : f32[2,1,1] = dense<f32[2,1,1]: 3.0, 5.0>
  %4 = opset1.Multiply "m" (%2, %3) : f32[?,2,?,?]
  opset1.Result "y" (%4)
)");
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{3, 10}));
}

class ReadMatrix : public LinearTest {
 protected:
  // Returns the number of reads of a matrix with 64 rows when it absorbs a factor.
  int ReadsOfMatrix(int64_t outputs, float factor) {
    ir::Graph graph(&ir::StandardOps());
    const ir::NodeId x = ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape{2, 64});
    int reads = 0;
    const auto fill = [&reads, outputs](std::byte* out) {
      ++reads;
      std::fill_n(reinterpret_cast<float*>(out), 64 * outputs, 1.0F);
    };
    const TensorValue weights(ElementType::kF32, {64, outputs},
                              Buffer::Computed(static_cast<size_t>(256 * outputs), fill));
    ir::AttributeMap attributes;
    for (const char* name : {"transpose_a", "transpose_b"}) attributes.Set(name, false);
    const ir::NodeId product = ir::AddNode(
        graph, "opset1", "MatMul",
        {.name = "p", .inputs = {{x, 0}, {ir::AddConst(graph, weights, "w"), 0}}, .attributes = attributes});
    const ir::NodeId scale = ir::AddConst(graph, TensorValue::FromFloats({1}, {factor}), "s");
    const ir::NodeId scaled =
        ir::AddNode(graph, "opset1", "Multiply", {.name = "m", .inputs = {{product, 0}, {scale, 0}}});
    ir::AddResult(graph, "y", {scaled, 0});
    Emitter emitter;
    EXPECT_TRUE(ir::InferGraph(graph, emitter));
    const TransformationList list = StandardTransformations();
    EXPECT_EQ(Run(list, graph, Side::kAfterLowering, {.only = {"middle.FuseScaleIntoMatMul"}}), "");
    EXPECT_EQ(Brief(graph).find("Multiply"), std::string::npos) << Brief(graph);
    return reads;
  }
};

TEST_F(ReadMatrix, OnlyForFactorsThatAreNotPlain) {
  EXPECT_EQ(ReadsOfMatrix(64, 0x1p40F), 0);
  EXPECT_EQ(ReadsOfMatrix(64, -0x1p-40F), 0);
  EXPECT_GT(ReadsOfMatrix(64, 0x1p41F), 0);
  EXPECT_GT(ReadsOfMatrix(64, 0x1p-41F), 0);
  EXPECT_GT(ReadsOfMatrix(63, 2), 0);
}

// Large filters are multiplied when they are read, in steps of any size; small ones at once.
TEST_F(LinearTest, LargeFiltersStayToBeComputed) {
  graph_ = std::make_unique<ir::Graph>(&ir::StandardOps());
  constexpr int64_t kInputs = 70, kOutputs = 90;
  const ir::NodeId x = ir::AddParameter(*graph_, "x", ElementType::kF32, ir::PartialShape{1, kInputs, 3, 3});
  const TensorValue weights =
      TensorValue::Make<float>(ElementType::kF32, {kOutputs, kInputs, 1, 1}, [](std::span<float> out) {
        for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(i % 101) - 50;
      });
  ir::AttributeMap attributes;
  for (const char* name : {"strides", "dilations"}) attributes.Set(name, ir::Attribute::Integers{1, 1});
  for (const char* name : {"pads_begin", "pads_end"}) attributes.Set(name, ir::Attribute::Integers{0, 0});
  const auto scale = [&](const char* name, int64_t channels, double base) {
    const TensorValue factors =
        TensorValue::Make<float>(ElementType::kF32, {1, channels, 1, 1}, [&](std::span<float> out) {
          for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(base + static_cast<double>(i));
        });
    return ir::OutputPort{ir::AddConst(*graph_, factors, name), 0};
  };
  // Factors of the inputs and of the outputs.
  const auto multiply = [&](const char* name, ir::OutputPort a, ir::OutputPort b) {
    return ir::OutputPort{ir::AddNode(*graph_, "opset1", "Multiply", {.name = name, .inputs = {a, b}}), 0};
  };
  const ir::OutputPort before = multiply("b", {x, 0}, scale("i", kInputs, 0.5));
  const ir::NodeId convolution = ir::AddNode(
      *graph_, "opset1", "Convolution",
      {.name = "c", .inputs = {before, {ir::AddConst(*graph_, weights, "w"), 0}}, .attributes = attributes});
  ir::AddResult(*graph_, "y", multiply("m", {convolution, 0}, scale("o", kOutputs, -3)));
  Emitter emitter;
  ASSERT_TRUE(ir::InferGraph(*graph_, emitter));
  const TransformationList list = StandardTransformations();
  ASSERT_EQ(Run(list, *graph_), "");
  ASSERT_EQ(Brief(*graph_).find("Multiply"), std::string::npos) << Brief(*graph_);
  for (ir::NodeId id : graph_->nodes()) {
    const ir::Node& node = graph_->node(id);
    if (!node.Is(ir::OpRole::kConst) || node.output().value->volume() != weights.volume()) continue;
    EXPECT_TRUE(node.output().value->buffer()->IsToCompute());
    const TensorValue loaded = node.output().value->Loaded();
    EXPECT_TRUE(node.output().value->buffer()->IsToCompute());
    for (int64_t i = 0; i < weights.volume(); ++i) {
      const int64_t input = i % kInputs, output = i / kInputs;
      const double expected = static_cast<double>(i % 101 - 50) * (static_cast<double>(input) + 0.5) *
                              (static_cast<double>(output) - 3);
      ASSERT_EQ(loaded.ElementAsDouble(i), expected) << i;
    }
  }
}

// ---- matrices ----

class ScaledMatMul : public LinearTest {
 protected:
  std::string After(const std::string& matrix, const std::string& transposed, const std::string& factors) {
    Fuse("middle.FuseScaleIntoMatMul",
         "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [4,2]} : f32[4,2]\n"
         "  %1 = opset1.Const \"w\" : " +
             matrix + "\n  %2 = opset1.MatMul \"p\" (%0, %1) {transpose_a = false, transpose_b = " +
             transposed + "} : f32[4,3]\n  %3 = opset1.Const \"s\" : " + factors +
             "\n  %4 = opset1.Multiply \"m\" (%2, %3) : f32[4,3]\n  opset1.Result \"y\" (%4)\n");
    return Brief(*graph_);
  }
  const std::string folded_ = "Parameter(x) Const(w/scaled) MatMul(m: x, w/scaled) Result(y: m)";
  const std::string rows_ = "f32[2,3] = dense<f32[2,3]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>";
  const std::string columns_ = "f32[3,2] = dense<f32[3,2]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>";
};

TEST_F(ScaledMatMul, FactorsOfColumns) {
  const std::string factors = "f32[3] = dense<f32[3]: 1.0, 10.0, 100.0>";
  EXPECT_EQ(After(rows_, "false", factors), folded_);
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{1, 20, 300, 4, 50, 600}));
  EXPECT_EQ(After(columns_, "true", factors), folded_);
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{1, 2, 30, 40, 500, 600}));
  EXPECT_EQ(After(rows_, "false", "f32[1,1] = dense<f32[1,1]: 2.0>"), folded_);
}

TEST_F(ScaledMatMul, FactorsOfRowsStay) {
  const std::string made = After(rows_, "false", "f32[4,1] = dense<f32[4,1]: 1.0, 2.0, 3.0, 4.0>");
  EXPECT_EQ(made, "Parameter(x) Const(w) MatMul(p: x, w) Const(s) Multiply(m: p, s) Result(y: m)");
}

// ---- readers ----

class ScaledInput : public LinearTest {
 protected:
  // Returns the elements of the filter after `x`, [1,2,3,3], was scaled by 10 and 100.
  std::string After(const std::string& filter, const std::string& operation, const std::string& result = "%9",
                    const std::string& scale = "Multiply", const std::string& extents = "[2,1,1]") {
    Fuse("middle.FuseScaleIntoFollowing",
         "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [1,2,3,3]} : f32[1,2,3,3]\n  %1 = "
         "opset1.Const \"s\" : f32" +
             extents + " = dense<f32" + extents + ": 10.0, 100.0>\n  %2 = opset1." + scale +
             " \"m\" (%0, %1) : f32[...]\n  %3 = opset1.Const \"w\" : f32" + filter + " = dense<f32" +
             filter + ": 1.0, 2.0, 3.0, 4.0>\n  %9 = opset1." + operation +
             " \"c\" (%2, %3) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} "
             ": "
             "f32[...]\n  %10 = opset1.Add \"z\" (%9, " +
             result + ") : f32[...]\n  opset1.Result \"y\" (%10)\n");
    return Brief(*graph_);
  }
};

TEST_F(ScaledInput, FactorsOfInputChannels) {
  EXPECT_EQ(After("[2,2,1,1]", "Convolution"),
            "Parameter(x) Const(w/scaled) Convolution(c: x, w/scaled) Add(z: c, c) Result(y: z)");
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{10, 200, 30, 400}));
  After("[2,2,1,1,1]", "GroupConvolution");
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{10, 20, 300, 400}));
  After("[2,2,1,1]", "ConvolutionBackpropData");
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{10, 20, 300, 400}));
  After("[2,1,2,1,1]", "GroupConvolutionBackpropData");
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{10, 20, 300, 400}));
}

TEST_F(ScaledInput, WhatIsReadElsewhereOrOfAnotherAxisStays) {
  const auto stays = [](const std::string& brief) { return brief.find("(m: x, s)") != std::string::npos; };
  EXPECT_FALSE(stays(After("[2,2,1,1]", "Convolution", "%9", "Divide")));
  EXPECT_TRUE(stays(After("[2,2,1,1]", "Convolution", "%2")));
  // A term has no effect in the padding of a window.
  EXPECT_TRUE(stays(After("[2,2,1,1]", "Convolution", "%9", "Add")));
  EXPECT_TRUE(stays(After("[2,2,1,1]", "Convolution", "%9", "Multiply", "[2,1,1,1]")));
}

TEST_F(LinearTest, FactorsOfRowsOfTheMatrix) {
  const auto after = [&](const char* a, const char* b, const char* factors) {
    Fuse(
        "middle.FuseScaleIntoFollowing",
        fmt::format("  %0 = opset1.Parameter \"x\" {{element_type = f32, shape = [2,2]}} : f32[2,2]\n  %1 = "
                    "opset1.Const \"s\" : f32{} = dense<f32{}: 10.0, 100.0>\n  %2 = opset1.Multiply \"m\" "
                    "(%1, %0) : f32[2,2]\n  %3 = opset1.Const \"w\" : f32[2,2] = dense<f32[2,2]: 1.0, 2.0, "
                    "3.0, 4.0>\n  %4 = opset1.MatMul \"p\" (%2, %3) {{transpose_a = {}, transpose_b = {}}} : "
                    "f32[2,2]\n  opset1.Result \"y\" (%4)\n",
                    factors, factors, a, b));
    return Brief(*graph_);
  };
  EXPECT_EQ(after("false", "false", "[2]"),
            "Parameter(x) Const(w/scaled) MatMul(p: x, w/scaled) Result(y: p)");
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{10, 20, 300, 400}));
  after("false", "true", "[1,2]");
  EXPECT_EQ(Elements("w/scaled"), (std::vector<double>{10, 200, 30, 400}));
  EXPECT_NE(after("true", "false", "[2]").find("Multiply("), std::string::npos);
  EXPECT_NE(after("false", "false", "[2,1]").find("Multiply("), std::string::npos);
}

// ---- sequences ----

class Sequence : public LinearTest {
 protected:
  std::string After(const std::string& first, const std::string& a, const std::string& second,
                    const std::string& b, const std::string& last = "%4") {
    Fuse("middle.FuseConstantSequence",
         "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2,3]} : f32[2,3]\n  %1 = opset1.Const "
         "\"a\" : " +
             a + "\n  %2 = opset1." + first + " \"m\" (%0, %1) : f32[2,3]\n  %3 = opset1.Const \"b\" : " + b +
             "\n  %4 = opset1." + second + " \"n\" (%3, %2) : f32[2,3]\n  %5 = opset1.Add \"z\" (%4, " +
             last + ") : f32[2,3]\n  opset1.Result \"y\" (%5)\n");
    return Brief(*graph_);
  }
  static std::string One(const std::string& element) { return "f32[] = dense<f32[]: " + element + ">"; }
  const std::string row_ = "f32[3] = dense<f32[3]: 1.0, 2.0, 4.0>";
  const std::string column_ = "f32[2,1] = dense<f32[2,1]: 1.0, 2.0>";
  const std::string all_ = "f32[2,3] = dense<f32[2,3]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0>";
};

TEST_F(Sequence, FactorsAndTermsAreOne) {
  const std::string one =
      "Parameter(x) Const(n/constant) Multiply(n: n/constant, x) Add(z: n, n) Result(y: z)";
  EXPECT_EQ(After("Multiply", One("3.0"), "Multiply", row_), one);
  EXPECT_EQ(Elements("n/constant"), (std::vector<double>{3, 6, 12}));
  EXPECT_EQ(After("Multiply", all_, "Multiply", column_), one);
  EXPECT_EQ(Elements("n/constant"), (std::vector<double>{1, 2, 3, 8, 10, 12}));
  EXPECT_EQ(After("Multiply", row_, "Multiply", all_), one);
  EXPECT_EQ(Elements("n/constant"), (std::vector<double>{1, 4, 12, 4, 10, 24}));
  EXPECT_EQ(After("Add", row_, "Add", One("3.0")),
            "Parameter(x) Const(n/constant) Add(n: n/constant, x) Add(z: n, n) Result(y: z)");
  EXPECT_EQ(Elements("n/constant"), (std::vector<double>{4, 5, 7}));
}

TEST_F(Sequence, FactorsGoBeforeATerm) {
  const auto after = [&](const std::string& first, const std::string& factor, const std::string& result) {
    Fuse("middle.FuseConstantSequence",
         "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2,3]} : f32[2,3]\n  %1 = opset1.Const "
         "\"a\" : " +
             row_ + "\n  %2 = opset1." + first +
             " \"m\" (%0, %1) : f32[2,3] as [\"m\"]\n  %3 = opset1.Const \"b\" : " + One("3.0") +
             "\n  %4 = opset1.Add \"n\" (%2, %3) : f32[2,3] as [\"n\"]\n  %5 = opset1.Const \"c\" : " +
             factor +
             "\n  %6 = opset1.Multiply \"y\" (%4, %5) : f32[2,3] as [\"y\"]\n  opset1.Result \"out\" (" +
             result + ")\n");
    return Brief(*graph_);
  };
  EXPECT_EQ(after("Multiply", row_, "%6"),
            "Parameter(x) Const(y/factors) Multiply(m: x, y/factors) Const(y/terms) Add(y: m, y/terms) "
            "Result(out: y)");
  EXPECT_EQ(Elements("y/factors"), (std::vector<double>{1, 4, 16}));
  EXPECT_EQ(Elements("y/terms"), (std::vector<double>{3, 6, 12}));
  EXPECT_EQ(graph_->output(graph_->node(graph_->results()[0]).input(0)).names,
            (std::vector<std::string>{"y"}));
  // x may be close to the negated term; factors may overflow.
  EXPECT_NE(after("Add", row_, "%6").find("Multiply(y: "), std::string::npos);
  EXPECT_NE(after("Multiply", One("1e20"), "%6").find("Multiply(y: n, c)"), std::string::npos);
  // Factors alone may overflow, or the terms alone.
  const auto product = [&](const std::string& a, const std::string& b) {
    Fuse("middle.FuseConstantSequence",
         "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [2,3]} : f32[2,3]\n  %1 = opset1.Const "
         "\"a\" "
         ": " +
             One(a) + "\n  %2 = opset1.Multiply \"m\" (%0, %1) : f32[2,3]\n  %3 = opset1.Const \"b\" : " +
             One(b) + "\n  %4 = opset1.Add \"n\" (%2, %3) : f32[2,3]\n  %5 = opset1.Const \"c\" : " + row_ +
             "\n  %6 = opset1.Multiply \"y\" (%4, %5) : f32[2,3]\n  opset1.Result \"out\" (%6)\n");
    return Brief(*graph_);
  };
  EXPECT_EQ(product("2.0", "3.0").find("Multiply(y: n, c)"), std::string::npos);
  EXPECT_NE(product("1e20", "3.0").find("Multiply(y: n, c)"), std::string::npos);
  EXPECT_NE(product("2.0", "1e20").find("Multiply(y: n, c)"), std::string::npos);
}

TEST_F(LinearTest, MatricesGetNamesOfTheirOwn) {
  Fuse("middle.SqueezeConstantMatrix",
       R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [1,3,2]} : f32[1,3,2]
  %1 = opset1.Const "w" : f32[1,2,2] = dense<f32[1,2,2]: 1.0, 2.0, 3.0, 4.0>
  %2 = opset1.MatMul "p" (%0, %1) {transpose_a = false, transpose_b = false} : f32[1,3,2]
  %3 = opset1.MatMul "q" (%2, %1) {transpose_a = false, transpose_b = true} : f32[1,3,2]
  opset1.Result "y" (%3)
)");
  EXPECT_EQ(Brief(*graph_),
            "Parameter(x) Const(w/matrix) MatMul(p: x, w/matrix) Const(w/matrix_2) MatMul(q: p, w/matrix_2) "
            "Result(y: q)");
}

TEST_F(Sequence, WhatIsNotSafeStays) {
  const auto stays = [](const std::string& brief) { return brief.find("(n: b, m)") != std::string::npos; };
  EXPECT_TRUE(stays(After("Add", row_, "Multiply", row_)));
  EXPECT_TRUE(stays(After("Multiply", row_, "Multiply", column_)));       // neither is broadcast to the other
  EXPECT_TRUE(stays(After("Multiply", row_, "Multiply", row_, "%2")));    // read elsewhere
  EXPECT_TRUE(stays(After("Multiply", One("1e-20"), "Multiply", row_)));  // may underflow
  EXPECT_TRUE(stays(After("Multiply", One("1e20"), "Multiply", row_)));   // may overflow
  EXPECT_TRUE(stays(After("Add", One("1e8"), "Add", One("-1e8"))));       // cancel
  EXPECT_TRUE(stays(After("Add", One("inf"), "Add", One("1.0"))));
  EXPECT_TRUE(stays(After("Multiply", One("0x0000c07f"), "Multiply", One("1.0"))));
}

// ---- transposed matrices ----

std::string Transposed(const std::string& order, int of, const std::string& transpose_b) {
  const std::string right = "opset1.Parameter \"w\" {element_type = f32, shape = [4,4,4]}";
  const std::string a = of == 0 ? "%3" : "%0";
  const std::string b = of == 1 ? "%3" : "%1";
  return "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [4,4,4]} : f32[4,4,4]\n  %1 = " + right +
         " : f32[4,4,4]\n  %2 = opset1.Const \"o\" : i64[3] = dense<i64[3]: " + order +
         ">\n  %3 = opset1.Transpose \"t\" (%" + std::to_string(of) +
         ", %2) : f32[?,?,?]\n  %4 = opset1.MatMul \"p\" (" + a + ", " + b +
         ") {transpose_a = false, transpose_b = " + transpose_b +
         "} : f32[4,4,4]\n  opset1.Result \"y\" (%4)\n";
}

TEST_F(LinearTest, TransposesBecomeAttributes) {
  const char* name = "middle.FuseTransposeIntoMatMul";
  const auto attributes = [&] {
    const ir::Node& product = graph_->node(graph_->node(graph_->results()[0]).input(0).node);
    return std::pair(product.Bool("transpose_a"), product.Bool("transpose_b"));
  };
  const std::string bare = "Parameter(x) Parameter(w) MatMul(p: x, w) Result(y: p)";
  Fuse(name, Transposed("0, 2, 1", 1, "false"));
  EXPECT_EQ(Brief(*graph_), bare);
  EXPECT_EQ(attributes(), std::pair(false, true));
  Fuse(name, Transposed("0, 2, 1", 1, "true"));
  EXPECT_EQ(attributes(), std::pair(false, false));
  Fuse(name, Transposed("0, 2, 1", 0, "false"));
  EXPECT_EQ(Brief(*graph_), bare);
  EXPECT_EQ(attributes(), std::pair(true, false));
}

TEST_F(LinearTest, OtherTransposesStay) {
  const char* name = "middle.FuseTransposeIntoMatMul";
  Fuse(name, Transposed("1, 0, 2", 1, "false"));
  EXPECT_NE(Brief(*graph_).find("Transpose("), std::string::npos);
  Fuse(name, Transposed("2, 1, 0", 1, "false"));
  EXPECT_NE(Brief(*graph_).find("Transpose("), std::string::npos);
  // The left operand of a constant matrix, whose layout is chosen once.
  std::string zeros = "0.0";
  for (int i = 1; i < 64; ++i) zeros += ", 0.0";
  std::string text = Transposed("0, 2, 1", 0, "false");
  const std::string parameter = "opset1.Parameter \"w\" {element_type = f32, shape = [4,4,4]} : f32[4,4,4]";
  text.replace(text.find(parameter), parameter.size(),
               "opset1.Const \"w\" : f32[4,4,4] = dense<f32[4,4,4]: " + zeros + ">");
  Fuse(name, text);
  EXPECT_NE(Brief(*graph_).find("Transpose("), std::string::npos);
}

}  // namespace
}  // namespace nnefc::transform

// Shape functions of OpenVINO operations against OpenVINO's own, and the rules that they enforce.

#include <set>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

std::string Infer(std::string op, std::string inputs, std::string attributes = "", std::string results = "") {
  return InferCase({0, std::move(op), std::move(inputs), std::move(attributes), std::move(results)});
}

TEST(OpsetShapes, AreThoseOfOpenVino) {
  const std::vector<ShapeCase> cases = ReadShapeCases("tests/unit/compiler/ir/ops/opset/shape_cases.txt");
  ASSERT_GT(cases.size(), 200u);
  for (const ShapeCase& shape_case : cases) {
    const std::string inferred = InferCase(shape_case);
    if (shape_case.results == "error") {
      EXPECT_TRUE(inferred.starts_with("opset.")) << "line " << shape_case.line << ": " << inferred;
    } else {
      EXPECT_EQ(inferred, shape_case.results) << "line " << shape_case.line << ": " << shape_case.op;
    }
  }
}

// Every operation has a line in the table, except those that only have data or bodies.
TEST(OpsetShapes, TableCoversAllOperations) {
  std::set<std::string> covered{
      "opset1.Parameter", "opset1.Const",  "opset1.Result", "opset3.ReadValue",      "opset3.Assign",
      "opset6.ReadValue", "opset6.Assign", "opset8.If",     "opset1.TensorIterator", "opset5.Loop"};
  for (const ShapeCase& shape_case : ReadShapeCases("tests/unit/compiler/ir/ops/opset/shape_cases.txt")) {
    covered.insert(shape_case.op);
  }
  for (size_t i = 0; i < Opsets().size(); ++i) {
    const OpInfo& info = Opsets().Info(OpId(static_cast<int32_t>(i)));
    EXPECT_TRUE(covered.contains(info.set + "." + info.name)) << info.set << "." << info.name;
  }
}

TEST(OpsetSchema, IsChecked) {
  EXPECT_EQ(Infer("opset1.Add", "f32[2]"), "opset.number-of-inputs");
  EXPECT_EQ(Infer("opset1.Elu", "f32[2]"), "opset.missing-attribute");
  EXPECT_EQ(Infer("opset1.Elu", "f32[2]", "alpha = \"one\""), "opset.attribute-kind");
  EXPECT_EQ(Infer("opset1.Elu", "f32[2]", "alpha = 1"), "f32[2]");
  EXPECT_EQ(Infer("opset1.Add", "f32[2]; f32[2]", "auto_broadcast = \"left\""), "opset.attribute-value");
  // Omitted attributes have OpenVINO's defaults.
  EXPECT_EQ(Infer("opset1.Add", "f32[2]; f32[3,1]"), "f32[3,2]");
  EXPECT_EQ(Infer("opset1.MatMul", "f32[2,3]; f32[3,4]"), "f32[2,4]");
  EXPECT_EQ(Infer("opset1.Convolution", "f32[1,3,8,8]; f32[4,3,3,3]"), "f32[1,4,6,6]");
}

// The properties of each input in its row, independent of the others.
TEST(OpsetSchema, SaysWhatInputsAre) {
  const std::string lrn = "alpha = 1.0, beta = 0.5, bias = 1.0, size = 3";
  EXPECT_EQ(Infer("opset1.LRN", "f32[1,3,4,4]; i64[1] = 1", lrn), "f32[1,3,4,4]");
  EXPECT_EQ(Infer("opset1.LRN", "f32[1,3,4,4]; i64[2,8,33]", lrn), "opset.rank");
  EXPECT_EQ(Infer("opset1.LRN", "f32[1,3,4,4]; i64[]", lrn), "opset.rank");
  EXPECT_EQ(Infer("opset1.LRN", "f32[1,3,4,4]; f32[1]", lrn), "opset.element-type");
  EXPECT_EQ(Infer("opset1.LRN", "i64[1,3,4,4]; i64[1] = 1", lrn), "opset.element-type");
  EXPECT_EQ(Infer("opset1.VariadicSplit", "f32[]; i64[0]; i64[2] = 1 1"), "opset.rank");
  EXPECT_EQ(Infer("opset1.VariadicSplit", "f32[2]; i64[0]; i64[2] = 1 1"), "opset.extent");
  EXPECT_EQ(Infer("opset1.Selu", "f32[2]; f32[1]; f32[]"), "f32[2]");
  EXPECT_EQ(Infer("opset1.Selu", "f32[2]; f32[2]; f32[1]"), "opset.extent");
  EXPECT_EQ(Infer("opset1.NormalizeL2", "f32[2,3]; f32[1]", "eps = 1.0, eps_mode = \"add\""),
            "opset.element-type");
  EXPECT_EQ(Infer("opset6.GatherElements", "f32[2,3]; u8[2,3]", "axis = 0"), "opset.element-type");
}

// One length may be what is left: 0 elements too, and not fewer.
TEST(OpsetShapes, PartThatIsLeft) {
  const std::string data = "f32[2,6]; i64[] = 1; i64[2] = ";
  const auto split = [&](const std::string& lengths, const std::string& results) {
    return Infer("opset1.VariadicSplit", data + lengths, "", results);
  };
  for (const auto& [lengths, results] :
       {std::pair("5 -1", "f32[2,5]; f32[2,1]"), std::pair("6 -1", "f32[2,6]; f32[2,0]"),
        std::pair("-1 6", "f32[2,0]; f32[2,6]"), std::pair("0 -1", "f32[2,0]; f32[2,6]"),
        std::pair("0 6", "f32[2,0]; f32[2,6]")})
    EXPECT_EQ(split(lengths, results), results) << lengths;
  for (const char* lengths : {"7 -1", "-1 7", "-1 -1", "0 5", "0 7"})
    EXPECT_EQ(split(lengths, "f32[2,0]; f32[2,6]"), "opset.extent") << lengths;
  EXPECT_EQ(split("-2 6", "f32[2,0]; f32[2,6]"), "opset.constant-input");
}

// The range of a number, and of each item of a list.
TEST(OpsetSchema, SaysTheRangeOfAttributes) {
  const std::string input = "f32[2,3]; i64[1] = 1";
  EXPECT_EQ(Infer("opset1.NormalizeL2", input, "eps = 1e-9, eps_mode = \"add\""), "f32[2,3]");
  EXPECT_EQ(Infer("opset1.NormalizeL2", input, "eps = 0.0, eps_mode = \"add\""), "f32[2,3]");
  EXPECT_EQ(Infer("opset1.NormalizeL2", input, "eps = -1, eps_mode = \"add\""), "opset.attribute-value");
  EXPECT_EQ(Infer("opset8.GatherND", "f32[2,3]; i64[2,1]", "batch_dims = -1"), "opset.attribute-value");
  EXPECT_EQ(Infer("opset8.GatherND", "f32[2,3]; i64[2,1]", "batch_dims = 0"), "f32[2,3]");
  EXPECT_EQ(Infer("opset1.ShuffleChannels", "f32[2,3]", "group = 0"), "opset.attribute-value");
}

// Nodes that OpenVINO accepts or infers with an unknown extent.
TEST(OpsetShapes, RefuseWhatLeavesNothing) {
  EXPECT_EQ(Infer("opset12.Pad", "f32[2,3]; i64[2] = 0 -2; i64[2] = 0 -2", "pad_mode = \"constant\""),
            "opset.extent");
  EXPECT_EQ(Infer("opset1.Pad", "f32[2,3]; i64[2] = 0 -1; i64[2] = 0 0", "pad_mode = \"constant\""),
            "opset.constant-input");
  EXPECT_EQ(Infer("opset1.MaxPool", "f32[1,3,8,8]", "kernel = [0,3]"), "opset.attribute-value");
  EXPECT_EQ(Infer("opset1.MaxPool", "f32[1,3,8,8]", "kernel = [3,3], strides = [0,1]"),
            "opset.attribute-value");
  EXPECT_EQ(Infer("opset1.Convolution", "f32[1,3,8,8]; f32[4,3,3,3]", "strides = [1]"),
            "opset.attribute-value");
}

// Nodes that OpenVINO rejects when it compiles a model, or computes with a shape other than that of its shape
// function.
TEST(OpsetShapes, RefuseWhatCannotRun) {
  const std::string top = "axis = 1, mode = \"max\", sort = \"value\"";
  EXPECT_EQ(Infer("opset3.TopK", "f32[2,7]; i64[] = 7", top), "f32[2,7]");
  EXPECT_EQ(Infer("opset3.TopK", "f32[2,7]; i64[] = 8", top), "opset.constant-input");
  EXPECT_EQ(Infer("opset3.TopK", "f32[2,7..9]; i64[] = 8", top), "f32[2,8]");
  const std::string quantize = "levels = 4";
  EXPECT_EQ(Infer("opset1.FakeQuantize", "f32[1,3]; f32[2,3]; f32[]; f32[]; f32[]", quantize),
            "opset.broadcast");
  EXPECT_EQ(Infer("opset1.FakeQuantize", "f32[1,3]; f32[2,1,3]; f32[]; f32[]; f32[]", quantize),
            "opset.broadcast");
  for (const char* op : {"opset2.SpaceToBatch", "opset2.BatchToSpace"}) {
    EXPECT_EQ(Infer(op, "f32[4,4]; i64[2] = 1 1; i64[2] = 1 0; i64[2] = 0 0"), "opset.constant-input") << op;
    EXPECT_EQ(Infer(op, "f32[4,4]; i64[2] = 1 1; i64[2] = 0 0; i64[2] = 1 0"), "opset.constant-input") << op;
  }
}

// OpenVINO's shape function accepts any slope; its compilation of the model rejects these, and slopes whose
// extent fits the batch alone.
TEST(OpsetShapes, SlopesBroadcastToTheData) {
  for (const char* slope :
       {"f32[3]", "f32[4]", "f32[1]", "f32[]", "f32[3,1]", "f32[1,3,4]", "f32[2,1,1]", "f32[?]"})
    EXPECT_EQ(Infer("opset1.PReLU", std::string("f32[2,3,4]; ") + slope), "f32[2,3,4]") << slope;
  for (const char* slope : {"f32[2]", "f32[5]", "f32[3,3]", "f32[1,1,1,1]", "f32[4,3,2]", "f32[0]"})
    EXPECT_EQ(Infer("opset1.PReLU", std::string("f32[2,3,4]; ") + slope), "opset.broadcast") << slope;
}

// f16 and bf16 both fit f32 alone, which is another width.
TEST(OpsetShapes, HalvesPromoteToSingles) {
  const auto promoted = [](const std::string& inputs, bool is_unsafe) {
    return InferCase({0, "opset14.ConvertPromoteTypes", inputs,
                      fmt::format("promote_unsafe = {}, pytorch_scalar_promotion = false, "
                                  "u64_integer_promotion_target = f64",
                                  is_unsafe),
                      "f32[2]; f32[2]"});
  };
  for (const char* halves : {"f16[2]; bf16[3]", "bf16[2]; f16[3]"}) {
    EXPECT_EQ(promoted(halves, true), "f32[2]; f32[3]");
    EXPECT_EQ(promoted(halves, false), "opset.element-type");
  }
  EXPECT_EQ(promoted("f8e4m3[2]; f8e5m2[3]", true), "opset.element-type");
}

// A sequence has an axis of its own.
TEST(OpsetShapes, SequencesRunAlongAnotherAxisThanTheBatch) {
  for (const char* axes :
       {"batch_axis = 0, seq_axis = 0", "batch_axis = 1, seq_axis = 1", "batch_axis = 0, seq_axis = -3"})
    EXPECT_EQ(Infer("opset1.ReverseSequence", "f32[3,3,3]; i64[3]", axes), "opset.axis") << axes;
  EXPECT_EQ(Infer("opset1.ReverseSequence", "f32[3,3,3]; i64[3]", "batch_axis = 2, seq_axis = 1"),
            "f32[3,3,3]");
}

// 0 elements are never a part of more: -1 has no extent next to an extent of 0.
TEST(OpsetShapes, NoExtentCompletesAnEmptyReshape) {
  const std::string plain = "special_zero = false";
  EXPECT_EQ(Infer("opset1.Reshape", "f32[2,3]; i64[2] = 0 -1", plain), "opset.extent");
  EXPECT_EQ(Infer("opset1.Reshape", "f32[2..4,3]; i64[2] = 0 -1", plain), "opset.extent");
  EXPECT_EQ(Infer("opset1.Reshape", "f32[0..4,3]; i64[2] = 0 -1", plain), "f32[0,?]");
  EXPECT_EQ(Infer("opset1.Reshape", "f32[0,3]; i64[2] = 0 -1", plain), "f32[0,0]");
  EXPECT_EQ(Infer("opset1.Reshape", "f32[2,3]; i64[2] = 0 -1", "special_zero = true"), "f32[2,3]");
}

// A causal attention ignores its mask, whose batch then stretches nothing.
TEST(OpsetShapes, CausalAttentionHasNoMask) {
  const std::string inputs = "f32[1,3,4,8]; f32[1,3,5,8]; f32[1,3,5,6]; f32[2,1,4,5]";
  EXPECT_EQ(Infer("opset13.ScaledDotProductAttention", inputs, "causal = true"), "f32[1,3,4,6]");
  EXPECT_EQ(Infer("opset13.ScaledDotProductAttention", inputs, "causal = false"), "f32[2,3,4,6]");
}

// -1 stands for no limit or no background; smaller numbers stand for nothing.
TEST(OpsetShapes, LimitsOfClassSelectionAreAtLeastMinusOne) {
  for (const char* op : {"opset8.MatrixNms", "opset8.MulticlassNms", "opset9.MulticlassNms"}) {
    for (const std::string name : {"nms_top_k", "keep_top_k", "background_class"}) {
      EXPECT_NE(Infer(op, "f32[1,5,4]; f32[1,2,5]", name + " = -1"), "opset.attribute-value") << op << name;
      EXPECT_EQ(Infer(op, "f32[1,5,4]; f32[1,2,5]", name + " = -2"), "opset.attribute-value") << op << name;
    }
  }
}

// What fits no extent may be any.
TEST(OpsetShapes, SurviveHugeExtents) {
  const std::string huge = "9223372036854775806";
  EXPECT_EQ(Infer("opset1.Tile", "f32[" + huge + ",2]; i64[2] = 4 1"), "f32[?,2]");
  EXPECT_EQ(Infer("opset1.Concat", "f32[" + huge + "]; f32[" + huge + "]", "axis = 0"), "f32[?]");
  EXPECT_EQ(Infer("opset1.MaxPool", "f32[1,1," + huge + ",4]", "kernel = [" + huge + ",1]"),
            "opset.attribute-value");
  EXPECT_EQ(
      Infer("opset12.Pad", "f32[4]; i64[1] = " + huge + "; i64[1] = " + huge, "pad_mode = \"constant\""),
      "f32[9223372036854775807]");
  EXPECT_EQ(
      Infer("opset8.Slice", "f32[" + huge +
                                "]; i64[1] = -9223372036854775808; i64[1] = 9223372036854775807; i64[1] = "
                                "-9223372036854775808; i64[1] = 0"),
      "f32[0]");
}

TEST(OpsetValues, PassThroughReshapes) {
  Graph graph(&Opsets());
  Emitter emitter;
  const NodeId data = AddConst(graph, TensorValue::FromInts({2, 2}, {1, 2, 3, 4}), "data");
  const NodeId target = AddConst(graph, TensorValue::FromInts({1}, {-1}), "target");
  AttributeMap attributes;
  attributes.Set("special_zero", true);
  const NodeId reshape =
      AddNode(graph, "opset1", "Reshape",
              {.inputs = {{graph.node(data).port(), graph.node(target).port()}}, .attributes = attributes});
  ASSERT_TRUE(ir::InferNode(graph, reshape, emitter));
  const std::optional<TensorValue>& value = graph.node(reshape).output().value;
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->shape(), Shape({4}));
  EXPECT_EQ(value->bytes(), graph.node(data).output().value->bytes());
}

// OpenVINO accepts regions and channels that do not fit, and reads out of bounds.
TEST(OpsetShapes, RegionsOfYoloFitTheChannels) {
  const std::string region = "coords = 4, classes = 2, axis = 1, end_axis = 3, num = ";
  EXPECT_EQ(Infer("opset1.RegionYolo", "f32[1,14,2,2]", region + "2"), "f32[1,56]");
  EXPECT_EQ(Infer("opset1.RegionYolo", "f32[1,15,2,2]", region + "2"), "opset.extent");
  EXPECT_EQ(Infer("opset1.RegionYolo", "f32[1,0,2,2]", region + "2"), "opset.extent");
  EXPECT_EQ(Infer("opset1.RegionYolo", "f32[0,14,0,2]", region + "2"), "f32[0,0]");
  EXPECT_EQ(Infer("opset1.RegionYolo", "f32[1,14,2,2]", region + "0"), "opset.attribute-value");
  EXPECT_EQ(Infer("opset1.RegionYolo", "f32[1,14,2,2]", region + "9223372036854775807"), "opset.extent");
  EXPECT_EQ(Infer("opset1.RegionYolo", "f32[1,14,2,2]", region + "2, do_softmax = false"),
            "opset.attribute-value");
  EXPECT_EQ(Infer("opset1.RegionYolo", "f32[1,14,2,2]", region + "2, do_softmax = false, mask = [7]"),
            "opset.extent");
  EXPECT_EQ(
      Infer("opset1.RegionYolo", "f32[1,14,2,2]", "coords = 4, classes = 2, axis = 3, end_axis = 1, num = 2"),
      "opset.attribute-value");
  for (const char* coords : {"1", "0", "-9223372036854775808"})
    EXPECT_EQ(Infer("opset1.RegionYolo", "f32[1,8,2,2]",
                    std::string("classes = 2, axis = 1, end_axis = 3, num = 2, coords = ") + coords),
              "opset.attribute-value")
        << coords;
  EXPECT_EQ(
      Infer("opset1.RegionYolo", "f32[1,8,2,2]",
            "coords = 9223372036854775807, classes = 9223372036854775807, axis = 1, end_axis = 3, num = 2"),
      "opset.extent");
  EXPECT_EQ(Infer("opset2.ReorgYolo", "f32[1,5,4,4]", "stride = 2"), "opset.extent");
  EXPECT_EQ(Infer("opset2.ReorgYolo", "f32[1,0,4,4]", "stride = 2"), "opset.extent");
  EXPECT_EQ(Infer("opset2.ReorgYolo", "f32[1,4,4,4]", "stride = 0"), "opset.attribute-value");
  EXPECT_EQ(Infer("opset2.ReorgYolo", "f32[1,4,4,4]", "stride = 9223372036854775807"), "opset.extent");
  EXPECT_EQ(Infer("opset2.ReorgYolo", "f32[1,?,5..7,4]", "stride = 4"), "opset.extent");
}

TEST(OpsetShapes, DetectionsFitAnExtent) {
  const std::string inputs = "f32[2,40]; f32[2,30]; f32[1,2,40]";
  const std::string some = "nms_threshold = 0.5, normalized = true, ";
  EXPECT_EQ(Infer("opset8.DetectionOutput", inputs, some + "keep_top_k = []"), "opset.attribute-value");
  EXPECT_EQ(Infer("opset8.DetectionOutput", inputs, some + "keep_top_k = [-2]"), "opset.attribute-value");
  EXPECT_EQ(Infer("opset8.DetectionOutput", inputs, some + "keep_top_k = [5], top_k = -2"),
            "opset.attribute-value");
  const std::string huge = "9223372036854775807";
  EXPECT_EQ(Infer("opset8.DetectionOutput", inputs, some + "keep_top_k = [" + huge + "]"), "opset.extent");
  EXPECT_EQ(Infer("opset8.DetectionOutput", inputs, some + "keep_top_k = [-1], top_k = " + huge),
            "opset.extent");
  EXPECT_EQ(Infer("opset1.DetectionOutput", inputs, some + "keep_top_k = [-1], num_classes = " + huge),
            "opset.extent");
  EXPECT_EQ(Infer("opset1.DetectionOutput", inputs,
                  some + "keep_top_k = [-1], share_location = false, num_classes = " + huge),
            "opset.extent");
  EXPECT_EQ(Infer("opset1.DetectionOutput", inputs, some + "keep_top_k = [-1], num_classes = 0"),
            "opset.attribute-value");
  EXPECT_EQ(Infer("opset8.DetectionOutput", inputs, some + "keep_top_k = [5], input_width = 0"),
            "opset.attribute-value");
  EXPECT_EQ(Infer("opset8.DetectionOutput", inputs, some + "keep_top_k = [5], code_type = \"CORNER\""),
            "opset.attribute-value");
  for (const char* empty : {"f32[2,0]; f32[2,0]; f32[1,2,0]", "f32[2,40]; f32[2,0]; f32[1,2,40]"})
    EXPECT_EQ(Infer("opset8.DetectionOutput", empty, some + "keep_top_k = [5]"), "opset.extent") << empty;
}

// The blank is a class: without one OpenVINO reads out of bounds.
TEST(OpsetShapes, GreedyDecodersHaveABlank) {
  EXPECT_EQ(Infer("opset1.CTCGreedyDecoder", "f32[5,2,1]; f32[5,2]", ""), "f32[2,5,1,1]");
  EXPECT_EQ(Infer("opset1.CTCGreedyDecoder", "f32[5,2,0]; f32[5,2]", ""), "opset.extent");
}

// If sizes, ratios and densities do not fit one another, OpenVINO writes beyond the boxes that it counts, or
// omits some.
TEST(OpsetShapes, PriorBoxesAreCountedAsTheyAreMade) {
  const auto infer = [](std::string attributes, std::string size = "i64[2] = 2 3") {
    return Infer("opset8.PriorBox", size + "; i64[2] = 20 30", "offset = 0.5, " + attributes);
  };
  EXPECT_EQ(infer("min_size = [2.0]"), "f32[2,24]");
  EXPECT_EQ(infer("min_size = [2.0], max_size = [3.0], scale_all_sizes = false"), "f32[2,24]");
  for (const char* attributes :
       {"min_size = [2.0], max_size = [3.0,4.0]", "min_size = [2.0], fixed_size = [2.0], density = [1.0]",
        "fixed_size = [2.0], max_size = [2.0], density = [1.0]", "fixed_size = [2.0]",
        "min_size = [2.0], density = [2.0]", "fixed_size = [2.0], density = [0.5]",
        "fixed_size = [2.0], density = [1e300]",
        "fixed_size = [2.0], density = [1.0], fixed_ratio = [1.0,2.0]", "min_size = [-2.0]",
        "min_size = [0.0]", "min_size = [2.0], aspect_ratio = [0.0]",
        "min_size = [2.0], variance = [0.1,0.2]"})
    EXPECT_EQ(infer(attributes), "opset.attribute-value") << attributes;
  EXPECT_EQ(infer("min_size = [2.0]", "i64[2] = -2 3"), "opset.constant-input");
  EXPECT_EQ(infer("min_size = [2.0]", "i64[2] = 9223372036854775807 1"), "opset.extent");
  EXPECT_EQ(infer("min_size = [2.0]", "i64[2] = 0 9223372036854775807"), "f32[2,0]");
  EXPECT_EQ(infer("min_size = [2.0]", "i64[2] = 4294967296 4294967296"), "opset.extent");
  EXPECT_EQ(Infer("opset1.PriorBoxClustered", "i64[2] = 2 3; i64[2] = 20 30", "offset = 0.5"), "f32[2,24]");
  EXPECT_EQ(Infer("opset1.PriorBoxClustered", "i64[2] = 2 3; i64[2] = 20 30",
                  "offset = 0.5, width = [1.0,2.0], height = [1.0]"),
            "opset.attribute-value");
}

// Axes of data whose rank is unknown are not examined.
TEST(OpsetShapes, AxesOfUnknownRanks) {
  for (const char* axes : {"0", "-1", "9", "-9"}) {
    EXPECT_EQ(InferCase({0, "opset7.Roll", std::string("f32[...]; i64[] = 1; i64[1] = ") + axes, "", ""}),
              "f32[...]");
    EXPECT_EQ(
        InferCase({0, "opset1.Reverse", std::string("f32[...]; i64[1] = ") + axes, "mode = \"index\"", ""}),
        "f32[...]");
  }
}

}  // namespace
}  // namespace nnefc::ir::ops::opset

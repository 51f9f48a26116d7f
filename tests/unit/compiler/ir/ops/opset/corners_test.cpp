// Bounds of attributes and constants of OpenVINO operations, and what is reported beyond them.

#include <limits>

#include "compiler/ir/algorithms/infer.h"
#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

std::string InferOne(std::string op, std::string inputs, std::string attributes = "") {
  return InferCase({0, std::move(op), std::move(inputs), std::move(attributes), ""});
}

std::string Message(std::string op, std::string inputs, std::string attributes = "") {
  std::string message;
  InferCase({0, std::move(op), std::move(inputs), std::move(attributes), ""}, &message);
  return message;
}

TEST(OpsetCorners, TheFallOfTheThresholdIsAFraction) {
  for (const char* eta : {"0.0", "0.5", "1.0"})
    EXPECT_EQ(InferOne("opset8.MulticlassNms", "f32[2,7,4]; f32[2,3,7]", std::string("nms_eta = ") + eta),
              "f32[..42,6]");
  for (const char* eta : {"-0.01", "1.01", "2.0"})
    EXPECT_EQ(InferOne("opset8.MulticlassNms", "f32[2,7,4]; f32[2,3,7]", std::string("nms_eta = ") + eta),
              "opset.attribute-value");
  for (const char* type : {"i32", "i64"})
    EXPECT_EQ(
        InferOne("opset8.MulticlassNms", "f32[2,7,4]; f32[2,3,7]", std::string("output_type = ") + type),
        "f32[..42,6]");
  EXPECT_EQ(InferOne("opset8.MulticlassNms", "f32[2,7,4]; f32[2,3,7]", "output_type = f32"),
            "opset.attribute-value");
  EXPECT_EQ(InferOne("opset8.MulticlassNms", "f32[2,7,4]; f32[2,3,7]", "nms_top_k = 0"), "f32[0,6]");
  EXPECT_EQ(InferOne("opset8.MulticlassNms", "f32[2,7,4]; f32[2,3,7]", "nms_top_k = 2"), "f32[..12,6]");
  EXPECT_EQ(InferOne("opset8.MulticlassNms", "f32[2,7,4]; f32[2,3,7]", "nms_top_k = 9"), "f32[..42,6]");
}

TEST(OpsetCorners, TheLimitThatIsTooHighIsNamed) {
  const std::string inputs = "f32[2,40]; f32[2,30]; f32[1,2,40]", huge = "9223372036854775807";
  const std::string attributes = "nms_threshold = 0.5, normalized = true, keep_top_k = ";
  const auto message = [&](const std::string& more) {
    return Message("opset8.DetectionOutput", inputs, attributes + more);
  };
  const std::string text = "the rows of `DetectionOutput` are more than fit an extent; expected a lower ";
  EXPECT_EQ(message("[" + huge + "]"), text + "`keep_top_k`");
  EXPECT_EQ(message("[-1], top_k = " + huge), text + "`top_k`");
  EXPECT_EQ(Message("opset1.DetectionOutput", "f32[2,40]; f32[2,?]; f32[1,2,40]",
                    attributes + "[0], num_classes = " + huge),
            text + "`top_k`");
  EXPECT_EQ(
      message("[-2], top_k = 3"),
      "`keep_top_k` of `DetectionOutput` is [-2] and `top_k` 3; expected numbers of boxes, or -1 for all");
  EXPECT_EQ(message("[-1,7], top_k = -2"),
            "`keep_top_k` of `DetectionOutput` is [-1,7] and `top_k` -2; expected "
            "numbers of boxes, or -1 for all");
}

TEST(OpsetCorners, ListsOfAxesNameTheirInput) {
  EXPECT_EQ(Message("opset1.Unsqueeze", "f32[2]; i64[0] ="),
            "`axes` of `Unsqueeze` has 0 items; expected at least 1");
}

TEST(OpsetCorners, PatchesHaveTwoPositiveNumbers) {
  const auto patches = [](const std::string& sizes, const std::string& strides, const std::string& rates) {
    return InferOne(
        "opset3.ExtractImagePatches", "f32[1,3,9,8]",
        "sizes = " + sizes + ", strides = " + strides + ", rates = " + rates + ", auto_pad = \"valid\"");
  };
  EXPECT_EQ(patches("[3,2]", "[2,1]", "[1,1]"), "f32[1,18,4,7]");
  EXPECT_EQ(patches("[9,8]", "[1,1]", "[1,1]"), "f32[1,216,1,1]");
  EXPECT_EQ(patches("[10,8]", "[1,1]", "[1,1]"), "f32[1,240,0,1]");
  EXPECT_EQ(patches("[3,2]", "[2,1]", "[4,7]"), "f32[1,18,1,1]");
  EXPECT_EQ(patches("[3,2]", "[2,1]", "[5,8]"), "f32[1,18,0,0]");
  EXPECT_EQ(patches("[1073741824,1]", "[1,1]", "[1,1]"), "f32[1,3221225472,0,8]");
  for (const char* wrong : {"[0,1]", "[1,0]", "[1073741825,1]", "[1]", "[1,1,1]", "[]"}) {
    EXPECT_EQ(patches(wrong, "[1,1]", "[1,1]"), "opset.attribute-value") << wrong;
    EXPECT_EQ(patches("[1,1]", wrong, "[1,1]"), "opset.attribute-value") << wrong;
    EXPECT_EQ(patches("[1,1]", "[1,1]", wrong), "opset.attribute-value") << wrong;
  }
}

// Col2Im-15: (24 + pads - dilation * (kernel - 1) - 1) / stride + 1 windows along each axis.
TEST(OpsetCorners, WindowsOfPicturesHaveTwoNumbers) {
  const auto picture = [](const std::string& columns, const std::string& attributes) {
    return InferOne("opset15.Col2Im", "f32[2,12," + columns + "]; i64[2] = 8 9; i64[2] = 3 2", attributes);
  };
  EXPECT_EQ(picture("48", ""), "f32[2,2,8,9]");  // 6 * 8
  EXPECT_EQ(picture("47", ""), "opset.extent");
  EXPECT_EQ(picture("24", "strides = [2,1]"), "f32[2,2,8,9]");
  EXPECT_EQ(picture("24", "strides = [1,2]"), "f32[2,2,8,9]");
  EXPECT_EQ(picture("28", "dilations = [1,2], pads_begin = [0,0], strides = [2,1]"), "opset.extent");
  EXPECT_EQ(picture("42", "dilations = [1,2]"), "f32[2,2,8,9]");
  EXPECT_EQ(picture("32", "dilations = [2,1]"), "f32[2,2,8,9]");
  EXPECT_EQ(picture("56", "pads_begin = [1,0]"), "f32[2,2,8,9]");
  EXPECT_EQ(picture("54", "pads_begin = [0,1]"), "f32[2,2,8,9]");
  EXPECT_EQ(picture("64", "pads_end = [2,0]"), "f32[2,2,8,9]");
  EXPECT_EQ(picture("60", "pads_end = [0,2]"), "f32[2,2,8,9]");
  for (const char* name : {"strides", "dilations", "pads_begin", "pads_end"}) {
    const bool is_pad = name[0] == 'p';
    for (const char* wrong : {"[1]", "[1,1,1]", "[-1,1]", "[1,-1]", "[1073741825,1]"})
      EXPECT_EQ(picture("?", std::string(name) + " = " + wrong), "opset.attribute-value") << name << wrong;
    for (const char* zero : {"[0,1]", "[1,0]"}) {
      EXPECT_EQ(picture("?", std::string(name) + " = " + zero),
                is_pad ? "f32[2,2,8,9]" : "opset.attribute-value")
          << name << zero;
    }
  }
  EXPECT_EQ(InferOne("opset15.Col2Im", "f32[2,12,48]; i64[2] = 0 9; i64[2] = 3 2"), "opset.constant-input");
  EXPECT_EQ(InferOne("opset15.Col2Im", "f32[2,12,48]; i64[2] = 8 9; i64[2] = 3 0"), "opset.constant-input");
  EXPECT_EQ(InferOne("opset15.Col2Im", "f32[2,13,48]; i64[2] = 8 9; i64[2] = 3 2"), "opset.extent");
  EXPECT_EQ(InferOne("opset15.Col2Im", "f32[12,48]; i64[2] = 8 9; i64[2] = 3 2"), "f32[2,8,9]");
}

TEST(OpsetCorners, SamplesMayBeNone) {
  const std::string attributes = "convert_type = i64, with_replacement = true, log_probs = false";
  EXPECT_EQ(InferOne("opset13.Multinomial", "f32[2,5]; i64[] = 0", attributes), "i64[2,0]");
  EXPECT_EQ(InferOne("opset13.Multinomial", "f32[2,5]; i64[] = -1", attributes), "opset.constant-input");
  const std::string without = "convert_type = i64, with_replacement = false, log_probs = false";
  EXPECT_EQ(InferOne("opset13.Multinomial", "f32[2,5]; i64[] = 5", without), "i64[2,5]");
  EXPECT_EQ(InferOne("opset13.Multinomial", "f32[2,5]; i64[] = 6", without), "opset.extent");
  EXPECT_EQ(InferOne("opset13.Multinomial", "f32[2,4..6]; i64[] = 6", without), "i64[2,6]");
}

// An element that is taken must exist for some extent.
TEST(OpsetCorners, RemovedAxesHaveTheElement) {
  const auto take = [](const std::string& extent, const std::string& place) {
    return InferOne("opset1.StridedSlice",
                    "f32[" + extent + ",3]; i64[1] = " + place + "; i64[1] = 9; i64[1] = 1",
                    "begin_mask = [0], end_mask = [0], shrink_axis_mask = [1]");
  };
  for (const char* place : {"0", "4", "-5"}) EXPECT_EQ(take("5", place), "f32[3]") << place;
  for (const char* place : {"5", "-6"}) EXPECT_EQ(take("5", place), "opset.extent") << place;
  for (const char* place : {"2", "4", "-5"}) EXPECT_EQ(take("2..5", place), "f32[3]") << place;
  for (const char* place : {"5", "-6"}) EXPECT_EQ(take("2..5", place), "opset.extent") << place;
  EXPECT_EQ(take("?", "1000"), "f32[3]");
  EXPECT_EQ(take("2..", "1000"), "f32[3]");
}

// A rank that follows from the length of a list is known up to 1024.
TEST(OpsetCorners, LongListsHaveNoRank) {
  for (const char* inputs : {"i64[?]; f32[]; f32[]", "i64[1025]; f32[]; f32[]", "i64[1..2]; f32[]; f32[]"})
    EXPECT_EQ(InferOne("opset8.RandomUniform", inputs, "output_type = f32"), "f32[...]") << inputs;
  std::string extents = "?";
  for (int i = 1; i < 1024; ++i) extents += ",?";
  EXPECT_EQ(InferOne("opset8.RandomUniform", "i64[1024]; f32[]; f32[]", "output_type = f32"),
            "f32[" + extents + "]");
  EXPECT_EQ(InferOne("opset1.Tile", "f32[2]; i64[1024]"), "f32[" + extents + "]");
  EXPECT_EQ(InferOne("opset1.Tile", "f32[2]; i64[1025]"), "f32[...]");
  EXPECT_EQ(InferOne("opset3.Broadcast", "f32[2]; i64[1024]", "mode = \"numpy\""), "f32[" + extents + "]");
  EXPECT_EQ(InferOne("opset3.Broadcast", "f32[2]; i64[1025]", "mode = \"numpy\""), "f32[...]");
  const auto list = [](int count) {
    std::string text = "f32[2]; i64[" + std::to_string(count) + "] =";
    for (int i = 0; i < count; ++i) text += " 1";
    return text;
  };
  EXPECT_EQ(Message("opset1.Tile", list(8192)), "");
  EXPECT_EQ(Message("opset1.Tile", list(8193)), "`repeats` of `Tile` has 8193 items; expected at most 8192");
}

TEST(OpsetCorners, PartsAreCountedByOutputs) {
  const auto parts = [](std::string op, std::string inputs, std::string attributes, int outputs) {
    std::string results = "x", message;
    for (int i = 1; i < outputs; ++i) results += "; x";
    const std::string inferred =
        InferCase({0, std::move(op), std::move(inputs), std::move(attributes), results}, &message);
    return message.empty() ? inferred : message;
  };
  EXPECT_EQ(parts("opset1.Split", "f32[2,7]; i64[] = 1", "num_splits = 3", 3),
            "`Split` divides the extent 7 into 3 parts");
  EXPECT_EQ(parts("opset1.Split", "f32[2,7]; i64[] = 1", "num_splits = 2", 3),
            "`num_splits` of `Split` is 2; it has 3 outputs");
  EXPECT_EQ(parts("opset1.Split", "f32[2,6..8]; i64[] = -1", "num_splits = 3", 3),
            "f32[2,2]; f32[2,2]; f32[2,2]");
  EXPECT_EQ(parts("opset1.Split", "f32[2,6..]; i64[] = -1", "num_splits = 2", 2), "f32[2,3..]; f32[2,3..]");
  EXPECT_EQ(parts("opset1.Split", "f32[2,6]; i64[]", "num_splits = 2", 2), "f32[?,?]; f32[?,?]");
  EXPECT_EQ(parts("opset1.Split", "f32[...]; i64[] = 0", "num_splits = 2", 2), "f32[...]; f32[...]");
  const auto by_lengths = [&](const std::string& extent, const std::string& lengths, int outputs) {
    return parts("opset1.VariadicSplit",
                 "f32[" + extent + "]; i64[] = 0; i64[" + std::to_string(outputs) + "] = " + lengths, "",
                 outputs);
  };
  EXPECT_EQ(by_lengths("6", "1 2 3", 3), "f32[1]; f32[2]; f32[3]");
  EXPECT_EQ(by_lengths("6", "1 2 2", 3), "`VariadicSplit` divides the extent 6 into parts of 5 elements");
  EXPECT_EQ(by_lengths("6", "1 -1 2", 3), "f32[1]; f32[3]; f32[2]");
  EXPECT_EQ(by_lengths("6", "4 -1 2", 3), "f32[4]; f32[0]; f32[2]");
  EXPECT_EQ(by_lengths("6", "4 -1 3", 3), "`VariadicSplit` divides the extent 6 into parts of 7 elements");
  EXPECT_EQ(by_lengths("6", "-1 -1 3", 3), "`VariadicSplit` divides the extent 6 into parts of 3 elements");
  EXPECT_EQ(by_lengths("6", "-2 5 3", 3), "`split_lengths` of `VariadicSplit` has the item -2");
  EXPECT_EQ(by_lengths("..6", "-1 6", 2), "f32[0]; f32[6]");
  EXPECT_EQ(by_lengths("..6", "-1 5", 2), "f32[..1]; f32[5]");
  EXPECT_EQ(by_lengths("3..6", "-1 7", 2), "`VariadicSplit` divides the extent 6 into parts of 7 elements");
  EXPECT_EQ(by_lengths("3..6", "1 5", 2), "f32[1]; f32[5]");
  EXPECT_EQ(by_lengths("3..6", "1 6", 2), "`VariadicSplit` divides the extent 6 into parts of 7 elements");
  EXPECT_EQ(by_lengths("7..", "1 5", 2),
            "`VariadicSplit` divides the extent 9223372036854775807 into parts of 6 elements");
  EXPECT_EQ(parts("opset1.VariadicSplit", "f32[6]; i64[] = 0; i64[3] = 1 2 3", "", 2),
            "`split_lengths` of `VariadicSplit` has 3 items; the node has 2 outputs");
}

// A Const has the type of its value, whatever its attributes say.
TEST(OpsetCorners, ConstantsHaveTheTypeOfTheirValue) {
  Graph graph(&Opsets());
  const NodeId node = AddConst(graph, TensorValue::FromInts({2}, {1, 2}), "c");
  graph.SetAttribute(node, "element_type", ElementType::kF32);
  graph.SetAttribute(node, "shape", PartialShape{3});
  graph.SetOutputType({node, 0}, ElementType::kF32, PartialShape{3});
  Emitter emitter;
  ASSERT_TRUE(ir::InferNode(graph, node, emitter));
  EXPECT_EQ(graph.node(node).output().type, ElementType::kI64);
  EXPECT_EQ(graph.node(node).output().shape, (ir::PartialShape{2}));
  graph.SetOutputValue({node, 0}, std::nullopt);
  ASSERT_TRUE(ir::InferNode(graph, node, emitter));
  EXPECT_EQ(graph.node(node).output().type, ElementType::kF32);
  EXPECT_EQ(graph.node(node).output().shape, (ir::PartialShape{3}));
  EXPECT_FALSE(graph.node(node).output().value);
  // Without elements, the value is known if the type is.
  graph.SetAttribute(node, "shape", PartialShape{2, 0});
  ASSERT_TRUE(ir::InferNode(graph, node, emitter));
  ASSERT_TRUE(graph.node(node).output().value);
  EXPECT_EQ(*graph.node(node).output().value, TensorValue::FromFloats({2, 0}, {}));
  graph.SetOutputValue({node, 0}, std::nullopt);
  graph.SetAttribute(node, "element_type", ElementType::kDynamic);
  ASSERT_TRUE(ir::InferNode(graph, node, emitter));
  EXPECT_FALSE(graph.node(node).output().value);
}

// A constant without a value keeps its type unless both attributes are there.
TEST(OpsetCorners, ConstantsWithoutAttributesKeepTheirType) {
  for (const char* only : {"element_type", "shape", ""}) {
    Graph graph(&Opsets());
    const NodeId node = AddNode(graph, "opset1", "Const", {.name = "c"});
    graph.SetOutputType({node, 0}, ElementType::kI64, PartialShape{4});
    if (std::string_view(only) == "element_type") graph.SetAttribute(node, only, ElementType::kF32);
    if (std::string_view(only) == "shape") graph.SetAttribute(node, only, PartialShape{3});
    Emitter emitter;
    EXPECT_TRUE(ir::InferNode(graph, node, emitter));
    EXPECT_EQ(graph.node(node).output().type, ElementType::kI64) << only;
    EXPECT_EQ(graph.node(node).output().shape, (ir::PartialShape{4})) << only;
  }
}

// Elements that are text are not counted.
TEST(OpsetCorners, PlacesOfText) {
  Graph graph(&Opsets());
  const OutputPort data = {AddConst(graph, TensorValue(ElementType::kString, {2}, Buffer::Allocate(0)), "c"),
                           0};
  const NodeId node = AddNode(graph, "opset3", "NonZero", {.name = "n", .inputs = data});
  Emitter emitter;
  EXPECT_TRUE(ir::InferNode(graph, node, emitter));
  EXPECT_EQ(graph.node(node).output().shape, (ir::PartialShape{Dim(1), Dim(0, 2)}));
}

// Known values pass a conversion, as far as they may be shapes.
TEST(OpsetCorners, ConversionsKeepSmallValues) {
  const auto converted = [](const TensorValue& value, ElementType type) {
    Graph graph(&Opsets());
    Emitter emitter;
    const NodeId data = AddConst(graph, value, "data");
    AttributeMap attributes;
    attributes.Set("destination_type", type);
    const NodeId node = AddNode(graph, "opset1", "Convert",
                                {.inputs = {{graph.node(data).port()}}, .attributes = std::move(attributes)});
    EXPECT_TRUE(ir::InferNode(graph, node, emitter));
    return graph.node(node).output().value;
  };
  const auto few = converted(TensorValue::FromFloats({3}, {1.5F, -2.5F, 7.0F}), ElementType::kI64);
  ASSERT_TRUE(few.has_value());
  EXPECT_EQ(few->ElementAsInt(0), 1);
  EXPECT_EQ(few->ElementAsInt(1), -2);
  EXPECT_EQ(few->ElementAsInt(2), 7);
  EXPECT_TRUE(
      converted(TensorValue::FromInts({1024}, std::vector<int64_t>(1024)), ElementType::kI32).has_value());
  EXPECT_FALSE(
      converted(TensorValue::FromInts({1025}, std::vector<int64_t>(1025)), ElementType::kI32).has_value());
}

TEST(OpsetCorners, ExtentsOfPicturesAreIntegers) {
  const std::string attributes = "nms_threshold = 0.5, keep_top_k = [5], normalized = true, ";
  for (const char* name : {"input_height", "input_width"}) {
    const auto infer = [&](const std::string& value) {
      return InferOne("opset8.DetectionOutput", "f32[2,40]; f32[2,30]; f32[1,2,40]",
                      fmt::format("{}{} = {}", attributes, name, value));
    };
    EXPECT_EQ(infer("1"), "f32[1,1,10,7]") << name;
    EXPECT_EQ(infer("1.0"), "opset.attribute-kind") << name;
    EXPECT_EQ(infer("0"), "opset.attribute-value") << name;
  }
}

TEST(OpsetCorners, OneMessageForWideBoxes) {
  int count = 0;
  InferCase({0, "opset5.NonMaxSuppression", "f64[2,20,4]; f64[2,3,20]; i64[] = 4", "", ""}, nullptr, &count);
  EXPECT_EQ(count, 1);
}

TEST(OpsetCorners, OneMessageForUnknownActivations) {
  for (const char* names : {"sine,tanh,tanh", "sine,cosine,tan"}) {
    int count = 0;
    std::string message;
    InferCase({0, "opset4.LSTMCell", "f32[4,3]; f32[4,2]; f32[4,2]; f32[8,3]; f32[8,2]; f32[8]",
               fmt::format("hidden_size = 2, activations = \"{}\"", names), ""},
              &message, &count);
    EXPECT_EQ(count, 1) << names;
    EXPECT_EQ(message,
              "`activations` of `LSTMCell` has `sine`; expected `sigmoid`, `tanh`, `relu` or `hardsigmoid`");
  }
}

// Further inputs do not fit either.
TEST(OpsetCorners, OneMessageForTheFirstMistake) {
  const auto expect_one = [](const std::string& op, const std::string& inputs, const std::string& attributes,
                             const std::string& expected) {
    int count = 0;
    std::string message;
    InferCase({0, op, inputs, attributes, ""}, &message, &count);
    EXPECT_EQ(count, 1) << op;
    EXPECT_EQ(message, expected) << op;
  };
  const std::string cell = "f32[4,3]; f32[4,2]; f32[4,2]; f32[7,3]; f32[8,2]";
  expect_one("opset4.LSTMCell", cell, "hidden_size = 2", "`LSTMCell` of opset4 has 5 inputs; expected 6");
  expect_one("opset1.LSTMCell", cell + "; f32[8]", "hidden_size = 2, input_forget = true",
             "`input_forget` of `LSTMCell` is true; expected false");
  expect_one("opset1.DeformablePSROIPooling", "f32[2,18,5,6]; f16[7,4]",
             "output_dim = 2, group_size = 3, spatial_scale = 0.5",
             "`rois` of `DeformablePSROIPooling` has the element type f16; expected f32 as before it");
  expect_one("opset1.TopK", "f32[4,3]; i16[]",
             "axis = 5, mode = \"max\", sort = \"value\", index_element_type = i32",
             "`k` of `TopK` has the element type i16; expected i8, i32 or i64");
  const std::string segments = "opset3.EmbeddingSegmentsSum", more = "; i64[] = 4; i64[]; ";
  expect_one(
      segments, "f32[5,2]; i64[6]; i64[5]" + more + "f16[6]", "",
      "`per_sample_weights` of `EmbeddingSegmentsSum` has the element type f16; expected f32 as the table");
  expect_one(segments, "f32[5,2]; i32[6]; i64[6]" + more + "f32[5]", "",
             "`segment_ids` of `EmbeddingSegmentsSum` has the element type i64; expected i32 as before it");
  expect_one("opset16.SparseFillEmptyRows", "f32[3]; i32[2]; i64[3,2]; f16[]", "",
             "`default_value` of `SparseFillEmptyRows` has the element type f16; expected f32 as the values");
}

// Messages name the input with the mistake.
TEST(OpsetCorners, InputsInMessages) {
  const std::string deformable = "strides = [1,1], dilations = [1,1], pads_begin = [0,0], pads_end = [0,0], ";
  EXPECT_EQ(Message("opset1.DeformableConvolution", "f32[1,5,8,8]; f32[1,18,6,6]; f32[4,?,3,3]",
                    deformable + "group = 2"),
            "`data` of `DeformableConvolution` has the shape [1,5,8,8]; expected channels in 2 groups");
  EXPECT_EQ(Message("opset1.DeformableConvolution", "f32[1,5,8,8]; f32[1,36,6,6]; f32[4,5,3,3]",
                    deformable + "group = 1, deformable_group = 2"),
            "`data` of `DeformableConvolution` has the shape [1,5,8,8]; expected channels in 2 groups");
  EXPECT_EQ(Message("opset1.DeformableConvolution", "f32[1,4,8,8]; f32[1,18,6,6]; f32[3,?,3,3]",
                    deformable + "group = 2"),
            "`filters` of `DeformableConvolution` has the shape [3,?,3,3]; expected channels in 2 groups");
  EXPECT_EQ(Message("opset8.AdaptiveAvgPool", "f32[1,3,8,8]; i64[1] = 4"),
            "`output_shape` of `AdaptiveAvgPool` has 1 item; expected 2");
  EXPECT_EQ(Message("opset16.SparseFillEmptyRows", "f32[3]; i64[2] = 5 4; i64[3,2]; f16[]"),
            "`default_value` of `SparseFillEmptyRows` has the element type f16; expected f32 as the values");
  for (const char* name : {"strides", "dilations", "pads_begin", "pads_end"}) {
    std::string attributes;
    for (const char* each : {"strides", "dilations", "pads_begin", "pads_end"})
      attributes += fmt::format("{}{} = [{}]", attributes.empty() ? "" : ", ", each,
                                std::string_view(each) == name ? "1" : "1,1");
    EXPECT_EQ(InferOne("opset1.Convolution", "f32[1,3,8,8]; f32[4,3,3,3]", attributes),
              "opset.attribute-value")
        << name;
  }
}

// A mistake of an attribute is reported alone, whatever the inputs are.
TEST(OpsetCorners, OneMessageForTheTypeOfIndices) {
  int count = 0;
  std::string message;
  InferCase({0, "opset5.NonMaxSuppression", "f64[2,20,4]; f64[2,3,20]; i64[] = 4", "output_type = f32", ""},
            &message, &count);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(message, "`output_type` of `NonMaxSuppression` is f32; expected i32 or i64");
}

// Numbers that are not finite have no range.
TEST(OpsetCorners, RangesOfInfiniteNumbers) {
  const auto infer = [](float start, float stop, float step) {
    Graph graph(&Opsets());
    std::vector<OutputPort> inputs;
    for (const float number : {start, stop, step})
      inputs.push_back({AddConst(graph, TensorValue::FromFloats({}, {number}), "c"), 0});
    AttributeMap attributes;
    attributes.Set("output_type", ElementType::kF32);
    const NodeId node =
        AddNode(graph, "opset4", "Range", {.inputs = inputs, .attributes = std::move(attributes)});
    Emitter emitter;
    return ir::InferNode(graph, node, emitter) ? ToString(graph.node(node).output().shape) : "error";
  };
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(infer(0, 5, 2), "[3]");
  EXPECT_EQ(infer(5, 0, 2), "[0]");
  EXPECT_EQ(infer(5, 0, -2), "[3]");
  for (const float other : {inf, -inf, nan}) {
    EXPECT_EQ(infer(0, other, 1), "error");
    EXPECT_EQ(infer(other, 0, 1), "error");
  }
  EXPECT_EQ(infer(0, 5, nan), "error");
  EXPECT_EQ(infer(0, 9.1e15F, 1), "error");
}

// Strides, dilations and pads of Col2Im are at most 2^30.
TEST(OpsetCorners, ItemsOfPairs) {
  for (const char* name : {"strides", "dilations", "pads_begin", "pads_end"}) {
    for (const bool is_first : {true, false}) {
      const auto infer = [&](const std::string& item) {
        std::string attributes;
        for (const std::string each : {"strides", "dilations", "pads_begin", "pads_end"}) {
          const std::string neutral = each.starts_with("pads") ? "0" : "1";
          const std::string first = each == name && is_first ? item : neutral,
                            second = each == name && !is_first ? item : neutral;
          attributes += fmt::format("{}{} = [{},{}]", attributes.empty() ? "" : ", ", each, first, second);
        }
        return InferOne("opset15.Col2Im", "f32[1,12,?]; i64[2] = 4 4; i64[2]", attributes);
      };
      EXPECT_NE(infer("1073741824"), "opset.attribute-value") << name;
      EXPECT_EQ(infer("1073741825"), "opset.attribute-value") << name;
      EXPECT_EQ(infer("-1"), "opset.attribute-value") << name;
      EXPECT_EQ(infer("0") == "opset.attribute-value", !std::string(name).starts_with("pads")) << name;
    }
  }
}

// Known data have as many distinct items as any axis may have, if the axis is not known.
TEST(OpsetCorners, DistinctItemsOfAnUnknownAxis) {
  const std::string types = "sorted = true, index_element_type = i64, count_element_type = i64";
  const auto infer = [&](const std::string& inputs) {
    return InferCase({0, "opset10.Unique", inputs, types, "x; x; x; x"});
  };
  EXPECT_EQ(infer("f32[3] = 1 1 2; i64[]"), "f32[?]; i64[1..3]; i64[?]; i64[1..3]");
  EXPECT_EQ(infer("f32[3] = 1 1 2; i64[] = 0"), "f32[2]; i64[2]; i64[3]; i64[2]");
  EXPECT_EQ(infer("f32[3] = 1 1 2"), "f32[2]; i64[2]; i64[3]; i64[2]");
}

// A node may have more outputs than its operation; nothing is known about them.
TEST(OpsetCorners, OutputsBeyondTheRow) {
  EXPECT_EQ(
      InferCase({0, "opset5.RNNSequence", "f32[4,7,3]; f32[4,1,2]; i32[4]; f32[1,2,3]; f32[1,2,2]; f32[1,2]",
                 "hidden_size = 2, direction = \"forward\"", "x; x; x"}),
      "f32[4,1,7,2]; f32[4,1,2]; dynamic[...]");
  EXPECT_EQ(InferCase({0, "opset5.LSTMSequence",
                       "f32[4,7,3]; f32[4,1,2]; f32[4,1,2]; i32[4]; f32[1,8,3]; f32[1,8,2]; f32[1,8]",
                       "hidden_size = 2, direction = \"forward\"", "x; x; x; x"}),
            "f32[4,1,7,2]; f32[4,1,2]; f32[4,1,2]; dynamic[...]");
  EXPECT_EQ(InferCase({0, "opset4.LSTMCell", "f32[4,3]; f32[4,2]; f32[4,2]; f32[8,3]; f32[8,2]; f32[8]",
                       "hidden_size = 2", "x; x; x"}),
            "f32[4,2]; f32[4,2]; dynamic[...]");
  EXPECT_EQ(InferCase({0, "opset3.GRUCell", "f32[4,3]; f32[4,2]; f32[6,3]; f32[6,2]; f32[6]",
                       "hidden_size = 2", "x; x"}),
            "f32[4,2]; dynamic[...]");
}

// Ranges to the end of an axis without a bound have none.
TEST(OpsetCorners, SlicesOfOpenAxes) {
  const auto infer = [](const std::string& extent, const std::string& start, const std::string& stop,
                        const std::string& step) {
    return InferOne("opset8.Slice",
                    fmt::format("f32[{}]; i64[1] = {}; i64[1] = {}; i64[1] = {}", extent, start, stop, step));
  };
  EXPECT_EQ(infer("?", "0", "-1", "1"), "f32[?]");
  EXPECT_EQ(infer("?", "0", "-1", "2"), "f32[?]");
  EXPECT_EQ(infer("?", "1", "9223372036854775807", "2"), "f32[?]");
  EXPECT_EQ(infer("?", "0", "6", "2"), "f32[..3]");
  EXPECT_EQ(infer("2..9", "0", "-1", "2"), "f32[1..4]");
  EXPECT_EQ(infer("2..9", "1", "9223372036854775807", "1"), "f32[1..8]");
  EXPECT_EQ(infer("?", "-3", "-1", "1"), "f32[..2]");
}

// The result of a transposed convolution may be empty only for the lowest extents of its input.
TEST(OpsetCorners, ExtentsOfTransposedConvolutions) {
  const auto infer = [](const std::string& extent, const std::string& pads) {
    return InferOne("opset1.ConvolutionBackpropData", "f32[1,3," + extent + "]; f32[3,8,3]",
                    "strides = [1], dilations = [1], output_padding = [0], pads_begin = [" + pads +
                        "], pads_end = [" + pads + "]");
  };
  EXPECT_EQ(infer("1..5", "0"), "f32[1,8,3..7]");
  EXPECT_EQ(infer("1..5", "1"), "f32[1,8,1..5]");
  EXPECT_EQ(infer("1..5", "2"), "f32[1,8,..3]");
  EXPECT_EQ(infer("1..5", "3"), "f32[1,8,..1]");
  EXPECT_EQ(infer("1..5", "4"), "opset.extent");
  EXPECT_EQ(infer("2", "2"), "f32[1,8,0]");
  EXPECT_EQ(infer("1", "2"), "opset.extent");
  EXPECT_EQ(infer("1..", "3"), "f32[1,8,?]");
}

// A Range is known if its three numbers are; it has at most 9 * 10^15 elements.
TEST(OpsetCorners, RangesOfKnownNumbers) {
  const auto range = [](const std::string& start, const std::string& stop, const std::string& step) {
    const auto input = [](const std::string& number) {
      return "i64[]" + (number == "?" ? "" : " = " + number);
    };
    return InferOne("opset4.Range", input(start) + "; " + input(stop) + "; " + input(step),
                    "output_type = i64");
  };
  EXPECT_EQ(range("2", "9", "3"), "i64[3]");
  EXPECT_EQ(range("?", "9", "3"), "i64[?]");
  EXPECT_EQ(range("2", "?", "3"), "i64[?]");
  EXPECT_EQ(range("2", "9", "?"), "i64[?]");
  EXPECT_EQ(range("2", "9", "0"), "opset.constant-input");
  EXPECT_EQ(range("9", "2", "1"), "i64[0]");
  EXPECT_EQ(range("0", "9000000000000000", "1"), "i64[9000000000000000]");
  EXPECT_EQ(range("0", "9000000000000001", "1"), "opset.constant-input");
}

// The element type of a batch normalization is that of its data.
TEST(OpsetCorners, TypesOfNormalizedBatches) {
  const auto infer = [](const std::string& set, std::vector<std::string> inputs) {
    return InferOne(set + ".BatchNormInference", fmt::format("{}", fmt::join(inputs, "; ")), "epsilon = 0.1");
  };
  for (size_t open = 0; open < 5; ++open) {
    std::vector<std::string> inputs(5, "f32[3]");
    inputs[open] = "dynamic[3]";
    inputs[2] = open == 2 ? "dynamic[1,3,4]" : "f32[1,3,4]";
    EXPECT_EQ(infer("opset1", inputs), open == 2 ? "dynamic[1,3,4]" : "f32[1,3,4]") << open;
  }
}

// The axes of an explicit broadcast are one for each axis of the data; indices have the batch dimensions.
TEST(OpsetCorners, RanksOfAxesAndIndices) {
  EXPECT_EQ(Message("opset3.Broadcast", "f32[2,3]; i64[3] = 4 2 3; i64[3]", "mode = \"explicit\""),
            "`axes_mapping` of `Broadcast` has the shape [3]; expected [2], an axis for each of [2,3]");
  EXPECT_EQ(InferOne("opset8.GatherND", "f32[2,3,4]; i64[2]", "batch_dims = 2"), "opset.rank");
  EXPECT_EQ(InferOne("opset8.GatherND", "f32[2,3,4]; i64[2,3]", "batch_dims = 2"), "opset.rank");
  EXPECT_EQ(InferOne("opset8.GatherND", "f32[2,3,4]; i64[2,3,1]", "batch_dims = 2"), "f32[2,3]");
}

// Windows that are padded to ceil(extent / stride) positions: an open extent may have one more of them, and a
// pool has none over nothing.
TEST(OpsetCorners, PositionsOfPaddedPools) {
  const auto infer = [](const std::string& extent, const std::string& stride, const std::string& rounding) {
    return InferOne("opset1.MaxPool", "f32[1,3," + extent + "]",
                    "kernel = [3], strides = [" + stride +
                        "], pads_begin = [0], pads_end = [0], auto_pad = "
                        "\"same_upper\", rounding_type = \"" +
                        rounding + "\"");
  };
  EXPECT_EQ(infer("4..8", "2", "floor"), "f32[1,3,2..4]");
  EXPECT_EQ(infer("4..8", "2", "ceil"), "f32[1,3,2..5]");
  EXPECT_EQ(infer("4..", "2", "ceil"), "f32[1,3,2..]");
  for (const char* rounding : {"floor", "ceil"}) {
    EXPECT_EQ(infer("0", "2", rounding), "opset.extent") << rounding;
    EXPECT_EQ(infer("1", "2", rounding), "f32[1,3,1]") << rounding;
    EXPECT_EQ(infer("2", "2", rounding), "f32[1,3,1]") << rounding;
    EXPECT_EQ(infer("8", "2", rounding), "f32[1,3,4]") << rounding;
  }
  const std::string padded = "strides = [2], pads_begin = [0], pads_end = [0], dilations = [1], auto_pad = ";
  for (const char* side : {"\"same_upper\"", "\"same_lower\""})
    EXPECT_EQ(InferOne("opset1.Convolution", "f32[1,3,0]; f32[4,3,3]", padded + side), "f32[1,4,0]") << side;
}

// Windows extend over at most 2^40 elements before their dilation; they may reach beyond the largest integer
// where the extent has no bound.
TEST(OpsetCorners, TheLargestWindows) {
  const std::string largest = "1099511627776", next = "1099511627777";
  const auto pool = [](const std::string& extent, const std::string& kernel, const std::string& dilation,
                       const std::string& pad) {
    return InferCase({0, "opset8.MaxPool", "f32[1,3," + extent + "]",
                      "kernel = [" + kernel + "], dilations = [" + dilation + "], pads_begin = [" + pad +
                          "], pads_end = [0], strides = [1]",
                      "x"});
  };
  EXPECT_EQ(pool(largest, largest, "1", "0"), "f32[1,3,1]");
  EXPECT_EQ(pool(next, largest, "1", "0"), "f32[1,3,2]");
  EXPECT_EQ(pool(next, next, "1", "0"), "opset.attribute-value");
  EXPECT_EQ(pool("?", "2", largest, "0"), "f32[1,3,1..]");
  EXPECT_EQ(pool("?", "2", next, "0"), "opset.attribute-value");
  for (const char* pad : {"0", "1"}) EXPECT_EQ(pool("?", largest, largest, pad), "f32[1,3,1..]") << pad;
  EXPECT_NE(pool("?", largest, largest, "-1"), "opset.extent");
  EXPECT_EQ(pool("9", largest, largest, "0"), "opset.extent");
  EXPECT_EQ(pool("9", "0", "1", "0"), "opset.attribute-value");
}

// SegmentMax without a number of segments has those up to the largest id.
TEST(OpsetCorners, SegmentsEndWithTheLargestId) {
  const auto infer = [](const std::string& rows, const std::string& ids) {
    return InferOne("opset16.SegmentMax", "f32[" + rows + ",3]; i64[" + rows + "] = " + ids,
                    "fill_mode = \"zero\"");
  };
  EXPECT_EQ(infer("1", "4"), "f32[5,3]");
  EXPECT_EQ(infer("1", "0"), "f32[1,3]");
  EXPECT_EQ(infer("2", "4 4"), "f32[5,3]");
  EXPECT_EQ(infer("2", "1 4"), "f32[5,3]");
  EXPECT_EQ(infer("0", ""), "f32[0,3]");
  EXPECT_EQ(infer("2", "4 1"), "opset.constant-input");
}

}  // namespace
}  // namespace nnefc::ir::ops::opset

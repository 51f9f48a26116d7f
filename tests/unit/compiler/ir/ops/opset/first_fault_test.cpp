// Nodes of OpenVINO operations with several faults: only the first one is reported.

#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

struct FaultyNode {
  const char* op;
  const char* inputs;
  const char* attributes;
  const char* first;  // the label of the first fault
};

void ExpectOneMessage(std::initializer_list<FaultyNode> nodes) {
  for (const FaultyNode& node : nodes) {
    int num_messages = 0;
    std::string message;
    EXPECT_EQ(InferCase({0, node.op, node.inputs, node.attributes, ""}, &message, &num_messages), node.first)
        << node.op << " | " << node.inputs;
    EXPECT_EQ(num_messages, 1) << node.op << " | " << node.inputs << ": " << message;
  }
}

// The type of the indices, that of `k`, the order of a stable selection, and the range of `k`.
TEST(OpsetFirstFault, OfTopK) {
  ExpectOneMessage({
      {"opset1.TopK", "f32[2,3]; u8[] = 1",
       "axis = 1, mode = \"max\", sort = \"none\", index_element_type = f32", "opset.element-type"},
      {"opset1.TopK", "f32[2,3]; u8[] = 7", "axis = 1, mode = \"max\", sort = \"none\"",
       "opset.element-type"},
      {"opset11.TopK", "f32[2,3]; i64[] = -1", "axis = 1, mode = \"max\", sort = \"none\", stable = true",
       "opset.attribute-value"},
      {"opset11.TopK", "f32[2,3]; i64[] = 4", "axis = 2, mode = \"max\", sort = \"none\"", "opset.axis"},
  });
}

TEST(OpsetFirstFault, OfReshape) {
  for (const char* target : {"-2 -2", "-1 -1", "-2 -1", "-1 -2"})
    ExpectOneMessage({{"opset1.Reshape", (std::string("f32[2,3]; i64[2] = ") + target).c_str(),
                       "special_zero = false", "opset.constant-input"}});
  ExpectOneMessage({
      {"opset1.Reshape", "f32[2]; i64[4] = 0 0 0 -2", "special_zero = true", "opset.constant-input"},
      {"opset1.Reshape", "f32[2]; i64[3] = 3 0 -1", "special_zero = true", "opset.constant-input"},
  });
}

// The rank of the updates, the axis, and the extents of the updates.
TEST(OpsetFirstFault, OfScatterUpdate) {
  ExpectOneMessage({
      {"opset3.ScatterUpdate", "f32[2,3]; i64[4]; f32[2]; i64[] = 5", "", "opset.rank"},
      {"opset3.ScatterUpdate", "f32[2,3]; i64[4]; f32[2]; i64[] = 1", "", "opset.rank"},
      {"opset3.ScatterUpdate", "f32[2,3]; i64[4]; f32[9,9]; i64[] = 5", "", "opset.axis"},
  });
}

// A segment for each row, ascending segments, and their number; in SparseFillEmptyRows the types, the pairs,
// the extents and their values.
TEST(OpsetFirstFault, OfSparseOperations) {
  ExpectOneMessage({
      {"opset16.SegmentMax", "f32[4,3]; i64[3] = 2 1 0; i64[] = -1", "fill_mode = \"zero\"", "opset.extent"},
      {"opset16.SegmentMax", "f32[3,3]; i64[3] = 2 1 0; i64[] = -1", "fill_mode = \"zero\"",
       "opset.constant-input"},
      {"opset16.SparseFillEmptyRows", "f32[2]; i64[2] = -1 2; i64[3,2]; i32[]", "", "opset.element-type"},
      {"opset16.SparseFillEmptyRows", "f32[2]; i64[3] = -1 2 2; i32[3,2]; f32[]", "", "opset.element-type"},
      {"opset16.SparseFillEmptyRows", "f32[2]; i64[3] = -1 2 2; i64[3,2]; f32[]", "", "opset.extent"},
      {"opset16.SparseFillEmptyRows", "f32[2]; i64[3] = -1 2 2; i64[2,2]; f32[]", "", "opset.extent"},
      {"opset16.SparseFillEmptyRows", "f32[1]; i64[2] = -1 2; i64[1,2] = 7 0; f32[]", "",
       "opset.constant-input"},
      {"opset1.GatherTree", "i32[2,3,4]; i64[2,3,5]; i32[9]; i32[]", "", "opset.element-type"},
      {"opset1.GatherTree", "i32[2,3,4]; i32[2,3,5]; i32[9]; i32[]", "", "opset.extent"},
  });
}

// The types of indices and offsets, then the weights, then the number of bags.
TEST(OpsetFirstFault, OfEmbeddings) {
  ExpectOneMessage({
      {"opset15.EmbeddingBagOffsets", "f32[5,2]; i64[4]; i32[3]; i64[]; f32[3]", "reduction = \"mean\"",
       "opset.element-type"},
      {"opset15.EmbeddingBagOffsets", "f32[5,2]; i64[4]; i64[3]; i64[]; f32[3]", "reduction = \"mean\"",
       "opset.extent"},
      {"opset15.EmbeddingBagPacked", "f32[5,2]; i64[4,2]; f32[4,3]", "reduction = \"mean\"", "opset.extent"},
      {"opset3.EmbeddingSegmentsSum", "f32[5,2]; i64[4]; i32[3]; i64[] = -1; i64[]; f32[3]", "",
       "opset.element-type"},
      {"opset3.EmbeddingSegmentsSum", "f32[5,2]; i64[4]; i64[3]; i64[] = -1; i64[]; f32[3]", "",
       "opset.extent"},
      {"opset3.EmbeddingSegmentsSum", "f32[5,2]; i64[4]; i64[3]; i64[] = -1; i64[]; f32[4]", "",
       "opset.extent"},
  });
}

TEST(OpsetFirstFault, OfBoxes) {
  ExpectOneMessage({
      {"opset9.NonMaxSuppression", "f64[1,5,4]; f64[1,2,6]", "output_type = f32", "opset.attribute-value"},
      {"opset9.NonMaxSuppression", "f64[1,5,4]; f64[1,2,6]", "", "opset.element-type"},
      {"opset9.NonMaxSuppression", "f32[1,1,4] = 0 0 1 1; f32[1,1,9] = 1 1 1 1 1 1 1 1 1; i64[] = 9", "",
       "opset.extent"},
      {"opset8.MatrixNms", "f32[1,5,4]; f32[1,2,6]", "output_type = f32, nms_top_k = -2",
       "opset.attribute-value"},
      {"opset9.MulticlassNms", "f32[1,5,4]; f32[1,2,6]", "nms_top_k = -2, keep_top_k = -2, nms_eta = 2.0",
       "opset.attribute-value"},
      {"opset3.ROIAlign", "f32[2,3,8,8]; f32[5,3]; i64[4]",
       "pooled_h = 2, pooled_w = 2, sampling_ratio = 0, spatial_scale = 1.0, mode = \"avg\"", "opset.extent"},
      // Densities and sizes of different number; ratios of another number; the range of densities.
      {"opset1.PriorBox", "i64[2] = 4 4; i64[2] = 8 8",
       "offset = 0.0, fixed_size = [1.0,2.0], density = [0.5]", "opset.attribute-value"},
      {"opset1.PriorBox", "i64[2] = 4 4; i64[2] = 8 8",
       "offset = 0.0, fixed_size = [1.0], density = [0.5], fixed_ratio = [1.0,2.0,3.0]",
       "opset.attribute-value"},
      {"opset1.PriorBox", "i64[2] = 4 4; i64[2] = 8 8",
       "offset = 0.0, fixed_size = [1.0,2.0], density = [0.5,0.25]", "opset.attribute-value"},
  });
}

// The element types, then the extents of the planes.
TEST(OpsetFirstFault, OfColors) {
  for (const char* op : {"opset8.NV12toRGB", "opset8.NV12toBGR"})
    ExpectOneMessage({{op, "f32[1,4,4,3]; u8[1,2,2,2]", "", "opset.element-type"},
                      {op, "i32[1,4,4,3]; i32[1,2,2,2]", "", "opset.element-type"},
                      {op, "f32[1,4,4,3]; f32[1,3,2,2]", "", "opset.extent"}});
}

// The number of inputs, the limits, then the extents of the inputs.
TEST(OpsetFirstFault, OfDetectionOutput) {
  const char* limits = "nms_threshold = 0.5, keep_top_k = [-2], normalized = true";
  ExpectOneMessage({
      {"opset8.DetectionOutput", "f32[2,40]; f32[2,30]; f32[1,2,40]; f32[2,20]", limits,
       "opset.number-of-inputs"},
      {"opset8.DetectionOutput", "f32[2,40]; f32[3,30]; f32[1,2,40]", limits, "opset.attribute-value"},
      {"opset8.DetectionOutput", "f32[2,40]; f32[3,30]; f32[1,2,41]",
       "nms_threshold = 0.5, keep_top_k = [5], normalized = true", "opset.extent"},
  });
}

// The variances, then the numbers of sizes; the bins, then the length.
TEST(OpsetFirstFault, OfPriorBoxesAndSignals) {
  const char* faults = "offset = 0.0, variance = [0.1,0.2], ";
  ExpectOneMessage({
      {"opset1.PriorBox", "i64[2] = 4 4; i64[2] = 8 8",
       (std::string(faults) + "fixed_size = [1.0], min_size = [2.0]").c_str(), "opset.attribute-value"},
      {"opset1.PriorBoxClustered", "i64[2] = 4 4; i64[2] = 8 8",
       (std::string(faults) + "width = [1.0,2.0], height = [3.0]").c_str(), "opset.attribute-value"},
      {"opset16.ISTFT", "f32[1,4,3,2]; f32[4]; i64[] = 4; i64[] = 2; i64[] = -1",
       "center = false, normalized = false", "opset.extent"},
      {"opset16.ISTFT", "f32[1,3,3,2]; f32[4]; i64[] = 4; i64[] = 2; i64[] = -1",
       "center = false, normalized = false", "opset.constant-input"},
  });
}

// The value of the padding, the number of pads, and the first axis of those that are padded too far.
TEST(OpsetFirstFault, OfPads) {
  ExpectOneMessage({
      {"opset1.Pad", "f32[2,3]; i64[3] = 9 9 9; i64[2] = 9 9; i64[]", "pad_mode = \"constant\"",
       "opset.element-type"},
      {"opset1.Pad", "f32[2,3]; i64[3] = 9 9 9; i64[4] = 9 9 9 9", "pad_mode = \"reflect\"",
       "opset.constant-input"},
      {"opset1.Pad", "f32[2,3]; i64[2] = -1 9; i64[2] = 9 9", "pad_mode = \"reflect\"",
       "opset.constant-input"},
      {"opset1.Pad", "f32[2,3]; i64[2] = 9 9; i64[2] = 9 9", "pad_mode = \"reflect\"", "opset.extent"},
      {"opset1.Pad", "f32[2,3]; i64[2] = 9 9; i64[2] = 9 9", "pad_mode = \"symmetric\"", "opset.extent"},
      {"opset12.Pad", "f32[2,3]; i64[2] = 9 9; i64[2] = -20 -20", "pad_mode = \"reflect\"", "opset.extent"},
      {"opset12.Pad", "f32[2,3]; i64[2] = -9 -9; i64[2] = 0 0", "pad_mode = \"constant\"", "opset.extent"},
  });
}

// The first of the limits or scales that does not broadcast.
TEST(OpsetFirstFault, OfQuantization) {
  ExpectOneMessage({
      {"opset1.FakeQuantize", "f32[2,3]; f32[4]; f32[5]; f32[6]; f32[7]", "levels = 256", "opset.broadcast"},
      {"opset13.FakeConvert", "f32[2,3]; f32[4]; f32[5]", "destination_type = \"f8e4m3\"", "opset.broadcast"},
  });
}

// The type of the indices, then the axis or the extents.
TEST(OpsetFirstFault, OfPools) {
  const std::string window = "strides = [1,1], pads_begin = [0,0], pads_end = [0,0], kernel = [3,3], axis = ";
  for (const char* axis : {"-4", "3"}) {
    const std::string results = "f32[?,?,?,?]; i64[?,?,?,?]";
    EXPECT_EQ(InferCase({0, "opset8.MaxPool", "f32[...]", window + axis, results}), results);
  }
  for (const char* axis : {"-5", "4"})
    ExpectOneMessage({{"opset8.MaxPool", "f32[...]", (window + axis).c_str(), "opset.axis"}});
  ExpectOneMessage({
      {"opset8.MaxPool", "f32[1,3,12,13]",
       "strides = [1,1], pads_begin = [0,0], pads_end = [0,0], kernel = [3,3], index_element_type = f32, "
       "axis = 4",
       "opset.element-type"},
      {"opset8.AdaptiveMaxPool", "f32[1,3,12,13]; i64[2] = -1 4", "index_element_type = f32",
       "opset.element-type"},
      {"opset8.AdaptiveMaxPool", "f32[1,3,12,13]; i64[1] = -1", "", "opset.constant-input"},
  });
}

// The type of the sizes or scales, the axes, the number of items, and the items.
TEST(OpsetFirstFault, OfInterpolate) {
  const std::string mode = "mode = \"nearest\", shape_calculation_mode = ";
  const std::string sizes = mode + "\"sizes\"", scales = mode + "\"scales\"";
  for (const char* type : {"i32", "i64", "u32", "u64"}) {
    EXPECT_EQ(InferCase({0, "opset11.Interpolate",
                         std::string("f32[1,3,4,5]; ") + type + "[2] = 8 9; i64[2] = 2 3", sizes, ""}),
              "f32[1,3,8,9]");
  }
  for (const char* type : {"i8", "u8", "i16", "u16", "f16", "f32"}) {
    ExpectOneMessage(
        {{"opset11.Interpolate", (std::string("f32[1,3,4,5]; ") + type + "[1]; i64[2] = 2 4").c_str(),
          sizes.c_str(), "opset.element-type"}});
  }
  for (const char* type : {"i32", "i64", "f64"}) {
    ExpectOneMessage(
        {{"opset11.Interpolate", (std::string("f32[1,3,4,5]; ") + type + "[1]; i64[2] = 2 4").c_str(),
          scales.c_str(), "opset.element-type"}});
  }
  ExpectOneMessage({
      {"opset11.Interpolate", "f32[1,3,4,5]; i64[1] = -1; i64[2] = 2 4", sizes.c_str(), "opset.axis"},
      {"opset11.Interpolate", "f32[1,3,4,5]; i64[1] = -1; i64[2] = 2 3", sizes.c_str(),
       "opset.constant-input"},
  });
}

}  // namespace
}  // namespace nnefc::ir::ops::opset

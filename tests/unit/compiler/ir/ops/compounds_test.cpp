// Region-of-interest operations, matrix multiplication and the compounds of R 4.9 without a window or a
// reduction.

#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/infer_support.h"

namespace nnefc::ir::ops {
namespace {

TEST(RoiTest, Shapes) {
  for (std::string_view op : {"avg_roi_pool", "max_roi_pool", "roi_resample"}) {
    EXPECT_EQ(Infer({op, {"f32[2,3,16,16]", "f32[5,4]", "i64[5,1]"}, "output_size = [7,8]"}), "f32[5,3,7,8]")
        << op;
  }
  EXPECT_EQ(Infer({"max_roi_pool", {"f32[2,3,16]", "f32[?,2]", "i64[5,1]"}, "output_size = [7]"}),
            "f32[5,3,7]");
  for (std::string_view op : {"avg_roi_align", "max_roi_align"}) {
    EXPECT_EQ(
        Infer({op, {"f32[2,3,16,16]", "f32[5,4]", "i64[5,1]"}, "output_size = [7,8], sampling_rate = [2,2]"}),
        "f32[5,3,7,8]")
        << op;
  }
}

TEST(RoiTest, Rules) {
  const auto pool = [](std::string_view input, std::string_view rois, std::string_view batch,
                       std::string_view attributes) {
    return Infer({"avg_roi_pool", {input, rois, batch}, attributes});
  };
  EXPECT_EQ(pool("f32[2,3]", "f32[5,4]", "i64[5,1]", "output_size = [7,8]"), "roi.input");
  EXPECT_EQ(pool("f32[2,3,9,9]", "f32[5,2]", "i64[5,1]", "output_size = [7,8]"), "roi.rois");
  EXPECT_EQ(pool("f32[2,3,9,9]", "f32[5,4,1]", "i64[5,1]", "output_size = [7,8]"), "roi.rois");
  EXPECT_EQ(pool("f32[2,3,9,9]", "f32[5,4]", "i64[4,1]", "output_size = [7,8]"), "roi.batch-index");
  EXPECT_EQ(pool("f32[2,3,9,9]", "f32[5,4]", "i64[5,2]", "output_size = [7,8]"), "roi.batch-index");
  EXPECT_EQ(pool("f32[2,3,9,9]", "f32[5,4]", "i64[5]", "output_size = [7,8]"), "roi.batch-index");
  EXPECT_EQ(pool("f32[2,3,9,9]", "f32[5,4]", "f32[5,1]", "output_size = [7,8]"), "node.input-type");
  EXPECT_EQ(pool("f32[2,3,9,9]", "f32[5,4]", "i64[5,1]", "output_size = [7]"), "roi.output-size");
  EXPECT_EQ(pool("f32[2,3,9,9]", "f32[5,4]", "i64[5,1]", "output_size = [7,0]"), "roi.output-size");
  EXPECT_EQ(
      Infer({"roi_resample", {"f32[2,3,9]", "f32[5,2]", "i64[5,1]"}, "output_size = [7], method = \"x\""}),
      "roi.method");
  EXPECT_EQ(Infer({"avg_roi_align",
                   {"f32[2,3,9]", "f32[5,2]", "i64[5,1]"},
                   "output_size = [7], sampling_rate = [0]"}),
            "roi.sampling-rate");
}

TEST(MatmulTest, Shapes) {
  EXPECT_EQ(Infer({"matmul", {"f32[2,3]", "f32[3,4]"}}), "f32[2,4]");
  EXPECT_EQ(Infer({"matmul", {"f32[3,2]", "f32[3,4]"}, "transposeA = true"}), "f32[2,4]");
  EXPECT_EQ(Infer({"matmul", {"f32[2,3]", "f32[4,3]"}, "transposeB = true"}), "f32[2,4]");
  EXPECT_EQ(Infer({"matmul", {"f32[3,2]", "f32[4,3]"}, "transposeA = true, transposeB = true"}), "f32[2,4]");
  EXPECT_EQ(Infer({"matmul", {"f32[5,1,2,3]", "f32[1,6,3,4]"}}), "f32[5,6,2,4]");
  EXPECT_EQ(Infer({"matmul", {"f32[?,3]", "f32[?,4]"}}), "f32[?,4]");
  EXPECT_EQ(Infer({"linear", {"f32[2,3]", "f32[4,3]", "f32[1,4]"}}), "f32[2,4]");
  EXPECT_EQ(Infer({"linear", {"f32[2,3]", "f32[4,3]", "f32[]"}}), "f32[2,4]");
}

TEST(MatmulTest, Rules) {
  EXPECT_EQ(Infer({"matmul", {"f32[2,3]", "f32[4,3]"}}), "matmul.inner-extents");
  EXPECT_EQ(Infer({"matmul", {"f32[2,3]", "f32[1,3,4]"}}), "matmul.rank");
  EXPECT_EQ(Infer({"matmul", {"f32[3]", "f32[3]"}}), "matmul.rank");
  EXPECT_EQ(Infer({"matmul", {"f32[5,2,3]", "f32[6,3,4]"}}), "binary.broadcast");
  EXPECT_EQ(Infer({"linear", {"f32[2,3]", "f32[4,3]", "f32[1,5]"}}), "binary.broadcast");
  EXPECT_EQ(Infer({"linear", {"f32[2,3]", "f32[3,4]", "f32[]"}}), "matmul.inner-extents");
}

TEST(ActivationTest, ShapesAndRules) {
  for (std::string_view op : {"sigmoid", "relu", "gelu", "silu", "softplus", "elu", "selu", "tanh"}) {
    EXPECT_EQ(Infer({op, {"f32[2,?]"}}), "f32[2,?]") << op;
    EXPECT_EQ(Infer({op, {"i64[2]"}}), "node.input-type") << op;
  }
  EXPECT_EQ(Infer({"leaky_relu", {"f32[2]"}, "alpha = 0.5"}), "f32[2]");
  EXPECT_EQ(Infer({"leaky_relu", {"f32[2]"}}), "node.missing-attribute");
  EXPECT_EQ(Infer({"leaky_relu", {"f32[2]"}, "alpha = 1"}), "node.attribute-kind");
  EXPECT_EQ(Infer({"prelu", {"f32[2,3,4]", "f32[1,3]"}}), "f32[2,3,4]");
  EXPECT_EQ(Infer({"prelu", {"f32[2,3,4]", "f32[3]"}}), "binary.broadcast");
  EXPECT_EQ(Infer({"softmax", {"f32[2,3,4]"}}), "f32[2,3,4]");
  EXPECT_EQ(Infer({"softmax", {"f32[2,3,4]"}, "axes = [1,2]"}), "f32[2,3,4]");
  EXPECT_EQ(Infer({"softmax", {"f32[2]"}}), "axis.range");
}

TEST(NormalizationTest, ShapesAndRules) {
  for (std::string_view op : {"local_response_normalization", "local_mean_normalization",
                              "local_variance_normalization", "local_contrast_normalization"}) {
    EXPECT_EQ(Infer({op, {"f32[1,8,?]"}, "size = [1,5,1]"}), "f32[1,8,?]") << op;
    EXPECT_EQ(Infer({op, {"f32[1,8,?]"}, "size = [1,5]"}), "normalization.size") << op;
    EXPECT_EQ(Infer({op, {"f32[1,8,?]"}, "size = [1,0,1]"}), "normalization.size") << op;
  }
  for (std::string_view op : {"l1_normalization", "l2_normalization"}) {
    EXPECT_EQ(Infer({op, {"f32[1,8]"}, "axes = [1]"}), "f32[1,8]") << op;
    EXPECT_EQ(Infer({op, {"f32[1,8]"}, "axes = [2]"}), "axis.range") << op;
  }
  EXPECT_EQ(Infer({"batch_normalization",
                   {"f32[2,3,4,4]", "f32[1,3]", "f32[1,3]", "f32[1,3]", "f32[]"},
                   "epsilon = 0.001"}),
            "f32[2,3,4,4]");
  EXPECT_EQ(
      Infer({"batch_normalization", {"f32[2,3]", "f32[3]", "f32[]", "f32[]", "f32[]"}, "epsilon = 0.001"}),
      "binary.broadcast");
}

TEST(QuantizationTest, ShapesAndRules) {
  const std::string_view attributes = "bits = 8, signed = true, symmetric = true";
  EXPECT_EQ(Infer({"min_max_linear_quantize", {"f32[2,3]", "f32[]", "f32[1,3]"}, attributes}), "f32[2,3]");
  EXPECT_EQ(Infer({"zero_point_linear_quantize", {"f32[2,3]", "i64[]", "f32[1,3]"}, attributes}), "f32[2,3]");
  EXPECT_EQ(Infer({"zero_point_linear_quantize", {"f32[2,3]", "f32[]", "f32[]"}, attributes}),
            "node.input-type");
  EXPECT_EQ(Infer({"linear_quantize", {"f32[2,3]", "f32[]", "f32[]"}, "bits = 8"}), "f32[2,3]");
  EXPECT_EQ(Infer({"logarithmic_quantize", {"f32[2,3]", "f32[]"}, "bits = 4"}), "f32[2,3]");
  EXPECT_EQ(Infer({"logarithmic_quantize", {"f32[2,3]", "f32[3]"}, "bits = 4"}), "binary.broadcast");
  for (std::string_view bits : {"bits = 0", "bits = -1", "bits = 63", "bits = 9223372036854775807"}) {
    EXPECT_EQ(Infer({"linear_quantize", {"f32[2,3]", "f32[]", "f32[]"}, bits}), "quantize.bits") << bits;
  }
  EXPECT_EQ(Infer({"min_max_linear_quantize",
                   {"f32[2]", "f32[]", "f32[]"},
                   "bits = 1, signed = true, symmetric = true"}),
            "quantize.bits");
}

TEST(MiscellaneousTest, ShapesAndRules) {
  EXPECT_EQ(Infer({"copy_n", {"i64[2]"}, "times = 3", 3}), "i64[2]; i64[2]; i64[2]");
  EXPECT_EQ(Infer({"copy_n", {"f32[2]"}, "times = 2", 3}), "node.arity");
  EXPECT_EQ(Infer({"copy_n", {"f32[2]"}, "times = -1", 1}), "copy_n.times");
  EXPECT_EQ(Infer({"add_n", {"f32[2,3]", "f32[2,3]", "f32[2]"}}), "f32[2,3]");
  EXPECT_EQ(Infer({"add_n", {}}), "f32[]");
  EXPECT_EQ(Infer({"add_n", {"f32[2]", "f32[3]"}}), "binary.broadcast");
}

}  // namespace
}  // namespace nnefc::ir::ops

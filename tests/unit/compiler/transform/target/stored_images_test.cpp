// target.StoreImagesInF32: which convolutions have f32 images by the times of steps.

#include "compiler/ir/ops/arithmetic/stored_images.h"
#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

// The shapes of the data, filter and result of the last product whose time was requested.
std::vector<Shape>& ShapesOfProduct() {
  static std::vector<Shape> shapes;
  return shapes;
}
double TimeOfAnyProduct(const ir::Node& node, llvm::ArrayRef<int64_t> data, llvm::ArrayRef<int64_t> filter,
                        llvm::ArrayRef<int64_t> result, bool in_f32) {
  ShapesOfProduct() = {Shape(data.begin(), data.end()), Shape(filter.begin(), filter.end()),
                       Shape(result.begin(), result.end())};
  const auto [first, second] = ProductTimes()[node.name()];
  return in_f32 ? first : second;
}

class StoredImagesTest : public TransformTest {
 protected:
  static std::string Pool(const std::string& name, const std::string& data) {
    return TargetStep(name, "opset1.MaxPool", "%" + data,
                      "strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [1, 1]");
  }

  // Returns the names of the marked convolutions.
  std::string Marked(llvm::ArrayRef<std::string> steps, bool has_times = true) {
    std::string text = TargetInput("x", "f32", "[1,1,2,2]") + TargetConstant("w", "f32[1,1,1,1]", "1") +
                       TargetConstant("w2", "f32[1,2,1,1]", "1, 1") +
                       TargetConstant("s", "f32[2]", "0.5, 0.5") + TargetConstant("s1", "f32[1]", "0.5") +
                       TargetConstant("pads", "i64[4]", "0, 0, 0, 0");
    for (const std::string& step : steps) text += step;
    images_.product = TimeOfProduct;
    const ir::StepTimes times{.images = has_times ? &images_ : nullptr};
    return MarkedIn(text, ir::PlanFunctions{.times = &times});
  }
  // The same for all steps of a graph, by the times of images or those of `plan`.
  std::string MarkedWithTimes(const std::string& text) {
    images_.product = TimeOfAnyProduct;
    const ir::StepTimes times{.images = &images_};
    return MarkedIn(text, ir::PlanFunctions{.times = &times});
  }
  std::string MarkedIn(const std::string& text, ir::PlanFunctions plan) {
    const auto graph = Parse(Numbered(text));
    if (graph == nullptr) return "no graph";
    EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kTarget,
                  {.only = {"target.StoreImagesInF32"}, .plan = std::move(plan)}),
              "");
    std::string marked;
    for (ir::NodeId id : graph->nodes()) {
      if (ir::ops::HasF32Images(graph->node(id)))
        marked += (marked.empty() ? "" : " ") + graph->node(id).name();
    }
    return marked;
  }

  // Per element, of four elements.
  ir::ImageTimes images_{.slope = {.in_f32 = 0, .in_bf16 = 5},
                         .function = {.in_f32 = 3, .in_bf16 = 1},
                         .pool = {.in_f32 = 4, .in_bf16 = 1},
                         .concat = {.in_f32 = 1, .in_bf16 = 2},
                         .convert = 2};
};

// A parameter is converted to bf16 for 8.
TEST_F(StoredImagesTest, ASingleConvolution) {
  const std::vector<std::string> steps = {TargetConvolution("c", "x"), TargetResultOf("c")};
  ProductTimes() = {{"c", {17, 10}}};
  EXPECT_EQ(Marked(steps), "c");
  EXPECT_EQ(Marked(steps, false), "");
  ProductTimes() = {{"c", {18, 10}}};  // equal
  EXPECT_EQ(Marked(steps), "");
  ProductTimes() = {{"c", {19, 10}}};
  EXPECT_EQ(Marked(steps), "");
}

// A conversion between two convolutions takes 8, in either direction.
TEST_F(StoredImagesTest, ConvolutionsInARow) {
  const std::vector<std::string> steps = {TargetConvolution("c", "x"), TargetConvolution("d", "c"),
                                          TargetResultOf("d")};
  ProductTimes() = {{"c", {10, 10}}, {"d", {19, 10}}};  // 18 and 10, or 10 and 18, or 29
  EXPECT_EQ(Marked(steps), "");
  ProductTimes() = {{"c", {1, 10}}, {"d", {30, 10}}};  // 28, or 1 + 8 + 10, or 31
  EXPECT_EQ(Marked(steps), "c");
  ProductTimes() = {{"c", {1, 10}}, {"d", {17, 10}}};  // 28, or 19, or 18
  EXPECT_EQ(Marked(steps), "c d");
  ProductTimes() = {{"c", {40, 2}}, {"d", {1, 20}}};  // 30, or 10 + 8 + 1
  EXPECT_EQ(Marked(steps), "d");
}

// Functions of one image follow it, also a PReLU with one slope; another one of bf16 images takes 20.
TEST_F(StoredImagesTest, Slopes) {
  const std::vector<std::string> relu = {TargetConvolution("c", "x"), TargetStep("r", "opset1.ReLU", "%c"),
                                         TargetConvolution("d", "r"), TargetResultOf("d")};
  const std::vector<std::string> slope = {TargetConvolution("c", "x"),
                                          TargetStep("p", "opset1.PReLU", "%c, %s"),
                                          TargetConvolution("d", "p"), TargetResultOf("d")};
  const std::vector<std::string> one = {TargetConvolution("c", "x"),
                                        TargetStep("p", "opset1.PReLU", "%c, %s1"),
                                        TargetConvolution("d", "p"), TargetResultOf("d")};
  ProductTimes() = {{"c", {20, 10}}, {"d", {17, 10}}};  // 28, or 37; with the slope 48, or 38, or 37
  EXPECT_EQ(Marked(relu), "");
  EXPECT_EQ(Marked(one), "");
  EXPECT_EQ(Marked(slope), "c d");
}

// A sum of two images takes 12 with f32 images and 4 with bf16, a MaxPool 16 and 4, a Concat of eight
// elements 8 and 16.
TEST_F(StoredImagesTest, OtherSteps) {
  const std::vector<std::string> sum = {TargetConvolution("c", "x"), TargetConvolution("d", "x"),
                                        TargetStep("a", "opset1.Add", "%c, %d"), TargetResultOf("a")};
  ProductTimes() = {{"c", {10, 10}}, {"d", {10, 9}}};  // 39, or 32
  EXPECT_EQ(Marked(sum), "c d");
  ProductTimes() = {{"c", {10, 5}}, {"d", {10, 5}}};  // 30, or 32
  EXPECT_EQ(Marked(sum), "");
  const std::vector<std::string> pool = {TargetConvolution("c", "x"), Pool("p", "c"), TargetResultOf("p")};
  ProductTimes() = {{"c", {13, 10}}};  // 22, or 29, or 13 + 8 + 4
  EXPECT_EQ(Marked(pool), "");
  ProductTimes() = {{"c", {9, 10}}};  // 22, or 25, or 21
  EXPECT_EQ(Marked(pool), "c");
  const std::vector<std::string> concat = {TargetConvolution("c", "x"), TargetConvolution("d", "x"),
                                           TargetStep("j", "opset1.Concat", "%c, %d", "axis = 1"),
                                           TargetConvolution("e", "j", "w2"), TargetResultOf("e")};
  ProductTimes() = {{"c", {10, 1}}, {"d", {10, 1}}, {"e", {12, 1}}};  // 9 + 9 + 16 + 1, or 40
  EXPECT_EQ(Marked(concat), "");
  ProductTimes() = {{"c", {10, 1}}, {"d", {10, 1}}, {"e", {6, 1}}};  // 35, or 34
  EXPECT_EQ(Marked(concat), "c d e");
}

// A Pad has f32 images: the convolutions on both sides convert for 8.
TEST_F(StoredImagesTest, StepsWithoutBf16Images) {
  const std::vector<std::string> steps = {
      TargetConvolution("c", "x"),
      TargetStep("p", "opset1.Pad", "%c, %pads, %pads", "pad_mode = \"reflect\""),
      TargetConvolution("d", "p"), TargetResultOf("d")};
  ProductTimes() = {{"c", {27, 10}}, {"d", {19, 10}}};  // each: 10 + 8 + 8, and 10 + 8
  EXPECT_EQ(Marked(steps), "");
  ProductTimes() = {{"c", {25, 10}}, {"d", {17, 10}}};
  EXPECT_EQ(Marked(steps), "c d");
}

// Images have one to three spatial axes.
class ImageRanksTest : public StoredImagesTest {
 protected:
  // "[1,1,4]" for rank 3: four elements in the last axis.
  static std::string Extents(int rank, int last = 4) {
    std::string text = "[";
    for (int i = 1; i < rank; ++i) text += "1,";
    return text + std::to_string(last) + "]";
  }
  static std::string Inputs(int rank) {
    return TargetInput("x", "f32", Extents(rank)) + TargetConstant("w", "f32" + Extents(rank, 1), "1");
  }
  // A convolution by a filter %w of one element.
  static std::string Convolution(const std::string& name, const std::string& data, int rank,
                                 const std::string& type = "Convolution") {
    std::string ones = "1", zeros = "0";
    for (int i = 3; i < rank; ++i) ones += ", 1", zeros += ", 0";
    return TargetStep(name, "opset1." + type, "%" + data + ", %w",
                      fmt::format("strides = [{}], dilations = [{}], pads_begin = [{}], pads_end = [{}]",
                                  ones, ones, zeros, zeros));
  }
};

TEST_F(ImageRanksTest, Convolutions) {
  for (const int rank : {3, 4, 5}) {
    SCOPED_TRACE(rank);
    const std::string text = Inputs(rank) + Convolution("c", "x", rank) + TargetResultOf("c");
    ProductTimes() = {{"c", {17, 10}}};
    EXPECT_EQ(MarkedWithTimes(text), "c");
    EXPECT_EQ(ir::ToString(ir::PartialShape(ShapesOfProduct()[0])), Extents(rank));
    EXPECT_EQ(ir::ToString(ir::PartialShape(ShapesOfProduct()[1])), Extents(rank, 1));
    EXPECT_EQ(ir::ToString(ir::PartialShape(ShapesOfProduct()[2])), Extents(rank));
    ProductTimes() = {{"c", {19, 10}}};
    EXPECT_EQ(MarkedWithTimes(text), "");
    const std::string groups = TargetInput("x", "f32", Extents(rank)) +
                               TargetConstant("w", "f32" + Extents(rank + 1, 1), "1") +
                               Convolution("c", "x", rank, "GroupConvolution") + TargetResultOf("c");
    ProductTimes() = {{"c", {17, 10}}};
    EXPECT_EQ(MarkedWithTimes(groups), "c");
    EXPECT_EQ(ir::ToString(ir::PartialShape(ShapesOfProduct()[1])), Extents(rank + 1, 1));
  }
}

// A function of an image has the type of both convolutions, which are faster together in f32: 20, or 18 + 8
// + 1. Moved elements are no image.
TEST_F(ImageRanksTest, StepsBetweenConvolutions) {
  ProductTimes() = {{"c", {19, 10}}, {"d", {1, 10}}};
  for (const int rank : {3, 4, 5}) {
    SCOPED_TRACE(rank);
    const auto between = [&](const std::string& step) {
      return MarkedWithTimes(Inputs(rank) + Convolution("c", "x", rank) + step + Convolution("d", "r", rank) +
                             TargetResultOf("d"));
    };
    EXPECT_EQ(between(TargetStep("r", "opset1.ReLU", "%c")), "c d");
    EXPECT_EQ(between(TargetStep("r", "opset1.Add", "%c, %x")), "c d");  // of one image
    std::string order = "0, 1", kernel = "1", zeros = "0";
    for (int i = 2; i < rank; ++i) order += ", " + std::to_string(i);
    for (int i = 3; i < rank; ++i) kernel += ", 1", zeros += ", 0";
    EXPECT_EQ(between(TargetConstant("order", fmt::format("i64[{}]", rank), order) +
                      TargetStep("r", "opset1.Transpose", "%c, %order")),
              "d");
    images_.pool = {};
    const std::string window = fmt::format(
        "kernel = [{}], strides = [{}], pads_begin = [{}], pads_end = [{}]", kernel, kernel, zeros, zeros);
    EXPECT_EQ(between(TargetStep("r", "opset1.MaxPool", "%c", window)), "c d");
    EXPECT_EQ(between(TargetStep("r", "opset1.AvgPool", "%c", window + ", exclude-pad = false")), "c d");
  }
}

// Values of other ranks do not have images: a sum of rank 6 of images of rank 5, and a Pad of a matrix.
TEST_F(ImageRanksTest, OtherRanks) {
  images_.function = {};
  ProductTimes() = {{"c", {19, 10}}, {"d", {1, 10}}};
  const auto sums = [&](int rank) {
    return MarkedWithTimes(Inputs(5) + TargetInput("y", "f32", Extents(rank)) + Convolution("c", "x", 5) +
                           Convolution("d", "x", 5) + TargetStep("a", "opset1.Add", "%c, %y") +
                           TargetStep("b", "opset1.Add", "%a, %d") + TargetResultOf("b"));
  };
  EXPECT_EQ(sums(5), "c d");
  EXPECT_EQ(sums(6), "d");
  images_.function = {.in_f32 = 5, .in_bf16 = 1};
  ProductTimes() = {{"c", {17, 10}}};
  const auto padded = [&](int rank) {
    const std::string zeros = rank == 2 ? "0, 0" : "0, 0, 0";
    return MarkedWithTimes(Inputs(3) + TargetInput("y", "f32", Extents(rank)) +
                           TargetConstant("pads", fmt::format("i64[{}]", rank), zeros) +
                           TargetStep("p", "opset1.Pad", "%y, %pads, %pads", "pad_mode = \"reflect\"") +
                           Convolution("c", "x", 3) + TargetStep("a", "opset1.Add", "%c, %p") +
                           TargetResultOf("a"));
  };
  EXPECT_EQ(padded(3), "");  // 17 + 20, or 18 + 4 + 8
  EXPECT_EQ(padded(2), "c");
}

// Both versions of Interpolate have f32 images alone, as Pad: the convolutions on both sides convert for 8.
TEST_F(StoredImagesTest, ResampledImages) {
  for (const std::string& interpolate :
       {TargetStep("p", "opset4.Interpolate", "%c, %sizes, %scales, %axes",
                   "mode = \"nearest\", shape_calculation_mode = \"sizes\""),
        TargetStep("p", "opset11.Interpolate", "%c, %sizes, %axes",
                   "mode = \"nearest\", shape_calculation_mode = \"sizes\"")}) {
    const std::vector<std::string> steps = {TargetConstant("sizes", "i64[2]", "2, 2"),
                                            TargetConstant("scales", "f32[2]", "1, 1"),
                                            TargetConstant("axes", "i64[2]", "2, 3"),
                                            TargetConvolution("c", "x"),
                                            interpolate,
                                            TargetConvolution("d", "p"),
                                            TargetResultOf("d")};
    ProductTimes() = {{"c", {27, 10}}, {"d", {19, 10}}};  // each: 10 + 8 + 8, and 10 + 8
    EXPECT_EQ(Marked(steps), "");
    ProductTimes() = {{"c", {25, 10}}, {"d", {17, 10}}};
    EXPECT_EQ(Marked(steps), "c d");
  }
}

// Each reader converts an image that is stored in another type.
TEST_F(StoredImagesTest, ReadersOfAnImage) {
  const std::vector<std::string> steps = {TargetConvolution("c", "x"), TargetConvolution("d", "c"),
                                          TargetConvolution("e", "c"), TargetResultOf("d"),
                                          TargetResultOf("e")};
  ProductTimes() = {{"c", {1, 10}}, {"d", {40, 10}}, {"e", {40, 10}}};  // 1 + 2 * 18, or 18 + 2 * 10
  EXPECT_EQ(Marked(steps), "c");
  ProductTimes() = {{"c", {3, 10}}, {"d", {40, 10}}, {"e", {40, 10}}};
  EXPECT_EQ(Marked(steps), "");
}

// Convolutions of f64 and of unknown shapes are not estimated. Without times, all convolutions are marked.
TEST_F(StoredImagesTest, OtherConvolutions) {
  const std::string attributes =
      "{strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]}";
  const std::string f64 = TargetInput("x", "f64", "[1,1,2,2]") + TargetConstant("w", "f64[1,1,1,1]", "1") +
                          "  %c = opset1.Convolution \"c\" (%x, %w) " + attributes + " : f64[...]\n" +
                          TargetResultOf("c");
  const std::string unknown = TargetInput("x", "f32", "[1,1,?,2]") +
                              TargetConstant("w", "f32[1,1,1,1]", "1") + TargetConvolution("c", "x") +
                              TargetResultOf("c");
  const std::string groups = TargetInput("x", "f32", "[1,1,2,2]") +
                             TargetConstant("w", "f32[1,1,1,1,1]", "1") +
                             TargetConvolution("c", "x", "w", "opset1.GroupConvolution") +
                             TargetStep("r", "opset1.ReLU", "%c") + TargetResultOf("r");
  ProductTimes() = {{"c", {1, 10}}};
  EXPECT_EQ(MarkedWithTimes(f64), "");
  EXPECT_EQ(MarkedWithTimes(unknown), "");
  for (const std::string& text : {f64, unknown, groups}) EXPECT_EQ(MarkedIn(text, {}), "c");
}

// The convolutions of very large graphs have no marks.
TEST_F(StoredImagesTest, VeryLargeGraphs) {
  // A parameter, five constants, and a Result each.
  for (const int count : {8189, 8190}) {
    ProductTimes().clear();
    std::vector<std::string> steps;
    for (int i = 0; i < count; ++i) {
      const std::string name = "c" + std::to_string(i);
      steps.push_back(TargetConvolution(name, "x"));
      steps.push_back(TargetResultOf(name));
    }
    EXPECT_EQ(Marked(steps).empty(), count == 8190) << count;
  }
}

}  // namespace
}  // namespace nnefc::transform::target

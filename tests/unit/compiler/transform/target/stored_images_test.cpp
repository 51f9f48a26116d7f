// target.StoreImagesInF32: which convolutions have f32 images by the times of steps.

#include "compiler/ir/ops/arithmetic/stored_images.h"
#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

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
    const auto graph = Parse(Numbered(text));
    if (graph == nullptr) return "no graph";
    images_.product = TimeOfProduct;
    const ir::StepTimes times{.images = has_times ? &images_ : nullptr};
    EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kTarget,
                  {.only = {"target.StoreImagesInF32"}, .plan = ir::PlanFunctions{.times = &times}}),
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

// NNEF's region operations (R 4.6) at the corners of regions: halves, both ends of the map, regions without
// elements. The expected numbers follow from the formulas on a row of five pixels.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::kernels {
namespace {

struct RegionCase {
  std::string operation;
  std::string method;  // of roi_resample
  float begin, end;
  std::vector<float> expected;
};

// A row of pixels in each of two images.
const std::vector<float> kPixels = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};

struct RegionGraph {
  TestGraph g;

  RegionGraph(const RegionCase& test, int64_t outputs) {
    ir::AttributeMap attributes;
    attributes.Set("output_size", ir::Attribute::Integers{outputs});
    if (!test.method.empty()) attributes.Set("method", test.method);
    const ir::OutputPort x = g.Parameter("x", {2, 1, 5}), rois = g.Parameter("rois", {1, 2}),
                         batch = g.Parameter("batch", {1, 1}, ElementType::kI64);
    g.Result(g.Op("nnef", test.operation, {x, rois, batch}, attributes));
  }
};

FaultOr<std::vector<TensorValue>> RunRegion(const RegionCase& test, int64_t outputs, int64_t batch,
                                            const std::vector<float>& pixels = kPixels) {
  const RegionGraph made(test, outputs);
  const auto executable = Compile(made.g.graph, {.backend = Backend::kReference});
  return engine::Session::Create(executable)
      ->Run({TensorValue::FromFloats({2, 1, 5}, pixels),
             TensorValue::FromFloats({1, 2}, {test.begin, test.end}),
             TensorValue::FromInts({1, 1}, {batch})});
}

void Check(const RegionCase& test) {
  SCOPED_TRACE(test.operation + " " + test.method + " from " + std::to_string(test.begin) + " to " +
               std::to_string(test.end));
  const auto outputs = static_cast<int64_t>(test.expected.size());
  const auto made = RunRegion(test, outputs, 0);
  ASSERT_TRUE(made.ok()) << made.error().message;
  ExpectNear((*made)[0], TensorValue::FromFloats({1, 1, outputs}, test.expected), 1e-6);
}

// The last pixel of a row is interpolated with itself, whatever is after it.
TEST(NnefRegionsTest, LastPixels) {
  const std::vector<float> pixels = {10, 20, 30, 40, 50, kNan, kNan, kNan, kNan, kNan};
  for (const char* method : {"aligned", "symmetric", "asymmetric"}) {
    for (const float begin : {3.0F, 4.0F}) {
      const auto made = RunRegion({"roi_resample", method, begin, 5, {}}, 4, 0, pixels);
      ASSERT_TRUE(made.ok()) << made.error().message;
      EXPECT_EQ((*made)[0].ElementAsDouble(3), 50) << method << begin;
    }
  }
}

TEST(NnefRegionsTest, CornersOfPools) {
  for (const RegionCase& test : std::vector<RegionCase>{
           {"avg_roi_pool", "", 0, 5, {30}},
           {"avg_roi_pool", "", 1, 2, {20}},
           // Halves are rounded up, below 0 too.
           {"avg_roi_pool", "", 0.5, 2.5, {25}},
           {"avg_roi_pool", "", -0.5, 2.5, {15, 25}},
           {"avg_roi_pool", "", -1.5, 1.5, {10, 15}},
           {"avg_roi_pool", "", 0.4375, 2.4375, {15}},
           // Elements before and after the map are ignored, and a cell without elements is 0.
           {"avg_roi_pool", "", -4, 2, {0, 0, 15}},
           {"avg_roi_pool", "", 3, 7, {45, 0}},
           {"max_roi_pool", "", 3, 7, {50, 0}},
           {"max_roi_pool", "", -4, 2, {0, 0, 20}},
           {"avg_roi_pool", "", -9, -5, {0}},
           {"max_roi_pool", "", 5, 9, {0}},
           // No region has a negative extent.
           {"avg_roi_pool", "", 2, 2, {0, 0}},
           {"avg_roi_pool", "", 3, 1, {0}},
           {"max_roi_pool", "", 3, 1, {0, 0}},
           // Cells overlap where the extent is no multiple of their number.
           {"max_roi_pool", "", 0, 5, {30, 50}},
           {"max_roi_pool", "", 0, 4, {20, 40}},
           {"avg_roi_pool", "", 1, 3, {20, 20, 20}},
       }) {
    Check(test);
  }
}

// Of zeros of either sign, the first one of a region is its maximum.
TEST(NnefRegionsTest, MaximaOfZeros) {
  for (const float first : {0.0F, -0.0F}) {
    std::vector<float> pixels(kPixels.size(), -1);
    pixels[1] = first;
    pixels[2] = -first;
    const auto made = RunRegion({"max_roi_pool", "", 0, 4, {}}, 1, 0, pixels);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ((*made)[0].ElementAsDouble(0), 0);
    EXPECT_EQ(std::signbit((*made)[0].ElementAsDouble(0)), std::signbit(first));
  }
}

TEST(NnefRegionsTest, CornersOfResampling) {
  for (const RegionCase& test : std::vector<RegionCase>{
           {"roi_resample", "asymmetric", 1, 3, {20, 30}},
           {"roi_resample", "asymmetric", 1, 3, {20, 25, 30, 30}},
           {"roi_resample", "symmetric", 0.5, 3.5, {15, 25, 35}},
           {"roi_resample", "symmetric", 0, 5, {30}},
           {"roi_resample", "symmetric", 0, 2, {10, 12.5, 17.5, 20}},
           {"roi_resample", "aligned", 1, 4, {20, 40}},
           {"roi_resample", "aligned", 0, 5, {10, 20, 30, 40, 50}},
           {"roi_resample", "aligned", 1, 4, {20}},
           // A region of at most one element.
           {"roi_resample", "asymmetric", 2, 2.5, {30, 30}},
           {"roi_resample", "symmetric", 2, 3, {30, 30}},
           {"roi_resample", "aligned", 2, 2, {30, 30}},
           // Positions outside the map are those of its first or last element.
           {"roi_resample", "asymmetric", -2, 2, {10, 10, 10, 20}},
           {"roi_resample", "asymmetric", -0.5, 1.5, {10, 15}},
           {"roi_resample", "asymmetric", 3, 7, {40, 50, 50, 50}},
           {"roi_resample", "aligned", 3.5, 5.5, {45, 50}},
       }) {
    Check(test);
  }
}

TEST(NnefRegionsTest, ImagesOfTheBatch) {
  const RegionCase test{"max_roi_pool", "", 1, 4, {}};
  for (const int64_t batch : {0, 1}) {
    const auto made = RunRegion(test, 1, batch);
    ASSERT_TRUE(made.ok());
    EXPECT_EQ((*made)[0].ElementAsDouble(0), batch == 0 ? 40 : 90);
  }
  for (const int64_t batch : {-1, 2}) {
    const auto made = RunRegion(test, 1, batch);
    ASSERT_FALSE(made.ok()) << batch;
    EXPECT_NE(made.error().message.find("`batch_index` of region 0 is outside a batch of 2"),
              std::string::npos)
        << made.error().message;
  }
}

// Regions of whole cells in uneven maps: several regions, channels and images, and another extent of each
// axis. A cell of a pool has 1 x 2 or 2 x 1 pixels; positions of a resampling are those of pixels.
TEST(NnefRegionsTest, RegionsOfSeveralAxes) {
  constexpr int64_t kImages = 2, kChannels = 3, kRows = 5, kColumns = 7, kHeight = 2, kWidth = 3;
  struct Region {
    int64_t image, row, column, row_step, column_step;
  };
  const std::vector<Region> regions = {{1, 0, 1, 1, 2}, {0, 1, 0, 2, 1}, {1, 3, 4, 1, 1}, {1, 0, 0, 2, 2}};
  const TensorValue x = RandomTensor({kImages, kChannels, kRows, kColumns}, 5);
  const auto pixel = [&](int64_t image, int64_t channel, int64_t row, int64_t column) {
    return x.ElementAsDouble(((image * kChannels + channel) * kRows + row) * kColumns + column);
  };
  std::vector<float> corners;
  std::vector<int64_t> images;
  std::vector<double> sums, maxima, firsts;
  for (const Region& region : regions) {
    images.push_back(region.image);
    for (int64_t corner : {region.row, region.column, region.row + kHeight * region.row_step,
                           region.column + kWidth * region.column_step})
      corners.push_back(static_cast<float>(corner));
    for (int64_t channel = 0; channel < kChannels; ++channel) {
      for (int64_t i = 0; i < kHeight; ++i) {
        for (int64_t j = 0; j < kWidth; ++j) {
          double sum = 0, largest = -HUGE_VAL;
          const int64_t top = region.row + i * region.row_step, left = region.column + j * region.column_step;
          for (int64_t row = top; row < top + region.row_step; ++row) {
            for (int64_t column = left; column < left + region.column_step; ++column) {
              sum += pixel(region.image, channel, row, column);
              largest = std::max(largest, pixel(region.image, channel, row, column));
            }
          }
          sums.push_back(sum / static_cast<double>(region.row_step * region.column_step));
          maxima.push_back(largest);
          firsts.push_back(pixel(region.image, channel, top, left));
        }
      }
    }
  }
  const auto count = static_cast<int64_t>(regions.size());
  const TensorValue rois = TensorValue::FromFloats({count, 4}, corners);
  const TensorValue batch = TensorValue::FromInts({count, 1}, images);
  for (const auto& [operation, expected] :
       {std::pair{"avg_roi_pool", sums}, {"max_roi_pool", maxima}, {"roi_resample", firsts}}) {
    ir::AttributeMap attributes;
    attributes.Set("output_size", ir::Attribute::Integers{kHeight, kWidth});
    if (operation == std::string("roi_resample")) attributes.Set("method", "asymmetric");
    TestGraph g;
    g.Result(g.Op("nnef", operation,
                  {g.Parameter("x", x.shape()), g.Parameter("rois", rois.shape()),
                   g.Parameter("batch", batch.shape(), ElementType::kI64)},
                  attributes));
    const std::vector<TensorValue> made =
        RunGraph(g.graph, {.backend = Backend::kReference, .threads = 2}, {x, rois, batch});
    ASSERT_EQ(made.size(), 1u);
    ASSERT_EQ(made[0].shape(), (Shape{count, kChannels, kHeight, kWidth}));
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(made[0].ElementAsDouble(static_cast<int64_t>(i)), expected[i], 1e-6) << operation << i;
  }
}

// Each corner alone is not finite, or farther from the map than any.
TEST(NnefRegionsTest, FarCorners) {
  for (const char* operation : {"avg_roi_pool", "max_roi_pool", "roi_resample"}) {
    const std::string method = operation == std::string("roi_resample") ? "asymmetric" : "";
    for (const float corner : {1e9F, -1e9F, 1.01e9F, -1.01e9F, kInfinity, -kInfinity, kNan}) {
      const bool is_near = std::abs(corner) <= 1e9F;
      for (const bool is_begin : {true, false}) {
        const RegionCase test{operation, method, is_begin ? corner : 1, is_begin ? 1 : corner, {}};
        EXPECT_EQ(RunRegion(test, 1, 0).ok(), is_near) << operation << " " << corner << " " << is_begin;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::kernels

// Operations on blocked images (nChw16c) next to convolutions, against the reference kernels: transposition
// to channels-last and back, additions and multiplications with per-channel values.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

constexpr char kChannels[] = "nnefc:channels";

ir::AttributeMap WindowOfOne(size_t axes) {
  const auto all = [&](int64_t number) { return ir::Attribute::Integers(axes, number); };
  ir::AttributeMap window;
  window.Set("strides", all(1));
  window.Set("dilations", all(1));
  window.Set("pads_begin", all(0));
  window.Set("pads_end", all(0));
  return window;
}

ir::OutputPort Mixed(TestGraph& g, ir::OutputPort x, unsigned seed) {
  const Shape shape = g.graph->output(x).shape.known_extents();
  Shape filter(shape.size(), 1);
  filter[0] = filter[1] = shape[1];
  return g.Op("Convolution", {x, g.Weights(filter, seed, 0.005F, 0.05F)}, WindowOfOne(shape.size() - 2));
}

TEST(BlockedImagesTest, ChannelsGoBehindPixelsAndBack) {
  for (const Shape& shape : {Shape{1, 32, 9, 11}, Shape{2, 21, 13, 7}, Shape{3, 40, 70},
                             Shape{1, 17, 3, 4, 5}, Shape{1, 48, 1, 1}, Shape{2, 16, 1, 130}}) {
    SCOPED_TRACE(ToString(shape));
    TestGraph g;
    const auto rank = static_cast<int64_t>(shape.size());
    std::vector<int64_t> behind = {0}, back = {0, rank - 1};
    for (int64_t axis = 2; axis < rank; ++axis) {
      behind.push_back(axis);
      back.push_back(axis - 1);
    }
    behind.push_back(1);
    const auto images = Mixed(g, g.Parameter("x", shape), 1);
    const auto rows = g.Op("Transpose", {images, g.Ints(behind)});
    g.Result(rows, "rows");
    const auto squared = g.Op("Multiply", {rows, rows});
    const auto again = g.Op("Transpose", {squared, g.Ints(back)});
    g.Result(Mixed(g, again, 2), "output");
    g.Result(again, "again");
    ExpectAsReference(g, {RandomTensor(shape, 3)}, kChannels);
  }
}

TEST(BlockedImagesTest, OtherTransposesReadRows) {
  TestGraph g;
  const auto images = Mixed(g, g.Parameter("x", {2, 32, 5, 6}), 1);
  g.Result(g.Op("Transpose", {images, g.Ints({0, 1, 3, 2})}), "pixels");
  g.Result(g.Op("Transpose", {images, g.Ints({1, 2, 3, 0})}), "batch");
  ExpectAsReference(g, {RandomTensor({2, 32, 5, 6}, 3)},
                    fast::simd::HasSimd() ? "nnefc:transpose" : "reference");
}

// Axes that count from the end, as OpenVINO permits, and tensors that are not images.
TEST(BlockedImagesTest, OrdersOfRows) {
  struct Case {
    Shape shape;
    std::vector<int64_t> order;
  };
  for (const Case& each :
       {Case{{2, 3}, {1, -2}}, Case{{2, 3}, {-1, 0}}, Case{{2, 3, 4}, {-1, -3, -2}},
        Case{{2, 3, 4}, {1, 0, 2}}, Case{{256, 2, 4}, {1, 0, 2}}, Case{{257, 2, 4}, {1, 0, 2}},
        Case{{600, 2, 4}, {1, 0, 2}}, Case{{5, 1, 4}, {2, 1, 0}}, Case{{2, 3, 4, 5}, {0, -1, 1, 2}},
        Case{{2, 3, 2, 3, 2}, {4, 3, 2, 1, 0}}}) {
    TestGraph g;
    g.Result(g.Op("Transpose", {g.Parameter("x", each.shape), g.Ints(each.order)}));
    ExpectAsReference(g, {RandomTensor(each.shape, 3)}, "");
  }
}

TEST(BlockedImagesTest, NumbersOfChannelsAndWhatFollows) {
  for (const Shape& shape : {Shape{1, 32, 9, 11}, Shape{2, 21, 17, 17}, Shape{1, 100, 3}}) {
    for (const char* type : {"Multiply", "Add", "Subtract", "Divide"}) {
      for (const bool numbers_first : {false, true}) {
        for (const Post post :
             {Post::kRelu, Post::kClamp, Post::kSwish, Post::kSigmoid, Post::kGelu, Post::kShift}) {
          SCOPED_TRACE(std::string(type) + ToString(shape) + std::to_string(static_cast<int>(post)));
          TestGraph g;
          Shape column(shape.size(), 1);
          column[1] = shape[1];
          const auto x = Mixed(g, g.Parameter("x", shape), 1);
          const auto numbers = g.Parameter("numbers", column);
          auto y = numbers_first ? g.Op(type, {numbers, x}) : g.Op(type, {x, numbers});
          y = Follow(g, post, y, column, {}, 4);
          g.Result(y);
          g.Result(Mixed(g, y, 2), "next");  // the padding of the last block is not read either
          g.Result(x, "images");
          const bool declined = type == std::string("Divide") && numbers_first;
          ExpectAsReference(g, {RandomTensor(shape, 3, 1, 2), RandomTensor(column, 5, 1, 2)},
                            declined ? "" : kChannels, 1e-4);
        }
      }
    }
  }
}

// The padding of the last block, which kernels of oneDNN multiply by zero weights, stays finite.
TEST(BlockedImagesTest, PaddingChannelsStayFinite) {
  for (const Shape& shape : {Shape{1, 21, 9, 11}, Shape{2, 40, 5, 5}}) {
    for (const char* type : {"Multiply", "Add", "Subtract", "Divide"}) {
      for (const bool is_of_each_image : {false, true}) {
        SCOPED_TRACE(std::string(type) + ToString(shape) +
                     std::to_string(static_cast<int>(is_of_each_image)));
        TestGraph g;
        const Shape column = {is_of_each_image ? shape[0] : 1, shape[1], 1, 1};
        const auto filter = [&](unsigned seed) {
          return g.Weights({shape[1], shape[1], 3, 3}, seed, 0.005F, 0.05F);
        };
        const auto x = g.Convolution(g.Parameter("x", shape), filter(1), 1);
        const auto y = g.Op(type, {x, g.Parameter("numbers", column)});
        g.Result(g.Convolution(y, filter(2), 1));
        g.Result(x, "images");
        const std::vector<TensorValue> inputs = {RandomTensor(shape, 3, 1, 2), RandomTensor(column, 5, 1, 2)};
        const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
        ExpectNear(RunGraph(g.graph, {.threads = 2, .way = "onednn_blocked"}, inputs)[0], expected[0], 1e-4);
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine

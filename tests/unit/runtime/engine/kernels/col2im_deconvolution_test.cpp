// Transposed convolutions with adjacent windows in our own microkernels, against the reference kernels, whose
// sums are in f64.

#include <random>

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

constexpr char kSpread[] = "nnefc:col2im";

struct Setting {
  Shape input;
  int64_t outputs;
  Shape window, strides;
  Shape padding = {};
};

void ExpectSpread(const Setting& setting, const std::vector<Post>& posts, unsigned seed,
                  const std::string& kernel = kSpread) {
  SCOPED_TRACE(ToString(setting.input) + " to " + std::to_string(setting.outputs) + " in windows " +
               ToString(setting.window));
  TestGraph g;
  Shape filter = {setting.input[1], setting.outputs};
  filter.append(setting.window.begin(), setting.window.end());
  const auto x = g.Parameter("x", setting.input);
  const auto integers = [](const Shape& shape) {
    return ir::Attribute::Integers(shape.begin(), shape.end());
  };
  const Shape none(setting.window.size(), 0), one(setting.window.size(), 1);
  ir::AttributeMap window;
  window.Set("strides", integers(setting.strides));
  window.Set("dilations", integers(one));
  window.Set("pads_begin", integers(setting.padding.empty() ? none : setting.padding));
  window.Set("pads_end", integers(none));
  auto y = g.Op("ConvolutionBackpropData", {x, g.Weights(filter, seed)}, window);
  const Shape result = g.graph->output(y).shape.known_extents();
  const auto residual = g.Parameter("residual", result);
  Shape column(result.size(), 1);
  column[1] = setting.outputs;
  for (size_t i = 0; i < posts.size(); ++i)
    y = Follow(g, posts[i], y, column, residual, seed + 1 + static_cast<unsigned>(i));
  g.Result(y);
  // Readers of whole blocks must not use the padding after the last channel.
  if (setting.window.size() == 2)
    g.Result(g.Convolution(y, g.Weights({16, setting.outputs, 3, 3}, seed + 19), 1), "next");
  g.Result(residual, "second");
  ExpectAsReference(g, {RandomTensor(setting.input, seed + 20), RandomTensor(result, seed + 21)}, kernel);
}

TEST(SpreadProductTest, WindowsOfManyKinds) {
  ExpectSpread({{1, 32, 5, 7}, 32, {2, 2}, {2, 2}}, {}, 1);
  ExpectSpread({{2, 48, 3, 29}, 64, {2, 3}, {2, 3}}, {Post::kBias}, 2);
  ExpectSpread({{1, 16, 4, 15}, 100, {1, 2}, {1, 2}}, {Post::kBias, Post::kRelu}, 3);
  ExpectSpread({{2, 40, 9}, 24, {4}, {4}}, {Post::kBias, Post::kSigmoid}, 4);
  ExpectSpread({{1, 17, 20, 3}, 17, {3, 1}, {3, 1}}, {Post::kShift}, 5);
  ExpectSpread({{1, 256, 40, 33}, 48, {2, 2}, {2, 2}}, {Post::kBias, Post::kResidual}, 6);
  ExpectSpread({{2, 40, 3, 4, 7}, 48, {2, 2, 2}, {2, 2, 2}}, {Post::kBias, Post::kResidual}, 7);
  ExpectSpread({{1, 17, 5, 3, 20}, 33, {1, 3, 2}, {1, 3, 2}}, {Post::kRelu}, 8);
}

TEST(SpreadProductTest, ChainsAtRandom) {
  std::mt19937 random(1);
  const auto draw = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (unsigned i = 0; i < 45; ++i) {
    Shape window = {draw(1, 3), draw(1, 3)}, input = {draw(1, 2), draw(16, 40), draw(1, 9), draw(1, 30)};
    if (i >= 30) {
      window.push_back(draw(1, 3));
      input.push_back(draw(1, 5));
    }
    std::vector<Post> posts;
    for (int64_t length = draw(0, 4); length > 0; --length)
      posts.push_back(kPosts[static_cast<size_t>(draw(0, kPosts.size() - 1))]);
    ExpectSpread({input, draw(16, 70), window, window}, posts, 100 + i, "");
  }
}

// Windows that overlap, have gaps between them or drop part of their border.
TEST(SpreadProductTest, OtherWindowsAreLeftToOthers) {
  ExpectSpread({{1, 32, 5, 7}, 32, {3, 3}, {2, 2}}, {}, 1, "");
  ExpectSpread({{1, 32, 5, 7}, 32, {2, 2}, {3, 3}}, {}, 2, "");
  ExpectSpread({{1, 32, 5, 7}, 32, {2, 2}, {2, 2}, {1, 1}}, {}, 3, "");
}

}  // namespace
}  // namespace nnefc::runtime::engine

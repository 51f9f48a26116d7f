// Products of many rows with constant matrices in our own tiles, against the reference kernels, whose sums
// are of f64: of rows and of pixels, with what follows them.

#include <random>

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

constexpr char kTiles[] = "nnefc:gemm";

// Checks x [.., rows, terms] times a constant, followed by `posts`.
void ExpectRows(const Shape& rows, int64_t terms, int64_t outputs, const std::vector<Post>& posts,
                const std::string& kernel, unsigned seed, double tolerance = 1e-5) {
  SCOPED_TRACE(ToString(rows) + " by " + std::to_string(terms) + " by " + std::to_string(outputs));
  Shape left = rows, result = rows;
  left.push_back(terms);
  result.push_back(outputs);
  for (const bool transposed : {false, true}) {
    TestGraph g;
    const auto x = g.Parameter("x", left);
    const auto residual = g.Parameter("residual", result);
    const Shape weights = transposed ? Shape{outputs, terms} : Shape{terms, outputs};
    auto y = g.Op("MatMul", {x, g.Weights(weights, seed)}, With("transpose_b", transposed));
    for (size_t i = 0; i < posts.size(); ++i)
      y = Follow(g, posts[i], y, {outputs}, residual, seed + 1 + static_cast<unsigned>(i));
    g.Result(y);
    g.Result(residual, "second");
    ExpectAsReference(g, {RandomTensor(left, seed + 20), RandomTensor(result, seed + 21)}, kernel, tolerance);
  }
}

void ExpectPixels(const Shape& input, int64_t outputs, const std::vector<Post>& posts,
                  const std::string& kernel, unsigned seed, double tolerance = 1e-5) {
  SCOPED_TRACE(ToString(input) + " to " + std::to_string(outputs));
  TestGraph g;
  Shape result = input;
  result[1] = outputs;
  const auto x = g.Parameter("x", input);
  const auto residual = g.Parameter("residual", result);
  auto y = g.Convolution(x, g.Weights({outputs, input[1], 1, 1}, seed), 0);
  for (size_t i = 0; i < posts.size(); ++i)
    y = Follow(g, posts[i], y, {1, outputs, 1, 1}, residual, seed + 1 + static_cast<unsigned>(i));
  g.Result(y);
  // Readers of whole blocks must not use the padding after the last channel.
  g.Result(g.Convolution(y, g.Weights({16, outputs, 3, 3}, seed + 19), 1), "next");
  ExpectAsReference(g, {RandomTensor(input, seed + 20), RandomTensor(result, seed + 21)}, kernel, tolerance);
}

TEST(DenseProductTest, RowsOfEverySizeOfTiles) {
  for (const int64_t rows : {32, 33, 41, 42, 43, 57, 70}) ExpectRows({rows}, 48, 48, {}, kTiles, 1);
  ExpectRows({3, 17}, 31, 16, {Post::kBias}, kTiles, 2);
  ExpectRows({2, 2, 16}, 1, 80, {Post::kBias, Post::kRelu}, kTiles, 3);
  ExpectRows({500}, 100, 96, {Post::kResidual}, kTiles, 4);
}

TEST(DenseProductTest, PixelsOfEverySizeOfTiles) {
  for (const int64_t outputs : {16, 17, 31, 32, 33, 48, 100})
    ExpectPixels({1, 24, 7, 5}, outputs, {Post::kBias, Post::kSigmoid}, kTiles, 5);
  ExpectPixels({3, 17, 9, 4}, 40, {Post::kBias, Post::kResidual, Post::kRelu}, kTiles, 6);
  ExpectPixels({2, 130, 1, 3}, 70, {}, kTiles, 7);
}

// Random epilogues: each kind at each position, also twice in a chain with other parameters.
TEST(DenseProductTest, ChainsAreDoneInTheirOrder) {
  std::mt19937 random(1);
  const auto draw = [&](size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); };
  for (unsigned i = 0; i < 40; ++i) {
    std::vector<Post> posts;
    for (size_t length = 1 + draw(4); posts.size() < length;) posts.push_back(kPosts[draw(kPosts.size())]);
    ExpectRows({40}, 24, 32, posts, "", 100 + i);
    ExpectPixels({1, 20, 5, 9}, 24, posts, "", 200 + i);
  }
  for (Post post : kPosts) {
    // The error of a dot product is relative to its size, near 50; tanh reduces the value to at most 1 and
    // may keep the error.
    const double tolerance = post == Post::kTanh ? 1e-4 : 1e-5;
    ExpectRows({96}, 640, 256, {Post::kBias, post}, kTiles, 300, tolerance);
    ExpectPixels({1, 640, 8, 12}, 256, {post, Post::kShift}, kTiles, 301, tolerance);
  }
}

// The cache of a core has room for part of the terms only.
TEST(DenseProductTest, FewRowsOfManyTerms) {
  ExpectRows({49}, 5003, 48, {Post::kBias, Post::kResidual, Post::kRelu}, kTiles, 18);
  ExpectRows({49}, 5003, 400, {}, kTiles, 19);  // columns are divided
  ExpectPixels({2, 5003, 7, 7}, 40, {Post::kBias, Post::kResidual, Post::kHSwish}, kTiles, 20);
}

// Even a large cache has room for part of the terms only; columns that do not fill a block, and divided
// columns.
TEST(DenseProductTest, ManyRowsOfManyTerms) {
  for (const int64_t outputs : {48, 75, 395, 400})
    ExpectRows({96}, 8201, outputs, {Post::kBias, Post::kRelu}, kTiles, 21, 2e-5);
  ExpectPixels({1, 8201, 12, 12}, 40, {Post::kBias, Post::kResidual}, kTiles, 22, 2e-5);
}

TEST(DenseProductTest, ExactTakesProductsAsTheyAre) {
  TestGraph g;
  const auto x = g.Parameter("x", {128, 768});
  g.Result(g.Op("MatMul", {x, g.Weights({768, 256}, 1)}));
  ExpectAsReference(g, {RandomTensor({128, 768}, 2)}, kTiles, 2e-6, kernels::Precision::kExact);
}

// Channel attention: either operand first, for the whole batch and for each image, and with filters larger
// than the images.
TEST(DenseProductTest, NumbersOfChannelsMultiplyTheFilter) {
  for (const bool numbers_first : {false, true}) {
    for (const int64_t batch : {1, 2}) {
      for (const int64_t outputs : {16, 40, 200}) {
        SCOPED_TRACE(outputs);
        TestGraph g;
        const Shape shape = {batch, 40, 11, 9};
        const auto x = g.Parameter("x", shape);
        const auto images = g.Convolution(x, g.Weights({40, 40, 3, 3}, 1), 1);
        const auto numbers = g.Op("Sigmoid", {g.Parameter("numbers", {batch, 40, 1, 1})});
        const auto scaled =
            numbers_first ? g.Op("Multiply", {numbers, images}) : g.Op("Multiply", {images, numbers});
        auto y = g.Convolution(scaled, g.Weights({outputs, 40, 1, 1}, 2), 0);
        y = g.Op("Add", {y, g.Weights({1, outputs, 1, 1}, 3)});
        g.Result(g.Op("ReLU", {y}));
        g.Result(images, "images");  // the source of the per-channel values in a network
        const std::string kernel =
            batch == 1 && outputs < 99 ? "Multiply+Convolution+Add+ReLU" : "Convolution+Add+ReLU";
        ExpectAsReference(g, {RandomTensor(shape, 4), RandomTensor({batch, 40, 1, 1}, 5)}, kernel);
      }
    }
  }
}

// A result with another reader stays unfused.
TEST(DenseProductTest, NumbersOfManyChannels) {
  TestGraph g;
  const Shape shape = {1, 5003, 7, 7}, numbers = {1, 5003, 1, 1};
  const auto scaled = g.Op("Multiply", {g.Op("ReLU", {g.Parameter("x", shape)}), g.Parameter("s", numbers)});
  g.Result(g.Convolution(scaled, g.Weights({40, 5003, 1, 1}, 1), 0));
  ExpectAsReference(g, {RandomTensor(shape, 2), RandomTensor(numbers, 3)}, "Multiply+Convolution");
}

TEST(DenseProductTest, AScaledImageThatOthersReadIsMade) {
  TestGraph g;
  const auto x = g.Parameter("x", {1, 32, 9, 9});
  const auto scaled = g.Op("Multiply", {x, g.Op("Sigmoid", {g.Parameter("numbers", {1, 32, 1, 1})})});
  g.Result(g.Convolution(scaled, g.Weights({16, 32, 1, 1}, 2), 0));
  g.Result(scaled, "scaled");
  ExpectAsReference(g, {RandomTensor({1, 32, 9, 9}, 4), RandomTensor({1, 32, 1, 1}, 5)}, kTiles);
}

// Functions of NaN, infinities, zeros, denormals and extreme numbers; the dot products are zero and a bias
// adds the values.
TEST(DenseProductTest, FunctionsOfSpecialNumbers) {
  const std::vector<float> special = {kNan,    kInfinity, -kInfinity, 0.0F,  -0.0F,  1e-40F,
                                      -1e-40F, 1e30F,     -1e30F,     88.5F, -88.5F, 104.0F,
                                      -104.0F, 3.0F,      -3.0F,      -20.0F};
  for (const Post post :
       {Post::kRelu, Post::kClamp, Post::kSwish, Post::kHSwish, Post::kSigmoid, Post::kGelu, Post::kPRelu}) {
    SCOPED_TRACE(static_cast<int>(post));
    TestGraph g;
    const auto x = g.Parameter("x", {40, 16});
    auto y = g.Op("MatMul", {x, g.Weights({16, 16}, 1)});
    y = g.Op("Add", {y, g.Const(TensorValue::FromFloats({16}, special))});
    g.Result(Follow(g, post, y, {16}, {}, 2));
    const std::vector<TensorValue> inputs = {RandomTensor({40, 16}, 3, 0, 0)};
    const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
    const auto actual = RunGraph(g.graph, {.backend = kernels::Backend::kFast, .threads = 1}, inputs);
    ExpectNear(actual[0], expected[0], 2e-6);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine

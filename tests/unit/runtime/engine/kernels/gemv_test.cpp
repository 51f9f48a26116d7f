// Matrix-vector multiplications with a constant matrix that is read in place, against the reference kernels.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

void ExpectRow(int64_t inputs, int64_t outputs, const std::vector<Post>& posts, unsigned seed,
               const std::string& kernel = "in_place") {
  SCOPED_TRACE(std::to_string(inputs) + " to " + std::to_string(outputs));
  TestGraph g;
  const auto x = g.Parameter("x", {1, inputs});
  const auto residual = g.Parameter("residual", {1, outputs});
  auto y = g.Op("MatMul", {x, g.Weights({outputs, inputs}, seed)}, With("transpose_b", true));
  for (size_t i = 0; i < posts.size(); ++i)
    y = Follow(g, posts[i], y, {1, outputs}, residual, seed + 1 + static_cast<unsigned>(i));
  g.Result(y);
  g.Result(residual, "second");
  ExpectAsReference(g, {RandomTensor({1, inputs}, seed + 20), RandomTensor({1, outputs}, seed + 21)}, kernel);
}

TEST(InPlaceProductTest, RowsAndColumnsThatFillNoVector) {
  for (const int64_t outputs : {1000, 1001, 1008, 1015}) {
    for (const int64_t inputs : {512, 513, 1279, 1537}) ExpectRow(inputs, outputs, {Post::kBias}, 1);
  }
  ExpectRow(300000, 1, {}, 2);
  ExpectRow(40000, 9, {Post::kBias}, 3);
}

TEST(InPlaceProductTest, WhatFollows) {
  for (const Post post : kPosts) {
    ExpectRow(600, 1000, {Post::kBias, post}, 4);
    ExpectRow(600, 512, {post, Post::kRelu}, 5);
  }
  ExpectRow(700, 1000, {Post::kBias, Post::kClamp, Post::kScale, Post::kHSwish}, 6);
}

// Matrices that fit the cache of a core: with 256-bit vectors these are also read in place.
TEST(InPlaceProductTest, SmallMatrices) {
  ExpectRow(64, 64, {Post::kBias}, 7,
            fast::simd::SimdWidth() == fast::simd::kSimdWidth256 ? "in_place" : "onednn");
  ExpectRow(3, 8, {Post::kBias}, 11, "onednn");
  for (const int64_t outputs : {3, 8, 17, 96}) ExpectRow(180, outputs, {Post::kBias, Post::kSigmoid}, 12, "");
}

TEST(InPlaceProductTest, WholeImages) {
  TestGraph g;
  const auto x = g.Parameter("x", {1, 50, 5, 5});
  const auto y = g.Convolution(x, g.Weights({300, 50, 5, 5}, 8), 0);
  g.Result(g.Op("ReLU", {g.Op("Add", {y, g.Weights({1, 300, 1, 1}, 9)})}));
  ExpectAsReference(g, {RandomTensor({1, 50, 5, 5}, 10)}, "in_place");
}

// Non-finite values stay in their outputs.
TEST(InPlaceProductTest, SpecialNumbers) {
  TestGraph g;
  constexpr int64_t kInputs = 515, kOutputs = 1003;
  std::vector<float> weights(static_cast<size_t>(kInputs * kOutputs), 0.5F);
  weights[static_cast<size_t>(7 * kInputs + kInputs - 1)] = kInfinity;
  weights[static_cast<size_t>(1002 * kInputs)] = kNan;
  const auto x = g.Parameter("x", {1, kInputs});
  g.Result(g.Op("MatMul", {x, g.Const(TensorValue::FromFloats({kOutputs, kInputs}, weights))},
                With("transpose_b", true)));
  const std::vector<TensorValue> inputs = {
      TensorValue::FromFloats({1, kInputs}, std::vector<float>(kInputs, 1))};
  const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
  ExpectNear(RunGraph(g.graph, {.backend = kernels::Backend::kFast}, inputs)[0], expected[0], 1e-6);
}

}  // namespace
}  // namespace nnefc::runtime::engine

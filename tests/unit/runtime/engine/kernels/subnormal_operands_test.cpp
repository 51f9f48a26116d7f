// Convolutions and matrix products of subnormal numbers: they are 0 only next to numbers so large that this
// does not matter.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

constexpr int64_t kChannels = 256, kRows = 256;
constexpr float kSubnormal = 1e-39F;

enum class Form : uint8_t { kMatMul, kConvolution, kScaledConvolution };

// Rows of `large` numbers, and as many of `small` ones after them; weights of `weight`, but the last output
// has those of `last_weight`.
struct Case {
  float large = 1, weight = 1, last_weight = 1;
  float small = kSubnormal;
};

// Returns the product of the last row and the first or last weights.
struct Products {
  float first, last;
};
Products Compute(Form form, const Case& of, kernels::Precision precision = kernels::Precision::kF32,
                 int threads = 1) {
  TestGraph g;
  const bool is_matrix = form == Form::kMatMul;
  const Shape shape = is_matrix ? Shape{kRows, kChannels} : Shape{1, kChannels, 1, kRows};
  const Shape filter = is_matrix ? Shape{kChannels, kChannels} : Shape{kChannels, kChannels, 1, 1};
  const auto weights = TensorValue::Make<float>(ElementType::kF32, filter, [&](std::span<float> values) {
    std::fill(values.begin(), values.end(), of.weight);
    std::fill(values.end() - kChannels, values.end(), of.last_weight);
  });
  const auto data = TensorValue::Make<float>(ElementType::kF32, shape, [&](std::span<float> values) {
    std::fill(values.begin(), values.end(), of.large);
    for (int64_t i = 0; i < kChannels; ++i) {
      for (int64_t row = kRows / 2; row < kRows; ++row)
        values[static_cast<size_t>(is_matrix ? row * kChannels + i : i * kRows + row)] = of.small;
    }
  });
  std::vector<TensorValue> inputs = {data};
  ir::OutputPort x = g.Parameter("x", shape);
  if (form == Form::kScaledConvolution) {
    x = g.Op("Multiply", {x, g.Parameter("scale", {1, kChannels, 1, 1})});
    inputs.push_back(TensorValue::Filled(ElementType::kF32, {1, kChannels, 1, 1}, 1));
  }
  g.Result(is_matrix ? g.Op("MatMul", {x, g.Const(weights)}, With("transpose_b", true))
                     : g.Convolution(x, g.Const(weights), 0));
  const auto results = RunGraph(
      g.graph, {.backend = kernels::Backend::kFast, .precision = precision, .threads = threads}, inputs);
  const auto of_last_row = [&](int64_t output) {
    const int64_t at = is_matrix ? (kRows - 1) * kChannels + output : output * kRows + kRows - 1;
    return static_cast<float>(results[0].ElementAsDouble(at));
  };
  return {of_last_row(0), of_last_row(kChannels - 1)};
}

constexpr Form kForms[] = {Form::kMatMul, Form::kConvolution, Form::kScaledConvolution};
constexpr float kSum = kSubnormal * kChannels;

void ExpectSum(float found, float expected) {
  EXPECT_NEAR(found / expected, 1, 1e-4) << found << ", expected " << expected;
}

#if defined(__x86_64__)
TEST(SubnormalOperandsTest, ZeroNextToLargeNumbers) {
  if (!fast::simd::HasSimd()) return;
  for (const Form form : kForms) {
    for (const int threads : {1, 2}) {
      const Products found = Compute(form, {}, kernels::Precision::kF32, threads);
      EXPECT_EQ(found.first, 0) << static_cast<int>(form);
      EXPECT_EQ(found.last, 0) << static_cast<int>(form);
    }
    // At the bound.
    EXPECT_EQ(Compute(form, {.large = 1e-10F}).first, 0);
    EXPECT_EQ(Compute(form, {.weight = 1e-10F, .last_weight = 1e-10F}).first, 0);
  }
}

// Products of usual data and tiny weights are subnormal.
TEST(SubnormalOperandsTest, TinyWeightsNextToLargeOnes) {
  if (!fast::simd::HasSimd()) return;
  for (const Form form : kForms) {
    const Products found = Compute(form, {.last_weight = 1e-40F, .small = 1});
    EXPECT_EQ(found.first, kChannels);
    EXPECT_EQ(found.last, 0) << static_cast<int>(form);
  }
}
#endif

TEST(SubnormalOperandsTest, KeptWithoutLargeNumbers) {
  for (const Form form : kForms) {
    ExpectSum(Compute(form, {.large = 0.99e-10F}).first, kSum);
    ExpectSum(Compute(form, {.large = kSubnormal}).first, kSum);
    const Products of_small_weights =
        Compute(form, {.weight = 0.99e-10F, .last_weight = 1e-30F, .small = 1e-8F});
    ExpectSum(of_small_weights.first, 0.99e-18F * kChannels);
    ExpectSum(of_small_weights.last, 1e-38F * kChannels);
    // Normal numbers.
    ExpectSum(Compute(form, {.small = 1.2e-38F}).first, 1.2e-38F * kChannels);
  }
}

TEST(SubnormalOperandsTest, KeptInExactSums) {
  for (const Form form : kForms) ExpectSum(Compute(form, {}, kernels::Precision::kExact).first, kSum);
}

}  // namespace
}  // namespace nnefc::runtime::engine

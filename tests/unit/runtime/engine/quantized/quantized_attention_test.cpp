// Attention of quantized queries and keys, against the reference kernels.

#include "runtime/fast/processor.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

struct AttentionCase {
  int64_t batches, queries, keys, width, values;
  int zero_of_queries = 77, zero_of_keys = 120;
  bool is_causal = false, has_mask = false, are_keys_quantized = true;
};

void ExpectAttention(const AttentionCase& of) {
  SCOPED_TRACE(testing::Message() << of.batches << " x " << of.queries << " queries, " << of.keys
                                  << " keys of " << of.width << ", " << of.values << " values");
  const Quantization by{.scale = 0x1p-6F, .zero = of.zero_of_queries};
  const Quantization to{.scale = 0x1p-5F, .zero = of.zero_of_keys};
  const Shape q = {of.batches, of.queries, of.width}, k = {of.batches, of.keys, of.width},
              v = {of.batches, of.keys, of.values}, mask = {of.queries, of.keys};
  TestGraph g;
  const ir::OutputPort keys = g.Parameter("k", k);
  std::vector<ir::OutputPort> inputs = {FakeQuantized(g, g.Parameter("q", q), by),
                                        of.are_keys_quantized ? FakeQuantized(g, keys, to) : keys,
                                        g.Parameter("v", v)};
  std::vector<TensorValue> data = {RandomTensor(k, 2, -4, 4), RandomTensor(q, 1, -2, 2), RandomTensor(v, 3)};
  if (of.has_mask) {
    inputs.push_back(g.Parameter("mask", mask));
    data.push_back(RandomTensor(mask, 4));
  }
  g.Result(g.Op("opset13", "ScaledDotProductAttention", inputs, With("causal", of.is_causal)));
  const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, data);
  for (const int threads : {1, 2}) {
    const auto executable = Compile(g.graph, {.threads = threads, .way = "tiled"});
    ASSERT_NE(executable, nullptr);
    const std::string plan = executable->DescribePlan();
    EXPECT_EQ(plan.find("nnefc:int8_attention") != std::string::npos,
              of.are_keys_quantized && fast::HasVnni())
        << plan;
    const auto actual = Session::Create(executable)->Run(data);
    ASSERT_TRUE(actual.ok());
    ExpectClose((*actual)[0], expected[0], 1e-5);
  }
}

TEST(QuantizedAttentionTest, Sizes) {
  for (const int64_t queries : {1, 7, 40}) {
    for (const int64_t keys : {1, 16, 33, 70}) {
      for (const int64_t width : {3, 16, 33}) ExpectAttention({2, queries, keys, width, 16});
      ExpectAttention({1, queries, keys, 8, 5});
    }
  }
}

TEST(QuantizedAttentionTest, ZeroPointsAndMasks) {
  for (const int zero : {0, 128, 255}) {
    for (const bool is_causal : {false, true}) {
      for (const bool has_mask : {false, true}) {
        ExpectAttention({.batches = 2,
                         .queries = 20,
                         .keys = 37,
                         .width = 12,
                         .values = 32,
                         .zero_of_queries = zero,
                         .zero_of_keys = 255 - zero,
                         .is_causal = is_causal,
                         .has_mask = has_mask});
      }
    }
  }
}

TEST(QuantizedAttentionTest, KeysOfNumbers) {
  ExpectAttention(
      {.batches = 2, .queries = 20, .keys = 37, .width = 12, .values = 32, .are_keys_quantized = false});
}

}  // namespace
}  // namespace nnefc::runtime::engine

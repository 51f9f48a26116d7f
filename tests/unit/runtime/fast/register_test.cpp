// The transformations of graphs that the fast backend requests.

#include "runtime/fast/register.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "runtime/fast/simd/dispatch.h"
#include "runtime/tensor/thread_team.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::fast {
namespace {

using kernels::Precision;

// Exact results exclude all quantization, images in bf16 have no permutations of channels, and graphs that
// keep their operations are only marked.
TEST(RegisterTest, RequestedTransformations) {
  if (!simd::HasSimd()) GTEST_SKIP() << "for AVX2";
  kernels::KernelRegistry registry;
  RegisterFastKernels(registry, {});
  const auto request = registry.hooks(kernels::Backend::kFast).request_transformations;
  ASSERT_NE(request, nullptr);
  for (const Precision precision : {Precision::kExact, Precision::kF32, Precision::kBf16}) {
    for (const bool rewrites : {false, true}) {
      std::set<std::string> expected;
      const auto add = [&](bool is_requested, std::initializer_list<const char*> names) {
        if (is_requested) expected.insert(names.begin(), names.end());
      };
      const bool is_exact = precision == Precision::kExact, is_bf16 = precision == Precision::kBf16;
      add(!is_exact, {"target.MarkQuantizedProducts", "target.MarkQuantizedValues"});
      add(is_bf16, {"target.StoreImagesInF32"});
      add(rewrites,
          {"target.ConvertVectorsToMatrices", "target.TransposeLeftOperands", "target.PostponeSqueezes",
           "target.ResampleImages", "target.MultiplyBeforeGathers", "target.RepeatGroupChannels",
           "target.ConvolveSubpixelPhases", "target.TransposePixelRows"});
      add(rewrites && !is_exact,
          {"target.QuantizeConcatParts", "target.RemoveRepeatedQuantization", "target.InsertLookupTables",
           "target.RemoveQuantizationAfterMoves", "target.QuantizeAfterMaxPool", "target.QuantizeAfterMoves",
           "target.QuantizeChannelsEqually", "target.RoundZeroPoints", "target.UnmarkSlowRegions"});
      add(rewrites && !is_exact && HasVnni() && HasAvx512(), {"target.ConvolveQuantizedScales"});
      add(rewrites && !is_bf16, {"target.FuseChannelPermutations"});
      const std::vector<std::string> names = request(precision, rewrites);
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), expected)
          << static_cast<int>(precision) << rewrites;
      EXPECT_EQ(names.size(), expected.size());
    }
  }
}

// Without vectors, no loop measures the throughput.
// Returns the scratch memory of a 3x3 convolution of 32 channels by the Winograd algorithm.
size_t ScratchBytes(int64_t extent, int threads) {
  static const kernels::KernelRegistry kRegistry = [] {
    kernels::KernelRegistry made;
    RegisterFastKernels(made, {});
    return made;
  }();
  TestGraph g;
  const TensorValue filter = RandomTensor({32, 32, 3, 3}, 1);
  const Shape images = {1, 32, extent, extent};
  const ir::OutputPort y = g.Convolution(g.Parameter("x", images), g.Const(filter), 1);
  const kernels::ValueInfo inputs[] = {
      {.type = ElementType::kF32, .shape = images},
      {.type = ElementType::kF32, .shape = filter.shape(), .constant = &filter}};
  const kernels::ValueInfo output{.type = ElementType::kF32, .shape = images};
  const tensor::ThreadScope scope(threads);
  const auto kernel = (*kRegistry.Find(kernels::Backend::kFast, "opset1", "Convolution"))(
      {.node = &g.graph->node(y.node), .inputs = inputs, .outputs = output, .way = "winograd"});
  EXPECT_TRUE(kernel.has_value());
  return kernel ? kernel->scratch_bytes : 0;
}

// A convolution uses all threads if its multiplications are worth it, however few elements it has: here less
// than the grain of parallel loops.
TEST(RegisterTest, ThreadsOfConvolutions) {
  if (!simd::HasSimd()) GTEST_SKIP() << "for AVX2";
  EXPECT_GT(ScratchBytes(16, 4), ScratchBytes(16, 1));
  EXPECT_EQ(ScratchBytes(1, 4), ScratchBytes(1, 1));
}

TEST(PeakTest, WithoutVectors) {
  if (simd::HasSimd()) GTEST_SKIP() << "for ONEDNN_MAX_CPU_ISA=SSE41";
  EXPECT_EQ(MeasurePeak(1), 0);
}

}  // namespace
}  // namespace nnefc::runtime::fast

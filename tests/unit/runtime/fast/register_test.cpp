// The transformations of graphs that the fast backend requests.

#include "runtime/fast/register.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "runtime/fast/simd/dispatch.h"

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
TEST(PeakTest, WithoutVectors) {
  if (simd::HasSimd()) GTEST_SKIP() << "for ONEDNN_MAX_CPU_ISA=SSE41";
  EXPECT_EQ(MeasurePeak(1), 0);
}

}  // namespace
}  // namespace nnefc::runtime::fast

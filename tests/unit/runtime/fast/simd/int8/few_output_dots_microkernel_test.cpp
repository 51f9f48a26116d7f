// Dot products of filter rows and few outputs against loops in integers.

#include "runtime/fast/simd/int8/few_output_dots_microkernel.h"

#include <bit>

#include "fmt/format.h"

#include "tests/unit/runtime/fast/simd/int8/vnni_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class FewOutputDotsTest : public VnniTest {
 protected:
  void Check(int64_t outputs, int64_t strips, int64_t vectors) {
    SCOPED_TRACE(fmt::format("{} outputs, {} strips of {} vectors", outputs, strips, vectors));
    const int64_t pixels = lanes() / static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(outputs)));
    const int64_t bytes = 4 * lanes(), strip_bytes = vectors * bytes;
    const GuardedArray<int32_t> seen = Draw<int32_t>(pixels, 0, 60);
    GuardedArray<int32_t> places = Array<int32_t>(strips);
    for (int64_t i = 0; i < strips; ++i) places[i] = static_cast<int32_t>(7 * (strips - 1 - i));
    int32_t last_seen = 0;
    for (int32_t offset : seen) last_seen = std::max(last_seen, offset);
    GuardedArray<uint8_t> codes =
        Draw<uint8_t>(strips == 0 ? 0 : last_seen + 7 * (strips - 1) + strip_bytes, 0, 255);
    for (int64_t i = 0; i < codes.size(); i += 3) codes[i] = 255;
    GuardedArray<int8_t> weights = Draw<int8_t>(outputs * strips * strip_bytes, -128, 127);
    for (int64_t i = 0; i < weights.size(); i += 5) weights[i] = i % 2 == 0 ? -128 : 127;
    const GuardedArray<int32_t> start = Draw<int32_t>(outputs, -1000, 1000);
    const int64_t stride = pixels + 3;
    GuardedArray<int32_t> sums = Array<int32_t>((outputs - 1) * stride + pixels, 77);
    Of(RunFewOutputDots)(outputs, {.codes = codes.data(),
                                   .seen = seen.data(),
                                   .strips = places.data(),
                                   .strip_count = strips,
                                   .vectors = vectors,
                                   .weights = weights.data(),
                                   .start = start.data(),
                                   .sums = sums.data(),
                                   .stride = stride});
    std::vector<int32_t> expected(static_cast<size_t>(sums.size()), 77);
    for (int64_t output = 0; output < outputs; ++output) {
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        int64_t sum = start[output];
        for (int64_t term = 0; term < strips * strip_bytes; ++term) {
          const int64_t place = places[term / strip_bytes] + term % strip_bytes;
          const int64_t weight = (term / bytes * outputs + output) * bytes + term % bytes;
          sum += int64_t{codes[seen[pixel] + place]} * weights[weight];
        }
        expected[static_cast<size_t>(output * stride + pixel)] = static_cast<int32_t>(sum);
      }
    }
    EXPECT_EQ(std::vector<int32_t>(sums.begin(), sums.end()), expected);
  }
};

TEST_P(FewOutputDotsTest, OutputsStripsAndVectors) {
  for (int64_t outputs = 1; outputs <= kMaxDotOutputs; ++outputs) {
    for (int64_t strips = 0; strips <= 4; ++strips) {
      for (int64_t vectors = 1; vectors <= 3; ++vectors) Check(outputs, strips, vectors);
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(FewOutputDotsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd

// The transpose of 8-bit values against its definition: each number of rows and columns about whole tiles,
// with and without gaps between rows.

#include "runtime/fast/simd/int8/uint8_transpose_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class TransposeUint8Test : public SimdTest {
 protected:
  struct Sizes {
    int64_t rows, columns, from_gap, to_gap;
  };

  // Expects number_of(code) of each transposed code from `run`, and gaps that are not written.
  template <typename Number, typename Run, typename NumberOf>
  void ExpectTransposed(const Sizes& sizes, const Run& run, const NumberOf& number_of) {
    const int64_t from_stride = sizes.columns + sizes.from_gap, to_stride = sizes.rows + sizes.to_gap;
    const GuardedArray<uint8_t> from = Draw<uint8_t>((sizes.rows - 1) * from_stride + sizes.columns, 0, 255);
    constexpr Number kGap{77};
    GuardedArray<Number> to = Array<Number>((sizes.columns - 1) * to_stride + sizes.rows, kGap);
    run(Uint8Matrix{from.data(), from_stride, sizes.rows, sizes.columns}, to.data(), to_stride);
    for (int64_t i = 0; i < to.size(); ++i) {
      const int64_t row = i % to_stride, column = i / to_stride;
      ASSERT_EQ(to[i], row < sizes.rows ? number_of(from[row * from_stride + column]) : kGap)
          << row << ", " << column << " of " << sizes.rows << " x " << sizes.columns;
    }
  }
};

TEST_P(TransposeUint8Test, RowsAndColumns) {
  constexpr Uint8Scale kScale = {.scale = 0.5F, .zero = 100};
  for (const int64_t rows : {16, 17, 31, 32, 33, 63, 64, 65, 80, 130}) {
    for (const int64_t columns : {16, 17, 31, 32, 33, 48}) {
      for (const auto& [from_gap, to_gap] : {std::pair{0, 0}, {1, 0}, {0, 1}, {5, 3}}) {
        const Sizes sizes = {rows, columns, from_gap, to_gap};
        ExpectTransposed<uint8_t>(sizes, Of(TransposeUint8), [](uint8_t code) { return code; });
        ExpectTransposed<float>(
            sizes,
            [&](const Uint8Matrix& matrix, float* to, int64_t stride) {
              Of(TransposeUint8ToFloats)(matrix, kScale, to, stride);
            },
            [](uint8_t code) { return 0.5F * static_cast<float>(int{code} - 100); });
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(TransposeUint8Test);

}  // namespace
}  // namespace nnefc::runtime::fast::simd

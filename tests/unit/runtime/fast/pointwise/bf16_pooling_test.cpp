#include "runtime/fast/pointwise/bf16_pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "compiler/support/tensor/element_type.h"

namespace nnefc::runtime::fast::pointwise {
namespace {

// The largest number of a window, NaN and what lies in the border left out.
float Largest(const std::vector<float>& images, const Bf16Images& sizes, int64_t n, int64_t c, int64_t y,
              int64_t x) {
  const auto& [planes, rows, columns] = sizes.window;
  float largest = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < rows.size; ++i) {
    for (int64_t j = 0; j < columns.size; ++j) {
      const int64_t row = y * rows.stride - rows.before + i, column = x * columns.stride - columns.before + j;
      if (row < 0 || row >= rows.input || column < 0 || column >= columns.input) continue;
      const float number =
          images[static_cast<size_t>(((n * rows.input + row) * columns.input + column) * sizes.channels + c)];
      if (number > largest) largest = number;
    }
  }
  return largest;
}

TEST(BfloatPoolingTest, MaximaOfAllKindsOfNumbers) {
  using Limits = std::numeric_limits<float>;
  const float infinity = Limits::infinity(), nan = Limits::quiet_NaN();
  const float kinds[] = {-infinity, infinity, nan, -nan, -0.0f, 0.0f, 1.5f, -2.0f, 3.0f, -100.0f, 0x1p-130f};
  for (const int64_t channels : {1, 5, 31, 32, 40, 64, 100}) {
    for (const int64_t stride : {1, 2}) {
      const kernels::WindowAxis rows = {
          .input = 7, .output = stride == 1 ? 7 : 4, .size = 3, .stride = stride, .before = 1};
      const kernels::WindowAxis columns = {
          .input = 6, .output = 8, .size = 2, .stride = 1, .before = 2};  // some in the border
      const Bf16Images sizes = {
          .batch = 2, .channels = channels, .window = {kernels::WindowAxis(), rows, columns}};
      std::mt19937 random(static_cast<unsigned>(channels));
      std::vector<float> images(static_cast<size_t>(2 * 7 * 6 * channels));
      std::vector<uint16_t> bits;
      for (float& number : images) {
        // Mostly NaN and infinities below, so that some windows hold nothing else.
        number = kinds[random() % 3 == 0 ? random() % std::size(kinds) : 2 * (random() % 2)];
        bits.push_back(FloatToBFloat(number));
      }
      std::vector<uint16_t> found(static_cast<size_t>(2 * rows.output * columns.output * channels));
      const tensor::TensorView in(ElementType::kBF16, {2, channels, 7, 6},
                                  reinterpret_cast<const std::byte*>(bits.data()));
      const tensor::MutableTensorView out(ElementType::kBF16, {2, channels, rows.output, columns.output},
                                          reinterpret_cast<std::byte*>(found.data()));
      const tensor::TensorView* inputs[] = {&in};
      const tensor::MutableTensorView* outputs[] = {&out};
      ASSERT_TRUE(MakeBf16MaxPool(sizes)->Run({.inputs = inputs, .outputs = outputs}).ok());
      size_t at = 0;
      for (int64_t n = 0; n < 2; ++n) {
        for (int64_t y = 0; y < rows.output; ++y) {
          for (int64_t x = 0; x < columns.output; ++x) {
            for (int64_t c = 0; c < channels; ++c)
              ASSERT_EQ(BFloatToFloat(found[at++]), Largest(images, sizes, n, c, y, x)) << n << c << y << x;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::pointwise

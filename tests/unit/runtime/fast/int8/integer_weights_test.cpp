// The memory of packed integer weights.

#include "runtime/fast/int8/integer_weights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace nnefc::runtime::fast::int8 {
namespace {

// Packs weights from 1 on, and expects that nothing is written after the memory of the layout. Returns its
// bytes.
std::vector<std::byte> Packed(const WeightSizes& sizes) {
  constexpr size_t kMore = 256;
  constexpr std::byte kUnwritten{0x5A};
  const auto layout = std::make_shared<IntegerWeights>(sizes);
  const auto kernel = MakeIntegerReorder(ElementType::kI32, nullptr, layout);
  const Shape shape = {sizes.outputs, sizes.inputs};
  std::vector<int32_t> numbers(static_cast<size_t>(sizes.outputs * sizes.inputs));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i) + 1;
  std::vector<std::byte> packed(layout->byte_size() + kMore, kUnwritten);
  const tensor::TensorView input(ElementType::kI32, shape,
                                 reinterpret_cast<const std::byte*>(numbers.data()));
  const tensor::MutableTensorView output(ElementType::kI32, shape, packed.data());
  const tensor::TensorView* inputs[] = {&input};
  const tensor::MutableTensorView* outputs[] = {&output};
  EXPECT_TRUE(kernel->Run({.inputs = inputs, .outputs = outputs}).ok());
  for (size_t i = layout->byte_size(); i < packed.size(); ++i) EXPECT_EQ(packed[i], kUnwritten) << i;
  packed.resize(layout->byte_size());
  return packed;
}

WeightSizes SizesOf(int64_t together, bool fit_bytes) {
  constexpr int64_t kInputs = 3;
  return {.outputs = 18,
          .inputs = kInputs,
          .taps = 1,
          .output_stride = kInputs,
          .input_stride = 1,
          .fit_bytes = fit_bytes,
          .together = together};
}

// Two tiles of 16 outputs have the weights of 4 inputs; fours have a sum for each output after them.
TEST(IntegerWeightsTest, MemoryOfTiles) {
  EXPECT_EQ(Packed(SizesOf(2, false)).size(), size_t{32 * 4 * 2});
  EXPECT_EQ(Packed(SizesOf(2, true)).size(), size_t{32 * 4});
  const std::vector<std::byte> fours = Packed(SizesOf(4, true));
  ASSERT_EQ(fours.size(), size_t{32 * 4 + 32 * 4});
  for (int32_t output = 0; output < 32; ++output) {
    int32_t sum = 0;
    std::memcpy(&sum, fours.data() + 128 + 4 * output, sizeof(sum));
    EXPECT_EQ(sum, output < 18 ? -(9 * output + 6) : 0) << output;
  }
}

// Only row-major i32 numbers are packed, and only for this layout.
TEST(IntegerWeightsTest, OtherNumbers) {
  const auto layout = std::make_shared<IntegerWeights>(SizesOf(2, false));
  EXPECT_NE(MakeIntegerReorder(ElementType::kI32, nullptr, layout), nullptr);
  for (const ElementType type : {ElementType::kF32, ElementType::kI16, ElementType::kI64, ElementType::kU32})
    EXPECT_EQ(MakeIntegerReorder(type, nullptr, layout), nullptr) << Name(type);
  EXPECT_EQ(MakeIntegerReorder(ElementType::kI32, layout, layout), nullptr);
  EXPECT_EQ(MakeIntegerReorder(ElementType::kI32, nullptr, nullptr), nullptr);
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8

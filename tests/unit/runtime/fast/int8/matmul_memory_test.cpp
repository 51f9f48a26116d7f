// Matmuls of integers in operands, results and scratch memory of exact size: no access beyond their ends.

#include "tests/unit/runtime/fast/exact_memory.h"

namespace nnefc::runtime::fast::int8 {
namespace {

struct Sizes {
  int64_t rows, terms, columns;
};
const std::vector<Sizes> kSizes = {{1, 1, 1},   {3, 5, 7},    {4, 8, 16},   {8, 12, 15},
                                   {9, 13, 17}, {16, 32, 33}, {33, 64, 48}, {300, 64, 300}};

TEST(MatmulMemoryTest, QuantizedTensors) {
  if (!HasVnni()) GTEST_SKIP() << "the kernel needs VNNI";
  for (const Sizes& sizes : kSizes) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        for (const int64_t matrices : {1, 3}) {
          const auto [rows, terms, columns] = sizes;
          Step step{.type = "MatMul",
                    .inputs = {{transpose_a ? Shape{matrices, terms, rows} : Shape{matrices, rows, terms}},
                               {transpose_b ? Shape{columns, terms} : Shape{terms, columns}}},
                    .has_quantized_operands = true};
          step.attributes.Set("transpose_a", transpose_a);
          step.attributes.Set("transpose_b", transpose_b);
          const auto run = [&] {
            EXPECT_EQ(RunInExactMemory(step, {matrices, rows, columns}, "int8_tensors"), 0)
                << rows << " " << terms << " " << columns;
          };
          run();
          // One of the operands is not 0 where it is quantized in memory.
          for (const size_t quantized : {0, 1}) {
            step.inputs[quantized].memory = Memory::kQuantizedRows;
            step.inputs[1 - quantized].memory = Memory::kRows;
            run();
          }
        }
      }
    }
  }
}

TensorValue SmallIntegers(const Shape& shape) {
  return TensorValue::Make<int32_t>(ElementType::kI32, shape, [](std::span<int32_t> numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i % 256);
  });
}

TEST(MatmulMemoryTest, Integers) {
  if (!simd::HasSimd()) GTEST_SKIP() << "the kernel needs vectors";
  for (const auto& [rows, terms, columns] : kSizes) {
    const Shape right = {terms, columns};
    const Step step{
        .type = "MatMul",
        .inputs = {{.shape = {rows, terms}, .type = ElementType::kI32},
                   {.shape = right, .constant = SmallIntegers(right), .type = ElementType::kI32}}};
    EXPECT_EQ(RunInExactMemory(step, {rows, columns}, "integer"), 0)
        << rows << " " << terms << " " << columns;
  }
}

TEST(MatmulMemoryTest, IntegerConvolutions) {
  if (!simd::HasSimd()) GTEST_SKIP() << "the kernel needs vectors";
  for (const int64_t channels : {1, 6, 8, 16, 32}) {
    for (const int64_t outputs : {1, 16, 33}) {
      for (const int64_t size : {1, 3}) {
        const engine::WindowSetting window{.input = {2, channels, 8, 8}, .window = {size, size}};
        const Shape filter = {outputs, channels, size, size};
        const Step step{
            .type = "Convolution",
            .inputs = {{.shape = window.input, .type = ElementType::kI32},
                       {.shape = filter, .constant = SmallIntegers(filter), .type = ElementType::kI32}},
            .attributes = WindowOf(window)};
        EXPECT_EQ(RunInExactMemory(step, {2, outputs, 9 - size, 9 - size}, "integer"), 0)
            << channels << " " << outputs << " " << size;
      }
    }
  }
}

// Where four products are summed at once, weights from 0 to 255 are bytes less an offset; those of images are
// only with VNNI.
TEST(MatmulMemoryTest, BytesOfIntegerWeights) {
  if (!simd::HasSimd()) GTEST_SKIP() << "the kernel needs vectors";
  constexpr int64_t kChannels = 64, kOutputs = 16;
  const auto weight_bytes = [](const char* type, const Shape& data, const Shape& filter) {
    Step step{.type = type,
              .inputs = {{.shape = data, .type = ElementType::kI32},
                         {.shape = filter, .constant = SmallIntegers(filter), .type = ElementType::kI32}}};
    if (data.size() > 2) step.attributes = engine::WindowOf({.input = data, .window = {1, 1}});
    const Choice choice = ChoiceOf(step, "integer");
    return choice.kernel ? static_cast<int64_t>(choice.kernel->inputs[1]->byte_size()) : 0;
  };
  constexpr int64_t kInWords = kChannels * kOutputs * 2, kInBytes = kChannels * kOutputs + kOutputs * 4;
  EXPECT_EQ(weight_bytes("MatMul", {64, kChannels}, {kChannels, kOutputs}), kInBytes);
  EXPECT_EQ(weight_bytes("Convolution", {1, kChannels, 8, 8}, {kOutputs, kChannels, 1, 1}),
            HasVnni() ? kInBytes : kInWords);
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8

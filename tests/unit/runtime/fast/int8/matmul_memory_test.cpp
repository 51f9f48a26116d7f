// Matmuls of integers in operands, results and scratch memory of exact size: no access beyond their ends.

#include "tests/unit/runtime/fast/exact_memory.h"

namespace nnefc::runtime::fast::int8 {
namespace {

struct Sizes {
  int64_t rows, terms, columns;
};
const std::vector<Sizes> kSizes = {{1, 1, 1},   {3, 5, 7},    {4, 8, 16},  {8, 12, 15},
                                   {9, 13, 17}, {16, 32, 33}, {33, 64, 48}};

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
          EXPECT_EQ(RunInExactMemory(step, {matrices, rows, columns}, "int8_tensors"), 0)
              << rows << " " << terms << " " << columns;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8

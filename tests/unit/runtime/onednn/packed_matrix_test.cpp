// Matmuls with constant matrices in oneDNN's layouts, of small integers, whose sums are exact.

#include "runtime/onednn/weighted/packed_matrix.h"

#include <gtest/gtest.h>

#include <vector>

#include "compiler/support/tensor/element_type.h"
#include "runtime/fast/processor.h"
#include "runtime/onednn/reorder.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::onednn {
namespace {

using fast::memory::StorageType;
using fast::rnn::SumStart;

TensorValue Integers(Shape shape) {
  return TensorValue::Make<float>(ElementType::kF32, std::move(shape), [](std::span<float> numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 7 % 11) - 5;
  });
}

// Packs a constant for left operands of `rows` rows; empty without a faster matmul for packed weights.
struct Packed {
  Packed(const TensorValue& value, int64_t rows, StorageType type)
      : matrix(PackedMatrix::Make({.type = value.type(), .shape = value.shape(), .constant = &value}, rows,
                                  type)) {
    if (!matrix) return;
    const auto kernel = MakeOneDnnReorder(ElementType::kF32, value.shape(), nullptr, matrix->layout());
    if (kernel == nullptr) return;
    bytes.resize(matrix->layout()->byte_size());
    const tensor::TensorView input(value.type(), value.shape(), value.bytes());
    const tensor::MutableTensorView output(value.type(), value.shape(), bytes.data());
    EXPECT_TRUE(kernel->Run({.inputs = {&input}, .outputs = {&output}}).ok());
  }

  std::optional<PackedMatrix> matrix;
  std::vector<std::byte> bytes;
};

void CheckProduct(const TensorValue& value, const Packed& packed, int64_t index, int64_t first, int64_t count,
                  int64_t rows, SumStart start, StorageType type) {
  SCOPED_TRACE(testing::Message() << "matrix " << index << ", outputs from " << first << ", " << count
                                  << " of them, start " << static_cast<int>(start));
  const int64_t outputs = packed.matrix->outputs(), terms = packed.matrix->terms();
  const std::optional<fast::memory::BlockedFormat> part = packed.matrix->Part(first, count);
  ASSERT_TRUE(part);
  const std::optional<PackedMatmul> product = PackedMatmul::Make(*part, rows, start);
  ASSERT_TRUE(product);
  const TensorValue left = Integers({rows, terms}), bias = Integers({count}),
                    before = Integers({rows, count});
  std::vector<uint16_t> rounded;
  for (const float number : left.elements<float>()) rounded.push_back(FloatToBFloat(number));
  std::vector<float> out(before.elements<float>().begin(), before.elements<float>().end());
  std::vector<std::byte> scratch(product->scratch_bytes());
  PackedMatmul::Call call(*product, scratch.data());
  const void* const operand = type == StorageType::kBf16 ? static_cast<const void*>(rounded.data())
                                                         : static_cast<const void*>(left.bytes());
  const auto done = call.Run(operand, packed.bytes.data() + packed.matrix->Offset(index, first),
                             bias.elements<float>().data(), out.data());
  ASSERT_TRUE(done.ok());
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t output = 0; output < count; ++output) {
      const int64_t at = row * count + output;
      double sum = start == SumStart::kBias     ? bias.ElementAsDouble(output)
                   : start == SumStart::kOutput ? before.ElementAsDouble(at)
                                                : 0;
      for (int64_t term = 0; term < terms; ++term)
        sum += left.ElementAsDouble(row * terms + term) *
               value.ElementAsDouble((index * outputs + first + output) * terms + term);
      ASSERT_EQ(out[static_cast<size_t>(at)], sum) << "row " << row << ", output " << output;
    }
  }
}

TEST(PackedMatrixTest, Products) {
  int checked = 0;
  for (const StorageType type : {StorageType::kF32, StorageType::kBf16}) {
    for (const Shape& shape : {Shape{64, 48}, Shape{2, 192, 40}, Shape{3, 100, 33}}) {
      for (const int64_t rows : {2, 7, 64}) {
        SCOPED_TRACE(testing::Message() << ToString(shape) << " by " << rows << " rows");
        const tensor::ThreadScope scope(2);
        const TensorValue value = Integers(shape);
        const Packed packed(value, rows, type);
        if (packed.bytes.empty()) continue;
        const int64_t outputs = shape[shape.size() - 2], terms = shape.back();
        const int64_t matrices = shape.size() == 3 ? shape[0] : 1;
        ASSERT_EQ(packed.matrix->outputs(), outputs);
        ASSERT_EQ(packed.matrix->terms(), terms);
        for (int64_t index = 0; index < matrices; ++index) {
          for (const SumStart start : {SumStart::kZero, SumStart::kBias, SumStart::kOutput}) {
            CheckProduct(value, packed, index, 0, outputs, rows, start, type);
            ++checked;
            if (HasFatalFailure()) return;
            // Parts of whole blocks.
            for (const int64_t first : {int64_t{0}, int64_t{64}, int64_t{128}}) {
              if (first + 64 > outputs || !packed.matrix->Part(first, 64)) continue;
              CheckProduct(value, packed, index, first, 64, rows, start, type);
              if (HasFatalFailure()) return;
            }
          }
        }
      }
    }
  }
  if (checked == 0 && !fast::HasAvx512()) GTEST_SKIP() << "oneDNN packs no weights here";
  EXPECT_GT(checked, 0);
}

// A part of a block has no format of its own.
TEST(PackedMatrixTest, PartsOfBlocks) {
  const Packed packed(Integers({192, 40}), 16, StorageType::kF32);
  if (!packed.matrix) GTEST_SKIP() << "oneDNN packs no weights here";
  EXPECT_TRUE(packed.matrix->Part(0, 192));
  EXPECT_TRUE(packed.matrix->Part(64, 64));
  EXPECT_FALSE(packed.matrix->Part(1, 64));
  EXPECT_FALSE(packed.matrix->Part(64, 63));
  EXPECT_FALSE(packed.matrix->Part(0, 191));
}

TEST(PackedMatrixTest, OtherValues) {
  const TensorValue value = Integers({64, 48}), vector = Integers({64}), four = Integers({1, 2, 64, 48});
  const auto make = [](const kernels::ValueInfo& info) {
    return PackedMatrix::Make(info, 16, StorageType::kF32).has_value();
  };
  EXPECT_FALSE(make({.type = ElementType::kF32, .shape = {64, 48}}));
  EXPECT_FALSE(make({.type = ElementType::kF64, .shape = {64, 48}, .constant = &value}));
  EXPECT_FALSE(make({.type = ElementType::kF32, .shape = {64}, .constant = &vector}));
  EXPECT_FALSE(make({.type = ElementType::kF32, .shape = {1, 2, 64, 48}, .constant = &four}));
}

}  // namespace
}  // namespace nnefc::runtime::onednn

#include "runtime/fast/int8/convolution/filter_packing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "runtime/fast/factories.h"

namespace nnefc::runtime::fast::int8 {
namespace {

// Numbers that are to be computed, and that say how many bytes of them anybody wanted at once.
struct Computed {
  std::vector<float> numbers;
  std::shared_ptr<size_t> most = std::make_shared<size_t>(0);

  TensorValue Value(const Shape& shape) const {
    const auto part = [numbers = numbers, most = most](std::span<std::byte> out, size_t begin) {
      *most = std::max(*most, out.size());
      std::memcpy(out.data(), reinterpret_cast<const std::byte*>(numbers.data()) + begin, out.size());
    };
    const size_t bytes = numbers.size() * sizeof(float);
    const auto all = [part, bytes](std::byte* out) { part({out, bytes}, 0); };
    return {ElementType::kF32, shape, Buffer::Computed(bytes, all, std::nullopt, part)};
  }
};

// Codes from -128 to 127, and the scale of each channel.
int CodeAt(int64_t i) {
  return static_cast<int>(i * 37 % 256) - 128;
}
float ScaleAt(int64_t channel) {
  return 0.01F * static_cast<float>(channel % 7 + 1);
}

std::vector<float> Scales(int64_t count) {
  std::vector<float> scales;
  for (int64_t i = 0; i < count; ++i) scales.push_back(ScaleAt(i));
  return scales;
}

// Lays `value` out by rows; the codes as they lie.
std::vector<int8_t> LaidOut(const TensorValue& value, const memory::BlockedFormat& target,
                            const memory::BlockedLayout::Form& form) {
  const tensor::Layout layout = std::make_shared<memory::BlockedLayout>(target, form);
  const std::shared_ptr<const kernels::Kernel> kernel =
      memory::MakeFastReorder(ElementType::kF32, value.shape(), nullptr, layout);
  const auto* by_rows = dynamic_cast<const kernels::ConstantKernel*>(kernel.get());
  EXPECT_NE(by_rows, nullptr);
  std::vector<int8_t> result(target.byte_size());
  if (by_rows == nullptr) return result;
  EXPECT_TRUE(by_rows->RunByRows(value, reinterpret_cast<std::byte*>(result.data())).ok());
  return result;
}

TEST(FilterRowsTest, MatricesHaveTheScalesOfTheirColumns) {
  constexpr int64_t kRows = 700, kColumns = 300;
  Computed computed;
  for (int64_t i = 0; i < kRows * kColumns; ++i)
    computed.numbers.push_back(static_cast<float>(CodeAt(i)) * ScaleAt(i % kColumns));
  const memory::BlockedFormat target =
      memory::OrderedFormat({kRows, kColumns}, {1, 0}, memory::StorageType::kS8);
  const std::vector<int8_t> codes =
      LaidOut(computed.Value({kRows, kColumns}), target,
              {.filter_codes = memory::FilterScales{.scales = Scales(kColumns), .mask = 2}});
  for (int64_t i = 0; i < kRows * kColumns; ++i)
    ASSERT_EQ(codes[static_cast<size_t>(i % kColumns * kRows + i / kColumns)], CodeAt(i)) << i;
  EXPECT_LT(*computed.most, computed.numbers.size() * sizeof(float) / 2);
}

TEST(FilterRowsTest, TransposedMatricesHaveThoseOfTheirRows) {
  constexpr int64_t kOutputs = 500, kInputs = 330;
  Computed computed;
  for (int64_t i = 0; i < kOutputs * kInputs; ++i)
    computed.numbers.push_back(static_cast<float>(CodeAt(i)) * ScaleAt(i / kInputs));
  const memory::BlockedFormat target = memory::RowMajorFormat({kInputs, kOutputs}, memory::StorageType::kS8);
  const std::vector<int8_t> codes =
      LaidOut(computed.Value({kOutputs, kInputs}), target,
              {.order = memory::SwappedOrder(2, 0, 1),
               .filter_codes = memory::FilterScales{.scales = Scales(kOutputs), .mask = 2}});
  for (int64_t i = 0; i < kOutputs * kInputs; ++i)
    ASSERT_EQ(codes[static_cast<size_t>(i % kInputs * kOutputs + i / kInputs)], CodeAt(i)) << i;
  EXPECT_LT(*computed.most, computed.numbers.size() * sizeof(float) / 2);
}

TEST(FilterRowsTest, FiltersHaveThoseOfTheirOutputs) {
  constexpr int64_t kOutputs = 96, kInputs = 200, kTaps = 9;
  Computed computed;
  for (int64_t i = 0; i < kOutputs * kInputs * kTaps; ++i)
    computed.numbers.push_back(static_cast<float>(CodeAt(i)) * ScaleAt(i / (kInputs * kTaps)));
  const memory::BlockedFormat target =
      memory::OrderedFormat({kOutputs, kInputs, 3, 3}, {2, 3, 1, 0}, memory::StorageType::kS8);
  const std::vector<int8_t> codes =
      LaidOut(computed.Value({kOutputs, kInputs, 3, 3}), target,
              {.filter_codes = memory::FilterScales{.scales = Scales(kOutputs), .mask = 1}});
  for (int64_t i = 0; i < kOutputs * kInputs * kTaps; ++i) {
    const int64_t output = i / (kInputs * kTaps), input = i / kTaps % kInputs, tap = i % kTaps;
    ASSERT_EQ(codes[static_cast<size_t>((tap * kInputs + input) * kOutputs + output)], CodeAt(i)) << i;
  }
  EXPECT_LT(*computed.most, computed.numbers.size() * sizeof(float) / 2);
}

TEST(FilterRowsTest, FiltersOfGroupsHaveThoseOfEachGroup) {
  constexpr int64_t kGroups = 3, kOutputs = 4, kInputs = 5, kTaps = 9;
  Computed computed;
  for (int64_t i = 0; i < kGroups * kOutputs * kInputs * kTaps; ++i)
    computed.numbers.push_back(static_cast<float>(CodeAt(i)) * ScaleAt(i / (kInputs * kTaps)));
  const memory::BlockedFormat target =
      memory::OrderedFormat({kGroups, kOutputs, kInputs, 3, 3}, {3, 4, 2, 0, 1}, memory::StorageType::kS8);
  const std::vector<int8_t> codes =
      LaidOut(computed.Value({kGroups, kOutputs, kInputs, 3, 3}), target,
              {.filter_codes = memory::FilterScales{.scales = Scales(kGroups * kOutputs), .mask = 3}});
  for (int64_t i = 0; i < kGroups * kOutputs * kInputs * kTaps; ++i) {
    const int64_t channel = i / (kInputs * kTaps), input = i / kTaps % kInputs, tap = i % kTaps;
    ASSERT_EQ(codes[static_cast<size_t>((tap * kInputs + input) * kGroups * kOutputs + channel)], CodeAt(i))
        << i;
  }
}

// Filters with other sums than those of their scales are unknown.
TEST(FilterRowsTest, FormatsWithOtherSumsAreUnknown) {
  memory::BlockedFormat target = memory::RowMajorFormat({64, 64, 1, 1}, memory::StorageType::kS8);
  const memory::BlockedLayout::Form form = {.filter_codes =
                                                memory::FilterScales{.scales = Scales(64), .mask = 1}};
  EXPECT_NE(MakeFilterPacking({64, 64, 1, 1}, form, target), nullptr);
  target.sum_axes = 1;
  EXPECT_NE(MakeFilterPacking({64, 64, 1, 1}, form, target), nullptr);
  target.sum_axes = 2;
  EXPECT_EQ(MakeFilterPacking({64, 64, 1, 1}, form, target), nullptr);
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8

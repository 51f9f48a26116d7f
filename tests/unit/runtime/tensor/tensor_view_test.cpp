#include "runtime/tensor/tensor_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/tensor/element_visitor.h"
#include "runtime/tensor/strided_loop.h"

namespace nnefc::runtime {
namespace {

TEST(TensorViewTest, CopiesATransposedView) {
  std::vector<float> source(6);
  std::iota(source.begin(), source.end(), 0.0f);
  std::vector<float> target(6);
  const TensorView view(ElementType::kF32, {3, 2}, Strides{1, 3},
                        reinterpret_cast<const std::byte*>(source.data()));
  CopyElements(view,
               MutableTensorView(ElementType::kF32, {3, 2}, reinterpret_cast<std::byte*>(target.data())));
  EXPECT_EQ(target, (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(TensorViewTest, CopiesReversedAndRepeatedViews) {
  const std::vector<int16_t> source = {1, 2, 3};
  std::vector<int16_t> target(6);
  const auto* last = reinterpret_cast<const std::byte*>(source.data() + 2);
  CopyElements(TensorView(ElementType::kI16, {2, 3}, Strides{0, -1}, last),
               MutableTensorView(ElementType::kI16, {2, 3}, reinterpret_cast<std::byte*>(target.data())));
  EXPECT_EQ(target, (std::vector<int16_t>{3, 2, 1, 3, 2, 1}));
}

TEST(TensorViewTest, CopiesNothingOfAnEmptyTensorAndOneOfAScalar) {
  const double one = 1;
  double other = 0;
  CopyElements(TensorView(ElementType::kF64, {0, 3}, nullptr),
               MutableTensorView(ElementType::kF64, {0, 3}, nullptr));
  CopyElements(TensorView(ElementType::kF64, {}, reinterpret_cast<const std::byte*>(&one)),
               MutableTensorView(ElementType::kF64, {}, reinterpret_cast<std::byte*>(&other)));
  EXPECT_EQ(other, 1);
}

TEST(StridedLoopTest, MergesAxesAndVisitsEveryElementOnce) {
  const Shape shape = {3, 1, 50000};
  const Strides strides = DenseStrides(shape);
  StridedLoop<1> loop(shape, {strides});
  std::vector<int> visits(150000);
  loop.Run([&](const std::array<int64_t, 1>& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      ++visits[static_cast<size_t>(offsets[0] + i * loop.row_strides()[0])];
  });
  for (int count : visits) ASSERT_EQ(count, 1);
}

TEST(ElementVisitorTest, ConversionsSaturateAndTruncate) {
  EXPECT_EQ(ConvertElement<int8_t>(-3.9f), -3);
  EXPECT_EQ(ConvertElement<int8_t>(300.0f), 127);
  EXPECT_EQ(ConvertElement<uint8_t>(-1.0f), 0);
  EXPECT_EQ(ConvertElement<int64_t>(1e30), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ConvertElement<int32_t>(NAN), 0);
  EXPECT_TRUE(ConvertElement<Boolean>(0.5f));
  EXPECT_EQ(ConvertElement<float>(Boolean(true)), 1.0f);
  EXPECT_EQ(static_cast<float>(ConvertElement<Half>(1.0 / 3)), HalfToFloat(FloatToHalf(1.0f / 3)));
}

}  // namespace
}  // namespace nnefc::runtime

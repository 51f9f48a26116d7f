#include "runtime/tensor/tensor_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "compiler/support/tensor/element_visitor.h"
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

// Element by element, by the coordinates of each.
template <typename T>
std::vector<T> CopiedByCoordinates(const TensorView& from) {
  std::vector<T> result;
  for (int64_t index = 0; index < from.volume(); ++index) {
    int64_t offset = 0;
    int64_t rest = index;
    for (int64_t axis = from.rank(); axis-- > 0; rest /= from.extent(axis))
      offset += rest % from.extent(axis) * from.strides()[static_cast<size_t>(axis)];
    result.push_back(from.data<T>()[offset]);
  }
  return result;
}

template <typename T>
void CheckTransposedCopies(ElementType type) {
  for (const Shape& shape :
       {Shape{5, 17, 33}, Shape{1, 64, 9}, Shape{31, 2, 8}, Shape{3, 40, 1}, Shape{7, 0, 9}}) {
    std::vector<T> source(static_cast<size_t>(*Volume(shape)));
    std::iota(source.begin(), source.end(), T(1));
    std::array<size_t, 3> order = {0, 1, 2};
    do {
      Shape permuted;
      Strides strides;
      for (size_t axis : order) {
        permuted.push_back(shape[axis]);
        strides.push_back(DenseStrides(shape)[axis]);
      }
      const TensorView view(type, permuted, strides, reinterpret_cast<const std::byte*>(source.data()));
      std::vector<T> target(source.size());
      CopyElements(view, MutableTensorView(type, permuted, reinterpret_cast<std::byte*>(target.data())));
      ASSERT_EQ(target, CopiedByCoordinates<T>(view)) << ToString(permuted);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(TensorViewTest, CopiesTransposedViewsOfAnyExtents) {
  CheckTransposedCopies<uint8_t>(ElementType::kU8);
  CheckTransposedCopies<uint16_t>(ElementType::kU16);
  CheckTransposedCopies<float>(ElementType::kF32);
  CheckTransposedCopies<int64_t>(ElementType::kI64);
}

// Returns the offsets of the elements of a view, in row-major order.
std::vector<int64_t> PlacesOf(const ElementsView& view) {
  std::vector<int64_t> places;
  const int64_t volume = *Volume(view.shape);
  for (int64_t i = 0; i < volume; ++i) {
    int64_t rest = i, place = view.offset;
    for (size_t axis = view.shape.size(); axis-- > 0; rest /= view.shape[axis])
      place += rest % view.shape[axis] * view.strides[axis];
    places.push_back(place);
  }
  return places;
}

TEST(ElementsViewTest, ReshapedElementsStayWhereTheyAre) {
  std::mt19937 random(1);
  const auto pick = [&](size_t count) { return static_cast<size_t>(random() % count); };
  int made = 0;
  for (int round = 0; round < 4000; ++round) {
    Shape shape;
    for (size_t axis = 0, rank = pick(5); axis < rank; ++axis)
      shape.push_back(std::array<int64_t, 5>{1, 2, 3, 4, 6}[pick(5)]);
    // A random order of the axes of a tensor, with gaps between elements along some axes.
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (round % 2 == 0) std::shuffle(order.begin(), order.end(), random);
    ElementsView view{.shape = shape, .strides = Strides(shape.size(), 1), .offset = 5};
    int64_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      view.strides[order[i]] = stride;
      stride *= shape[order[i]] + static_cast<int64_t>(pick(8) == 0);
    }
    // Other extents with the same product.
    Shape to;
    for (int64_t left = *Volume(shape); left > 1;) {
      const int64_t extent = std::array<int64_t, 5>{2, 3, 4, 6, 12}[pick(5)];
      if (pick(4) == 0) to.push_back(1);
      if (left % extent != 0) continue;
      to.push_back(extent);
      left /= extent;
    }
    const std::optional<ElementsView> reshaped = Reshaped(view, to);
    EXPECT_TRUE(reshaped || !IsDense(view)) << ToString(shape) << ToString(to);
    if (!reshaped) continue;
    ++made;
    ASSERT_EQ(reshaped->shape, to);
    ASSERT_EQ(PlacesOf(*reshaped), PlacesOf(view)) << ToString(shape) << ToString(to);
  }
  EXPECT_GT(made, 1000);
  EXPECT_FALSE(Reshaped({.shape = {2, 3}, .strides = {1, 2}}, {6}).has_value());
  EXPECT_FALSE(Reshaped({.shape = {2, 3}, .strides = {3, 1}}, {5}).has_value());
}

TEST(StridedLoopTest, RowsAreNotShort) {
  const Shape shape = {100, 3, 2};
  const Strides dense = DenseStrides(shape);
  const Strides other = {1, 100, 300};
  StridedLoop<2> loop(shape, {dense, other});
  std::vector<int> visits(600);
  loop.Run([&](const std::array<int64_t, 2>& offsets, int64_t length) {
    EXPECT_EQ(length, 100);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = offsets[0] + i * loop.row_strides()[0];
      ++visits[static_cast<size_t>(at)];
      EXPECT_EQ(offsets[1] + i * loop.row_strides()[1], at / 6 + at / 2 % 3 * 100 + at % 2 * 300);
    }
  });
  for (int count : visits) ASSERT_EQ(count, 1);
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

#include "runtime/tensor/tensor_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>
#include <utility>

#include "compiler/support/tensor/element_visitor.h"
#include "runtime/tensor/layout.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/strided_loop.h"

namespace nnefc::runtime::tensor {
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

// A layout of another backend.
class OtherLayout final : public OpaqueLayout {
 public:
  size_t byte_size() const override { return 24; }
  bool Equals(const OpaqueLayout& other) const override { return other.ToString() == ToString(); }
  std::string ToString() const override { return "other"; }
};

TEST(LayoutTest, EqualLayouts) {
  const Layout dense = nullptr, other = std::make_shared<OtherLayout>(),
               another = std::make_shared<OtherLayout>();
  const auto strided = [](Strides strides, size_t bytes) -> Layout {
    return std::make_shared<StridedLayout>(std::move(strides), bytes);
  };
  const Layout rows = strided({4, 1}, 24);
  EXPECT_TRUE(SameLayout(dense, dense));
  EXPECT_TRUE(SameLayout(rows, rows));
  EXPECT_TRUE(SameLayout(rows, strided({4, 1}, 24)));
  EXPECT_TRUE(SameLayout(other, another));
  for (const Layout& different : {dense, other, strided({3, 1}, 24), strided({4, 2}, 24), strided({4, 1}, 28),
                                  strided({4}, 24), strided({4, 1, 1}, 24)}) {
    EXPECT_FALSE(SameLayout(rows, different));
    EXPECT_FALSE(SameLayout(different, rows));
  }
  EXPECT_FALSE(SameLayout(other, dense));
  EXPECT_FALSE(SameLayout(dense, other));
}

// Overlapping windows, where several axes of the source have the same stride, and every second element.
TEST(TensorViewTest, CopiesOverlappingViews) {
  std::vector<float> source(4000);
  std::iota(source.begin(), source.end(), 1.0F);
  for (const Strides& strides : {Strides{1, 1, 20},
                                 {1, 20, 1},
                                 {20, 1, 1},
                                 {1, 1, 1},
                                 {1, 20, 20},
                                 {0, 1, 20},
                                 {40, 80, 2},
                                 {2, 80, 3}}) {
    for (const Shape& shape : {Shape{9, 17, 8}, {8, 8, 8}, {7, 16, 33}, {16, 1, 24}}) {
      const TensorView view(ElementType::kF32, shape, strides,
                            reinterpret_cast<const std::byte*>(source.data()));
      std::vector<float> target(static_cast<size_t>(view.volume()));
      CopyElements(view,
                   MutableTensorView(ElementType::kF32, shape, reinterpret_cast<std::byte*>(target.data())));
      EXPECT_EQ(target, CopiedByCoordinates<float>(view)) << ToString(shape) << ToString(strides);
    }
  }
}

// Targets with gaps between elements, along the last axis or along others.
TEST(TensorViewTest, CopiesToStridedTargets) {
  constexpr float kUnchanged = -1;
  std::vector<float> source(4000);
  std::iota(source.begin(), source.end(), 1.0F);
  const Shape shape = {9, 10, 11};
  for (const Strides& from :
       {Strides{110, 11, 1}, {1, 9, 90}, {11, 99, 1}, {2, 20, 200}, {110, 11, 0}, {0, 0, 0}, {0, 11, 1}}) {
    for (const Strides& to : {Strides{220, 22, 2}, {300, 20, 1}, {2, 18, 180}, {110, 1, 10}, {1, 9, 90}}) {
      const TensorView view(ElementType::kF32, shape, from,
                            reinterpret_cast<const std::byte*>(source.data()));
      std::vector<float> target(4000, kUnchanged), expected = target;
      CopyElements(
          view, MutableTensorView(ElementType::kF32, shape, to, reinterpret_cast<std::byte*>(target.data())));
      for (int64_t i = 0; i < 9; ++i) {
        for (int64_t j = 0; j < 10; ++j) {
          for (int64_t k = 0; k < 11; ++k)
            expected[static_cast<size_t>(i * to[0] + j * to[1] + k * to[2])] =
                source[static_cast<size_t>(i * from[0] + j * from[1] + k * from[2])];
        }
      }
      EXPECT_EQ(target, expected) << ToString(from) << ToString(to);
    }
  }
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
  // Nothing is reshaped without elements, or with more than can be counted.
  EXPECT_FALSE(Reshaped({.shape = {0, 3}, .strides = {3, 1}}, {3, 0}).has_value());
  const int64_t many = int64_t{1} << 62;
  EXPECT_FALSE(Reshaped({.shape = {many, 4}, .strides = {4, 1}}, {many, 4}).has_value());
  EXPECT_FALSE(Reshaped({.shape = {0, 3}, .strides = {3, 1}}, {1}).has_value());
  // The number of elements overflows.
  constexpr int64_t kLarge = int64_t{1} << 40;
  EXPECT_FALSE(Reshaped({.shape = {kLarge, kLarge}, .strides = {kLarge, 1}}, {kLarge, kLarge}).has_value());
  const auto one = Reshaped({.shape = {1, 1}, .strides = {7, 5}, .offset = 3}, {1});
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(PlacesOf(*one), std::vector<int64_t>{3});
}

TEST(LayoutTest, IsOfTheElementsAndTheGapsBetweenThem) {
  EXPECT_EQ(LayoutOf({.shape = {2, 3}, .strides = {3, 1}}, 4), nullptr);
  const Layout gaps = LayoutOf({.shape = {2, 3}, .strides = {4, 1}}, 4);
  ASSERT_NE(gaps, nullptr);
  EXPECT_EQ(gaps->byte_size(), 28u);  // 4 + 2 + 1 elements
  EXPECT_EQ(*StridesOf(gaps), (Strides{4, 1}));
  EXPECT_EQ(gaps->ToString(), "strides 4,1");
  EXPECT_EQ(StridesOf(nullptr), nullptr);
  const Layout same = LayoutOf({.shape = {2, 3}, .strides = {4, 1}}, 4);
  const Layout wider = LayoutOf({.shape = {2, 3}, .strides = {4, 1}}, 8);
  const Layout transposed = LayoutOf({.shape = {2, 3}, .strides = {1, 2}}, 4);
  EXPECT_TRUE(SameLayout(gaps, gaps));
  EXPECT_TRUE(SameLayout(gaps, same));
  EXPECT_TRUE(SameLayout(nullptr, nullptr));
  EXPECT_FALSE(SameLayout(gaps, wider));
  EXPECT_FALSE(SameLayout(gaps, transposed));
  EXPECT_FALSE(SameLayout(gaps, nullptr));
  EXPECT_FALSE(SameLayout(nullptr, gaps));
}

TEST(RoundUpTest, AtEachMultiple) {
  const std::array<int64_t, 3> cases[] = {{-5, 4, 0}, {-1, 4, 0}, {0, 4, 0}, {1, 4, 1}, {3, 4, 1},
                                          {4, 4, 1},  {5, 4, 2},  {8, 4, 2}, {9, 4, 3}, {7, 1, 7}};
  for (const auto& [number, by, expected] : cases) {
    EXPECT_EQ(CeilDivide(number, by), expected) << number << " " << by;
    if (number < 0) continue;
    EXPECT_EQ(RoundUp(number, by), expected * by) << number << " " << by;
  }
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

// Rows of more than 16384 elements are divided into parts of that length and a rest.
TEST(StridedLoopTest, LongRowsAreDivided) {
  for (const int64_t length : {16383, 16384, 16385, 32767, 32768, 32769}) {
    const Shape shape = {2, length};
    const Strides strides = {length + 1, 1};
    StridedLoop<1> loop(shape, {strides});
    std::vector<std::array<int64_t, 2>> parts;
    std::mutex mutex;
    loop.Run([&](const std::array<int64_t, 1>& offsets, int64_t count) {
      const std::lock_guard lock(mutex);
      parts.push_back({offsets[0], count});
    });
    std::sort(parts.begin(), parts.end());
    std::vector<std::array<int64_t, 2>> expected;
    for (const int64_t row : {int64_t{0}, length + 1}) {
      for (int64_t begin = 0; begin < length; begin += 16384)
        expected.push_back({row + begin, std::min<int64_t>(16384, length - begin)});
    }
    EXPECT_EQ(parts, expected) << length;
  }
}

// A last axis of less than 8 elements is exchanged with one of at least 16.
TEST(StridedLoopTest, RowsHaveTheLengthOfAnAxis) {
  const std::pair<Shape, int64_t> cases[] = {
      {{16, 7}, 16}, {{17, 7}, 17}, {{15, 7}, 7},        {{16, 8}, 8},      {{100, 8}, 8},
      {{16, 9}, 9},  {{2, 3}, 3},   {{20, 30, 2}, 30},   {{20, 15, 2}, 20}, {{20, 2, 1}, 20},
      {{1, 1}, 1},   {{}, 1},       {{16, 1, 2, 7}, 16}, {{3, 7, 1}, 7},
  };
  for (const auto& [shape, length] : cases) {
    // A gap after each row, so that no axes can be merged.
    Strides strides(shape.size(), 1);
    for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * (shape[axis] + 1);
    StridedLoop<1> loop(shape, {strides});
    int64_t visited = 0;
    loop.Run([&](const std::array<int64_t, 1>&, int64_t count) {
      EXPECT_EQ(count, length) << ToString(shape);
      visited += count;
    });
    EXPECT_EQ(visited, *Volume(shape)) << ToString(shape);
  }
  for (const Shape& empty : {Shape{0}, Shape{3, 0}, Shape{0, 3}, Shape{20, 0, 2}}) {
    const Strides strides(empty.size(), 1);
    StridedLoop<1>(empty, {strides}).Run([&](const std::array<int64_t, 1>&, int64_t) {
      ADD_FAILURE() << ToString(empty);
    });
  }
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

// Axes are one row if they are contiguous in all tensors.
TEST(StridedLoopTest, ContiguousAxesAreOneRow) {
  const Shape shape = {4, 9, 10};
  const Strides dense = DenseStrides(shape), with_gaps = {100, 10, 1}, reversed = {1, 4, 36};
  const std::array<std::pair<Strides, int64_t>, 3> cases = {{{dense, 360}, {with_gaps, 90}, {reversed, 10}}};
  for (const auto& [other, length] : cases) {
    int64_t visited = 0;
    StridedLoop<2>(shape, {dense, other}).Run([&](const std::array<int64_t, 2>&, int64_t count) {
      EXPECT_EQ(count, length);
      visited += count;
    });
    EXPECT_EQ(visited, 360);
  }
}

// Rows are split into parts, none of them empty, at any remainder.
TEST(StridedLoopTest, PartsOfRowsAreNotEmpty) {
  for (const int64_t length : {4095, 4096, 4097, 8191, 8192, 8193, 16383, 16384, 16385, 32767, 32768, 32769,
                               65535, 65536, 65537, 131072}) {
    const Shape shape = {length};
    StridedLoop<1> loop(shape, {DenseStrides(shape)});
    int64_t sum = 0;
    loop.Run([&](const std::array<int64_t, 1>& offsets, int64_t part) {
      EXPECT_GT(part, 0);
      EXPECT_EQ(offsets[0], sum);
      sum += part;
    });
    EXPECT_EQ(sum, length);
  }
}

TEST(LayoutTest, BytesOfStridedElements) {
  EXPECT_EQ(StridedLayout({4, 1}, 28).byte_size(), 28u);
  EXPECT_EQ(LayoutOf({.shape = {2, 3}, .strides = {3, 1}}, 4), nullptr);
  const Layout layout = LayoutOf({.shape = {2, 3}, .strides = {4, 1}}, 4);
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->byte_size(), (4u + 3u) * 4u);
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
}  // namespace nnefc::runtime::tensor

#include "runtime/fast/dnnl_layout.h"

#include <gtest/gtest.h>

#include "runtime/fast/families.h"

namespace nnefc::runtime {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

Layout MakeLayout(memory::dims dims, Tag tag) {
  return LayoutOf(memory::desc(std::move(dims), memory::data_type::f32, tag));
}

TEST(DnnLayoutTest, RowMajorMemoryIsNoLayout) {
  EXPECT_EQ(MakeLayout({2, 3, 4, 5}, Tag::nchw), nullptr);
  EXPECT_EQ(MakeLayout({1, 7, 1, 1}, Tag::nhwc), nullptr);
  EXPECT_EQ(MakeLayout({2, 32, 1, 1}, Tag::nChw16c), nullptr);
  EXPECT_EQ(LayoutOf(PlainDesc({})), nullptr);
}

TEST(DnnLayoutTest, OthersAre) {
  for (const auto& [dims, tag] : std::vector<std::pair<memory::dims, Tag>>{{{2, 3, 4, 5}, Tag::nhwc},
                                                                           {{1, 32, 4, 5}, Tag::nChw16c},
                                                                           {{1, 24, 1, 1}, Tag::nChw16c},
                                                                           {{3, 5}, Tag::ba}}) {
    const Layout layout = MakeLayout(dims, tag);
    ASSERT_NE(layout, nullptr);
    EXPECT_TRUE(SameLayout(layout, MakeLayout(dims, tag)));
    EXPECT_FALSE(SameLayout(layout, nullptr));
  }
  EXPECT_EQ(MakeLayout({1, 32, 4, 5}, Tag::nChw16c)->ToString(), "aBcd16b");
  EXPECT_EQ(MakeLayout({2, 3, 4, 5}, Tag::nhwc)->ToString(), "acdb");
  EXPECT_EQ(MakeLayout({3, 5}, Tag::ba)->ToString(), "ba");
  EXPECT_EQ(MakeLayout({1, 24, 4, 5}, Tag::nChw16c)->byte_size(), size_t{32 * 4 * 5 * 4});
}

std::vector<float> Reordered(llvm::ArrayRef<int64_t> shape, const Layout& from, const Layout& to,
                             std::vector<float> values, size_t bytes) {
  std::shared_ptr<const Kernel> kernel = MakeDnnReorder(ElementType::kF32, shape, from, to);
  EXPECT_NE(kernel, nullptr);
  std::vector<float> result(bytes / sizeof(float));
  const Shape extents(shape.begin(), shape.end());
  const TensorView input(ElementType::kF32, extents, reinterpret_cast<const std::byte*>(values.data()));
  const MutableTensorView output(ElementType::kF32, extents, reinterpret_cast<std::byte*>(result.data()));
  const TensorView* inputs[] = {&input};
  const MutableTensorView* outputs[] = {&output};
  EXPECT_TRUE(kernel->Run({.inputs = inputs, .outputs = outputs}).ok());
  return result;
}

TEST(DnnLayoutTest, ReordersThereAndBack) {
  const Shape shape = {1, 20, 3, 3};
  std::vector<float> values(180);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Layout blocked = MakeLayout({1, 20, 3, 3}, Tag::nChw16c);
  const std::vector<float> there = Reordered(shape, nullptr, blocked, values, blocked->byte_size());
  EXPECT_EQ(there[1], 9);   // channel 1 of pixel 0
  EXPECT_EQ(there[16], 1);  // channel 0 of pixel 1
  EXPECT_EQ(Reordered(shape, blocked, nullptr, there, 720), values);
}

TEST(DnnLayoutTest, PartsJoinWhereBlocksAre) {
  const auto part = [](int64_t batch, int64_t channels, Tag tag) {
    return ValueInfo{.type = ElementType::kF32,
                     .shape = {batch, channels, 4, 4},
                     .layout = MakeLayout({batch, channels, 4, 4}, tag)};
  };
  const auto whole = [](int64_t batch, int64_t channels) {
    return ValueInfo{.type = ElementType::kF32, .shape = {batch, channels, 4, 4}};
  };
  const Tag blocked = Tag::nChw16c;
  const auto joined = JoinDnnLayouts({part(1, 16, blocked), part(1, 32, blocked)}, whole(1, 48), 1);
  ASSERT_TRUE(joined.has_value());
  EXPECT_TRUE(SameLayout(*joined, MakeLayout({1, 48, 4, 4}, blocked)));
  EXPECT_FALSE(JoinDnnLayouts({part(1, 16, blocked), part(1, 24, blocked)}, whole(1, 40), 1).has_value());
  EXPECT_FALSE(JoinDnnLayouts({part(2, 16, blocked), part(2, 16, blocked)}, whole(2, 32), 1).has_value());
  EXPECT_FALSE(JoinDnnLayouts({part(1, 16, blocked), part(1, 16, Tag::nhwc)}, whole(1, 32), 1).has_value());
  EXPECT_FALSE(JoinDnnLayouts({part(1, 16, blocked), part(1, 16, Tag::nChw8c)}, whole(1, 32), 1).has_value());
  EXPECT_TRUE(JoinDnnLayouts({part(2, 16, blocked), part(1, 16, blocked)},
                             {.type = ElementType::kF32, .shape = {3, 16, 4, 4}}, 0)
                  .has_value());
}

}  // namespace
}  // namespace nnefc::runtime

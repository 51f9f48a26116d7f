#include "runtime/onednn/dnnl_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "runtime/fast/factories.h"

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

// Descriptions that need no library are those that the library makes, and compare and measure as there.
TEST(DnnLayoutTest, DescriptionsAreThoseOfTheLibrary) {
  std::mt19937 random(5);
  const auto draw = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  std::vector<memory::desc> all;
  for (int round = 0; round < 2000; ++round) {
    const auto rank = static_cast<int>(draw(1, 5));
    dnnl_dims_t dims = {}, strides = {};
    for (int axis = 0; axis < rank; ++axis)
      dims[axis] = draw(0, 9) == 0 ? 0 : draw(0, 3) == 0 ? 1 : draw(1, 40);
    const auto type = std::vector{dnnl_f32, dnnl_bf16, dnnl_u8, dnnl_s8, dnnl_s32}[random() % 5];
    dnnl_memory_desc_t own = {}, of_library = {};
    dnnl_status_t status = dnnl_success, expected = dnnl_success;
    if (draw(0, 1) == 0) {
      const auto tag =
          std::vector{dnnl_format_tag_any, dnnl_acb,      dnnl_acdb,  dnnl_acdeb,   dnnl_aBc16b,
                      dnnl_aBcd16b,        dnnl_aBcde16b, dnnl_aBc8b, dnnl_aBcd8b,  dnnl_aBcde8b,
                      dnnl_Abcd16a,        dnnl_Abcde16a, dnnl_abcd,  dnnl_BA16a16b}[random() % 14];
      status = InitDescByTag(&own, rank, dims, type, tag);
      expected = (OneDnn().dnnl_memory_desc_init_by_tag)(&of_library, rank, dims, type, tag);
    } else {
      std::vector<int> order(static_cast<size_t>(rank));
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      int64_t stride = draw(0, 9) == 0 ? 2 : 1;
      for (int axis : order) {
        strides[axis] = stride;
        stride *= std::max<int64_t>(dims[axis], 1);
      }
      status = InitDescByStrides(&own, rank, dims, type, strides);
      expected = (OneDnn().dnnl_memory_desc_init_by_strides)(&of_library, rank, dims, type, strides);
    }
    ASSERT_EQ(status, expected);
    if (status != dnnl_success) continue;
    ASSERT_EQ(std::memcmp(&own, &of_library, sizeof(own)), 0) << rank;
    ASSERT_EQ(BytesOfDesc(&own), (OneDnn().dnnl_memory_desc_get_size)(&own));
    ASSERT_EQ(BytesOfType(type), (OneDnn().dnnl_data_type_size)(type));
    all.emplace_back(own);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    // Itself and others; those of few numbers are often the same.
    for (const memory::desc& other : {all[i], all[random() % all.size()], all[random() % all.size()]})
      ASSERT_EQ(AreDescsEqual(&all[i].data, &other.data),
                (OneDnn().dnnl_memory_desc_equal)(&all[i].data, &other.data));
  }
}

}  // namespace
}  // namespace nnefc::runtime

// Our formats are those of oneDNN: they compare, measure and convert as there.

#include "runtime/onednn/library/formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace nnefc::runtime::onednn {

using fast::memory::StorageType;
using library::DescOf;

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

TEST(OneDnnFormatsTest, NamedFormatsAreThoseOfOneDnn) {
  const auto desc = [](const memory::dims& dims, Tag tag) {
    return memory::desc(dims, memory::data_type::f32, tag);
  };
  EXPECT_EQ(DescOf(fast::memory::RowMajorFormat({2, 3, 4, 5})), desc({2, 3, 4, 5}, Tag::nchw));
  EXPECT_EQ(DescOf(fast::memory::RowMajorFormat({})), desc({1}, Tag::a));
  EXPECT_EQ(DescOf(fast::memory::ChannelBlockedFormat({2, 20, 5})), desc({2, 20, 5}, Tag::nCw16c));
  EXPECT_EQ(DescOf(fast::memory::ChannelBlockedFormat({2, 20, 4, 5})), desc({2, 20, 4, 5}, Tag::nChw16c));
  EXPECT_EQ(DescOf(fast::memory::ChannelBlockedFormat({2, 20, 3, 4, 5})),
            desc({2, 20, 3, 4, 5}, Tag::nCdhw16c));
  EXPECT_EQ(DescOf(fast::memory::AxisBlockedFormat({2, 20, 4, 5}, 1, 8)), desc({2, 20, 4, 5}, Tag::nChw8c));
  EXPECT_EQ(DescOf(fast::memory::AxisBlockedFormat({20, 1, 1, 3, 3}, 0, 16)),
            desc({20, 1, 1, 3, 3}, Tag::Goihw16g));
  for (const auto type : {StorageType::kF32, StorageType::kBf16, StorageType::kU8, StorageType::kS8}) {
    const memory::data_type wanted = type == StorageType::kF32    ? memory::data_type::f32
                                     : type == StorageType::kBf16 ? memory::data_type::bf16
                                     : type == StorageType::kU8   ? memory::data_type::u8
                                                                  : memory::data_type::s8;
    EXPECT_EQ(DescOf(fast::memory::ChannelsLastFormat({2, 3, 4, 5}, type)),
              memory::desc({2, 3, 4, 5}, wanted, Tag::nhwc));
    EXPECT_EQ(DescOf(fast::memory::AnyFormat({2, 3}, type)), memory::desc({2, 3}, wanted, Tag::any));
  }
}

TEST(OneDnnFormatsTest, FormatsCompareAndMeasureAsInOneDnn) {
  std::mt19937 random(5);
  const auto draw = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  std::vector<memory::desc> all;
  for (int round = 0; round < 2000; ++round) {
    const auto rank = static_cast<size_t>(draw(1, 5));
    memory::dims dims(rank);
    for (int64_t& extent : dims) extent = draw(0, 3) == 0 ? 1 : draw(1, 40);
    const auto type = std::vector{memory::data_type::f32, memory::data_type::bf16, memory::data_type::u8,
                                  memory::data_type::s8, memory::data_type::s32}[random() % 5];
    if (draw(0, 1) == 0) {
      const std::vector<Tag> tags[] = {{Tag::a},
                                       {Tag::ab, Tag::ba, Tag::BA16a16b, Tag::BA16a16b2a},
                                       {Tag::acb, Tag::aBc16b, Tag::aBc8b},
                                       {Tag::acdb, Tag::aBcd16b, Tag::aBcd8b, Tag::Abcd16a, Tag::OIhw4i16o4i},
                                       {Tag::acdeb, Tag::aBcde16b, Tag::aBcde8b, Tag::Abcde16a}};
      const std::vector<Tag>& of_rank = tags[rank - 1];
      all.emplace_back(dims, type, of_rank[random() % of_rank.size()]);
    } else {
      std::vector<size_t> order(rank);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      memory::dims strides(rank);
      int64_t stride = 1;
      for (size_t axis : order) {
        strides[axis] = stride;
        stride *= dims[axis];
      }
      all.emplace_back(dims, type, strides);
    }
    const memory::desc& desc = all.back();
    const fast::memory::BlockedFormat format = library::FormatOfDesc(desc);
    ASSERT_TRUE(format.is_blocked());
    ASSERT_EQ(format.byte_size(), desc.get_size());
    ASSERT_EQ(format.min_bytes, 0u);
    ASSERT_EQ(DescOf(format), desc);
  }
  for (const memory::desc& desc : all) {
    // Itself and others; those with few elements are often the same.
    for (const memory::desc& other : {desc, all[random() % all.size()], all[random() % all.size()]})
      ASSERT_EQ(library::FormatOfDesc(desc) == library::FormatOfDesc(other), desc == other);
  }
}

// Sums after a filter, and formats without blocks.
TEST(OneDnnFormatsTest, OtherFormatsReturnToOneDnn) {
  memory::desc filter({40, 30, 3, 3}, memory::data_type::s8, Tag::OIhw4i16o4i);
  filter.data.extra.flags = dnnl_memory_extra_flag_compensation_conv_asymmetric_src;
  filter.data.extra.asymm_compensation_mask = 1;
  const fast::memory::BlockedFormat format = library::FormatOfDesc(filter);
  EXPECT_TRUE(format.is_blocked());
  EXPECT_EQ(format.sum_axes, 1);
  EXPECT_EQ(format.byte_size(), filter.get_size());
  EXPECT_EQ(DescOf(format), filter);

  memory::desc signed_filter = filter;
  signed_filter.data.extra.flags = dnnl_memory_extra_flag_compensation_conv_s8s8;
  signed_filter.data.extra.compensation_mask = 1;
  const fast::memory::BlockedFormat other = library::FormatOfDesc(signed_filter);
  EXPECT_FALSE(other.is_blocked());
  EXPECT_EQ(other.byte_size(), signed_filter.get_size());
  EXPECT_EQ(DescOf(other), signed_filter);
  EXPECT_EQ(other, other);
  EXPECT_NE(other, format);
  EXPECT_NE(format, other);
  // Formats with and without a description of oneDNN differ, in either order.
  fast::memory::BlockedFormat plain = other;
  plain.backend = nullptr;
  EXPECT_NE(plain, other);
  EXPECT_NE(other, plain);

  EXPECT_EQ(library::FormatOfDesc({}).rank, 0);
  EXPECT_EQ(library::FormatOfDesc({}).backend, nullptr);
  EXPECT_EQ(DescOf({}), memory::desc());
}

// Only blocked formats, of at most kMaxBlocks inner blocks, have a description of ours. Entries after the
// last block do not count.
TEST(OneDnnFormatsTest, KindsAndNumbersOfBlocks) {
  const memory::desc plain({64, 64, 3, 3}, memory::data_type::f32, Tag::abcd);
  constexpr auto kMost = static_cast<int>(fast::memory::BlockedFormat::kMaxBlocks);
  for (int count = 0; count <= kMost + 1; ++count) {
    memory::desc desc = plain;
    dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
    blocking.inner_nblks = count;
    for (int i = 0; i < count; ++i) {
      blocking.inner_idxs[i] = i % 2;
      blocking.inner_blks[i] = 2;
    }
    const fast::memory::BlockedFormat format = library::FormatOfDesc(desc);
    EXPECT_EQ(format.is_blocked(), count <= kMost) << count;
    if (count > kMost) continue;
    EXPECT_EQ(format.num_blocks, count);
    blocking.inner_idxs[count] = 1;
    blocking.inner_blks[count] = 4;
    const fast::memory::BlockedFormat other = library::FormatOfDesc(desc);
    EXPECT_EQ(other, format) << count;
    EXPECT_EQ(other.blocks, format.blocks) << count;
    EXPECT_EQ(other.min_bytes, 0) << count;
  }
  // Parts of a memory, and memories with padding before their elements.
  for (const bool is_part : {false, true}) {
    memory::desc desc = plain;
    (is_part ? desc.data.offset0 : desc.data.padded_offsets[1]) = 1;
    EXPECT_FALSE(library::FormatOfDesc(desc).is_blocked());
    EXPECT_EQ(DescOf(library::FormatOfDesc(desc)), desc);
  }
  for (const dnnl_format_kind_t kind : {dnnl_format_kind_any, dnnl_format_kind_wino}) {
    memory::desc desc = plain;
    desc.data.format_kind = kind;
    EXPECT_FALSE(library::FormatOfDesc(desc).is_blocked());
  }
}

// The key of a Winograd filter has all that its layout depends on; other formats have none.
TEST(OneDnnFormatsTest, KeysOfWinogradFilters) {
  memory::desc filter({64, 32, 3, 3}, memory::data_type::f32, Tag::abcd);
  filter.data.format_kind = dnnl_format_kind_wino;
  filter.data.format_desc.wino_desc = {.wino_format = dnnl_wino_wei_aaOIoi,
                                       .r = 3,
                                       .alpha = 6,
                                       .ic = 32,
                                       .oc = 64,
                                       .ic_block = 16,
                                       .oc_block = 16,
                                       .ic2_block = 2,
                                       .oc2_block = 4,
                                       .adj_scale = 1,
                                       .size = 4096};
  const auto key = [](const memory::desc& desc) { return library::FormatOfDesc(desc).backend->Key(); };
  const std::string of_filter = key(filter);
  EXPECT_FALSE(of_filter.empty());
  EXPECT_EQ(key(memory::desc(filter.data)), of_filter);
  const auto expect_other = [&](const std::function<void(dnnl_memory_desc_t&)>& change) {
    memory::desc other = filter;
    change(other.data);
    EXPECT_NE(key(other), of_filter);
    EXPECT_FALSE(key(other).empty());
  };
  expect_other([](dnnl_memory_desc_t& desc) { desc.data_type = dnnl_bf16; });
  for (int axis = 0; axis < 4; ++axis) expect_other([axis](dnnl_memory_desc_t& desc) { ++desc.dims[axis]; });
  expect_other(
      [](dnnl_memory_desc_t& desc) { desc.format_desc.wino_desc.wino_format = dnnl_wino_wei_OBaaIBOIio; });
  for (int dnnl_wino_desc_t::*const member :
       {&dnnl_wino_desc_t::r, &dnnl_wino_desc_t::alpha, &dnnl_wino_desc_t::ic, &dnnl_wino_desc_t::oc,
        &dnnl_wino_desc_t::ic_block, &dnnl_wino_desc_t::oc_block, &dnnl_wino_desc_t::ic2_block,
        &dnnl_wino_desc_t::oc2_block})
    expect_other([member](dnnl_memory_desc_t& desc) { ++(desc.format_desc.wino_desc.*member); });
  expect_other([](dnnl_memory_desc_t& desc) { desc.format_desc.wino_desc.adj_scale = 2; });
  expect_other([](dnnl_memory_desc_t& desc) { desc.format_desc.wino_desc.size += 64; });

  memory::desc corrected = filter, packed = filter;
  corrected.data.extra.flags = dnnl_memory_extra_flag_compensation_conv_s8s8;
  EXPECT_EQ(key(corrected), "");
  packed.data.format_kind = dnnl_format_kind_rnn_packed;
  EXPECT_EQ(key(packed), "");
}

}  // namespace
}  // namespace nnefc::runtime::onednn

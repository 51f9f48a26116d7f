#include "runtime/fast/memory/blocked_layout.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "runtime/fast/factories.h"
#include "runtime/fast/memory/concat.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::fast::memory {

using tensor::Layout;

namespace {

Layout RowMajor(const Shape& shape) {
  return LayoutOf(RowMajorFormat(shape));
}
Layout ChannelsLast(const Shape& shape) {
  return LayoutOf(ChannelsLastFormat(shape, StorageType::kF32));
}
Layout InBlocks(const Shape& shape, int64_t block = kChannelBlock) {
  return LayoutOf(AxisBlockedFormat(shape, 1, block));
}

TEST(BlockedLayoutTest, RowMajorMemoryIsNoLayout) {
  EXPECT_EQ(RowMajor({2, 3, 4, 5}), nullptr);
  EXPECT_EQ(ChannelsLast({1, 7, 1, 1}), nullptr);
  EXPECT_EQ(InBlocks({2, 32, 1, 1}), nullptr);
  EXPECT_EQ(RowMajor({}), nullptr);
}

TEST(BlockedLayoutTest, OthersAre) {
  const auto columns_first = [] { return LayoutOf(OrderedFormat({3, 5}, {1, 0})); };
  for (const auto& [layout, same] :
       std::vector<std::pair<Layout, Layout>>{{ChannelsLast({2, 3, 4, 5}), ChannelsLast({2, 3, 4, 5})},
                                              {InBlocks({1, 32, 4, 5}), InBlocks({1, 32, 4, 5})},
                                              {InBlocks({1, 24, 1, 1}), InBlocks({1, 24, 1, 1})},
                                              {columns_first(), columns_first()}}) {
    ASSERT_NE(layout, nullptr);
    EXPECT_TRUE(tensor::SameLayout(layout, same));
    EXPECT_FALSE(tensor::SameLayout(layout, nullptr));
  }
  EXPECT_EQ(InBlocks({1, 32, 4, 5})->ToString(), "aBcd16b");
  EXPECT_EQ(ChannelsLast({2, 3, 4, 5})->ToString(), "acdb");
  EXPECT_EQ(columns_first()->ToString(), "ba");
  EXPECT_EQ(InBlocks({1, 24, 4, 5})->byte_size(), size_t{32 * 4 * 5 * 4});
}

// Formats that differ in one member only are different, but for strides of axes with a single element.
TEST(BlockedFormatTest, AreEqualInAllMembers) {
  const BlockedFormat format = AxisBlockedFormat({2, 17, 1, 5}, 1, 16);
  const auto changed = [&](auto change) {
    BlockedFormat other = format;
    change(other);
    EXPECT_EQ(format == other, other == format);
    return !(format == other);
  };
  EXPECT_FALSE(changed([](BlockedFormat&) {}));
  EXPECT_TRUE(changed([](BlockedFormat& other) { other.type = StorageType::kBf16; }));
  EXPECT_TRUE(changed([](BlockedFormat& other) { other.is_any = true; }));
  EXPECT_TRUE(changed([](BlockedFormat& other) { other.extents[1] = 18; }));
  EXPECT_TRUE(changed([](BlockedFormat& other) { other.padded_extents[1] = 48; }));
  EXPECT_TRUE(changed([](BlockedFormat& other) { other.num_blocks = 2; }));
  EXPECT_TRUE(changed([](BlockedFormat& other) { other.blocks[0].size = 8; }));
  EXPECT_TRUE(changed([](BlockedFormat& other) { other.sum_axes = 1; }));
  EXPECT_TRUE(changed([](BlockedFormat& other) { other.strides[3] *= 2; }));
  EXPECT_FALSE(changed([](BlockedFormat& other) { other.strides[2] *= 2; }));
}

// A format of another backend.
class NamedFormat final : public BackendFormat {
 public:
  explicit NamedFormat(std::string key) : key_(std::move(key)) {}

  size_t byte_size() const override { return 100; }
  std::string Key() const override { return key_; }

 private:
  std::string key_;
};

// Formats of other backends are equal if their keys are, and without a key only to themselves.
TEST(BlockedFormatTest, FormatsOfOtherBackends) {
  const auto format = [](std::shared_ptr<const BackendFormat> backend) {
    BlockedFormat made = RowMajorFormat({3, 5});
    made.backend = std::move(backend);
    return made;
  };
  const auto named = [](const char* key) { return std::make_shared<NamedFormat>(key); };
  const auto nameless = named("");
  EXPECT_EQ(format(named("winograd")), format(named("winograd")));
  EXPECT_NE(format(named("winograd")), format(named("packed")));
  EXPECT_NE(format(named("winograd")), format(nameless));
  EXPECT_NE(format(nameless), format(named("")));
  EXPECT_EQ(format(nameless), format(nameless));
  EXPECT_NE(format(nameless), format(nullptr));
  EXPECT_EQ(format(nameless).byte_size(), size_t{100});
}

TEST(BlockedFormatTest, ScalarsHaveAtLeastOneAxis) {
  EXPECT_EQ(ScalarFormat(3), RowMajorFormat({1, 1, 1}));
  EXPECT_EQ(ScalarFormat(1), RowMajorFormat({1}));
  EXPECT_EQ(ScalarFormat(0), RowMajorFormat({1}));
}

// The memory of values: f32, quantized images, and images of too many axes.
TEST(BlockedLayoutTest, MemoryOfImages) {
  const auto image = [](const Shape& shape, Layout layout) {
    return kernels::ValueInfo{.type = ElementType::kF32, .shape = shape, .layout = std::move(layout)};
  };
  for (const Shape& shape :
       {Shape{2, 32}, Shape{2, 32, 3}, Shape{2, 32, 3, 4}, Shape{2, 32, 3, 4, 5}, Shape{2, 32, 3, 4, 5, 6}}) {
    const bool is_image = shape.size() >= 3 && shape.size() <= 5;
    const BlockedFormat blocks = ChannelBlockedFormat(shape),
                        channels_last = ChannelsLastFormat(shape, StorageType::kF32);
    const ValueQuantization codes{.scale = 1, .zero = 0};
    EXPECT_EQ(IsChannelBlocked(image(shape, LayoutOf(blocks))), is_image) << ToString(shape);
    EXPECT_FALSE(IsChannelBlocked(image(shape, QuantizedLayout(blocks, codes)))) << ToString(shape);
    EXPECT_FALSE(IsChannelBlocked(image(shape, LayoutOf(channels_last)))) << ToString(shape);
    EXPECT_EQ(IsImageMemory(image(shape, LayoutOf(blocks))), is_image) << ToString(shape);
    EXPECT_EQ(IsImageMemory(image(shape, LayoutOf(channels_last))), is_image) << ToString(shape);
    EXPECT_EQ(IsImageMemory(image(shape, QuantizedLayout(channels_last, codes))), is_image)
        << ToString(shape);
    EXPECT_FALSE(IsImageMemory(image(shape, nullptr))) << ToString(shape);
  }
  EXPECT_TRUE(IsDenseF32(image(Shape(12, 1), nullptr)));
  EXPECT_FALSE(IsDenseF32(image(Shape(13, 1), nullptr)));
  EXPECT_FALSE(IsDenseF32(image({2, 0}, nullptr)));
}

// Joined parts are in NHWC if one of them is and one of them is bf16; f32 parts stay in blocks.
TEST(BlockedLayoutTest, CommonFormatOfParts) {
  const Shape shape = {2, 16, 3, 4};
  const auto part = [&](const BlockedFormat& format) {
    return kernels::ValueInfo{.type = ElementType::kF32, .shape = shape, .layout = LayoutOf(format)};
  };
  const kernels::ValueInfo blocks = part(ChannelBlockedFormat(shape)), rows = part(RowMajorFormat(shape)),
                           last = part(ChannelsLastFormat(shape, StorageType::kF32)),
                           rounded = part(ChannelsLastFormat(shape, StorageType::kBf16));
  const auto expect = [&](const std::vector<kernels::ValueInfo>& parts, int64_t block, StorageType type) {
    const std::optional<ConcatFormat> format = CommonConcatFormat(parts, 1);
    ASSERT_TRUE(format);
    EXPECT_EQ(format->block, block);
    EXPECT_EQ(format->type, type);
  };
  EXPECT_FALSE(CommonConcatFormat({rows, rows}, 1));
  expect({blocks, blocks}, 16, StorageType::kF32);
  expect({blocks, last}, 16, StorageType::kF32);
  expect({last, last}, 0, StorageType::kF32);
  expect({blocks, rounded}, 0, StorageType::kBf16);
  expect({rounded, rows}, 0, StorageType::kBf16);
}

TEST(BlockedLayoutTest, GatheredChannelsAreThoseOfTheParts) {
  if (!simd::HasSimd()) GTEST_SKIP() << "gathering channels needs vectors";
  const kernels::ValueInfo image{.type = ElementType::kF32, .shape = {1, 20, 3, 5}};
  TestGraph g;
  const ir::OutputPort x = g.Parameter("x", image.shape);
  const ir::Node& concat = g.graph->node(g.Op("Concat", {x, x}, With("axis", int64_t{1})).node);
  const auto reason = [&](int64_t index) {
    const TensorValue indices = TensorValue::FromInts({2}, std::vector<int64_t>{0, index});
    const kernels::ValueInfo inputs[] = {
        image, image, {.type = ElementType::kI64, .shape = {2}, .constant = &indices}};
    const kernels::ValueInfo output{.type = ElementType::kF32, .shape = {1, 2, 3, 5}};
    const kernels::KernelOrReason made =
        MakeChannelGather({.node = &concat, .inputs = inputs, .outputs = output});
    return made ? std::string() : made.reason().ToString();
  };
  EXPECT_EQ(reason(39), "");
  EXPECT_EQ(reason(40), "index 40 of 40 channels");
  EXPECT_EQ(reason(-40), "");
  EXPECT_EQ(reason(-41), "index -41 of 40 channels");
}

TEST(BlockedFormatTest, RowMajorMemoryHasNoSums) {
  BlockedFormat format = RowMajorFormat({3, 5}, StorageType::kS8);
  EXPECT_TRUE(IsRowMajor(format));
  format.sum_axes = 1 << 1;
  EXPECT_FALSE(IsRowMajor(format));
}

// Only images are transposed between blocks and NHWC.
TEST(BlockedLayoutTest, TransposesOfImages) {
  const auto made = [](const Shape& shape) {
    const BlockedFormat blocks = ChannelBlockedFormat(shape),
                        channels_last = ChannelsLastFormat(shape, StorageType::kF32);
    const bool is_made = MakeChannelsLastReorder(blocks, channels_last) != nullptr;
    EXPECT_EQ(MakeChannelsLastReorder(channels_last, blocks) != nullptr, is_made);
    EXPECT_EQ(MakeChannelsLastReorder(blocks, blocks), nullptr);
    EXPECT_EQ(MakeChannelsLastReorder(channels_last, channels_last), nullptr);
    return is_made;
  };
  const bool has_simd = simd::HasSimd();
  EXPECT_FALSE(made({2, 40}));
  EXPECT_EQ(made({2, 40, 3}), has_simd);
  EXPECT_EQ(made({2, 40, 3, 4}), has_simd);
  EXPECT_EQ(made({2, 40, 3, 4, 5}), has_simd);
  EXPECT_FALSE(made({2, 40, 3, 4, 5, 6}));
  EXPECT_EQ(MakeChannelsLastReorder(ChannelBlockedFormat({2, 40, 3, 4}),
                                    ChannelsLastFormat({2, 40, 4, 3}, StorageType::kF32)),
            nullptr);
}

std::vector<float> Reordered(llvm::ArrayRef<int64_t> shape, const Layout& from, const Layout& to,
                             std::vector<float> values, size_t bytes) {
  std::shared_ptr<const kernels::Kernel> kernel = MakeFastReorder(ElementType::kF32, shape, from, to);
  EXPECT_NE(kernel, nullptr);
  std::vector<float> result(bytes / sizeof(float));
  const Shape extents(shape.begin(), shape.end());
  const tensor::TensorView input(ElementType::kF32, extents,
                                 reinterpret_cast<const std::byte*>(values.data()));
  const tensor::MutableTensorView output(ElementType::kF32, extents,
                                         reinterpret_cast<std::byte*>(result.data()));
  const tensor::TensorView* inputs[] = {&input};
  const tensor::MutableTensorView* outputs[] = {&output};
  EXPECT_TRUE(kernel->Run({.inputs = inputs, .outputs = outputs}).ok());
  return result;
}

TEST(BlockedLayoutTest, ReordersThereAndBack) {
  if (!simd::HasSimd()) GTEST_SKIP() << "images have no blocks without vectors";
  const Shape shape = {1, 20, 3, 3};
  std::vector<float> values(180);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Layout blocked = InBlocks({1, 20, 3, 3});
  const std::vector<float> there = Reordered(shape, nullptr, blocked, values, blocked->byte_size());
  EXPECT_EQ(there[1], 9);   // channel 1 of pixel 0
  EXPECT_EQ(there[16], 1);  // channel 0 of pixel 1
  EXPECT_EQ(Reordered(shape, blocked, nullptr, there, 720), values);
}

TEST(BlockedLayoutTest, PartsJoinWhereBlocksAre) {
  // With channels in blocks, or NHWC without a block size.
  const auto part = [](int64_t batch, int64_t channels, int64_t block) {
    const Shape shape = {batch, channels, 4, 4};
    return kernels::ValueInfo{.type = ElementType::kF32,
                              .shape = shape,
                              .layout = block == 0 ? ChannelsLast(shape) : InBlocks(shape, block)};
  };
  const auto whole = [](int64_t batch, int64_t channels) {
    return kernels::ValueInfo{.type = ElementType::kF32, .shape = {batch, channels, 4, 4}};
  };
  const int64_t blocked = kChannelBlock;
  const auto joined = JoinBlockedLayouts({part(1, 16, blocked), part(1, 32, blocked)}, whole(1, 48), 1);
  ASSERT_TRUE(joined.has_value());
  EXPECT_TRUE(tensor::SameLayout(*joined, InBlocks({1, 48, 4, 4})));
  EXPECT_FALSE(JoinBlockedLayouts({part(1, 16, blocked), part(1, 24, blocked)}, whole(1, 40), 1).has_value());
  EXPECT_FALSE(JoinBlockedLayouts({part(2, 16, blocked), part(2, 16, blocked)}, whole(2, 32), 1).has_value());
  EXPECT_FALSE(JoinBlockedLayouts({part(1, 16, blocked), part(1, 16, 0)}, whole(1, 32), 1).has_value());
  EXPECT_FALSE(JoinBlockedLayouts({part(1, 16, blocked), part(1, 16, 8)}, whole(1, 32), 1).has_value());
  EXPECT_TRUE(JoinBlockedLayouts({part(2, 16, blocked), part(1, 16, blocked)},
                                 {.type = ElementType::kF32, .shape = {3, 16, 4, 4}}, 0)
                  .has_value());
  // Along pixels, of rows, without parts.
  EXPECT_FALSE(JoinBlockedLayouts({part(1, 16, blocked), part(1, 16, blocked)}, whole(1, 16), 2).has_value());
  kernels::ValueInfo rows = part(1, 16, blocked);
  rows.layout = nullptr;
  EXPECT_FALSE(JoinBlockedLayouts({rows, rows}, whole(1, 32), 1).has_value());
  EXPECT_FALSE(JoinBlockedLayouts({part(1, 16, blocked), rows}, whole(1, 32), 1).has_value());
  EXPECT_FALSE(JoinBlockedLayouts({}, whole(1, 16), 1).has_value());
  kernels::ValueInfo rounded = part(1, 16, blocked);
  rounded.layout = LayoutOf(AxisBlockedFormat(rounded.shape, 1, blocked, StorageType::kBf16));
  EXPECT_FALSE(JoinBlockedLayouts({part(1, 16, blocked), rounded}, whole(1, 32), 1).has_value());
  EXPECT_TRUE(JoinBlockedLayouts({rounded, rounded}, whole(1, 32), 1).has_value());
  kernels::ValueInfo quantized = part(1, 16, blocked);
  quantized.layout = QuantizedLayout(AxisBlockedFormat(quantized.shape, 1, blocked), {.scale = 1, .zero = 0});
  EXPECT_FALSE(JoinBlockedLayouts({quantized, quantized}, whole(1, 32), 1).has_value());
}

// Parts of an image in place: whole blocks, or the blocks up to the last channel.
TEST(BlockedLayoutTest, PartsOfChannels) {
  const auto value = [](const Shape& shape, const Layout& layout) {
    return kernels::ValueInfo{.type = ElementType::kF32, .shape = shape, .layout = layout};
  };
  const Shape shape = {1, 40, 3, 5};
  const kernels::ValueInfo whole = value(shape, InBlocks(shape));
  const auto channels = [&](int64_t first, int64_t end, int64_t more = 0) {
    return tensor::ElementsView{
        .shape = {1, end - first, 3, 5}, .strides = tensor::DenseStrides(shape), .offset = first * 15 + more};
  };
  const auto expect = [](const kernels::ValueInfo& of, const tensor::ElementsView& part, int64_t block,
                         size_t offset) {
    const std::optional<kernels::LayoutPart> found = PartOfBlockedLayout(of, part);
    ASSERT_TRUE(found) << part.offset;
    EXPECT_TRUE(tensor::SameLayout(found->layout, InBlocks(part.shape, block))) << part.offset;
    EXPECT_EQ(found->offset, offset);
  };
  expect(whole, channels(0, 40), 16, 0);
  expect(whole, channels(0, 16), 16, 0);
  expect(whole, channels(0, 32), 16, 0);
  expect(whole, channels(16, 32), 16, size_t{16 * 15 * 4});
  expect(whole, channels(16, 40), 16, size_t{16 * 15 * 4});
  expect(whole, channels(32, 40), 16, size_t{32 * 15 * 4});
  const kernels::ValueInfo of_eight = value(shape, InBlocks(shape, 8));
  expect(of_eight, channels(8, 24), 8, size_t{8 * 15 * 4});
  const BlockedFormat bf16 = AxisBlockedFormat(shape, 1, 16, StorageType::kBf16);
  const std::optional<kernels::LayoutPart> rounded =
      PartOfBlockedLayout(value(shape, LayoutOf(bf16)), channels(16, 32));
  ASSERT_TRUE(rounded);
  EXPECT_EQ(rounded->offset, size_t{16 * 15 * 2});
  EXPECT_TRUE(tensor::SameLayout(rounded->layout,
                                 LayoutOf(AxisBlockedFormat({1, 16, 3, 5}, 1, 16, StorageType::kBf16))));
  // Parts of blocks.
  for (const auto& [first, end] : {std::pair<int64_t, int64_t>{8, 24},
                                   {15, 31},
                                   {17, 33},
                                   {0, 15},
                                   {0, 17},
                                   {16, 39},
                                   {32, 39},
                                   {1, 40}})
    EXPECT_FALSE(PartOfBlockedLayout(whole, channels(first, end))) << first << " to " << end;
  // Parts along another axis, or that begin within a channel.
  EXPECT_FALSE(PartOfBlockedLayout(whole, channels(16, 32, 1)));
  tensor::ElementsView rows = channels(0, 16);
  rows.shape[2] = 2;
  EXPECT_FALSE(PartOfBlockedLayout(whole, rows));
  tensor::ElementsView nothing = channels(0, 16);
  nothing.shape[0] = 0;
  EXPECT_FALSE(PartOfBlockedLayout(whole, nothing));
  tensor::ElementsView columns = channels(0, 16);
  columns.shape[3] = 4;
  EXPECT_FALSE(PartOfBlockedLayout(whole, columns));
  tensor::ElementsView reversed = channels(0, 16);
  reversed.strides[2] = -5;
  EXPECT_FALSE(PartOfBlockedLayout(whole, reversed));
  // Several images, rows, NHWC, a matrix, and another type.
  const Shape two = {2, 32, 3, 5}, matrix = {1, 32};
  const tensor::ElementsView of_two{.shape = {2, 16, 3, 5}, .strides = tensor::DenseStrides(two)};
  EXPECT_FALSE(PartOfBlockedLayout(value(two, InBlocks(two)), of_two));
  EXPECT_FALSE(PartOfBlockedLayout(value(shape, nullptr), channels(0, 16)));
  EXPECT_FALSE(PartOfBlockedLayout(value(shape, ChannelsLast(shape)), channels(0, 16)));
  EXPECT_FALSE(PartOfBlockedLayout(value(matrix, nullptr),
                                   {.shape = {1, 16}, .strides = tensor::DenseStrides(matrix)}));
  EXPECT_FALSE(PartOfBlockedLayout(
      value(shape, QuantizedLayout(AxisBlockedFormat(shape, 1, 16), {.scale = 1, .zero = 0})),
      channels(0, 16)));
  kernels::ValueInfo f16 = whole;
  f16.type = ElementType::kF16;
  EXPECT_FALSE(PartOfBlockedLayout(f16, channels(0, 16)));
}

// Sizes of formats by hand: whole blocks, sums after the elements, axes without elements.
TEST(BlockedFormatTest, SizesIncludePaddingAndSums) {
  EXPECT_EQ(RowMajorFormat({3, 5}).byte_size(), size_t{3 * 5 * 4});
  EXPECT_EQ(RowMajorFormat({3, 5}, StorageType::kBf16).byte_size(), size_t{3 * 5 * 2});
  EXPECT_EQ(RowMajorFormat({}).byte_size(), size_t{4});
  EXPECT_EQ(RowMajorFormat({3, 0, 5}).byte_size(), size_t{0});
  EXPECT_EQ(AxisBlockedFormat({5, 3}, 0, 4).byte_size(), size_t{8 * 3 * 4});
  BlockedFormat filter = AxisBlockedFormat({5, 3}, 0, 4, StorageType::kS8);
  filter.sum_axes = 1 << 0;
  EXPECT_EQ(filter.byte_size(), size_t{8 * 3 + 8 * 4});
  filter.sum_axes = 1 << 1;
  EXPECT_EQ(filter.byte_size(), size_t{8 * 3 + 3 * 4});
  filter.min_bytes = 36;
  EXPECT_EQ(filter.byte_size(), size_t{36});
  filter.min_bytes = 37;
  EXPECT_EQ(filter.byte_size(), size_t{37});
}

TEST(BlockedFormatTest, EqualityIgnoresStridesOfSingleElements) {
  BlockedFormat a = RowMajorFormat({2, 1, 3}), b = a;
  b.strides[1] = 77;
  EXPECT_EQ(a, b);
  b.strides[0] = 77;
  EXPECT_NE(a, b);
  EXPECT_NE(a, RowMajorFormat({2, 1, 3}, StorageType::kU8));
  EXPECT_NE(a, RowMajorFormat({2, 1, 3, 1}));
  EXPECT_NE(a, AnyFormat({2, 1, 3}));
  EXPECT_EQ(AnyFormat({2, 1, 3}), AnyFormat({2, 1, 3}));
  EXPECT_NE(AxisBlockedFormat({16, 16}, 0, 16), AxisBlockedFormat({16, 16}, 0, 8));
  EXPECT_NE(AxisBlockedFormat({16, 16}, 0, 16), AxisBlockedFormat({16, 16}, 1, 16));
  b = a;
  b.sum_axes = 1;
  EXPECT_NE(a, b);
}

TEST(BlockedFormatTest, ChannelBlocksAreSixteenOrEight) {
  EXPECT_EQ(ChannelBlockOf(AxisBlockedFormat({1, 20, 3}, 1, 16)), 16);
  EXPECT_EQ(ChannelBlockOf(AxisBlockedFormat({1, 20, 3, 3, 3}, 1, 8, StorageType::kBf16)), 8);
  EXPECT_EQ(ChannelBlockOf(AxisBlockedFormat({1, 20, 3}, 1, 4)), 0);
  EXPECT_EQ(ChannelBlockOf(AxisBlockedFormat({1, 20, 3}, 2, 16)), 0);
  EXPECT_EQ(ChannelBlockOf(AxisBlockedFormat({1, 20}, 1, 16)), 0);
  EXPECT_EQ(ChannelBlockOf(AxisBlockedFormat({1, 20, 1, 1, 1, 1}, 1, 16)), 0);
  EXPECT_EQ(ChannelBlockOf(RowMajorFormat({1, 20, 3})), 0);
}

// Keys distinguish each member of a layout.
TEST(BlockedLayoutTest, KeysAreThoseOfEqualLayouts) {
  const BlockedFormat format = AxisBlockedFormat({5, 3}, 0, 4);
  const auto key = [&](BlockedLayout::Form form) { return BlockedLayout(format, std::move(form)).Key(); };
  EXPECT_EQ(key({}), BlockedLayout(format).Key());
  EXPECT_NE(key({}), BlockedLayout(AxisBlockedFormat({5, 3}, 0, 5)).Key());
  EXPECT_NE(key({}), BlockedLayout(AxisBlockedFormat({5, 3}, 1, 4)).Key());
  EXPECT_NE(key({}), key({.order = {1, 0}}));
  EXPECT_NE(key({}), key({.merged_groups = 2}));
  EXPECT_NE(key({}), key({.codes = ValueQuantization{.scale = 1, .zero = 0}}));
  EXPECT_NE(key({.codes = ValueQuantization{.scale = 1, .zero = 0}}),
            key({.codes = ValueQuantization{.scale = 1, .zero = 1}}));
  EXPECT_NE(key({.filter_codes = FilterScales{.scales = {1}, .mask = 1}}),
            key({.filter_codes = FilterScales{.scales = {1}, .mask = 2}}));
}

// Layouts of one format are different with other properties.
TEST(BlockedLayoutTest, EqualInAllProperties) {
  const BlockedLayout::Form forms[] = {{},
                                       {.order = {1, 0}},
                                       {.merged_groups = 2},
                                       {.codes = ValueQuantization{.scale = 1, .zero = 0}},
                                       {.codes = ValueQuantization{.scale = 1, .zero = 1}},
                                       {.codes = ValueQuantization{.scale = 2, .zero = 0}},
                                       {.filter_codes = FilterScales{.scales = {1}, .mask = 1}},
                                       {.filter_codes = FilterScales{.scales = {2}, .mask = 1}},
                                       {.filter_codes = FilterScales{.scales = {1}, .mask = 2}}};
  const auto layout = [](const BlockedLayout::Form& form) -> Layout {
    return std::make_shared<BlockedLayout>(AxisBlockedFormat({5, 3}, 0, 4), form);
  };
  for (size_t a = 0; a < std::size(forms); ++a) {
    for (size_t b = 0; b < std::size(forms); ++b)
      EXPECT_EQ(tensor::SameLayout(layout(forms[a]), layout(forms[b])), a == b) << a << " and " << b;
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::memory

// Reorders of quantized images between row-major, channels-last and blocked memory, against formulas of the
// offsets, in arrays of exact size.

#include "runtime/fast/int8/int8_reorder.h"

#include <random>
#include <string>
#include <vector>

#include "runtime/tensor/thread_team.h"
#include "tests/unit/runtime/fast/simd/guarded_array.h"

namespace nnefc::runtime::fast::int8 {
namespace {

using memory::BlockedFormat;
using memory::StorageType;
using simd::GuardedArray;
using simd::GuardedEdge;

constexpr memory::ValueQuantization kQuantization{.scale = 0.5F, .zero = 100};

enum class Order : uint8_t { kRows, kChannelsLast, kBlocks };

// The extents of images; `pixels` is the product of the spatial ones.
struct Images {
  Shape shape;

  int64_t count() const { return shape[0]; }
  int64_t channels() const { return shape[1]; }
  int64_t pixels() const { return *Volume(shape) / (count() * channels()); }
  int64_t blocks() const { return (channels() + 15) / 16; }
  // The number of elements in memory.
  int64_t SizeIn(Order order) const {
    return order == Order::kBlocks ? count() * blocks() * 16 * pixels() : *Volume(shape);
  }
  int64_t Offset(Order order, int64_t image, int64_t channel, int64_t pixel) const {
    switch (order) {
      case Order::kRows:
        return (image * channels() + channel) * pixels() + pixel;
      case Order::kChannelsLast:
        return (image * pixels() + pixel) * channels() + channel;
      case Order::kBlocks:
        break;
    }
    return ((image * blocks() + channel / 16) * pixels() + pixel) * 16 + channel % 16;
  }
  BlockedFormat Format(Order order, StorageType type) const {
    if (order == Order::kRows) return memory::RowMajorFormat(shape, type);
    return order == Order::kBlocks ? memory::ChannelBlockedFormat(shape)
                                   : memory::ChannelsLastFormat(shape, type);
  }
};

template <typename Number>
void Check(const Images& images, Order from, Order to, GuardedEdge edge) {
  constexpr bool kToValues = std::is_same_v<Number, uint8_t>;
  SCOPED_TRACE(ToString(images.shape) + " from " + std::to_string(static_cast<int>(from)) + " to " +
               std::to_string(static_cast<int>(to)));
  const auto kernel =
      MakeInt8Reorder(images.Format(from, StorageType::kU8), kQuantization,
                      images.Format(to, kToValues ? StorageType::kU8 : StorageType::kF32), kToValues);
  ASSERT_NE(kernel, nullptr);
  std::mt19937 random(3);
  GuardedArray<uint8_t> in(images.SizeIn(from), edge);
  for (uint8_t& value : in) value = static_cast<uint8_t>(random() % 256);
  GuardedArray<Number> out(images.SizeIn(to), edge, Number{77});
  std::vector<Number> expected(static_cast<size_t>(out.size()), Number{0});
  for (int64_t image = 0; image < images.count(); ++image) {
    for (int64_t channel = 0; channel < images.channels(); ++channel) {
      for (int64_t pixel = 0; pixel < images.pixels(); ++pixel) {
        const int value = in[images.Offset(from, image, channel, pixel)];
        expected[static_cast<size_t>(images.Offset(to, image, channel, pixel))] =
            kToValues ? static_cast<Number>(value) : static_cast<Number>(0.5 * (value - 100));
      }
    }
  }
  const tensor::TensorView input(ElementType::kF32, images.shape, reinterpret_cast<std::byte*>(in.data()));
  const tensor::MutableTensorView output(ElementType::kF32, images.shape,
                                         reinterpret_cast<std::byte*>(out.data()));
  const tensor::TensorView* inputs[] = {&input};
  const tensor::MutableTensorView* outputs[] = {&output};
  ASSERT_TRUE(kernel->Run({.inputs = inputs, .outputs = outputs}).ok());
  EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin()));
}

void CheckOrders(const Images& images, GuardedEdge edge) {
  const bool is_image = images.shape.size() > 2;
  for (const Order from : {Order::kRows, Order::kChannelsLast}) {
    for (const Order to : {Order::kRows, Order::kChannelsLast, Order::kBlocks}) {
      if (!is_image && (from != Order::kRows || to != Order::kRows)) continue;
      if (to != Order::kBlocks) Check<uint8_t>(images, from, to, edge);
      Check<float>(images, from, to, edge);
    }
  }
}

TEST(Int8ReorderTest, ChannelsAndPixels) {
  for (const int64_t channels : {1, 2, 3, 4, 8, 12, 15, 16, 17, 31, 32, 33}) {
    for (const int64_t count : {1, 3}) {
      for (const Shape& pixels : {Shape{}, Shape{1}, Shape{16}, Shape{17}, Shape{33}, Shape{3, 5}, Shape{8},
                                  Shape{3, 3}, Shape{2, 3, 4}}) {
        Shape shape = {count, channels};
        shape.append(pixels.begin(), pixels.end());
        for (const GuardedEdge edge : {GuardedEdge::kBegin, GuardedEdge::kEnd}) CheckOrders({shape}, edge);
      }
    }
  }
}

// Images that are divided into parts for threads.
TEST(Int8ReorderTest, ManyPixels) {
  for (const int threads : {1, 3}) {
    const tensor::ThreadScope scope(threads);
    for (const Shape& shape : {Shape{3, 3, 99, 101}, Shape{1, 3, 16385}, Shape{2, 3, 1, 8192},
                               Shape{2, 20, 47, 49}, Shape{1, 2100, 5, 7}})
      CheckOrders({shape}, GuardedEdge::kEnd);
  }
}

TEST(Int8ReorderTest, OtherLayoutsAreRefused) {
  const Images images{{1, 16, 3, 5}}, others{{1, 16, 5, 3}};
  const auto made = [&](const BlockedFormat& from, const BlockedFormat& to, bool to_values) {
    return MakeInt8Reorder(from, kQuantization, to, to_values) != nullptr;
  };
  for (const Order from : {Order::kRows, Order::kChannelsLast}) {
    const BlockedFormat values = images.Format(from, StorageType::kU8);
    for (const Order to : {Order::kRows, Order::kChannelsLast}) {
      EXPECT_TRUE(made(values, images.Format(to, StorageType::kU8), true));
      EXPECT_FALSE(made(values, images.Format(to, StorageType::kU8), false));
      EXPECT_TRUE(made(values, images.Format(to, StorageType::kF32), false));
      EXPECT_FALSE(made(values, images.Format(to, StorageType::kF32), true));
      EXPECT_FALSE(made(images.Format(from, StorageType::kF32), images.Format(to, StorageType::kF32), false));
      EXPECT_FALSE(made(values, others.Format(to, StorageType::kU8), true));
    }
    EXPECT_TRUE(made(values, images.Format(Order::kBlocks, StorageType::kF32), false));
    EXPECT_FALSE(made(values, images.Format(Order::kBlocks, StorageType::kF32), true));
  }
  // Matrices and tensors of more axes are no images: they are reordered in row-major memory only.
  for (const Images& tensor : {Images{{3, 32}}, Images{{2, 32, 3, 2, 3, 2}}}) {
    const BlockedFormat rows = tensor.Format(Order::kRows, StorageType::kU8);
    EXPECT_TRUE(made(rows, tensor.Format(Order::kRows, StorageType::kF32), false));
    EXPECT_FALSE(made(rows, tensor.Format(Order::kBlocks, StorageType::kF32), false));
  }
  const Images volumes{{2, 32, 3, 2, 3, 2}};
  EXPECT_FALSE(made(volumes.Format(Order::kChannelsLast, StorageType::kU8),
                    volumes.Format(Order::kRows, StorageType::kF32), false));
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8

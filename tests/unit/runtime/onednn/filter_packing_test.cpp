// Filters packed by runtime/fast/int8 in oneDNN's formats, compared with oneDNN's own reorders.

#include "runtime/fast/int8/convolution/filter_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "oneapi/dnnl/dnnl.hpp"
#include "runtime/fast/factories.h"
#include "runtime/onednn/library/formats.h"

namespace nnefc::runtime::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

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
std::vector<int8_t> LaidOut(const TensorValue& value, const fast::memory::BlockedFormat& target,
                            const fast::memory::BlockedLayout::Form& form) {
  const tensor::Layout layout = std::make_shared<fast::memory::BlockedLayout>(target, form);
  const std::shared_ptr<const kernels::Kernel> kernel =
      fast::memory::MakeFastReorder(ElementType::kF32, value.shape(), nullptr, layout);
  const auto* by_rows = dynamic_cast<const kernels::ConstantKernel*>(kernel.get());
  EXPECT_NE(by_rows, nullptr);
  std::vector<int8_t> result(target.byte_size());
  if (by_rows == nullptr) return result;
  EXPECT_TRUE(by_rows->RunByRows(value, reinterpret_cast<std::byte*>(result.data())).ok());
  return result;
}

// The same codes, as oneDNN lays them out.
std::vector<int8_t> ByOneDnn(std::vector<int8_t> codes, const memory::desc& source,
                             const memory::desc& target) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  std::vector<int8_t> result(target.get_size());
  dnnl::memory from(source, engine, codes.data()), to(target, engine, result.data());
  dnnl::stream stream(engine);
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return result;
}

struct OneDnnCase {
  memory::dims dims;
  Tag tag;
  int mask = 1;             // the axes of which the scales are
  bool sums = false;        // beside the codes
  bool transposed = false;  // how the numbers lie
};

// Bytes that oneDNN counts behind the sums and leaves alone do not matter.
size_t BytesOf(const memory::desc& target, const OneDnnCase& tried) {
  size_t codes = 1, sums = sizeof(int32_t);
  for (int axis = 0; axis < target.data.ndims; ++axis) {
    codes *= static_cast<size_t>(target.data.padded_dims[axis]);
    if ((tried.mask & 1 << axis) != 0) sums *= static_cast<size_t>(target.data.padded_dims[axis]);
  }
  return codes + (tried.sums ? sums : 0);
}

class FilterRowsAsOneDnnTest : public testing::TestWithParam<OneDnnCase> {};

TEST_P(FilterRowsAsOneDnnTest, LieAsOneDnnLaysThem) {
  const OneDnnCase& tried = GetParam();
  memory::desc target(tried.dims, memory::data_type::s8, tried.tag);
  if (tried.sums) {
    target.data.extra.flags = dnnl_memory_extra_flag_compensation_conv_asymmetric_src;
    target.data.extra.asymm_compensation_mask = tried.mask;
  }
  int64_t count = 1, channels = 1;
  for (size_t axis = 0; axis < tried.dims.size(); ++axis) {
    count *= tried.dims[axis];
    if ((tried.mask & 1 << axis) != 0) channels *= tried.dims[axis];
  }
  Shape shape(tried.dims.begin(), tried.dims.end());
  if (tried.transposed) std::swap(shape[0], shape[1]);
  // Of the number that lies i-th: its scale.
  const auto channel = [&](int64_t i) {
    return tried.mask == 2 && !tried.transposed ? i % channels : i / (count / channels);
  };
  Computed computed;
  std::vector<int8_t> codes;
  for (int64_t i = 0; i < count; ++i) {
    codes.push_back(static_cast<int8_t>(CodeAt(i)));
    computed.numbers.push_back(static_cast<float>(CodeAt(i)) * ScaleAt(channel(i)));
  }
  const fast::memory::AxisOrder order =
      tried.transposed ? fast::memory::SwappedOrder(2, 0, 1) : fast::memory::AxisOrder();
  const fast::memory::BlockedLayout::Form form = {
      .order = order,
      .filter_codes = fast::memory::FilterScales{.scales = Scales(channels), .mask = tried.mask}};
  const memory::desc source =
      library::DescOf(fast::memory::OrderedFormat(tried.dims, order, fast::memory::StorageType::kS8));
  const fast::memory::BlockedFormat format = library::FormatOfDesc(target);
  const size_t bytes = BytesOf(target, tried);
  std::vector<int8_t> expected = ByOneDnn(codes, source, target);
  expected.resize(bytes);
  std::vector<int8_t> computed_codes = LaidOut(computed.Value(shape), format, form);
  computed_codes.resize(bytes);
  EXPECT_EQ(computed_codes, expected);

  // What is there is laid out in the same way, whatever was in the memory before.
  const TensorValue there = computed.Value(shape).Loaded();
  const std::shared_ptr<const kernels::Kernel> kernel = fast::int8::MakeFilterPacking(shape, form, format);
  ASSERT_NE(kernel, nullptr);
  std::vector<int8_t> result(target.get_size(), 77);
  const tensor::TensorView input(there);
  const tensor::MutableTensorView output(ElementType::kF32, shape,
                                         reinterpret_cast<std::byte*>(result.data()));
  const tensor::TensorView* inputs[] = {&input};
  const tensor::MutableTensorView* outputs[] = {&output};
  ASSERT_TRUE(kernel->Run({.inputs = inputs, .outputs = outputs}).ok());
  result.resize(bytes);
  EXPECT_EQ(result, expected);
}

INSTANTIATE_TEST_SUITE_P(, FilterRowsAsOneDnnTest,
                         testing::Values(OneDnnCase{{96, 16, 1, 1}, Tag::OhwI48o4i},
                                         OneDnnCase{{96, 16, 1, 1}, Tag::OhwI48o4i, 1, true},
                                         OneDnnCase{{100, 64, 3, 3}, Tag::OhwI64o4i, 1, true},
                                         OneDnnCase{{32, 3, 3, 3}, Tag::OIhw4i16o4i, 1, true},
                                         OneDnnCase{{40, 30, 5, 3}, Tag::OIhw4i16o4i},
                                         OneDnnCase{{40, 70, 3, 3}, Tag::OIhw16i16o4i},
                                         OneDnnCase{{40, 1, 1, 3, 3}, Tag::Goihw16g, 3},
                                         OneDnnCase{{3, 20, 24, 3, 3}, Tag::gOIhw4i16o4i, 3, true},
                                         OneDnnCase{{130, 70}, Tag::BA16a64b4a, 2},
                                         OneDnnCase{{130, 70}, Tag::BA16a64b4a, 2, true},
                                         OneDnnCase{{130, 70}, Tag::BA16a64b4a, 2, false, true},
                                         OneDnnCase{{130, 70}, Tag::BA16a64b4a, 2, true, true}));

// Filters with the sums that oneDNN adds for signed sources have a format of oneDNN's own.
TEST(FilterRowsTest, SumsForSignedSourcesAreUnknown) {
  memory::desc target({64, 64, 1, 1}, memory::data_type::s8, Tag::OIhw4i16o4i);
  const fast::memory::BlockedLayout::Form form = {
      .filter_codes = fast::memory::FilterScales{.scales = Scales(64), .mask = 1}};
  EXPECT_NE(fast::int8::MakeFilterPacking({64, 64, 1, 1}, form, library::FormatOfDesc(target)), nullptr);
  target.data.extra.flags = dnnl_memory_extra_flag_compensation_conv_s8s8;
  target.data.extra.compensation_mask = 1;
  EXPECT_EQ(fast::int8::MakeFilterPacking({64, 64, 1, 1}, form, library::FormatOfDesc(target)), nullptr);
}

}  // namespace
}  // namespace nnefc::runtime::onednn

#include "runtime/fast/winograd_filter.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>
#include <vector>

#include "runtime/fast/dnnl_layout.h"

namespace nnefc::runtime {
namespace {

using dnnl::memory;

// The order in which oneDNN wants the filter of such a convolution by Winograd's way.
std::optional<memory::desc> FilterOrder(int64_t inputs, int64_t outputs, int64_t extent) {
  const auto images = [&](int64_t channels) {
    return memory::desc({1, channels, extent, extent}, DnnType::f32, memory::format_tag::nChw16c);
  };
  try {
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_winograd, images(inputs),
        AnyDesc({outputs, inputs, 3, 3}), images(outputs), {1, 1}, {1, 1}, {1, 1});
    return dnnl::convolution_forward::primitive_desc(desc, DnnEngine()).weights_desc();
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

std::vector<float> RandomFilter(size_t count) {
  std::mt19937 bits(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> filter(count);
  for (float& tap : filter) tap = uniform(bits);
  return filter;
}

// As oneDNN's own reorder makes it.
std::vector<float> Expected(const memory::desc& order, std::vector<float> filter) {
  std::vector<float> expected(order.get_size() / sizeof(float));
  memory from(PlainDesc(order.dims()), DnnEngine(), filter.data());
  memory to(order, DnnEngine(), expected.data());
  dnnl::stream stream(DnnEngine());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
  return expected;
}

TEST(WinogradFilterTest, IsWhatOneDnnMakesOfIt) {
  if (!HasAvx512()) GTEST_SKIP() << "oneDNN has no convolution by Winograd's way here";
  struct Sizes {
    int64_t inputs, outputs, extent;
  };
  std::set<int> formats;
  for (const auto& [inputs, outputs, extent] :
       {Sizes{64, 64, 56}, Sizes{512, 512, 14}, Sizes{512, 512, 28}, Sizes{96, 208, 14}, Sizes{40, 48, 28},
        Sizes{320, 384, 14}, Sizes{128, 64, 112}, Sizes{256, 256, 7}}) {
    const std::optional<memory::desc> order = FilterOrder(inputs, outputs, extent);
    if (!order || order->data.format_kind != dnnl_format_kind_wino) continue;
    formats.insert(order->data.format_desc.wino_desc.wino_format);
    const Shape shape = {outputs, inputs, 3, 3};
    const std::vector<float> filter = RandomFilter(static_cast<size_t>(outputs * inputs * 9));
    const std::vector<float> expected = Expected(*order, filter);
    const std::shared_ptr<const Kernel> kernel = MakeWinogradFilter(*order);
    ASSERT_NE(kernel, nullptr) << inputs << " to " << outputs;
    std::vector<float> actual(expected.size(), -1);
    const TensorView in(ElementType::kF32, shape, reinterpret_cast<const std::byte*>(filter.data()));
    const MutableTensorView out(ElementType::kF32, shape, reinterpret_cast<std::byte*>(actual.data()));
    const TensorView* inputs_of_run[] = {&in};
    const MutableTensorView* outputs_of_run[] = {&out};
    ASSERT_TRUE(kernel->Run({.inputs = inputs_of_run, .outputs = outputs_of_run}).ok());
    // Sums of nine terms below 1.3, of which each order of additions rounds others.
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 2e-6f) << i;
  }
  EXPECT_GE(formats.size(), 2u);
}

TEST(WinogradFilterTest, LeavesOtherOrdersAlone) {
  EXPECT_EQ(MakeWinogradFilter(PlainDesc({16, 16, 3, 3})), nullptr);
}

}  // namespace
}  // namespace nnefc::runtime

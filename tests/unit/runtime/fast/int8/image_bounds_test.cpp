// Kernels of quantized images in NHWC access no memory outside of the images.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/fast/int8/convolution/int8_grouped_convolution.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/register.h"
#include "runtime/onednn/register.h"
#include "tests/unit/runtime/fast/simd/guarded_array.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::fast::int8 {
namespace {

using simd::GuardedArray;
using simd::GuardedEdge;

template <typename Number>
const std::byte* BytesOf(const GuardedArray<Number>& numbers) {
  return reinterpret_cast<const std::byte*>(numbers.data());
}

// Resizes a row of pixels by the mode `nearest`, which rounds half-pixel centers down.
void CheckNearest(int64_t channels, int64_t columns, int64_t out_columns) {
  const Shape shape = {1, channels, 2, columns}, out_shape = {1, channels, 2, out_columns};
  TestGraph g;
  ir::AttributeMap attributes;
  attributes.Set("mode", "nearest");
  attributes.Set("shape_calculation_mode", "sizes");
  const TensorValue sizes = TensorValue::FromInts({1}, {out_columns}), axes = TensorValue::FromInts({1}, {3});
  const ir::OutputPort node =
      g.Op("opset11", "Interpolate", {g.Parameter("x", shape), g.Const(sizes), g.Const(axes)}, attributes);
  const memory::ValueQuantization codes{.scale = 0.5F, .zero = 3};
  const kernels::ValueInfo inputs[] = {
      {.type = ElementType::kF32,
       .shape = shape,
       .layout =
           memory::QuantizedLayout(memory::ChannelsLastFormat(shape, memory::StorageType::kF32), codes)},
      {.type = ElementType::kI64, .shape = {1}, .constant = &sizes},
      {.type = ElementType::kI64, .shape = {1}, .constant = &axes}};
  const kernels::ValueInfo result{.type = ElementType::kF32, .shape = out_shape};
  kernels::KernelRegistry registry;
  RegisterFastKernels(registry, onednn::OneDnnExtension());
  const kernels::KernelFactory* factory = registry.Find(kernels::Backend::kFast, "opset11", "Interpolate");
  ASSERT_NE(factory, nullptr);
  const std::optional<kernels::PreparedKernel> prepared =
      (*factory)({.node = &g.graph->node(node.node), .inputs = inputs, .outputs = result, .way = "int8"});
  ASSERT_TRUE(prepared);

  GuardedArray<uint8_t> in(2 * columns * channels, GuardedEdge::kEnd);
  GuardedArray<uint8_t> out(2 * out_columns * channels, GuardedEdge::kEnd);
  for (int64_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 7);
  const tensor::TensorView input(ElementType::kF32, shape, BytesOf(in));
  const tensor::MutableTensorView output(ElementType::kF32, out_shape,
                                         reinterpret_cast<std::byte*>(out.data()));
  const tensor::TensorView* views[] = {&input};
  const tensor::MutableTensorView* outputs[] = {&output};
  ASSERT_TRUE(prepared->kernel->Run({.inputs = views, .outputs = outputs}).ok());
  for (int64_t pixel = 0; pixel < 2 * out_columns; ++pixel) {
    const int64_t row = pixel / out_columns, column = pixel % out_columns;
    const double center =
        (static_cast<double>(column) + 0.5) * static_cast<double>(columns) / static_cast<double>(out_columns);
    const auto from = static_cast<int64_t>(std::ceil(center - 0.5 - 0.5));
    for (int64_t channel = 0; channel < channels; ++channel)
      ASSERT_EQ(out[pixel * channels + channel], in[(row * columns + from) * channels + channel])
          << pixel << " " << channel << ": " << columns << " to " << out_columns;
  }
}

TEST(ImageBoundsTest, NearestPixels) {
  for (const int64_t channels : {1, 5, 16, 17, 40}) {
    CheckNearest(channels, 3, 9);
    CheckNearest(channels, 9, 3);
    CheckNearest(channels, 40, 20);
    CheckNearest(channels, 20, 40);
  }
}

// Sums of ones over groups of 8 channels, 9 taps inside of 3x3 pixels, 6 at the edges and 4 in the corners.
TEST(ImageBoundsTest, GroupsOfChannels) {
  constexpr int64_t kChannels = 32, kOfGroup = 8, kPixels = 9, kTaps = 9;
  const kernels::WindowAxis axis{.input = 3, .output = 3, .size = 3, .before = 1, .after = 1};
  const Int8ConvolutionShape form{.images = 1,
                                  .channels = kChannels,
                                  .outputs = kChannels,
                                  .padded_channels = kChannels,
                                  .rows = axis,
                                  .columns = axis,
                                  .zero = 0,
                                  .threads = 1};
  const Int8GroupConvolution kernel(form,
                                    Int8Epilogue({.outputs = kChannels,
                                                  .pixels = kPixels,
                                                  .is_blocked = true,
                                                  .scales = std::vector<float>(kChannels, 1.0F)},
                                                 {}),
                                    {.inputs = kOfGroup, .outputs = kOfGroup});
  const GuardedArray<uint8_t> in(kPixels * kChannels, GuardedEdge::kEnd, 1);
  const GuardedArray<int8_t> filter(kChannels * kOfGroup * kTaps, GuardedEdge::kEnd, 1);
  GuardedArray<float> out(kPixels * kChannels, GuardedEdge::kEnd);
  std::vector<std::byte> memory(kernel.scratch_bytes() + 64);
  void* scratch = memory.data();
  size_t room = memory.size();
  std::align(64, kernel.scratch_bytes(), scratch, room);
  const Shape shape = {1, kChannels, 3, 3}, filter_shape = {kChannels / kOfGroup, kOfGroup, kOfGroup, 3, 3};
  const tensor::TensorView image(ElementType::kF32, shape, BytesOf(in)),
      weights(ElementType::kF32, filter_shape, BytesOf(filter));
  const tensor::MutableTensorView result(ElementType::kF32, shape, reinterpret_cast<std::byte*>(out.data()));
  const tensor::TensorView* inputs[] = {&image, &weights};
  const tensor::MutableTensorView* outputs[] = {&result};
  ASSERT_TRUE(
      kernel.Run({.inputs = inputs, .outputs = outputs, .scratch = static_cast<std::byte*>(scratch)}).ok());
  for (int64_t i = 0; i < out.size(); ++i) {
    const int64_t pixel = i / simd::kBlockColumns % kPixels;
    const int64_t rows = pixel / 3 == 1 ? 3 : 2, columns = pixel % 3 == 1 ? 3 : 2;
    ASSERT_EQ(out[i], static_cast<float>(kOfGroup * rows * columns)) << i;
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8

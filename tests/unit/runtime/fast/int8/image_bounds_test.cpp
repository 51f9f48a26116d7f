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
#include "tests/unit/runtime/engine/kernels/post_op_cases.h"
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

// Quantized images and what the kernel of a node makes of them, each at the end of readable memory.
struct QuantizedRun {
  GuardedArray<uint8_t> in;
  std::vector<GuardedArray<uint8_t>> outs;

  const GuardedArray<uint8_t>& out() const { return outs.front(); }
};

// Runs the kernel `way` of a node of images and constants. The images have the zero point 3.
QuantizedRun RunOnImages(std::string_view set, std::string_view type, const Shape& shape,
                         const std::vector<TensorValue>& constants, const ir::AttributeMap& attributes,
                         std::string_view way, int num_outputs = 1) {
  TestGraph g;
  std::vector<ir::OutputPort> ports = {g.Parameter("x", shape)};
  for (const TensorValue& constant : constants) ports.push_back(g.Const(constant));
  const ir::Node& node = g.graph->node(g.Op(set, type, ports, attributes, num_outputs).node);
  std::vector<kernels::ValueInfo> inputs = {
      {.type = ElementType::kF32,
       .shape = shape,
       .layout = memory::QuantizedLayout(memory::ChannelsLastFormat(shape, memory::StorageType::kF32),
                                         {.scale = 0.5F, .zero = 3})}};
  for (const TensorValue& constant : constants)
    inputs.push_back({.type = constant.type(), .shape = constant.shape(), .constant = &constant});
  std::vector<kernels::ValueInfo> results;
  results.reserve(static_cast<size_t>(num_outputs));
  for (int32_t i = 0; i < num_outputs; ++i)
    results.push_back({.type = ElementType::kF32, .shape = node.output(i).shape.known_extents()});
  kernels::KernelRegistry registry;
  RegisterFastKernels(registry, onednn::OneDnnExtension());
  const kernels::KernelFactory* factory = registry.Find(kernels::Backend::kFast, set, type);
  std::optional<kernels::PreparedKernel> prepared;
  if (factory != nullptr)
    prepared = (*factory)({.node = &node, .inputs = inputs, .outputs = results, .way = way});

  QuantizedRun run{.in = GuardedArray<uint8_t>(*Volume(shape), GuardedEdge::kEnd), .outs = {}};
  for (int64_t i = 0; i < run.in.size(); ++i) run.in[i] = static_cast<uint8_t>(i * 7);
  const tensor::TensorView input(ElementType::kF32, shape, BytesOf(run.in));
  const std::vector<tensor::TensorView> others(constants.begin(), constants.end());
  std::vector<const tensor::TensorView*> views = {&input};
  for (const tensor::TensorView& other : others) views.push_back(&other);
  std::vector<tensor::MutableTensorView> outputs;
  for (const kernels::ValueInfo& result : results) {
    auto& out = run.outs.emplace_back(*Volume(result.shape), GuardedEdge::kEnd);
    outputs.emplace_back(ElementType::kF32, result.shape, reinterpret_cast<std::byte*>(out.data()));
  }
  std::vector<const tensor::MutableTensorView*> pointers;
  pointers.reserve(outputs.size());
  for (const tensor::MutableTensorView& output : outputs) pointers.push_back(&output);
  EXPECT_TRUE(prepared && prepared->kernel->Run({.inputs = views, .outputs = pointers}).ok()) << type;
  return run;
}

// Resizes a row of pixels by the mode `nearest`, which rounds half-pixel centers down.
void CheckNearest(int64_t channels, int64_t columns, int64_t out_columns) {
  ir::AttributeMap attributes;
  attributes.Set("mode", "nearest");
  attributes.Set("shape_calculation_mode", "sizes");
  const QuantizedRun run = RunOnImages(
      "opset11", "Interpolate", {1, channels, 2, columns},
      {TensorValue::FromInts({1}, {out_columns}), TensorValue::FromInts({1}, {3})}, attributes, "int8");
  for (int64_t pixel = 0; pixel < 2 * out_columns; ++pixel) {
    const int64_t row = pixel / out_columns, column = pixel % out_columns;
    const double center =
        (static_cast<double>(column) + 0.5) * static_cast<double>(columns) / static_cast<double>(out_columns);
    const auto from = static_cast<int64_t>(std::ceil(center - 0.5 - 0.5));
    for (int64_t channel = 0; channel < channels; ++channel)
      ASSERT_EQ(run.out()[pixel * channels + channel], run.in[(row * columns + from) * channels + channel])
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

// Channels of zeros after those of each pixel have the zero point of the images.
TEST(ImageBoundsTest, AddedChannels) {
  for (const int64_t channels : {1, 3, 15, 16, 17, 40}) {
    for (const int64_t added : {0, 1, 13, 16, 29}) {
      const int64_t columns = 25, all = channels + added;
      const QuantizedRun run =
          RunOnImages("opset12", "Pad", {1, channels, 1, columns},
                      {TensorValue::FromInts({4}, {0, 0, 0, 0}), TensorValue::FromInts({4}, {0, added, 0, 0}),
                       TensorValue::FromFloats({}, std::vector<float>{0})},
                      With("pad_mode", "constant"), "int8");
      ASSERT_EQ(run.out().size(), columns * all);
      for (int64_t i = 0; i < run.out().size(); ++i) {
        const int64_t pixel = i / all, channel = i % all;
        ASSERT_EQ(run.out()[i], channel < channels ? run.in[pixel * channels + channel] : 3)
            << channels << " + " << added << " channels: " << i;
      }
    }
  }
}

// Each part has the next channels of all pixels.
TEST(ImageBoundsTest, PartsOfChannels) {
  for (const int64_t channels : {1, 5, 15, 16, 17, 33}) {
    for (const int64_t parts : {1, 2, 3}) {
      constexpr int64_t kColumns = 9;
      const QuantizedRun run =
          RunOnImages("opset1", "Split", {2, parts * channels, 1, kColumns}, {TensorValue::FromInts({}, {1})},
                      With("num_splits", parts), "int8", static_cast<int>(parts));
      ASSERT_EQ(run.outs.size(), static_cast<size_t>(parts));
      for (int64_t part = 0; part < parts; ++part) {
        const GuardedArray<uint8_t>& out = run.outs[static_cast<size_t>(part)];
        ASSERT_EQ(out.size(), 2 * kColumns * channels);
        for (int64_t i = 0; i < out.size(); ++i) {
          const int64_t pixel = i / channels, channel = part * channels + i % channels;
          ASSERT_EQ(out[i], run.in[pixel * parts * channels + channel])
              << "part " << part << " of " << parts << ", " << channels << " channels: " << i;
        }
      }
    }
  }
}

// The largest of each two adjacent pixels.
TEST(ImageBoundsTest, LargestPixels) {
  for (const int64_t channels : {1, 3, 15, 16, 17, 31, 32, 33, 63}) {
    const int64_t columns = 9;
    ir::AttributeMap attributes = engine::WindowOf({.input = {1, channels, 1, columns}, .window = {1, 2}});
    attributes.Set("kernel", ir::Attribute::Integers{1, 2});
    const QuantizedRun run =
        RunOnImages("opset1", "MaxPool", {1, channels, 1, columns}, {}, attributes, "int8");
    ASSERT_EQ(run.out().size(), (columns - 1) * channels);
    for (int64_t i = 0; i < run.out().size(); ++i)
      ASSERT_EQ(run.out()[i], std::max(run.in[i], run.in[i + channels])) << channels << " channels: " << i;
  }
}

// Sums of ones over groups of 8 channels, 9 taps inside of 3x3 pixels, 6 at the edges and 4 in the corners.
void CheckGroups(int64_t channels) {
  constexpr int64_t kOfGroup = 8, kPixels = 9, kTaps = 9;
  const kernels::WindowAxis axis{.input = 3, .output = 3, .size = 3, .before = 1, .after = 1};
  const Int8ConvolutionShape form{.images = 1,
                                  .channels = channels,
                                  .outputs = channels,
                                  .padded_channels = channels,
                                  .rows = axis,
                                  .columns = axis,
                                  .zero = 0,
                                  .threads = 1};
  const Int8GroupConvolution kernel(
      form,
      Int8Epilogue({.outputs = channels,
                    .pixels = kPixels,
                    .is_blocked = true,
                    .scales = std::vector<float>(static_cast<size_t>(channels), 1.0F)},
                   {}),
      {.inputs = kOfGroup, .outputs = kOfGroup});
  const GuardedArray<uint8_t> in(kPixels * channels, GuardedEdge::kEnd, 1);
  const GuardedArray<int8_t> filter(channels * kOfGroup * kTaps, GuardedEdge::kEnd, 1);
  std::vector<std::byte> memory(kernel.scratch_bytes() + 64);
  void* scratch = memory.data();
  size_t room = memory.size();
  std::align(64, kernel.scratch_bytes(), scratch, room);
  const int64_t all = (channels + simd::kBlockColumns - 1) / simd::kBlockColumns * simd::kBlockColumns;
  GuardedArray<float> out(kPixels * all, GuardedEdge::kEnd);
  const Shape shape = {1, channels, 3, 3}, filter_shape = {channels / kOfGroup, kOfGroup, kOfGroup, 3, 3};
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
    const int64_t channel = i / simd::kBlockColumns / kPixels * simd::kBlockColumns + i % simd::kBlockColumns;
    ASSERT_EQ(out[i], channel < channels ? static_cast<float>(kOfGroup * rows * columns) : 0.0F) << i;
  }
}

TEST(ImageBoundsTest, GroupsOfChannels) {
  for (const int64_t channels : {16, 24, 32, 40}) CheckGroups(channels);
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8

// Concatenation of images in their common layout, along each axis.

#include "runtime/fast/memory/concat.h"

#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::memory {
namespace {

// The offset of an element of an image in blocks of 16 channels or NHWC.
int64_t OffsetOf(Memory memory, const Shape& shape, const Shape& index) {
  int64_t pixel = 0, pixels = 1;
  for (size_t axis = 2; axis < shape.size(); ++axis) {
    pixel = pixel * shape[axis] + index[axis];
    pixels *= shape[axis];
  }
  const int64_t channel = index[1];
  if (memory != Memory::kBlocks) return (index[0] * pixels + pixel) * shape[1] + channel;
  const int64_t blocks = (shape[1] + 15) / 16;
  return ((index[0] * blocks + channel / 16) * pixels + pixel) * 16 + channel % 16;
}

Shape IndexOf(const Shape& shape, int64_t element) {
  Shape index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; element /= shape[axis]) index[axis] = element % shape[axis];
  return index;
}

// Joins images whose elements are numbered, and expects each of them at its place. `extents`: of the parts
// along the axis.
template <typename Number>
void ExpectJoined(Memory memory, Shape shape, size_t axis, const std::vector<int64_t>& extents) {
  SCOPED_TRACE(ToString(shape) + " axis " + std::to_string(axis) + " memory " +
               std::to_string(static_cast<int>(memory)));
  Step step{.type = "Concat", .inputs = {}, .attributes = With("axis", static_cast<int64_t>(axis))};
  shape[axis] = 0;
  for (const int64_t extent : extents) {
    Shape part = shape;
    part[axis] = extent;
    step.inputs.push_back({part, memory});
  }
  for (const int64_t extent : extents) shape[axis] += extent;
  const Choice choice = ChoiceOf(step, "images");
  ASSERT_TRUE(choice.kernel);
  EXPECT_EQ(choice.kernel->kernel->implementation(), "nnefc:concat");
  const auto size = [&](const Shape& of) {
    Shape padded = of;
    if (memory == Memory::kBlocks) padded[1] = (of[1] + 15) / 16 * 16;
    return static_cast<size_t>(*Volume(padded));
  };
  std::vector<std::vector<Number>> parts;
  std::vector<tensor::TensorView> views;
  std::vector<Number> expected(size(shape));
  unsigned next = 1;
  int64_t first = 0;
  for (const Operand& operand : step.inputs) {
    std::vector<Number>& part = parts.emplace_back(size(operand.shape));
    for (int64_t i = 0; i < *Volume(operand.shape); ++i) {
      Shape index = IndexOf(operand.shape, i);
      const auto number = static_cast<Number>(next++ % 60000);
      part[static_cast<size_t>(OffsetOf(memory, operand.shape, index))] = number;
      index[axis] += first;
      expected[static_cast<size_t>(OffsetOf(memory, shape, index))] = number;
    }
    first += operand.shape[axis];
  }
  for (size_t i = 0; i < parts.size(); ++i)
    views.emplace_back(ElementType::kF32, step.inputs[i].shape,
                       reinterpret_cast<const std::byte*>(parts[i].data()));
  std::vector<const tensor::TensorView*> inputs;
  inputs.reserve(views.size());
  for (const tensor::TensorView& view : views) inputs.push_back(&view);
  for (const int threads : {1, 3}) {
    const tensor::ThreadScope scope(threads);
    std::vector<Number> out(size(shape), Number{7});
    const tensor::MutableTensorView output(ElementType::kF32, shape,
                                           reinterpret_cast<std::byte*>(out.data()));
    const tensor::MutableTensorView* outputs[] = {&output};
    ASSERT_TRUE(choice.kernel->kernel->Run({.inputs = inputs, .outputs = outputs}).ok());
    EXPECT_EQ(out, expected) << threads;
  }
}

TEST(ImageConcatTest, EachAxisOfEachLayout) {
  for (const size_t axis : {0, 1, 2, 3}) {
    // Blocks are joined along the channels only if the parts fill them.
    const std::vector<int64_t> channels =
        axis == 1 ? std::vector<int64_t>{16, 48, 32} : std::vector<int64_t>{2, 1, 3};
    for (const int64_t other : {5, 70}) {
      ExpectJoined<float>(Memory::kBlocks, {2, 32, other, 3}, axis, channels);
      ExpectJoined<float>(Memory::kChannelsLast, {2, 19, other, 3}, axis, {2, 1, 3});
      ExpectJoined<uint16_t>(Memory::kBf16, {2, 19, other, 3}, axis, {2, 1, 3});
    }
  }
  // The last block has one channel.
  for (const int64_t channels : {1, 17, 33}) {
    for (const size_t axis : {0, 2, 3})
      ExpectJoined<float>(Memory::kBlocks, {2, channels, 5, 3}, axis, {2, 1, 3});
  }
  ExpectJoined<float>(Memory::kBlocks, {1, 20, 7}, 2, {4, 1});
  ExpectJoined<float>(Memory::kChannelsLast, {1, 20, 3, 4, 5}, 4, {4, 1});
}

// Rows of 16,384 numbers are copied together, longer ones in pieces.
TEST(ImageConcatTest, LengthsOfRows) {
  for (const int64_t length : {8191, 8192, 8193, 16383, 16384, 16385, 40000}) {
    ExpectJoined<float>(Memory::kChannelsLast, {2, length, 2}, 1, {length, 8192});
    ExpectJoined<float>(Memory::kBlocks, {2, 16, length / 16}, 1, {32, 16});
  }
}

TEST(ImageConcatTest, PartsWithoutCommonLayout) {
  const Operand blocked{{2, 17, 4, 5}, Memory::kBlocks}, rows{{2, 17, 4, 5}};
  const auto joined = [](std::vector<Operand> parts, int64_t axis) {
    return Step{.type = "Concat", .inputs = std::move(parts), .attributes = With("axis", axis)};
  };
  const char* const none = "no common layout; the reference kernel is as fast for row-major parts";
  ExpectReasons({{joined({blocked, rows}, 2), "images", ""},
                 {joined({blocked, rows}, 1), "images", none},
                 {joined({rows, rows}, 2), "images", none},
                 {Fused(joined({blocked, rows}, 2)), "images", "a fused operation"}});
}

}  // namespace
}  // namespace nnefc::runtime::fast::memory

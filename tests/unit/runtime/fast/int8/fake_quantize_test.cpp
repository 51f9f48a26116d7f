// The kernel and the layout of a FakeQuantize with f32 results, by the layout of its input.

#include "tests/unit/runtime/fast/reason_cases.h"

namespace nnefc::runtime::fast::int8 {
namespace {

// A FakeQuantize of images with `limits` lowest numbers.
Step Rounded(const Shape& images, Memory memory, int64_t limits) {
  const Shape shape = limits == 1 ? Shape{} : Shape{1, limits, 1, 1};
  const auto end = [&](float value) {
    return Operand{
        .shape = shape,
        .constant = TensorValue::FromFloats(shape, std::vector<float>(static_cast<size_t>(limits), value))};
  };
  Operand low = end(-1);
  if (limits > 1) low.constant = RandomTensor(shape, 1, -2, -1);
  return {.type = "FakeQuantize",
          .inputs = {{images, memory}, low, end(1), low, end(1)},
          .attributes = With("levels", int64_t{256})};
}

struct RoundedCase {
  Shape images;
  Memory memory;
  int64_t limits;
  const char* kernel;
  bool keeps_layout;
};

// Padding of channels stays zeros, so that it has limits of its own. Other padded layouts are not kept.
TEST(FakeQuantizeTest, KernelsOfLayouts) {
  if (!simd::HasSimd()) GTEST_SKIP() << "for vectors";
  constexpr char kAll[] = "nnefc:round", kChannels[] = "nnefc:round_channels";
  for (const RoundedCase& each :
       std::vector<RoundedCase>{{{1, 16, 3, 4}, Memory::kRows, 1, kAll, true},
                                {{1, 16, 3, 4}, Memory::kBlocks, 1, kAll, true},
                                {{1, 17, 3, 4}, Memory::kBlocks, 1, kChannels, true},
                                {{1, 17, 3, 4}, Memory::kChannelsLast, 1, kAll, true},
                                {{20}, Memory::kRowBlocks, 1, kAll, false},
                                {{20, 7}, Memory::kRowBlocks, 1, kAll, false},
                                {{32, 7}, Memory::kRowBlocks, 1, kAll, true},
                                {{20, 17, 3, 4}, Memory::kRowBlocks, 1, kAll, false},
                                {{20, 17, 3, 4}, Memory::kRowBlocks, 17, kChannels, false},
                                {{1, 16, 3, 4}, Memory::kBlocks, 16, kChannels, true},
                                {{1, 17, 3, 4}, Memory::kBlocks, 17, kChannels, true},
                                {{1, 17, 3, 4}, Memory::kChannelsLast, 17, kChannels, true},
                                {{1, 17, 3, 4}, Memory::kRows, 17, kChannels, true}}) {
    const Step step = Rounded(each.images, each.memory, each.limits);
    SCOPED_TRACE(ToString(each.images) + " in layout " + std::to_string(static_cast<int>(each.memory)));
    const Choice choice = ChoiceOf(step, "round");
    ASSERT_TRUE(choice.kernel);
    EXPECT_EQ(choice.kernel->kernel->implementation(), each.kernel);
    const tensor::Layout kept = each.keeps_layout ? step.inputs[0].Layout() : nullptr;
    EXPECT_TRUE(tensor::SameLayout(choice.kernel->inputs[0], kept));
    EXPECT_TRUE(tensor::SameLayout(choice.kernel->outputs[0], kept));
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8

#include "runtime/fast/winograd_scratch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/fast/threading.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime {
namespace {

using dnnl::memory;

struct Convolved {
  int64_t inputs, outputs, height, width;
};

dnnl::convolution_forward::primitive_desc Describe(const Convolved& shape) {
  const auto images = [&](int64_t channels) {
    return ChannelBlockedDesc({1, channels, shape.height, shape.width});
  };
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_winograd, images(shape.inputs),
      AnyDesc({shape.outputs, shape.inputs, 3, 3}), PlainDesc({shape.outputs}), images(shape.outputs), {1, 1},
      {0, 0}, {1, 1}, {1, 1});
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return {desc, attributes, DnnEngine(), true};
}

memory Filled(const memory::desc& desc) {
  memory filled(desc, DnnEngine());
  auto* numbers = static_cast<float*>(filled.get_data_handle());
  for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i)
    numbers[i] = static_cast<float>(i * 7919 % 1000) / 1000 - 0.5F;
  return filled;
}

// The oracle is oneDNN itself: it changes nothing of the memory but what is told of it. Planned for as many
// threads as `planned`, run by as many as `threads`.
void ExpectOthersUntouched(const Convolved& shape, int planned, int threads) {
  SCOPED_TRACE(std::to_string(shape.inputs) + " to " + std::to_string(shape.outputs) + ", " +
               std::to_string(shape.height) + "x" + std::to_string(shape.width) + ", planned for " +
               std::to_string(planned) + " of " + std::to_string(threads));
  std::unique_ptr<ThreadScope> scope = std::make_unique<ThreadScope>(planned);
  const auto primitive = Describe(shape);
  if (!primitive) return;
  const dnnl::convolution_forward convolution(primitive);
  scope = nullptr;
  const ThreadScope running(threads);
  const ScratchUse use = WinogradScratchUse(primitive);
  if (std::string(primitive.impl_info_str()).find("wino_4x3") == std::string::npos) {
    EXPECT_TRUE(use.parts.empty());
    return;
  }
  ASSERT_EQ(use.parts.size(), 2u);
  const size_t size = primitive.scratchpad_desc().get_size();
  constexpr unsigned char kUntouched = 0xA5;
  const std::unique_ptr<unsigned char, decltype(&std::free)> scratch(
      static_cast<unsigned char*>(
          std::aligned_alloc(use.alignment, (size + use.alignment) / use.alignment * use.alignment)),
      &std::free);
  ASSERT_NE(scratch, nullptr);
  std::memset(scratch.get(), kUntouched, size);
  dnnl::stream stream(DnnEngine());
  memory result(primitive.dst_desc(), DnnEngine());
  convolution.execute(
      stream, {{DNNL_ARG_SRC, Filled(primitive.src_desc())},
               {DNNL_ARG_WEIGHTS, Filled(primitive.weights_desc())},
               {DNNL_ARG_BIAS, Filled(primitive.bias_desc())},
               {DNNL_ARG_DST, result},
               {DNNL_ARG_SCRATCHPAD, memory(primitive.scratchpad_desc(), DnnEngine(), scratch.get())}});
  stream.wait();
  size_t touched = 0;
  for (const ScratchUse::Part& part : use.parts) {
    ASSERT_LE(part.offset + part.bytes, size);
    for (size_t i = 0; i < part.bytes; ++i) touched += scratch.get()[part.offset + i] != kUntouched;
    std::memset(scratch.get() + part.offset, kUntouched, part.bytes);
  }
  EXPECT_GT(touched, 0u);
  for (size_t i = 0; i < size; ++i) ASSERT_EQ(scratch.get()[i], kUntouched) << "byte " << i << " of " << size;
}

TEST(WinogradScratchTest, NothingElseIsTouched) {
  if (!HasAvx512()) return;
  ASSERT_TRUE(AdoptThreadsOfOneDnn());
  for (const Convolved& shape :
       {Convolved{64, 192, 56, 56}, Convolved{96, 128, 28, 28}, Convolved{256, 256, 14, 14},
        Convolved{64, 64, 128, 128}, Convolved{128, 64, 128, 128}, Convolved{128, 128, 64, 64},
        Convolved{256, 256, 32, 32}, Convolved{40, 72, 30, 57}, Convolved{512, 512, 28, 28}}) {
    for (const int planned : {1, 2, 3, 8, 16}) {
      ExpectOthersUntouched(shape, planned, 1);
      if (planned > 1) ExpectOthersUntouched(shape, planned, 2);
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime

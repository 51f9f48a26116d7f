// A tensor of images with channels in blocks and one number for each channel, of the
// whole batch or of each image (attention to channels, scales): oneDNN has portable
// code alone for those.

#include <array>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/fast/families.h"
#include "runtime/fast/post_ops.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/wide.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kMostLanes = 16;

// What fills the last block holds 0 and stays so with `kNone` for its number.
struct Product {
  static constexpr float kNone = 1;
  static float Of(float x, float number) { return x * number; }
};
struct Sum {
  static constexpr float kNone = 0;
  static float Of(float x, float number) { return x + number; }
};
struct Difference {
  static constexpr float kNone = 0;
  static float Of(float x, float number) { return x - number; }
};
struct DifferenceFrom {
  static constexpr float kNone = 0;
  static float Of(float x, float number) { return number - x; }
};
struct Quotient {
  static constexpr float kNone = 1;
  static float Of(float x, float number) { return x / number; }
};

struct BlockedImages {
  int64_t batch, channels, pixels, lanes;
  int64_t blocks() const { return (channels + lanes - 1) / lanes; }
};

template <typename Function>
class ChannelsKernel final : public Kernel {
 public:
  ChannelsKernel(const BlockedImages& images, size_t image_input, bool of_each_image)
      : images_(images), image_input_(image_input), of_each_image_(of_each_image) {}

  std::string implementation() const override { return "nnefc:channels"; }
  FaultOr<Success> Run(const KernelRun& run) const override {
    const auto* x = reinterpret_cast<const float*>(run.input(image_input_).bytes());
    const auto* numbers = reinterpret_cast<const float*>(run.input(1 - image_input_).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    const int64_t size = images_.pixels * images_.lanes;
    ParallelFor(images_.batch * images_.blocks(), size, [&](int64_t block) {
      const std::array<float, kMostLanes> own = NumbersOf(block, numbers);
      Apply(own, x + block * size, out + block * size);
    });
    return Success();
  }

 private:
  std::array<float, kMostLanes> NumbersOf(int64_t block, const float* numbers) const {
    const int64_t image = block / images_.blocks();
    const int64_t first = block % images_.blocks() * images_.lanes;
    const float* of_image = numbers + (of_each_image_ ? image * images_.channels : 0);
    std::array<float, kMostLanes> own;
    own.fill(Function::kNone);
    for (int64_t lane = 0; lane < images_.lanes && first + lane < images_.channels; ++lane)
      own[static_cast<size_t>(lane)] = of_image[first + lane];
    return own;
  }

  void Apply(const std::array<float, kMostLanes>& numbers, const float* x, float* out) const {
    if (images_.lanes == kMostLanes) return ApplyIn<kMostLanes>(numbers, x, out);
    ApplyIn<kMostLanes / 2>(numbers, x, out);
  }

  template <int64_t kLanes>
  void ApplyIn(const std::array<float, kMostLanes>& numbers, const float* x, float* out) const {
    const int64_t pixels = images_.pixels;
    Wide([=] {
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        for (int64_t lane = 0; lane < kLanes; ++lane)
          out[pixel * kLanes + lane] =
              Function::Of(x[pixel * kLanes + lane], numbers[static_cast<size_t>(lane)]);
      }
    });
  }

  BlockedImages images_;
  size_t image_input_;
  bool of_each_image_;
};

std::shared_ptr<const Kernel> MakeChannelsKernel(ir::ElementFunction function, const BlockedImages& images,
                                                 size_t image_input, bool of_each_image) {
  const auto make = [&]<typename Function>(Function) -> std::shared_ptr<const Kernel> {
    return std::make_shared<ChannelsKernel<Function>>(images, image_input, of_each_image);
  };
  switch (function) {
    case ir::ElementFunction::kMultiply:
      return make(Product());
    case ir::ElementFunction::kAdd:
      return make(Sum());
    case ir::ElementFunction::kSubtract:
      return image_input == 0 ? make(Difference()) : make(DifferenceFrom());
    case ir::ElementFunction::kDivide:
      return image_input == 0 ? make(Quotient()) : nullptr;
    default:
      return nullptr;
  }
}

// The lanes of a value of f32 with its channels in blocks; 0 of another.
int64_t LanesOf(const ValueInfo& value) {
  if (value.layout == nullptr || CodesOf(value) != nullptr) return 0;
  const dnnl::memory::desc desc = DescOf(value);
  if (TypeOf(desc) != DnnType::f32 || !ChannelBlockedTag(desc)) return 0;
  return desc.data.format_desc.blocking.inner_blks[0];
}

}  // namespace

ChannelNumbers ClassifyChannelNumbers(const ir::Node& node, llvm::ArrayRef<int64_t> numbers,
                                      llvm::ArrayRef<int64_t> images) {
  if (ClassifyOperand(node, numbers, images, 1) == OperandShape::kPerChannel)
    return ChannelNumbers::kOfTheBatch;
  if (numbers.size() != images.size() || images.size() < 2) return ChannelNumbers::kNone;
  if (numbers[0] != images[0] || numbers[1] != images[1]) return ChannelNumbers::kNone;
  for (int64_t extent : numbers.drop_front(2)) {
    if (extent != 1) return ChannelNumbers::kNone;
  }
  return ChannelNumbers::kOfEachImage;
}

std::optional<PreparedKernel> MakeOfBlockedChannels(const KernelRequest& request) {
  if (!request.posts.empty() || request.inputs.size() != 2) return std::nullopt;
  const Shape& shape = request.outputs[0].shape;
  const size_t image_input = request.inputs[0].shape == shape ? 0 : 1;
  const ValueInfo& images = request.inputs[image_input];
  const int64_t lanes = LanesOf(images);
  if (images.shape != shape || (lanes != kMostLanes && lanes != kMostLanes / 2)) return std::nullopt;
  const ChannelNumbers numbers =
      ClassifyChannelNumbers(*request.node, request.inputs[1 - image_input].shape, shape);
  if (numbers == ChannelNumbers::kNone) return std::nullopt;
  int64_t pixels = 1;
  for (int64_t extent : llvm::ArrayRef<int64_t>(shape).drop_front(2)) pixels *= extent;
  PreparedKernel prepared;
  prepared.kernel =
      MakeChannelsKernel(request.node->info().function,
                         {.batch = shape[0], .channels = shape[1], .pixels = pixels, .lanes = lanes},
                         image_input, numbers == ChannelNumbers::kOfEachImage && shape[0] > 1);
  if (prepared.kernel == nullptr) return std::nullopt;
  prepared.inputs.resize(2);
  prepared.inputs[image_input] = images.layout;
  prepared.outputs.push_back(images.layout);
  prepared.in_place = static_cast<int>(image_input);
  return prepared;
}

}  // namespace nnefc::runtime

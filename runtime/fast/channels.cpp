// A tensor of images with channels in blocks and one number for each channel, of the
// whole batch or of each image (attention to channels, scales): oneDNN has portable
// code alone for those.

#include <array>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/fast/dots.h"
#include "runtime/fast/families.h"
#include "runtime/fast/lane_math.h"
#include "runtime/fast/post_ops.h"
#include "runtime/fast/product_steps.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/wide.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kMostLanes = 16;

// What fills the last block holds 0 and stays so with `kNone` for its number.
struct Product {
  static constexpr float kNone = 1;
  template <typename Number>
  static void Apply(Number& x, const Number& number) {
    x = x * number;
  }
};
struct Sum {
  static constexpr float kNone = 0;
  template <typename Number>
  static void Apply(Number& x, const Number& number) {
    x = x + number;
  }
};
struct Difference {
  static constexpr float kNone = 0;
  template <typename Number>
  static void Apply(Number& x, const Number& number) {
    x = x - number;
  }
};
struct DifferenceFrom {
  static constexpr float kNone = 0;
  template <typename Number>
  static void Apply(Number& x, const Number& number) {
    x = number - x;
  }
};
struct Quotient {
  static constexpr float kNone = 1;
  template <typename Number>
  static void Apply(Number& x, const Number& number) {
    x = x / number;
  }
};

struct BlockedImages {
  int64_t batch, channels, pixels, lanes;
  int64_t blocks() const { return (channels + lanes - 1) / lanes; }
};

template <typename Function>
class ChannelsKernel final : public Kernel {
 public:
  ChannelsKernel(const BlockedImages& images, size_t image_input, bool of_each_image, ProductSteps steps)
      : images_(images), image_input_(image_input), of_each_image_(of_each_image), steps_(std::move(steps)) {}

  std::string implementation() const override { return "nnefc:channels"; }
  FaultOr<Success> Run(const KernelRun& run) const override {
    const auto* x = reinterpret_cast<const float*>(run.input(image_input_).bytes());
    const auto* numbers = reinterpret_cast<const float*>(run.input(1 - image_input_).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    const int64_t size = images_.pixels * images_.lanes;
    const auto operands = steps_.OperandsOf(run, images_.channels, reinterpret_cast<float*>(run.scratch));
    ParallelFor(images_.batch * images_.blocks(), size, [&](int64_t block) {
      const std::array<float, kMostLanes> own = NumbersOf(block, numbers);
      if (images_.lanes == kMostLanes / 2) return ApplyToHalves(own, x + block * size, out + block * size);
      constexpr int64_t kPixels = 128;  // which stay in a core's first cache
      for (int64_t pixel = 0; pixel < images_.pixels; pixel += kPixels) {
        const int64_t offset = block * size + pixel * kMostLanes;
        const int64_t count = std::min(kPixels, images_.pixels - pixel);
        Apply(own, x + offset, count, out + offset);
        steps_.Finish({.out = {out + offset, kMostLanes, 0},
                       .offset = offset,
                       .column = block % images_.blocks() * kMostLanes,
                       .rows = count,
                       .blocks = 1},
                      images_.channels, operands);
      }
    });
    return Success();
  }
  size_t scratch_bytes() const {
    return static_cast<size_t>(steps_.column_floats(images_.channels)) * sizeof(float);
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

  void Apply(const std::array<float, kMostLanes>& numbers, const float* x, int64_t pixels, float* out) const {
    RunInLanes([&]() NNEFC_IN_LANES {
      const LaneSums own = *reinterpret_cast<const Lanes*>(numbers.data());
      WithLimits(steps_.limits(), [&](const auto& limit) NNEFC_IN_LANES {
        for (int64_t at = 0; at < pixels * kMostLanes; at += kMostLanes) {
          LaneSums y = *reinterpret_cast<const Lanes*>(x + at);
          Function::Apply(y, own);
          limit(y);
          *reinterpret_cast<Lanes*>(out + at) = y;
        }
      });
    });
  }

  void ApplyToHalves(const std::array<float, kMostLanes>& numbers, const float* x, float* out) const {
    constexpr int64_t kLanes = kMostLanes / 2;
    const int64_t pixels = images_.pixels;
    Wide([=] {
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          float y = x[pixel * kLanes + lane];
          Function::Apply(y, numbers[static_cast<size_t>(lane)]);
          out[pixel * kLanes + lane] = y;
        }
      }
    });
  }

  BlockedImages images_;
  size_t image_input_;
  bool of_each_image_;
  ProductSteps steps_;
};

PreparedKernel MakeChannelsKernel(ir::ElementFunction function, const BlockedImages& images,
                                  size_t image_input, bool of_each_image, ProductSteps steps) {
  const auto make = [&]<typename Function>(Function) -> PreparedKernel {
    auto kernel =
        std::make_shared<ChannelsKernel<Function>>(images, image_input, of_each_image, std::move(steps));
    const size_t scratch = kernel->scratch_bytes();
    return {.kernel = std::move(kernel), .scratch_bytes = scratch};
  };
  switch (function) {
    case ir::ElementFunction::kMultiply:
      return make(Product());
    case ir::ElementFunction::kAdd:
      return make(Sum());
    case ir::ElementFunction::kSubtract:
      return image_input == 0 ? make(Difference()) : make(DifferenceFrom());
    case ir::ElementFunction::kDivide:
      return image_input == 0 ? make(Quotient()) : PreparedKernel();
    default:
      return {};
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
  if (request.node->num_inputs() != 2) return std::nullopt;
  const Shape& shape = request.outputs[0].shape;
  const size_t image_input = request.inputs[0].shape == shape ? 0 : 1;
  const ValueInfo& images = request.inputs[image_input];
  const int64_t lanes = LanesOf(images);
  if (images.shape != shape || (lanes != kMostLanes && lanes != kMostLanes / 2)) return std::nullopt;
  const ChannelNumbers numbers =
      ClassifyChannelNumbers(*request.node, request.inputs[1 - image_input].shape, shape);
  if (numbers == ChannelNumbers::kNone) return std::nullopt;
  // What follows wants the registers of AVX-512, as blocks of 16 channels do.
  if (!request.posts.empty() && lanes != kMostLanes) return std::nullopt;
  if (lanes == kMostLanes && !HasLanes()) return std::nullopt;
  std::optional<ProductSteps> steps = ProductSteps::Make(request, request.posts, 1);
  if (!steps || steps->bias() >= 0 || steps->start() >= 0) return std::nullopt;
  const std::vector<int> elements = steps->element_inputs().vec();
  PreparedKernel prepared = MakeChannelsKernel(
      request.node->info().function,
      {.batch = shape[0],
       .channels = shape[1],
       .pixels = *Volume(llvm::ArrayRef<int64_t>(shape).drop_front(2)),
       .lanes = lanes},
      image_input, numbers == ChannelNumbers::kOfEachImage && shape[0] > 1, std::move(*steps));
  if (prepared.kernel == nullptr) return std::nullopt;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[image_input] = images.layout;
  for (int input : elements) prepared.inputs[static_cast<size_t>(input)] = images.layout;
  prepared.outputs.push_back(images.layout);
  prepared.in_place = static_cast<int>(image_input);
  return prepared;
}

}  // namespace nnefc::runtime

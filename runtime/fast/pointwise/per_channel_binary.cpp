// Operations on nChw16c images with per-channel operands for the batch or for each image (channel attention,
// scales). oneDNN only has portable code for them.

#include <algorithm>
#include <array>

#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/pointwise/per_channel_microkernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::pointwise {

using simd::ChannelFunction;
using simd::kBlockColumns;

namespace {

// Returns the operand for padding channels, so that they stay 0.
float NeutralNumber(ChannelFunction function) {
  return function == ChannelFunction::kMultiply || function == ChannelFunction::kDivide ? 1.0F : 0.0F;
}

struct BlockedImages {
  int64_t batch, channels, pixels;
  int64_t blocks() const { return (channels + kBlockColumns - 1) / kBlockColumns; }
};

class PerChannelBinary final : public kernels::Kernel {
 public:
  struct Form {
    ChannelFunction function;
    BlockedImages images;
    size_t image_input;
    bool of_each_image;
  };
  PerChannelBinary(const Form& form, gemm::Epilogue steps) : form_(form), steps_(std::move(steps)) {}

  std::string implementation() const override { return "nnefc:channels"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const BlockedImages& images = form_.images;
    const auto* x = reinterpret_cast<const float*>(run.input(form_.image_input).bytes());
    const auto* numbers = reinterpret_cast<const float*>(run.input(1 - form_.image_input).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    const int64_t size = images.pixels * kBlockColumns;
    const auto operands = steps_.OperandsOf(run, images.channels, reinterpret_cast<float*>(run.scratch));
    tensor::ParallelFor(images.batch * images.blocks(), size, [&](int64_t block) {
      const std::array<float, kBlockColumns> own = NumbersOf(block, numbers);
      constexpr int64_t kPixels = 128;  // pixels that stay in L1
      for (int64_t pixel = 0; pixel < images.pixels; pixel += kPixels) {
        const int64_t offset = block * size + pixel * kBlockColumns;
        const int64_t count = std::min(kPixels, images.pixels - pixel);
        simd::ApplyPerChannel(form_.function, {.x = x + offset,
                                               .numbers = own.data(),
                                               .pixels = count,
                                               .limits = steps_.limits(),
                                               .out = out + offset});
        steps_.Finish({.out = {out + offset, kBlockColumns, 0},
                       .offset = offset,
                       .column = block % images.blocks() * kBlockColumns,
                       .rows = count,
                       .blocks = 1},
                      images.channels, operands);
      }
    });
    return Success();
  }
  size_t scratch_bytes() const {
    return static_cast<size_t>(steps_.column_floats(form_.images.channels)) * sizeof(float);
  }

 private:
  std::array<float, kBlockColumns> NumbersOf(int64_t block, const float* numbers) const {
    const BlockedImages& images = form_.images;
    const int64_t image = block / images.blocks();
    const int64_t first = block % images.blocks() * kBlockColumns;
    const float* of_image = numbers + (form_.of_each_image ? image * images.channels : 0);
    std::array<float, kBlockColumns> own;
    own.fill(NeutralNumber(form_.function));
    std::copy_n(of_image + first, std::min(kBlockColumns, images.channels - first), own.begin());
    return own;
  }

  Form form_;
  gemm::Epilogue steps_;
};

std::optional<ChannelFunction> ChannelFunctionOf(ir::ElementFunction function, size_t image_input) {
  switch (function) {
    case ir::ElementFunction::kMultiply:
      return ChannelFunction::kMultiply;
    case ir::ElementFunction::kAdd:
      return ChannelFunction::kAdd;
    case ir::ElementFunction::kSubtract:
      return image_input == 0 ? ChannelFunction::kSubtract : ChannelFunction::kSubtractFrom;
    case ir::ElementFunction::kDivide:
      if (image_input == 0) return ChannelFunction::kDivide;
      return std::nullopt;
    case ir::ElementFunction::kPRelu:
      if (image_input == 0) return ChannelFunction::kPRelu;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

PerChannelOperand ClassifyPerChannelOperand(const ir::Node& node, llvm::ArrayRef<int64_t> numbers,
                                            llvm::ArrayRef<int64_t> images) {
  if (gemm::ClassifyOperand(node, numbers, images, 1) == gemm::OperandShape::kPerChannel)
    return PerChannelOperand::kSharedByBatch;
  if (numbers.size() != images.size() || images.size() < 2) return PerChannelOperand::kNone;
  if (numbers[0] != images[0] || numbers[1] != images[1]) return PerChannelOperand::kNone;
  for (int64_t extent : numbers.drop_front(2)) {
    if (extent != 1) return PerChannelOperand::kNone;
  }
  return PerChannelOperand::kPerImage;
}

kernels::KernelOrReason MakePerChannelBinary(const kernels::KernelRequest& request) {
  if (!memory::AreDenseF32(request)) return kNotF32;
  if (!simd::HasSimd()) return kNeedsSimd;
  if (request.node->num_inputs() != 2) return kernels::Reason("not two operands");
  const Shape& shape = request.outputs[0].shape;
  const size_t image_input = request.inputs[0].shape == shape ? 0 : 1;
  const kernels::ValueInfo& images = request.inputs[image_input];
  if (images.shape != shape) return kernels::Reason("both operands are broadcast");
  if (!memory::IsImageMemory(images)) return kNotBlocked;
  const PerChannelOperand numbers =
      ClassifyPerChannelOperand(*request.node, request.inputs[1 - image_input].shape, shape);
  if (numbers == PerChannelOperand::kNone) return kernels::Reason("no operand has one element per channel");
  const std::optional<ChannelFunction> function =
      ChannelFunctionOf(request.node->info().function, image_input);
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!function) return kernels::Reason("the operands are in the other order");
  if (!steps) return steps.reason();
  if (steps->bias() >= 0 || steps->start() >= 0) return kernels::Reason("a fused sum");
  const PerChannelBinary::Form form{
      .function = *function,
      .images = {.batch = shape[0],
                 .channels = shape[1],
                 .pixels = *Volume(llvm::ArrayRef<int64_t>(shape).drop_front(2))},
      .image_input = image_input,
      .of_each_image = numbers == PerChannelOperand::kPerImage && shape[0] > 1};
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  const tensor::Layout blocked = memory::LayoutOf(memory::ChannelBlockedFormat(shape));
  prepared.inputs[image_input] = blocked;
  for (int input : steps->element_inputs()) prepared.inputs[static_cast<size_t>(input)] = blocked;
  prepared.outputs.push_back(blocked);
  prepared.in_place = static_cast<int>(image_input);
  auto kernel = std::make_shared<PerChannelBinary>(form, std::move(*steps));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime::fast::pointwise

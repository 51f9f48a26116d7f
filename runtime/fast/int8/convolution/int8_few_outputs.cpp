// int8 convolution of few outputs: the values that a filter row sees are multiplied by those of each output,
// vector by vector. Results are planes of f32.

#include "runtime/fast/int8/convolution/int8_few_outputs.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/int8/convolution/im2col_buffer.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/int8/few_output_dots_microkernel.h"
#include "runtime/fast/simd/int8/quantized_results_microkernel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::int8 {

using kernels::Reason;
using simd::IndexRange;
using simd::kBlockColumns;
using tensor::CeilDivide;
using tensor::RoundUp;

namespace {

constexpr int64_t kMaxOutputs = 8;
constexpr int64_t kImageLine = 64;      // cache line in bytes
constexpr int64_t kPixelsAtOnce = 256;  // sums and results stay in L1

int64_t VectorBytes() {
  return simd::kQuad * simd::SimdWidth();
}

class Int8FewOutputs final : public kernels::Kernel {
 public:
  Int8FewOutputs(const Int8ConvolutionShape& form, gemm::Epilogue steps, std::vector<float> scales)
      : form_(form),
        grid_(Int8Grid::Of(form, {.bytes = simd::L2Bytes(), .number_bytes = sizeof(uint8_t)})),
        strips_(TapStrips::Of(form)),
        seen_(grid_.FirstTapOffsets(form)),
        steps_(std::move(steps)),
        scales_(std::move(scales)) {}

  std::string implementation() const override { return "nnefc:int8_few_outputs"; }
  size_t scratch_bytes() const {
    return static_cast<size_t>(column_bytes() + weight_bytes() + form_.threads * ThreadBytes());
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    auto* weights = reinterpret_cast<int8_t*>(run.scratch + column_bytes());
    std::byte* members = run.scratch + column_bytes() + weight_bytes();
    Call call{.in = reinterpret_cast<const uint8_t*>(run.input(0).bytes()),
              .weights = weights,
              .start = {},
              .operands = steps_.OperandsOf(run, form_.outputs, reinterpret_cast<float*>(run.scratch)),
              .out = run.output().mutable_data<float>()};
    Pack(reinterpret_cast<const int8_t*>(run.input(1).bytes()), weights, call.start);
    tensor::RunTasks(form_.images * grid_.row_parts, form_.threads, [&](int64_t task, int member) {
      RunPart(call, task / grid_.row_parts,
              IndexRange{0, form_.rows.output}.Part(grid_.row_parts, task % grid_.row_parts),
              members + member * ThreadBytes());
    });
    return Success();
  }

 private:
  struct Call {
    const uint8_t* in;
    const int8_t* weights;
    std::array<int32_t, kMaxOutputs> start;
    gemm::Epilogue::Operands operands;
    float* out;
  };

  int64_t strip_count() const { return static_cast<int64_t>(strips_.places.size()); }
  int64_t vectors() const { return CeilDivide(strips_.length, VectorBytes()); }  // per strip
  int64_t weights_of_output() const { return strip_count() * vectors() * VectorBytes(); }
  int64_t over_read() const { return vectors() * VectorBytes() - strips_.length; }
  // The memory of a run: operands, packed weights, and a part of an image and sums of each thread.
  int64_t column_bytes() const {
    return RoundUp(steps_.column_floats(form_.outputs) * int64_t{sizeof(float)}, kImageLine);
  }
  int64_t weight_bytes() const { return RoundUp(form_.outputs * weights_of_output(), kImageLine); }
  int64_t image_bytes() const {
    return Im2colBuffer::Bytes(form_, CeilDivide(form_.rows.output, grid_.row_parts), over_read());
  }
  int64_t ThreadBytes() const {
    return image_bytes() + form_.outputs * kPixelsAtOnce * int64_t{sizeof(int32_t)} +
           kPixelsAtOnce * int64_t{sizeof(float)};
  }

  // Packs weights by group of outputs, strip, vector and output, and computes the compensations of the zero
  // point. The given filter is in NHWC order.
  void Pack(const int8_t* given, int8_t* weights, std::array<int32_t, kMaxOutputs>& start) const {
    std::fill_n(weights, weight_bytes(), int8_t{0});
    const int64_t size = strip_count() * strips_.length, step = VectorBytes();
    for (int64_t output = 0; output < form_.outputs; ++output) {
      const int64_t first = output / simd::kMaxDotOutputs * simd::kMaxDotOutputs;
      const int64_t together = std::min(simd::kMaxDotOutputs, form_.outputs - first);
      int8_t* to = weights + first * weights_of_output() + (output - first) * step;
      const int8_t* from = given + output * size;
      start[static_cast<size_t>(output)] = -form_.zero * std::accumulate(from, from + size, int32_t{0});
      for (int64_t strip = 0; strip < strip_count(); ++strip, from += strips_.length) {
        for (int64_t at = 0; at < strips_.length; at += step, to += together * step)
          std::copy_n(from + at, std::min(step, strips_.length - at), to);
      }
    }
  }

  void RunPart(const Call& call, int64_t image, const IndexRange& rows, std::byte* own) const {
    const Im2colBuffer buffer(form_, rows, reinterpret_cast<uint8_t*>(own), over_read());
    const uint8_t* codes = buffer.Find(call.in + image * form_.in_size(), form_.zero);
    auto* sums = reinterpret_cast<int32_t*>(own + image_bytes());
    auto* line = reinterpret_cast<float*>(sums + form_.outputs * kPixelsAtOnce);
    const int64_t pixels = rows.count() * form_.columns.output;
    for (int64_t pixel = 0; pixel < pixels; pixel += kPixelsAtOnce) {
      const int64_t count = std::min(kPixelsAtOnce, pixels - pixel);
      for (int64_t first = 0; first < form_.outputs; first += simd::kMaxDotOutputs)
        Sum(call, codes, first, {pixel, pixel + count}, sums + first * kPixelsAtOnce);
      for (int64_t output = 0; output < form_.outputs; ++output) {
        int32_t* own_sums = sums + output * kPixelsAtOnce;
        std::fill(own_sums + count, own_sums + RoundUp(count, kBlockColumns), 0);
        Finish(call, output, CeilDivide(count, kBlockColumns), own_sums, line);
        const int64_t plane = (image * form_.outputs + output) * form_.out_pixels();
        std::copy_n(line, count, call.out + plane + rows.begin * form_.columns.output + pixel);
      }
    }
  }

  // Computes the sums of a group of outputs. The last pixels repeat one.
  void Sum(const Call& call, const uint8_t* codes, int64_t first, const IndexRange& pixels,
           int32_t* sums) const {
    const int64_t outputs = std::min(simd::kMaxDotOutputs, form_.outputs - first);
    const int64_t together = simd::PixelsOfDots(outputs);
    simd::FewOutputDots dots{.codes = codes,
                             .seen = nullptr,
                             .strips = strips_.places.data(),
                             .strip_count = strip_count(),
                             .vectors = vectors(),
                             .weights = call.weights + first * weights_of_output(),
                             .start = call.start.data() + first,
                             .sums = sums,
                             .stride = kPixelsAtOnce};
    std::array<int32_t, kBlockColumns> last;
    for (int64_t pixel = pixels.begin; pixel < pixels.end; pixel += together, dots.sums += together) {
      dots.seen = seen_.data() + pixel;
      if (pixel + together > pixels.end) {
        last.fill(seen_[static_cast<size_t>(pixels.end - 1)]);
        std::copy(dots.seen, seen_.data() + pixels.end, last.begin());
        dots.seen = last.data();
      }
      simd::RunFewOutputDots(outputs, dots);
    }
  }

  // Converts the sums of an output to f32 and applies post-ops, with blocks of pixels in place of channels.
  void Finish(const Call& call, int64_t output, int64_t blocks, const int32_t* sums, float* line) const {
    std::array<float, kBlockColumns> scales, bias;
    scales.fill(scales_[static_cast<size_t>(output)]);
    const float* given = call.operands.ColumnsOf(steps_.bias(), output);
    bias.fill(given == nullptr ? 0.0F : *given);
    simd::StoreDequantized({.sums = sums,
                            .pixels = blocks,
                            .scales = scales.data(),
                            .bias = bias.data(),
                            .start = nullptr,
                            .limits = steps_.limits(),
                            .out = line,
                            .stride = kBlockColumns});
    steps_.Finish({.out = {line, kBlockColumns, 0}, .offset = 0, .column = 0, .rows = blocks, .blocks = 1},
                  kBlockColumns, call.operands);
  }

  Int8ConvolutionShape form_;
  Int8Grid grid_;
  TapStrips strips_;
  std::vector<int32_t> seen_;
  gemm::Epilogue steps_;
  std::vector<float> scales_;
};

}  // namespace

Reason FewOutputDotsApply(const Int8ConvolutionShape& form) {
  if (!HasVnni()) return Reason("no VNNI");
  return form.outputs > kMaxOutputs ? Reason("{} output channels, more than {}", form.outputs, kMaxOutputs)
                                    : Reason();
}

bool IsFasterThanBlocks(const Int8ConvolutionShape& form) {
  constexpr int64_t kTotal = 3;  // operations for each total of the lanes of a vector
  const TapStrips strips = TapStrips::Of(form);
  const auto count = static_cast<int64_t>(strips.places.size());
  const int64_t dots = form.outputs * (count * CeilDivide(strips.length, VectorBytes()) + kTotal);
  return dots < count * strips.quads() * kBlockColumns / simd::SimdWidth();
}

kernels::KernelOrReason MakeInt8FewOutputs(const kernels::KernelRequest& given, const Int8Step& step,
                                           const Int8ConvolutionShape& form) {
  if (step.coded.range) return Reason("the result is quantized");
  kernels::OrReason<gemm::Epilogue> steps =
      gemm::Epilogue::Make(step.coded.request, step.coded.request.posts, 1);
  if (!steps) return steps.reason();
  if (steps->takes_operands() || steps->start() >= 0 || !steps->element_inputs().empty())
    return Reason("a fused operation with an operand after the bias");
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(given.inputs.size());
  prepared.inputs[0] = memory::QuantizedLayout(
      memory::ChannelsLastFormat(given.inputs[0].shape, memory::StorageType::kF32), *step.source);
  memory::BlockedLayout::Form codes{.filter_codes =
                                        memory::FilterScales{.scales = given.filter_scales.vec(), .mask = 1}};
  prepared.inputs[1] = std::make_shared<memory::BlockedLayout>(
      memory::ChannelsLastFormat(given.inputs[1].shape, memory::StorageType::kS8), std::move(codes));
  prepared.outputs.resize(1);
  auto kernel = std::make_shared<Int8FewOutputs>(form, std::move(*steps), step.scales);
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime::fast::int8

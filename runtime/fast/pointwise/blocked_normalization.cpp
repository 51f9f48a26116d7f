// Normalizations of nChw16c images, and of quantized NHWC images with results in nChw16c.

#include "runtime/fast/pointwise/blocked_normalization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/pointwise/channel_sums_microkernel.h"
#include "runtime/fast/simd/pointwise/code_moments_microkernel.h"
#include "runtime/fast/simd/pointwise/per_channel_microkernel.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::pointwise {

using simd::kBlockColumns;

namespace {

class BlockedBatchNorm final : public kernels::Kernel {
 public:
  BlockedBatchNorm(const kernels::KernelRequest& request, gemm::Epilogue steps)
      : images_(request.inputs[0].shape[0]),
        channels_(request.inputs[0].shape[1]),
        pixels_(*Volume(llvm::ArrayRef<int64_t>(request.inputs[0].shape).drop_front(2))),
        steps_(std::move(steps)) {
    const auto padded = static_cast<size_t>(tensor::RoundUp(channels_, kBlockColumns));
    const double epsilon = request.node->Double("epsilon");
    std::array<TensorValue, 4> values;
    for (size_t i = 0; i < values.size(); ++i) values[i] = request.inputs[i + 1].constant->Loaded();
    for (std::vector<float>* numbers : {&mean_, &factor_, &shift_}) numbers->resize(padded);
    for (int64_t i = 0; i < channels_; ++i) {
      const auto channel = static_cast<size_t>(i);
      const double scale = values[0].ElementAsDouble(i), variance = values[3].ElementAsDouble(i);
      shift_[channel] = static_cast<float>(values[1].ElementAsDouble(i));
      mean_[channel] = static_cast<float>(values[2].ElementAsDouble(i));
      factor_[channel] = static_cast<float>(scale / std::sqrt(variance + epsilon));
    }
  }

  std::string implementation() const override { return "nnefc:channels"; }
  size_t scratch_bytes() const {
    return static_cast<size_t>(steps_.column_floats(channels_)) * sizeof(float);
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* x = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    const int64_t blocks = tensor::RoundUp(channels_, kBlockColumns) / kBlockColumns,
                  size = pixels_ * kBlockColumns;
    const auto operands = steps_.OperandsOf(run, channels_, reinterpret_cast<float*>(run.scratch));
    tensor::ParallelFor(images_ * blocks, size, [&](int64_t index) {
      constexpr int64_t kPixels = 128;  // pixels that stay in L1
      const int64_t column = index % blocks * kBlockColumns;
      for (int64_t pixel = 0; pixel < pixels_; pixel += kPixels) {
        const int64_t offset = index * size + pixel * kBlockColumns;
        const int64_t count = std::min(kPixels, pixels_ - pixel);
        simd::NormalizeChannels({.x = x + offset,
                                 .mean = mean_.data() + column,
                                 .factor = factor_.data() + column,
                                 .shift = shift_.data() + column,
                                 .pixels = count,
                                 .limits = steps_.limits(),
                                 .out = out + offset});
        steps_.Finish({.out = {out + offset, kBlockColumns, 0},
                       .offset = offset,
                       .column = column,
                       .rows = count,
                       .blocks = 1},
                      channels_, operands);
      }
    });
    return Success();
  }

 private:
  int64_t images_, channels_, pixels_;
  std::vector<float> mean_, factor_, shift_;
  gemm::Epilogue steps_;
};

// An array with one element per channel of a block.
template <typename T>
using OfBlock = std::array<T, kBlockColumns>;

// Moments of several pixels, which can be merged with others.
struct PixelMoments {
  OfBlock<double> mean, squares;  // sum of squared distances from the mean
  double count;

  // Returns the moments of the first `channels` of a block.
  static PixelMoments Of(const float* x, int64_t pixels, size_t channels);
  void Add(const PixelMoments& more) {
    const double all = count + more.count;
    for (size_t i = 0; i < mean.size(); ++i) {
      const double distance = more.mean[i] - mean[i], part = more.count / all;
      // With infinite means the distance is not finite.
      mean[i] += std::isfinite(distance) ? distance * part : more.mean[i];
      squares[i] += more.squares[i] + distance * distance * count * part;
    }
    count = all;
  }
};

// Computes two passes over a small number of pixels: distances from the first one, then squared distances
// from the mean. Values outside of the f32 range are summed in f64.
PixelMoments PixelMoments::Of(const float* x, int64_t pixels, size_t channels) {
  constexpr float kMin = 1e-28F;
  PixelMoments moments{.mean = {}, .squares = {}, .count = static_cast<double>(pixels)};
  OfBlock<float> from, sums;
  for (size_t i = 0; i < from.size(); ++i) from[i] = std::isfinite(x[i]) ? x[i] : 0;
  simd::SumDeviations({x, from.data(), pixels}, sums.data());
  for (size_t i = 0; i < from.size(); ++i) {
    moments.mean[i] = static_cast<double>(from[i]) + static_cast<double>(sums[i]) / moments.count;
    from[i] = static_cast<float>(moments.mean[i]);
  }
  simd::SumSquaredDeviations({x, from.data(), pixels}, sums.data());
  for (size_t i = 0; i < channels; ++i) {
    if (sums[i] > kMin && sums[i] < std::numeric_limits<float>::infinity()) {
      const double rest = moments.mean[i] - static_cast<double>(from[i]);
      moments.squares[i] = static_cast<double>(sums[i]) - moments.count * rest * rest;
      continue;
    }
    double sum = 0;
    const double first = std::isfinite(x[i]) ? static_cast<double>(x[i]) : 0;
    const auto at = [&](int64_t pixel) {
      return static_cast<double>(x[static_cast<size_t>(pixel * kBlockColumns) + i]);
    };
    for (int64_t pixel = 0; pixel < pixels; ++pixel) sum += at(pixel) - first;
    moments.mean[i] = first + sum / moments.count;
    moments.squares[i] = 0;
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      moments.squares[i] += (at(pixel) - moments.mean[i]) * (at(pixel) - moments.mean[i]);
  }
  return moments;
}

class BlockedMvn final : public kernels::Kernel {
 public:
  BlockedMvn(const kernels::KernelRequest& request, const MvnFactor& factor)
      : images_(request.inputs[0].shape[0]),
        channels_(request.inputs[0].shape[1]),
        pixels_(*Volume(llvm::ArrayRef<int64_t>(request.inputs[0].shape).drop_front(2))),
        factor_(factor) {}

  std::string implementation() const override { return "nnefc:channels"; }
  size_t scratch_bytes() const {
    return static_cast<size_t>(planes()) *
           (static_cast<size_t>(parts()) * sizeof(PixelMoments) + sizeof(PlaneNumbers));
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* x = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    auto* found = reinterpret_cast<PixelMoments*>(run.scratch);
    auto* numbers = reinterpret_cast<PlaneNumbers*>(found + planes() * parts());
    const auto for_parts = [&](const auto& work) {
      tensor::ParallelFor(planes() * parts(), kPixels * kBlockColumns, [&](int64_t index) {
        const int64_t part = index % parts(), first = part * kPixels;
        work(index, (index / parts() * pixels_ + first) * kBlockColumns, std::min(kPixels, pixels_ - first));
      });
    };
    for_parts([&](int64_t index, int64_t offset, int64_t pixels) {
      found[index] = PixelMoments::Of(x + offset, pixels, ChannelsOf(index / parts() % blocks()));
    });
    for (int64_t plane = 0; plane < planes(); ++plane) {
      PixelMoments& all = found[plane * parts()];
      for (int64_t part = 1; part < parts(); ++part) all.Add(found[plane * parts() + part]);
      numbers[plane] = NumbersOf(all, plane % blocks());
    }
    for_parts([&](int64_t index, int64_t offset, int64_t pixels) {
      const PlaneNumbers& by = numbers[index / parts()];
      simd::NormalizeChannels({.x = x + offset,
                               .mean = by.mean.data(),
                               .factor = by.factor.data(),
                               .shift = by.shift.data(),
                               .pixels = pixels,
                               .out = out + offset});
    });
    return Success();
  }

 private:
  static constexpr int64_t kPixels = 256;  // pixels that stay in L1
  struct PlaneNumbers {
    OfBlock<float> mean = {}, factor = {}, shift = {};
  };

  int64_t planes() const { return images_ * blocks(); }
  int64_t blocks() const { return tensor::RoundUp(channels_, kBlockColumns) / kBlockColumns; }
  int64_t parts() const { return (pixels_ + kPixels - 1) / kPixels; }

  // Returns the channels of a block without padding.
  size_t ChannelsOf(int64_t block) const {
    return static_cast<size_t>(std::min(kBlockColumns, channels_ - block * kBlockColumns));
  }

  // Padding channels stay 0.
  PlaneNumbers NumbersOf(const PixelMoments& moments, int64_t block) const {
    PlaneNumbers numbers;
    for (size_t i = 0; i < ChannelsOf(block); ++i) {
      const double by = factor_.Of(moments.squares[i] / moments.count);
      const auto mean = static_cast<float>(moments.mean[i]);
      const double rest = moments.mean[i] - static_cast<double>(mean);
      numbers.mean[i] = mean;
      numbers.factor[i] = static_cast<float>(by);
      numbers.shift[i] = std::isfinite(mean) ? static_cast<float>(-rest * by) : 0;
    }
    return numbers;
  }

  int64_t images_, channels_, pixels_;
  MvnFactor factor_;
};

// MVN over the pixels of quantized images. Zero points have no effect; sums are exact.
class QuantizedMvn final : public kernels::Kernel {
 public:
  QuantizedMvn(const kernels::KernelRequest& request, const MvnFactor& factor, float scale)
      : images_(request.inputs[0].shape[0]),
        channels_(request.inputs[0].shape[1]),
        pixels_(*Volume(llvm::ArrayRef<int64_t>(request.inputs[0].shape).drop_front(2))),
        factor_(factor),
        scale_(scale) {}

  std::string implementation() const override { return "nnefc:int8_mvn"; }

  size_t scratch_bytes() const {
    return static_cast<size_t>(planes()) *
           (static_cast<size_t>(parts()) * sizeof(CodeSums) + sizeof(PlaneNumbers));
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* in = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    auto* sums = reinterpret_cast<CodeSums*>(run.scratch);
    auto* numbers = reinterpret_cast<PlaneNumbers*>(sums + planes() * parts());
    const auto for_parts = [&](const auto& work) {
      tensor::ParallelFor(planes() * parts(), kPixels * kBlockColumns, [&](int64_t index) {
        const int64_t plane = index / parts(), first = index % parts() * kPixels;
        work(index, simd::CodePixels{
                        .from = in + (plane / blocks() * pixels_ + first) * channels_ + ChannelOf(plane),
                        .step = channels_,
                        .channels = std::min(kBlockColumns, channels_ - ChannelOf(plane)),
                        .pixels = std::min(kPixels, pixels_ - first)});
      });
    };
    for_parts([&](int64_t index, const simd::CodePixels& pixels) {
      sums[index] = {};
      simd::SumCodes(pixels, sums[index].values.data(), sums[index].squares.data());
    });
    for (int64_t plane = 0; plane < planes(); ++plane) {
      CodeSums all = sums[plane * parts()];
      for (int64_t part = 1; part < parts(); ++part) all.Add(sums[plane * parts() + part]);
      numbers[plane] = NumbersOf(all, std::min(kBlockColumns, channels_ - ChannelOf(plane)));
    }
    for_parts([&](int64_t index, const simd::CodePixels& pixels) {
      const PlaneNumbers& by = numbers[index / parts()];
      const int64_t pixel = index / parts() * pixels_ + index % parts() * kPixels;
      simd::NormalizeCodes({.pixels = pixels,
                            .mean = by.mean.data(),
                            .factor = by.factor.data(),
                            .out = out + pixel * kBlockColumns});
    });
    return Success();
  }

 private:
  static constexpr int64_t kPixels = 2048;
  static_assert(kPixels <= simd::kMaxSquaredPixels);
  // Sums of the values of a block's channels, and of their squares.
  struct CodeSums {
    OfBlock<int64_t> values, squares;

    void Add(const CodeSums& more) {
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] += more.values[i];
        squares[i] += more.squares[i];
      }
    }
  };
  struct PlaneNumbers {
    OfBlock<float> mean, factor;
  };

  int64_t planes() const { return images_ * blocks(); }
  int64_t blocks() const { return tensor::CeilDivide(channels_, kBlockColumns); }
  int64_t parts() const { return tensor::CeilDivide(pixels_, kPixels); }
  // Returns the first channel of a plane.
  int64_t ChannelOf(int64_t plane) const { return plane % blocks() * kBlockColumns; }

  PlaneNumbers NumbersOf(const CodeSums& sums, int64_t channels) const {
    PlaneNumbers numbers = {};
    for (size_t i = 0; i < static_cast<size_t>(channels); ++i) {
      // Distances from a whole number near the mean.
      const int64_t centre = sums.values[i] / pixels_, rest = sums.values[i] - centre * pixels_;
      const int64_t squares = sums.squares[i] - 2 * centre * sums.values[i] + centre * centre * pixels_;
      const double part = static_cast<double>(rest) / static_cast<double>(pixels_);
      const double variance = static_cast<double>(squares) / static_cast<double>(pixels_) - part * part;
      numbers.mean[i] = static_cast<float>(static_cast<double>(centre) + part);
      numbers.factor[i] = static_cast<float>(scale_ * factor_.Of(variance * scale_ * scale_));
    }
    return numbers;
  }

  int64_t images_, channels_, pixels_;
  MvnFactor factor_;
  double scale_;
};

}  // namespace

kernels::KernelOrReason MakeBlockedBatchNorm(const kernels::KernelRequest& request) {
  const kernels::ValueInfo& images = request.inputs[0];
  if (!simd::HasSimd()) return kNeedsSimd;
  if (!memory::IsImageMemory(images)) return kNotBlocked;
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  if (steps->bias() >= 0 || steps->start() >= 0) return kernels::Reason("a fused sum");
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  const tensor::Layout blocked = memory::LayoutOf(memory::ChannelBlockedFormat(images.shape));
  prepared.inputs[0] = blocked;
  for (int input : steps->element_inputs()) prepared.inputs[static_cast<size_t>(input)] = blocked;
  prepared.outputs.push_back(blocked);
  prepared.in_place = 0;
  auto kernel = std::make_shared<BlockedBatchNorm>(request, std::move(*steps));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

kernels::KernelOrReason MakeBlockedMvn(const kernels::KernelRequest& request, const MvnFactor& factor) {
  const kernels::ValueInfo& images = request.inputs[0];
  if (!simd::HasSimd()) return kNeedsSimd;
  if (!memory::IsImageMemory(images)) return kNotBlocked;
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = memory::LayoutOf(memory::ChannelBlockedFormat(images.shape));
  prepared.outputs.push_back(prepared.inputs[0]);
  prepared.in_place = 0;
  auto kernel = std::make_shared<BlockedMvn>(request, factor);
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

kernels::KernelOrReason MakeQuantizedMvn(const kernels::KernelRequest& request, const MvnFactor& factor) {
  const kernels::ValueInfo& images = request.inputs[0];
  const memory::ValueQuantization* codes = memory::QuantizationOf(images);
  if (!simd::HasSimd()) return kNeedsSimd;
  if (codes == nullptr) return kernels::Reason("the images are not quantized");
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] =
      memory::QuantizedLayout(memory::ChannelsLastFormat(images.shape, memory::StorageType::kF32), *codes);
  prepared.outputs.push_back(memory::LayoutOf(memory::ChannelBlockedFormat(images.shape)));
  auto kernel = std::make_shared<QuantizedMvn>(request, factor, codes->scale);
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime::fast::pointwise

// Pooling of int8 images in NHWC layout.

#include "runtime/fast/int8/images/int8_pooling.h"

#include <algorithm>
#include <array>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/int8/images/image_requests.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::int8 {

namespace {

// Pixels of an image, and where the largest values of their channels are stored.
struct ReceptiveField {
  const uint8_t* from;
  int64_t rows, columns, row_step, column_step, channels;
  uint8_t* out;
};

template <int64_t kCount>
[[gnu::always_inline]] inline void FindLargestOf(const ReceptiveField& seen, int64_t first) {
  uint8_t largest[kCount] = {};
  for (int64_t y = 0; y < seen.rows; ++y) {
    for (int64_t x = 0; x < seen.columns; ++x) {
      const uint8_t* codes = seen.from + y * seen.row_step + x * seen.column_step + first;
      for (int64_t i = 0; i < kCount; ++i) largest[i] = largest[i] < codes[i] ? codes[i] : largest[i];
    }
  }
  for (int64_t i = 0; i < kCount; ++i) seen.out[first + i] = largest[i];
}

// Processes groups of channels in registers.
void FindLargest(const ReceptiveField& given) {
  simd::Vectorized([&] {
    const ReceptiveField seen = given;  // local copy, to exclude aliasing
    constexpr int64_t kMany = 32, kSome = 16;
    int64_t first = 0;
    for (; first + kMany <= seen.channels; first += kMany) FindLargestOf<kMany>(seen, first);
    if (seen.channels < kSome) {
      for (; first < seen.channels; ++first) FindLargestOf<1>(seen, first);
    }
    // The last channels may be computed twice.
    for (; first < seen.channels; first += kSome)
      FindLargestOf<kSome>(seen, std::min(first, seen.channels - kSome));
  });
}

class Int8MaxPool final : public kernels::Kernel {
 public:
  Int8MaxPool(int64_t images, int64_t channels, const kernels::WindowAxis& rows,
              const kernels::WindowAxis& columns)
      : images_(images), channels_(channels), rows_(rows), columns_(columns) {
    for (int64_t i = 0; i < rows.output; ++i) row_taps_.push_back(gemm::ValidTaps(rows, i));
    for (int64_t i = 0; i < columns.output; ++i) column_taps_.push_back(gemm::ValidTaps(columns, i));
  }

  std::string implementation() const override { return "nnefc:int8_max_pool"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* in = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    const int64_t of_row = columns_.output * channels_;
    tensor::ParallelFor(images_ * rows_.output, of_row * rows_.size * columns_.size, [&](int64_t index) {
      const int64_t image = index / rows_.output;
      RunRow(in + image * rows_.input * columns_.input * channels_, index % rows_.output,
             out + index * of_row);
    });
    return Success();
  }

 private:
  void RunRow(const uint8_t* image, int64_t row, uint8_t* out) const {
    const simd::IndexRange& rows = row_taps_[static_cast<size_t>(row)];
    for (int64_t column = 0; column < columns_.output; ++column, out += channels_) {
      const simd::IndexRange& columns = column_taps_[static_cast<size_t>(column)];
      const int64_t first =
          (row * rows_.stride - rows_.before + rows.begin * rows_.dilation) * columns_.input +
          column * columns_.stride - columns_.before + columns.begin * columns_.dilation;
      FindLargest({.from = image + first * channels_,
                   .rows = rows.count(),
                   .columns = columns.count(),
                   .row_step = rows_.dilation * columns_.input * channels_,
                   .column_step = columns_.dilation * channels_,
                   .channels = channels_,
                   .out = out});
    }
  }

  int64_t images_, channels_;
  kernels::WindowAxis rows_, columns_;
  std::vector<simd::IndexRange> row_taps_, column_taps_;
};

// Base class of reductions over all pixels of an image, with f32 rows as result.
class Int8GlobalPool : public kernels::Kernel {
 public:
  Int8GlobalPool(int64_t images, int64_t channels, int64_t pixels, const memory::ValueQuantization& codes)
      : images_(images), channels_(channels), pixels_(pixels), codes_(codes) {}

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* in = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    const int64_t blocks = tensor::CeilDivide(channels_, kChannels);
    tensor::ParallelFor(images_ * blocks, pixels_ * kChannels, [&](int64_t index) {
      const int64_t image = index / blocks, first = index % blocks * kChannels;
      const int64_t count = std::min(kChannels, channels_ - first);
      Reduce(in + image * channels_ * pixels_ + first, count, out + image * channels_ + first);
    });
    return Success();
  }

 protected:
  static constexpr int64_t kChannels = 64;

  // Reduces `count` channels, at most kChannels.
  virtual void Reduce(const uint8_t* from, int64_t count, float* out) const = 0;

  int64_t channels() const { return channels_; }
  int64_t pixels() const { return pixels_; }
  const memory::ValueQuantization& codes() const { return codes_; }

 private:
  int64_t images_, channels_, pixels_;
  memory::ValueQuantization codes_;
};

class Int8AveragePool final : public Int8GlobalPool {
 public:
  using Int8GlobalPool::Int8GlobalPool;

  std::string implementation() const override { return "nnefc:int8_average_pool"; }

 private:
  static constexpr int64_t kMaxPixels = int64_t{1} << 23;  // limits of i32 sums

  void Reduce(const uint8_t* from, int64_t count, float* out) const override {
    std::array<int64_t, kChannels> wholes = {};
    simd::Vectorized([=, this, &wholes] {
      for (int64_t first = 0; first < pixels(); first += kMaxPixels) {
        std::array<int32_t, kChannels> sums = {};
        const int64_t end = std::min(first + kMaxPixels, pixels());
        for (int64_t pixel = first; pixel < end; ++pixel) {
          const uint8_t* codes = from + pixel * channels();
          for (int64_t i = 0; i < count; ++i) sums[static_cast<size_t>(i)] += codes[i];
        }
        for (size_t i = 0; i < kChannels; ++i) wholes[i] += sums[i];
      }
    });
    for (int64_t i = 0; i < count; ++i) {
      const int64_t sum = wholes[static_cast<size_t>(i)] - int64_t{codes().zero} * pixels();
      out[i] = static_cast<float>(double{codes().scale} * static_cast<double>(sum) /
                                  static_cast<double>(pixels()));
    }
  }
};

// Quantized values preserve the order.
class Int8GlobalMaxPool final : public Int8GlobalPool {
 public:
  using Int8GlobalPool::Int8GlobalPool;

  std::string implementation() const override { return "nnefc:int8_global_max_pool"; }

 private:
  void Reduce(const uint8_t* from, int64_t count, float* out) const override {
    std::array<uint8_t, kChannels> largest = {};
    FindLargest({.from = from,
                 .rows = 1,
                 .columns = pixels(),
                 .row_step = 0,
                 .column_step = channels(),
                 .channels = count,
                 .out = largest.data()});
    for (int64_t i = 0; i < count; ++i)
      out[i] = codes().scale * static_cast<float>(largest[static_cast<size_t>(i)] - codes().zero);
  }
};

template <typename Pool>
kernels::KernelOrReason MakeGlobalPool(const kernels::KernelRequest& request,
                                       const memory::ValueQuantization& codes) {
  const Shape& shape = request.inputs[0].shape;
  const std::optional<int64_t> pixels = Volume(llvm::ArrayRef<int64_t>(shape).drop_front(2));
  if (!pixels || *pixels == 0) return kernels::Reason("no pixels");
  kernels::PreparedKernel prepared;
  prepared.kernel = std::make_shared<Pool>(shape[0], shape[1], *pixels, codes);
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] =
      memory::QuantizedLayout(memory::ChannelsLastFormat(shape, memory::StorageType::kF32), codes);
  prepared.outputs.resize(request.outputs.size());
  return prepared;
}

}  // namespace

kernels::KernelOrReason MakeInt8AveragePool(const kernels::KernelRequest& request,
                                            const memory::ValueQuantization& codes) {
  return MakeGlobalPool<Int8AveragePool>(request, codes);
}

kernels::KernelOrReason MakeInt8GlobalMaxPool(const kernels::KernelRequest& request,
                                              const memory::ValueQuantization& codes) {
  return MakeGlobalPool<Int8GlobalMaxPool>(request, codes);
}

kernels::KernelOrReason MakeInt8MaxPool(const kernels::KernelRequest& request, const kernels::Window& window,
                                        const memory::ValueQuantization& codes) {
  const kernels::WindowAxis& planes = window[0];
  const Shape& shape = request.inputs[0].shape;
  if (planes.input != 1 || planes.output != 1 || planes.size != 1)
    return kernels::Reason("windows of three axes");
  return PrepareImages(request, codes,
                       std::make_shared<Int8MaxPool>(shape[0], shape[1], window[1], window[2]));
}

}  // namespace nnefc::runtime::fast::int8

// Convolution of f32 images with bf16 multiplication.

#include "runtime/fast/conv/bf16_convolution.h"

#include <algorithm>
#include <array>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/conv/image_times.h"
#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/panel_gemm.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/reasons.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::conv {

using kernels::Reason;
using memory::StorageType;
using simd::kBlockColumns;

namespace {

constexpr int64_t kPairOfTerms = 2, kMaxPanels = 6;

// The sizes of a convolution with one or two spatial axes.
struct Bf16Form {
  int64_t images, inputs, outputs;
  kernels::WindowAxis rows, columns;
  int threads;

  int64_t input_blocks() const { return tensor::CeilDivide(inputs, kBlockColumns); }
  int64_t output_blocks() const { return tensor::CeilDivide(outputs, kBlockColumns); }
  int64_t taps() const { return rows.size * columns.size; }
  // The elements of a patch: for each tap all channel blocks.
  int64_t terms() const { return taps() * input_blocks() * kBlockColumns; }
  int64_t pixels() const { return rows.output * columns.output; }
  int64_t input_pixels() const { return rows.input * columns.input; }
  int64_t panel_bytes() const {
    return terms() * gemm::kPanelWidth * static_cast<int64_t>(BytesOf(StorageType::kBf16));
  }
  bool is_pointwise() const { return gemm::IsIdentityWindow(rows) && gemm::IsIdentityWindow(columns); }
};

// Returns the number of pixels of a chunk, whole tiles of rows: those whose patches and results stay in L1,
// but enough to read the filter from an outer cache once for several tiles.
int64_t ChunkOf(const Bf16Form& form) {
  constexpr int64_t kBytes = 32'768, kMinTiles = 4;
  const auto pixel_bytes =
      static_cast<int64_t>(form.terms() * static_cast<int64_t>(BytesOf(StorageType::kBf16)) +
                           form.output_blocks() * kBlockColumns * static_cast<int64_t>(sizeof(float)));
  const int64_t tiles = std::max(kMinTiles, kBytes / pixel_bytes / gemm::kMaxPanelRows);
  const int64_t chunks = tensor::CeilDivide(form.pixels(), tiles * gemm::kMaxPanelRows);
  return std::min(form.pixels(),
                  tensor::RoundUp(tensor::CeilDivide(form.pixels(), chunks), gemm::kMaxPanelRows));
}

class Bf16Convolution final : public kernels::Kernel {
 public:
  Bf16Convolution(const Bf16Form& form, gemm::Epilogue steps)
      : form_(form), chunk_(ChunkOf(form)), steps_(std::move(steps)) {}

  std::string implementation() const override { return "nnefc:bf16_gemm"; }

  size_t thread_bytes() const {
    return static_cast<size_t>(tensor::RoundUp(chunk_ * form_.terms(), kBlockColumns)) *
           BytesOf(StorageType::kBf16);
  }
  size_t scratch_bytes() const {
    return static_cast<size_t>(form_.threads) * thread_bytes() +
           static_cast<size_t>(steps_.column_floats(form_.outputs)) * sizeof(float);
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const gemm::ConvolutionCall call = gemm::ConvolutionCall::Of(run, steps_, form_.outputs);
    std::byte* const patches =
        run.scratch + static_cast<size_t>(steps_.column_floats(form_.outputs)) * sizeof(float);
    const int64_t chunks = tensor::CeilDivide(form_.pixels(), chunk_);
    tensor::RunTasks(form_.images * chunks, form_.threads, [&](int64_t task, int member) {
      const int64_t first = task % chunks * chunk_;
      auto* own = reinterpret_cast<uint16_t*>(patches + static_cast<size_t>(member) * thread_bytes());
      RunChunk(call, task / chunks, {first, std::min(first + chunk_, form_.pixels())}, own);
    });
    return Success();
  }

 private:
  void RunChunk(const gemm::ConvolutionCall& call, int64_t image, const simd::IndexRange& pixels,
                uint16_t* patches) const {
    const float* in = call.in + image * form_.input_blocks() * form_.input_pixels() * kBlockColumns;
    if (form_.is_pointwise()) {
      RoundPixels(in, pixels, patches);
    } else {
      RoundPatches(in, pixels, patches);
    }
    // A group of panels at a time: its elements, and its results of the chunk, stay in L1.
    constexpr int64_t kCacheBytes = 24'576, kPanelsOfTile = 3;
    const int64_t fitting = kCacheBytes / form_.panel_bytes() / kPanelsOfTile * kPanelsOfTile;
    const int64_t group = std::clamp(fitting, kPanelsOfTile, kMaxPanels), all = form_.output_blocks();
    for (int64_t first = 0; first < all; first += group)
      RunPanels(call, image, pixels, {first, std::min(first + group, all)}, patches);
  }

  int64_t OffsetOf(int64_t image, int64_t block) const {
    return (image * form_.output_blocks() + block) * form_.pixels() * kBlockColumns;
  }

  void RoundPixels(const float* in, const simd::IndexRange& pixels, uint16_t* patches) const {
    for (int64_t block = 0; block < form_.input_blocks(); ++block) {
      gemm::RoundBlocksToBf16(in + (block * form_.input_pixels() + pixels.begin) * kBlockColumns,
                              kBlockColumns, pixels.count(), patches + block * kBlockColumns, form_.terms());
    }
  }

  void RoundPatches(const float* in, const simd::IndexRange& pixels, uint16_t* patches) const {
    const kernels::WindowAxis &rows = form_.rows, &columns = form_.columns;
    const int64_t blocks = form_.input_blocks();
    for (int64_t tap = 0; tap < form_.taps(); ++tap) {
      const int64_t row_tap = tap / columns.size, column_tap = tap % columns.size;
      const simd::IndexRange valid_rows = gemm::ValidOutputs(rows, row_tap),
                             valid_columns = gemm::ValidOutputs(columns, column_tap);
      for (int64_t pixel = pixels.begin; pixel < pixels.end;) {
        const int64_t row = pixel / columns.output, column = pixel % columns.output;
        const int64_t count = std::min(pixels.end - pixel, columns.output - column);
        uint16_t* const to = patches + (pixel - pixels.begin) * form_.terms() + tap * blocks * kBlockColumns;
        const float* from = nullptr;
        if (valid_rows.Has(row))
          from = in + gemm::InputPosition(rows, row, row_tap) * columns.input * kBlockColumns;
        RoundTap(from, column_tap, valid_columns, {column, column + count}, to);
        pixel += count;
      }
    }
  }

  // Rounds the pixels of a tap for consecutive positions of a row; null for a row of the border.
  void RoundTap(const float* row, int64_t tap, const simd::IndexRange& valid, const simd::IndexRange& places,
                uint16_t* to) const {
    const kernels::WindowAxis& columns = form_.columns;
    const int64_t blocks = form_.input_blocks();
    const int64_t begin = row == nullptr ? places.end : std::clamp(valid.begin, places.begin, places.end);
    const int64_t end = row == nullptr ? places.end : std::clamp(valid.end, begin, places.end);
    const auto clear = [&](int64_t first, int64_t last) {
      for (int64_t place = first; place < last; ++place)
        std::fill_n(to + (place - places.begin) * form_.terms(), blocks * kBlockColumns, uint16_t{0});
    };
    clear(places.begin, begin);
    clear(end, places.end);
    if (begin == end) return;
    for (int64_t block = 0; block < blocks; ++block) {
      const float* from =
          row + (block * form_.input_pixels() + gemm::InputPosition(columns, begin, tap)) * kBlockColumns;
      gemm::RoundBlocksToBf16(from, columns.stride * kBlockColumns, end - begin,
                              to + (begin - places.begin) * form_.terms() + block * kBlockColumns,
                              form_.terms());
    }
  }

  // Multiplies the patches of a chunk by a group of panels.
  void RunPanels(const gemm::ConvolutionCall& call, int64_t image, const simd::IndexRange& pixels,
                 const simd::IndexRange& blocks, const uint16_t* patches) const {
    for (int64_t pixel = 0; pixel < pixels.count(); pixel += gemm::kMaxPanelRows) {
      const int64_t rows = std::min(gemm::kMaxPanelRows, pixels.count() - pixel);
      std::array<const std::byte*, gemm::kMaxPanelRows> left;
      for (int64_t i = 0; i < rows; ++i)
        left[static_cast<size_t>(i)] =
            reinterpret_cast<const std::byte*>(patches + (pixel + i) * form_.terms());
      llvm::SmallVector<gemm::PanelSums, kMaxPanels> panels;
      for (int64_t block = blocks.begin; block < blocks.end; ++block)
        panels.push_back(
            PanelOf(call, OffsetOf(image, block) + (pixels.begin + pixel) * kBlockColumns, block));
      gemm::MultiplyByPanels({left.data(), static_cast<size_t>(rows)}, StorageType::kBf16, form_.terms(),
                             panels);
    }
    const int64_t offset = OffsetOf(image, blocks.begin) + pixels.begin * kBlockColumns;
    steps_.Finish({.out = {call.out + offset, kBlockColumns, form_.pixels() * kBlockColumns},
                   .offset = offset,
                   .column = blocks.begin * kBlockColumns,
                   .rows = pixels.count(),
                   .blocks = blocks.count()},
                  form_.outputs, call.operands);
  }

  gemm::PanelSums PanelOf(const gemm::ConvolutionCall& call, int64_t offset, int64_t panel) const {
    return {.panel = reinterpret_cast<const std::byte*>(call.weights) + panel * form_.panel_bytes(),
            .start = call.operands.ElementsOf(steps_.start(), offset),
            .start_stride = kBlockColumns,
            .out = call.out + offset,
            .out_stride = kBlockColumns,
            .bias = call.operands.ColumnsOf(steps_.bias(), panel * kBlockColumns),
            .limits = steps_.limits()};
  }

  Bf16Form form_;
  int64_t chunk_;
  gemm::Epilogue steps_;
};

// Returns the layout of a filter [outputs, inputs, spatial axes] in panels of outputs: for each tap all input
// channels in pairs.
tensor::Layout PanelLayout(llvm::ArrayRef<int64_t> filter) {
  memory::BlockedFormat format = memory::RowMajorFormat(filter, StorageType::kBf16);
  format.padded_extents[0] = tensor::RoundUp(filter[0], gemm::kPanelWidth);
  format.padded_extents[1] = tensor::RoundUp(filter[1], kBlockColumns);
  format.num_blocks = 3;
  format.blocks[0] = {1, kBlockColumns / kPairOfTerms};
  format.blocks[1] = {0, gemm::kPanelWidth};
  format.blocks[2] = {1, kPairOfTerms};
  format.strides[1] = kBlockColumns * gemm::kPanelWidth;
  int64_t stride = format.padded_extents[1] * gemm::kPanelWidth;
  for (size_t axis = filter.size() - 1; axis > 1; --axis) {
    format.strides[axis] = stride;
    stride *= filter[axis];
  }
  format.strides[0] = stride;
  return std::make_shared<memory::BlockedLayout>(std::move(format));
}

}  // namespace

Reason Bf16ConvolutionApplies(const kernels::KernelRequest& request) {
  if (!HasBf16()) return Reason("needs AVX-512 with bf16");
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  if (filter.size() < 3 || filter.size() > 4)
    return Reason("{} spatial axes", static_cast<int64_t>(filter.size()) - 2);
  if (request.inputs[1].constant == nullptr) return kNeedsConstantFilter;
  return Reason();
}

kernels::KernelOrReason MakeBf16Convolution(const kernels::KernelRequest& request) {
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  const kernels::Window window = gemm::WindowOfConvolution(request);
  const Bf16Form form{.images = request.inputs[0].shape[0],
                      .inputs = request.inputs[1].shape[1],
                      .outputs = request.inputs[1].shape[0],
                      .rows = window[1],
                      .columns = window[2],
                      .threads = tensor::CurrentThreads()};
  kernels::PreparedKernel prepared =
      gemm::PrepareConvolution(request, *steps, form.outputs, PanelLayout(request.inputs[1].shape));
  auto kernel = std::make_shared<Bf16Convolution>(form, std::move(*steps));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

// Relative to direct convolution, or the f32 matrix multiplication of a pointwise one (Zen 5).
kernels::Cost Bf16ConvolutionCost(const kernels::KernelRequest& request) {
  constexpr double kPointwise = 0.5;
  const kernels::Window window = gemm::WindowOfConvolution(request);
  ConvolutionSizes sizes{.pixels = static_cast<double>(window[1].output * window[2].output),
                         .taps = static_cast<double>(window[1].size * window[2].size),
                         .inputs = static_cast<double>(request.inputs[1].shape[1]),
                         .outputs = static_cast<double>(request.inputs[1].shape[0])};
  sizes.is_pointwise = gemm::IsIdentityWindow(window[1]) && gemm::IsIdentityWindow(window[2]);
  double time = TimeOfBf16Gemm(sizes) / TimeInF32(sizes);
  if (sizes.is_pointwise && std::min(sizes.inputs, sizes.outputs) >= double{kBlockColumns})
    time *= kPointwise;
  // More than the cost of kernels with bf16 images.
  constexpr double kMoreThanBf16 = 0.26;
  return {request.has_f32_images ? time : std::max(time, kMoreThanBf16)};
}

}  // namespace nnefc::runtime::fast::conv

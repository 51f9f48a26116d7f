// Grouped int8 convolution.

#include "runtime/fast/int8/convolution/int8_grouped_convolution.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::int8 {

using simd::kBlockColumns;

namespace {

constexpr int64_t kLineBytes = 64;  // cache line in bytes

Int8ConvolutionShape FormOfRange(const Int8ConvolutionShape& form, const Int8Groups& groups) {
  Int8ConvolutionShape range = form;
  range.images = 1;
  range.channels = range.padded_channels = groups.range_inputs();
  range.outputs = groups.range_outputs();
  range.threads = 1;
  return range;
}

}  // namespace

bool Int8Groups::Suit() const {
  // No f32 kernel but im2col has groups of two or three channels, so that emptier tiles are faster, too.
  constexpr int64_t kMaxGroups = 2, kMaxNarrowGroups = 8;
  const bool is_narrow = inputs > 1 && inputs < simd::kQuad;
  if (is_narrow) return range_inputs() % simd::kQuad == 0 && groups_of_range() <= kMaxNarrowGroups;
  return inputs % simd::kQuad == 0 && groups_of_range() <= kMaxGroups;
}

bool Int8GroupConvolution::Suits(const Int8ConvolutionShape& form, const Int8Groups& groups) {
  return groups.Suit() && Dot4Gemm::Suits(FormOfRange(form, groups));
}

Int8GroupConvolution::Int8GroupConvolution(const Int8ConvolutionShape& form, Int8Epilogue results,
                                           const Int8Groups& groups)
    : form_(form),
      range_form_(FormOfRange(form, groups)),
      groups_(groups),
      grid_(Int8Grid::Of(
          range_form_,
          {.bytes = simd::L2Bytes(), .number_bytes = sizeof(uint8_t), .result_bytes = range_form_.outputs})),
      sums_(range_form_, grid_),
      results_(std::move(results)) {}

// The last range may have fewer groups.
int64_t Int8GroupConvolution::ranges() const {
  return tensor::CeilDivide(form_.outputs, groups_.range_outputs());
}
int64_t Int8GroupConvolution::WeightBytes() const {
  return tensor::RoundUp(range_tiles() * (sums_.WeightsOfTile() + kBlockColumns * int64_t{sizeof(int32_t)}),
                         kLineBytes);
}
int64_t Int8GroupConvolution::ImageBytes() const {
  return tensor::RoundUp(range_form_.in_size(), kLineBytes);
}
int64_t Int8GroupConvolution::NumberBytes() const {
  return grid_.ThreadValues(range_form_) * int64_t{sizeof(int16_t)};
}
int64_t Int8GroupConvolution::ThreadBytes() const {
  return WeightBytes() + ImageBytes() + NumberBytes() + tensor::RoundUp(sums_.scratch_bytes(), kLineBytes);
}
size_t Int8GroupConvolution::scratch_bytes() const {
  return static_cast<size_t>(results_.scratch_floats()) * sizeof(float) +
         static_cast<size_t>(form_.threads * ThreadBytes());
}

kernels::FaultOr<Success> Int8GroupConvolution::Run(const kernels::KernelRun& run) const {
  const tensor::ThreadScope scope(form_.threads);
  auto* columns = reinterpret_cast<float*>(run.scratch);
  auto* members = reinterpret_cast<std::byte*>(columns + results_.scratch_floats());
  const Call call = results_.CallOf(run, columns);
  tensor::RunTasks(form_.images * ranges(), form_.threads, [&](int64_t task, int member) {
    RunRange(call, task / ranges(), task % ranges(), members + member * ThreadBytes());
  });
  return Success();
}

void Int8GroupConvolution::RunRange(const Call& call, int64_t image, int64_t range, std::byte* own) const {
  const auto take = [&](int64_t bytes) { return std::exchange(own, own + bytes); };
  auto* codes = reinterpret_cast<int8_t*>(take(WeightBytes()));
  const Weights weights{codes, reinterpret_cast<int32_t*>(codes + range_tiles() * sums_.WeightsOfTile())};
  auto* seen = reinterpret_cast<uint8_t*>(take(ImageBytes()));
  auto* numbers = reinterpret_cast<int16_t*>(take(NumberBytes()));
  MergeWeights(call, range, weights);
  CopyImage(call, image, range, seen);
  const int64_t first_tile = range * range_tiles();
  const int64_t tiles =
      std::min(range_tiles(), tensor::CeilDivide(form_.outputs, kBlockColumns) - first_tile);
  for (int64_t index = 0; index < grid_.row_parts; ++index) {
    const simd::IndexRange rows = simd::IndexRange{0, form_.rows.output}.Part(grid_.row_parts, index);
    const Dot4Gemm::Part part{.rows = rows,
                              .tiles = {0, tiles},
                              .weights = weights.codes,
                              .less_weights = weights.less,
                              .scratch = own};
    const auto store = [&](int64_t tile, const simd::IndexRange& pixels, const int32_t* sums) {
      const int64_t first = rows.begin * form_.columns.output + pixels.begin;
      results_.Store(sums, {image, first, pixels.count(), first_tile + tile}, call);
    };
    if (sums_.SumQuantized(part, seen, form_.zero, store)) continue;
    WidenedPart<int16_t>(range_form_, rows, numbers).Fill(seen);
    sums_.SumNumbers(part, numbers, store);
  }
}

// The filter is [output][input][tap].
void Int8GroupConvolution::MergeWeights(const Call& call, int64_t range, const Weights& weights) const {
  const int64_t taps = form_.rows.size * form_.columns.size, inputs = groups_.inputs;
  std::fill_n(weights.codes, range_tiles() * sums_.WeightsOfTile(), int8_t{0});
  std::fill_n(weights.less, range_tiles() * kBlockColumns, 0);
  const int64_t first = range * groups_.range_outputs();
  const int64_t outputs = std::min(groups_.range_outputs(), form_.outputs - first);
  for (int64_t output = 0; output < outputs; ++output) {
    const int8_t* from = call.weights + (first + output) * inputs * taps;
    int8_t* to =
        weights.codes + output / kBlockColumns * sums_.WeightsOfTile() + output % kBlockColumns * simd::kQuad;
    const int64_t first_input = output / groups_.outputs * inputs;
    const int64_t of_tap = range_form_.channels * kBlockColumns;
    int32_t sum = 0;
    for (int64_t input = first_input; input < first_input + inputs; ++input, from += taps) {
      int8_t* place = to + input / simd::kQuad * simd::kQuadWeights + input % simd::kQuad;
      for (int64_t tap = 0; tap < taps; ++tap) {
        place[tap * of_tap] = from[tap];
        sum -= from[tap];
      }
    }
    weights.less[output] = sum;
  }
}

// Missing channels of the last range contain the zero point.
void Int8GroupConvolution::CopyImage(const Call& call, int64_t image, int64_t range, uint8_t* codes) const {
  const int64_t channels = range_form_.channels, first = range * channels;
  const int64_t own = std::min(channels, form_.channels - first);
  const uint8_t* from = call.in + image * form_.in_size() + first;
  if (own < channels) std::fill_n(codes, range_form_.in_size(), static_cast<uint8_t>(form_.zero));
  const int64_t pixels = form_.rows.input * form_.columns.input;
  for (int64_t pixel = 0; own == kBlockColumns && pixel < pixels; ++pixel)  // one vector per pixel
    std::memcpy(codes + pixel * kBlockColumns, from + pixel * form_.channels, kBlockColumns);
  for (int64_t pixel = 0; own != kBlockColumns && pixel < pixels; ++pixel)
    std::copy_n(from + pixel * form_.channels, own, codes + pixel * channels);
}

}  // namespace nnefc::runtime::fast::int8

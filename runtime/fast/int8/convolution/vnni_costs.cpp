// Comparisons of our int8 kernels with those of oneDNN with VNNI.

#include "runtime/fast/int8/convolution/vnni_costs.h"

#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/int8/convolution/int8_convolution.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using kernels::KernelRequest;

namespace {

// oneDNN pads the channels of each pixel to a group of four inputs. Our kernel joins the pixels of a filter
// row instead: returns whether this needs at most 7/8 as many groups. Measured on Zen 5.
bool HasFewerGroups(llvm::ArrayRef<int64_t> filter) {
  constexpr int64_t kGroups = 7, kOfTaps = 8;
  return filter[1] < simd::kQuad &&
         kOfTaps * tensor::CeilDivide(filter.back() * filter[1], simd::kQuad) <= kGroups * filter.back();
}

// Returns whether the requantization of a step is folded into the scales of its accumulators.
bool IsFolded(const KernelRequest& given, int64_t channel_axis) {
  return Int8Step(given, channel_axis).folded.has_value();
}

// Returns whether weights dominate and come from a remote cache, or oneDNN's tiles have few outputs: measured
// on Emerald Rapids and Zen 5.
bool IsFasterForFewPixels(const KernelRequest& given) {
  const llvm::ArrayRef<int64_t> filter = given.inputs[1].shape, output = given.outputs[0].shape;
  constexpr int64_t kFewPixels = 64, kSomePixels = 256, kManyPixels = 1024;
  constexpr int64_t kFewChannels = 128, kSomeChannels = 192, kManyChannels = 512, kFewOutputs = 64;
  const int64_t pixels = output[0] * *Volume(output.drop_front(2)), channels = filter[1];
  const bool sees_pixel = *Volume(filter.drop_front(2)) == 1;
  if (simd::SimdWidth() != simd::kSimdWidth512 || (channels % simd::kQuad != 0 && !sees_pixel)) return false;
  const bool is_worth =
      sees_pixel
          ? pixels <= kFewPixels || (pixels <= kSomePixels && channels >= kSomeChannels) ||
                (pixels <= kManyPixels && channels >= kManyChannels)
          : pixels <= (filter[0] <= kFewOutputs ? kManyPixels : kFewPixels) && channels >= kFewChannels;
  return is_worth && IsFolded(given, 1);
}

// Filters are packed in each run, and partial blocks of outputs are not requantized in registers.
bool IsFasterForFewChannels(const KernelRequest& given) {
  const llvm::ArrayRef<int64_t> filter = given.inputs[1].shape;
  constexpr int64_t kMaxWeights = 1 << 17;
  return simd::SimdWidth() == simd::kSimdWidth512 && HasFewerGroups(filter) &&
         filter[0] % simd::kBlockColumns == 0 && *Volume(filter) <= kMaxWeights && IsFolded(given, 1);
}

// Returns whether results are f32, which ours are in nChw16c like those of other f32 kernels, or quantized
// after operations that are not part of the scales.
bool IsFasterForUnfoldedResults(const KernelRequest& given) {
  const Int8Step step(given, 1);
  return IsFasterInOwnEpilogue(given.inputs[1].shape) && !step.folded && !step.coded.sum;
}

}  // namespace

bool IsFasterThanOneDnn(const KernelRequest& given) {
  return IsFasterForFewPixels(given) || IsFasterForFewChannels(given) || IsFasterForUnfoldedResults(given);
}

bool IsFasterThanOneDnn(const KernelRequest& given, const gemm::InnerProduct& shape) {
  // oneDNN is as fast for f32 results without other operations.
  constexpr int64_t kMaxRowsOfSums = 64;
  return IsFasterInOwnEpilogueOf(shape.rows) && (!given.posts.empty() || shape.rows <= kMaxRowsOfSums);
}

bool IsFasterInOwnEpilogueOf(int64_t rows) {
  constexpr int64_t kMaxRows = 1024;
  return simd::SimdWidth() == simd::kSimdWidth512 && rows <= kMaxRows;
}

// Our kernel converts the pixels, which takes most of the time if each of them is multiplied by few taps:
// those of strides, and the first and last ones of short rows. Measured on Zen 5. oneDNN has no fast kernels
// with results that are not folded.
bool IsFasterDepthwise(const KernelRequest& given) {
  constexpr int64_t kFewTaps = 3, kMinColumns = 14;
  const kernels::Window window = gemm::WindowOfConvolution(given);
  const kernels::WindowAxis& columns = window[2].size > 1 ? window[2] : window[1];
  if (simd::SimdWidth() != simd::kSimdWidth512 || columns.size > kFewTaps || !IsFolded(given, 1)) return true;
  return columns.stride == 1 && columns.output >= kMinColumns;
}

// oneDNN reads and writes the results once for each operation. Measured on Sapphire Rapids and Zen 5, for
// sums of few products, and more of them in windows of one pixel.
bool IsFasterInOwnEpilogue(llvm::ArrayRef<int64_t> filter) {
  constexpr int64_t kFewProducts = 256, kMaxChannels = 1024;
  const int64_t channels = filter[1], products = Volume(filter.drop_front(1)).value_or(kMaxChannels + 1);
  const bool sees_pixel = products == channels;
  return HasVnni() && simd::SimdWidth() == simd::kSimdWidth512 &&
         (channels % simd::kQuad == 0 || sees_pixel || HasFewerGroups(filter)) &&
         products <= (sees_pixel ? kMaxChannels : kFewProducts);
}

// oneDNN's kernels of depthwise convolutions have no FakeQuantize with f32 results.
bool IsFasterInOwnGroupEpilogue(llvm::ArrayRef<int64_t> filter) {
  return HasVnni() && filter[1] == 1 && filter[2] == 1;
}

}  // namespace nnefc::runtime::fast::int8

// Estimates of the times of convolutions with bf16 multiplication. The numbers fit the profiles of trained
// networks on Zen 5, one core.

#include "runtime/fast/conv/image_times.h"

#include <algorithm>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::conv {

namespace {

using Extents = llvm::ArrayRef<int64_t>;

double PaddedChannels(double channels) {
  return std::ceil(channels / double{simd::kBlockColumns}) * double{simd::kBlockColumns};
}

double VolumeOf(Extents extents) {
  return static_cast<double>(Volume(extents).value_or(0));
}

bool AreAll(Extents extents, int64_t number) {
  return llvm::all_of(extents, [&](int64_t extent) { return extent == number; });
}

ConvolutionSizes ConvolutionSizesOf(const ir::Node& node, Extents filter, Extents result) {
  const bool is_grouped = node.Is(ir::Contraction::kGroupConvolution);
  const Extents taps = filter.drop_front(is_grouped ? 3 : 2);
  ConvolutionSizes sizes{.pixels = VolumeOf(result) / static_cast<double>(std::max<int64_t>(1, result[1])),
                         .taps = VolumeOf(taps),
                         .inputs = static_cast<double>(filter[is_grouped ? 2 : 1]),
                         .outputs = static_cast<double>(result[1])};
  const bool is_plain = AreAll(node.Ints("strides"), 1) && AreAll(node.Ints("dilations"), 1);
  sizes.is_depthwise = is_grouped && filter[1] == 1 && filter[2] == 1;
  sizes.is_pointwise = !is_grouped && AreAll(taps, 1) && is_plain;
  sizes.has_winograd = !is_grouped && is_plain && taps == Extents({3, 3}) &&
                       filter[1] >= simd::kBlockColumns && filter[0] >= simd::kBlockColumns;
  return sizes;
}

double ComputationTime(const ir::Node& node, Extents filter, Extents result, bool in_f32) {
  const ConvolutionSizes sizes = ConvolutionSizesOf(node, filter, result);
  const double products = sizes.pixels * sizes.taps * sizes.inputs, elements = sizes.pixels * sizes.outputs;
  if (sizes.is_depthwise) {
    constexpr double kF32 = 91, kF32Element = 0.095, kBf16 = 73, kBf16Element = 0.07;
    const double padded = sizes.pixels * PaddedChannels(sizes.outputs);
    return in_f32 ? padded * (sizes.taps / kF32 + kF32Element) : padded * (sizes.taps / kBf16 + kBf16Element);
  }
  if (in_f32) {
    // The transforms of image and result are shared by the outputs and inputs.
    constexpr double kWinograd = 400, kTransform = 0.033, kWinogradElement = 0.1;
    const double time = std::min(TimeInF32(sizes), TimeOfBf16Gemm(sizes));
    if (!sizes.has_winograd) return time;
    const double transforms = kTransform * (1 / sizes.outputs + 1 / sizes.inputs);
    return std::min(time,
                    products * sizes.outputs * (1 / kWinograd + transforms) + elements * kWinogradElement);
  }
  constexpr double kMatrix = 212, kMatrixElement = 0.055, kWindow = 235, kWindowElement = 0.13;
  // Two channels are multiplied at once, and vectors have 16 outputs.
  const double padded = products * PaddedChannels(sizes.outputs);
  return sizes.is_pointwise ? padded / kMatrix + elements * kMatrixElement
                            : padded / kWindow + elements * kWindowElement;
}

// Larger results do not stay in the cache.
double ProductTime(const ir::Node& node, Extents, Extents filter, Extents result, bool in_f32) {
  constexpr double kCacheElements = 524'288, kF32 = 0.12, kBf16 = 0.05;
  const double elements = VolumeOf(result), time = ComputationTime(node, filter, result, in_f32);
  return elements < kCacheElements ? time : time + elements * (in_f32 ? kF32 : kBf16);
}

}  // namespace

double TimeInF32(const ConvolutionSizes& sizes) {
  constexpr double kProducts = 115, kElement = 0.09;
  const double outputs = PaddedChannels(sizes.outputs), terms = sizes.taps * sizes.inputs;
  const double time = sizes.pixels * outputs * (terms / kProducts + kElement);
  // With few outputs, vectors have pixels, and the result is row-major.
  constexpr double kFewOutputs = 4, kProductsOfFew = 25, kElementOfFew = 0.3;
  if (sizes.outputs > kFewOutputs) return time;
  return std::min(time, sizes.pixels * sizes.outputs * (terms / kProductsOfFew + kElementOfFew));
}

double TimeOfBf16Gemm(const ConvolutionSizes& sizes) {
  // With one panel of outputs, sums wait for each other.
  constexpr double kProducts = 230, kTwoPanels = 200, kOnePanel = 110;
  constexpr double kTerm = 0.06, kTermOfWindow = 0.08, kElement = 0.12;
  const double outputs = PaddedChannels(sizes.outputs), terms = sizes.taps * PaddedChannels(sizes.inputs);
  const double panels = outputs / double{simd::kBlockColumns};
  const double products = panels < 2 ? kOnePanel : panels < 3 ? kTwoPanels : kProducts;
  return sizes.pixels * (terms * outputs / products + terms * (sizes.is_pointwise ? kTerm : kTermOfWindow) +
                         outputs * kElement);
}

const ir::ImageTimes* ImageTimesOfProcessor() {
  static constexpr ir::ImageTimes kTimes{.product = ProductTime,
                                         .slope = {.in_f32 = 0, .in_bf16 = 0.4},
                                         .function = {.in_f32 = 0.09, .in_bf16 = 0.09},
                                         .pool = {.in_f32 = 0.35, .in_bf16 = 0.25},
                                         .concat = {.in_f32 = 0.18, .in_bf16 = 0.21},
                                         .convert = 0.25};
  return HasBf16() && !HasAmx() ? &kTimes : nullptr;
}

}  // namespace nnefc::runtime::fast::conv

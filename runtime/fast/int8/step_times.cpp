// Estimates of the times of f32 and 8-bit steps. The numbers fit the profiles of trained networks on family
// 6, model 207, one core; those of conversions on Zen 5.

#include "runtime/fast/int8/step_times.h"

#include <algorithm>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/conv/image_times.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::int8 {

namespace {

using Extents = llvm::ArrayRef<int64_t>;

// A step takes products / `products` + elements of the result * `element` nanoseconds.
struct Speed {
  double products;
  double element;
};
struct Speeds {
  Speed matrix, window, winograd, depthwise;
  Speed few_outputs;  // less than a block of channels
  Speed transposed, transposed_few_outputs;
};
struct ProcessorSpeeds {
  Speeds in_f32, in_int8;
};

constexpr ProcessorSpeeds kAvx512 = {.in_f32 = {.matrix = {72, 0.15},
                                                .window = {72, 0.2},
                                                .winograd = {220, 0.3},
                                                .depthwise = {43, 0.2},
                                                .few_outputs = {72, 0.8},
                                                .transposed = {85, 0.2},
                                                .transposed_few_outputs = {72, 1.5}},
                                     .in_int8 = {.matrix = {450, 0.12},
                                                 .window = {450, 0.35},
                                                 .winograd = {450, 0.35},
                                                 .depthwise = {250, 0.1},
                                                 .few_outputs = {450, 0.35},
                                                 .transposed = {300, 0.05},
                                                 .transposed_few_outputs = {300, 1.35}}};
// With 256-bit vectors, not measured: half of the f32 products; 8-bit products without VNNI are hardly faster
// than those.
constexpr ProcessorSpeeds kAvx2 = {.in_f32 = {.matrix = {36, 0.2},
                                              .window = {36, 0.2},
                                              .winograd = {90, 0.3},
                                              .depthwise = {30, 0.2},
                                              .few_outputs = {36, 0.8},
                                              .transposed = {36, 0.2},
                                              .transposed_few_outputs = {36, 1.5}},
                                   .in_int8 = {.matrix = {60, 0.35},
                                               .window = {60, 0.35},
                                               .winograd = {100, 0.35},
                                               .depthwise = {20, 0.15},
                                               .few_outputs = {60, 0.35},
                                               .transposed = {120, 0.1},
                                               .transposed_few_outputs = {120, 2}}};

constexpr ProcessorSpeeds WithInt8Depthwise(ProcessorSpeeds speeds, Speed depthwise) {
  speeds.in_int8.depthwise = depthwise;
  return speeds;
}
constexpr ProcessorSpeeds kAvx2Vnni = WithInt8Depthwise(kAvx2, {120, 0.2});

const ProcessorSpeeds& ProductCost() {
  if (!HasVnni()) return kAvx2;
  return simd::SimdWidth() == simd::kSimdWidth512 ? kAvx512 : kAvx2Vnni;
}

bool AreOnes(const std::vector<int64_t>& numbers) {
  return llvm::all_of(numbers, [](int64_t number) { return number == 1; });
}

double PixelsOf(Extents images) {
  return static_cast<double>(Volume(images.drop_front(2)).value_or(0));
}

// Returns the products per element of the result, and the kind of kernel that computes them.
std::pair<double, Speed Speeds::*> ProductsOf(const ir::Node& node, Extents data, Extents filter,
                                              Extents result) {
  if (node.Is(ir::Contraction::kMatMul)) return {static_cast<double>(data.back()), &Speeds::matrix};
  if (node.Is(ir::Contraction::kConvolutionBackpropData)) {
    // Each pixel of the data is multiplied by each tap.
    const double products = static_cast<double>(filter[0]) *
                            static_cast<double>(*Volume(filter.drop_front(2))) * PixelsOf(data) /
                            std::max(1.0, PixelsOf(result));
    return {products,
            filter[1] < simd::kBlockColumns ? &Speeds::transposed_few_outputs : &Speeds::transposed};
  }
  const bool is_grouped = node.Is(ir::Contraction::kGroupConvolution);
  const Extents taps = filter.drop_front(is_grouped ? 3 : 2);
  const int64_t channels = filter[is_grouped ? 2 : 1], outputs = filter[is_grouped ? 1 : 0];
  const double products = static_cast<double>(channels) * static_cast<double>(*Volume(taps));
  if (is_grouped && channels == 1 && outputs == 1) return {products, &Speeds::depthwise};
  if (outputs < simd::kBlockColumns && !is_grouped) return {products, &Speeds::few_outputs};
  if (AreOnes(taps.vec()) && !is_grouped) return {products, &Speeds::matrix};
  const bool has_winograd = taps == Extents({3, 3}) && AreOnes(node.Ints("strides")) &&
                            AreOnes(node.Ints("dilations")) && channels >= simd::kBlockColumns &&
                            outputs >= simd::kBlockColumns;
  return {products, has_winograd ? &Speeds::winograd : &Speeds::window};
}

double TimeOf(const ir::Node& node, Extents data, Extents filter, Extents result, bool is_quantized) {
  const auto [products, kind] = ProductsOf(node, data, filter, result);
  const ProcessorSpeeds& speeds = ProductCost();
  const Speed& speed = (is_quantized ? speeds.in_int8 : speeds.in_f32).*kind;
  return static_cast<double>(Volume(result).value_or(0)) * (products / speed.products + speed.element);
}

// Of two tensors. The 8-bit kernel packs the right one.
double TensorTimeOf(const ir::Node& node, Extents left, Extents right, Extents result, bool is_quantized) {
  constexpr Speed kF32 = {115, 0.15}, kInt8 = {350, 0.3};
  constexpr double kPack = 0.15, kStep = 1000;  // per element, and per step
  const auto terms = static_cast<double>(left.take_back(2)[node.Bool("transpose_a") ? 0 : 1]);
  const auto volume = [](Extents shape) { return static_cast<double>(Volume(shape).value_or(0)); };
  const Speed& speed = is_quantized ? kInt8 : kF32;
  const double time = volume(result) * (terms / speed.products + speed.element);
  return is_quantized ? time + volume(right) * kPack + kStep : time;
}

ir::StepTimes TimesOf(bool has_vnni) {
  constexpr double kAddImage = 0.5;  // with oneDNN's kernels for VNNI, measured on Zen 5
  return {.product = TimeOf,
          .tensor_product = has_vnni ? TensorTimeOf : nullptr,
          .quantize = 0.15,
          .dequantize = 0.15,
          .round_in_epilogue = 0.1,
          .round = 0.35,
          .lookup = 2,
          .images = conv::ImageTimesOfProcessor(),
          .widen = 0.05,
          .add_image = has_vnni ? std::optional(kAddImage) : std::nullopt};
}

}  // namespace

const ir::StepTimes* StepTimesOfProcessor() {
  static const ir::StepTimes kTimes = TimesOf(false), kTimesOfVnni = TimesOf(true);
  return HasVnni() ? &kTimesOfVnni : &kTimes;
}

}  // namespace nnefc::runtime::fast::int8

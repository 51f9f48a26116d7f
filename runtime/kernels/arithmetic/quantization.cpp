// FakeQuantize: rounds to the nearest of `levels` equidistant values. NNEF's linear quantization likewise.
// FakeConvert: rounds to the nearest 8-bit float.

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/kernels/arithmetic/broadcast.h"
#include "runtime/kernels/arithmetic/rounding.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/strided_loop.h"
#include "runtime/tensor/wide.h"

namespace nnefc::runtime::kernels {

namespace {

// x <= min(il, ih) -> ol;  x > max(il, ih) -> oh;  otherwise
// round((x - il) / (ih - il) * (levels - 1)) / (levels - 1) * (oh - ol) + ol,
// with ties to even.
template <typename C>
struct Quantizer {
  C il, ih, ol, oh, steps;

  C Inside(C x) const { return std::nearbyint((x - il) / (ih - il) * steps) / steps * (oh - ol) + ol; }
  C Limited(C x, C inside) const {
    const C most = x > std::max(il, ih) ? oh : inside;
    return x <= std::min(il, ih) ? ol : most;
  }
};

// Quantizes a row with common limits. Two loops, because compilers do not vectorise conditional arithmetic.
template <typename T, typename C>
void QuantizeRow(const Quantizer<C> quantizer, const T* x, T* out, int64_t length) {
  constexpr int64_t kPart = 256;
  std::array<C, kPart> inside;
  for (int64_t first = 0; first < length; first += kPart) {
    const int64_t count = std::min(kPart, length - first);
    for (int64_t i = 0; i < count; ++i)
      inside[static_cast<size_t>(i)] = quantizer.Inside(static_cast<C>(x[first + i]));
    for (int64_t i = 0; i < count; ++i)
      out[first + i] = T(quantizer.Limited(static_cast<C>(x[first + i]), inside[static_cast<size_t>(i)]));
  }
}

template <typename T>
void FakeQuantizeAs(const ReferenceRun& run) {
  using C = ComputeType<T>;
  const tensor::MutableTensorView& output = run.output();
  std::array<tensor::Strides, 5> strides;
  for (size_t i = 0; i < 5; ++i) {
    strides[i] =
        BroadcastStrides(run.input(i), output.shape(), BroadcastAxis(run.node, run.input(i), output.rank()));
  }
  const C steps = static_cast<C>(run.node.Int("levels") - 1);
  tensor::StridedLoop<6> loop(output.shape(),
                              {output.strides(), strides[0], strides[1], strides[2], strides[3], strides[4]});
  const std::array<int64_t, 6> step = loop.row_strides();
  loop.Run([&](const std::array<int64_t, 6>& offsets, int64_t length) {
    T* out = output.mutable_data<T>() + offsets[0];
    const auto at = [&](size_t input, int64_t i) {
      return static_cast<C>(run.input(input).data<T>()[offsets[input + 1] + i * step[input + 1]]);
    };
    const auto quantizer = [&](int64_t i) {
      return Quantizer<C>{.il = at(1, i), .ih = at(2, i), .ol = at(3, i), .oh = at(4, i), .steps = steps};
    };
    if (step == std::array<int64_t, 6>{1, 1, 0, 0, 0, 0}) {
      const T* x = run.input(0).data<T>() + offsets[1];
      const Quantizer<C> common = quantizer(0);
      tensor::Wide([=] { QuantizeRow(common, x, out, length); });
      return;
    }
    for (int64_t i = 0; i < length; ++i) {
      const C x = at(0, i);
      out[i * step[0]] = T(quantizer(i).Limited(x, quantizer(i).Inside(x)));
    }
  });
}

FaultOr<Success> FakeQuantize(const ReferenceRun& run) {
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { FakeQuantizeAs<T>(run); })) {
    return UnsupportedType(run);
  }
  return Success();
}

// An 8-bit float format: mantissa bits, the exponent of the smallest normal number, and the largest number.
struct Float8 {
  int fraction_bits;
  int lowest_exponent;
  float largest;

  // Rounds to the nearest number of the format with ties to even, after rounding to f16.
  float Nearest(float x) const {
    if (std::isnan(x)) return x;
    const float half = Half(std::clamp(x, -largest, largest));
    if (half == 0) return half;
    const int step = std::max(std::ilogb(half), lowest_exponent) - fraction_bits;
    return std::ldexp(std::nearbyint(std::ldexp(half, -step)), step);
  }
};

// y = (f8(x * scale - shift) + shift) / scale.
template <typename T>
void FakeConvertAs(const ReferenceRun& run, const Float8& format) {
  using C = ComputeType<T>;
  const tensor::MutableTensorView& output = run.output();
  const bool has_shift = run.num_inputs() > 2;
  const tensor::Strides scale = BroadcastStrides(run.input(1), output.shape());
  const tensor::Strides shift = has_shift ? BroadcastStrides(run.input(2), output.shape()) : scale;
  tensor::StridedLoop<3> loop(output.shape(), {output.strides(), scale, shift});
  const std::array<int64_t, 3> step = loop.row_strides();
  loop.Run([&](const std::array<int64_t, 3>& offsets, int64_t length) {
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = offsets[0] + i * step[0];
      const C x = static_cast<C>(run.input(0).data<T>()[at]);
      const C s = static_cast<C>(run.input(1).data<T>()[offsets[1] + i * step[1]]);
      const C o = has_shift ? static_cast<C>(run.input(2).data<T>()[offsets[2] + i * step[2]]) : C(0);
      const C narrow = static_cast<C>(format.Nearest(static_cast<float>(x * s - o)));
      output.mutable_data<T>()[at] = T((has_shift ? narrow + o : narrow) / s);
    }
  });
}

FaultOr<Success> FakeConvert(const ReferenceRun& run) {
  static constexpr Float8 kE4M3{3, -6, 448}, kE5M2{2, -14, 57344};
  const Float8& format = run.node.String("destination_type") == "f8e5m2" ? kE5M2 : kE4M3;
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { FakeConvertAs<T>(run, format); }))
    return UnsupportedType(run);
  return Success();
}

// out = second(first(x)) for each element of the first input, in two loops as above.
template <typename First, typename Second>
void QuantizeEach(const ReferenceRun& run, const First& first, const Second& second) {
  constexpr int64_t kPart = 256;
  const float* x = run.input(0).data<float>();
  float* out = run.output().mutable_data<float>();
  const int64_t volume = run.output().volume();
  tensor::Wide([=] {
    std::array<float, kPart> part;
    for (int64_t begin = 0; begin < volume; begin += kPart) {
      const auto count = static_cast<size_t>(std::min(kPart, volume - begin));
      for (size_t i = 0; i < count; ++i) part[i] = first(x[begin + static_cast<int64_t>(i)]);
      for (size_t i = 0; i < count; ++i) out[begin + static_cast<int64_t>(i)] = second(part[i]);
    }
  });
}

bool TakesNumbers(const ReferenceRun& run, ElementType second) {
  return run.input(0).type() == ElementType::kF32 && run.input(1).type() == second &&
         run.input(2).type() == ElementType::kF32 && run.input(1).volume() == 1 && run.input(2).volume() == 1;
}

// `z = clamp(x, min, max); y = round((z - min) / (max - min) * r) / r * (max - min) + min` (R 4.9.5). The
// offset of quantized values cancels.
FaultOr<Success> MinMaxLinearQuantize(const ReferenceRun& run) {
  if (!TakesNumbers(run, ElementType::kF32)) return UnsupportedType(run);
  const float low = *run.input(1).data<float>();
  const float high = *run.input(2).data<float>();
  const float range = high - low;
  const bool drops_lowest = run.node.Bool("signed") && run.node.Bool("symmetric");
  const auto steps = static_cast<float>((int64_t{1} << run.node.Int("bits")) - 1 - (drops_lowest ? 1 : 0));
  QuantizeEach(
      run,
      [=](float x) {
        const float least = x < high ? x : high;
        return least > low ? least : low;
      },
      [=](float z) { return RoundedHalfUp((z - low) / range * steps) / steps * range + low; });
  return Success();
}

// `q = clamp(round(x / scale) + z, lowest, highest); y = (q - z) * scale` (R 4.9.5).
FaultOr<Success> ZeroPointLinearQuantize(const ReferenceRun& run) {
  if (!TakesNumbers(run, ElementType::kI64)) return UnsupportedType(run);
  const auto zero = static_cast<float>(*run.input(1).data<int64_t>());
  const float scale = *run.input(2).data<float>();
  const bool is_signed = run.node.Bool("signed");
  const auto highest = static_cast<float>((int64_t{1} << (run.node.Int("bits") - (is_signed ? 1 : 0))) - 1);
  const float lowest = !is_signed ? 0.0f : run.node.Bool("symmetric") ? -highest : -highest - 1;
  QuantizeEach(
      run, [=](float x) { return RoundedHalfUp(x / scale) + zero; },
      [=](float s) {
        const float least = s < highest ? s : highest;
        return ((least > lowest ? least : lowest) - zero) * scale;
      });
  return Success();
}

}  // namespace

void RegisterQuantization(KernelRegistry& registry) {
  registry.AddReference({"nnef"}, "min_max_linear_quantize", MinMaxLinearQuantize);
  registry.AddReference({"nnef"}, "zero_point_linear_quantize", ZeroPointLinearQuantize);
  registry.AddReference({"opset1"}, "FakeQuantize", FakeQuantize);
  registry.AddReference({"opset13"}, "FakeConvert", FakeConvert);
}

}  // namespace nnefc::runtime::kernels

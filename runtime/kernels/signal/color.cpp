// NV12 and I420 to RGB and BGR: luma per pixel, and two chroma values per 2 x 2 block.

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels::signal {

namespace {

// Converts to RGB according to ITU-R BT.601. Integers are rounded with ties to even.
template <typename T>
std::array<T, 3> ToRgb(float y, float u, float v) {
  const float c = 1.164F * (y - 16), d = u - 128, e = v - 128;
  const auto store = [](float x) {
    if constexpr (!kIsFloating<T>) x = std::nearbyint(x);
    return T(std::clamp(x, 0.0F, 255.0F));
  };
  return {store(c + 1.596F * e), store(c - 0.391F * d - 0.813F * e), store(c + 2.018F * d)};
}

// The planes of an image: chroma after luma in one input, or in separate inputs.
template <typename T>
struct Planes {
  const T *y, *u, *v;
  int64_t color_stride;  // elements from one chroma value of a row to the next
};

template <typename T>
Planes<T> PlanesOf(const ReferenceRun& run, int64_t picture, int64_t pixels, bool is_interleaved) {
  const int64_t colors = pixels / 4;
  if (run.num_inputs() == 1) {
    const T* y = run.input(0).data<T>() + picture * (pixels + 2 * colors);
    const T* u = y + pixels;
    return is_interleaved ? Planes<T>{y, u, u + 1, 2} : Planes<T>{y, u, u + colors, 1};
  }
  const T* y = run.input(0).data<T>() + picture * pixels;
  if (!is_interleaved)
    return {y, run.input(1).data<T>() + picture * colors, run.input(2).data<T>() + picture * colors, 1};
  const T* u = run.input(1).data<T>() + picture * 2 * colors;
  return {y, u, u + 1, 2};
}

template <bool kIsInterleaved, bool kIsRgb>
FaultOr<Success> Color(const ReferenceRun& run) {
  const tensor::MutableTensorView& output = run.output();
  const int64_t height = output.extent(1), width = output.extent(2);
  const auto convert = [&]<typename T>(TypeTag<T>) {
    tensor::ParallelFor(output.extent(0) * height, 8 * width, [&](int64_t row) {
      const int64_t h = row % height;
      const Planes<T> planes = PlanesOf<T>(run, row / height, height * width, kIsInterleaved);
      T* out = output.mutable_data<T>() + row * width * 3;
      for (int64_t w = 0; w < width; ++w) {
        const int64_t color = (h / 2 * (width / 2) + w / 2) * planes.color_stride;
        std::array<T, 3> pixel =
            ToRgb<T>(static_cast<float>(planes.y[h * width + w]), static_cast<float>(planes.u[color]),
                     static_cast<float>(planes.v[color]));
        if constexpr (!kIsRgb) std::swap(pixel[0], pixel[2]);
        std::copy(pixel.begin(), pixel.end(), out + 3 * w);
      }
    });
  };
  if (output.type() == ElementType::kU8) {
    convert(TypeTag<uint8_t>());
  } else if (!VisitFloatType(output.type(), convert)) {
    return UnsupportedType(run);
  }
  return Success();
}

}  // namespace

void RegisterColor(KernelRegistry& registry) {
  registry.AddReference({"opset8"}, "NV12toRGB", Color<true, true>);
  registry.AddReference({"opset8"}, "NV12toBGR", Color<true, false>);
  registry.AddReference({"opset8"}, "I420toRGB", Color<false, true>);
  registry.AddReference({"opset8"}, "I420toBGR", Color<false, false>);
}

}  // namespace nnefc::runtime::kernels::signal

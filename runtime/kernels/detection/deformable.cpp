// DeformableConvolution: each filter element reads the data at a position shifted by the offsets, with
// bilinear interpolation.

#include <algorithm>
#include <cmath>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/windows/window.h"

namespace nnefc::runtime::kernels::detection {

namespace {

// A plane of the data with bilinear interpolation.
template <typename T>
struct Plane {
  const T* data;
  int64_t height, width;
  bool is_padded;  // elements outside are zeros; otherwise border elements are repeated

  bool Covers(float y, float x) const {
    if (is_padded) return y > -1 && x > -1 && y < static_cast<float>(height) && x < static_cast<float>(width);
    return y >= 0 && x >= 0 && y < static_cast<float>(height) && x < static_cast<float>(width);
  }

  float At(int64_t y, int64_t x) const {
    if (y < 0 || x < 0 || y >= height || x >= width) return 0;
    return static_cast<float>(static_cast<ComputeType<T>>(data[y * width + x]));
  }

  float Interpolate(float y, float x) const {
    const auto top = static_cast<int64_t>(std::floor(y)), left = static_cast<int64_t>(std::floor(x));
    int64_t bottom = top + 1, right = left + 1;
    if (!is_padded) {
      bottom = std::min(static_cast<int64_t>(std::ceil(y)), height - 1);
      right = std::min(static_cast<int64_t>(std::ceil(x)), width - 1);
    }
    const float down = y - static_cast<float>(top), across = x - static_cast<float>(left);
    return (1 - down) * ((1 - across) * At(top, left) + across * At(top, right)) +
           down * ((1 - across) * At(bottom, left) + across * At(bottom, right));
  }
};

template <typename T>
void DeformableConvolutionAs(const ReferenceRun& run, const WindowAxis& rows, const WindowAxis& across) {
  const tensor::TensorView &data = run.input(0), &offsets = run.input(1), &filters = run.input(2);
  const tensor::MutableTensorView& output = run.output();
  const int64_t groups = run.node.Int("group"), deformable = run.node.Int("deformable_group");
  const bool is_padded = run.node.Bool("bilinear_interpolation_pad");
  const T* mask = run.num_inputs() > 3 ? run.input(3).data<T>() : nullptr;
  const int64_t channels = data.extent(1), height = data.extent(2), width = data.extent(3);
  const int64_t outputs = output.extent(1), pixels = output.extent(2) * output.extent(3);
  const int64_t inputs = filters.extent(1), columns = filters.extent(3), kernel = filters.extent(2) * columns;
  const auto number = [](const T* from, int64_t at) {
    return static_cast<float>(static_cast<ComputeType<T>>(from[at]));
  };
  tensor::ParallelFor(output.extent(0) * outputs, pixels * inputs * kernel * 8, [&](int64_t task) {
    const int64_t batch = task / outputs, channel = task % outputs;
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      const int64_t row = pixel / output.extent(3) * rows.stride - rows.before;
      const int64_t column = pixel % output.extent(3) * across.stride - across.before;
      double sum = 0;
      for (int64_t c = 0; c < inputs; ++c) {
        const int64_t from = channel / (outputs / groups) * inputs + c;
        const int64_t moved = from / (channels / deformable);
        const Plane<T> plane{data.data<T>() + (batch * channels + from) * height * width, height, width,
                             is_padded};
        for (int64_t k = 0; k < kernel; ++k) {
          // Offsets of each filter element: along the height, then along the width.
          const int64_t place = (batch * deformable + moved) * kernel + k;
          const float y = static_cast<float>(row + k / columns * rows.dilation) +
                          number(offsets.data<T>(), 2 * place * pixels + pixel);
          const float x = static_cast<float>(column + k % columns * across.dilation) +
                          number(offsets.data<T>(), (2 * place + 1) * pixels + pixel);
          if (!plane.Covers(y, x)) continue;
          const float weight = number(filters.data<T>(), (channel * inputs + c) * kernel + k);
          const float scale = mask == nullptr ? 1.0F : number(mask, place * pixels + pixel);
          sum += static_cast<double>(plane.Interpolate(y, x)) * weight * scale;
        }
      }
      output.mutable_data<T>()[task * pixels + pixel] = T(static_cast<ComputeType<T>>(sum));
    }
  });
}

FaultOr<Success> DeformableConvolution(const ReferenceRun& run) {
  const auto spatial = [](const tensor::TensorView& view) {
    return llvm::ArrayRef<int64_t>(view.shape()).drop_front(2);
  };
  const Window window =
      MakeWindow(run.node, spatial(run.input(0)), spatial(run.output()), spatial(run.input(2)));
  if (!VisitFloatType(run.input(0).type(),
                      [&]<typename T>(TypeTag<T>) { DeformableConvolutionAs<T>(run, window[1], window[2]); }))
    return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterDeformable(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset8"}, "DeformableConvolution", DeformableConvolution);
}

}  // namespace nnefc::runtime::kernels::detection

// Convolution, GroupConvolution and their transposes, with one to three spatial axes, in f32, f64, 16-bit
// floats (f32 sums) and integers (modulo 2^64).

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/windows/transposed_window.h"

namespace nnefc::runtime::kernels {

using tensor::TensorView;

namespace {

// The extents of [batch, channels, spatial...], with three spatial axes.
struct Image {
  int64_t batch, channels;
  std::array<int64_t, 3> extents;

  int64_t plane() const { return extents[0] * extents[1] * extents[2]; }
};

struct ConvolutionShape {
  Image input, output;
  int64_t groups = 1;
  Window window;

  int64_t group_inputs() const { return input.channels / groups; }
  int64_t group_outputs() const { return output.channels / groups; }
  int64_t taps() const { return window[0].size * window[1].size * window[2].size; }
};

Image MakeImage(const TensorView& view) {
  Image image{view.extent(0), view.extent(1), {1, 1, 1}};
  const size_t rank = static_cast<size_t>(view.rank()) - 2;
  for (size_t i = 0; i < rank; ++i) image.extents[3 - rank + i] = view.extent(static_cast<int64_t>(2 + i));
  return image;
}

// The filter is [(groups,) channels, channels, spatial...].
ConvolutionShape MakeShape(const ReferenceRun& run, bool grouped, bool transposed) {
  const TensorView& filter = run.input(1);
  ConvolutionShape shape{MakeImage(run.input(0)), MakeImage(run.output()), 1, {}};
  if (grouped) shape.groups = filter.extent(0);
  const auto spatial = [](const TensorView& view, size_t skip) {
    return llvm::ArrayRef<int64_t>(view.shape()).drop_front(skip);
  };
  const TensorView& wide = transposed ? static_cast<const TensorView&>(run.output()) : run.input(0);
  const TensorView& narrow = transposed ? run.input(0) : static_cast<const TensorView&>(run.output());
  const auto make = transposed ? MakeTransposedWindow : MakeWindow;
  shape.window = make(run.node, spatial(wide, 2), spatial(narrow, 2), spatial(filter, grouped ? 3 : 2));
  return shape;
}

// The range [first, last) of i within [0, count) with 0 <= i * stride + offset < extent.
struct TapRange {
  int64_t first, last;
};
TapRange Inside(int64_t stride, int64_t offset, int64_t extent, int64_t count) {
  const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t last = extent <= offset ? 0 : (extent - offset - 1) / stride + 1;
  return {std::min(first, count), std::max(std::min(last, count), std::min(first, count))};
}

// out[x] += weight * in[x * stride] for x in [0, count).
template <typename C>
void AddScaledRow(C* out, const C* in, C weight, int64_t stride, int64_t count) {
  if (stride == 1) {
    for (int64_t x = 0; x < count; ++x) out[x] += weight * in[x];
    return;
  }
  for (int64_t x = 0; x < count; ++x) out[x] += weight * in[x * stride];
}

// Accumulates the contribution of one input plane to the output plane:
//     out[z,y,x] += sum over taps (kz,ky,kx) of
//       filter[kz,ky,kx] * in[z*s+kz*d-p, y*s+ky*d-p, x*s+kx*d-p]
// with zeros outside. Rows along x are innermost.
template <typename C>
void AccumulatePlane(const Window& window, const C* in, const C* filter, C* out) {
  const auto& [wz, wy, wx] = window;
  for (int64_t kz = 0; kz < wz.size; ++kz) {
    const int64_t offset_z = kz * wz.dilation - wz.before;
    const TapRange z_range = Inside(wz.stride, offset_z, wz.input, wz.output);
    for (int64_t z = z_range.first; z < z_range.last; ++z) {
      const int64_t in_z = z * wz.stride + offset_z;
      for (int64_t ky = 0; ky < wy.size; ++ky) {
        const int64_t offset_y = ky * wy.dilation - wy.before;
        const TapRange y_range = Inside(wy.stride, offset_y, wy.input, wy.output);
        for (int64_t y = y_range.first; y < y_range.last; ++y) {
          const int64_t in_y = y * wy.stride + offset_y;
          const C* in_row = in + (in_z * wy.input + in_y) * wx.input;
          C* out_row = out + (z * wy.output + y) * wx.output;
          for (int64_t kx = 0; kx < wx.size; ++kx) {
            const int64_t offset_x = kx * wx.dilation - wx.before;
            const TapRange x_range = Inside(wx.stride, offset_x, wx.input, wx.output);
            AddScaledRow(out_row + x_range.first, in_row + x_range.first * wx.stride + offset_x,
                         filter[(kz * wy.size + ky) * wx.size + kx], wx.stride, x_range.last - x_range.first);
          }
        }
      }
    }
  }
}

// The transposed relation: scatters `in` to the plane that the forward convolution would read.
//     out[z*s+kz*d-p, ...] += filter[kz,ky,kx] * in[z,y,x]
template <typename C>
void ScatterPlane(const Window& window, const C* in, const C* filter, C* out) {
  const auto& [wz, wy, wx] = window;
  for (int64_t kz = 0; kz < wz.size; ++kz) {
    const int64_t offset_z = kz * wz.dilation - wz.before;
    const TapRange z_range = Inside(wz.stride, offset_z, wz.input, wz.output);
    for (int64_t z = z_range.first; z < z_range.last; ++z) {
      for (int64_t ky = 0; ky < wy.size; ++ky) {
        const int64_t offset_y = ky * wy.dilation - wy.before;
        const TapRange y_range = Inside(wy.stride, offset_y, wy.input, wy.output);
        for (int64_t y = y_range.first; y < y_range.last; ++y) {
          const C* in_row = in + (z * wy.output + y) * wx.output;
          C* out_row = out + ((z * wz.stride + offset_z) * wy.input + y * wy.stride + offset_y) * wx.input;
          for (int64_t kx = 0; kx < wx.size; ++kx) {
            const int64_t offset_x = kx * wx.dilation - wx.before;
            const TapRange x_range = Inside(wx.stride, offset_x, wx.input, wx.output);
            const C weight = filter[(kz * wy.size + ky) * wx.size + kx];
            for (int64_t x = x_range.first; x < x_range.last; ++x)
              out_row[x * wx.stride + offset_x] += weight * in_row[x];
          }
        }
      }
    }
  }
}

// The accumulator type.
template <typename T>
using PlaneSum = std::conditional_t<kIsFloating<T>, ComputeType<T>, uint64_t>;

// The elements converted to the accumulator type, or a reference to them if the types are equal.
template <typename T>
struct Computed {
  using C = PlaneSum<T>;
  explicit Computed(const TensorView& view) {
    if constexpr (std::is_same_v<T, C>) {
      data = view.data<T>();
    } else {
      copy.reserve(static_cast<size_t>(view.volume()));
      for (int64_t i = 0; i < view.volume(); ++i)
        copy.push_back(static_cast<C>(static_cast<ComputeType<T>>(view.data<T>()[i])));
      data = copy.data();
    }
  }
  const C* data;
  std::vector<C> copy;
};

// Computes each output plane (n, c) separately, with its terms in a fixed order. `plane_terms(n, c, sums)`
// accumulates all input planes into the zeroed sums.
template <typename T, typename Terms>
void ForEachOutputPlane(const ConvolutionShape& shape, T* output, Terms&& plane_terms) {
  using C = PlaneSum<T>;
  const int64_t plane = shape.output.plane();
  tensor::ParallelFor(shape.output.batch * shape.output.channels, plane * shape.group_inputs() * shape.taps(),
                      [&](int64_t index) {
                        const int64_t n = index / shape.output.channels;
                        const int64_t c = index % shape.output.channels;
                        if constexpr (std::is_same_v<T, C>) {
                          C* sums = output + index * plane;
                          std::fill_n(sums, plane, C(0));
                          plane_terms(n, c, sums);
                        } else {
                          std::vector<C> sums(static_cast<size_t>(plane), C(0));
                          plane_terms(n, c, sums.data());
                          for (int64_t i = 0; i < plane; ++i)
                            output[index * plane + i] =
                                T(static_cast<ComputeType<T>>(sums[static_cast<size_t>(i)]));
                        }
                      });
}

// output[n, g*O+o] = sum over i of filter[g, o, i] * input[n, g*I+i]
template <typename T>
void Convolve(const ReferenceRun& run, const ConvolutionShape& shape) {
  const Computed<T> input(run.input(0));
  const Computed<T> filter(run.input(1));
  const int64_t inputs = shape.group_inputs();
  ForEachOutputPlane(shape, run.output().mutable_data<T>(), [&](int64_t n, int64_t c, PlaneSum<T>* sums) {
    const int64_t g = c / shape.group_outputs();
    for (int64_t i = 0; i < inputs; ++i) {
      AccumulatePlane(shape.window,
                      input.data + (n * shape.input.channels + g * inputs + i) * shape.input.plane(),
                      filter.data + (c * inputs + i) * shape.taps(), sums);
    }
  });
}

// output[n, g*O+o] = sum over i of transposed filter[g, i, o] * input[n, g*I+i]
template <typename T>
void ConvolveTransposed(const ReferenceRun& run, const ConvolutionShape& shape) {
  const Computed<T> input(run.input(0));
  const Computed<T> filter(run.input(1));
  const int64_t inputs = shape.group_inputs();
  const int64_t outputs = shape.group_outputs();
  ForEachOutputPlane(shape, run.output().mutable_data<T>(), [&](int64_t n, int64_t c, PlaneSum<T>* sums) {
    const int64_t g = c / outputs;
    const int64_t o = c % outputs;
    for (int64_t i = 0; i < inputs; ++i) {
      const int64_t channel = g * inputs + i;
      ScatterPlane(shape.window, input.data + (n * shape.input.channels + channel) * shape.input.plane(),
                   filter.data + (channel * outputs + o) * shape.taps(), sums);
    }
  });
}

template <bool kGrouped>
FaultOr<Success> Convolution(const ReferenceRun& run) {
  if (run.output().volume() == 0) return Success();  // also without groups
  const ConvolutionShape shape = MakeShape(run, kGrouped, false);
  if (!VisitNumericType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { Convolve<T>(run, shape); })) {
    return UnsupportedType(run);
  }
  return Success();
}

template <bool kGrouped>
FaultOr<Success> ConvolutionBackpropData(const ReferenceRun& run) {
  if (run.output().volume() == 0) return Success();
  const ConvolutionShape shape = MakeShape(run, kGrouped, true);
  if (!VisitNumericType(run.input(0).type(),
                        [&]<typename T>(TypeTag<T>) { ConvolveTransposed<T>(run, shape); })) {
    return UnsupportedType(run);
  }
  return Success();
}

}  // namespace

void RegisterConvolution(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "Convolution", Convolution<false>);
  registry.AddReference({"opset1"}, "GroupConvolution", Convolution<true>);
  registry.AddReference({"opset1"}, "ConvolutionBackpropData", ConvolutionBackpropData<false>);
  registry.AddReference({"opset1"}, "GroupConvolutionBackpropData", ConvolutionBackpropData<true>);
}

}  // namespace nnefc::runtime::kernels

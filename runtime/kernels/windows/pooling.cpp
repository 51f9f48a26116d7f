// MaxPool, AvgPool and their adaptive variants with one to three spatial axes.

#include <cmath>
#include <limits>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/windows/window.h"

namespace nnefc::runtime::kernels {

namespace {

struct Pooling {
  int64_t planes;  // batch * channels
  int64_t channels;
  Window window;

  int64_t input_plane() const { return window[0].input * window[1].input * window[2].input; }
  int64_t output_plane() const { return window[0].output * window[1].output * window[2].output; }
  int64_t taps() const { return window[0].size * window[1].size * window[2].size; }
};

Pooling MakePooling(const ReferenceRun& run) {
  const llvm::ArrayRef<int64_t> input = run.input(0).shape();
  const llvm::ArrayRef<int64_t> output = run.output().shape();
  const std::vector<int64_t> kernel = run.node.Ints("kernel");
  return {input[0] * input[1], input[1],
          MakeWindow(run.node, input.drop_front(2), output.drop_front(2), kernel)};
}

// Adaptive pooling divides the input into sections in place of windows.
Pooling MakeAdaptivePooling(const ReferenceRun& run) {
  const llvm::ArrayRef<int64_t> input = run.input(0).shape();
  Pooling pooling{input[0] * input[1], input[1], {}};
  for (size_t i = 2; i < input.size(); ++i)
    pooling.window[3 + i - input.size()] = {.input = input[i], .output = run.output().shape()[i]};
  return pooling;
}

// Calls body(out_index, z0, y0, x0) for each window of a plane, with the input position of its first tap (may
// be negative).
template <typename Body>
void ForEachWindow(const Window& window, Body&& body) {
  const auto& [wz, wy, wx] = window;
  int64_t index = 0;
  for (int64_t z = 0; z < wz.output; ++z) {
    for (int64_t y = 0; y < wy.output; ++y) {
      for (int64_t x = 0; x < wx.output; ++x) {
        body(index++, z * wz.stride - wz.before, y * wy.stride - wy.before, x * wx.stride - wx.before);
      }
    }
  }
}

// Calls body(in_index) in row-major order for the taps of a window that are inside the input.
template <typename Body>
void ForEachTap(const Window& window, int64_t z0, int64_t y0, int64_t x0, Body&& body) {
  const auto& [wz, wy, wx] = window;
  for (int64_t kz = 0; kz < wz.size; ++kz) {
    const int64_t z = z0 + kz * wz.dilation;
    if (z < 0 || z >= wz.input) continue;
    for (int64_t ky = 0; ky < wy.size; ++ky) {
      const int64_t y = y0 + ky * wy.dilation;
      if (y < 0 || y >= wy.input) continue;
      for (int64_t kx = 0; kx < wx.size; ++kx) {
        const int64_t x = x0 + kx * wx.dilation;
        if (x < 0 || x >= wx.input) continue;
        body((z * wy.input + y) * wx.input + x);
      }
    }
  }
}

// The initial value of a maximum. Elements that are not greater, such as NaN, are skipped.
template <typename T>
T Lowest() {
  if constexpr (std::numeric_limits<ComputeType<T>>::has_infinity) {
    return T(-std::numeric_limits<ComputeType<T>>::infinity());
  } else {
    return std::numeric_limits<T>::lowest();
  }
}

// Returns the number of input elements after which indices repeat, according to MaxPool-8's `axis`.
int64_t IndexPeriod(const ReferenceRun& run) {
  const int64_t axis = NormalAxis(run.node.Int("axis"), run.input(0).rank());
  int64_t period = 1;
  for (int64_t i = axis; i < run.input(0).rank(); ++i) period *= run.input(0).extent(i);
  return period;
}

template <typename T>
void MaxPoolAs(const ReferenceRun& run, const Pooling& pooling) {
  const T* input = run.input(0).data<T>();
  T* output = run.output().mutable_data<T>();
  const bool indexed = run.num_outputs() > 1;
  const int64_t period = indexed ? std::max<int64_t>(1, IndexPeriod(run)) : 1;
  tensor::ParallelFor(pooling.planes, pooling.output_plane() * pooling.taps(), [&](int64_t plane) {
    const T* in = input + plane * pooling.input_plane();
    ForEachWindow(pooling.window, [&](int64_t out_index, int64_t z, int64_t y, int64_t x) {
      T best = Lowest<T>();
      int64_t best_index = -1;
      ForEachTap(pooling.window, z, y, x, [&](int64_t i) {
        if (best_index < 0) best_index = i;
        if (!(best < in[i])) return;
        best = in[i];
        best_index = i;
      });
      const int64_t at = plane * pooling.output_plane() + out_index;
      output[at] = best;
      if (!indexed) return;
      const int64_t index = (plane * pooling.input_plane() + std::max<int64_t>(best_index, 0)) % period;
      if (run.output(1).type() == ElementType::kI32) {
        run.output(1).mutable_data<int32_t>()[at] = static_cast<int32_t>(index);
      } else {
        run.output(1).mutable_data<int64_t>()[at] = index;
      }
    });
  });
}

FaultOr<Success> MaxPool(const ReferenceRun& run) {
  const Pooling pooling = MakePooling(run);
  if (!VisitNumericType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { MaxPoolAs<T>(run, pooling); })) {
    return UnsupportedType(run);
  }
  return Success();
}

// Returns the number of window elements along one axis that are inside the input or its padding. Windows of
// rounding_type ceil may extend further.
int64_t PaddedTaps(const WindowAxis& axis, int64_t start) {
  const int64_t room = axis.input + axis.after - start;
  if (room <= 0) return 0;
  return std::min(axis.size, (room + axis.dilation - 1) / axis.dilation);
}

template <typename T>
void AvgPoolAs(const ReferenceRun& run, const Pooling& pooling) {
  using C = ComputeType<T>;
  const T* input = run.input(0).data<T>();
  T* output = run.output().mutable_data<T>();
  const bool exclude_pad = run.node.Bool("exclude-pad");
  tensor::ParallelFor(pooling.planes, pooling.output_plane() * pooling.taps(), [&](int64_t plane) {
    const T* in = input + plane * pooling.input_plane();
    T* out = output + plane * pooling.output_plane();
    ForEachWindow(pooling.window, [&](int64_t out_index, int64_t z, int64_t y, int64_t x) {
      double sum = 0;  // f32 sums would lose several percent for windows of millions of elements
      int64_t inside = 0;
      ForEachTap(pooling.window, z, y, x, [&](int64_t i) {
        sum += static_cast<double>(static_cast<C>(in[i]));
        ++inside;
      });
      const auto& [wz, wy, wx] = pooling.window;
      const int64_t count = exclude_pad ? inside : PaddedTaps(wz, z) * PaddedTaps(wy, y) * PaddedTaps(wx, x);
      out[out_index] = count > 0 ? T(static_cast<C>(sum / static_cast<double>(count))) : T(C(0));
    });
  });
}

FaultOr<Success> AvgPool(const ReferenceRun& run) {
  const Pooling pooling = MakePooling(run);
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { AvgPoolAs<T>(run, pooling); })) {
    return UnsupportedType(run);
  }
  return Success();
}

// The elements [first, last) of an axis that contribute to position `i` of `output`.
struct Section {
  int64_t first, last;
};
Section AdaptiveSection(int64_t i, int64_t input, int64_t output) {
  return {i * input / output, ((i + 1) * input + output - 1) / output};
}

// Calls body(in_index) for each element of the section of output element `index` of a plane.
template <typename Body>
void ForEachInSection(const Pooling& pooling, int64_t index, Body&& body) {
  const auto& [wz, wy, wx] = pooling.window;
  const Section x = AdaptiveSection(index % wx.output, wx.input, wx.output);
  const Section y = AdaptiveSection(index / wx.output % wy.output, wy.input, wy.output);
  const Section z = AdaptiveSection(index / wx.output / wy.output, wz.input, wz.output);
  for (int64_t k = z.first; k < z.last; ++k) {
    for (int64_t j = y.first; j < y.last; ++j) {
      for (int64_t i = x.first; i < x.last; ++i) body((k * wy.input + j) * wx.input + i);
    }
  }
}

template <typename T>
void AdaptiveAvgPoolAs(const ReferenceRun& run, const Pooling& pooling) {
  tensor::ParallelFor(run.output().volume(), 64, [&](int64_t at) {
    const T* in = run.input(0).data<T>() + at / pooling.output_plane() * pooling.input_plane();
    double sum = 0;
    int64_t count = 0;
    ForEachInSection(pooling, at % pooling.output_plane(), [&](int64_t i) {
      sum += static_cast<double>(static_cast<ComputeType<T>>(in[i]));
      ++count;
    });
    run.output().mutable_data<T>()[at] = ConvertElement<T>(sum / static_cast<double>(count));
  });
}

// The second output is the position of the maximum in its plane.
template <typename T>
void AdaptiveMaxPoolAs(const ReferenceRun& run, const Pooling& pooling) {
  tensor::ParallelFor(run.output().volume(), 64, [&](int64_t at) {
    const T* in = run.input(0).data<T>() + at / pooling.output_plane() * pooling.input_plane();
    T largest = Lowest<T>();
    int64_t best = -1;
    ForEachInSection(pooling, at % pooling.output_plane(), [&](int64_t i) {
      if (best < 0) best = i;
      if (!(largest < in[i])) return;
      largest = in[i];
      best = i;
    });
    run.output().mutable_data<T>()[at] = largest;
    if (run.num_outputs() < 2) return;
    if (run.output(1).type() == ElementType::kI32) {
      run.output(1).mutable_data<int32_t>()[at] = static_cast<int32_t>(std::max<int64_t>(best, 0));
    } else {
      run.output(1).mutable_data<int64_t>()[at] = std::max<int64_t>(best, 0);
    }
  });
}

FaultOr<Success> AdaptiveAvgPool(const ReferenceRun& run) {
  const Pooling pooling = MakeAdaptivePooling(run);
  if (!VisitFloatType(run.input(0).type(),
                      [&]<typename T>(TypeTag<T>) { AdaptiveAvgPoolAs<T>(run, pooling); })) {
    return UnsupportedType(run);
  }
  return Success();
}

FaultOr<Success> AdaptiveMaxPool(const ReferenceRun& run) {
  const Pooling pooling = MakeAdaptivePooling(run);
  if (!VisitNumericType(run.input(0).type(),
                        [&]<typename T>(TypeTag<T>) { AdaptiveMaxPoolAs<T>(run, pooling); })) {
    return UnsupportedType(run);
  }
  return Success();
}

}  // namespace

void RegisterPooling(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset8", "opset14"}, "MaxPool", MaxPool);
  registry.AddReference({"opset1", "opset14", "opset16"}, "AvgPool", AvgPool);
  registry.AddReference({"opset8"}, "AdaptiveAvgPool", AdaptiveAvgPool);
  registry.AddReference({"opset8"}, "AdaptiveMaxPool", AdaptiveMaxPool);
}

}  // namespace nnefc::runtime::kernels

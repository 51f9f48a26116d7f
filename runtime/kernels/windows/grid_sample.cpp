// GridSample: samples the input at the points of a grid in [-1, 1].

#include <algorithm>
#include <cmath>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::kernels {

namespace {

// The mapping of points to positions of an axis.
struct Sampling {
  bool align_corners;
  std::string mode, padding;

  double Position(double point, int64_t extent) const {
    const auto size = static_cast<double>(extent);
    return align_corners ? (point + 1) / 2 * (size - 1) : ((point + 1) * size - 1) / 2;
  }

  // Returns the position used for one outside, or nothing if it reads zero.
  std::optional<int64_t> Inside(double position, int64_t extent) const {
    if (position >= 0 && position < static_cast<double>(extent)) return static_cast<int64_t>(position);
    if (padding == "zeros" || !std::isfinite(position)) return std::nullopt;
    if (padding == "border") return position < 0 ? 0 : extent - 1;
    // Reflects about the outermost elements, or about their outer edges.
    if (extent == 1) return 0;
    const auto size = static_cast<double>(extent);
    const double period = align_corners ? 2 * (size - 1) : 2 * size;
    double folded = std::fmod(position, period);
    if (folded < 0) folded += period;
    if (folded >= size) folded = period - folded - (align_corners ? 0 : 1);
    return static_cast<int64_t>(folded);
  }
};

// Weights of Keys' cubic convolution with coefficient -0.75.
std::array<double, 4> CubicWeights(double t) {
  constexpr double a = -0.75;
  const auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

// The taps of a point along an axis.
struct PointTaps {
  double first;
  llvm::SmallVector<double, 4> weights;
};

PointTaps MakePointTaps(const Sampling& how, double position) {
  if (how.mode == "nearest") return {std::nearbyint(position), {1.0}};
  const double base = std::floor(position);
  const double t = position - base;
  if (how.mode == "bilinear") return {base, {1 - t, t}};
  const std::array<double, 4> weights = CubicWeights(t);
  return {base - 1, {weights.begin(), weights.end()}};
}

template <typename T>
void GridSampleAs(const ReferenceRun& run, const Sampling& how, llvm::ArrayRef<double> grid) {
  const tensor::TensorView& data = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  const int64_t height = data.extent(2), width = data.extent(3), channels = data.extent(1);
  const int64_t points = output.extent(2) * output.extent(3);
  tensor::ParallelFor(output.extent(0) * points, channels * 16, [&](int64_t index) {
    const PointTaps x = MakePointTaps(how, how.Position(grid[static_cast<size_t>(index) * 2], width));
    const PointTaps y = MakePointTaps(how, how.Position(grid[static_cast<size_t>(index) * 2 + 1], height));
    const int64_t n = index / points;
    for (int64_t c = 0; c < channels; ++c) {
      const T* plane = data.data<T>() + (n * channels + c) * height * width;
      double sum = 0;
      for (size_t i = 0; i < y.weights.size(); ++i) {
        const auto row = how.Inside(y.first + static_cast<double>(i), height);
        for (size_t j = 0; row && j < x.weights.size(); ++j) {
          const auto column = how.Inside(x.first + static_cast<double>(j), width);
          if (!column) continue;
          const auto value = static_cast<ComputeType<T>>(plane[*row * width + *column]);
          sum += y.weights[i] * x.weights[j] * static_cast<double>(value);
        }
      }
      output.mutable_data<T>()[(n * channels + c) * points + index % points] = ConvertElement<T>(sum);
    }
  });
}

FaultOr<Success> GridSample(const ReferenceRun& run) {
  const Sampling how{run.node.Bool("align_corners"), run.node.String("mode"),
                     run.node.String("padding_mode")};
  if (run.output().volume() == 0) return Success();
  if (run.input(0).volume() == 0) return KernelFault("an empty tensor cannot be sampled");
  const llvm::SmallVector<double, 8> grid = tensor::ElementsAsDoubles(run.input(1));
  if (!VisitFloatType(run.input(0).type(),
                      [&]<typename T>(TypeTag<T>) { GridSampleAs<T>(run, how, grid); })) {
    return UnsupportedType(run);
  }
  return Success();
}

}  // namespace

void RegisterGridSample(KernelRegistry& registry) {
  registry.AddReference({"opset9"}, "GridSample", GridSample);
}

}  // namespace nnefc::runtime::kernels

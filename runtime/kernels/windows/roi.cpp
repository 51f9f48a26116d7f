// ROIPooling, PSROIPooling and ROIAlign.

#include <algorithm>
#include <cmath>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"
#include "runtime/kernels/windows/taps.h"

namespace nnefc::runtime::kernels {

namespace {

// One plane of the feature map.
template <typename T>
struct Plane {
  const T* data;
  int64_t height, width;

  double At(int64_t y, int64_t x) const { return AsDouble(data[y * width + x]); }
};

// The four neighbours of a point and their weights.
struct Neighbours {
  int64_t top, bottom, left, right;
  double y, x;  // the distance from top and left

  template <typename T>
  double Sum(const Plane<T>& plane) const {
    return (1 - y) * (1 - x) * plane.At(top, left) + (1 - y) * x * plane.At(top, right) +
           y * (1 - x) * plane.At(bottom, left) + y * x * plane.At(bottom, right);
  }
};

// ---- ROIPooling-2: rows [batch, x1, y1, x2, y2] ----

// Returns the maximum of bin (i, j) of the region, with rounded corners; 0 if the bin is outside.
template <typename T>
double LargestOfBin(const Plane<T>& plane, const double* roi, double scale, int64_t i, int64_t j,
                    int64_t rows, int64_t columns) {
  const auto bin = [&](double first, double last, int64_t place, int64_t places, int64_t extent) {
    const auto start = static_cast<int64_t>(std::round(first * scale));
    const auto end = static_cast<int64_t>(std::round(last * scale));
    const double size =
        static_cast<double>(std::max<int64_t>(end - start + 1, 1)) / static_cast<double>(places);
    const auto from = static_cast<int64_t>(std::floor(static_cast<double>(place) * size)) + start;
    const auto to = static_cast<int64_t>(std::ceil(static_cast<double>(place + 1) * size)) + start;
    return std::pair(std::clamp<int64_t>(from, 0, extent), std::clamp<int64_t>(to, 0, extent));
  };
  const auto [top, bottom] = bin(roi[1], roi[3], i, rows, plane.height);
  const auto [left, right] = bin(roi[0], roi[2], j, columns, plane.width);
  if (top >= bottom || left >= right) return 0;
  double largest = plane.At(top, left);
  for (int64_t y = top; y < bottom; ++y) {
    for (int64_t x = left; x < right; ++x) largest = std::max(largest, plane.At(y, x));
  }
  return largest;
}

// Returns a sample of the region. Its corners are fractions of the map.
template <typename T>
double SampleOfRegion(const Plane<T>& plane, const double* roi, int64_t i, int64_t j, int64_t rows,
                      int64_t columns) {
  const auto position = [](double first, double last, int64_t place, int64_t places, int64_t extent) {
    const double room = static_cast<double>(extent - 1);
    if (places == 1) return 0.5 * (first + last) * room;
    return first * room +
           static_cast<double>(place) * (last - first) * room / static_cast<double>(places - 1);
  };
  const double y = position(roi[1], roi[3], i, rows, plane.height);
  const double x = position(roi[0], roi[2], j, columns, plane.width);
  const bool inside = y >= 0 && x >= 0 && y <= static_cast<double>(plane.height - 1) &&
                      x <= static_cast<double>(plane.width - 1);
  if (!inside) return 0;
  const auto top = static_cast<int64_t>(y);
  const auto left = static_cast<int64_t>(x);
  return Neighbours{top,
                    std::min(top + 1, plane.height - 1),
                    left,
                    std::min(left + 1, plane.width - 1),
                    y - static_cast<double>(top),
                    x - static_cast<double>(left)}
      .Sum(plane);
}

template <typename T>
void RoiPoolingAs(const ReferenceRun& run, llvm::ArrayRef<double> rois) {
  const tensor::TensorView& data = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  const double scale = run.node.Double("spatial_scale");
  const bool bilinear = run.node.String("method") == "bilinear";
  const int64_t channels = data.extent(1), rows = output.extent(2), columns = output.extent(3);
  tensor::ParallelFor(output.volume(), 64, [&](int64_t index) {
    const int64_t j = index % columns, i = index / columns % rows;
    const int64_t c = index / columns / rows % channels, n = index / columns / rows / channels;
    const double* roi = rois.data() + n * 5;
    const Plane<T> plane{data.data<T>() + (static_cast<int64_t>(roi[0]) * channels + c) * data.strides()[1],
                         data.extent(2), data.extent(3)};
    const double value = bilinear ? SampleOfRegion(plane, roi + 1, i, j, rows, columns)
                                  : LargestOfBin(plane, roi + 1, scale, i, j, rows, columns);
    output.mutable_data<T>()[index] = ConvertElement<T>(value);
  });
}

FaultOr<Success> CheckRegions(llvm::ArrayRef<double> rois) {
  for (double item : rois) {
    if (!(std::abs(item) <= kFarthest)) return KernelFault("a region has the coordinate {}", item);
  }
  return Success();
}

FaultOr<Success> RoiPooling(const ReferenceRun& run) {
  const llvm::SmallVector<double, 8> rois = tensor::ElementsAsDoubles(run.input(1));
  if (auto checked = CheckRegions(rois); !checked) return checked;
  if (run.input(0).volume() == 0) return KernelFault("regions of an empty map");
  for (size_t row = 0; row < rois.size(); row += 5) {
    if (rois[row] >= 0 && rois[row] < static_cast<double>(run.input(0).extent(0))) continue;
    return KernelFault("a region is of batch {}, of {}", rois[row], run.input(0).extent(0));
  }
  if (!VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) { RoiPoolingAs<T>(run, rois); }))
    return UnsupportedType(run);
  return Success();
}

// ---- PSROIPooling-1: rows [batch, x1, y1, x2, y2]; batch -1 is the end ----
// Bin boundaries and inside tests use f32, as in OpenVINO: full steps add up to whole numbers that f64 would
// miss.

// The extent of a region along one axis.
struct Interval {
  float start, length;
};

// out[i][j] = the average over bin (i, j) of the bin's own plane.
template <typename T>
double AverageOfBin(const Plane<T>& plane, Interval y, Interval x, int64_t i, int64_t j, int64_t places) {
  const auto bin = [&](Interval interval, int64_t place, int64_t extent) {
    const float size = interval.length / static_cast<float>(places);
    const auto within = [&](float at) {
      if (!(at > 0)) return int64_t{0};
      return at < static_cast<float>(extent) ? static_cast<int64_t>(at) : extent;
    };
    return std::pair(within(std::floor(static_cast<float>(place) * size + interval.start)),
                     within(std::ceil(static_cast<float>(place + 1) * size + interval.start)));
  };
  const auto [top, bottom] = bin(y, i, plane.height);
  const auto [left, right] = bin(x, j, plane.width);
  if (top >= bottom || left >= right) return 0;
  double sum = 0;
  for (int64_t row = top; row < bottom; ++row) {
    for (int64_t column = left; column < right; ++column) sum += plane.At(row, column);
  }
  return sum / static_cast<double>((bottom - top) * (right - left));
}

// Returns sample (i, j) of a bin; 0 outside. The bin's borders are fractions of the map.
template <typename T>
double SampleOfBin(const Plane<T>& plane, Interval y, Interval x, int64_t i, int64_t j, int64_t places) {
  const auto position = [&](Interval bin, int64_t place, int64_t extent) {
    const auto room = static_cast<float>(extent - 1);
    if (places == 1) return 0.5F * (bin.start + (bin.start + bin.length)) * room;
    return static_cast<float>(place) * (bin.length * room / static_cast<float>(places - 1)) +
           bin.start * room;
  };
  const float row = position(y, i, plane.height), column = position(x, j, plane.width);
  const bool inside = row >= 0 && row <= static_cast<float>(plane.height - 1) && column >= 0 &&
                      column <= static_cast<float>(plane.width - 1);
  if (!inside) return 0;
  const auto top = static_cast<int64_t>(row), left = static_cast<int64_t>(column);
  return Neighbours{top,
                    std::min(top + 1, plane.height - 1),
                    left,
                    std::min(left + 1, plane.width - 1),
                    row - static_cast<float>(top),
                    column - static_cast<float>(left)}
      .Sum(plane);
}

// The regions [0, count).
struct PsRegions {
  const ir::Node& node;
  llvm::ArrayRef<double> rois;
  int64_t count;

  // Returns the extent along the axis with corner items `first` and `first` + 2. Bilinear mode uses fractions
  // of the map; average mode uses pixels, rounded before scaling.
  Interval Along(int64_t region, int64_t first) const {
    const auto scale = static_cast<float>(node.Double("spatial_scale"));
    auto start = static_cast<float>(rois[static_cast<size_t>(region * 5 + first)]);
    auto end = static_cast<float>(rois[static_cast<size_t>(region * 5 + first + 2)]);
    if (node.String("mode") == "bilinear") return {start * scale, end * scale - start * scale};
    start = std::round(start) * scale;
    end = std::round(end + 1) * scale;
    return {start, std::max(end - start, 0.1F)};
  }
};

template <typename T>
void PsRoiPoolingAs(const ReferenceRun& run, const PsRegions& regions) {
  const tensor::TensorView& data = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  const int64_t channels = output.extent(1), places = output.extent(2);
  const bool bilinear = run.node.String("mode") == "bilinear";
  const int64_t rows = run.node.Int("spatial_bins_y"), columns = run.node.Int("spatial_bins_x");
  tensor::ParallelFor(output.volume(), 64, [&](int64_t index) {
    const int64_t j = index % places, i = index / places % places;
    const int64_t c = index / places / places % channels, n = index / places / places / channels;
    T& out = output.mutable_data<T>()[index];
    if (n >= regions.count) {
      out = ConvertElement<T>(0.0);
      return;
    }
    const auto batch = static_cast<int64_t>(regions.rois[static_cast<size_t>(n * 5)]);
    const auto plane = [&](int64_t channel) {
      return Plane<T>{data.data<T>() + (batch * data.extent(1) + channel) * data.strides()[1], data.extent(2),
                      data.extent(3)};
    };
    const Interval x = regions.Along(n, 1), y = regions.Along(n, 2);
    if (!bilinear) {
      out = ConvertElement<T>(AverageOfBin(plane((c * places + i) * places + j), y, x, i, j, places));
      return;
    }
    const auto bin = [](Interval interval, int64_t bin, int64_t bins) {
      const float size = interval.length / static_cast<float>(bins);
      const float start = interval.start + static_cast<float>(bin) * size;
      return Interval{start, interval.start + static_cast<float>(bin + 1) * size - start};
    };
    double sum = 0;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column) {
        sum += SampleOfBin(plane((row * columns + column) * channels + c), bin(y, row, rows),
                           bin(x, column, columns), i, j, places);
      }
    }
    out = ConvertElement<T>(sum / static_cast<double>(rows * columns));
  });
}

FaultOr<Success> PsRoiPooling(const ReferenceRun& run) {
  const llvm::SmallVector<double, 8> rois = tensor::ElementsAsDoubles(run.input(1));
  const auto batches = static_cast<double>(run.input(0).extent(0));
  int64_t count = 0;
  for (; count < run.input(1).extent(0); ++count) {
    const llvm::ArrayRef<double> roi(rois.data() + count * 5, 5);
    const double batch = std::trunc(roi[0]);
    if (batch == -1) break;
    if (!(batch >= 0 && batch < batches))
      return KernelFault("a region is of batch {}, of {}", roi[0], run.input(0).extent(0));
    if (auto checked = CheckRegions(roi); !checked) return checked;
  }
  if (count != 0 && run.input(0).volume() == 0) return KernelFault("regions of an empty map");
  const PsRegions regions{run.node, rois, count};
  if (!VisitFloatType(run.input(0).type(),
                      [&]<typename T>(TypeTag<T>) { PsRoiPoolingAs<T>(run, regions); })) {
    return UnsupportedType(run);
  }
  return Success();
}

// ---- ROIAlign: rows [x1, y1, x2, y2], batch indices in a separate input ----

// A region along one axis: its start, bin size and samples per bin.
struct Bins {
  double start, size;
  int64_t samples;

  double Sample(int64_t bin, int64_t sample) const {
    return start + static_cast<double>(bin) * size +
           (static_cast<double>(sample) + 0.5) * size / static_cast<double>(samples);
  }
};

// Returns the neighbours of a sample, or nothing if it is more than one element outside.
std::optional<Neighbours> Around(double y, double x, int64_t height, int64_t width) {
  // False for NaN, which a scale may produce.
  const auto near = [](double at, int64_t extent) { return at >= -1 && at <= static_cast<double>(extent); };
  if (!near(y, height) || !near(x, width)) return std::nullopt;
  Neighbours around;
  const auto along = [](double at, int64_t extent, int64_t& low, int64_t& high, double& distance) {
    at = std::max(at, 0.0);
    low = std::min(static_cast<int64_t>(at), extent - 1);
    high = std::min(low + 1, extent - 1);
    distance = low == high ? 0 : at - static_cast<double>(low);
  };
  along(y, height, around.top, around.bottom, around.y);
  along(x, width, around.left, around.right, around.x);
  return around;
}

template <typename T>
double AlignBin(const Plane<T>& plane, const Bins& y, const Bins& x, int64_t i, int64_t j, bool average) {
  double sum = 0;
  double largest = 0;  // the maximum is at least 0, as in OpenVINO
  for (int64_t sy = 0; sy < y.samples; ++sy) {
    for (int64_t sx = 0; sx < x.samples; ++sx) {
      const auto around = Around(y.Sample(i, sy), x.Sample(j, sx), plane.height, plane.width);
      const double value = around ? around->Sum(plane) : 0;
      sum += value;
      largest = std::max(largest, value);
    }
  }
  return average ? sum / static_cast<double>(y.samples * x.samples) : largest;
}

constexpr int64_t kMaxSamples = 4096;  // along an axis of a bin

template <typename T>
void RoiAlignAs(const ReferenceRun& run, llvm::ArrayRef<double> rois, llvm::ArrayRef<int64_t> batches) {
  const tensor::TensorView& data = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  const double scale = run.node.Double("spatial_scale");
  const std::string mode = run.node.String("aligned_mode");
  const bool aligned = mode != "asymmetric";
  const double before = mode == "half_pixel" ? 0.5 : 0;
  const double after = aligned ? -0.5 : 0;
  const int64_t ratio = run.node.Int("sampling_ratio");
  const bool average = run.node.String("mode") == "avg";
  const int64_t channels = data.extent(1), rows = output.extent(2), columns = output.extent(3);
  const auto bins = [&](double first, double last, int64_t count) {
    const double start = (first + before) * scale + after;
    double length = (last + before) * scale + after - start;
    if (!aligned) length = std::max(length, 1.0);
    const double size = length / static_cast<double>(count);
    const double needed = std::clamp(std::ceil(size), 1.0, static_cast<double>(kMaxSamples));
    return Bins{start, size, ratio > 0 ? std::min(ratio, kMaxSamples) : static_cast<int64_t>(needed)};
  };
  tensor::ParallelFor(output.volume(), 64, [&](int64_t index) {
    const int64_t j = index % columns, i = index / columns % rows;
    const int64_t c = index / columns / rows % channels, n = index / columns / rows / channels;
    const double* roi = rois.data() + n * 4;
    const Plane<T> plane{
        data.data<T>() + (batches[static_cast<size_t>(n)] * channels + c) * data.strides()[1], data.extent(2),
        data.extent(3)};
    output.mutable_data<T>()[index] = ConvertElement<T>(
        AlignBin(plane, bins(roi[1], roi[3], rows), bins(roi[0], roi[2], columns), i, j, average));
  });
}

FaultOr<Success> RoiAlign(const ReferenceRun& run) {
  const llvm::SmallVector<double, 8> rois = tensor::ElementsAsDoubles(run.input(1));
  if (auto checked = CheckRegions(rois); !checked) return checked;
  if (run.input(0).volume() == 0) return KernelFault("regions of an empty map");
  FaultOr<std::vector<int64_t>> batches = Positions(run.input(2), run.input(0).extent(0));
  if (!batches) return batches.error();
  if (static_cast<int64_t>(batches->size()) != run.input(1).extent(0))
    return KernelFault("{} batch indices for {} regions", batches->size(), run.input(1).extent(0));
  if (!VisitFloatType(run.input(0).type(),
                      [&]<typename T>(TypeTag<T>) { RoiAlignAs<T>(run, rois, *batches); })) {
    return UnsupportedType(run);
  }
  return Success();
}

}  // namespace

void RegisterRoi(KernelRegistry& registry) {
  registry.AddReference({"opset2"}, "ROIPooling", RoiPooling);
  registry.AddReference({"opset1"}, "PSROIPooling", PsRoiPooling);
  registry.AddReference({"opset3", "opset9"}, "ROIAlign", RoiAlign);
}

}  // namespace nnefc::runtime::kernels

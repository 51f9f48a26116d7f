// NNEF's region operations (R 4.6), without equivalents in OpenVINO.

#include <algorithm>
#include <cmath>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"
#include "runtime/kernels/windows/taps.h"

namespace nnefc::runtime::kernels {

namespace {

// The taps of all output positions along each spatial axis, for each region.
struct Regions {
  std::vector<std::vector<std::vector<Taps>>> taps;  // [region][axis][position]
  std::vector<int64_t> batches;                      // [region]
};

struct RegionInterval {
  double begin, end;
};

// Reads rows (y0, x0, .., y1, x1, ..) and creates the taps of each with make(interval, extent, outputs,
// position).
template <typename MakeTaps>
FaultOr<Regions> ReadRegions(const ReferenceRun& run, const MakeTaps& make) {
  const tensor::TensorView& input = run.input(0);
  const auto axes = static_cast<size_t>(input.rank()) - 2;
  const llvm::SmallVector<double, 8> rois = tensor::ElementsAsDoubles(run.input(1));
  FaultOr<std::vector<int64_t>> batches = IndexElements(run.input(2));
  if (!batches) return batches.error();
  Regions regions{{}, *batches};
  for (size_t region = 0; region < rois.size() / (2 * axes); ++region) {
    if (region >= batches->size() || (*batches)[region] < 0 || (*batches)[region] >= input.extent(0)) {
      return KernelFault("`batch_index` of region {} is outside a batch of {}", region, input.extent(0));
    }
    auto& by_axis = regions.taps.emplace_back(axes);
    for (size_t axis = 0; axis < axes; ++axis) {
      const RegionInterval interval{rois[region * 2 * axes + axis], rois[region * 2 * axes + axes + axis]};
      if (!(std::abs(interval.begin) <= kFarthest && std::abs(interval.end) <= kFarthest)) {
        return KernelFault("region {} reaches from {} to {}", region, interval.begin, interval.end);
      }
      const int64_t outputs = run.output().shape()[axis + 2];
      for (int64_t i = 0; i < outputs; ++i)
        by_axis[axis].push_back(make(interval, input.shape()[axis + 2], outputs, i));
    }
  }
  return regions;
}

// Calls body(offset in the plane, weight) for each combination of the taps.
template <typename Body>
void ForEachTap(llvm::ArrayRef<const Taps*> taps, llvm::ArrayRef<int64_t> strides, const Body& body) {
  llvm::SmallVector<size_t, 4> at(taps.size(), 0);
  for (const Taps* axis : taps) {
    if (axis->empty()) return;
  }
  for (;;) {
    int64_t offset = 0;
    double weight = 1;
    for (size_t axis = 0; axis < taps.size(); ++axis) {
      offset += (*taps[axis])[at[axis]].position * strides[axis];
      weight *= (*taps[axis])[at[axis]].weight;
    }
    body(offset, weight);
    size_t axis = taps.size();
    while (axis-- > 0) {
      if (++at[axis] < taps[axis]->size()) break;
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

enum class RegionValue : uint8_t { kSum, kMean, kMax };

// out[n, c, i..] = the combination of input[batch[n], c, taps..]
template <typename T>
void CombineAs(const ReferenceRun& run, const Regions& regions, RegionValue combine) {
  const tensor::TensorView& input = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  const auto axes = static_cast<size_t>(input.rank()) - 2;
  const llvm::ArrayRef<int64_t> strides = llvm::ArrayRef<int64_t>(input.strides()).drop_front(2);
  tensor::ParallelFor(output.volume(), 64, [&](int64_t index) {
    int64_t rest = index;
    llvm::SmallVector<int64_t, 4> at(axes);
    for (size_t axis = axes; axis-- > 0;) {
      at[axis] = rest % output.shape()[axis + 2];
      rest /= output.shape()[axis + 2];
    }
    const auto region = static_cast<size_t>(rest / output.extent(1));
    llvm::SmallVector<const Taps*, 4> taps;
    for (size_t axis = 0; axis < axes; ++axis)
      taps.push_back(&regions.taps[region][axis][static_cast<size_t>(at[axis])]);
    const int64_t plane =
        regions.batches[region] * input.strides()[0] + rest % output.extent(1) * input.strides()[1];
    double value = 0;
    int64_t count = 0;
    ForEachTap(taps, strides, [&](int64_t offset, double weight) {
      const double x = AsDouble(input.data<T>()[plane + offset]);
      if (combine == RegionValue::kMax) {
        const double before = count == 0 ? -HUGE_VAL : value;
        value = x > before ? x : before;
      } else {
        value += weight * x;
      }
      ++count;
    });
    if (combine == RegionValue::kMean && count > 0) value /= static_cast<double>(count);
    output.mutable_data<T>()[index] = ConvertElement<T>(value);
  });
}

FaultOr<Success> CombineRegions(const ReferenceRun& run, const FaultOr<Regions>& regions,
                                RegionValue combine) {
  if (!regions) return regions.error();
  const bool known = VisitFloatType(run.input(0).type(),
                                    [&]<typename T>(TypeTag<T>) { CombineAs<T>(run, *regions, combine); });
  if (!known) return UnsupportedType(run);
  return Success();
}

// R 4.6.1: cell i of p covers ceil(r / p) elements of a region of r elements, starting at i * floor(r / p).
// The text adds the cell size to the start, so that the last cell would be outside of the region; this is
// treated as an error in the text. Elements outside of the map are ignored; an empty cell is 0.
Taps PoolTaps(RegionInterval region, int64_t extent, int64_t outputs, int64_t i) {
  const auto begin = static_cast<int64_t>(std::floor(region.begin + 0.5));
  const auto end = static_cast<int64_t>(std::floor(region.end + 0.5));
  const int64_t length = std::max<int64_t>(end - begin, 0);
  const int64_t first = begin + i * (length / outputs);
  const int64_t last = first + (length + outputs - 1) / outputs;
  Taps taps;
  for (int64_t at = std::max<int64_t>(first, 0); at < std::min(last, extent); ++at) taps.push_back({at, 1.0});
  return taps;
}

FaultOr<Success> AvgRoiPool(const ReferenceRun& run) {
  return CombineRegions(run, ReadRegions(run, PoolTaps), RegionValue::kMean);
}

FaultOr<Success> MaxRoiPool(const ReferenceRun& run) {
  return CombineRegions(run, ReadRegions(run, PoolTaps), RegionValue::kMax);
}

// R 4.6.2 with the interpolation of 4.4.2: the position u of output i is clamped to the region, as if the
// region were cropped first, and interpolated between two elements.
FaultOr<Success> RoiResample(const ReferenceRun& run) {
  const std::string method = run.node.String("method");
  const auto taps = [&](RegionInterval region, int64_t extent, int64_t outputs, int64_t i) -> Taps {
    const double length = region.end - region.begin;
    const double step = length / static_cast<double>(outputs);
    double u = static_cast<double>(i) * step;
    if (method == "symmetric") u = (static_cast<double>(i) + 0.5) * step - 0.5;
    if (method == "aligned")
      u = outputs == 1 ? 0 : static_cast<double>(i) * (length - 1) / static_cast<double>(outputs - 1);
    u = std::clamp(u, 0.0, std::max(length - 1, 0.0));
    const double at = std::clamp(region.begin + u, 0.0, static_cast<double>(extent - 1));
    const auto low = static_cast<int64_t>(at);
    const double t = at - static_cast<double>(low);
    return {{low, 1 - t}, {std::min(low + 1, extent - 1), t}};
  };
  if (run.input(0).volume() == 0) return KernelFault("regions of an empty map");
  return CombineRegions(run, ReadRegions(run, taps), RegionValue::kSum);
}

}  // namespace

void RegisterNnefRoi(KernelRegistry& registry) {
  registry.AddReference({"nnef"}, "avg_roi_pool", AvgRoiPool);
  registry.AddReference({"nnef"}, "max_roi_pool", MaxRoiPool);
  registry.AddReference({"nnef"}, "roi_resample", RoiResample);
}

}  // namespace nnefc::runtime::kernels

// NNEF's conv and deconv without bias (R 4.3.1) with any number of spatial dimensions (OpenVINO's have at
// most three), with f64 sums.

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/windows/nnef_window.h"

namespace nnefc::runtime::kernels {

namespace {

// A filter element and the input element that it multiplies, as row-major indices in their spatial planes (or
// along one axis).
struct FilterTap {
  int64_t filter = 0;
  int64_t input = 0;
};
using FilterTaps = std::vector<FilterTap>;

enum class Direction : uint8_t {
  kForward,     // conv
  kTransposed,  // deconv
};

llvm::ArrayRef<int64_t> Spatial(const tensor::TensorView& view) {
  return llvm::ArrayRef<int64_t>(view.shape()).drop_front(2);
}

// Returns the position along one axis of the input that filter element `j` multiplies for output position
// `i`; it may be in the border. Returns nothing if a transposed convolution has no such term.
std::optional<int64_t> InputPosition(Direction direction, const NnefWindow& window, size_t axis, int64_t i,
                                     int64_t j) {
  const int64_t s = window.stride[axis];
  if (direction == Direction::kForward) return i * s + j * window.dilation[axis] - window.pad_begin[axis];
  const int64_t at = i + window.pad_begin[axis] - j * window.dilation[axis];
  if (at % s != 0) return std::nullopt;
  return at / s;
}

// Returns the taps along one axis for each output position, without those that read zeros of the border.
FaultOr<std::vector<FilterTaps>> TapsAlong(Direction direction, const NnefWindow& window, size_t axis,
                                           const ReferenceRun& run) {
  const int64_t extent = Spatial(run.input(0))[axis];
  std::vector<FilterTaps> positions(static_cast<size_t>(Spatial(run.output())[axis]));
  for (size_t i = 0; i < positions.size(); ++i) {
    for (int64_t j = 0; j < window.size[axis]; ++j) {
      const auto at = InputPosition(direction, window, axis, static_cast<int64_t>(i), j);
      if (!at) continue;
      const auto source = BorderPosition(*at, extent, window.border);
      if (source) {
        positions[i].push_back({j, *source});
      } else if (window.border != "constant") {
        return KernelFault("border '{}' of `{}` reaches beyond axis {}, which has extent {}", window.border,
                           run.node.type(), axis + 2, extent);
      }
    }
  }
  return positions;
}

// Returns the taps of the window at one position of the output plane: all combinations of the taps
// along each axis.
FilterTaps TapsAt(int64_t position, const std::vector<std::vector<FilterTaps>>& taps_by_axis,
                  const NnefWindow& window, llvm::ArrayRef<int64_t> input) {
  std::vector<const FilterTaps*> axes(taps_by_axis.size());
  for (size_t axis = taps_by_axis.size(); axis-- > 0;) {
    const auto extent = static_cast<int64_t>(taps_by_axis[axis].size());
    axes[axis] = &taps_by_axis[axis][static_cast<size_t>(position % extent)];
    position /= extent;
  }
  FilterTaps taps{{}};
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    FilterTaps extended;
    extended.reserve(taps.size() * axes[axis]->size());
    for (const FilterTap& tap : taps) {
      for (const FilterTap& item : *axes[axis]) {
        extended.push_back(
            {tap.filter * window.size[axis] + item.filter, tap.input * input[axis] + item.input});
      }
    }
    taps = std::move(extended);
  }
  return taps;
}

// Computes output[b][k] at each position = sum over the channels k' of k's group and the taps of input[b][k']
// * filter[k][k']. `filter_plane(k, k')` is the index of the filter's plane.
template <typename T, typename FilterPlane>
void SumTaps(const ReferenceRun& run, const NnefWindow& window,
             const std::vector<std::vector<FilterTaps>>& taps_by_axis, int64_t groups,
             FilterPlane&& filter_plane) {
  const tensor::TensorView& input = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  const int64_t inputs = input.extent(1) / groups;
  const int64_t outputs = output.extent(1) / groups;
  const int64_t in_plane = *Volume(Spatial(input));
  const int64_t out_plane = *Volume(Spatial(output));
  const int64_t batch = output.extent(0);
  tensor::ParallelFor(out_plane, batch * output.extent(1) * inputs * window.volume, [&](int64_t position) {
    const FilterTaps taps = TapsAt(position, taps_by_axis, window, Spatial(input));
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t k = 0; k < output.extent(1); ++k) {
        double sum = 0;
        for (int64_t i = 0; i < inputs; ++i) {
          const int64_t channel = k / outputs * inputs + i;
          const T* x = input.data<T>() + (b * input.extent(1) + channel) * in_plane;
          const T* w = run.input(1).data<T>() + filter_plane(k, channel) * window.volume;
          for (const FilterTap& tap : taps) sum += static_cast<double>(x[tap.input]) * w[tap.filter];
        }
        output.mutable_data<T>()[(b * output.extent(1) + k) * out_plane + position] =
            T(static_cast<ComputeType<T>>(sum));
      }
    }
  });
}

template <Direction kDirection>
FaultOr<Success> Convolve(const ReferenceRun& run) {
  const tensor::TensorView& filter = run.input(1);
  const bool is_forward = kDirection == Direction::kForward;
  const auto window =
      ReadNnefWindow(run.node, Spatial(filter), is_forward ? Spatial(run.input(0)) : Spatial(run.output()));
  if (!window) return KernelFault("a window that does not fit memory");
  std::vector<std::vector<FilterTaps>> taps_by_axis;
  for (size_t axis = 0; axis < window->size.size(); ++axis) {
    FaultOr<std::vector<FilterTaps>> taps = TapsAlong(kDirection, *window, axis, run);
    if (!taps) return taps.error();
    taps_by_axis.push_back(std::move(*taps));
  }
  // The filter has shape [c, C / groups, ..], where C is the number of channels of the input of conv, or
  // of the output of deconv.
  const int64_t per_group = filter.extent(1);
  const int64_t groups =
      (is_forward ? run.input(0) : static_cast<const tensor::TensorView&>(run.output())).extent(1) /
      per_group;
  const bool is_supported = VisitFloatType(run.input(0).type(), [&]<typename T>(TypeTag<T>) {
    SumTaps<T>(run, *window, taps_by_axis, groups, [&](int64_t k, int64_t channel) {
      return is_forward ? k * per_group + channel % per_group : channel * per_group + k % per_group;
    });
  });
  if (!is_supported) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterNnefConvolution(KernelRegistry& registry) {
  registry.AddReference({"nnef"}, "conv", Convolve<Direction::kForward>);
  registry.AddReference({"nnef"}, "deconv", Convolve<Direction::kTransposed>);
}

}  // namespace nnefc::runtime::kernels

// Partitions of images and matrices into tiles.

#include "runtime/fast/gemm/tiling.h"

#include <algorithm>

namespace nnefc::runtime::fast::gemm {

using simd::IndexRange;

kernels::Window WindowOfConvolution(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape, filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> output = request.outputs[0].shape;
  return kernels::MakeWindow(*request.node, input.drop_front(2), output.drop_front(2),
                             filter.take_back(input.size() - 2));
}

bool IsIdentityWindow(const kernels::WindowAxis& axis) {
  return axis.size == 1 && axis.stride == 1 && axis.before == 0 && axis.input == axis.output;
}

namespace {

// Returns the range of steps inside an axis of `extent`, of `count` steps of size `step` starting at `first`.
IndexRange StepsWithin(int64_t first, int64_t step, int64_t count, int64_t extent) {
  const int64_t begin = std::min(tensor::CeilDivide(-first, step), count);
  return {begin, std::clamp(tensor::CeilDivide(extent - first, step), begin, count)};
}

}  // namespace

IndexRange ValidTaps(const kernels::WindowAxis& axis, int64_t place) {
  return StepsWithin(place * axis.stride - axis.before, axis.dilation, axis.size, axis.input);
}

IndexRange ValidOutputs(const kernels::WindowAxis& axis, int64_t tap) {
  return StepsWithin(tap * axis.dilation - axis.before, axis.stride, axis.output, axis.input);
}

IndexRange ValidTaps(const kernels::WindowAxis& axis, const IndexRange& places) {
  IndexRange all = ValidTaps(axis, places.begin);
  for (int64_t place = places.begin + 1; place < places.end; ++place) {
    const IndexRange taps = ValidTaps(axis, place);
    all = {std::min(all.begin, taps.begin), std::max(all.end, taps.end)};
  }
  return all;
}

std::vector<TileColumns> DivideColumns(const kernels::WindowAxis& axis, TileWidths widths) {
  std::vector<TileColumns> tiles(static_cast<size_t>(tensor::CeilDivide(axis.output, TilePixels())));
  const auto count = static_cast<int64_t>(tiles.size());
  const auto begin = [&](int64_t index) {
    return widths == TileWidths::kEqual ? tensor::PartBegin(axis.output, count, index)
                                        : std::min(index * TilePixels(), axis.output);
  };
  for (int64_t index = 0; index < count; ++index) {
    TileColumns& tile = tiles[static_cast<size_t>(index)];
    tile.places = {begin(index), begin(index + 1)};
    tile.taps = ValidTaps(axis, tile.places);
    tile.seeing.resize(static_cast<size_t>(tile.taps.count()));
    for (int64_t place = tile.places.begin; place < tile.places.end; ++place) {
      const IndexRange taps = ValidTaps(axis, place);
      for (int64_t tap = taps.begin; tap < taps.end; ++tap)
        tile.seeing[static_cast<size_t>(tap - tile.taps.begin)] |=
            static_cast<uint16_t>(1U << (place - tile.places.begin));
    }
  }
  return tiles;
}

}  // namespace nnefc::runtime::fast::gemm

#include "runtime/fast/window_tiles.h"

#include <algorithm>

namespace nnefc::runtime {

int64_t DividedUp(int64_t number, int64_t by) {
  return number <= 0 ? 0 : (number + by - 1) / by;
}

Span SeeingTaps(const WindowAxis& axis, int64_t place) {
  const int64_t first = place * axis.stride - axis.before;
  const int64_t begin = std::min(DividedUp(-first, axis.dilation), axis.size);
  return {begin, std::clamp(DividedUp(axis.input - first, axis.dilation), begin, axis.size)};
}

Span SeeingTaps(const WindowAxis& axis, const Span& places) {
  Span all = SeeingTaps(axis, places.begin);
  for (int64_t place = places.begin + 1; place < places.end; ++place) {
    const Span taps = SeeingTaps(axis, place);
    all = {std::min(all.begin, taps.begin), std::max(all.end, taps.end)};
  }
  return all;
}

std::vector<TileColumns> DivideColumns(const WindowAxis& axis, TileWidths widths) {
  std::vector<TileColumns> tiles(static_cast<size_t>(DividedUp(axis.output, TilePixels())));
  const auto count = static_cast<int64_t>(tiles.size());
  const auto begin = [&](int64_t index) {
    return widths == TileWidths::kAlike ? PartBegin(axis.output, count, index)
                                        : std::min(index * TilePixels(), axis.output);
  };
  for (int64_t index = 0; index < count; ++index) {
    TileColumns& tile = tiles[static_cast<size_t>(index)];
    tile.places = {begin(index), begin(index + 1)};
    tile.taps = SeeingTaps(axis, tile.places);
    tile.seeing.resize(static_cast<size_t>(tile.taps.count()));
    for (int64_t place = tile.places.begin; place < tile.places.end; ++place) {
      const Span taps = SeeingTaps(axis, place);
      for (int64_t tap = taps.begin; tap < taps.end; ++tap)
        tile.seeing[static_cast<size_t>(tap - tile.taps.begin)] |=
            static_cast<uint16_t>(1U << (place - tile.places.begin));
    }
  }
  return tiles;
}

}  // namespace nnefc::runtime

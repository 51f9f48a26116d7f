// Vector kernels compiled twice, for AVX-512 (16 floats) and AVX2 with FMA (8 floats). The processor
// determines the version at run time.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/fast/vector_math.h"

namespace nnefc::runtime {

inline constexpr int64_t kWideLanes = 16, kNarrowLanes = 8;
// The block size: contiguous matrix columns or image channels.
inline constexpr int64_t kBlockColumns = 16;

// Returns the vector width in floats: kWideLanes, kNarrowLanes, or 0 without vector kernels. Users can limit
// it like oneDNN's instruction set.
int64_t FindLaneCount();
// Called for each tile, so only the cached value is inline.
inline int64_t LaneCount() {
  static const int64_t count = FindLaneCount();
  return count;
}

// Returns true if the vector kernels run on this processor.
inline bool HasLanes() {
  return LaneCount() != 0;
}

// Rows (or pixels) per register tile with one or two column blocks.
inline constexpr int64_t kWideTileRows = 14, kNarrowTileRows = 6;
inline int64_t TileRows() {
  return LaneCount() == kWideLanes ? kWideTileRows : kNarrowTileRows;
}

// Column blocks of a register tile with all rows; with AVX2 two blocks are computed in turn.
inline int64_t BlocksOfTile() {
  return LaneCount() == kWideLanes ? 2 : 1;
}

// Floats that stay in a core's L2 cache while several tiles read them.
inline int64_t CacheFloats() {
  static const int64_t floats = [] {
    constexpr int64_t kLeast = 24576, kMost = 196608;
    const int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return std::clamp<int64_t>(bytes * 3 / 8 / static_cast<int64_t>(sizeof(float)), kLeast, kMost);
  }();
  return floats;
}

inline int64_t CacheBytes() {
  return CacheFloats() * static_cast<int64_t>(sizeof(float));
}

// A function with one implementation per vector width.
template <typename Function>
struct LaneFunction;
template <typename Result, typename... Arguments>
struct LaneFunction<Result(Arguments...)> {
  Result (*of_wide)(Arguments...);
  Result (*of_narrow)(Arguments...);

  Result operator()(Arguments... arguments) const {
    return (LaneCount() == kWideLanes ? of_wide : of_narrow)(arguments...);
  }
};

// Declares both implementations, for calls from kernels of the same width, and a dispatcher for other
// callers: NNEFC_LANE_FUNCTION(Name, Result(Arguments)). Requires HasLanes().
#define NNEFC_LANE_FUNCTION(name, ...)              \
  namespace wide_lanes {                            \
  std::type_identity_t<__VA_ARGS__> name;           \
  }                                                 \
  namespace narrow_lanes {                          \
  std::type_identity_t<__VA_ARGS__> name;           \
  }                                                 \
  inline constexpr LaneFunction<__VA_ARGS__> name { \
    wide_lanes::name, narrow_lanes::name            \
  }

}  // namespace nnefc::runtime

// Loops in registers, each compiled twice: for registers of sixteen floats (AVX-512) and of eight (AVX2 with
// products and sums in one rounding). What runs is what the processor has.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/fast/vector_math.h"

namespace nnefc::runtime {

inline constexpr int64_t kWideLanes = 16, kNarrowLanes = 8;
// Numbers of a block: columns of a matrix, or channels of images, that lie behind one another.
inline constexpr int64_t kBlockColumns = 16;

// Floats of a register: kWideLanes, kNarrowLanes, or 0 where loops in registers have none. A user may limit
// them as oneDNN's instructions are limited.
int64_t FindLaneCount();
// Asked by each call of a tile: only what it is is inline.
inline int64_t LaneCount() {
  static const int64_t count = FindLaneCount();
  return count;
}

// True if our own loops in registers run here.
inline bool HasLanes() {
  return LaneCount() != 0;
}

// Rows of a matrix, or pixels, of which registers hold the sums for a block of columns or two.
inline constexpr int64_t kWideTileRows = 14, kNarrowTileRows = 6;
inline int64_t TileRows() {
  return LaneCount() == kWideLanes ? kWideTileRows : kNarrowTileRows;
}

// Blocks of columns of which registers hold the sums for all rows; of two, others are done one after the
// other.
inline int64_t BlocksOfTile() {
  return LaneCount() == kWideLanes ? 2 : 1;
}

// Of rows that many tiles read, so many floats stay in a core's cache.
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

// A function of which there is one for each kind of registers.
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

// Declares both, to be called from loops of the same registers, and what chooses between them, for all
// others: NNEFC_LANE_FUNCTION(Name, Result(Arguments)). Only where HasLanes().
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

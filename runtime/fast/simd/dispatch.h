// Vector kernels compiled twice, for AVX-512 (16 floats) and AVX2 with FMA (8 floats). The processor
// determines the version at run time.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/fast/simd/loop_math.h"

namespace nnefc::runtime::fast::simd {

// Floats per 512-bit and 256-bit vector.
inline constexpr int64_t kSimdWidth512 = 16, kSimdWidth256 = 8;
// The block size: contiguous matrix columns or image channels.
inline constexpr int64_t kBlockColumns = 16;

}  // namespace nnefc::runtime::fast::simd

namespace nnefc::runtime::fast {
// Returns the vector width in floats: kSimdWidth512, kSimdWidth256, or 0 without vector kernels. Users can
// limit it like oneDNN's instruction set.
int64_t DetectSimdWidth();
}  // namespace nnefc::runtime::fast

namespace nnefc::runtime::fast::simd {

// Returns DetectSimdWidth(), cached because it is queried for each tile.
inline int64_t SimdWidth() {
  static const int64_t count = DetectSimdWidth();
  return count;
}

// Returns true if the vector kernels run on this processor.
inline bool HasSimd() {
  return SimdWidth() != 0;
}

// Rows (or pixels) per register tile with one or two column blocks.
inline constexpr int64_t kTileRows512 = 14, kTileRows256 = 6;
inline int64_t TileRows() {
  return SimdWidth() == kSimdWidth512 ? kTileRows512 : kTileRows256;
}

// Column blocks of a register tile with all rows; with AVX2 two blocks are computed in turn.
inline int64_t BlocksPerTile() {
  return SimdWidth() == kSimdWidth512 ? 2 : 1;
}

// Floats that stay in a core's L2 cache while several tiles read them.
inline int64_t L2Floats() {
  static const int64_t floats = [] {
    constexpr int64_t kMin = 24576, kMax = 196608;
    const int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return std::clamp<int64_t>(bytes * 3 / 8 / static_cast<int64_t>(sizeof(float)), kMin, kMax);
  }();
  return floats;
}

inline int64_t L2Bytes() {
  return L2Floats() * static_cast<int64_t>(sizeof(float));
}

// A function with one implementation per vector width.
template <typename Function>
struct SimdFunction;
template <typename Result, typename... Arguments>
struct SimdFunction<Result(Arguments...)> {
  Result (*for_512)(Arguments...);
  Result (*for_256)(Arguments...);

  Result operator()(Arguments... arguments) const {
    return (SimdWidth() == kSimdWidth512 ? for_512 : for_256)(arguments...);
  }
};

// Declares both implementations, for calls from kernels of the same width, and a dispatcher for other
// callers: NNEFC_SIMD_FUNCTION(Name, Result(Arguments)). Requires HasSimd().
#define NNEFC_SIMD_FUNCTION(name, ...)              \
  namespace simd512 {                               \
  std::type_identity_t<__VA_ARGS__> name;           \
  }                                                 \
  namespace simd256 {                               \
  std::type_identity_t<__VA_ARGS__> name;           \
  }                                                 \
  inline constexpr SimdFunction<__VA_ARGS__> name { \
    simd512::name, simd256::name                    \
  }

}  // namespace nnefc::runtime::fast::simd

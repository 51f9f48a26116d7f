// Dispatch of functions that are compiled once per vector instruction set. The processor and the user's limit
// determine the version at run time.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/fast/simd/instruction_sets.h"
#include "runtime/fast/simd/loop_math.h"

namespace nnefc::runtime::fast {
// Returns the index in `simd::kInstructionSets` of the selected set, or their number without vector kernels.
// Users can limit it like oneDNN's instruction set.
size_t SelectInstructionSet();
}  // namespace nnefc::runtime::fast

namespace nnefc::runtime::fast::simd {

// Vector widths that cost functions compare with SimdWidth().
inline constexpr int64_t kSimdWidth512 = simd512::kInstructionSet.width;
inline constexpr int64_t kSimdWidth256 = simd256::kInstructionSet.width;

// Called for each tile, so only the cached value is inline.
inline size_t SelectedIndex() {
  static const size_t index = SelectInstructionSet();
  return index;
}

// Returns true if the vector kernels run on this processor.
inline bool HasSimd() {
  return SelectedIndex() < kInstructionSetCount;
}

// The selected instruction set; without vector kernels the last one, so that sizes are defined.
inline const InstructionSet& SelectedInstructionSet() {
  return kInstructionSets[std::min(SelectedIndex(), kInstructionSetCount - 1)];
}

// Returns the vector width in floats, or 0 without vector kernels.
inline int64_t SimdWidth() {
  return HasSimd() ? SelectedInstructionSet().width : 0;
}

inline int64_t TileRows() {
  return SelectedInstructionSet().tile_rows;
}

inline int64_t BlocksPerTile() {
  return SelectedInstructionSet().blocks_per_tile();
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

// A function with one version per instruction set.
template <typename Function>
struct SimdFunction;
template <typename Result, typename... Arguments>
struct SimdFunction<Result(Arguments...)> {
  Result (*versions[kInstructionSetCount])(Arguments...);

  Result operator()(Arguments... arguments) const { return versions[SelectedIndex()](arguments...); }
};

// Declares all versions, for calls from kernels of the same instruction set, and a dispatcher for other
// callers: NNEFC_SIMD_FUNCTION(Name, Result(Arguments)). Requires HasSimd().
#define NNEFC_SIMD_VERSION(set, name, ...) \
  namespace set {                          \
  std::type_identity_t<__VA_ARGS__> name;  \
  }
#define NNEFC_SIMD_ADDRESS(set, name) set::name,
#define NNEFC_SIMD_FUNCTION(name, ...)                              \
  NNEFC_EACH_INSTRUCTION_SET(NNEFC_SIMD_VERSION, name, __VA_ARGS__) \
  inline constexpr SimdFunction<__VA_ARGS__> name {                 \
    { NNEFC_EACH_INSTRUCTION_SET(NNEFC_SIMD_ADDRESS, name) }        \
  }

}  // namespace nnefc::runtime::fast::simd

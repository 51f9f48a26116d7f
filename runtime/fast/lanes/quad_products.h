// Vectors of 8-bit values and weights in groups of four, and their dot products (dot4), for files compiled
// per vector width (lanes.h).
#pragma once

#include <cstring>

#include "runtime/fast/lanes/clamped_tile.h"
#include "runtime/fast/lanes/pair_products.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

using LaneBytes = uint8_t __attribute__((vector_size(4 * NNEFC_LANES)));
using LaneBytesAt = uint8_t __attribute__((vector_size(4 * NNEFC_LANES), aligned(1), may_alias));
constexpr int64_t kRegisterWeights = kQuad * kLanes;

// Broadcasts a group of four values.
NNEFC_IN_LANES inline void SpreadQuad(const void* from, LaneBytes& codes) {
  int32_t all;
  std::memcpy(&all, from, sizeof(all));
  codes = reinterpret_cast<LaneBytes>(LaneWords{} + all);
}

// Computes dot4 with scalar code, for targets without an instruction.
NNEFC_IN_LANES inline void MultiplyQuadsInTurn(const LaneBytes& codes, const int8_t* weights,
                                               LaneResidues& sums) {
  for (int64_t i = 0; i < kLanes; ++i) {
    int32_t sum = 0;
    for (int64_t j = kQuad * i; j < kQuad * (i + 1); ++j) sum += int32_t{codes[j]} * weights[j];
    sums[i] = static_cast<uint32_t>(sum);
  }
}

NNEFC_IN_LANES inline void LoadSums(const int32_t* from, LaneResidues& sums) {
  sums = reinterpret_cast<LaneResidues>(+*reinterpret_cast<const LaneWordsAt*>(from));
}
NNEFC_IN_LANES inline void StoreSums(const LaneResidues& sums, int32_t* to) {
  *reinterpret_cast<LaneWordsAt*>(to) = reinterpret_cast<LaneWords>(sums);
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

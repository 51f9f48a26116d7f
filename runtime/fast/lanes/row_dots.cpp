#include "runtime/fast/lanes/row_dots.h"

#include <algorithm>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

// Rows read in parallel.
constexpr int64_t kStreams = 8;

// Adds kStreams rows starting at `first`.
NNEFC_IN_LANES inline void AddStreams(const RowDots& call, int64_t first, LaneFloats* sums) {
  // For short rows the next ones are prefetched; hardware prefetchers handle long ones.
  constexpr int64_t kShort = 1536;
  const int64_t inputs = call.inputs, whole = inputs / kLanes * kLanes;
  const int64_t ahead = inputs <= kShort ? kStreams * inputs : 0;
  const float* rows[kStreams];
  LaneFloats own[kStreams] = {};
#pragma GCC unroll 8
  for (int64_t i = 0; i < kStreams; ++i) rows[i] = call.rows + std::min(first + i, call.last) * inputs;
  for (int64_t k = 0; k < whole; k += kLanes) {
    const LaneFloats x = *reinterpret_cast<const Lanes*>(call.x + k);
#pragma GCC unroll 8
    for (int64_t i = 0; i < kStreams; ++i) {
      __builtin_prefetch(rows[i] + k + ahead);
      own[i] += *reinterpret_cast<const Lanes*>(rows[i] + k) * x;
    }
  }
  LaneFloats x = {};
  AddLanes(x, call.x + whole, inputs - whole);
#pragma GCC unroll 8
  for (int64_t i = 0; i < kStreams; ++i) {
    LaneFloats rest = {};
    AddLanes(rest, rows[i] + whole, inputs - whole);
    sums[i] = own[i] + rest * x;
  }
}

}  // namespace

void MakeRowDots(const RowDots& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const RowDots call = given;  // local copy, to exclude aliasing
    for (int64_t begin = 0; begin < kBlockColumns; begin += kLanes) {
      LaneFloats sums[kLanes] = {};
      for (int64_t i = 0; i < kLanes; i += kStreams) AddStreams(call, call.first + begin + i, sums + i);
      SumsOfLanes(sums);
      *reinterpret_cast<Lanes*>(call.sums + begin) = sums[0];
    }
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

#include "runtime/fast/lanes/half_products.h"

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

const Lanes& NumbersAt(const float* place) {
  return *reinterpret_cast<const Lanes*>(place);
}
Lanes& NumbersAt(float* place) {
  return *reinterpret_cast<Lanes*>(place);
}

template <typename Limit>
NNEFC_IN_LANES inline void Combine(const CombinedProducts& call, const Limit& limit) {
  // `place`: offset from the first result; `column`: its column.
  const auto store = [&](const LaneFloats& given, int64_t place, int64_t column) NNEFC_IN_LANES {
    LaneFloats sums = given;
    if (call.bias != nullptr) sums += NumbersAt(call.bias + column);
    if (call.start != nullptr) sums += NumbersAt(call.start + place);
    limit(sums);
    NumbersAt(call.out.data + place) = sums;
  };
  for (int64_t row = 0; row < call.rows; ++row) {
    for (int64_t part = 0; part < call.blocks * kLanesOfBlock; ++part) {
      LaneFloats p[kHalfProducts];
      for (int64_t i = 0; i < kHalfProducts; ++i)
        p[i] = NumbersAt(call.products + i * call.stride + row * kTileColumns + part * kLanes);
      const bool has_right = part < call.right_blocks * kLanesOfBlock;
      const int64_t left = row * call.out.row_stride + OffsetOfPart(part, call.out.block_stride);
      const int64_t right = left + call.blocks * call.out.block_stride;
      const int64_t column = part * kLanes, right_column = column + call.blocks * kBlockColumns;
      store(p[0] + p[3] - p[4] + p[6], left, column);
      if (has_right) store(p[2] + p[4], right, right_column);
      if (row >= call.rows_of_second) continue;
      store(p[1] + p[3], left + call.second_rows, column);
      if (has_right) store(p[0] - p[1] + p[2] + p[5], right + call.second_rows, right_column);
    }
  }
}

template <int64_t kBlocks>
NNEFC_IN_LANES inline void SumWeights(const WeightSums& call) {
  for (int64_t at = 0; at < call.terms * kTileColumns; at += kTileColumns) {
#pragma GCC unroll 4
    for (int64_t lane = at; lane < at + kBlocks * kBlockColumns; lane += kLanes)
      NumbersAt(call.out + lane) = NumbersAt(call.first + lane) + call.sign * NumbersAt(call.second + lane);
  }
}

}  // namespace

void MakeHalfFactors(const HalfFactors& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const HalfFactors call = given;  // local copy, to exclude aliasing
    for (int64_t row = 0; row < call.rows; ++row) {
      const bool has_second = row < call.rows_of_second;
      for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes) {
        const float* first = call.left + row * call.row_stride + lane;
        const float* second = first + (has_second ? call.second_rows : 0);
        const LaneFloats a11 = NumbersAt(first), a12 = NumbersAt(first + call.second_terms);
        const LaneFloats a21 = has_second ? NumbersAt(second) : LaneFloats{};
        const LaneFloats a22 = has_second ? NumbersAt(second + call.second_terms) : LaneFloats{};
        float* to = call.out + row * kBlockColumns + lane;
        NumbersAt(to) = a11 + a22;
        NumbersAt(to + call.stride) = a21 + a22;
        NumbersAt(to + 2 * call.stride) = a11;
        NumbersAt(to + 3 * call.stride) = a22;
        NumbersAt(to + 4 * call.stride) = a11 + a12;
        NumbersAt(to + 5 * call.stride) = a21 - a11;
        NumbersAt(to + 6 * call.stride) = a12 - a22;
      }
    }
  });
}

void MakeWeightSums(const WeightSums& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const WeightSums call = given;  // local copy, to exclude aliasing
    call.blocks == 1 ? SumWeights<1>(call) : SumWeights<2>(call);
  });
}

void CombineProducts(const CombinedProducts& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const CombinedProducts call = given;  // local copy, to exclude aliasing
    WithLimits(call.limits, [&](const auto& limit) NNEFC_IN_LANES { Combine(call, limit); });
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

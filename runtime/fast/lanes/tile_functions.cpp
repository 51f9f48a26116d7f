#include "runtime/fast/lanes/tile_functions.h"

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

// Calls function(x, place) for the registers of a tile, with `place` the address of their operand.
template <typename Function>
void MapTile(const FunctionTile& tile, const Function& function) {
  RunInLanes([&]() NNEFC_IN_LANES {
    // Local copies, to exclude aliasing.
    const FunctionTile own = tile;
    const Function own_function = function;
    for (int64_t row = 0; row < own.rows; ++row) {
      for (int64_t block = 0; block < own.blocks; ++block) {
        float* const out = own.out.At(row, block);
        const float* const operand = own.operand.At(row, block);
#pragma GCC unroll 2
        for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes)
          own_function(*reinterpret_cast<Lanes*>(out + lane), operand + lane);
      }
    }
  });
}

// A function of the number alone.
template <typename Function>
void MapNumbers(const FunctionTile& tile, const Function& function) {
  MapTile(tile, [=](Lanes& numbers, const float*) NNEFC_IN_LANES {
    LaneFloats x = numbers;
    function(x);
    numbers = x;
  });
}

}  // namespace

void ApplyToTile(TileFunction function, const FunctionTile& tile) {
  const float alpha = tile.alpha, beta = tile.beta;
  switch (function) {
    case TileFunction::kAdd:
      return MapTile(
          tile, [](Lanes& x, const float* y) NNEFC_IN_LANES { x += *reinterpret_cast<const Lanes*>(y); });
    case TileFunction::kMultiply:
      return MapTile(
          tile, [](Lanes& x, const float* y) NNEFC_IN_LANES { x *= *reinterpret_cast<const Lanes*>(y); });
    case TileFunction::kPRelu:
      return MapTile(tile, [](Lanes& x, const float* y) NNEFC_IN_LANES {
        const LaneFloats number = x;
        x = number < 0.0f ? number * *reinterpret_cast<const Lanes*>(y) : number;
      });
    case TileFunction::kLinear:
      return MapNumbers(tile, [=](LaneFloats& x) NNEFC_IN_LANES { x = alpha * x + beta; });
    case TileFunction::kRelu:
      return MapNumbers(tile, [=](LaneFloats& x) NNEFC_IN_LANES { x = x > 0.0f ? x : alpha * x; });
    case TileFunction::kAtLeast:
      return MapNumbers(tile, [=](LaneFloats& x) NNEFC_IN_LANES { LimitFromBelow(x, LaneFloats{} + alpha); });
    case TileFunction::kAtMost:
      return MapNumbers(tile, [=](LaneFloats& x) NNEFC_IN_LANES { LimitFromAbove(x, LaneFloats{} + alpha); });
    case TileFunction::kSigmoid:
      return MapNumbers(tile, [](LaneFloats& x) NNEFC_IN_LANES { SigmoidLanes(x); });
    case TileFunction::kSwish:
      return MapNumbers(tile, [=](LaneFloats& x) NNEFC_IN_LANES { SwishLanes(x, alpha); });
    case TileFunction::kHSwish:
      return MapNumbers(tile, [](LaneFloats& x) NNEFC_IN_LANES { HSwishLanes(x); });
    case TileFunction::kGelu:
      return MapNumbers(tile, [](LaneFloats& x) NNEFC_IN_LANES { GeluLanes(x); });
    case TileFunction::kGeluTanh:
      return MapNumbers(tile, [](LaneFloats& x) NNEFC_IN_LANES { GeluTanhLanes(x); });
    case TileFunction::kTanh:
      return MapNumbers(tile, [](LaneFloats& x) NNEFC_IN_LANES { TanhLanes(x); });
    case TileFunction::kElu:
      return MapNumbers(tile, [=](LaneFloats& x) NNEFC_IN_LANES { EluLanes(x, alpha); });
    case TileFunction::kMish:
      return MapNumbers(tile, [](LaneFloats& x) NNEFC_IN_LANES { MishLanes(x); });
    case TileFunction::kSoftPlus:
      return MapNumbers(tile, [](LaneFloats& x) NNEFC_IN_LANES { SoftPlusLanes(x); });
  }
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

#include "runtime/fast/lanes/picked_channels.h"

#include <array>
#include <utility>

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

// For a register of a block: the source lane of each lane, and a mask of the lanes in use.
struct Picker {
  LaneOrder of;
#if defined(NNEFC_WIDE_X86)
  __mmask16 taken;
#else
  LaneOrder taken;  // all bits or none
#endif

  NNEFC_IN_LANES void Make(const PickedLanes& picked, int64_t first) {
#if defined(NNEFC_WIDE_X86)
    taken = picked.taken;
#endif
    for (int64_t i = 0; i < kLanes; ++i) {
      of[i] = picked.lanes[first + i];
#if !defined(NNEFC_WIDE_X86)
      taken[i] = (picked.taken >> (first + i) & 1) != 0 ? -1 : 0;
#endif
    }
  }

  NNEFC_IN_LANES void Pick(LaneFloats& to, const float* from) const {
#if defined(NNEFC_WIDE_X86)
    to = _mm512_mask_permutexvar_ps(to, taken, reinterpret_cast<__m512i>(of), _mm512_loadu_ps(from));
#else
    LaneFloats of_parts = {};
#pragma GCC unroll 2
    for (int64_t part = 0; part < kLanesOfBlock; ++part) {
      const LaneFloats x = *reinterpret_cast<const Lanes*>(from + part * kLanes);
      LaneFloats shuffled;
      ShuffleLanes(x, of, shuffled);
      of_parts = of / static_cast<int32_t>(kLanes) == static_cast<int32_t>(part) ? shuffled : of_parts;
    }
    to = taken != 0 ? of_parts : to;
#endif
  }
};

template <size_t kCount>
void PickFrom(const PickedPixels& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const PickedPixels call = given;  // local copy, to exclude aliasing
    for (int64_t lane = 0; lane < kBlockColumns; lane += kLanes) {
      std::array<Picker, kCount> pickers;
#pragma GCC unroll 8
      for (size_t i = 0; i < kCount; ++i) pickers[i].Make(*call.picked[i], lane);
      for (int64_t at = 0; at < call.pixels * kBlockColumns; at += kBlockColumns) {
        LaneFloats sum = {};
        if (call.adds) sum = *reinterpret_cast<const Lanes*>(call.out + at + lane);
#pragma GCC unroll 8
        for (size_t i = 0; i < kCount; ++i) pickers[i].Pick(sum, call.from[i] + at);
        *reinterpret_cast<Lanes*>(call.out + at + lane) = sum;
      }
    }
  });
}

// One instance per number of blocks.
constexpr auto kPickers = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const PickedPixels&), kMostPickedBlocks>{PickFrom<kIndex + 1>...};
}(std::make_index_sequence<kMostPickedBlocks>());

}  // namespace

void PickPixels(const PickedPixels& pixels) {
  kPickers[static_cast<size_t>(pixels.count - 1)](pixels);
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

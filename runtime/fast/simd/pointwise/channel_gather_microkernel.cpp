// Microkernel that gathers channels of nChw16c images.

#include "runtime/fast/simd/pointwise/channel_gather_microkernel.h"

#include <array>
#include <utility>

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// For a register of a block: the source lane of each lane, and a mask of the lanes in use.
struct Picker {
  IndexVector of;
#if defined(NNEFC_X86_AVX512)
  __mmask16 taken;
#else
  IndexVector taken;  // all bits or none
#endif

  NNEFC_SIMD_INLINE void Make(const ChannelSelection& picked, int64_t first) {
#if defined(NNEFC_X86_AVX512)
    taken = picked.taken;
#endif
    for (int64_t i = 0; i < kSimdWidth; ++i) {
      of[i] = picked.lanes[first + i];
#if !defined(NNEFC_X86_AVX512)
      taken[i] = (picked.taken >> (first + i) & 1) != 0 ? -1 : 0;
#endif
    }
  }

  NNEFC_SIMD_INLINE void Pick(FloatVector& to, const float* from) const {
#if defined(NNEFC_X86_AVX512)
    to = _mm512_mask_permutexvar_ps(to, taken, reinterpret_cast<__m512i>(of), _mm512_loadu_ps(from));
#else
    FloatVector of_parts = {};
#pragma GCC unroll 2
    for (int64_t part = 0; part < kVectorsPerBlock; ++part) {
      const FloatVector x = *reinterpret_cast<const UnalignedFloatVector*>(from + part * kSimdWidth);
      FloatVector shuffled;
      Permute(x, of, shuffled);
      of_parts = of / static_cast<int32_t>(kSimdWidth) == static_cast<int32_t>(part) ? shuffled : of_parts;
    }
    to = taken != 0 ? of_parts : to;
#endif
  }
};

template <size_t kCount>
void PickFrom(const ChannelGatherTile& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const ChannelGatherTile call = given;  // local copy, to exclude aliasing
    for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
      std::array<Picker, kCount> pickers;
#pragma GCC unroll 8
      for (size_t i = 0; i < kCount; ++i) pickers[i].Make(*call.picked[i], lane);
      for (int64_t at = 0; at < call.pixels * kBlockColumns; at += kBlockColumns) {
        FloatVector sum = {};
        if (call.adds) sum = *reinterpret_cast<const UnalignedFloatVector*>(call.out + at + lane);
#pragma GCC unroll 8
        for (size_t i = 0; i < kCount; ++i) pickers[i].Pick(sum, call.from[i] + at);
        *reinterpret_cast<UnalignedFloatVector*>(call.out + at + lane) = sum;
      }
    }
  });
}

// One instance per number of blocks.
constexpr auto kPickers = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const ChannelGatherTile&), kMaxGatheredBlocks>{PickFrom<kIndex + 1>...};
}(std::make_index_sequence<kMaxGatheredBlocks>());

}  // namespace

void GatherChannels(const ChannelGatherTile& pixels) {
  kPickers[static_cast<size_t>(pixels.count - 1)](pixels);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

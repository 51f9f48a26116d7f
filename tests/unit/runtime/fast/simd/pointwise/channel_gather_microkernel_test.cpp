// Channels picked from blocks of several images against a loop over lanes.

#include "runtime/fast/simd/pointwise/channel_gather_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class PickedChannelsTest : public SimdTest {
 protected:
  // Blocks whose masks and lanes are random, of which no two pick the same lane if `is_disjoint`.
  void Check(int64_t count, int64_t pixels, bool adds, bool is_disjoint) {
    std::vector<ChannelSelection> picked(static_cast<size_t>(count));
    for (int32_t lane = 0; lane < kBlockColumns; ++lane) {
      const auto owner = static_cast<size_t>(DrawOne(0, static_cast<int>(count)));  // `count`: of no block
      for (size_t i = 0; i < picked.size(); ++i) {
        picked[i].lanes[lane] = DrawOne(0, kBlockColumns - 1);
        const bool is_taken = is_disjoint ? i == owner : DrawOne(0, 1) == 1;
        if (is_taken) picked[i].taken = static_cast<uint16_t>(picked[i].taken | 1U << lane);
      }
    }
    CheckPicked(picked, pixels, adds);
  }

  void CheckPicked(const std::vector<ChannelSelection>& picked, int64_t pixels, bool adds) {
    std::vector<GuardedArray<float>> from;
    ChannelGatherTile call{.count = static_cast<int64_t>(picked.size()),
                           .picked = {},
                           .from = {},
                           .pixels = pixels,
                           .adds = adds,
                           .out = nullptr};
    for (size_t i = 0; i < picked.size(); ++i) {
      from.push_back(DrawReals(pixels * kBlockColumns));
      for (int64_t at = static_cast<int64_t>(i); at < from[i].size(); at += 7)
        from[i][at] = kSpecialNumbers[static_cast<size_t>(at) % kSpecialNumbers.size()];
      call.picked[i] = &picked[i];
      call.from[i] = from[i].data();
    }
    GuardedArray<float> out = DrawReals(pixels * kBlockColumns);
    const std::vector<float> before(out.begin(), out.end());
    call.out = out.data();
    Of(GatherChannels)(call);
    for (int64_t at = 0; at < out.size(); ++at) {
      const int64_t lane = at % kBlockColumns;
      float expected = adds ? before[static_cast<size_t>(at)] : 0;
      for (size_t i = 0; i < picked.size(); ++i) {
        if ((picked[i].taken >> lane & 1) != 0) expected = from[i][at - lane + picked[i].lanes[lane]];
      }
      ASSERT_TRUE(IsSame(out[at], expected)) << picked.size() << " blocks, " << pixels << " pixels: " << at;
    }
  }
};

TEST_P(PickedChannelsTest, EachNumberOfBlocks) {
  for (int64_t count = 1; count <= kMaxGatheredBlocks; ++count) {
    for (int64_t pixels : {0, 1, 2, 9}) {
      for (bool adds : {false, true}) {
        for (bool is_disjoint : {false, true}) Check(count, pixels, adds, is_disjoint);
      }
    }
  }
}

// Each lane from each lane, alone.
TEST_P(PickedChannelsTest, EachPairOfElements) {
  for (int32_t to = 0; to < kBlockColumns; ++to) {
    for (int32_t from = 0; from < kBlockColumns; ++from) {
      ChannelSelection picked;
      picked.lanes[to] = from;
      picked.taken = static_cast<uint16_t>(1U << to);
      CheckPicked({picked}, 2, from % 2 == 0);
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(PickedChannelsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd

// int8 microkernel with dot products of four elements (dot4) by VNNI: i32 accumulators of a tile of pixels
// and outputs, stored or requantized.

#include "runtime/fast/simd/int8/vnni_microkernel.h"

#include <array>
#include <utility>

#include "runtime/fast/simd/int8/dot4.h"
#include "runtime/fast/simd/int8/requantize.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

template <bool kHasOthers, int kPixels, int kParts>
NNEFC_SIMD_INLINE inline void StoreVnniTile(const RequantizedResults& results,
                                            const Uint32Vector (&sums)[kPixels][kParts]) {
  constexpr int kOfBlock = static_cast<int>(kVectorsPerBlock);
  RequantizedResults own = results;
#pragma GCC unroll 2
  for (int block = 0; block < kParts / kOfBlock; ++block) {
    Requantizer maker;
    maker.Make(own);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
      FloatVector numbers[kOfBlock];
#pragma GCC unroll 2
      for (int p = 0; p < kOfBlock; ++p)
        numbers[p] = __builtin_convertvector(reinterpret_cast<Int32Vector>(sums[i][block * kOfBlock + p]),
                                             FloatVector);
      maker.Store<kHasOthers, true>(numbers, own.out + i * own.stride);
    }
    own.scales += kBlockColumns;
    own.bias += kBlockColumns;
    own.out += kBlockColumns;
  }
}

constexpr int kSecondCache = 2;

template <int kPixels, int kBlocks>
NNEFC_SIMD_INLINE inline void VnniTileOf(const VnniTile& call) {
  constexpr int kOfBlock = static_cast<int>(kVectorsPerBlock), kParts = kBlocks * kOfBlock;
  const Dot4Tile<uint8_t>& products = call.products;
  Uint32Vector sums[kPixels][kParts];
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) LoadAccumulators(call.start + p * kSimdWidth, sums[i][p]);
  }
  const int8_t* next = call.next;
  const int8_t* weights[kBlocks];
#pragma GCC unroll 2
  for (int block = 0; block < kBlocks; ++block)
    weights[block] = products.weights + block * call.weights_stride;
  for (int64_t strip = 0; strip < products.strip_count; ++strip) {
    const uint8_t* from[kPixels];
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) from[i] = products.numbers + products.seen[i] + products.strips[strip];
    for (int64_t quad = 0; quad < products.quads; ++quad) {
      if (quad % kQuadsPerPrefetch == 0) {
        for (int64_t line = 0; line < call.next_lines; ++line, next += kQuadWeights)
          __builtin_prefetch(next, 0, kSecondCache);
      }
      Uint8Vector own[kParts];
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p)
        own[p] = *reinterpret_cast<const UnalignedUint8Vector*>(weights[p / kOfBlock] + kQuadWeights * quad +
                                                                p % kOfBlock * kVectorWeights);
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i) {
        Uint8Vector codes;
        BroadcastQuad(from[i] + kQuad * quad, codes);
#pragma GCC unroll 2
        for (int p = 0; p < kParts; ++p) AddQuads(sums[i][p], codes, own[p]);
      }
    }
#pragma GCC unroll 2
    for (int block = 0; block < kBlocks; ++block) weights[block] += kQuadWeights * products.quads;
  }
  if (call.codes != nullptr)
    return call.codes->has_others ? StoreVnniTile<true>(*call.codes, sums)
                                  : StoreVnniTile<false>(*call.codes, sums);
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p)
      StoreAccumulators(sums[i][p],
                        products.sums + i * call.pixel_stride + VectorOffset(p, call.sums_stride));
  }
}

template <int kPixels, int kBlocks>
void CallVnniTile(const VnniTile& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const VnniTile call = given;  // local copy, to exclude aliasing
    VnniTileOf<kPixels, kBlocks>(call);
  });
}

// One instance per pixel count.
template <int kBlocks>
constexpr auto kVnniTiles = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
  return std::array<void (*)(const VnniTile&), kTileRows>{
      CallVnniTile<static_cast<int>(kIndex) + 1, kBlocks>...};
}(std::make_index_sequence<kTileRows>());

}  // namespace

void RunVnniMicrokernel(int64_t pixels, int64_t blocks, const VnniTile& tile) {
  const auto at = static_cast<size_t>(pixels - 1);
  if (blocks != kBlocksPerTile) return kVnniTiles<1>[at](tile);
  kVnniTiles<kBlocksPerTile>[at](tile);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE

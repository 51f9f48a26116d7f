#include "runtime/fast/lanes/vnni_tile.h"

#include <array>
#include <utility>

#include "runtime/fast/lanes/made_codes.h"
#include "runtime/fast/lanes/quad_products.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

// Accumulates dot4 of u8 values and i8 weights.
NNEFC_IN_LANES inline void AddQuads(LaneResidues& sums, const LaneBytes& codes, const LaneBytes& weights) {
#if defined(NNEFC_WIDE_X86)
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(codes), "v"(weights));
#elif defined(NNEFC_NARROW_X86)
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(codes), "x"(weights));
#else
  LaneResidues products;
  MultiplyQuadsInTurn(codes, reinterpret_cast<const int8_t*>(&weights), products);
  sums += products;
#endif
}

template <bool kHasOthers, int kPixels, int kParts>
NNEFC_IN_LANES inline void StoreTileCodes(const CodeResults& results,
                                          const LaneResidues (&sums)[kPixels][kParts]) {
  constexpr int kOfBlock = static_cast<int>(kLanesOfBlock);
  CodeResults own = results;
#pragma GCC unroll 2
  for (int block = 0; block < kParts / kOfBlock; ++block) {
    CodeMaker maker;
    maker.Make(own);
#pragma GCC unroll 16
    for (int i = 0; i < kPixels; ++i) {
      LaneFloats numbers[kOfBlock];
#pragma GCC unroll 2
      for (int p = 0; p < kOfBlock; ++p)
        numbers[p] =
            __builtin_convertvector(reinterpret_cast<LaneWords>(sums[i][block * kOfBlock + p]), LaneFloats);
      maker.Store<kHasOthers, true>(numbers, own.out + i * own.stride);
    }
    own.scales += kBlockColumns;
    own.bias += kBlockColumns;
    own.out += kBlockColumns;
  }
}

constexpr int kSecondCache = 2;

template <int kPixels, int kBlocks>
NNEFC_IN_LANES inline void VnniTileOf(const VnniTile& call) {
  constexpr int kOfBlock = static_cast<int>(kLanesOfBlock), kParts = kBlocks * kOfBlock;
  const QuadTile<uint8_t>& products = call.products;
  LaneResidues sums[kPixels][kParts];
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) LoadSums(call.start + p * kLanes, sums[i][p]);
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
      if (quad % kQuadsOfLines == 0) {
        for (int64_t line = 0; line < call.next_lines; ++line, next += kQuadWeights)
          __builtin_prefetch(next, 0, kSecondCache);
      }
      LaneBytes own[kParts];
#pragma GCC unroll 2
      for (int p = 0; p < kParts; ++p)
        own[p] = *reinterpret_cast<const LaneBytesAt*>(weights[p / kOfBlock] + kQuadWeights * quad +
                                                       p % kOfBlock * kRegisterWeights);
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i) {
        LaneBytes codes;
        SpreadQuad(from[i] + kQuad * quad, codes);
#pragma GCC unroll 2
        for (int p = 0; p < kParts; ++p) AddQuads(sums[i][p], codes, own[p]);
      }
    }
#pragma GCC unroll 2
    for (int block = 0; block < kBlocks; ++block) weights[block] += kQuadWeights * products.quads;
  }
  if (call.codes != nullptr)
    return call.codes->has_others ? StoreTileCodes<true>(*call.codes, sums)
                                  : StoreTileCodes<false>(*call.codes, sums);
#pragma GCC unroll 16
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p)
      StoreSums(sums[i][p], products.sums + i * call.pixel_stride + OffsetOfPart(p, call.sums_stride));
  }
}

template <int kPixels, int kBlocks>
void CallVnniTile(const VnniTile& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
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

void RunVnniTile(int64_t pixels, int64_t blocks, const VnniTile& tile) {
  const auto at = static_cast<size_t>(pixels - 1);
  (blocks == kBlocksAtOnce ? kVnniTiles<kBlocksAtOnce> : kVnniTiles<1>)[at](tile);
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE

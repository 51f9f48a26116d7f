// Sums of products of codes and weights of 8 bits, four at a time, without VNNI. An instruction multiplies
// codes without a sign by weights and limits the sum of two products to 16 bits, which that never leaves
// where the two codes are together at most kMostOfTwo. So codes are clamped to that, less a base, and what is
// left of the few beyond is multiplied and added by itself: sums are exact.
#pragma once

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

inline constexpr int kMostOfTwo = 256;
// Of weights, kBlockColumns outputs for each four inputs, in this order.
inline constexpr int64_t kQuad = 4, kQuadWeights = kQuad * kBlockColumns;

// What four codes have beyond what they are clamped to, in a byte each, of which two are together at most
// kMostOfTwo as well: there may be two rests of the same four.
struct CodeRest {
  int32_t quad;  // which four of the clamped codes
  uint32_t bytes;
};
// In the order of their quads, above and below what codes are clamped to: one more than `most` of each are
// too many, and others are missing then.
struct CodeRests {
  CodeRest *above, *below;
  int64_t above_count = 0, below_count = 0, most;

  bool are_too_many() const { return above_count > most || below_count > most; }
};

// Codes that lie behind one another, whole fours, less the base, clamped.
struct CodesToClamp {
  const uint8_t* codes;
  int64_t count;
  int base;
  uint8_t* out;
  int64_t first_quad;  // of the rests that are added
};
NNEFC_LANE_FUNCTION(ClampCodes, void(const CodesToClamp& codes, CodeRests& rests));

// Sums for some pixels and kBlockColumns outputs, modulo 2^32.
template <typename Number>
struct QuadTile {
  const Number* numbers;
  const int32_t* seen;  // of each pixel, how far what it sees first is
  // Strips of numbers that lie behind one another, in fours, and how far the strips are from what a pixel
  // sees first.
  const int32_t* strips;
  int64_t strip_count, quads;
  const int8_t* weights;  // kQuadWeights of each four
  int32_t* sums;          // kBlockColumns of each pixel
};
// Of 1 to TileRows() pixels, of clamped codes; sums begin with the kBlockColumns of `start`.
NNEFC_LANE_FUNCTION(RunClampedTile,
                    void(int64_t pixels, const QuadTile<uint8_t>& tile, const int32_t* start));
// Of any number of pixels, of codes less their zero.
NNEFC_LANE_FUNCTION(RunQuadTile, void(int64_t pixels, const QuadTile<int16_t>& tile));

// A rest that a pixel of a result sees, and where the weights of these four inputs are in a block.
struct RestTerm {
  int32_t pixel, weights;
  uint32_t bytes;
};
// Adds rests times weights to sums of pixels and blocks.
inline constexpr int64_t kMostRestBlocks = 4;
struct RestProducts {
  const RestTerm* terms;
  int64_t count;
  bool is_above;          // otherwise they are subtracted
  const int8_t* weights;  // of the first block, as those of tiles
  int64_t first_pixel;
  int32_t* sums;                              // from that pixel on
  int64_t blocks, block_stride, sums_stride;  // from one block to the next
};
NNEFC_LANE_FUNCTION(AddRests, void(const RestProducts& products));

}  // namespace nnefc::runtime

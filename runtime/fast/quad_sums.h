// Sums of products of codes and a filter's codes, four at a time: of rows of images, as grids cut them, and
// some tiles of outputs. By VNNI of codes as they are (lanes/vnni_tile.h), without it of clamped ones
// (lanes/clamped_tile.h).
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/fast/clamped_part.h"
#include "runtime/fast/dnnl_layout.h"

namespace nnefc::runtime {

class QuadSums {
 public:
  static bool Suits(const CodedForm& form, bool has_vnni = HasVnni());
  QuadSums(const CodedForm& form, const CodedGrid& grid, bool has_vnni = HasVnni());

  // Of a thread.
  int64_t scratch_bytes() const;
  int64_t WeightsOfTile() const { return strip_count() * quads() * kQuadWeights; }
  struct Part {
    Span rows, tiles;
    const int8_t* weights;        // kQuadWeights for each four inputs, those of a tile behind one another
    const int32_t* less_weights;  // 0 less all weights, of each output; if the zero is 0, that may be null
    std::byte* scratch;
    // Whole tiles of sums by VNNI go to a row-major result itself or become codes, instead of being stored:
    // where the result has those of the first row, or what makes codes of them, from the first channel on.
    int32_t* out = nullptr;
    const CodeResults* codes = nullptr;
  };
  // Takes sums of some pixels of a part: kBlockColumns of each.
  using Store = llvm::function_ref<void(int64_t tile, const Span& pixels, const int32_t* sums)>;
  // False, and nothing is stored, if without VNNI so many codes are beyond what they are clamped to that
  // SumNumbers is faster.
  bool SumCodes(const Part& part, const uint8_t* image, int zero, Store store) const;
  // The same of codes less their zero, as CodedPart has them.
  void SumNumbers(const Part& part, const int16_t* numbers, Store store) const;

 private:
  // Some tiles, and the sums that they begin with.
  struct Group {
    Span tiles;
    int32_t *sums, *starts;
  };
  int64_t quads() const { return strips_.pairs * 2 / kQuad; }  // of a strip
  int64_t strip_count() const { return static_cast<int64_t>(strips_.places.size()); }
  int64_t PartBytes() const {
    return has_vnni_ ? SeenCodes::Bytes(form_, rows_of_part_)
                     : ClampedPart::Scratch::Bytes(form_, rows_of_part_);
  }
  template <typename Number>
  QuadTile<Number> TileOf(const Part& part, const Number* numbers, int64_t tile) const;
  template <typename Start, typename Sum>
  void ForGroups(const Part& part, const Start& start, const Sum& sum, Store store) const;
  static void FindStarts(const Part& part, int distance, const Group& group);
  // Where those of the first pixel and tile go; nowhere, if they become `codes` of a part.
  struct Sums {
    int32_t* first = nullptr;
    int64_t pixel_stride = 0, tile_stride = 0;
  };
  // By VNNI, of codes as they are seen.
  void SumWhole(const Part& part, const uint8_t* seen, int zero, const Span& tiles, const Span& pixels,
                const Sums& sums) const;
  void SumClamped(const Part& part, const ClampedPart& clamped, const Group& group, const Span& pixels) const;

  CodedForm form_;
  bool has_vnni_;
  int64_t rows_of_part_;
  CodedStrips strips_;
  std::vector<int32_t> seen_, seen_pixels_, strip_pixels_;
};

}  // namespace nnefc::runtime
